#include "transports/base/size_text.h"

#include <limits>

#include "gtest/gtest.h"
#include "rapidcheck.h"

namespace rondo {
namespace {

TEST(SizeTextTest, DecimalAndBinaryUnitsDiffer) {
  EXPECT_EQ(*ParseSize("64M"), 64'000'000);
  EXPECT_EQ(*ParseSize("64Mi"), 67'108'864);
  EXPECT_EQ(*ParseSize("1K"), 1'000);
  EXPECT_EQ(*ParseSize("1Ki"), 1'024);
  EXPECT_EQ(*ParseSize("2G"), 2'000'000'000);
  EXPECT_EQ(*ParseSize("2Gi"), 2'147'483'648);
  EXPECT_EQ(*ParseSize("3T"), 3'000'000'000'000);
  EXPECT_EQ(*ParseSize("3Ti"), 3'298'534'883'328);
}

TEST(SizeTextTest, PlainNumbersCaseAndAFinalBAreAccepted) {
  EXPECT_EQ(*ParseSize("0"), 0);
  EXPECT_EQ(*ParseSize("8"), 8);
  EXPECT_EQ(*ParseSize("8B"), 8);
  EXPECT_EQ(*ParseSize("4k"), 4'000);
  EXPECT_EQ(*ParseSize("4ki"), 4'096);
  EXPECT_EQ(*ParseSize("4MiB"), 4'194'304);
}

TEST(SizeTextTest, WhatIsNotASizeIsRefusedAndQuoted) {
  for (const char* text : {"", " ", "M", "-1", "+1", "1.5G", "1 K", "12x",
                           "1KK", "1iK", "0x10", "1Kib2", "ten", " 1", "1 "}) {
    const Result<int64_t> size = ParseSize(text);
    ASSERT_FALSE(size.ok()) << text;
    EXPECT_EQ(size.status().code(), Code::kInvalidArgument);
    EXPECT_NE(size.status().message().find("'" + std::string(text) + "'"),
              std::string::npos);
    EXPECT_NE(size.status().message().find("64M"), std::string::npos);
  }
}

TEST(SizeTextTest, SizesAbove63BitsAreRefusedNotWrapped) {
  EXPECT_EQ(*ParseSize("9223372036854775807"),
            std::numeric_limits<int64_t>::max());
  for (const char* text : {"9223372036854775808", "8388608Ti", "9223373T",
                           "99999999999999999999999"}) {
    ASSERT_FALSE(ParseSize(text).ok()) << text;
    EXPECT_NE(ParseSize(text).status().message().find("too large"),
              std::string::npos);
  }
  EXPECT_TRUE(ParseSize("8388607Ti").ok());
}

TEST(SizeTextTest, FormatsWithTheShortestExactUnit) {
  EXPECT_EQ(FormatSize(0), "0");
  EXPECT_EQ(FormatSize(8), "8");
  EXPECT_EQ(FormatSize(1'000), "1K");
  EXPECT_EQ(FormatSize(1'024), "1Ki");
  EXPECT_EQ(FormatSize(262'144), "256Ki");
  EXPECT_EQ(FormatSize(64'000'000), "64M");
  EXPECT_EQ(FormatSize(67'108'864), "64Mi");
  EXPECT_EQ(FormatSize(1'025), "1025");
  EXPECT_EQ(FormatSize(-1'000), "-1000");
}

TEST(SizeTextTest, EveryFormattedSizeParsesBackExactly) {
  EXPECT_TRUE(rc::check([] {
    const int64_t unit = *rc::gen::element<int64_t>(1, 1'000, 1'024, 1'000'000,
                                                    1 << 20, 1 << 30);
    const int64_t bytes = *rc::gen::inRange<int64_t>(0, 1 << 30) * unit;
    RC_ASSERT(*ParseSize(FormatSize(bytes)) == bytes);
  }));
}

}  // namespace
}  // namespace rondo
