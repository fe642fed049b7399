// An independent, scalar ReduceElements to compare with.
//
// Integers are widened to uint64_t, whose arithmetic is modular by definition,
// and cut back at the end. Floats follow the documented order one element at a
// time. Nothing here is shared with the vector code but the 16-bit types, which
// half_test checks against the format itself.
//
// Thread-safety: pure functions. Ownership: results are vectors of bytes.
// Failure: none.
//
// Example:
//   EXPECT_EQ(output, ReferenceReduce(type, Reduction::kSum, inputs, n, 1));
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "collectives/kernels/data_type.h"
#include "collectives/kernels/half.h"

namespace rondo {

using Bytes = std::vector<uint8_t>;

template <typename T>
T ReferenceInteger(Reduction reduction, const std::vector<T>& terms,
                   int divisor) {
  T extreme = terms[0];
  uint64_t total = static_cast<uint64_t>(terms[0]);
  for (size_t i = 1; i < terms.size(); ++i) {
    const uint64_t term = static_cast<uint64_t>(terms[i]);
    total = reduction == Reduction::kProd ? total * term : total + term;
    if (reduction == Reduction::kMax) extreme = std::max(extreme, terms[i]);
    if (reduction == Reduction::kMin) extreme = std::min(extreme, terms[i]);
  }
  const bool is_extreme =
      reduction == Reduction::kMax || reduction == Reduction::kMin;
  const T value = is_extreme ? extreme : static_cast<T>(total);
  if constexpr (std::is_signed_v<T>) {
    return static_cast<T>(int64_t{value} / divisor);
  } else {
    return static_cast<T>(uint64_t{value} / static_cast<uint64_t>(divisor));
  }
}

// In `Wide`, which is float for the 16-bit types.
template <typename Wide>
Wide ReferenceFloat(Reduction reduction, const std::vector<Wide>& terms,
                    int divisor) {
  Wide value = terms[0];
  for (size_t i = 1; i < terms.size(); ++i) {
    const Wide term = terms[i];
    const bool negative_first = std::signbit(value) && !std::signbit(term);
    switch (reduction) {
      case Reduction::kSum:
      case Reduction::kAverage:
        value += term;
        break;
      case Reduction::kProd:
        value *= term;
        break;
      case Reduction::kMax:
        if (std::isnan(value)) break;
        if (!(term <= value) || (term == value && negative_first)) value = term;
        break;
      case Reduction::kMin:
        if (std::isnan(value)) break;
        if (!(term >= value) || (term == value && std::signbit(term))) {
          value = term;
        }
        break;
    }
  }
  if (divisor != 1) value /= static_cast<Wide>(divisor);
  return std::isnan(value) ? std::numeric_limits<Wide>::quiet_NaN() : value;
}

template <typename T>
T ReferenceElement(Reduction reduction, const std::vector<T>& terms,
                   int divisor) {
  if constexpr (std::is_integral_v<T>) {
    return ReferenceInteger(reduction, terms, divisor);
  } else if constexpr (std::is_arithmetic_v<T>) {
    return ReferenceFloat(reduction, terms, divisor);
  } else {
    std::vector<float> wide;
    for (T term : terms) wide.push_back(static_cast<float>(term));
    return T(ReferenceFloat(reduction, wide, divisor));
  }
}

template <typename T>
Bytes ReferenceArray(Reduction reduction, const std::vector<Bytes>& sources,
                     size_t count, int divisor) {
  Bytes result(count * sizeof(T));
  std::vector<T> terms(sources.size());
  for (size_t i = 0; i < count; ++i) {
    for (size_t s = 0; s < sources.size(); ++s) {
      std::memcpy(&terms[s], sources[s].data() + i * sizeof(T), sizeof(T));
    }
    const T value = ReferenceElement(reduction, terms, divisor);
    std::memcpy(result.data() + i * sizeof(T), &value, sizeof(T));
  }
  return result;
}

inline Bytes ReferenceReduce(DataType type, Reduction reduction,
                             const std::vector<Bytes>& sources, size_t count,
                             int divisor) {
  switch (type) {
    case DataType::kInt8:
      return ReferenceArray<int8_t>(reduction, sources, count, divisor);
    case DataType::kUint8:
      return ReferenceArray<uint8_t>(reduction, sources, count, divisor);
    case DataType::kInt32:
      return ReferenceArray<int32_t>(reduction, sources, count, divisor);
    case DataType::kUint32:
      return ReferenceArray<uint32_t>(reduction, sources, count, divisor);
    case DataType::kInt64:
      return ReferenceArray<int64_t>(reduction, sources, count, divisor);
    case DataType::kUint64:
      return ReferenceArray<uint64_t>(reduction, sources, count, divisor);
    case DataType::kFloat16:
      return ReferenceArray<Half>(reduction, sources, count, divisor);
    case DataType::kFloat32:
      return ReferenceArray<float>(reduction, sources, count, divisor);
    case DataType::kFloat64:
      return ReferenceArray<double>(reduction, sources, count, divisor);
    case DataType::kBfloat16:
      return ReferenceArray<Bfloat16>(reduction, sources, count, divisor);
  }
  return {};
}

}  // namespace rondo
