#include "transports/ucx/ucx_tls.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace rondo {
namespace {

using ::testing::HasSubstr;

TEST(UcxTlsTest, PosixIsTakenOutOfLists) {
  EXPECT_EQ(*ExcludePosix(""), "^posix");
  EXPECT_EQ(*ExcludePosix("all"), "^posix");
  EXPECT_EQ(*ExcludePosix("tcp,all"), "^posix");
  EXPECT_EQ(*ExcludePosix("posix,tcp"), "tcp");
  EXPECT_EQ(*ExcludePosix("tcp"), "tcp");
  EXPECT_EQ(*ExcludePosix("sm,tcp"), "sysv,xpmem,cma,knem,tcp");
  EXPECT_EQ(*ExcludePosix("mm"), "sysv,xpmem");
}

TEST(UcxTlsTest, ExclusionsAreAddedToExclusions) {
  EXPECT_EQ(*ExcludePosix("^cma"), "^cma,posix");
  EXPECT_EQ(*ExcludePosix("^posix"), "^posix");
  EXPECT_EQ(*ExcludeSharedMemory("^sm"), "^posix,sysv,xpmem,cma,knem");
}

TEST(UcxTlsTest, SharedMemoryIsTakenOutAsAWhole) {
  EXPECT_EQ(*ExcludeSharedMemory(""), "^posix,sysv,xpmem,cma,knem");
  EXPECT_EQ(*ExcludeSharedMemory("shm,rc,ud"), "rc,ud");
  EXPECT_EQ(*ExcludeSharedMemory("tcp,cma"), "tcp");
}

TEST(UcxTlsTest, NothingLeftIsAnErrorThatNamesTheExpression) {
  for (const auto& result :
       {ExcludePosix("posix"), ExcludeSharedMemory("posix,sysv")}) {
    EXPECT_EQ(result.status().code(), Code::kResourceExhausted);
    EXPECT_THAT(result.status().message(), HasSubstr("\"posix"));
  }
}

TEST(UcxTlsTest, TellsWhatIsAllowed) {
  for (const char* text : {"", "all", "sm", "mm", "posix,tcp", "^cma"}) {
    EXPECT_TRUE(AllowsPosix(text)) << text;
    EXPECT_TRUE(AllowsMappedSegments(text)) << text;
  }
  for (const char* text : {"tcp", "cma,tcp", "^sm", "^mm", "rc,self"}) {
    EXPECT_FALSE(AllowsPosix(text)) << text;
    EXPECT_FALSE(AllowsMappedSegments(text)) << text;
  }
  EXPECT_FALSE(AllowsPosix("sysv"));
  EXPECT_TRUE(AllowsMappedSegments("sysv"));
  EXPECT_TRUE(AllowsMappedSegments("^posix"));
}

}  // namespace
}  // namespace rondo
