// Loading, storing and converting lanes: what the vector kernels share.
//
// Addresses are bytes of any alignment, because neither a user's buffer nor a
// chunk of it need be aligned to its elements. The 16-bit conversions give the
// bits of half.h on every target: Highway's own truncate bfloat16 everywhere
// and half on targets without the instruction.
//
// Included once per Highway target (see foreach_target.h), hence the guard.
//
// Thread-safety: pure functions. Ownership: none. Failure: none.
//
// Example:
//   const hn::ScalableTag<float> d;
//   const auto v = HalfFormat::Load(d, source);
//   Bfloat16Format::Store(v, d, destination);
#if defined(RONDO_COLLECTIVES_KERNELS_LANES_INL_H_) == \
    defined(HWY_TARGET_TOGGLE)
#ifdef RONDO_COLLECTIVES_KERNELS_LANES_INL_H_
#undef RONDO_COLLECTIVES_KERNELS_LANES_INL_H_
#else
#define RONDO_COLLECTIVES_KERNELS_LANES_INL_H_
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace rondo {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Upper bound of the bytes of one vector, for scratch arrays. The scalar target
// has one lane, whatever its size, so the largest lane decides.
inline constexpr size_t kMaxVectorBytes =
    hn::MaxLanes(hn::ScalableTag<double>()) * sizeof(double);

template <class D>
HWY_INLINE hn::VFromD<D> LoadBytes(D d, const uint8_t* source) {
#if HWY_TARGET == HWY_SCALAR
  hn::TFromD<D> value;
  std::memcpy(&value, source, sizeof(value));
  return hn::Set(d, value);
#else
  return hn::BitCast(d, hn::LoadU(hn::Repartition<uint8_t, D>(), source));
#endif
}

template <class D, class V>
HWY_INLINE void StoreBytes(V v, D d, uint8_t* destination) {
#if HWY_TARGET == HWY_SCALAR
  (void)d;
  const hn::TFromD<D> value = hn::GetLane(v);
  std::memcpy(destination, &value, sizeof(value));
#else
  const hn::Repartition<uint8_t, D> bytes;
  hn::StoreU(hn::BitCast(bytes, v), bytes, destination);
#endif
}

// Streams `bytes`, a multiple of the vector size, to an aligned destination.
HWY_INLINE void StreamBytes(const uint8_t* source, size_t bytes,
                            uint8_t* destination) {
#if HWY_TARGET == HWY_SCALAR
  std::memcpy(destination, source, bytes);
#else
  const hn::ScalableTag<uint8_t> d;
  for (size_t i = 0; i < bytes; i += hn::Lanes(d)) {
    hn::Stream(hn::LoadU(d, source + i), d, destination + i);
  }
#endif
}

// Whether the target converts between half and float by instruction (F16C).
#undef RONDO_HAS_HALF_INSTRUCTIONS
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2 && !defined(HWY_DISABLE_F16C)
#define RONDO_HAS_HALF_INSTRUCTIONS 1
#else
#define RONDO_HAS_HALF_INSTRUCTIONS 0
#endif

// Lanes that are stored as `T` and computed with as they are.
template <typename T>
struct PlainFormat {
  using Lane = T;
  static constexpr size_t kElementBytes = sizeof(T);

  template <class D>
  static HWY_INLINE hn::VFromD<D> Load(D d, const uint8_t* source) {
    return LoadBytes(d, source);
  }
  template <class D, class V>
  static HWY_INLINE void Store(V v, D d, uint8_t* destination) {
    StoreBytes(v, d, destination);
  }
};

// IEEE binary16 in memory, float in registers.
struct HalfFormat {
  using Lane = float;
  static constexpr size_t kElementBytes = 2;

  template <class D>
  static HWY_INLINE hn::VFromD<D> Load(D d, const uint8_t* source) {
    const auto stored = LoadBytes(hn::Rebind<uint16_t, D>(), source);
#if RONDO_HAS_HALF_INSTRUCTIONS
    const hn::Rebind<hwy::float16_t, D> d16;
    return hn::PromoteTo(d, hn::BitCast(d16, stored));
#else
    const hn::RebindToSigned<D> di;
    const auto bits = hn::PromoteTo(di, stored);
    const auto sign = hn::ShiftLeft<16>(hn::And(bits, hn::Set(di, 0x8000)));
    const auto magnitude = hn::And(bits, hn::Set(di, 0x7fff));
    const auto shifted = hn::ShiftLeft<13>(magnitude);
    const auto finite =
        hn::BitCast(di, hn::Mul(hn::BitCast(d, shifted), hn::Set(d, 0x1p112f)));
    const auto quiet = hn::IfThenElseZero(
        hn::Gt(magnitude, hn::Set(di, 0x7c00)), hn::Set(di, 0x00400000));
    const auto special =
        hn::Or(hn::Or(shifted, hn::Set(di, 0x7f800000)), quiet);
    const auto result =
        hn::IfThenElse(hn::Gt(magnitude, hn::Set(di, 0x7bff)), special, finite);
    return hn::BitCast(d, hn::Or(sign, result));
#endif
  }

  template <class D, class V>
  static HWY_INLINE void Store(V v, D d, uint8_t* destination) {
    const hn::Rebind<uint16_t, D> d16;
#if RONDO_HAS_HALF_INSTRUCTIONS
    const hn::Rebind<hwy::float16_t, D> half;
    StoreBytes(hn::BitCast(d16, hn::DemoteTo(half, v)), d16, destination);
#else
    const hn::RebindToSigned<D> di;
    const hn::RebindToUnsigned<D> du;
    const auto bits = hn::BitCast(di, v);
    const auto sign =
        hn::BitCast(di, hn::ShiftRight<16>(hn::And(hn::BitCast(du, v),
                                                   hn::Set(du, 0x80000000u))));
    const auto magnitude = hn::And(bits, hn::Set(di, 0x7fffffff));
    const auto kept = hn::ShiftRight<13>(magnitude);
    // As in half.h: adding 0.5 rounds subnormals at their spacing, 2^-24.
    const auto subnormal = hn::Sub(
        hn::BitCast(di, hn::Add(hn::BitCast(d, magnitude), hn::Set(d, 0.5f))),
        hn::Set(di, 0x3f000000));
    const auto odd = hn::And(kept, hn::Set(di, 1));
    const auto rounded =
        hn::Add(hn::Add(hn::Sub(magnitude, hn::Set(di, 0x38000000)), odd),
                hn::Set(di, 0xfff));
    const auto normal =
        hn::Min(hn::ShiftRight<13>(rounded), hn::Set(di, 0x7c00));
    const auto nan =
        hn::Or(hn::And(kept, hn::Set(di, 0x3ff)), hn::Set(di, 0x7e00));
    const auto finite = hn::IfThenElse(
        hn::Lt(magnitude, hn::Set(di, 0x38800000)), subnormal, normal);
    const auto result =
        hn::IfThenElse(hn::Gt(magnitude, hn::Set(di, 0x7f800000)), nan, finite);
    StoreBytes(hn::DemoteTo(d16, hn::Or(sign, result)), d16, destination);
#endif
  }
};

// bfloat16 in memory, float in registers.
struct Bfloat16Format {
  using Lane = float;
  static constexpr size_t kElementBytes = 2;

  template <class D>
  static HWY_INLINE hn::VFromD<D> Load(D d, const uint8_t* source) {
    const hn::RebindToSigned<D> di;
    const auto stored = LoadBytes(hn::Rebind<uint16_t, D>(), source);
    return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(di, stored)));
  }

  template <class D, class V>
  static HWY_INLINE void Store(V v, D d, uint8_t* destination) {
    const hn::Rebind<uint16_t, D> d16;
    const hn::RebindToSigned<D> di;
    const auto kept = hn::ShiftRight<16>(Round(v, d));
    StoreBytes(hn::DemoteTo(d16, hn::BitCast(di, kept)), d16, destination);
  }

  // The rounded value in the upper 16 bits of each lane; the lower are noise.
  template <class D, class V>
  static HWY_INLINE hn::VFromD<hn::RebindToUnsigned<D>> Round(V v, D) {
    const hn::RebindToSigned<D> di;
    const hn::RebindToUnsigned<D> du;
    const auto bits = hn::BitCast(du, v);
    const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1));
    const auto rounded = hn::Add(hn::Add(bits, hn::Set(du, 0x7fff)), odd);
    const auto nan = hn::Or(bits, hn::Set(du, 0x00400000));
    const auto magnitude = hn::And(hn::BitCast(di, v), hn::Set(di, 0x7fffffff));
    const auto is_nan = hn::Gt(magnitude, hn::Set(di, 0x7f800000));
    return hn::BitCast(du, hn::IfThenElse(is_nan, hn::BitCast(di, nan),
                                          hn::BitCast(di, rounded)));
  }
};

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rondo
HWY_AFTER_NAMESPACE();

#endif  // RONDO_COLLECTIVES_KERNELS_LANES_INL_H_
