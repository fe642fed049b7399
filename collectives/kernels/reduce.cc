#include "collectives/kernels/reduce.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "collectives/kernels/highway_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "collectives/kernels/reduce.cc"
#include "hwy/foreach_target.h"
// foreach_target.h comes first: it includes this file once for each target.
#include "collectives/kernels/lanes-inl.h"
#include "collectives/kernels/operators-inl.h"
#include "collectives/kernels/pairs-inl.h"
#include "hwy/cache_control.h"
#include "hwy/highway.h"

#ifndef RONDO_COLLECTIVES_KERNELS_REDUCE_ONCE_
#define RONDO_COLLECTIVES_KERNELS_REDUCE_ONCE_
namespace rondo {
namespace {

// The arguments of ReduceElements, or a part of its elements.
struct ReduceTask {
  DataType type;
  Reduction reduction;
  const void* const* sources;
  int source_count;
  void* destination;
  size_t begin_bytes;  // where to begin in each array
  size_t count;        // elements from there
  int divisor;         // of floats only
  StoreHint hint;

  const uint8_t* source(int index) const {
    return static_cast<const uint8_t*>(sources[index]) + begin_bytes;
  }
  uint8_t* output() const {
    return static_cast<uint8_t*>(destination) + begin_bytes;
  }
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
      : task_(task),
        output_(task.output()),
        pair_bytes_(PairBytes<Format>(D())) {}

  void Run() const {
    const size_t bytes = task_.count * Format::kElementBytes;
    size_t head = 0;
    bool stream = task_.hint == StoreHint::kStream;
    if (stream) {
      head = std::min(BytesToCacheLine(output_), bytes);
      // An array that is not aligned to its elements never reaches a line.
      if (head % Format::kElementBytes != 0) {
        head = 0;
        stream = false;
      }
    }
    Ragged(0, head);
    const size_t block_bytes = 2 * pair_bytes_;
    const size_t body = (bytes - head) / block_bytes * block_bytes;
    Blocks(head, head + body, stream);
    Ragged(head + body, bytes);
  }

 private:
  // The range [begin, end), given in bytes and of whole blocks. For streaming
  // `begin` is aligned in the output.
  void Blocks(size_t begin, size_t end, bool stream) const {
    const size_t block_bytes = 2 * pair_bytes_;
    alignas(kCacheLineBytes) uint8_t block[4 * kMaxVectorBytes];
    for (; begin < end; begin += block_bytes) {
      Block(begin, stream ? block : output_ + begin);
      if (stream) StreamBytes(block, block_bytes, output_ + begin);
    }
    if (stream) hwy::FlushStream();
  }

  // Two pairs at `offset`: enough to hide the latency of the additions.
  HWY_INLINE void Block(size_t offset, uint8_t* output) const {
    const D d;
    const size_t step = pair_bytes_;
    V v0, v1, v2, v3, w0, w1, w2, w3;
    LoadPair<Format>(d, task_.source(0) + offset, v0, v1);
    LoadPair<Format>(d, task_.source(0) + offset + step, v2, v3);
    for (int i = 1; i < task_.source_count; ++i) {
      LoadPair<Format>(d, task_.source(i) + offset, w0, w1);
      LoadPair<Format>(d, task_.source(i) + offset + step, w2, w3);
      v0 = Operator::Apply(d, v0, w0);
      v1 = Operator::Apply(d, v1, w1);
      v2 = Operator::Apply(d, v2, w2);
      v3 = Operator::Apply(d, v3, w3);
    }
    FinishPair(v0, v1, output);
    FinishPair(v2, v3, output + step);
  }

  // The range [begin, end), given in bytes, of any size.
  void Ragged(size_t begin, size_t end) const {
    const D d;
    alignas(kCacheLineBytes) uint8_t pair[2 * kMaxVectorBytes] = {};
    V v0, v1, w0, w1;
    for (size_t bytes; begin < end; begin += bytes) {
      bytes = std::min(pair_bytes_, end - begin);
      std::memcpy(pair, task_.source(0) + begin, bytes);
      LoadPair<Format>(d, pair, v0, v1);
      for (int i = 1; i < task_.source_count; ++i) {
        std::memcpy(pair, task_.source(i) + begin, bytes);
        LoadPair<Format>(d, pair, w0, w1);
        v0 = Operator::Apply(d, v0, w0);
        v1 = Operator::Apply(d, v1, w1);
      }
      FinishPair(v0, v1, pair);
      std::memcpy(output_ + begin, pair, bytes);
    }
  }

  HWY_INLINE void FinishPair(V a, V b, uint8_t* output) const {
    const D d;
    StorePair<Format>(Finish(d, a, task_.divisor), Finish(d, b, task_.divisor),
                      d, output);
  }

