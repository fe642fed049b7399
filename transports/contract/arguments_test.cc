#include "transports/contract/arguments.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "transports/contract/transport.h"

namespace rondo {
namespace {

using ::testing::HasSubstr;

constexpr GroupShape kShape{/*rank=*/1, /*world_size=*/4, /*lane_count=*/2};

TEST(ArgumentsTest, AcceptsEveryOtherRankLaneAndTheLargestTag) {
  char byte = 0;
  for (int peer : {0, 2, 3}) {
    for (int lane : {0, 1}) {
      EXPECT_TRUE(
          CheckTransfer(kShape, "send to", peer, lane, kMaxTag, &byte, 1).ok());
    }
  }
  EXPECT_TRUE(CheckTransfer(kShape, "send to", 0, 0, 0, nullptr, 0).ok());
}

TEST(ArgumentsTest, RefusalsNameTheValueAndWhatIsAccepted) {
  char byte = 0;
  const auto message = [&](int peer, int lane, uint64_t tag, const void* data) {
    Status status =
        CheckTransfer(kShape, "receive from", peer, lane, tag, data, 1);
    EXPECT_EQ(status.code(), Code::kInvalidArgument);
    return status.message();
  };
  EXPECT_THAT(message(1, 0, 0, &byte), HasSubstr("another rank of 0 to 3"));
  EXPECT_THAT(message(4, 0, 0, &byte), HasSubstr("receive from rank 4"));
  EXPECT_THAT(message(-1, 0, 0, &byte), HasSubstr("rank -1"));
  EXPECT_THAT(message(0, 2, 0, &byte), HasSubstr("within 0 to 1"));
  EXPECT_THAT(message(0, -1, 0, &byte), HasSubstr("lane -1"));
  EXPECT_THAT(message(0, 0, kMaxTag + 1, &byte), HasSubstr("1099511627775"));
  EXPECT_THAT(message(0, 0, 0, nullptr), HasSubstr("no buffer"));
}

TEST(ArgumentsTest, ATransferBeforeConnectIsInvalidUsage) {
  EXPECT_EQ(CheckTransfer(GroupShape{}, "send to", 0, 0, 0, nullptr, 0).code(),
            Code::kInvalidUsage);
}

TEST(ArgumentsTest, ConnectRefusesRanksOutsideTheAddresses) {
  EXPECT_TRUE(CheckConnect(GroupShape{}, 0, 1).ok());
  EXPECT_EQ(CheckConnect(GroupShape{}, 2, 2).code(), Code::kInvalidArgument);
  EXPECT_EQ(CheckConnect(GroupShape{}, -1, 2).code(), Code::kInvalidArgument);
  EXPECT_EQ(CheckConnect(GroupShape{}, 0, 0).code(), Code::kInvalidArgument);
  EXPECT_EQ(CheckConnect(kShape, 1, 4).code(), Code::kInvalidUsage);
}

}  // namespace
}  // namespace rondo
