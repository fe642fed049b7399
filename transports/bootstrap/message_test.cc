#include "transports/bootstrap/message.h"

#include <gtest/gtest.h>

#include <random>

namespace rondo {
namespace {

Digest Key(uint8_t fill) {
  Digest key;
  key.fill(fill);
  return key;
}

struct Pair {
  FrameSealer sealer;
  FrameOpener opener;
};

Pair SecurePair() {
  Pair pair;
  EXPECT_TRUE(pair.sealer.Secure(Key(1)).ok());
  EXPECT_TRUE(pair.opener.Secure(Key(1)).ok());
  return pair;
}

// The payload if `bytes` opens as the opener's first frame, else nullopt.
std::optional<std::string> OpenFresh(std::string_view bytes) {
  Pair pair = SecurePair();
  const auto frame = pair.opener.Open(bytes);
  if (!frame.ok() || !*frame) return std::nullopt;
  return std::string((*frame)->payload);
}

TEST(MessageTest, FramesOfEverySizeComeBack) {
  for (bool secure : {false, true}) {
    Pair pair = secure ? SecurePair() : Pair();
    for (size_t bytes : {0, 1, 15, 16, 17, 4096}) {
      const std::string payload(bytes, 'p');
      const auto sealed = pair.sealer.Seal(MessageType::kReport, payload);
      ASSERT_TRUE(sealed.ok());
      const std::string stream = *sealed + "next frame";
      const auto frame = pair.opener.Open(stream);
      ASSERT_TRUE(frame.ok()) << frame.status().ToString();
      ASSERT_TRUE(frame->has_value());
      EXPECT_EQ((*frame)->type, MessageType::kReport);
      EXPECT_EQ((*frame)->payload, payload);
      EXPECT_EQ((*frame)->frame_bytes, sealed->size());
    }
  }
}

TEST(MessageTest, EveryTruncationWaitsForMore) {
  Pair pair = SecurePair();
  const std::string sealed = *pair.sealer.Seal(MessageType::kReport, "abc");
  for (size_t bytes = 0; bytes < sealed.size(); ++bytes) {
    const auto frame = pair.opener.Open(sealed.substr(0, bytes));
    ASSERT_TRUE(frame.ok());
    EXPECT_FALSE(frame->has_value()) << bytes;
  }
}

TEST(MessageTest, EveryFlippedBitIsRefused) {
  Pair pair = SecurePair();
  const std::string sealed = *pair.sealer.Seal(MessageType::kReport, "abc");
  ASSERT_EQ(OpenFresh(sealed), "abc");
  for (size_t bit = 0; bit < 8 * sealed.size(); ++bit) {
    std::string changed = sealed;
    changed[bit / 8] ^= static_cast<char>(1 << (bit % 8));
    // More bytes follow, so that a longer length cannot hide as "wait".
    EXPECT_EQ(OpenFresh(changed + std::string(70000, 'z')), std::nullopt)
        << "bit " << bit;
  }
}

TEST(MessageTest, AnotherKeyIsRefused) {
  Pair pair = SecurePair();
  const std::string sealed = *pair.sealer.Seal(MessageType::kReport, "abc");
  FrameOpener other;
  ASSERT_TRUE(other.Secure(Key(2)).ok());
  EXPECT_FALSE(other.Open(sealed).ok());
}

TEST(MessageTest, ReplayLossAndReorderAreRefused) {
  Pair pair = SecurePair();
  const std::string first = *pair.sealer.Seal(MessageType::kHeartbeat, "");
  const std::string second = *pair.sealer.Seal(MessageType::kHeartbeat, "");
  EXPECT_FALSE(SecurePair().opener.Open(second).ok()) << "first was dropped";
  ASSERT_TRUE(pair.opener.Open(first).ok());
  EXPECT_FALSE(pair.opener.Open(first).ok()) << "replayed";
  EXPECT_TRUE(pair.opener.Open(second).ok());
}

TEST(MessageTest, SizesAboveTheLimitAreRefusedFromTheHeaderAlone) {
  FrameSealer open;
  EXPECT_FALSE(
      open.Seal(MessageType::kHello, std::string(kMaxOpenPayloadBytes + 1, 'x'))
          .ok());
  // A header that announces 4 GiB - 1.
  const std::string header("\xff\xff\xff\xff\x01\0\0\0\0\0\0\0\0\0\0\0", 16);
  for (bool sealed : {false, true}) {
    const auto frame = ParseFrame(header, sealed);
    ASSERT_FALSE(frame.ok());
    EXPECT_NE(frame.status().message().find("4294967295"), std::string::npos);
  }
}

TEST(MessageTest, RandomBytesNeverOpen) {
  std::mt19937_64 random(20240229);
  for (int round = 0; round < 20000; ++round) {
    std::string bytes(random() % 96, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    // Small lengths and known types get past the first checks.
    if (round % 2 == 0 && bytes.size() >= 8) {
      bytes[1] = bytes[2] = bytes[3] = bytes[5] = bytes[6] = bytes[7] = 0;
      bytes[0] = static_cast<char>(random() % 64);
      bytes[4] = static_cast<char>(random() % 20);
    }
    EXPECT_EQ(OpenFresh(bytes), std::nullopt);
    const auto frame = ParseFrame(bytes, false);
    if (frame.ok() && *frame) {
      EXPECT_LE((*frame)->frame_bytes, bytes.size());
    }
  }
}

}  // namespace
}  // namespace rondo
