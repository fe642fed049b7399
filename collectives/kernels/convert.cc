#include "collectives/kernels/convert.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

#include "collectives/kernels/copy.h"
#include "collectives/kernels/highway_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "collectives/kernels/convert.cc"
#include "hwy/foreach_target.h"
// foreach_target.h comes first: it includes this file once for each target.
#include "collectives/kernels/lanes-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace rondo {
namespace HWY_NAMESPACE {
namespace {

using FloatFormat = PlainFormat<float>;
using DoubleFormat = PlainFormat<double>;

template <class DFloat, class V>
HWY_INLINE hn::VFromD<DFloat> NarrowToFloat(DFloat df, V v) {
#if HWY_TARGET == HWY_SCALAR
  // Highway's own turns infinity into the largest float here.
  return hn::Set(df, static_cast<float>(hn::GetLane(v)));
#else
  return hn::DemoteTo(df, v);
#endif
}

// Rounds to float so that a second rounding, to a format with at least two
// bits fewer, gives what rounding once would have: towards zero, with the last
// bit set if anything was lost ("round to odd", Boldo and Melquiond 2008).
template <class DFloat, class D, class V>
HWY_INLINE hn::VFromD<DFloat> NarrowToOddFloat(DFloat df, D d, V v) {
  const hn::RebindToUnsigned<DFloat> du;
  const hn::RebindToUnsigned<D> du64;
  const auto nearest = NarrowToFloat(df, v);
  const auto back = hn::PromoteTo(d, nearest);
  // All ones where true. A NaN is neither too large nor unequal here.
  const auto too_large = hn::VecFromMask(d, hn::Gt(hn::Abs(back), hn::Abs(v)));
  const auto exact = hn::VecFromMask(d, hn::Or(hn::Eq(back, v), hn::IsNaN(v)));
  const auto decrement = hn::TruncateTo(du, hn::BitCast(du64, too_large));
  const auto keep = hn::TruncateTo(du, hn::BitCast(du64, exact));
  // Adding all ones subtracts 1 from the magnitude.
  const auto towards_zero = hn::Add(hn::BitCast(du, nearest), decrement);
  return hn::BitCast(df,
                     hn::Or(towards_zero, hn::AndNot(keep, hn::Set(du, 1))));
}

// Lanes of `From` as lanes of `Lane`: the wider of both formats' lanes.
template <class From, class D>
HWY_INLINE hn::VFromD<D> LoadAs(D d, const uint8_t* source) {
  if constexpr (std::is_same_v<typename From::Lane, hn::TFromD<D>>) {
    return From::Load(d, source);
  } else {
    return hn::PromoteTo(d, From::Load(hn::Rebind<float, D>(), source));
  }
}

template <class To, class D, class V>
HWY_INLINE void StoreAs(V v, D d, uint8_t* destination) {
  if constexpr (std::is_same_v<typename To::Lane, hn::TFromD<D>>) {
    To::Store(v, d, destination);
  } else {
    const hn::Rebind<float, D> df;
    if constexpr (To::kElementBytes == sizeof(float)) {
      To::Store(NarrowToFloat(df, v), df, destination);
    } else {
      To::Store(NarrowToOddFloat(df, d, v), df, destination);
    }
  }
}

template <class From, class To>
void Convert(const uint8_t* source, uint8_t* destination, size_t count) {
  using Lane = std::conditional_t<sizeof(typename From::Lane) == 8, double,
                                  typename To::Lane>;
  const hn::ScalableTag<Lane> d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; count - i >= lanes; i += lanes) {
    const auto v = LoadAs<From>(d, source + i * From::kElementBytes);
    StoreAs<To>(v, d, destination + i * To::kElementBytes);
  }
  if (i == count) return;
  alignas(64) uint8_t ragged[kMaxVectorBytes] = {};
  std::memcpy(ragged, source + i * From::kElementBytes,
              (count - i) * From::kElementBytes);
  StoreAs<To>(LoadAs<From>(d, ragged), d, ragged);
  std::memcpy(destination + i * To::kElementBytes, ragged,
              (count - i) * To::kElementBytes);
}

template <class From>
void ConvertFrom(DataType to, const uint8_t* source, uint8_t* destination,
                 size_t count) {
  switch (to) {
    case DataType::kFloat16:
      return Convert<From, HalfFormat>(source, destination, count);
    case DataType::kBfloat16:
      return Convert<From, Bfloat16Format>(source, destination, count);
    case DataType::kFloat32:
      return Convert<From, FloatFormat>(source, destination, count);
    default:
      return Convert<From, DoubleFormat>(source, destination, count);
  }
}

// Both types are floating-point: ConvertElements checked it.
void ConvertOnTarget(DataType from, const uint8_t* source, DataType to,
                     uint8_t* destination, size_t count) {
  switch (from) {
    case DataType::kFloat16:
      return ConvertFrom<HalfFormat>(to, source, destination, count);
    case DataType::kBfloat16:
      return ConvertFrom<Bfloat16Format>(to, source, destination, count);
    case DataType::kFloat32:
      return ConvertFrom<FloatFormat>(to, source, destination, count);
    default:
      return ConvertFrom<DoubleFormat>(to, source, destination, count);
  }
}

}  // namespace
// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rondo
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rondo {

HWY_EXPORT(ConvertOnTarget);

Status ConvertElements(DataType from, const void* source, DataType to,
                       void* destination, size_t count) {
  for (DataType type : {from, to}) {
    if (!IsFloatingPoint(type)) {
      return InvalidArgument("cannot convert " +
                             std::string(DataTypeName(from)) + " to " +
                             std::string(DataTypeName(to)) +
                             "; accepted are half, float, double, bfloat16");
    }
  }
  if (from == to) {
    CopyBytes(destination, source, count * ElementSize(from));
  } else if (count > 0) {
    HWY_DYNAMIC_DISPATCH(ConvertOnTarget)
    (from, static_cast<const uint8_t*>(source), to,
     static_cast<uint8_t*>(destination), count);
  }
  return Status::Ok();
}

}  // namespace rondo
#endif  // HWY_ONCE
