#include "collectives/kernels/test_data.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>
#include <vector>

#include "collectives/kernels/half.h"
#include "collectives/kernels/test_pattern.h"

namespace rondo {
namespace {

using test_data_internal::Format;
using test_data_internal::RankData;

// The data of all ranks that take part.
template <typename T>
using World = std::vector<RankData<T>>;

template <typename T>
World<T> MakeWorld(uint64_t seed, int world_size) {
  World<T> world;
  for (int rank = 0; rank < world_size; ++rank) world.emplace_back(seed, rank);
  return world;
}

template <typename T>
T FromInteger(int64_t value) {
  if constexpr (std::is_integral_v<T> || std::is_same_v<T, double>) {
    return static_cast<T>(value);
  } else {
    return T(static_cast<float>(value));
  }
}

// `value` is known to be a value of T.
template <typename T>
T FromDouble(double value) {
  if constexpr (std::is_same_v<T, double>) {
    return value;
  } else {
    return T(static_cast<float>(value));
  }
}

template <typename T>
bool IsNan(T value) {
  if constexpr (std::is_arithmetic_v<T>) {
    return value != value;
  } else {
    return IsNan(static_cast<float>(value));
  }
}

template <typename T>
T Input(Reduction reduction, const RankData<T>& rank, size_t element) {
  switch (reduction) {
    case Reduction::kSum:
    case Reduction::kAverage:
      return FromInteger<T>(rank.SumTerm(element));
    case Reduction::kProd:
      if constexpr (std::is_integral_v<T>) {
        return rank.IntegerFactor(element);
      } else {
        return FromDouble<T>(rank.FloatFactor(element));
      }
    case Reduction::kMax:
    case Reduction::kMin:
      break;
  }
  return rank.AnyValue(element);
}

template <typename T>
T Average(int64_t sum, int world_size) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(sum / world_size);
  } else if constexpr (std::is_same_v<T, double>) {
    return static_cast<double>(sum) / world_size;
  } else {
    return T(static_cast<float>(sum) / static_cast<float>(world_size));
  }
}

template <typename T>
T ExpectedSum(bool average, const World<T>& world, size_t element) {
  int64_t sum = 0;
  for (const RankData<T>& rank : world) sum += rank.SumTerm(element);
  return average ? Average<T>(sum, static_cast<int>(world.size()))
                 : FromInteger<T>(sum);
}

template <typename T>
T ExpectedProd(const World<T>& world, size_t element) {
  if constexpr (std::is_integral_v<T>) {
    uint64_t product = 1;
    for (const RankData<T>& rank : world) {
      product *= static_cast<uint64_t>(rank.IntegerFactor(element));
    }
    return static_cast<T>(product);
  } else {
    double product = 1;
    for (const RankData<T>& rank : world) product *= rank.FloatFactor(element);
    return FromDouble<T>(product);
  }
}

template <typename T>
bool Less(T a, T b) {
  if constexpr (std::is_arithmetic_v<T>) {
    return a < b;
  } else {
    return static_cast<float>(a) < static_cast<float>(b);
  }
}

template <typename T>
T ExpectedExtreme(bool max, const World<T>& world, size_t element) {
  T extreme = world.front().AnyValue(element);
  for (const RankData<T>& rank : world) {
    const T value = rank.AnyValue(element);
    if (max ? Less(extreme, value) : Less(value, extreme)) extreme = value;
  }
  return extreme;
}

template <typename T>
T Expected(Reduction reduction, const World<T>& world, size_t element) {
  switch (reduction) {
    case Reduction::kSum:
    case Reduction::kAverage:
      return ExpectedSum(reduction == Reduction::kAverage, world, element);
    case Reduction::kProd:
      return ExpectedProd(world, element);
    case Reduction::kMax:
    case Reduction::kMin:
      break;
  }
  return ExpectedExtreme(reduction == Reduction::kMax, world, element);
}

// The position of a float in the order of all values, so that neighbours differ
// by 1 and both zeros are one.
template <typename T>
int64_t Ordinal(T value) {
  using Bits = typename Format<T>::Bits;
  constexpr Bits kSign = static_cast<Bits>(Bits{1} << (8 * sizeof(T) - 1));
  const Bits bits = std::bit_cast<Bits>(value);
  const auto magnitude = static_cast<int64_t>(bits & ~kSign);
  return bits & kSign ? -magnitude : magnitude;
}

template <typename T>
bool WithinUlps(T a, T b, int tolerance_ulps) {
  if constexpr (std::is_integral_v<T>) {
    return a == b;
  } else {
    if (IsNan(a) || IsNan(b)) return false;
    // Unsigned: the distance of two doubles of opposite sign overflows int64_t.
    const int64_t low = std::min(Ordinal(a), Ordinal(b));
    const int64_t high = std::max(Ordinal(a), Ordinal(b));
    return static_cast<uint64_t>(high) - static_cast<uint64_t>(low) <=
           static_cast<uint64_t>(tolerance_ulps);
  }
}

// Calls `function` with a value of the C++ type of `type`.
template <typename Function>
auto WithType(DataType type, Function function) {
  switch (type) {
    case DataType::kInt8:
      return function(int8_t{});
    case DataType::kUint8:
      return function(uint8_t{});
    case DataType::kInt32:
      return function(int32_t{});
    case DataType::kUint32:
      return function(uint32_t{});
    case DataType::kInt64:
      return function(int64_t{});
    case DataType::kUint64:
      return function(uint64_t{});
    case DataType::kFloat16:
      return function(Half{});
    case DataType::kFloat64:
      return function(double{});
    case DataType::kBfloat16:
      return function(Bfloat16{});
    case DataType::kFloat32:
      break;
  }
  return function(float{});
}

template <typename T>
T LoadElement(const void* data, size_t index) {
  T value;
  std::memcpy(&value, static_cast<const char*>(data) + index * sizeof(T),
              sizeof(T));
  return value;
}

template <typename T>
void StoreElement(void* data, size_t index, T value) {
  std::memcpy(static_cast<char*>(data) + index * sizeof(T), &value, sizeof(T));
}

}  // namespace

void FillTestData(DataType type, Reduction reduction, uint64_t seed, int rank,
                  size_t element_offset, void* data, size_t count) {
  WithType(type, [&](auto zero) {
    using T = decltype(zero);
    const RankData<T> source(seed, rank);
    for (size_t i = 0; i < count; ++i) {
      StoreElement(data, i, Input<T>(reduction, source, element_offset + i));
    }
  });
}

void FillExpected(DataType type, Reduction reduction, uint64_t seed,
                  int world_size, size_t element_offset, void* data,
                  size_t count) {
  WithType(type, [&](auto zero) {
    using T = decltype(zero);
    const World<T> world = MakeWorld<T>(seed, world_size);
    for (size_t i = 0; i < count; ++i) {
      StoreElement(data, i, Expected(reduction, world, element_offset + i));
    }
  });
}

size_t CountWrong(DataType type, const void* got, const void* want,
                  size_t count, int tolerance_ulps) {
  if (count == 0) return 0;
  if (std::memcmp(got, want, count * ElementSize(type)) == 0) return 0;
  return WithType(type, [&](auto zero) {
    using T = decltype(zero);
    size_t wrong = 0;
    for (size_t i = 0; i < count; ++i) {
      const T a = LoadElement<T>(got, i);
      const T b = LoadElement<T>(want, i);
      if (std::memcmp(&a, &b, sizeof(T)) == 0) continue;
      if (tolerance_ulps > 0 && WithinUlps(a, b, tolerance_ulps)) continue;
      ++wrong;
    }
    return wrong;
  });
}

}  // namespace rondo
