// Two vectors at a time, in an order of lanes that suits the format.
//
// An elementwise reduction does not care which lane holds which element, as
// long as loads and stores agree. bfloat16 gains from that: the even and the
// odd elements of a full vector become floats by one shift and one mask, where
// keeping the order costs a lane-crossing shuffle for every half vector.
//
// Included once per Highway target (see foreach_target.h), hence the guard.
//
// Thread-safety: pure functions. Ownership: none. Failure: none.
//
// Example:
//   hn::VFromD<D> a, b;
//   LoadPair<Bfloat16Format>(d, source, a, b);
//   StorePair<Bfloat16Format>(Sqrt(a), Sqrt(b), d, destination);
#if defined(RONDO_COLLECTIVES_KERNELS_PAIRS_INL_H_) == \
    defined(HWY_TARGET_TOGGLE)
#ifdef RONDO_COLLECTIVES_KERNELS_PAIRS_INL_H_
#undef RONDO_COLLECTIVES_KERNELS_PAIRS_INL_H_
#else
#define RONDO_COLLECTIVES_KERNELS_PAIRS_INL_H_
#endif

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "collectives/kernels/lanes-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace rondo {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// The scalar target has no room for two elements of 16 bits in a lane.
template <class Format>
inline constexpr bool kInterleaved =
    HWY_TARGET != HWY_SCALAR&& std::is_same_v<Format, Bfloat16Format>;

// Bytes in memory of one pair.
template <class Format, class D>
HWY_INLINE size_t PairBytes(D d) {
  return 2 * hn::Lanes(d) * Format::kElementBytes;
}

template <class Format, class D, class V>
HWY_INLINE void LoadPair(D d, const uint8_t* source, V& a, V& b) {
  if constexpr (kInterleaved<Format>) {
    const hn::RebindToUnsigned<D> du;
    const auto both = LoadBytes(du, source);
    a = hn::BitCast(d, hn::ShiftLeft<16>(both));
    b = hn::BitCast(d, hn::And(both, hn::Set(du, 0xffff0000u)));
  } else {
    a = Format::Load(d, source);
    b = Format::Load(d, source + PairBytes<Format>(d) / 2);
  }
}

template <class Format, class D, class V>
HWY_INLINE void StorePair(V a, V b, D d, uint8_t* destination) {
  if constexpr (kInterleaved<Format>) {
    const hn::RebindToUnsigned<D> du;
    const auto even = hn::ShiftRight<16>(Bfloat16Format::Round(a, d));
    const auto odd =
        hn::And(Bfloat16Format::Round(b, d), hn::Set(du, 0xffff0000u));
    StoreBytes(hn::Or(even, odd), du, destination);
  } else {
    Format::Store(a, d, destination);
    Format::Store(b, d, destination + PairBytes<Format>(d) / 2);
  }
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rondo
HWY_AFTER_NAMESPACE();

#endif  // RONDO_COLLECTIVES_KERNELS_PAIRS_INL_H_
