#include "collectives/kernels/data_type.h"

#include <climits>
#include <cstdint>
#include <string>

#include "gtest/gtest.h"
#include "transports/base/status.h"

namespace rondo {
namespace {

TEST(DataTypeTest, NumbersAreThoseOfNccl) {
  // nccl.h: ncclInt8 0, ncclUint8 1, ncclInt32 2, ncclUint32 3, ncclInt64 4,
  // ncclUint64 5, ncclFloat16 6, ncclFloat32 7, ncclFloat64 8, ncclBfloat16 9.
  const char* names[] = {"int8",   "uint8", "int32", "uint32", "int64",
                         "uint64", "half",  "float", "double", "bfloat16"};
  for (int number = 0; number < 10; ++number) {
    Result<DataType> type = DataTypeFromNumber(number);
    ASSERT_TRUE(type.ok());
    EXPECT_EQ(static_cast<int>(*type), number);
    EXPECT_EQ(DataTypeName(*type), names[number]);
  }
}

TEST(DataTypeTest, ElementSizesAreThoseOfTheCTypes) {
  EXPECT_EQ(ElementSize(DataType::kInt8), sizeof(int8_t));
  EXPECT_EQ(ElementSize(DataType::kUint8), sizeof(uint8_t));
  EXPECT_EQ(ElementSize(DataType::kInt32), sizeof(int32_t));
  EXPECT_EQ(ElementSize(DataType::kUint32), sizeof(uint32_t));
  EXPECT_EQ(ElementSize(DataType::kInt64), sizeof(int64_t));
  EXPECT_EQ(ElementSize(DataType::kUint64), sizeof(uint64_t));
  EXPECT_EQ(ElementSize(DataType::kFloat16), 2u);
  EXPECT_EQ(ElementSize(DataType::kFloat32), sizeof(float));
  EXPECT_EQ(ElementSize(DataType::kFloat64), sizeof(double));
  EXPECT_EQ(ElementSize(DataType::kBfloat16), 2u);
}

TEST(DataTypeTest, EveryNameParsesToItsType) {
  for (DataType type : AllDataTypes()) {
    Result<DataType> parsed = ParseDataType(DataTypeName(type));
    ASSERT_TRUE(parsed.ok());
    EXPECT_EQ(*parsed, type);
  }
}

TEST(DataTypeTest, OnlyFourTypesAreFloatingPoint) {
  int floating_point = 0;
  for (DataType type : AllDataTypes()) floating_point += IsFloatingPoint(type);
  EXPECT_EQ(floating_point, 4);
  EXPECT_TRUE(IsFloatingPoint(DataType::kBfloat16));
  EXPECT_FALSE(IsFloatingPoint(DataType::kUint64));
}

TEST(DataTypeTest, AnUnknownNameIsRefusedWithTheAcceptedOnes) {
  for (const char* text : {"", "Float", "float32 ", "int16"}) {
    Result<DataType> parsed = ParseDataType(text);
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_EQ(parsed.status().code(), Code::kInvalidArgument);
    EXPECT_EQ(parsed.status().message(),
              "unknown data type \"" + std::string(text) +
                  "\"; accepted are int8, uint8, int32, uint32, int64, "
                  "uint64, half, float, double, bfloat16");
  }
}

TEST(DataTypeTest, AnUnknownNumberIsRefused) {
  for (int number : {-1, 10, INT_MAX, INT_MIN}) {
    Result<DataType> type = DataTypeFromNumber(number);
    ASSERT_FALSE(type.ok());
    EXPECT_NE(type.status().message().find(std::to_string(number)),
              std::string::npos);
  }
}

TEST(ReductionTest, NamesAndNumbersAreThoseOfNccl) {
  const char* names[] = {"sum", "prod", "max", "min", "avg"};
  for (int number = 0; number < 5; ++number) {
    Result<Reduction> reduction = ReductionFromNumber(number);
    ASSERT_TRUE(reduction.ok());
    EXPECT_EQ(static_cast<int>(*reduction), number);
    EXPECT_EQ(ReductionName(*reduction), names[number]);
    Result<Reduction> parsed = ParseReduction(names[number]);
    ASSERT_TRUE(parsed.ok());
    EXPECT_EQ(*parsed, *reduction);
  }
}

TEST(ReductionTest, UnknownNamesAndNumbersAreRefused) {
  Result<Reduction> parsed = ParseReduction("mean");
  ASSERT_FALSE(parsed.ok());
  EXPECT_EQ(parsed.status().message(),
            "unknown reduction \"mean\"; accepted are sum, prod, max, min, "
            "avg");
  EXPECT_FALSE(ReductionFromNumber(-1).ok());
  EXPECT_FALSE(ReductionFromNumber(5).ok());
}

}  // namespace
}  // namespace rondo
