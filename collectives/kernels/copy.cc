#include "collectives/kernels/copy.h"

#include <cstdint>
#include <cstring>

#include "collectives/kernels/highway_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "collectives/kernels/copy.cc"
#include "hwy/foreach_target.h"
// foreach_target.h comes first: it includes this file once for each target.
#include "collectives/kernels/lanes-inl.h"
#include "hwy/cache_control.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace rondo {
namespace HWY_NAMESPACE {
namespace {

// `bytes` is a multiple of the vector size; `destination` is aligned to it.
void StreamOnTarget(const uint8_t* source, size_t bytes, uint8_t* destination) {
  StreamBytes(source, bytes, destination);
  hwy::FlushStream();
}

}  // namespace
// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rondo
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rondo {
namespace {

// A multiple of every target's vector (SVE's may be 256 bytes), and less than
// what is worth streaming.
constexpr size_t kStreamUnitBytes = 256;

}  // namespace

HWY_EXPORT(StreamOnTarget);

void CopyBytes(void* destination, const void* source, size_t bytes,
               StoreHint hint) {
  if (destination == source || bytes == 0) return;
  auto* output = static_cast<uint8_t*>(destination);
  const auto* input = static_cast<const uint8_t*>(source);
  if (hint == StoreHint::kStream && bytes >= 2 * kStreamUnitBytes) {
    const size_t head = -reinterpret_cast<uintptr_t>(output) % kStreamUnitBytes;
    std::memcpy(output, input, head);
    const size_t body = (bytes - head) / kStreamUnitBytes * kStreamUnitBytes;
    HWY_DYNAMIC_DISPATCH(StreamOnTarget)(input + head, body, output + head);
    output += head + body;
    input += head + body;
    bytes -= head + body;
  }
  std::memcpy(output, input, bytes);
}

}  // namespace rondo
#endif  // HWY_ONCE
