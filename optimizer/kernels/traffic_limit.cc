#include "optimizer/kernels/traffic_limit.h"

#include <cstring>

#include "collectives/kernels/highway_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optimizer/kernels/traffic_limit.cc"
#include "hwy/foreach_target.h"
// foreach_target.h comes first: it includes this file once for each target.
#include "hwy/cache_control.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace rondo {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class D>
HWY_INLINE hn::VFromD<D> MoveVector(D d, const UpdateTraffic& t, size_t i) {
  const auto g = hn::Add(hn::LoadU(d, t.gradients[0] + i),
                         hn::LoadU(d, t.gradients[1] + i));
  auto sum = g;
  for (float* array : t.arrays) {
    sum = hn::Add(hn::LoadU(d, array + i), g);
    hn::StoreU(sum, d, array + i);
  }
  return sum;
}

// Half of the vectors' bytes stand for the bfloat16 values.
void MoveOnTarget(const UpdateTraffic& traffic) {
  const UpdateTraffic t = traffic;
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  for (size_t i = 0; i < t.count; i += 2 * lanes) {
    const auto even = MoveVector(d, t, i);
    const auto odd = MoveVector(d, t, i + lanes);
    const auto both = hn::Add(even, odd);
    for (uint8_t* output : t.outputs) {
#if HWY_TARGET == HWY_SCALAR
      const float value = hn::GetLane(both);
      std::memcpy(output + i * 2, &value, sizeof(value));
#else
      const hn::Repartition<uint8_t, decltype(d)> bytes;
      hn::Stream(hn::BitCast(bytes, both), bytes, output + i * 2);
#endif
    }
  }
}

}  // namespace
// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rondo
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rondo {

HWY_EXPORT(MoveOnTarget);

void MoveAsUpdate(const UpdateTraffic& traffic) {
  HWY_DYNAMIC_DISPATCH(MoveOnTarget)(traffic);
}

}  // namespace rondo
#endif  // HWY_ONCE
