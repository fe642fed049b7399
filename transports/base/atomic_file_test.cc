#include "transports/base/atomic_file.h"

#include <signal.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "gtest/gtest.h"

namespace rondo {
namespace {

namespace fs = std::filesystem;

class AtomicFileTest : public testing::Test {
 protected:
  AtomicFileTest() : directory_(testing::TempDir() + "/atomic_file") {
    fs::remove_all(directory_);
    fs::create_directories(directory_);
  }
  ~AtomicFileTest() override { fs::remove_all(directory_); }

  std::string Path(const std::string& name) const {
    return directory_ + "/" + name;
  }
  static std::string Read(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  size_t FileCount() const {
    return std::distance(fs::directory_iterator(directory_), {});
  }

  const std::string directory_;
};

TEST_F(AtomicFileTest, WritesAndReplacesAndLeavesNothingElse) {
  EXPECT_TRUE(WriteFileAtomically(Path("a"), "old").ok());
  EXPECT_TRUE(WriteFileAtomically(Path("a"), std::string(1 << 20, 'n')).ok());
  EXPECT_EQ(Read(Path("a")), std::string(1 << 20, 'n'));
  EXPECT_TRUE(WriteFileAtomically(Path("a"), "").ok());
  EXPECT_EQ(Read(Path("a")), "");
  EXPECT_EQ(FileCount(), 1u);
}

TEST_F(AtomicFileTest, AnAbsentDirectoryIsAnErrorThatNamesThePath) {
  const Status status = WriteFileAtomically(Path("absent/a"), "x");
  EXPECT_EQ(status.code(), Code::kSystem);
  EXPECT_NE(status.message().find("absent/a"), std::string::npos);
}

TEST_F(AtomicFileTest, ARenameThatFailsCleansUp) {
  fs::create_directory(Path("a"));
  EXPECT_FALSE(WriteFileAtomically(Path("a"), "x").ok());
  EXPECT_EQ(FileCount(), 1u);
}

TEST_F(AtomicFileTest, AWriteThatFailsKeepsTheOldFileAndCleansUp) {
  ASSERT_TRUE(WriteFileAtomically(Path("a"), "old").ok());
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small = {4096, before.rlim_max};
  signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const Status status = WriteFileAtomically(Path("a"), std::string(8192, 'n'));
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  signal(SIGXFSZ, SIG_DFL);
  EXPECT_EQ(status.code(), Code::kSystem);
  EXPECT_EQ(Read(Path("a")), "old");
  EXPECT_EQ(FileCount(), 1u);
}

}  // namespace
}  // namespace rondo
