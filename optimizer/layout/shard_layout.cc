#include "optimizer/layout/shard_layout.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "fmt/format.h"

namespace rondo {
namespace {

Status CheckArguments(const std::vector<ParameterSpec>& parameters,
                      int world_size, size_t alignment) {
  if (world_size < 1) {
    return InvalidArgument(
        fmt::format("world size {}: at least 1 is needed", world_size));
  }
  if (alignment < 1) {
    return InvalidArgument("shard alignment 0: at least 1 element is needed");
  }
  if (parameters.size() > std::numeric_limits<int>::max()) {
    return InvalidArgument(fmt::format("{} parameters: at most {} are accepted",
                                       parameters.size(),
                                       std::numeric_limits<int>::max()));
  }
  std::unordered_set<std::string_view> names;
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].name.empty()) {
      return InvalidArgument(fmt::format(
          "parameter {} has no name: each needs one of its own", i));
    }
    if (!names.insert(parameters[i].name).second) {
      return InvalidArgument(
          fmt::format("parameter {} is called '{}' like an earlier one: each "
                      "needs a name of its own",
                      i, parameters[i].name));
    }
  }
  return Status::Ok();
}

// Where shard `rank` begins. rank == world_size gives the end of the last one.
size_t ShardStart(size_t total, int world_size, size_t alignment, int rank) {
  const size_t ranks = static_cast<size_t>(world_size);
  const size_t units = total / alignment + (total % alignment != 0 ? 1 : 0);
  const size_t unit = static_cast<size_t>(rank) * (units / ranks) +
                      std::min<size_t>(rank, units % ranks);
  // The last unit may be short; unit * alignment could even overflow there.
  return unit >= units ? total : unit * alignment;
}

}  // namespace

Result<ShardLayout> ShardLayout::Create(std::vector<ParameterSpec> parameters,
                                        int world_size, size_t alignment) {
  RONDO_RETURN_IF_ERROR(CheckArguments(parameters, world_size, alignment));
  ShardLayout layout;
  layout.alignment_ = alignment;
  for (const ParameterSpec& parameter : parameters) {
    // Offsets in bytes, of up to 8 per element, must fit as well.
    constexpr size_t kMaxTotal = std::numeric_limits<int64_t>::max() / 8;
    if (parameter.count > kMaxTotal - layout.total_count_) {
      return InvalidArgument(fmt::format(
          "parameter '{}' of {} elements makes the vector longer than {} "
          "elements, which is the most that is accepted",
          parameter.name, parameter.count, kMaxTotal));
    }
    layout.parameter_counts_.push_back(parameter.count);
    layout.parameter_offsets_.push_back(layout.total_count_);
    layout.total_count_ += parameter.count;
  }
  layout.parameters_ = std::move(parameters);
  for (int rank = 0; rank < world_size; ++rank) {
    const size_t start =
        ShardStart(layout.total_count_, world_size, alignment, rank);
    const size_t end =
        ShardStart(layout.total_count_, world_size, alignment, rank + 1);
    layout.shard_offsets_.push_back(start);
    layout.shard_counts_.push_back(end - start);
  }
  return layout;
}

std::vector<ParameterRange> ShardLayout::RangesOf(int rank) const {
  const size_t begin = shard_offsets_[rank];
  const size_t end = begin + shard_counts_[rank];
  std::vector<ParameterRange> ranges;
  // The last parameter that starts at or before `begin`, then onwards.
  auto first = std::upper_bound(parameter_offsets_.begin(),
                                parameter_offsets_.end(), begin);
  size_t index = first - parameter_offsets_.begin();
  if (index > 0) --index;
  for (; index < parameters_.size() && parameter_offsets_[index] < end;
       ++index) {
    const size_t parameter_begin = parameter_offsets_[index];
    const size_t from = std::max(begin, parameter_begin);
    const size_t to = std::min(end, parameter_begin + parameter_counts_[index]);
    if (from >= to) continue;
    ranges.push_back(
        {static_cast<int>(index), from - parameter_begin, to - from, from});
  }
  return ranges;
}

std::string ShardLayout::ToText() const {
  std::string text = fmt::format(
      "{} elements in {} parameters, {} shards, borders at "
      "multiples of {}\n",
      total_count_, parameters_.size(), world_size(), alignment_);
  for (int rank = 0; rank < world_size(); ++rank) {
    text += fmt::format("rank {}: {} elements from {}", rank,
                        shard_counts_[rank], shard_offsets_[rank]);
    for (const ParameterRange& range : RangesOf(rank)) {
      text += fmt::format(", {}[{}..{})", parameters_[range.parameter].name,
                          range.offset, range.offset + range.count);
    }
    text += '\n';
  }
  return text;
}

}  // namespace rondo
