#include "transports/base/json_text.h"

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "rapidcheck.h"

namespace rondo {
namespace {

std::string Json(std::string_view text) {
  std::string out;
  AppendJsonString(&out, text);
  return out;
}

TEST(JsonTextTest, QuotesBackslashesAndControlCharactersAreEscaped) {
  EXPECT_EQ(Json(""), "\"\"");
  EXPECT_EQ(Json("plain"), "\"plain\"");
  EXPECT_EQ(Json("a\"b\\c"), "\"a\\\"b\\\\c\"");
  EXPECT_EQ(Json("\n\t\r"), "\"\\n\\t\\r\"");
  EXPECT_EQ(Json(std::string_view("\0\x1f", 2)), "\"\\u0000\\u001f\"");
}

TEST(JsonTextTest, ValidUtf8IsKept) {
  for (const char* text : {"é", "€", "𝄞", "\xed\x9f\xbf", "\xf4\x8f\xbf\xbf"}) {
    EXPECT_EQ(Json(text), '"' + std::string(text) + '"');
    EXPECT_EQ(nlohmann::json::parse(Json(text)).get<std::string>(), text);
  }
}

TEST(JsonTextTest, InvalidUtf8BecomesTheReplacementCharacter) {
  EXPECT_EQ(Json("a\xff"
                 "b"),
            "\"a\\ufffdb\"");
  // Lone continuation, cut sequence, overlong "/", surrogate, above U+10FFFF.
  for (const char* text : {"\x80", "\xe2\x82", "\xc0\xaf", "\xe0\x80\xaf",
                           "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf5\x80"}) {
    EXPECT_EQ(Utf8SequenceBytes(text), 0);
    const std::string parsed = nlohmann::json::parse(Json(text));
    EXPECT_NE(parsed.find("\xef\xbf\xbd"), std::string::npos);
  }
}

TEST(JsonTextTest, AnyBytesMakeTextThatAParserAccepts) {
  EXPECT_TRUE(rc::check([](const std::string& bytes) {
    RC_ASSERT(nlohmann::json::accept(Json(bytes)));
  }));
}

TEST(JsonTextTest, AnyAsciiTextIsReadBackUnchanged) {
  EXPECT_TRUE(rc::check([] {
    const auto text =
        *rc::gen::container<std::string>(rc::gen::inRange<char>(0, 127));
    RC_ASSERT(nlohmann::json::parse(Json(text)).get<std::string>() == text);
  }));
}

}  // namespace
}  // namespace rondo
