#include "collectives/check_call.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <string>

#include "fmt/format.h"

namespace rondo {
namespace {

// Half of the address space: sums of two such sizes cannot wrap.
constexpr size_t kMaxBytes = std::numeric_limits<size_t>::max() / 2;

struct Range {
  uintptr_t begin;
  uintptr_t end;
};

Range RangeOf(const void* data, size_t bytes) {
  const auto begin = reinterpret_cast<uintptr_t>(data);
  return {begin, begin + bytes};
}

bool Overlap(Range a, Range b) {
  const bool empty = a.begin == a.end || b.begin == b.end;
  return !empty && a.begin < b.end && b.begin < a.end;
}

class Checker {
 public:
  Checker(const CollectiveCall& call, int rank, int world_size,
          CallArguments* arguments)
      : call_(call),
        rank_(rank),
        world_size_(world_size),
        arguments_(*arguments) {}

  Status Check() {
    RONDO_RETURN_IF_ERROR(CheckEnumerators());
    RONDO_RETURN_IF_ERROR(CheckRoot());
    RONDO_RETURN_IF_ERROR(SetCounts());
    RONDO_RETURN_IF_ERROR(CheckTotal());
    RONDO_RETURN_IF_ERROR(CheckUpdate());
    RONDO_RETURN_IF_ERROR(CheckBuffers());
    return Status::Ok();
  }

 private:
  Status Refuse(const std::string& why) const {
    return InvalidArgument(fmt::format("rank {}: {}: {}", rank_,
                                       CollectiveName(call_.collective), why));
  }

  // Enumerators come from casts in C and other languages.
  Status CheckEnumerators() {
    if (static_cast<int>(call_.collective) >= kCollectives) {
      return InvalidArgument(fmt::format(
          "rank {}: {} is no collective; accepted are 0 to {}", rank_,
          static_cast<int>(call_.collective), kCollectives - 1));
    }
    for (DataType type : {call_.type, call_.output_type}) {
      if (static_cast<size_t>(type) < AllDataTypes().size()) continue;
      return Refuse(
          DataTypeFromNumber(static_cast<int>(type)).status().message());
    }
    if (static_cast<size_t>(call_.reduction) >= AllReductions().size()) {
      return Refuse(ReductionFromNumber(static_cast<int>(call_.reduction))
                        .status()
                        .message());
    }
    arguments_.collective = call_.collective;
    arguments_.input = call_.input;
    arguments_.output = call_.output;
    arguments_.input_type = call_.type;
    arguments_.output_type =
        HasUpdate(call_.collective) ? call_.output_type : call_.type;
    if (Is(Collective::kReduceScatter)) arguments_.reduction = call_.reduction;
    if (Is(Collective::kReduceUpdate)) arguments_.output = nullptr;
    if (Is(Collective::kUpdateGather)) arguments_.input = nullptr;
    return Status::Ok();
  }

  Status CheckRoot() {
    if (!Is(Collective::kBroadcast)) return Status::Ok();
    if (call_.root < 0 || call_.root >= world_size_) {
      return Refuse(fmt::format("root {}; accepted are ranks 0 to {}",
                                call_.root, world_size_ - 1));
    }
    arguments_.root = call_.root;
    return Status::Ok();
  }

  Status SetCounts() {
    if (Is(Collective::kBarrier)) return Status::Ok();
    if (Is(Collective::kBroadcast)) {
      arguments_.counts = BlockCounts(call_.count, 1);
      return Status::Ok();
    }
    if (call_.counts.empty()) {
      arguments_.counts = BlockCounts(call_.count, world_size_);
      return Status::Ok();
    }
    if (call_.counts.size() != static_cast<size_t>(world_size_)) {
      return Refuse(fmt::format("{} counts for {} ranks; one each is needed",
                                call_.counts.size(), world_size_));
    }
    arguments_.counts = BlockCounts({call_.counts.begin(), call_.counts.end()});
    return Status::Ok();
  }

  Status CheckTotal() const {
    const size_t widest = std::max(ElementSize(arguments_.input_type),
                                   ElementSize(arguments_.output_type));
    const BlockCounts& counts = arguments_.counts;
    size_t left = kMaxBytes / widest;
    if (counts.even()) {
      if (counts.blocks() == 0 || counts.largest() <= left / counts.blocks()) {
        return Status::Ok();
      }
      return RefuseCount(counts.largest());
    }
    for (size_t count : counts.uneven()) {
      if (count > left) return RefuseCount(count);
      left -= count;
    }
    return Status::Ok();
  }

