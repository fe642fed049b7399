#include "transports/ucx/ucx_address.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace rondo {
namespace {

using ::testing::HasSubstr;

// FNV-1a, as the format says: what a forger or another version would append.
std::string WithChecksum(std::string body) {
  uint64_t hash = 14695981039346656037u;
  for (unsigned char byte : body) hash = (hash ^ byte) * 1099511628211u;
  for (int i = 0; i < 8; ++i) body.push_back(static_cast<char>(hash >> 8 * i));
  return body;
}

std::string BodyOf(const std::string& address) {
  return address.substr(0, address.size() - 8);
}

TEST(UcxAddressTest, LanesComeBackAsTheyWent) {
  const std::vector<std::string> lanes = {"one", std::string(300, '\0'), ""};
  const std::string address = *PackUcxAddress(lanes);
  EXPECT_EQ(WithChecksum(BodyOf(address)), address);
  EXPECT_EQ(*UnpackUcxAddress(address, 3), lanes);
}

TEST(UcxAddressTest, AnotherNumberOfLanesIsAMismatchThatNamesBoth) {
  auto result = UnpackUcxAddress(*PackUcxAddress({"a", "b"}), 3);
  EXPECT_EQ(result.status().code(), Code::kMismatch);
  EXPECT_THAT(result.status().message(), HasSubstr("2 lanes"));
  EXPECT_THAT(result.status().message(), HasSubstr("this rank 3"));
}

TEST(UcxAddressTest, AnotherFormatOrReleaseIsAMismatchThatNamesBoth) {
  std::string body = BodyOf(*PackUcxAddress({"a"}));
  std::string format = body, release = body;
  format[4] = 9;
  release[6] = 7;
  auto other_format = UnpackUcxAddress(WithChecksum(format), 1);
  EXPECT_EQ(other_format.status().code(), Code::kMismatch);
  EXPECT_THAT(other_format.status().message(), HasSubstr("format 9"));
  auto other_release = UnpackUcxAddress(WithChecksum(release), 1);
  EXPECT_EQ(other_release.status().code(), Code::kMismatch);
  EXPECT_THAT(other_release.status().message(), HasSubstr("UCX 7."));
}

TEST(UcxAddressTest, LengthsThatDoNotFitAreRefusedDespiteAGoodChecksum) {
  const std::string body = BodyOf(*PackUcxAddress({"abc"}));
  std::string longer = body, shorter = body;
  longer[12] = 4;
  shorter[12] = 2;
  std::string huge = body;
  huge.replace(12, 4, "\xff\xff\xff\xff");
  for (const std::string& bad :
       {longer, shorter, huge, body + "x", body.substr(0, 13)}) {
    auto result = UnpackUcxAddress(WithChecksum(bad), 1);
    EXPECT_EQ(result.status().code(), Code::kInvalidArgument);
  }
}

TEST(UcxAddressTest, EveryDamagedByteAndEveryTruncationIsRefused) {
  const std::string address = *PackUcxAddress({"first", "second"});
  for (size_t i = 0; i < address.size(); ++i) {
    std::string damaged = address;
    damaged[i] ^= 1;
    EXPECT_FALSE(UnpackUcxAddress(damaged, 2).ok()) << "byte " << i;
    EXPECT_FALSE(UnpackUcxAddress(address.substr(0, i), 2).ok());
  }
}

TEST(UcxAddressTest, TooLargeIsRefusedWhenPacked) {
  EXPECT_EQ(PackUcxAddress({std::string(70000, 'x')}).status().code(),
            Code::kResourceExhausted);
}

}  // namespace
}  // namespace rondo
