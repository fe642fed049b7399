#include "perf/launch/temporary_directory.h"

#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include "gtest/gtest.h"

namespace rondo::perf {
namespace {

TEST(TemporaryDirectoryTest, IsFreshAndPrivate) {
  auto first = TemporaryDirectory::Create("rondo-test");
  auto second = TemporaryDirectory::Create("rondo-test");
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_NE(first->path(), second->path());
  struct stat facts;
  ASSERT_EQ(stat(first->path().c_str(), &facts), 0);
  EXPECT_TRUE(S_ISDIR(facts.st_mode));
  EXPECT_EQ(facts.st_mode & 0777, 0700u);
}

TEST(TemporaryDirectoryTest, GoesWithAllThatIsInIt) {
  std::string path;
  {
    auto directory = TemporaryDirectory::Create("rondo-test");
    ASSERT_TRUE(directory.ok());
    path = directory->path();
    std::filesystem::create_directory(path + "/inner");
    std::ofstream(path + "/inner/file") << "x";
    ASSERT_TRUE(std::filesystem::exists(path + "/inner/file"));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(TemporaryDirectoryTest, MovedFromOwnsNothing) {
  auto directory = TemporaryDirectory::Create("rondo-test");
  ASSERT_TRUE(directory.ok());
  const std::string path = directory->path();
  {
    TemporaryDirectory moved = std::move(*directory);
    EXPECT_EQ(moved.path(), path);
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_EQ(directory->path(), "");
}

TEST(TemporaryDirectoryTest, NamesThePathThatCannotBeMade) {
  const char* before = getenv("TMPDIR");
  const std::string saved = before == nullptr ? "" : before;
  setenv("TMPDIR", "/nonexistent", 1);
  auto directory = TemporaryDirectory::Create("rondo-test");
  if (before == nullptr) {
    unsetenv("TMPDIR");
  } else {
    setenv("TMPDIR", saved.c_str(), 1);
  }
  ASSERT_FALSE(directory.ok());
  EXPECT_NE(directory.status().message().find("/nonexistent/rondo-test"),
            std::string::npos);
}

}  // namespace
}  // namespace rondo::perf
