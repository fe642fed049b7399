// Ranks that are processes, one of which is killed: what the others see, and
// what stays behind.
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <set>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "transports/base/clock.h"
#include "transports/ucx/ucx_transport.h"

namespace rondo {
namespace {

constexpr int kRanks = 3;
constexpr int kVictim = 1;
constexpr size_t kLarge = 4 << 20;

bool WriteAll(int file, const void* data, size_t bytes) {
  const char* next = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = write(file, next, bytes);
    if (written <= 0) return false;
    next += written;
    bytes -= written;
  }
  return true;
}

bool ReadAll(int file, void* data, size_t bytes) {
  char* next = static_cast<char*>(data);
  while (bytes > 0) {
    const ssize_t got = read(file, next, bytes);
    if (got <= 0) return false;
    next += got;
    bytes -= got;
  }
  return true;
}

bool WriteText(int file, const std::string& text) {
  const uint64_t bytes = text.size();
  return WriteAll(file, &bytes, sizeof bytes) &&
         WriteAll(file, text.data(), text.size());
}

bool ReadText(int file, std::string* text) {
  uint64_t bytes = 0;
  if (!ReadAll(file, &bytes, sizeof bytes) || bytes > (1 << 20)) return false;
  text->resize(bytes);
  return ReadAll(file, text->data(), bytes);
}

std::set<std::string> SharedMemoryFiles() {
  std::set<std::string> names;
  DIR* directory = opendir("/dev/shm");
  while (dirent* entry = directory ? readdir(directory) : nullptr) {
    names.insert(entry->d_name);
  }
  if (directory != nullptr) closedir(directory);
  return names;
}

// Files of UCX in /dev/shm that were not there `before` and do not go away.
// Other programs make some too, which live for a moment.
std::set<std::string> FilesThatStay(const std::set<std::string>& before) {
  std::set<std::string> stay = SharedMemoryFiles();
  std::erase_if(stay, [&](const std::string& name) {
    return before.count(name) != 0 || name.find("ucx") == std::string::npos;
  });
  const Deadline deadline = Deadline::AfterMs(5000);
  while (!stay.empty() && !deadline.expired()) {
    usleep(10000);
    const std::set<std::string> now = SharedMemoryFiles();
    std::erase_if(
        stay, [&](const std::string& name) { return now.count(name) == 0; });
  }
  return stay;
}

// A child process with a pipe in each direction.
struct Child {
  pid_t pid = -1;
  int to_child = -1;
  int from_child = -1;
};

bool Await(Transport& transport, const std::vector<Transfer*>& transfers) {
  const Deadline deadline = Deadline::AfterMs(15000);
  Backoff backoff(kRanks);
  for (Transfer* transfer : transfers) {
    while (!transfer->done()) {
      if (deadline.expired()) return false;
      if (transport.Progress() == 0) backoff.Pause();
    }
  }
  return true;
}

// Every rank exchanges with every other, so that all paths exist.
std::string ExchangeWithAll(Transport& transport, int rank) {
  std::vector<std::vector<char>> received(kRanks);
  std::vector<char> sent(200000, static_cast<char>('a' + rank));
  std::array<Transfer, 2 * kRanks> transfers;
  std::vector<Transfer*> posted;
  for (int peer = 0; peer < kRanks; ++peer) {
    if (peer == rank) continue;
    received[peer].resize(sent.size());
    transport.Receive(peer, 0, 1, {received[peer].data(), sent.size()},
                      &transfers[2 * peer]);
    transport.Send(peer, 0, 1, {sent.data(), sent.size()},
                   &transfers[2 * peer + 1]);
    posted.push_back(&transfers[2 * peer]);
    posted.push_back(&transfers[2 * peer + 1]);
  }
  if (!Await(transport, posted)) {
    transport.FailAll(Status(Code::kTimeout, "no exchange"));
    return "the exchange did not end";
  }
  for (int peer = 0; peer < kRanks; ++peer) {
    for (char byte : received[peer]) {
      if (byte != 'a' + peer) return "wrong bytes arrived";
    }
  }
  return "";
}

// What a survivor does once it knows that the victim is dead: posted transfers
// with it must end, those with the other survivor must not.
std::string SurviveDeath(Transport& transport, int rank) {
  const int friend_rank = kRanks - rank - kVictim;
  std::vector<char> from_victim(kLarge), to_victim(kLarge), word(10);
  Transfer receive, send, later, from_friend, to_friend;
  transport.Receive(kVictim, 0, 7, {from_victim.data(), kLarge}, &receive);
  transport.Send(kVictim, 0, 8, {to_victim.data(), kLarge}, &send);
  transport.Receive(friend_rank, 0, 9, {word.data(), 10}, &from_friend);
  for (int i = 0; i < 100; ++i) transport.Progress();
  transport.FailPeer(kVictim, Status(Code::kRemoteDead, "rank 1 was killed"));
  transport.Receive(kVictim, 0, 10, {from_victim.data(), 1}, &later);
  std::string problem;
  for (const Transfer* transfer : {&receive, &send, &later}) {
    if (!transfer->done()) problem = "a transfer with the dead is still active";
    // UCX may have noticed by itself before we said so; then it says whom.
    if (transfer->status().message().find("rank 1") == std::string::npos) {
      problem =
          "an error does not name rank 1: " + transfer->status().ToString();
    }
  }
  transport.Send(friend_rank, 0, 9, {word.data(), 10}, &to_friend);
  if (!Await(transport, {&from_friend, &to_friend})) problem = "no more moves";
  if (problem.empty() && !from_friend.status().ok()) {
    problem = from_friend.status().ToString();
  }
  if (!problem.empty()) {
    transport.FailAll(Status(Code::kAborted, "over"));
    return problem;
  }
  Status ended = transport.Disconnect(Deadline::AfterMs(15000));
  return ended.ok() ? "" : ended.ToString();
}

// The victim sends large messages without end; the others receive them until
// nothing comes any more. Then the receive that waits must end, whatever part
// of its message had arrived.
std::string StreamUntilDeath(Transport& transport, int rank) {
  std::vector<char> buffer(kLarge);
  for (uint64_t tag = 100;; ++tag) {
    if (rank == kVictim) {
      Transfer first, second;
      transport.Send(0, 0, tag, {buffer.data(), kLarge}, &first);
      transport.Send(2, 0, tag, {buffer.data(), kLarge}, &second);
      if (!Await(transport, {&first, &second})) raise(SIGKILL);
      continue;
    }
    Transfer receive;
    transport.Receive(kVictim, 0, tag, {buffer.data(), kLarge}, &receive);
    const Deadline silence = Deadline::AfterMs(400);
    while (!receive.done() && !silence.expired()) transport.Progress();
    if (receive.done() && receive.status().ok()) continue;
    const Status dead(Code::kRemoteDead, "rank 1 fell silent");
    transport.FailPeer(kVictim, dead);
    if (!receive.done()) return "the receive is still active";
    if (receive.status().message().find("rank 1") == std::string::npos) {
      return "the error does not name rank 1: " + receive.status().ToString();
    }
    transport.FailAll(dead);
    return "";
  }
}

enum class Scene { kIdle, kStreaming };

// The life of one rank: address out, addresses in, exchange, then wait for the
// word that the victim is dead.
std::string RunRank(int rank, Scene scene, const UcxOptions& options, int in,
                    int out) {
  auto made = CreateUcxTransport(options);
  if (!made.ok()) return made.status().ToString();
  Transport& transport = **made;
  if (!WriteText(out, *transport.Address())) return "no address was taken";
  std::vector<std::string> addresses(kRanks);
  for (std::string& address : addresses) {
    if (!ReadText(in, &address)) return "no addresses came";
  }
  Status connected = transport.Connect(rank, addresses);
  if (!connected.ok()) return connected.ToString();
  std::string problem = ExchangeWithAll(transport, rank);
  if (!problem.empty()) return problem;
  if (!WriteText(out, "exchanged")) return "nobody listens";
  if (scene == Scene::kStreaming) return StreamUntilDeath(transport, rank);
  std::string word;
  if (!ReadText(in, &word)) return "no word came";
  return SurviveDeath(transport, rank);
}

Child StartRank(int rank, Scene scene, const UcxOptions& options) {
  int down[2], up[2];
  Child child;
  if (pipe2(down, O_CLOEXEC) != 0 || pipe2(up, O_CLOEXEC) != 0) return child;
  child.pid = fork();
  if (child.pid == 0) {
    close(down[1]);
    close(up[0]);
    const std::string problem = RunRank(rank, scene, options, down[0], up[1]);
    WriteText(up[1], problem);
    _exit(problem.empty() ? 0 : 1);
  }
  close(down[0]);
  close(up[1]);
  child.to_child = down[1];
  child.from_child = up[0];
  return child;
}

class ProcessDeathTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    signal(SIGPIPE, SIG_IGN);
    before_ = SharedMemoryFiles();
  }

  // Starts all ranks and brings them to the point where every path exists.
  void Start(Scene scene) {
    UcxOptions options;
    options.transports = GetParam();
    std::array<std::string, kRanks> addresses;
    for (int rank = 0; rank < kRanks; ++rank) {
      children_[rank] = StartRank(rank, scene, options);
    }
    for (int rank = 0; rank < kRanks; ++rank) {
      ASSERT_TRUE(ReadText(children_[rank].from_child, &addresses[rank]));
    }
    for (const Child& child : children_) {
      for (const std::string& address : addresses) {
        ASSERT_TRUE(WriteText(child.to_child, address));
      }
    }
    for (const Child& child : children_) {
      std::string word;
      ASSERT_TRUE(ReadText(child.from_child, &word));
      ASSERT_EQ(word, "exchanged");
    }
  }

  void KillVictim() {
    ASSERT_EQ(kill(children_[kVictim].pid, SIGKILL), 0);
    int how = 0;
    ASSERT_EQ(waitpid(children_[kVictim].pid, &how, 0), children_[kVictim].pid);
  }

  void ExpectSurvivorsEndWell() {
    for (int rank = 0; rank < kRanks; ++rank) {
      if (rank == kVictim) continue;
      std::string problem;
      int how = 0;
      EXPECT_TRUE(ReadText(children_[rank].from_child, &problem));
      EXPECT_EQ(problem, "") << "rank " << rank;
      ASSERT_EQ(waitpid(children_[rank].pid, &how, 0), children_[rank].pid);
      EXPECT_TRUE(WIFEXITED(how) && WEXITSTATUS(how) == 0) << "rank " << rank;
    }
    EXPECT_THAT(FilesThatStay(before_), ::testing::IsEmpty());
  }

  void TearDown() override {
    for (const Child& child : children_) {
      close(child.to_child);
      close(child.from_child);
    }
  }

  std::array<Child, kRanks> children_;
  std::set<std::string> before_;
};

TEST_P(ProcessDeathTest, SurvivorsEndWhatTheyPostedAndNothingStaysBehind) {
  ASSERT_NO_FATAL_FAILURE(Start(Scene::kIdle));
  ASSERT_NO_FATAL_FAILURE(KillVictim());
  for (int rank = 0; rank < kRanks; ++rank) {
    if (rank == kVictim) continue;
    ASSERT_TRUE(WriteText(children_[rank].to_child, "rank 1 is dead"));
  }
  ExpectSurvivorsEndWell();
}

TEST_P(ProcessDeathTest, DeathInTheMiddleOfMessagesEndsTheReceive) {
  ASSERT_NO_FATAL_FAILURE(Start(Scene::kStreaming));
  usleep(20000);
  ASSERT_NO_FATAL_FAILURE(KillVictim());
  ExpectSurvivorsEndWell();
}

INSTANTIATE_TEST_SUITE_P(Ucx, ProcessDeathTest,
                         ::testing::Values("", "tcp", "posix"),
                         [](const auto& info) {
                           const std::string transports = info.param;
                           return transports.empty() ? "default" : transports;
                         });

}  // namespace
}  // namespace rondo
