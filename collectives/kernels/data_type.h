// DataType and Reduction: what a collective moves and how it combines it.
//
// The numbers are NCCL's (ncclDataType_t, ncclRedOp_t), so that a value can go
// through the C API and the wire unchanged, and the names are the ones that
// nccl-tests takes and prints. Low precision types are stored in 2 bytes
// (half.h) and reduced in fp32 (reduce.h).
//
// Thread-safety: pure functions. Ownership: the texts returned are static.
// Failure: parsers return kInvalidArgument with the value and what is accepted;
// the other functions take only enumerators that the parsers can return.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(DataType type, ParseDataType("bfloat16"));
//   size_t bytes = count * ElementSize(type);  // 2 bytes each
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "transports/base/status.h"

namespace rondo {

enum class DataType : int {
  kInt8 = 0,
  kUint8 = 1,
  kInt32 = 2,
  kUint32 = 3,
  kInt64 = 4,
  kUint64 = 5,
  kFloat16 = 6,
  kFloat32 = 7,
  kFloat64 = 8,
  kBfloat16 = 9,
};

// Every DataType, in the order of their numbers.
constexpr std::array<DataType, 10> AllDataTypes() {
  return {DataType::kInt8,    DataType::kUint8,   DataType::kInt32,
          DataType::kUint32,  DataType::kInt64,   DataType::kUint64,
          DataType::kFloat16, DataType::kFloat32, DataType::kFloat64,
          DataType::kBfloat16};
}

// Bytes of one element: 1, 2, 4 or 8.
constexpr size_t ElementSize(DataType type) {
  constexpr std::array<uint8_t, AllDataTypes().size()> kSizes = {1, 1, 4, 4, 8,
                                                                 8, 2, 4, 8, 2};
  return kSizes[static_cast<size_t>(type)];
}

// "int8", "uint8", "int32", "uint32", "int64", "uint64", "half", "float",
// "double" or "bfloat16".
std::string_view DataTypeName(DataType type);

// True for half, float, double and bfloat16.
bool IsFloatingPoint(DataType type);

// The inverse of DataTypeName.
Result<DataType> ParseDataType(std::string_view text);

// The type with this number, for values that come from outside.
Result<DataType> DataTypeFromNumber(int number);

enum class Reduction : int {
  kSum = 0,
  kProd = 1,
  kMax = 2,
  kMin = 3,
  kAverage = 4,
};

// Every Reduction, in the order of their numbers.
constexpr std::array<Reduction, 5> AllReductions() {
  return {Reduction::kSum, Reduction::kProd, Reduction::kMax, Reduction::kMin,
          Reduction::kAverage};
}

// "sum", "prod", "max", "min" or "avg".
std::string_view ReductionName(Reduction reduction);

// The inverse of ReductionName.
Result<Reduction> ParseReduction(std::string_view text);

// The reduction with this number, for values that come from outside.
Result<Reduction> ReductionFromNumber(int number);

}  // namespace rondo