  const ReduceTask task_;
  uint8_t* const output_;
  const size_t pair_bytes_;
};

template <class Operator>
void ReduceFloats(const ReduceTask& task) {
  switch (task.type) {
    case DataType::kFloat16:
      return Reducer<HalfFormat, Operator>(task).Run();
    case DataType::kBfloat16:
      return Reducer<Bfloat16Format, Operator>(task).Run();
    case DataType::kFloat32:
      return Reducer<PlainFormat<float>, Operator>(task).Run();
    default:
      return Reducer<PlainFormat<double>, Operator>(task).Run();
  }
}

template <class Operator>
void ReduceUnsigned(const ReduceTask& task) {
  switch (ElementSize(task.type)) {
    case 1:
      return Reducer<PlainFormat<uint8_t>, Operator>(task).Run();
    case 4:
      return Reducer<PlainFormat<uint32_t>, Operator>(task).Run();
    default:
      return Reducer<PlainFormat<uint64_t>, Operator>(task).Run();
  }
}

// Sums and products: integers have the same bits signed and unsigned.
template <class Operator>
void ReduceArithmetic(const ReduceTask& task) {
  if (IsFloatingPoint(task.type)) return ReduceFloats<Operator>(task);
  ReduceUnsigned<Operator>(task);
}

template <class Operator>
void ReduceExtreme(const ReduceTask& task) {
  switch (task.type) {
    case DataType::kInt8:
      return Reducer<PlainFormat<int8_t>, Operator>(task).Run();
    case DataType::kInt32:
      return Reducer<PlainFormat<int32_t>, Operator>(task).Run();
    case DataType::kInt64:
      return Reducer<PlainFormat<int64_t>, Operator>(task).Run();
    default:
      return ReduceArithmetic<Operator>(task);
  }
}

void ReduceOnTarget(const ReduceTask& task) {
  switch (task.reduction) {
    case Reduction::kSum:
    case Reduction::kAverage:
      return ReduceArithmetic<SumOperator>(task);
    case Reduction::kProd:
      return ReduceArithmetic<ProdOperator>(task);
    case Reduction::kMax:
      return ReduceExtreme<MaxOperator>(task);
    case Reduction::kMin:
      return ReduceExtreme<MinOperator>(task);
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

namespace {

template <typename T>
void DivideArray(uint8_t* data, size_t count, int divisor) {
  // T may be narrower than the divisor; 64-bit division is the slower one.
  using Signed = std::conditional_t<sizeof(T) == 8, int64_t, int32_t>;
  using Wide = std::conditional_t<std::is_signed_v<T>, Signed,
                                  std::make_unsigned_t<Signed>>;
  for (size_t i = 0; i < count; ++i, data += sizeof(T)) {
    T value;
    std::memcpy(&value, data, sizeof(T));
    value =
        static_cast<T>(static_cast<Wide>(value) / static_cast<Wide>(divisor));
    std::memcpy(data, &value, sizeof(T));
  }
}

void DivideIntegers(DataType type, uint8_t* data, size_t count, int divisor) {
  switch (type) {
    case DataType::kInt8:
      return DivideArray<int8_t>(data, count, divisor);
    case DataType::kUint8:
      return DivideArray<uint8_t>(data, count, divisor);
    case DataType::kInt32:
      return DivideArray<int32_t>(data, count, divisor);
    case DataType::kUint32:
      return DivideArray<uint32_t>(data, count, divisor);
    case DataType::kInt64:
      return DivideArray<int64_t>(data, count, divisor);
    default:
      return DivideArray<uint64_t>(data, count, divisor);
  }
}

// No vector unit divides integers: piece by piece, while it is in the cache,
// the result is divided by scalar code. That is slower than memory, so there is
// nothing for streaming stores to win.
void ReduceAndDivideIntegers(ReduceTask task) {
  constexpr size_t kPieceBytes = 16384;
  const size_t element_bytes = ElementSize(task.type);
  size_t left = task.count;
  task.hint = StoreHint::kCached;
  while (left > 0) {
    task.count = std::min(left, kPieceBytes / element_bytes);
    HWY_DYNAMIC_DISPATCH(ReduceOnTarget)(task);
    DivideIntegers(task.type, task.output(), task.count, task.divisor);
    task.begin_bytes += task.count * element_bytes;
    left -= task.count;
  }
}

}  // namespace

void ReduceElements(DataType type, Reduction reduction,
                    const void* const* sources, int source_count,
                    void* destination, size_t count, ReduceScale scale,
                    StoreHint hint) {
  if (source_count < 1 || count == 0) return;
  const ReduceTask task{
      .type = type,
      .reduction = reduction,
      .sources = sources,
      .source_count = source_count,
      .destination = destination,
      .begin_bytes = 0,
      .count = count,
      .divisor = scale.divisor,
      .hint = hint,
  };
  if (scale.divisor > 1 && !IsFloatingPoint(type)) {
    return ReduceAndDivideIntegers(task);
  }
  HWY_DYNAMIC_DISPATCH(ReduceOnTarget)(task);
}

const char* ReduceTargetName() { return HWY_DYNAMIC_DISPATCH(NameOfTarget)(); }

}  // namespace rondo
#endif  // HWY_ONCE
