#include "transports/base/conf_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "gtest/gtest.h"

namespace rondo {
namespace {

std::string PathOf(const std::string& name) {
  return testing::TempDir() + "/" + name;
}

std::string MessageOf(const std::string& text) {
  const auto settings = ParseConfText(text, "x.conf");
  return settings.ok() ? "" : settings.status().message();
}

TEST(ConfFileTest, ReadsNamesWithAndWithoutThePrefix) {
  const auto settings = ParseConfText(
      "# comment\n\n RONDO_DEBUG = info \r\nRANK=3\nROOT=h:1#2\nFAULT=\nX=a=b",
      "x.conf");
  ASSERT_TRUE(settings.ok()) << settings.status().ToString();
  ASSERT_EQ(settings->size(), 5u);
  EXPECT_EQ((*settings)[0].name, "RONDO_DEBUG");
  EXPECT_EQ((*settings)[0].value, "info");
  EXPECT_EQ((*settings)[0].line, 3);
  EXPECT_EQ((*settings)[1].name, "RONDO_RANK");
  EXPECT_EQ((*settings)[2].value, "h:1#2");
  EXPECT_EQ((*settings)[3].value, "");
  EXPECT_EQ((*settings)[4].value, "a=b");
  EXPECT_EQ((*settings)[4].line, 7);
}

TEST(ConfFileTest, AnEmptyFileHasNoSettings) {
  EXPECT_TRUE(ParseConfText("", "x.conf")->empty());
  EXPECT_TRUE(ParseConfText("\n \n#", "x.conf")->empty());
}

TEST(ConfFileTest, OtherLinesAreRefusedWithTheirNumber) {
  EXPECT_NE(MessageOf("RANK=1\nhello\n").find("x.conf, line 2: 'hello'"),
            std::string::npos);
  EXPECT_NE(MessageOf("=1").find("line 1"), std::string::npos);
  EXPECT_NE(MessageOf("export RANK=1").find("NAME=VALUE"), std::string::npos);
  EXPECT_NE(MessageOf("rank=1").find("'rank=1'"), std::string::npos);
  EXPECT_NE(MessageOf("\x1b[31m").find("\\x1b[31m"), std::string::npos);
}

TEST(ConfFileTest, ANameSetTwiceIsRefusedAlsoAcrossSpellings) {
  EXPECT_NE(MessageOf("RANK=1\n#\nRONDO_RANK=2")
                .find("line 3: RONDO_RANK was already set on line 1"),
            std::string::npos);
}

TEST(ConfFileTest, AbsentAndIrregularFilesAreRefusedWithoutWaiting) {
  const auto absent = ReadConfFile(PathOf("absent.conf"));
  EXPECT_EQ(absent.status().code(), Code::kSystem);
  EXPECT_NE(absent.status().message().find("absent.conf"), std::string::npos);

  EXPECT_FALSE(ReadConfFile(testing::TempDir()).ok());

  const std::string fifo = PathOf("fifo.conf");
  unlink(fifo.c_str());
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_NE(ReadConfFile(fifo).status().message().find("not a regular file"),
            std::string::npos);
  unlink(fifo.c_str());
}

TEST(ConfFileTest, TheLargestAcceptedFileIsReadAndOneByteMoreRefused) {
  const std::string path = PathOf("large.conf");
  std::ofstream(path) << "RANK=1\n#" << std::string(kMaxConfFileBytes - 8, 'x');
  ASSERT_TRUE(ReadConfFile(path).ok());
  EXPECT_EQ((*ReadConfFile(path))[0].value, "1");
  std::ofstream(path, std::ios::app) << "x";
  EXPECT_NE(ReadConfFile(path).status().message().find("1048576"),
            std::string::npos);
  unlink(path.c_str());
}

}  // namespace
}  // namespace rondo
