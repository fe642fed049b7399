#include "perf/launch/local_ranks.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "gtest/gtest.h"
#include "perf/launch/temporary_directory.h"
#include "transports/base/clock.h"

namespace rondo::perf {
namespace {

namespace fs = std::filesystem;

// Each test has a directory of its own, which also serves as TMPDIR, so that
// whatever the launcher left behind can be seen.
class LocalRanksTest : public testing::Test {
 protected:
  void SetUp() override {
    auto directory = TemporaryDirectory::Create("rondo-launch-test");
    ASSERT_TRUE(directory.ok()) << directory.status().ToString();
    directory_.emplace(std::move(*directory));
    tmp_ = directory_->path() + "/tmp";
    fs::create_directory(tmp_);
    setenv("TMPDIR", tmp_.c_str(), 1);
  }
  void TearDown() override {
    EXPECT_TRUE(fs::is_empty(tmp_)) << "the launcher left something behind";
    unsetenv("TMPDIR");
  }

  // Runs `script` with /bin/sh as every rank.
  Result<LocalOutcome> Run(int ranks, const std::string& script,
                           int64_t grace_ms = 20000) {
    LocalRanks launch;
    launch.ranks = ranks;
    launch.program = "/bin/sh";
    launch.arguments = {"sh", "-c", script};
    launch.environment = {{"PATH", "/usr/bin:/bin"},
                          {"OUT", directory_->path()},
                          {"RONDO_ROOT", "somewhere:1"}};
    launch.grace_ms = grace_ms;
    launch.report = [this](const std::string& text) { said_ += text + "\n"; };
    return RunLocalRanks(launch);
  }

  std::string FileText(const std::string& name) {
    std::ifstream file(directory_->path() + "/" + name);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }

  std::optional<TemporaryDirectory> directory_;
  std::string tmp_;
  std::string said_;
};

TEST_F(LocalRanksTest, GivesEveryRankItsVariables) {
  auto outcome =
      Run(3,
          "echo $RONDO_RANK/$RONDO_WORLD_SIZE $RONDO_LOCAL_RANK/"
          "$RONDO_LOCAL_WORLD_SIZE root=$RONDO_ROOT > $OUT/$RONDO_RANK; "
          "stat -c %a $(dirname $RONDO_RENDEZVOUS_FILE) >> $OUT/$RONDO_RANK; "
          "echo $RONDO_RENDEZVOUS_FILE > $OUT/file$RONDO_RANK");
  ASSERT_TRUE(outcome.ok()) << outcome.status().ToString();
  EXPECT_EQ(outcome->exit_status, 0);
  EXPECT_EQ(FileText("0"), "0/3 0/3 root=\n700\n");
  EXPECT_EQ(FileText("1"), "1/3 1/3 root=\n700\n");
  EXPECT_EQ(FileText("2"), "2/3 2/3 root=\n700\n");
  EXPECT_EQ(FileText("file0"), FileText("file2"));
  EXPECT_EQ(said_, "");
}

TEST_F(LocalRanksTest, RemovesTheDirectoryWithWhatRanksLeftInIt) {
  auto outcome = Run(2, "touch $RONDO_RENDEZVOUS_FILE; exit 1");
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->exit_status, 1);  // TearDown looks at the directory
}

TEST_F(LocalRanksTest, ReturnsTheWorstStatus) {
  auto outcome = Run(3, "exit $RONDO_RANK");
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->exit_status, 2);
  EXPECT_EQ(said_, "");  // such ranks speak for themselves
}

TEST_F(LocalRanksTest, NamesAnOddStatus) {
  auto outcome = Run(2, "[ $RONDO_RANK = 0 ] || exit 77");
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->exit_status, 1);
  EXPECT_EQ(said_, "rank 1 exited with status 77\n");
}

TEST_F(LocalRanksTest, NamesARankThatWasKilled) {
  auto outcome = Run(3, "[ $RONDO_RANK != 2 ] || kill -9 $$");
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->exit_status, 1);
  EXPECT_EQ(said_, "rank 2 was killed by signal 9 (Killed)\n");
}

TEST_F(LocalRanksTest, EndsTheOthersAfterTheGraceTime) {
  const int64_t start_ns = NowNs();
  auto outcome = Run(2, "[ $RONDO_RANK = 0 ] && exit 1; exec sleep 100", 300);
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->exit_status, 1);
  EXPECT_LT(NowNs() - start_ns, int64_t{50} * 1000000000);
  EXPECT_EQ(said_,
            "rank 1 was ended: still running 300 ms after rank 0 failed\n");
}

TEST_F(LocalRanksTest, KillsARankThatIgnoresTermination) {
  auto outcome =
      Run(2,
          "[ $RONDO_RANK = 0 ] && exit 1; trap '' TERM; sleep 100 & wait; "
          "while :; do sleep 1; done",
          200);
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->exit_status, 1);
  EXPECT_NE(said_.find("rank 1 was ended"), std::string::npos) << said_;
}

TEST_F(LocalRanksTest, GraceTimeLetsTheOthersFinish) {
  auto outcome =
      Run(2, "[ $RONDO_RANK = 0 ] && exit 1; sleep 0.5; echo end > $OUT/end");
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(FileText("end"), "end\n");
}

TEST_F(LocalRanksTest, PassesSignalsOn) {
  // Rank 0 interrupts the launcher once both ranks have set their traps.
  auto outcome =
      Run(2,
          "trap 'echo caught > $OUT/caught$RONDO_RANK; exit 0' TERM; "
          "touch $OUT/set$RONDO_RANK; "
          "while [ ! -e $OUT/set0 -o ! -e $OUT/set1 ]; do sleep 0.05; done; "
          "[ $RONDO_RANK = 0 ] && kill -TERM $PPID; "
          "while :; do sleep 0.05; done");
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->exit_status, 1);
  EXPECT_EQ(FileText("caught0"), "caught\n");
  EXPECT_EQ(FileText("caught1"), "caught\n");
  EXPECT_EQ(said_, "interrupted by signal 15 (Terminated)\n");
}

TEST_F(LocalRanksTest, SaysThatAProgramCannotBeExecuted) {
  LocalRanks launch;
  launch.program = "/nonexistent/program";
  launch.arguments = {"program"};
  launch.report = [this](const std::string& text) { said_ += text + "\n"; };
  testing::internal::CaptureStderr();
  auto outcome = RunLocalRanks(launch);
  const std::string error = testing::internal::GetCapturedStderr();
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->exit_status, 1);
  EXPECT_NE(error.find("cannot execute /nonexistent/program"),
            std::string::npos);
  EXPECT_EQ(said_, "rank 0 exited with status 127\n");
}

}  // namespace
}  // namespace rondo::perf
