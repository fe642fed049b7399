#include "transports/ucx/ucx_shared_memory.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace rondo {
namespace {

UcxSharedMemory* Memory() {
  auto memory = UcxSharedMemory::Get();
  EXPECT_TRUE(memory.ok()) << memory.status().ToString();
  return memory.ok() ? *memory : nullptr;
}

uint64_t AddressOf(const UcxSharedMemory::Block& block) {
  return reinterpret_cast<uint64_t>(block.data());
}

int SegmentsInDevShm() {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm")) {
    count += entry.path().filename().string().find("ucx") == 0;
  }
  return count;
}

// How a reader ends.
constexpr int kRead = 10;
constexpr int kRefused = 11;
constexpr int kReadOther = 12;

// What a rank sends to another one.
struct Offer {
  uint64_t address = 0;
  size_t key_bytes = 0;
  char key[256] = {};
};

TEST(UcxSharedMemoryTest, MappingShowsTheSameMemory) {
  auto block = Memory()->Allocate(100'000);
  ASSERT_TRUE(block.ok()) << block.status().ToString();
  auto mapping = Memory()->Map((*block)->key(), AddressOf(**block));
  ASSERT_TRUE(mapping.ok()) << mapping.status().ToString();
  EXPECT_NE((*mapping)->data(), (*block)->data());
  std::strcpy((*block)->data() + 99'000, "seen");
  EXPECT_STREQ((*mapping)->data() + 99'000, "seen");
  std::strcpy((*mapping)->data(), "written");
  EXPECT_STREQ((*block)->data(), "written");
}

// Starts this program anew in a role (below), since a forked child must not use
// its parent's UCX.
pid_t StartAs(const char* role, int first, int second) {
  const pid_t child = fork();
  if (child == 0) {
    execl("/proc/self/exe", role, std::to_string(first).c_str(),
          std::to_string(second).c_str(), nullptr);
    _exit(2);
  }
  return child;
}

// What a new process, which has mapped nothing before, finds out of `offer`.
int ExitStatusOfReader(const Offer& offer) {
  int offers[2];
  if (pipe(offers) != 0) return -1;
  const pid_t reader = StartAs("reader", offers[0], offers[1]);
  int status = -1;
  if (write(offers[1], &offer, sizeof(offer)) != ssize_t{sizeof(offer)}) {
    kill(reader, SIGKILL);
  }
  waitpid(reader, &status, 0);
  close(offers[0]);
  close(offers[1]);
  return status;
}

TEST(UcxSharedMemoryTest, AnotherProcessMapsItAndACrashLeavesNothing) {
  const int before = SegmentsInDevShm();
  int offers[2];
  int done[2];
  ASSERT_EQ(pipe(offers), 0);
  ASSERT_EQ(pipe(done), 0);
  const pid_t owner = StartAs("owner", offers[1], done[0]);
  ASSERT_GE(owner, 0);
  Offer offer;
  ASSERT_EQ(read(offers[0], &offer, sizeof(offer)), ssize_t{sizeof(offer)});
  ASSERT_GT(offer.key_bytes, 0u);
  {
    auto mapping = Memory()->Map({offer.key, offer.key_bytes}, offer.address);
    ASSERT_TRUE(mapping.ok()) << mapping.status().ToString();
    EXPECT_STREQ((*mapping)->data(), "the owner's");
    EXPECT_EQ(ExitStatusOfReader(offer), W_EXITCODE(kRead, 0));
    kill(owner, SIGKILL);
    ASSERT_EQ(waitpid(owner, nullptr, 0), owner);
    // What is mapped stays readable, so that a failed call may finish reading.
    EXPECT_STREQ((*mapping)->data(), "the owner's");
  }
  EXPECT_EQ(SegmentsInDevShm(), before);
  // Control: without the owner there is nothing to map any more.
  EXPECT_FALSE(Memory()->Map({offer.key, offer.key_bytes}, offer.address).ok());
  EXPECT_EQ(ExitStatusOfReader(offer), W_EXITCODE(kRefused, 0));
}

TEST(UcxSharedMemoryTest, AKeyOfAnotherLengthIsRefusedWithBothLengths) {
  auto block = Memory()->Allocate(4096);
  ASSERT_TRUE(block.ok());
  const std::string& key = (*block)->key();
  for (const std::string& other : {std::string(), key.substr(1), key + "."}) {
    auto mapping = Memory()->Map(other, AddressOf(**block));
    ASSERT_FALSE(mapping.ok());
    EXPECT_EQ(mapping.status().code(), Code::kInvalidArgument);
    for (size_t length : {other.size(), key.size()}) {
      EXPECT_NE(mapping.status().message().find(std::to_string(length)),
                std::string::npos)
          << mapping.status().message();
    }
  }
}

TEST(UcxSharedMemoryTest, MoreThanTheRoomIsRefusedWithBothSizes) {
  auto block = Memory()->Allocate(size_t{1} << 50);
  ASSERT_FALSE(block.ok());
  EXPECT_EQ(block.status().code(), Code::kResourceExhausted);
  EXPECT_NE(block.status().message().find("1125899906842624"),
            std::string::npos)
      << block.status().message();
}

TEST(UcxSharedMemoryTest, ThreadsMayAllocateAndMapAtTheSameTime) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      for (int k = 0; k < 50; ++k) {
        auto block = Memory()->Allocate(8192);
        ASSERT_TRUE(block.ok());
        auto mapping = Memory()->Map((*block)->key(), AddressOf(**block));
        ASSERT_TRUE(mapping.ok());
        (*block)->data()[k] = 'x';
        EXPECT_EQ((*mapping)->data()[k], 'x');
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// The children of the second test.
[[noreturn]] void OwnAndOffer(int offers, int done) {
  auto memory = UcxSharedMemory::Get();
  Offer offer;
  std::unique_ptr<UcxSharedMemory::Block> kept;
  if (memory.ok()) {
    auto block = (*memory)->Allocate(4096);
    if (block.ok() && (*block)->key().size() <= sizeof(offer.key)) {
      kept = *std::move(block);
      std::strcpy(kept->data(), "the owner's");
      offer.address = AddressOf(*kept);
      offer.key_bytes = kept->key().size();
      std::memcpy(offer.key, kept->key().data(), offer.key_bytes);
    }
  }
  char byte;
  const bool sent = write(offers, &offer, sizeof(offer)) > 0;
  _exit(sent && read(done, &byte, 1) == 0 ? 0 : 1);
}

[[noreturn]] void MapAndRead(int offers) {
  Offer offer;
  if (read(offers, &offer, sizeof(offer)) != ssize_t{sizeof(offer)}) _exit(1);
  auto memory = UcxSharedMemory::Get();
  if (!memory.ok()) _exit(1);
  auto mapping = (*memory)->Map({offer.key, offer.key_bytes}, offer.address);
  if (!mapping.ok()) _exit(kRefused);
  const bool same = std::strcmp((*mapping)->data(), "the owner's") == 0;
  _exit(same ? kRead : kReadOther);
}

// Before main(): a process started in a role is no test.
__attribute__((constructor)) void PlayRole(int argc, char** argv, char**) {
  if (argc != 3) return;
  const std::string role = argv[0];
  if (role == "owner") OwnAndOffer(std::stoi(argv[1]), std::stoi(argv[2]));
  if (role == "reader") MapAndRead(std::stoi(argv[1]));
}

}  // namespace
}  // namespace rondo
