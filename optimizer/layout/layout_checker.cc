#include "optimizer/layout/layout_checker.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "fmt/format.h"

namespace rondo {
namespace {

using Spans = std::vector<std::pair<size_t, size_t>>;  // begin, end

std::string SpansProblem(std::string_view what, Spans spans, size_t total) {
  std::sort(spans.begin(), spans.end());
  size_t free_from = 0;
  for (const auto& [begin, end] : spans) {
    if (begin < free_from) return fmt::format("{} overlap at {}", what, begin);
    if (end < begin || end > total) {
      return fmt::format("{} {}..{} leave {}", what, begin, end, total);
    }
    free_from = end;
  }
  return "";
}

std::string PieceProblem(const LayoutFacts& facts, const LayoutBucket& bucket,
                         const LayoutPiece& piece) {
  const LayoutParameter& parameter = facts.parameters[piece.parameter];
  if (piece.bucket_offset % kTileElements != 0 ||
      piece.parameter_offset % kTileElements != 0) {
    return fmt::format("{} is cut off a tile border", parameter.name);
  }
  if (piece.count == 0) return parameter.name + " has an empty piece";
  if (parameter.tied()) return parameter.name + " is tied but has storage";
  if (parameter.type != bucket.type || parameter.unit != bucket.unit ||
      parameter.frozen != bucket.frozen) {
    return parameter.name + " is in a bucket of another kind";
  }
  return "";
}

std::string BucketProblem(const LayoutFacts& facts,
                          const LayoutBucket& bucket) {
  Spans spans;
  size_t used_count = 0;
  for (const LayoutPiece& piece : bucket.pieces) {
    const std::string problem = PieceProblem(facts, bucket, piece);
    if (!problem.empty()) return problem;
    spans.push_back({piece.bucket_offset, piece.bucket_offset + piece.count});
    used_count += piece.count;
  }
  if (!std::is_sorted(spans.begin(), spans.end())) return "pieces out of order";
  if (used_count != bucket.used_count) return "wrong used count";
  if (bucket.pieces.empty()) return "an empty bucket";
  const size_t row = kTileElements * static_cast<size_t>(facts.world_size);
  if (bucket.count % row != 0) return "ranks have parts of tiles";
  if (bucket.count - spans.back().second >= row) return "needless padding";
  return SpansProblem("pieces", spans, bucket.count);
}

// Each element of each stored parameter lies in exactly one piece.
std::string CoverProblem(const LayoutFacts& facts) {
  std::vector<std::vector<int>> times;
  for (const LayoutParameter& parameter : facts.parameters) {
    times.emplace_back(parameter.tied() ? 0 : parameter.count(), 0);
  }
  for (const LayoutBucket& bucket : facts.buckets) {
    for (const LayoutPiece& piece : bucket.pieces) {
      std::vector<int>& painted = times[piece.parameter];
      for (size_t i = 0; i < piece.count; ++i) {
        if (piece.parameter_offset + i >= painted.size()) return "past the end";
        ++painted[piece.parameter_offset + i];
      }
    }
  }
  for (size_t parameter = 0; parameter < times.size(); ++parameter) {
    for (size_t i = 0; i < times[parameter].size(); ++i) {
      if (times[parameter][i] == 1) continue;
      return fmt::format("{}[{}] lies in {} places",
                         facts.parameters[parameter].name, i,
                         times[parameter][i]);
    }
  }
  return "";
}

std::string BuffersProblem(const LayoutFacts& facts) {
  Spans bytes, gradients, states;
  for (const LayoutBucket& bucket : facts.buckets) {
    const size_t at = bucket.parameter_offset_bytes;
    if (at % 4096 != 0) return "a bucket off a page border";
    bytes.push_back({at, at + bucket.count * ElementSize(bucket.type)});
    if (bucket.frozen) {
      if (bucket.gradient_offset == kNoOffset &&
          bucket.state_offset == kNoOffset) {
        continue;
      }
      return "a frozen bucket has a gradient or state";
    }
    gradients.push_back(
        {bucket.gradient_offset, bucket.gradient_offset + bucket.count});
    const size_t shard = bucket.count / static_cast<size_t>(facts.world_size);
    states.push_back({bucket.state_offset, bucket.state_offset + shard});
  }
  for (std::string problem :
       {SpansProblem("parameters", bytes, facts.parameter_bytes),
        SpansProblem("gradients", gradients, facts.gradient_count),
        SpansProblem("states", states, facts.state_count)}) {
    if (!problem.empty()) return problem;
  }
  return "";
}

// What lies at each position of a bucket; parameter -1 for padding.
using Painting = std::vector<std::pair<int, size_t>>;

Painting PaintPieces(const LayoutBucket& bucket) {
  Painting painting(bucket.count, {-1, 0});
  for (const LayoutPiece& piece : bucket.pieces) {
    for (size_t i = 0; i < piece.count; ++i) {
      painting[piece.bucket_offset + i] = {piece.parameter,
                                           piece.parameter_offset + i};
    }
  }
  return painting;
}

// Takes what the shard pieces cover off the painting.
std::string TakeShard(const LayoutBucket& bucket, size_t begin, size_t end,
                      const std::vector<ShardPiece>& pieces,
                      Painting* painting) {
  for (const ShardPiece& piece : pieces) {
    if (piece.count == 0) return "an empty shard piece";
    if (piece.bucket_offset < begin || piece.bucket_offset + piece.count > end)
      return "a shard piece of another rank";
    const size_t state_offset =
        bucket.frozen ? kNoOffset
                      : bucket.state_offset + piece.bucket_offset - begin;
    if (piece.state_offset != state_offset) return "state at a wrong place";
    for (size_t i = 0; i < piece.count; ++i) {
      auto& at = (*painting)[piece.bucket_offset + i];
      if (at != std::pair(piece.parameter, piece.parameter_offset + i)) {
        return "a shard piece differs from the piece it is of";
      }
      at = {-1, 0};
    }
  }
  return "";
}

std::string ShardsProblem(const LayoutFacts& facts, size_t number) {
  const LayoutBucket& bucket = facts.buckets[number];
  const size_t ranks = static_cast<size_t>(facts.world_size);
  Painting painting = PaintPieces(bucket);
  for (size_t rank = 0; rank < ranks; ++rank) {
    const std::string problem = TakeShard(
        bucket, rank * bucket.count / ranks, (rank + 1) * bucket.count / ranks,
        facts.shards[number][rank], &painting);
    if (!problem.empty()) return problem;
  }
  for (const auto& [parameter, offset] : painting) {
    if (parameter >= 0) {
      return fmt::format("no rank owns {}[{}]",
                         facts.parameters[parameter].name, offset);
    }
  }
  return "";
}

// Each parameter is one array of the flat buffers, from where it is placed on.
std::string PlacesProblem(const LayoutFacts& facts) {
  for (const LayoutBucket& bucket : facts.buckets) {
    for (const LayoutPiece& piece : bucket.pieces) {
      const PlacedPiece& place = facts.places[piece.parameter];
      const std::string& name = facts.parameters[piece.parameter].name;
      const size_t size = ElementSize(bucket.type);
      if (place.parameter_offset_bytes + piece.parameter_offset * size !=
          bucket.parameter_offset_bytes + piece.bucket_offset * size) {
        return name + " is not one array of the parameter buffer";
      }
      const size_t gradient_offset = bucket.frozen ? kNoOffset
                                                   : bucket.gradient_offset +
                                                         piece.bucket_offset -
                                                         piece.parameter_offset;
      if (place.gradient_offset != gradient_offset) {
        return name + " is not one array of the gradient buffer";
      }
    }
  }
  return "";
}

std::string TotalsProblem(const LayoutFacts& facts) {
  size_t stored = 0, all = 0, trained = 0;
  for (const LayoutParameter& parameter : facts.parameters) {
    if (!parameter.tied()) stored += parameter.count();
  }
  for (const LayoutBucket& bucket : facts.buckets) {
    all += bucket.count;
    if (!bucket.frozen) trained += bucket.count;
  }
  if (facts.used_count != stored) return "wrong total of used elements";
  if (facts.padding_count != all - stored) return "wrong total of padding";
  if (facts.gradient_count != trained) return "wrong size of the gradients";
  if (facts.state_count * static_cast<size_t>(facts.world_size) != trained) {
    return "wrong size of the state";
  }
  return "";
}

}  // namespace

LayoutFacts FactsOf(const ModelLayout& layout) {
  LayoutFacts facts = {.world_size = layout.world_size(),
                       .parameters = layout.parameters(),
                       .buckets = layout.buckets(),
                       .shards = {},
                       .places = {},
                       .gradient_count = layout.gradient_count(),
                       .state_count = layout.state_count(),
                       .parameter_bytes = layout.parameter_bytes(),
                       .used_count = layout.used_count(),
                       .padding_count = layout.padding_count()};
  for (size_t bucket = 0; bucket < facts.buckets.size(); ++bucket) {
    facts.shards.emplace_back();
    for (int rank = 0; rank < layout.world_size(); ++rank) {
      facts.shards.back().push_back(
          layout.ShardPieces(static_cast<int>(bucket), rank));
    }
  }
  for (size_t i = 0; i < facts.parameters.size(); ++i) {
    facts.places.push_back(layout.PlaceOf(static_cast<int>(i)));
  }
  return facts;
}

std::string LayoutProblem(const LayoutFacts& facts) {
  for (const LayoutBucket& bucket : facts.buckets) {
    const std::string problem = BucketProblem(facts, bucket);
    if (!problem.empty()) return problem;
  }
  for (const auto check :
       {CoverProblem, BuffersProblem, PlacesProblem, TotalsProblem}) {
    const std::string problem = check(facts);
    if (!problem.empty()) return problem;
  }
  for (size_t bucket = 0; bucket < facts.buckets.size(); ++bucket) {
    const std::string problem = ShardsProblem(facts, bucket);
    if (!problem.empty()) return problem;
  }
  return "";
}

}  // namespace rondo
