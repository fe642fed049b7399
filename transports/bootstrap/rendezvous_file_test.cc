#include "transports/bootstrap/rendezvous_file.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace rondo {
namespace {

class RendezvousFileTest : public testing::Test {
 protected:
  RendezvousFileTest() {
    std::string pattern = testing::TempDir() + "/rondo-XXXXXX";
    directory_ = mkdtemp(pattern.data());
  }
  ~RendezvousFileTest() override { std::filesystem::remove_all(directory_); }
  std::string Path(const char* name) const { return directory_ + "/" + name; }

  std::string directory_;
  const UniqueId id_ =
      *UniqueId::Create(*ParseNumericAddress("127.0.0.1", 4711));
};

TEST_F(RendezvousFileTest, PublishedIdComesBackAndOnlyOwnIsRemoved) {
  ASSERT_TRUE(PublishUniqueId(Path("id"), id_).ok());
  const auto read = ReadUniqueId(Path("id"));
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ(read->bytes(), id_.bytes());
  struct stat facts;
  ASSERT_EQ(stat(Path("id").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0600u);

  const UniqueId newer = *UniqueId::Create(id_.address());
  ASSERT_TRUE(PublishUniqueId(Path("id"), newer).ok());
  RemoveUniqueId(Path("id"), id_);
  EXPECT_TRUE(ReadUniqueId(Path("id")).ok()) << "not its own to remove";
  RemoveUniqueId(Path("id"), newer);
  EXPECT_TRUE(std::filesystem::is_empty(directory_));
}

TEST_F(RendezvousFileTest, FileThatOthersCanReadIsRefused) {
  ASSERT_TRUE(PublishUniqueId(Path("id"), id_).ok());
  ASSERT_EQ(chmod(Path("id").c_str(), 0644), 0);
  const auto read = ReadUniqueId(Path("id"));
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.status().message().find("644"), std::string::npos);
}

TEST_F(RendezvousFileTest, FileOfAnotherUserIsRefused) {
  ASSERT_TRUE(PublishUniqueId(Path("id"), id_).ok());
  if (chown(Path("id").c_str(), geteuid() + 1, getegid()) != 0) {
    // Only root can give a file away; then look at a file that is root's.
    const auto read = ReadPrivateFile("/etc/passwd", 1 << 20);
    EXPECT_FALSE(read.ok());
    return;
  }
  const auto read = ReadUniqueId(Path("id"));
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.status().message().find("belongs to user"), std::string::npos);
}

TEST_F(RendezvousFileTest, LinksPipesAndDamageAreRefused) {
  ASSERT_TRUE(PublishUniqueId(Path("id"), id_).ok());
  ASSERT_EQ(symlink("id", Path("link").c_str()), 0);
  EXPECT_FALSE(ReadUniqueId(Path("link")).ok());
  ASSERT_EQ(mkfifo(Path("pipe").c_str(), 0600), 0);
  EXPECT_FALSE(ReadUniqueId(Path("pipe")).ok());
  EXPECT_FALSE(ReadUniqueId(Path("missing")).ok());
  std::ofstream(Path("id"), std::ios::app) << "00";
  EXPECT_FALSE(ReadUniqueId(Path("id")).ok());
}

TEST_F(RendezvousFileTest, DirectoryMustBePrivate) {
  EXPECT_TRUE(MakePrivateDirectory(Path("d")).ok());
  EXPECT_TRUE(MakePrivateDirectory(Path("d")).ok());
  ASSERT_EQ(chmod(Path("d").c_str(), 0755), 0);
  EXPECT_FALSE(MakePrivateDirectory(Path("d")).ok());
  ASSERT_EQ(symlink(directory_.c_str(), Path("link").c_str()), 0);
  EXPECT_FALSE(MakePrivateDirectory(Path("link")).ok());
  EXPECT_FALSE(MakePrivateDirectory(Path("no/such/parent")).ok());
}

}  // namespace
}  // namespace rondo
