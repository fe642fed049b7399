#include "perf/cli/text_file.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#include "gtest/gtest.h"
#include "perf/launch/temporary_directory.h"

namespace rondo::perf {
namespace {

namespace fs = std::filesystem;

class TextFileTest : public testing::Test {
 protected:
  void SetUp() override {
    auto directory = TemporaryDirectory::Create("rondo-text-file");
    ASSERT_TRUE(directory.ok());
    directory_.emplace(std::move(*directory));
  }
  std::string Path(const std::string& name) {
    return directory_->path() + "/" + name;
  }
  size_t FileCount() {
    return std::distance(fs::directory_iterator(directory_->path()), {});
  }
  std::optional<TemporaryDirectory> directory_;
};

TEST_F(TextFileTest, ReplacesTheOldFileAndLeavesNothingElse) {
  ASSERT_TRUE(WriteTextFile(Path("report"), "old, and longer").ok());
  ASSERT_TRUE(WriteTextFile(Path("report"), "new").ok());
  std::ifstream file(Path("report"));
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "new");
  EXPECT_EQ(FileCount(), 1u);
}

TEST_F(TextFileTest, WritesNothingWithoutAPath) {
  EXPECT_TRUE(CheckWritable("").ok());
  EXPECT_TRUE(WriteTextFile("", "text").ok());
}

TEST_F(TextFileTest, NamesAPathThatCannotBeWritten) {
  for (const std::string& path : {Path("absent/report"), Path("")}) {
    const Status status = CheckWritable(path);
    ASSERT_FALSE(status.ok()) << path;
    EXPECT_NE(status.message().find(path), std::string::npos);
    EXPECT_FALSE(WriteTextFile(path, "text").ok());
  }
  EXPECT_EQ(FileCount(), 0u);
}

TEST_F(TextFileTest, CheckingLeavesNoTrace) {
  EXPECT_TRUE(CheckWritable(Path("report")).ok());
  EXPECT_EQ(FileCount(), 0u);
}

TEST_F(TextFileTest, DevicesAreWrittenInPlace) {
  EXPECT_TRUE(WriteTextFile("/dev/null", "text").ok());
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

}  // namespace
}  // namespace rondo::perf
