#include "transports/bootstrap/control_message.h"

#include <gtest/gtest.h>

#include <random>

#include "transports/bootstrap/bootstrap.h"

namespace rondo {
namespace {

TEST(ControlMessageTest, MessagesComeBack) {
  const std::string part =
      ContributeMessage{7, CallKind::kBarrier, "blob"}.Encode();
  const auto contribute = ContributeMessage::Decode(part);
  ASSERT_TRUE(contribute.ok());
  EXPECT_EQ(contribute->call, 7u);
  EXPECT_EQ(contribute->kind, CallKind::kBarrier);
  EXPECT_EQ(contribute->blob, "blob");

  const std::string parts = GatheredMessage{9, 4, {"a", "", "ccc"}}.Encode();
  const auto gathered = GatheredMessage::Decode(parts);
  ASSERT_TRUE(gathered.ok());
  EXPECT_EQ(gathered->first_rank, 4);
  EXPECT_EQ(gathered->blobs, (std::vector<std::string_view>{"a", "", "ccc"}));

  const std::string error =
      ErrorMessage{Status(Code::kMismatch, "why")}.Encode();
  EXPECT_EQ(ErrorMessage::Decode(error)->error.ToString(),
            Status(Code::kMismatch, "why").ToString());
}

TEST(ControlMessageTest, EveryTruncationOfAGatheredMessageIsRefused) {
  const std::string whole = GatheredMessage{9, 4, {"a", "", "ccc"}}.Encode();
  for (size_t bytes = 0; bytes < whole.size(); ++bytes) {
    EXPECT_FALSE(GatheredMessage::Decode(whole.substr(0, bytes)).ok());
  }
  EXPECT_FALSE(GatheredMessage::Decode(whole + "x").ok());
}

TEST(ControlMessageTest, HugeCountsAllocateNothing) {
  std::string message = GatheredMessage{9, 0, {"a"}}.Encode();
  for (size_t i = 12; i < 16; ++i) message[i] = '\xff';
  EXPECT_FALSE(GatheredMessage::Decode(message).ok());
}

TEST(ControlMessageTest, BlobsAboveTheLimitAreRefused) {
  const std::string blob(Bootstrap::kMaxBlobBytes + 1, 'x');
  const auto kind = CallKind::kAllGather;
  EXPECT_FALSE(
      ContributeMessage::Decode(ContributeMessage{0, kind, blob}.Encode())
          .ok());
  EXPECT_FALSE(
      GatheredMessage::Decode(GatheredMessage{0, 0, {blob}}.Encode()).ok());
}

TEST(ControlMessageTest, ErrorsMustBeErrors) {
  EXPECT_FALSE(ErrorMessage::Decode(std::string("\0\0\0\0ok", 6)).ok());
  EXPECT_FALSE(ErrorMessage::Decode(std::string("\x0c\0\0\0?", 5)).ok());
}

TEST(ControlMessageTest, LongTextsAreCut) {
  const Status error(Code::kSystem, std::string(100000, 'x'));
  const auto read = ErrorMessage::Decode(ErrorMessage{error}.Encode());
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->error.message().size(), kMaxErrorTextBytes);
  EXPECT_NE(read->error.message().find("(cut)"), std::string::npos);
}

TEST(ControlMessageTest, DecodedViewsStayInsideRandomPayloads) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 20000; ++round) {
    std::string bytes(random() % 64, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random() % 4);
    const auto gathered = GatheredMessage::Decode(bytes);
    if (!gathered.ok()) continue;
    for (std::string_view blob : gathered->blobs) {
      EXPECT_TRUE(blob.empty() ||
                  (blob.data() >= bytes.data() &&
                   blob.data() + blob.size() <= bytes.data() + bytes.size()));
    }
  }
}

}  // namespace
}  // namespace rondo
