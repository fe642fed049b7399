// Dump() and the hashes of ModelLayout: what people and other ranks read.
#include <cstdint>
#include <string>
#include <vector>

#include "fmt/format.h"
#include "optimizer/agreement/agreement.h"
#include "optimizer/layout/build_buckets.h"
#include "optimizer/layout/model_layout.h"

namespace rondo {
namespace {

std::string BucketText(int number, const LayoutBucket& bucket, int world_size) {
  std::string text = fmt::format(
      "bucket {}: {}, unit {}, {} elements, {} of them padding, {} a rank; "
      "parameters from byte {}, ",
      number, DataTypeName(bucket.type), bucket.unit, bucket.count,
      bucket.padding_count(), bucket.ShardCount(world_size),
      bucket.parameter_offset_bytes);
  if (bucket.frozen) return text + "frozen\n";
  return text + fmt::format("gradient from {}, state from {}\n",
                            bucket.gradient_offset, bucket.state_offset);
}

// A parameter that no bucket has; empty for the others.
std::string NoStorageText(const LayoutParameter& parameter) {
  if (parameter.tied()) {
    return fmt::format("{} is tied to {}\n", parameter.name, parameter.tied_to);
  }
  if (parameter.count() == 0) {
    return fmt::format("{} has no elements\n", parameter.name);
  }
  return "";
}

uint64_t FingerprintWords(const std::vector<uint64_t>& words) {
  return Fingerprint(words.data(), words.size() * sizeof(words[0]));
}

}  // namespace

std::string ModelLayout::Dump() const {
  std::string text =
      fmt::format("{} parameters, {} ranks, {} buckets, target {} elements\n",
                  parameters_.size(), world_size(), buckets_.size(),
                  options_.bucket_count_target);
  for (int i = 0; i < static_cast<int>(buckets_.size()); ++i) {
    text += BucketText(i, buckets_[i], world_size());
    for (const LayoutPiece& piece : buckets_[i].pieces) {
      text +=
          fmt::format("  {}: {}[{}..{}), group {}\n", piece.bucket_offset,
                      parameters_[piece.parameter].name, piece.parameter_offset,
                      piece.parameter_offset + piece.count,
                      parameters_[piece.parameter].group);
    }
  }
  for (const LayoutParameter& parameter : parameters_) {
    text += NoStorageText(parameter);
  }
  return text + fmt::format(
                    "total: {} elements used, {} of padding, utilization "
                    "{:.2f} %; {} bytes of parameters, {} gradients, {} of "
                    "each state array a rank\n",
                    used_count_, padding_count_, 100 * utilization(),
                    parameter_bytes_, gradient_count_, state_count());
}

uint64_t ModelLayout::ParameterHash(int parameter) const {
  const LayoutParameter& it = parameters_[parameter];
  // The lengths of the texts are part of their fingerprints, and the number of
  // dimensions is that of the words.
  std::vector<uint64_t> words = {
      FingerprintText(it.name),        static_cast<uint64_t>(it.type),
      static_cast<uint64_t>(it.group), static_cast<uint64_t>(it.unit),
      it.frozen ? uint64_t{1} : 0,     FingerprintText(it.tied_to)};
  words.insert(words.end(), it.shape.begin(), it.shape.end());
  return FingerprintWords(words);
}

uint64_t ModelLayout::Hash() const {
  // Targets that are rounded to the same capacity make the same layout. That of
  // fp32 is the finest: others are rounded from it.
  std::vector<uint64_t> words = {kTileElements,
                                 static_cast<uint64_t>(world_size()),
                                 BucketCapacity(options_, DataType::kFloat32)};
  for (int i = 0; i < static_cast<int>(parameters_.size()); ++i) {
    words.push_back(ParameterHash(i));
  }
  return FingerprintWords(words);
}

}  // namespace rondo
