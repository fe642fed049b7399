// What communicators and symmetric buffers leave behind: nothing, however many
// come and go; and what becomes of calls where memory cannot be read.

#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/multi_process/rank_group.h"
#include "tests/multi_process/shared_memory_folder.h"

namespace rondo::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int64_t kEndMs = 120'000;
// Some pages that the C library, UCX and new stacks touch late. A leak of as
// little as 100 bytes a buffer, or 1 KiB a communicator, is more.
constexpr int kSlackKib = 1024;
constexpr int kSlackMappings = 4;

// Sanitizers keep what was freed, on purpose.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kFreedMemoryIsKept = true;
#else
constexpr bool kFreedMemoryIsKept = false;
#endif

using Environment = std::map<std::string, std::string>;

class Job {
 public:
  explicit Job(int ranks)
      : ranks_(ranks),
        group_(ProgramPath("tests/multi_process/memory"), ranks) {}

  void Run(const std::vector<std::string>& arguments, Environment environment) {
    environment["UCX_POSIX_DIR"] = folder_.path();
    ASSERT_TRUE(group_.Start(arguments, environment));
    const Deadline end = Deadline::AfterMs(kEndMs);
    for (int rank = 0; rank < ranks_; ++rank) {
      EXPECT_EQ(group_.WaitForExit(rank, end), 0) << group_.Describe();
    }
    EXPECT_THAT(folder_.Entries(), IsEmpty());
  }
  int ranks() const { return ranks_; }
  std::string Line(int rank, const std::string& prefix) {
    const auto line = group_.WaitForLine(rank, prefix, Deadline::AfterMs(0));
    EXPECT_TRUE(line.has_value()) << prefix << "\n" << group_.Describe();
    return line.value_or("");
  }
  // The numbers of a line "when name number name number ...".
  std::map<std::string, int> Holdings(int rank, const std::string& when) {
    std::istringstream words(Line(rank, when + " "));
    std::string name;
    words >> name;
    std::map<std::string, int> holdings;
    for (int number = 0; words >> name >> number;) holdings[name] = number;
    EXPECT_EQ(holdings.size(), 6u) << Describe();
    return holdings;
  }
  int Number(int rank, const std::string& when) {
    return std::atoi(Line(rank, when + " ").substr(when.size()).c_str());
  }
  std::string Describe() { return group_.Describe(); }

 private:
  int ranks_;
  SharedMemoryFolder folder_;
  RankGroup group_;
};

void ExpectNoGrowth(Job* job) {
  for (int rank = 0; rank < job->ranks(); ++rank) {
    SCOPED_TRACE(job->Describe());
    auto before = job->Holdings(rank, "before");
    auto after = job->Holdings(rank, "after");
    EXPECT_EQ(after["descriptors"], before["descriptors"]);
    EXPECT_EQ(after["threads"], before["threads"]);
    EXPECT_EQ(after["files"], before["files"]);
    EXPECT_LE(after["shared_mappings"],
              before["shared_mappings"] + kSlackMappings);
    // A sanitizer's quarantine maps more and more private memory.
    if (kFreedMemoryIsKept) continue;
    EXPECT_LE(after["mappings"], before["mappings"] + kSlackMappings);
    EXPECT_LE(after["resident_kib"], before["resident_kib"] + kSlackKib);
  }
}

// One transport only: UCX spends most of a communicator's time opening all.
TEST(MemoryTest, AThousandCommunicatorsLeaveNothingBehind) {
  Job job(2);
  job.Run({"communicators", "1000"},
          {{"RONDO_ALGO", "direct"}, {"RONDO_UCX_TLS", "tcp,self"}});
  ExpectNoGrowth(&job);
}

TEST(MemoryTest, CommunicatorsOverEveryTransportLeaveNothingBehind) {
  Job job(2);
  job.Run({"communicators", "100"}, {});
  ExpectNoGrowth(&job);
}

// Two in each cycle, which the peer maps.
TEST(MemoryTest, TenThousandBuffersLeaveNothingBehind) {
  Job job(2);
  job.Run({"buffers", "5000"}, {{"RONDO_ALGO", "direct"}});
  ExpectNoGrowth(&job);
}

// The control: what is kept shows.
TEST(MemoryTest, BuffersThatAreKeptAreSeenToGrow) {
  constexpr int kCycles = 100;
  Job job(2);
  job.Run({"kept", std::to_string(kCycles)}, {{"RONDO_ALGO", "direct"}});
  for (int rank = 0; rank < job.ranks(); ++rank) {
    SCOPED_TRACE(job.Describe());
    auto before = job.Holdings(rank, "before");
    auto after = job.Holdings(rank, "after");
    EXPECT_GE(after["descriptors"], before["descriptors"] + 2 * kCycles);
    EXPECT_GE(after["mappings"], before["mappings"] + 2 * kCycles);
    EXPECT_GE(after["shared_mappings"],
              before["shared_mappings"] + 2 * kCycles);
    EXPECT_GE(after["resident_kib"], before["resident_kib"] + 5 * kSlackKib);
  }
}

TEST(MemoryTest, APeerDropsWhatWasFreedAtItsNextCall) {
  constexpr int kBuffers = 5;
  Job job(3);
  job.Run({"freed-by-rank-0", std::to_string(kBuffers)},
          {{"RONDO_ALGO", "direct"}});
  const int mapped = job.Number(0, "mapped");
  EXPECT_GE(mapped, 3 * kBuffers) << job.Describe();
  // Its own go at once.
  EXPECT_EQ(job.Number(0, "freed"), mapped - kBuffers) << job.Describe();
  for (int rank = 1; rank < job.ranks(); ++rank) {
    const int mapped_here = job.Number(rank, "mapped");
    // The barrier after it is a call, too.
    EXPECT_EQ(job.Number(rank, "freed"), mapped_here - kBuffers)
        << job.Describe();
    EXPECT_EQ(job.Number(rank, "next"), mapped_here - kBuffers)
        << job.Describe();
  }
}

class WithoutReadingTest : public ::testing::TestWithParam<int> {};

// With ordinary memory on one rank, or on all: -1.
TEST_P(WithoutReadingTest, DirectNeedsSymmetricMemoryOnEveryRankAndSaysSo) {
  Job job(3);
  job.Run({"denied", std::to_string(GetParam())}, {{"RONDO_ALGO", "direct"}});
  for (int rank = 0; rank < job.ranks(); ++rank) {
    job.Line(rank, "symmetric memory works");
    EXPECT_THAT(
        job.Line(rank, "ordinary "),
        AllOf(HasSubstr("NOT_SUPPORTED"), HasSubstr("RONDO_ALGO=direct"),
              HasSubstr("not all buffers of this call are symmetric"),
              HasSubstr("process_vm_readv"),
              HasSubstr("accepted here: auto, staged, ring")));
  }
}

// The control: without the wish for direct, all of it works.
TEST_P(WithoutReadingTest, OtherwiseOrdinaryMemoryWorks) {
  Job job(3);
  job.Run({"denied", std::to_string(GetParam())}, {});
  for (int rank = 0; rank < job.ranks(); ++rank) {
    EXPECT_EQ(job.Line(rank, "ordinary "), "ordinary OK");
  }
}

INSTANTIATE_TEST_SUITE_P(RankWithOrdinaryMemory, WithoutReadingTest,
                         ::testing::Values(-1, 0, 2),
                         [](const ::testing::TestParamInfo<int>& info) {
                           return info.param < 0 ? std::string("All")
                                                 : std::to_string(info.param);
                         });

}  // namespace
}  // namespace rondo::testing
