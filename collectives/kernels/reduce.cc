#include "collectives/kernels/reduce.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "collectives/kernels/reduce.cc"
#include "hwy/foreach_target.h"
// foreach_target.h comes first: it includes this file once for each target.
#include "collectives/kernels/lanes-inl.h"
#include "collectives/kernels/operators-inl.h"
#include "hwy/cache_control.h"
#include "hwy/highway.h"

#ifndef RONDO_COLLECTIVES_KERNELS_REDUCE_ONCE_
#define RONDO_COLLECTIVES_KERNELS_REDUCE_ONCE_
namespace rondo {
namespace {

// The arguments of ReduceElements.
struct ReduceTask {
  DataType type;
  Reduction reduction;
  const void* const* sources;
  int source_count;
  void* destination;
  size_t count;
  int divisor;
  StoreHint hint;

  const uint8_t* source(int index) const {
    return static_cast<const uint8_t*>(sources[index]);
  }
  uint8_t* output() const { return static_cast<uint8_t*>(destination); }
};

// Streaming stores write whole cache lines.
constexpr size_t kCacheLineBytes = 64;

// Bytes before the first cache line that starts in `destination`.
size_t BytesToCacheLine(const void* destination) {
  return -reinterpret_cast<uintptr_t>(destination) % kCacheLineBytes;
}

}  // namespace
}  // namespace rondo
#endif  // RONDO_COLLECTIVES_KERNELS_REDUCE_ONCE_

HWY_BEFORE_NAMESPACE();
namespace rondo {
namespace HWY_NAMESPACE {
namespace {

template <class Format, class Operator>
class Reducer {
  using D = hn::ScalableTag<typename Format::Lane>;
  using V = hn::VFromD<D>;

 public:
  explicit Reducer(const ReduceTask& task)
      : task_(task), vector_bytes_(hn::Lanes(D()) * Format::kElementBytes) {}

  void Run() const {
    const size_t bytes = task_.count * Format::kElementBytes;
    size_t begin = 0;
    if (task_.hint == StoreHint::kStream) {
      begin = std::min(BytesToCacheLine(task_.destination), bytes);
      // An array that is not aligned to its elements never reaches a line.
      if (begin % Format::kElementBytes == 0) {
        Cached(0, begin);
        begin = Streamed(begin, bytes);
      } else {
        begin = 0;
      }
    }
    Cached(begin, bytes);
  }

 private:
  // Stores the range [begin, end), given in bytes.
  void Cached(size_t begin, size_t end) const {
    for (; end - begin >= 4 * vector_bytes_; begin += 4 * vector_bytes_) {
      Block(begin, task_.output() + begin);
    }
    for (; begin < end; begin += std::min(vector_bytes_, end - begin)) {
      Single(begin, std::min(vector_bytes_, end - begin));
    }
  }

  // Streams whole blocks from `begin`, which is aligned in the destination, and
  // returns where the rest begins.
  size_t Streamed(size_t begin, size_t end) const {
    const size_t block_bytes = 4 * vector_bytes_;
    alignas(kCacheLineBytes) uint8_t block[4 * kMaxVectorBytes];
    for (; end - begin >= block_bytes; begin += block_bytes) {
      Block(begin, block);
      StreamBytes(block, block_bytes, task_.output() + begin);
    }
    hwy::FlushStream();
    return begin;
  }

  // Four vectors at `offset`: enough to hide the latency of the additions.
  HWY_INLINE void Block(size_t offset, uint8_t* output) const {
    const D d;
    const size_t step = vector_bytes_;
    const uint8_t* source = task_.source(0) + offset;
    V v0 = Format::Load(d, source);
    V v1 = Format::Load(d, source + step);
    V v2 = Format::Load(d, source + 2 * step);
    V v3 = Format::Load(d, source + 3 * step);
    for (int i = 1; i < task_.source_count; ++i) {
      source = task_.source(i) + offset;
      v0 = Operator::Apply(d, v0, Format::Load(d, source));
      v1 = Operator::Apply(d, v1, Format::Load(d, source + step));
      v2 = Operator::Apply(d, v2, Format::Load(d, source + 2 * step));
      v3 = Operator::Apply(d, v3, Format::Load(d, source + 3 * step));
    }
    Format::Store(Finish(d, v0, task_.divisor), d, output);
    Format::Store(Finish(d, v1, task_.divisor), d, output + step);
    Format::Store(Finish(d, v2, task_.divisor), d, output + 2 * step);
    Format::Store(Finish(d, v3, task_.divisor), d, output + 3 * step);
  }

  // One vector at `offset`, of which only `bytes` exist in memory.
  HWY_INLINE void Single(size_t offset, size_t bytes) const {
    const D d;
    alignas(kCacheLineBytes) uint8_t ragged[kMaxVectorBytes] = {};
    std::memcpy(ragged, task_.source(0) + offset, bytes);
    V v = Format::Load(d, ragged);
    for (int i = 1; i < task_.source_count; ++i) {
      std::memcpy(ragged, task_.source(i) + offset, bytes);
      v = Operator::Apply(d, v, Format::Load(d, ragged));
    }
    Format::Store(Finish(d, v, task_.divisor), d, ragged);
    std::memcpy(task_.output() + offset, ragged, bytes);
  }

  const ReduceTask task_;
  const size_t vector_bytes_;
};

template <class Format>
void ReduceFormat(const ReduceTask& task) {
  switch (task.reduction) {
    case Reduction::kSum:
    case Reduction::kAverage:
      return Reducer<Format, SumOperator>(task).Run();
    case Reduction::kProd:
      return Reducer<Format, ProdOperator>(task).Run();
    case Reduction::kMax:
      return Reducer<Format, MaxOperator>(task).Run();
    case Reduction::kMin:
      return Reducer<Format, MinOperator>(task).Run();
  }
}

void ReduceOnTarget(const ReduceTask& task) {
  switch (task.type) {
    case DataType::kInt8:
      return ReduceFormat<PlainFormat<int8_t>>(task);
    case DataType::kUint8:
      return ReduceFormat<PlainFormat<uint8_t>>(task);
    case DataType::kInt32:
      return ReduceFormat<PlainFormat<int32_t>>(task);
    case DataType::kUint32:
      return ReduceFormat<PlainFormat<uint32_t>>(task);
    case DataType::kInt64:
      return ReduceFormat<PlainFormat<int64_t>>(task);
    case DataType::kUint64:
      return ReduceFormat<PlainFormat<uint64_t>>(task);
    case DataType::kFloat16:
      return ReduceFormat<HalfFormat>(task);
    case DataType::kFloat32:
      return ReduceFormat<PlainFormat<float>>(task);
    case DataType::kFloat64:
      return ReduceFormat<PlainFormat<double>>(task);
    case DataType::kBfloat16:
      return ReduceFormat<Bfloat16Format>(task);
  }
}

const char* NameOfTarget() { return hwy::TargetName(HWY_TARGET); }

}  // namespace
// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rondo
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rondo {

HWY_EXPORT(ReduceOnTarget);
HWY_EXPORT(NameOfTarget);

void ReduceElements(DataType type, Reduction reduction,
                    const void* const* sources, int source_count,
                    void* destination, size_t count, ReduceScale scale,
                    StoreHint hint) {
  if (source_count < 1 || count == 0) return;
  HWY_DYNAMIC_DISPATCH(ReduceOnTarget)
  (ReduceTask{type, reduction, sources, source_count, destination, count,
              scale.divisor, hint});
}

const char* ReduceTargetName() { return HWY_DYNAMIC_DISPATCH(NameOfTarget)(); }

}  // namespace rondo
#endif  // HWY_ONCE
