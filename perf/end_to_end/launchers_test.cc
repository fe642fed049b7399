// Ranks started in every way, and what happens when one of them dies.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <memory>

#include "gtest/gtest.h"
#include "perf/end_to_end/command_runner.h"

namespace rondo::perf {
namespace {

using Words = std::vector<std::string>;

const Words kShortRun = {"perf", "reduce_scatter", "-b", "1Ki",
                         "-e",   "16Ki",           "-n", "2"};
const Words kEndlessRun = {"perf", "all_gather", "-b", "64Ki",
                           "-e",   "64Ki",       "-n", "100000000"};

Words Plus(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

void ExpectGoodTable(const Finished& run, int ranks) {
  EXPECT_EQ(run.exit_status, 0) << run.standard_error;
  EXPECT_NE(run.standard_output.find("# ranks " + std::to_string(ranks) + " "),
            std::string::npos)
      << run.standard_output << run.standard_error;
  EXPECT_NE(run.standard_output.find("Out of bounds values : 0 OK"),
            std::string::npos)
      << run.standard_output;
}

// A port that was free a moment ago.
int FreePort() {
  const int socket_fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  EXPECT_EQ(bind(socket_fd, reinterpret_cast<sockaddr*>(&address), size), 0);
  getsockname(socket_fd, reinterpret_cast<sockaddr*>(&address), &size);
  close(socket_fd);
  return ntohs(address.sin_port);
}

// Starts two processes whose variables differ by rank, as a launcher would.
void ExpectTwoRanksMeet(Variables common, const std::string& rank_name,
                        const std::string& local_rank_name) {
  std::vector<std::unique_ptr<RunningCommand>> ranks;
  for (const char* rank : {"0", "1"}) {
    Variables variables = common;
    variables[rank_name] = rank;
    variables[local_rank_name] = rank;
    ranks.push_back(std::make_unique<RunningCommand>(
        Plus({RondoPath()}, kShortRun), variables));
  }
  ExpectGoodTable(ranks[0]->Finish(), 2);
  const Finished other = ranks[1]->Finish();
  EXPECT_EQ(other.exit_status, 0) << other.standard_error;
  EXPECT_EQ(other.standard_output, "");  // only rank 0 prints
}

TEST(LaunchersTest, AloneIsAWorldOfOne) {
  ExpectGoodTable(RunRondo(kShortRun), 1);
}

TEST(LaunchersTest, MpirunStartsRanks) {
  const std::string mpirun = "/usr/bin/mpirun";
  if (access(mpirun.c_str(), X_OK) != 0) {
    GTEST_SKIP() << mpirun << " is not installed";
  }
  RunningCommand command(Plus({mpirun, "--allow-run-as-root", "--oversubscribe",
                               "-np", "2", RondoPath()},
                              kShortRun),
                         {});
  ExpectGoodTable(command.Finish(), 2);
}

TEST(LaunchersTest, TorchrunVariablesStartRanks) {
  ExpectTwoRanksMeet({{"WORLD_SIZE", "2"},
                      {"LOCAL_WORLD_SIZE", "2"},
                      {"MASTER_ADDR", "127.0.0.1"},
                      {"MASTER_PORT", std::to_string(FreePort())}},
                     "RANK", "LOCAL_RANK");
}

TEST(LaunchersTest, SrunVariablesStartRanks) {
  const std::string runtime = NewPath("runtime");
  std::filesystem::create_directory(runtime);
  std::filesystem::permissions(runtime, std::filesystem::perms::owner_all);
  ExpectTwoRanksMeet({{"SLURM_NTASKS", "2"},
                      {"SLURM_JOB_ID", std::to_string(getpid())},
                      {"SLURM_STEP_ID", "0"},
                      {"SLURM_NNODES", "1"},
                      {"SLURM_JOB_NUM_NODES", "1"},
                      {"XDG_RUNTIME_DIR", runtime}},
                     "SLURM_PROCID", "SLURM_LOCALID");
}

TEST(LaunchersTest, RanksUnderALauncherAreRefused) {
  const Finished run = RunRondo(Plus(kShortRun, {"--ranks", "2"}),
                                {{"RONDO_RANK", "1"},
                                 {"RONDO_WORLD_SIZE", "3"},
                                 {"RONDO_LOCAL_RANK", "1"},
                                 {"RONDO_LOCAL_WORLD_SIZE", "3"}});
  EXPECT_EQ(run.exit_status, 2);
  EXPECT_NE(run.standard_error.find("rank 1 of 3"), std::string::npos)
      << run.standard_error;
}

TEST(LaunchersTest, AKilledRankIsNamedAndEndsTheRun) {
  RunningCommand command(
      Plus({RondoPath()}, Plus(kEndlessRun, {"--ranks", "3"})), {});
  command.WaitForOutput("busbw");
  const auto ranks = command.WaitForChildren(3);
  ASSERT_EQ(ranks.size(), 3u);
  kill(ranks[2], SIGKILL);
  const Finished run = command.Finish();
  EXPECT_EQ(run.exit_status, 1);
  EXPECT_NE(run.standard_error.find("rank 2 was killed by signal 9"),
            std::string::npos)
      << run.standard_error;
  // The others found out by themselves.
  EXPECT_NE(run.standard_error.find("rondo: rank 0:"), std::string::npos)
      << run.standard_error;
  EXPECT_EQ(run.standard_error.find("was ended"), std::string::npos)
      << run.standard_error;
  for (pid_t rank : ranks) EXPECT_NE(kill(rank, 0), 0);
}

TEST(LaunchersTest, AnInterruptedRunLeavesNothing) {
  RunningCommand command(
      Plus({RondoPath()}, Plus(kEndlessRun, {"--ranks", "2"})), {});
  command.WaitForOutput("busbw");
  const auto ranks = command.WaitForChildren(2);
  kill(command.pid(), SIGTERM);
  const Finished run = command.Finish();
  EXPECT_EQ(run.exit_status, 1);
  EXPECT_NE(run.standard_error.find("interrupted by signal 15"),
            std::string::npos)
      << run.standard_error;
  for (pid_t rank : ranks) EXPECT_NE(kill(rank, 0), 0);
}

}  // namespace
}  // namespace rondo::perf
