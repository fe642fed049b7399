#include "transports/base/parameter_rule.h"

#include <limits>

#include "gtest/gtest.h"

namespace rondo {
namespace {

template <typename T>
std::string Refusal(std::string_view text, const ParameterRule& rule) {
  T value{};
  const Status status = ParseParameter(text, rule, &value);
  EXPECT_EQ(value, T{}) << "a refused text must not change the value";
  return status.message();
}

TEST(ParameterRuleTest, BooleansAreReadInEverySpelling) {
  for (const char* text : {"1", "y", "Y", "yes", "true", "TRUE"}) {
    bool value = false;
    EXPECT_TRUE(ParseParameter(text, Boolean(), &value).ok()) << text;
    EXPECT_TRUE(value) << text;
  }
  for (const char* text : {"0", "n", "N", "no", "false", "False"}) {
    bool value = true;
    EXPECT_TRUE(ParseParameter(text, Boolean(), &value).ok()) << text;
    EXPECT_FALSE(value) << text;
  }
  for (const char* text : {"", "2", "on", "01", " 1"}) {
    EXPECT_NE(Refusal<bool>(text, Boolean()), "") << text;
  }
}

TEST(ParameterRuleTest, NumbersAreCheckedAgainstTheirRange) {
  int64_t value = 0;
  EXPECT_TRUE(ParseParameter("1", WholeNumber(1, 9), &value).ok());
  EXPECT_TRUE(ParseParameter("9", WholeNumber(1, 9), &value).ok());
  EXPECT_EQ(value, 9);
  for (const char* text : {"0", "10", "-1", "", "5x", "5 ", "+5", "0x5", "5.0",
                           "99999999999999999999"}) {
    EXPECT_EQ(Refusal<int64_t>(text, WholeNumber(1, 9)),
              "'" + std::string(text) +
                  "' is refused; accepted is a whole number from 1 to 9");
  }
}

TEST(ParameterRuleTest, AnOptionalNumberAcceptsItsUnsetValueOnly) {
  const ParameterRule rule = OptionalNumber(1, 9, -1);
  int64_t value = 5;
  EXPECT_TRUE(ParseParameter("-1", rule, &value).ok());
  EXPECT_EQ(value, -1);
  EXPECT_NE(Refusal<int64_t>("0", rule).find("from 1 to 9, or -1"),
            std::string::npos);
  EXPECT_NE(Refusal<int64_t>("-2", rule), "");
}

TEST(ParameterRuleTest, SizesHaveUnitsAndARange) {
  const ParameterRule rule = ByteSize(64, 1 << 20);
  int64_t value = 0;
  EXPECT_TRUE(ParseParameter("256Ki", rule, &value).ok());
  EXPECT_EQ(value, 262'144);
  EXPECT_EQ(FormatParameter(value, rule), "256Ki");
  for (const char* text : {"63", "2Mi", "big", "-64"}) {
    EXPECT_NE(Refusal<int64_t>(text, rule).find("a size from 64 to 1Mi"),
              std::string::npos)
        << text;
  }
}

TEST(ParameterRuleTest, ChoicesIgnoreCaseAndKeepTheRulesSpelling) {
  const ParameterRule rule = Choice({"warn", "info", "trace"});
  std::string value;
  EXPECT_TRUE(ParseParameter("INFO", rule, &value).ok());
  EXPECT_EQ(value, "info");
  EXPECT_EQ(Refusal<std::string>("loud", rule),
            "'loud' is refused; accepted is warn, info or trace");
  EXPECT_NE(Refusal<std::string>("", rule), "");
}

TEST(ParameterRuleTest, ListsAreSplitAtCommas) {
  std::vector<std::string> value = {"old"};
  EXPECT_TRUE(ParseParameter("", List(), &value).ok());
  EXPECT_TRUE(value.empty());
  EXPECT_TRUE(ParseParameter("mlx5_0:1, eth0", List(), &value).ok());
  EXPECT_EQ(value, (std::vector<std::string>{"mlx5_0:1", "eth0"}));
  EXPECT_EQ(FormatParameter(value, List()), "mlx5_0:1,eth0");
  for (const char* text : {",", "a,", ",a", "a,,b", "^"}) {
    EXPECT_NE(Refusal<std::vector<std::string>>(text, List()), "") << text;
  }
}

TEST(ParameterRuleTest, AListOfChoicesChecksItemsAndAllowsExclusion) {
  const ParameterRule rule = List({"INIT", "NET"});
  std::vector<std::string> value;
  EXPECT_TRUE(ParseParameter("^init,Net", rule, &value).ok());
  EXPECT_EQ(value, (std::vector<std::string>{"^INIT", "NET"}));
  for (const char* text : {"NET,CPU", "INIT,^NET", "^^NET"}) {
    EXPECT_NE(Refusal<std::vector<std::string>>(text, rule).find("INIT or NET"),
              std::string::npos)
        << text;
  }
}

TEST(ParameterRuleTest, ControlCharactersAreRefusedAndShownEscaped) {
  EXPECT_NE(Refusal<std::string>("a\nb", Text()).find("'a\\x0ab'"),
            std::string::npos);
  EXPECT_NE(Refusal<std::vector<std::string>>("a\x1b", List()).find("\\x1b"),
            std::string::npos);
}

TEST(ParameterRuleTest, VeryLongTextIsCutInMessages) {
  const std::string message =
      Refusal<int64_t>(std::string(100'000, 'x'), WholeNumber(1, 9));
  EXPECT_LT(message.size(), 400u);
  EXPECT_NE(message.find("...'"), std::string::npos);
}

}  // namespace
}  // namespace rondo
