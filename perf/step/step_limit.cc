#include "perf/step/step_limit.h"

#include <algorithm>
#include <utility>

#include "collectives/kernels/copy.h"
#include "fmt/format.h"
#include "perf/bench/gather.h"

namespace rondo::perf {
namespace {

constexpr TurnOptions kTrial = {.warmup_rounds = 1, .rounds = 3};
constexpr size_t kKeptWays = 2;

// Arrays whose addresses are equal modulo a large power of two would compete
// for the same lines of the cache.
constexpr size_t kStaggerBytes = 4096 + 9 * 64;
constexpr size_t kMostStagger = 32;

// The fastest `kept` of them, fastest first.
Result<std::vector<Contender>> Fastest(Communicator* communicator,
                                       std::vector<Contender> all,
                                       size_t kept) {
  RONDO_ASSIGN_OR_RETURN(const std::vector<TurnTimes> times,
                         TakeTurns(communicator, kTrial, all));
  std::vector<size_t> order(all.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, {},
                           [&](size_t i) { return times[i].median_ms(); });
  std::vector<Contender> fastest;
  for (size_t i = 0; i < std::min(kept, order.size()); ++i) {
    fastest.push_back(std::move(all[order[i]]));
  }
  return fastest;
}

}  // namespace

Result<std::unique_ptr<StepLimit>> StepLimit::Create(Communicator* communicator,
                                                     const StepSizes& sizes) {
  std::unique_ptr<StepLimit> limit(new StepLimit(communicator->world_size()));
  RONDO_RETURN_IF_ERROR(Agree(communicator, limit->AllocateAll(sizes)));
  RONDO_ASSIGN_OR_RETURN(
      limit->limit_loops_,
      Fastest(communicator, limit->AllLimitLoops(), kKeptWays));
  RONDO_ASSIGN_OR_RETURN(
      limit->copy_loops_,
      Fastest(communicator, limit->AllCopyLoops(), kKeptWays));
  return limit;
}

size_t StepLimit::copy_bytes() const {
  return ranks_ * 2 * arrays_.count * sizeof(uint32_t);
}

Result<std::byte*> StepLimit::Allocate(size_t bytes) {
  const size_t stagger = memory_.size() % kMostStagger * kStaggerBytes;
  RONDO_ASSIGN_OR_RETURN(PrivateMemory memory,
                         PrivateMemory::Allocate(bytes + stagger));
  memory_.push_back(std::move(memory));
  return memory_.back().data() + stagger;
}

Status StepLimit::AllocateAll(const StepSizes& sizes) {
  arrays_.count = sizes.shard_count;
  arrays_.gradient_bytes = sizes.gradient_bytes;
  arrays_.parameter_bytes = sizes.parameter_bytes;
  for (size_t i = 0; i < ranks_; ++i) {
    RONDO_ASSIGN_OR_RETURN(std::byte* const gradients,
                           Allocate(sizes.shard_count * sizes.gradient_bytes));
    arrays_.gradients.push_back(gradients);
    RONDO_ASSIGN_OR_RETURN(std::byte* const parameters,
                           Allocate(sizes.shard_count * sizes.parameter_bytes));
    arrays_.parameters.push_back(parameters);
  }
  for (uint32_t** array :
       {&arrays_.master, &arrays_.first_moment, &arrays_.second_moment}) {
    RONDO_ASSIGN_OR_RETURN(std::byte* const state,
                           Allocate(sizes.shard_count * sizeof(uint32_t)));
    *array = reinterpret_cast<uint32_t*>(state);
  }
  return Status::Ok();
}

std::vector<Contender> StepLimit::AllLimitLoops() const {
  std::vector<Contender> all;
  for (size_t block : {size_t{64}, size_t{256}, kLimitBlockElements}) {
    for (size_t prefetch : {0, 512, 2048}) {
      all.push_back(
          {fmt::format("blocks of {}, prefetch {} B ahead", block, prefetch),
           [this, block, prefetch] {
             RunLimitLoop(arrays_, {block, prefetch});
             return Status::Ok();
           }});
    }
  }
  return all;
}

std::vector<Contender> StepLimit::AllCopyLoops() const {
  const auto copy = [this](StoreHint hint) {
    return [this, hint] {
      CopyBytes(arrays_.first_moment, arrays_.second_moment,
                arrays_.count * sizeof(uint32_t), hint);
      return Status::Ok();
    };
  };
  return {{"cached stores", copy(StoreHint::kCached)},
          {"streaming stores", copy(StoreHint::kStream)}};
}

}  // namespace rondo::perf
