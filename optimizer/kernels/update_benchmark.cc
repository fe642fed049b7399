// How fast the update of a fused step is, in GB/s of memory traffic: two float
// gradients read, master parameters and two moments read and written, two
// bfloat16 outputs written, each once; 36 bytes per element.
//
// `limit` is a loop with the same loads and stores and next to no arithmetic.
// `elements` is UpdateElements, `tiles` the same work tile by tile. Arrays are
// much larger than the cache. Each is run on every vector unit.
//
//   bazel run //optimizer/kernels:update_benchmark

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "benchmark/benchmark.h"
#include "collectives/engine/update.h"
#include "collectives/kernels/data_type.h"
#include "collectives/kernels/every_target.h"
#include "collectives/kernels/store_hint.h"
#include "hwy/aligned_allocator.h"
#include "optimizer/kernels/adam_rule.h"
#include "optimizer/kernels/tile_kernels.h"
#include "optimizer/kernels/traffic_limit.h"
#include "optimizer/kernels/update_elements.h"

namespace rondo {
namespace {

constexpr size_t kCount = size_t{8} << 20;
constexpr size_t kRunElements = size_t{64} << 10;
constexpr int64_t kBytesPerElement = 36;

template <typename T>
hwy::AlignedFreeUniquePtr<T[]> Zeros() {
  auto array = hwy::AllocateAligned<T>(kCount);
  std::fill_n(array.get(), kCount, T{});
  return array;
}

// One allocation for all benchmarks.
struct Arrays {
  hwy::AlignedFreeUniquePtr<float[]> g0 = Zeros<float>(), g1 = Zeros<float>();
  hwy::AlignedFreeUniquePtr<float[]> p = Zeros<float>(), m = Zeros<float>();
  hwy::AlignedFreeUniquePtr<float[]> v = Zeros<float>();
  hwy::AlignedFreeUniquePtr<uint16_t[]> out0 = Zeros<uint16_t>();
  hwy::AlignedFreeUniquePtr<uint16_t[]> out1 = Zeros<uint16_t>();
};

Arrays& AllArrays() {
  static Arrays arrays;
  return arrays;
}

void SetProcessed(benchmark::State& state) {
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(kCount) *
                          kBytesPerElement);
}

void Limit(benchmark::State& state, int64_t target) {
  Arrays& a = AllArrays();
  hwy::GetChosenTarget().Update(target);
  for (auto _ : state) {
    MoveAsUpdate({.gradients = {a.g0.get(), a.g1.get()},
                  .arrays = {a.p.get(), a.m.get(), a.v.get()},
                  .outputs = {reinterpret_cast<uint8_t*>(a.out0.get()),
                              reinterpret_cast<uint8_t*>(a.out1.get())},
                  .count = kCount});
    FenceStreamedStores();
    benchmark::ClobberMemory();
  }
  SetProcessed(state);
}

using UpdateFunction = void (*)(const UpdateRule&, int, const ElementUpdate&);

void Update(benchmark::State& state, UpdateFunction update, AdamMode mode,
            StoreHint hint, int64_t target) {
  auto rule = AdamRule::Create({{.mode = mode}});
  if (!rule.ok() || !(*rule)->BeginStep(1).ok()) {
    state.SkipWithError("the rule was refused");
    return;
  }
  Arrays& a = AllArrays();
  const ConstElements sources[] = {{DataType::kFloat32, a.g0.get()},
                                   {DataType::kFloat32, a.g1.get()}};
  const MutableElements destinations[] = {{DataType::kBfloat16, a.out0.get()},
                                          {DataType::kBfloat16, a.out1.get()}};
  hwy::GetChosenTarget().Update(target);
  for (auto _ : state) {
    for (size_t at = 0; at < kCount; at += kRunElements) {
      float* states[] = {a.m.get() + at, a.v.get() + at};
      update(**rule, 0,
             {.sources = sources,
              .scale = 0.5f,
              .destinations = destinations,
              .hint = hint,
              .offset = at,
              .count = kRunElements,
              .parameter = a.p.get() + at,
              .states = states});
    }
    FenceStreamedStores();
    benchmark::ClobberMemory();
  }
  SetProcessed(state);
}

void RegisterAll(int64_t target, const std::string& unit) {
  const auto add = [&](const std::string& name, UpdateFunction update,
                       AdamMode mode, StoreHint hint) {
    benchmark::RegisterBenchmark((name + "/" + unit).c_str(), Update, update,
                                 mode, hint, target)
        ->Unit(benchmark::kMillisecond);
  };
  constexpr AdamMode kTorch = AdamMode::kTorchCompat;
  constexpr StoreHint kStream = StoreHint::kStream;
  benchmark::RegisterBenchmark(("limit/" + unit).c_str(), Limit, target)
      ->Unit(benchmark::kMillisecond);
  add("elements", UpdateElements, kTorch, kStream);
  add("elements_accurate", UpdateElements, AdamMode::kAccurate, kStream);
  add("elements_cached", UpdateElements, kTorch, StoreHint::kCached);
  add("tiles", UpdateElementsByTile, kTorch, kStream);
}

}  // namespace
}  // namespace rondo

int main(int argc, char** argv) {
  for (int64_t target : rondo::EveryTarget()) {
    rondo::RegisterAll(target, hwy::TargetName(target));
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
