// The elementwise operators of ReduceElements, on vectors.
//
// Included once per Highway target (see foreach_target.h), hence the guard.
// Integers are added and multiplied as unsigned lanes only: those wrap by
// definition, and the bits of a signed result are the same.
//
// Thread-safety: pure functions. Ownership: none. Failure: none.
//
// Example:
//   const hn::ScalableTag<uint8_t> d;
//   accumulator = ProdOperator::Apply(d, accumulator, v);
#if defined(RONDO_COLLECTIVES_KERNELS_OPERATORS_INL_H_) == \
    defined(HWY_TARGET_TOGGLE)
#ifdef RONDO_COLLECTIVES_KERNELS_OPERATORS_INL_H_
#undef RONDO_COLLECTIVES_KERNELS_OPERATORS_INL_H_
#else
#define RONDO_COLLECTIVES_KERNELS_OPERATORS_INL_H_
#endif

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace rondo {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class D>
inline constexpr bool kIsFloat = std::is_floating_point_v<hn::TFromD<D>>;

// The low bits of the product of unsigned lanes. x86 multiplies neither 8-bit
// nor, before AVX-512, 64-bit lanes.
template <class D, class V>
HWY_INLINE V WrappingProduct(D d, V a, V b) {
  using T = hn::TFromD<D>;
  static_assert(std::is_unsigned_v<T>);
#if HWY_TARGET == HWY_SCALAR
  // uint64_t, since small unsigned types would be promoted to a signed int.
  const uint64_t product = uint64_t{hn::GetLane(a)} * hn::GetLane(b);
  return hn::Set(d, static_cast<T>(product));
#else
  if constexpr (sizeof(T) == 1) {
    const hn::RepartitionToWide<D> wide;
    const auto a16 = hn::BitCast(wide, a);
    const auto b16 = hn::BitCast(wide, b);
    const auto even = hn::And(hn::Mul(a16, b16), hn::Set(wide, 0x00ff));
    const auto odd = hn::ShiftLeft<8>(
        hn::Mul(hn::ShiftRight<8>(a16), hn::ShiftRight<8>(b16)));
    return hn::BitCast(d, hn::Or(even, odd));
  } else if constexpr (sizeof(T) == 8) {
    const hn::Repartition<uint32_t, D> narrow;
    const auto low_a = hn::BitCast(narrow, a);
    const auto low_b = hn::BitCast(narrow, b);
    const auto high_a = hn::BitCast(narrow, hn::ShiftRight<32>(a));
    const auto high_b = hn::BitCast(narrow, hn::ShiftRight<32>(b));
    const auto cross =
        hn::Add(hn::MulEven(low_a, high_b), hn::MulEven(high_a, low_b));
    return hn::Add(hn::MulEven(low_a, low_b), hn::ShiftLeft<32>(cross));
  } else {
    return hn::Mul(a, b);
  }
#endif
}

struct SumOperator {
  template <class D, class V>
  static HWY_INLINE V Apply(D, V a, V b) {
    static_assert(!std::is_signed_v<hn::TFromD<D>> || kIsFloat<D>);
    return hn::Add(a, b);
  }
};

struct ProdOperator {
  template <class D, class V>
  static HWY_INLINE V Apply(D d, V a, V b) {
    if constexpr (kIsFloat<D>) {
      return hn::Mul(a, b);
    } else {
      return WrappingProduct(d, a, b);
    }
  }
};

// Processors disagree on max(-0, +0) and on NaN, so for floats both are spelled
// out. Equal values differ at most in the sign of zero: And keeps it only if
// both have it, Or if one has. Comparisons with NaN are false, so a NaN
// accumulator stays, and a NaN operand is taken explicitly.
struct MaxOperator {
  template <class D, class V>
  static HWY_INLINE V Apply(D, V a, V b) {
    if constexpr (kIsFloat<D>) {
      const V larger = hn::IfThenElse(hn::Lt(a, b), b, a);
      const V result = hn::IfThenElse(hn::Eq(a, b), hn::And(a, b), larger);
      return hn::IfThenElse(hn::IsNaN(b), b, result);
    } else {
      return hn::Max(a, b);
    }
  }
};

struct MinOperator {
  template <class D, class V>
  static HWY_INLINE V Apply(D, V a, V b) {
    if constexpr (kIsFloat<D>) {
      const V smaller = hn::IfThenElse(hn::Lt(b, a), b, a);
      const V result = hn::IfThenElse(hn::Eq(a, b), hn::Or(a, b), smaller);
      return hn::IfThenElse(hn::IsNaN(b), b, result);
    } else {
      return hn::Min(a, b);
    }
  }
};

// What happens to combined float lanes before they are stored: the division of
// ReduceScale, then one representation for every NaN. Integers are divided
// elsewhere, since no vector unit does it.
template <class D, class V>
HWY_INLINE V Finish(D d, V v, int divisor) {
  using T = hn::TFromD<D>;
  if constexpr (kIsFloat<D>) {
    if (divisor > 1) v = hn::Div(v, hn::Set(d, static_cast<T>(divisor)));
    const hn::RebindToUnsigned<D> du;
    using Bits = hn::TFromD<decltype(du)>;
    constexpr Bits kQuietNan = sizeof(T) == 4
                                   ? static_cast<Bits>(0x7fc00000u)
                                   : static_cast<Bits>(0x7ff8000000000000u);
    const V nan = hn::BitCast(d, hn::Set(du, kQuietNan));
    return hn::IfThenElse(hn::IsNaN(v), nan, v);
  } else {
    return v;
  }
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rondo
HWY_AFTER_NAMESPACE();

#endif  // RONDO_COLLECTIVES_KERNELS_OPERATORS_INL_H_
