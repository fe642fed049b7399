// How fast ReduceElements and CopyBytes are, in GB/s of memory traffic: every
// source read once and the destination written once.
//
//   bazel run //collectives/kernels:reduce_benchmark

#include <cstdint>
#include <string>
#include <vector>

#include "benchmark/benchmark.h"
#include "collectives/kernels/copy.h"
#include "collectives/kernels/data_type.h"
#include "collectives/kernels/reduce.h"
#include "collectives/kernels/store_hint.h"

namespace rondo {
namespace {

// Arguments: bytes per array, number of sources, store hint.
void ReduceArrays(benchmark::State& state, DataType type, Reduction reduction) {
  const auto bytes = static_cast<size_t>(state.range(0));
  const auto source_count = static_cast<size_t>(state.range(1));
  const auto hint = static_cast<StoreHint>(state.range(2));
  const int divisor =
      reduction == Reduction::kAverage ? static_cast<int>(source_count) : 1;
  // Zeros, which are no special case in any type.
  std::vector<std::vector<uint8_t>> sources(source_count,
                                            std::vector<uint8_t>(bytes));
  std::vector<const void*> pointers;
  for (const auto& source : sources) pointers.push_back(source.data());
  std::vector<uint8_t> output(bytes);
  for (auto _ : state) {
    ReduceElements(type, reduction, pointers.data(),
                   static_cast<int>(source_count), output.data(),
                   bytes / ElementSize(type), ReduceScale{.divisor = divisor},
                   hint);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() *
                          static_cast<int64_t>(bytes * (source_count + 1)));
}

// Arguments: bytes, store hint.
void CopyArray(benchmark::State& state) {
  const auto bytes = static_cast<size_t>(state.range(0));
  const auto hint = static_cast<StoreHint>(state.range(1));
  std::vector<uint8_t> source(bytes), output(bytes);
  for (auto _ : state) {
    CopyBytes(output.data(), source.data(), bytes, hint);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(2 * bytes));
}

constexpr int64_t kCacheSized = int64_t{64} << 10;
constexpr int64_t kMemorySized = int64_t{64} << 20;

void RegisterAll() {
  for (Reduction reduction : AllReductions()) {
    for (DataType type : AllDataTypes()) {
      const std::string name = "reduce/" + std::string(DataTypeName(type)) +
                               "/" + std::string(ReductionName(reduction));
      benchmark::RegisterBenchmark(name.c_str(), ReduceArrays, type, reduction)
          ->ArgNames({"bytes", "sources", "stream"})
          ->Args({kCacheSized, 2, 0})
          ->Args({kMemorySized, 2, 0})
          ->Args({kMemorySized, 2, 1})
          ->Args({kMemorySized, 8, 1});
    }
  }
  benchmark::RegisterBenchmark("copy", CopyArray)
      ->ArgNames({"bytes", "stream"})
      ->Args({kCacheSized, 0})
      ->Args({kMemorySized, 0})
      ->Args({kMemorySized, 1});
}

}  // namespace
}  // namespace rondo

int main(int argc, char** argv) {
  rondo::RegisterAll();
  benchmark::AddCustomContext("vector_unit", rondo::ReduceTargetName());
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