  Status RefuseCount(size_t count) const {
    return Refuse(
        fmt::format("a count of {} elements; all ranks together "
                    "may have {} bytes at most",
                    count, kMaxBytes));
  }

  Status CheckUpdate() {
    if (!HasUpdate(call_.collective)) return Status::Ok();
    if (call_.update == nullptr) return Refuse("the update is null");
    if (!IsFloatingPoint(call_.type) || !IsFloatingPoint(call_.output_type)) {
      return Refuse(fmt::format(
          "gradients of type {} and parameters of type {}; floating-point "
          "types are accepted",
          DataTypeName(call_.type), DataTypeName(call_.output_type)));
    }
    arguments_.update = call_.update;
    arguments_.update_fingerprint = call_.update_fingerprint;
    const size_t total = arguments_.counts.total();
    if (call_.parameter_counts.empty()) {
      arguments_.parameter_counts = {total};
      return Status::Ok();
    }
    size_t left = total;
    for (size_t count : call_.parameter_counts) {
      if (count > left) return RefuseParameterCounts(total);
      left -= count;
    }
    if (left != 0) return RefuseParameterCounts(total);
    arguments_.parameter_counts.assign(call_.parameter_counts.begin(),
                                       call_.parameter_counts.end());
    return Status::Ok();
  }

  Status RefuseParameterCounts(size_t total) const {
    return Refuse(fmt::format(
        "parameter_counts do not add up to the {} elements of all shards",
        total));
  }

  Status CheckBuffers() const {
    const size_t total = arguments_.counts.total();
    const size_t own = arguments_.counts.blocks() == 0 ? 0
                       : Is(Collective::kBroadcast)    ? arguments_.counts[0]
                                                    : arguments_.counts[rank_];
    switch (call_.collective) {
      case Collective::kAllGather:
        return CheckPair(own, total, call_.output, Before());
      case Collective::kReduceScatter:
        return CheckPair(total, own, call_.input, Before());
      case Collective::kShardedStep:
        return CheckPair(total, total, nullptr, 0);
      case Collective::kReduceUpdate:
        return CheckPointer("input", call_.input, total);
      case Collective::kUpdateGather:
        return CheckPointer("output", call_.output, total);
      case Collective::kBroadcast:
        if (rank_ != call_.root)
          return CheckPointer("output", call_.output, own);
        return CheckPair(own, own, call_.output, 0);
      case Collective::kBarrier:
        break;
    }
    return Status::Ok();
  }

  // Elements of the blocks before this rank's.
  size_t Before() const { return arguments_.counts.Before(rank_); }

  Status CheckPointer(const char* name, const void* data, size_t count) const {
    if (data != nullptr || count == 0) return Status::Ok();
    return Refuse(fmt::format("{} is null, for {} elements", name, count));
  }

  // The smaller buffer lies in place `before` elements into `larger`; a null
  // `larger` means that there is no in-place form.
  Status CheckPair(size_t input_count, size_t output_count, const void* larger,
                   size_t before) const {
    RONDO_RETURN_IF_ERROR(CheckPointer("input", call_.input, input_count));
    RONDO_RETURN_IF_ERROR(CheckPointer("output", call_.output, output_count));
    const Range input =
        RangeOf(call_.input, input_count * ElementSize(arguments_.input_type));
    const Range output = RangeOf(
        call_.output, output_count * ElementSize(arguments_.output_type));
    if (!Overlap(input, output)) return Status::Ok();
    const uintptr_t in_place = reinterpret_cast<uintptr_t>(larger) +
                               before * ElementSize(arguments_.input_type);
    const uintptr_t smaller =
        larger == call_.output ? input.begin : output.begin;
    if (larger != nullptr && smaller == in_place) return Status::Ok();
    return Refuse(fmt::format(
        "input {} and output {} overlap; they must be disjoint{}", call_.input,
        call_.output,
        larger == nullptr
            ? std::string()
            : fmt::format(", or in place {} elements into the larger one",
                          before)));
  }

  bool Is(Collective collective) const {
    return call_.collective == collective;
  }

  const CollectiveCall& call_;
  const int rank_;
  const int world_size_;
  CallArguments& arguments_;
};

}  // namespace

Status CheckCall(const CollectiveCall& call, int rank, int world_size,
                 CallArguments* arguments) {
  return Checker(call, rank, world_size, arguments).Check();
}

}  // namespace rondo
