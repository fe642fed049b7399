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
void MoveOnTarget(const uint8_t* source, size_t bytes, uint8_t* destination) {
#if HWY_TARGET == HWY_SCALAR
  std::memcpy(destination, source, bytes);
#else
  const hn::ScalableTag<uint8_t> d;
  const size_t n = hn::Lanes(d);
  size_t i = 0;
  // Four loads before the stores: where the ranges are a few bytes apart modulo
  // a page, a load that follows a store nearby waits for it.
  for (; i + 4 * n <= bytes; i += 4 * n) {
    const auto v0 = hn::LoadU(d, source + i);
    const auto v1 = hn::LoadU(d, source + i + n);
    const auto v2 = hn::LoadU(d, source + i + 2 * n);
    const auto v3 = hn::LoadU(d, source + i + 3 * n);
    hn::Store(v0, d, destination + i);
    hn::Store(v1, d, destination + i + n);
    hn::Store(v2, d, destination + i + 2 * n);
    hn::Store(v3, d, destination + i + 3 * n);
  }
  for (; i < bytes; i += n) {
    hn::Store(hn::LoadU(d, source + i), d, destination + i);
  }
#endif
}

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
// what is worth a loop of our own.
constexpr size_t kUnitBytes = 256;
// From here on the C library's memcpy uses the processor's string instruction,
// which takes five times as long where the two ranges are a few bytes apart
// modulo a page (measured: AMD Zen 2, 4 bytes apart).
constexpr size_t kStringCopyBytes = 2048;
constexpr size_t kSameAlignment = 32;

bool SuitsMemcpy(const uint8_t* output, const uint8_t* input, size_t bytes) {
  const auto distance =
      reinterpret_cast<uintptr_t>(output) - reinterpret_cast<uintptr_t>(input);
  return bytes < kStringCopyBytes || distance % kSameAlignment == 0;
}

}  // namespace

HWY_EXPORT(MoveOnTarget);
HWY_EXPORT(StreamOnTarget);

void CopyBytes(void* destination, const void* source, size_t bytes,
               StoreHint hint) {
  if (destination == source || bytes == 0) return;
  auto* output = static_cast<uint8_t*>(destination);
  const auto* input = static_cast<const uint8_t*>(source);
  const bool stream = hint == StoreHint::kStream && bytes >= 2 * kUnitBytes;
  if (stream || !SuitsMemcpy(output, input, bytes)) {
    const size_t head = -reinterpret_cast<uintptr_t>(output) % kUnitBytes;
    std::memcpy(output, input, head);
    const size_t body = (bytes - head) / kUnitBytes * kUnitBytes;
    if (stream) {
      HWY_DYNAMIC_DISPATCH(StreamOnTarget)(input + head, body, output + head);
    } else {
      HWY_DYNAMIC_DISPATCH(MoveOnTarget)(input + head, body, output + head);
    }
    output += head + body;
    input += head + body;
    bytes -= head + body;
  }
  std::memcpy(output, input, bytes);
}

}  // namespace rondo
#endif  // HWY_ONCE
