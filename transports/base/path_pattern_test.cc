#include "transports/base/path_pattern.h"

#include <unistd.h>

#include "gtest/gtest.h"
#include "transports/base/host_name.h"

namespace rondo {
namespace {

TEST(PathPatternTest, ReplacesKnownLettersAndDoublePercent) {
  const std::map<char, std::string> values = {{'r', "3"}, {'h', "node"}};
  EXPECT_EQ(*ExpandPathPattern("/t/%h.%r%r.json", values), "/t/node.33.json");
  EXPECT_EQ(*ExpandPathPattern("100%%", values), "100%");
  EXPECT_EQ(*ExpandPathPattern("%%r", values), "%r");
  EXPECT_EQ(*ExpandPathPattern("", values), "");
}

TEST(PathPatternTest, UnknownLettersAreRefusedWithTheKnownOnes) {
  const auto unknown = ExpandPathPattern("a.%q", {{'r', "3"}});
  EXPECT_EQ(unknown.status().message(), "'a.%q' has '%q'; accepted are %%, %r");
  EXPECT_FALSE(ExpandPathPattern("a.%", {{'r', "3"}}).ok());
}

TEST(PathPatternTest, ProcessValuesAreThisHostAndProcess) {
  EXPECT_EQ(*ExpandPathPattern("%h-%p", ProcessPathValues()),
            HostName() + "-" + std::to_string(getpid()));
}

TEST(HostNameTest, IsShortAndNeverEmpty) {
  EXPECT_FALSE(HostName().empty());
  EXPECT_EQ(HostName().find('.'), std::string::npos);
}

}  // namespace
}  // namespace rondo
