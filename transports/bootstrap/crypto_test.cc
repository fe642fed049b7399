#include "transports/bootstrap/crypto.h"

#include <gtest/gtest.h>

#include <string>

namespace rondo {
namespace {

std::string Hex(std::string_view bytes) {
  std::string out;
  for (char byte : bytes) {
    constexpr char kDigits[] = "0123456789abcdef";
    out.push_back(kDigits[static_cast<uint8_t>(byte) >> 4]);
    out.push_back(kDigits[byte & 15]);
  }
  return out;
}

// RFC 4231, test cases 1, 2 and 6.
TEST(CryptoTest, HmacAgreesWithTheStandard) {
  EXPECT_EQ(Hex(AsBytes(*HmacSha256(std::string(20, '\x0b'), {"Hi There"}))),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(
      Hex(AsBytes(*HmacSha256("Jefe", {"what do ya want ", "for nothing?"}))),
      "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(Hex(AsBytes(*HmacSha256(
                std::string(131, '\xaa'),
                {"Test Using Larger Than Block-Size Key - Hash Key First"}))),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(CryptoTest, OneKeySignsManyTimes) {
  const HmacKey key = *HmacKey::Create("key");
  const Digest first = *key.Sign({"a"});
  EXPECT_NE(first, *key.Sign({"b"}));
  EXPECT_EQ(first, *key.Sign({"a"}));
}

TEST(CryptoTest, RandomBytesDiffer) {
  std::array<uint8_t, 32> a{}, b{};
  ASSERT_TRUE(FillRandom(a.data(), a.size()).ok());
  ASSERT_TRUE(FillRandom(b.data(), b.size()).ok());
  EXPECT_NE(a, b);
}

TEST(CryptoTest, ComparisonSeesLengthAndContent) {
  EXPECT_TRUE(EqualInConstantTime("abc", "abc"));
  EXPECT_TRUE(EqualInConstantTime("", ""));
  EXPECT_FALSE(EqualInConstantTime("abc", "abd"));
  EXPECT_FALSE(EqualInConstantTime("abc", "ab"));
}

}  // namespace
}  // namespace rondo
