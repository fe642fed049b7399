#include "transports/base/status.h"

#include <cerrno>
#include <memory>

#include "gtest/gtest.h"

namespace rondo {
namespace {

TEST(StatusTest, DefaultIsOkAndSaysSo) {
  Status status;
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(status.ToString(), "OK");
}

TEST(StatusTest, ErrorCarriesItsCodeAndMessage) {
  Status status(Code::kMismatch, "rank 1 differs");
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(status.ToString(), "MISMATCH: rank 1 differs");
}

TEST(StatusTest, ContextGoesBeforeTheMessageAndNeverTurnsOkIntoAnError) {
  EXPECT_EQ(InvalidArgument("7").WithContext("port").message(), "port: 7");
  EXPECT_TRUE(Status::Ok().WithContext("port").ok());
}

TEST(StatusTest, SystemErrorNamesTheCallAndTheCause) {
  EXPECT_EQ(SystemError("open /x", ENOENT).message(),
            "open /x: No such file or directory");
}

Result<int> Half(int value) {
  if (value % 2 != 0) return InvalidArgument("odd");
  return value / 2;
}

Result<int> Quarter(int value) {
  RONDO_ASSIGN_OR_RETURN(int half, Half(value));
  RONDO_ASSIGN_OR_RETURN(int quarter, Half(half));
  return quarter;
}

TEST(ResultTest, AssignOrReturnPassesValuesAndErrorsOn) {
  EXPECT_EQ(*Quarter(8), 2);
  EXPECT_EQ(Quarter(6).status().message(), "odd");
}

TEST(ResultTest, CarriesMoveOnlyValues) {
  Result<std::unique_ptr<int>> result(std::make_unique<int>(3));
  std::unique_ptr<int> value = *std::move(result);
  EXPECT_EQ(*value, 3);
}

TEST(ResultTest, MadeFromAnOkStatusIsAnInternalError) {
  Result<int> result{Status::Ok()};
  EXPECT_EQ(result.status().code(), Code::kInternal);
}

}  // namespace
}  // namespace rondo
