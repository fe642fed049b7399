#include "optimizer/layout/build_buckets.h"

#include <algorithm>
#include <utility>

#include "fmt/format.h"

namespace rondo {
namespace {

constexpr size_t kPageBytes = 4096;

size_t RoundUp(size_t value, size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// One tile for every rank: what bucket sizes are multiples of.
size_t TileRow(const LayoutOptions& options) {
  return kTileElements * static_cast<size_t>(options.world_size);
}

class BucketBuilder {
 public:
  BucketBuilder(const std::vector<LayoutParameter>& parameters,
                const LayoutOptions& options)
      : parameters_(parameters), options_(options) {}

  Status Add(int index) {
    const LayoutParameter& parameter = parameters_[index];
    const size_t capacity = BucketCapacity(options_, parameter.type);
    const size_t count = parameter.count();
    for (size_t offset = 0; offset < count;) {
      if (!Takes(parameter, capacity)) {
        RONDO_RETURN_IF_ERROR(Close());
        RONDO_RETURN_IF_ERROR(Open(parameter));
      }
      const size_t taken = std::min(count - offset, capacity - fill_);
      open_.pieces.push_back({index, offset, taken, fill_});
      open_.used_count += taken;
      fill_ += RoundUp(taken, kTileElements);
      offset += taken;
    }
    return Status::Ok();
  }

  Result<std::vector<LayoutBucket>> Finish() {
    RONDO_RETURN_IF_ERROR(Close());
    return std::move(buckets_);
  }

 private:
  // Whether the open bucket can take some of the parameter.
  bool Takes(const LayoutParameter& parameter, size_t capacity) const {
    return fill_ > 0 && fill_ < capacity && open_.type == parameter.type &&
           open_.unit == parameter.unit && open_.frozen == parameter.frozen;
  }

  Status Open(const LayoutParameter& parameter) {
    if (buckets_.size() == kMaxLayoutBuckets) {
      return InvalidArgument(fmt::format(
          "parameter '{}' needs bucket number {}: at most {} are accepted; "
          "raise the bucket target, which is {}",
          parameter.name, kMaxLayoutBuckets + 1, kMaxLayoutBuckets,
          options_.bucket_count_target));
    }
    open_ = LayoutBucket();
    open_.type = parameter.type;
    open_.unit = parameter.unit;
    open_.frozen = parameter.frozen;
    return Status::Ok();
  }

  // Pads the open bucket, if there is one, and gives it its place.
  Status Close() {
    if (fill_ == 0) return Status::Ok();
    open_.count = RoundUp(std::exchange(fill_, 0), TileRow(options_));
    total_count_ += open_.count;
    if (total_count_ > kMaxLayoutElements) {
      return InvalidArgument(fmt::format(
          "parameter '{}' and those used after it need {} elements with "
          "padding: at most {} are accepted",
          parameters_[open_.pieces.back().parameter].name, total_count_,
          kMaxLayoutElements));
    }
    open_.parameter_offset_bytes = parameter_bytes_;
    parameter_bytes_ += RoundUpToPage(open_.count * ElementSize(open_.type));
    if (!open_.frozen) {
      open_.gradient_offset = gradient_count_;
      open_.state_offset =
          gradient_count_ / static_cast<size_t>(options_.world_size);
      gradient_count_ += open_.count;
    }
    buckets_.push_back(std::move(open_));
    return Status::Ok();
  }

  const std::vector<LayoutParameter>& parameters_;
  const LayoutOptions& options_;
  std::vector<LayoutBucket> buckets_;
  LayoutBucket open_;
  size_t fill_ = 0;  // where the next piece goes; 0: no bucket is open
  size_t total_count_ = 0;
  size_t gradient_count_ = 0;
  size_t parameter_bytes_ = 0;
};

}  // namespace

size_t RoundUpToPage(size_t bytes) { return RoundUp(bytes, kPageBytes); }

size_t BucketCapacity(const LayoutOptions& options, DataType type) {
  // A full bucket ends where the next one may begin, so that a parameter that
  // lies in both has no gap. Two rows of tiles always do, of 2-byte elements.
  const size_t row = TileRow(options);
  const size_t unit = row * ElementSize(type) % kPageBytes == 0 ? row : 2 * row;
  const size_t target = options.bucket_count_target;
  const size_t units = target / unit + (target % unit != 0 ? 1 : 0);
  return std::min(units, kMaxLayoutElements / unit) * unit;
}

Result<std::vector<LayoutBucket>> BuildBuckets(
    const std::vector<LayoutParameter>& parameters,
    const LayoutOptions& options) {
  BucketBuilder builder(parameters, options);
  for (int i = static_cast<int>(parameters.size()) - 1; i >= 0; --i) {
    if (!parameters[i].tied()) RONDO_RETURN_IF_ERROR(builder.Add(i));
  }
  return builder.Finish();
}

}  // namespace rondo
