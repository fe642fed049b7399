#include "perf/step/model_check.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "collectives/kernels/convert.h"
#include "perf/bench/gather.h"
#include "perf/step/step_model.h"

namespace rondo::perf {
namespace {

constexpr size_t kMostChecked = size_t{4} << 20;

// Calls visit(piece's tile: index, count, byte offset in parameters, group) for
// each tile that a parameter covers.
template <typename Visit>
void ForEachTile(const ModelLayout& layout, const Visit& visit) {
  for (const LayoutBucket& bucket : layout.buckets()) {
    for (const LayoutPiece& piece : bucket.pieces) {
      const int group = layout.parameters()[piece.parameter].group;
      for (size_t at = 0; at < piece.count; at += kStepShift) {
        const size_t position = piece.bucket_offset + at;
        visit(
            bucket.gradient_offset + position,
            std::min(kStepShift, piece.count - at),
            bucket.parameter_offset_bytes + position * ElementSize(bucket.type),
            group);
      }
    }
  }
}

}  // namespace

ModelCheck::ModelCheck(const ModelLayout* layout, Communicator* communicator,
                       const StepBenchmarkOptions& options, uint64_t seed)
    : layout_(layout),
      communicator_(communicator),
      hypers_(StepHypers()),
      rank_(static_cast<size_t>(communicator->rank())),
      stride_((layout->used_count() + kMostChecked - 1) / kMostChecked) {
  stride_ = std::max<size_t>(stride_, 1);
  check_.seed = seed;
  check_.ranks = communicator->world_size();
  check_.gradient_type = options.gradient_type;
  check_.parameter_type = options.parameter_type;
}

void ModelCheck::FillGradients(void* gradients) const {
  perf::FillGradients(check_.gradient_type, check_.seed, communicator_->rank(),
                      gradients, layout_->gradient_count() + kSpareGradients);
}

size_t ModelCheck::GradientOffset(int step) const {
  return static_cast<size_t>(step - 1) * kStepShift *
         ElementSize(check_.gradient_type);
}

void ModelCheck::Reset(ShardedOptimizer* optimizer, void* parameters) const {
  auto* const bytes = static_cast<char*>(parameters);
  ForEachTile(*layout_, [&](size_t index, size_t count, size_t offset, int) {
    float initial[kStepShift];
    for (size_t i = 0; i < count; ++i) {
      initial[i] = TestInitial(check_.seed, index + i);
    }
    // Cannot fail between floating-point types.
    static_cast<void>(ConvertElements(DataType::kFloat32, initial,
                                      check_.parameter_type, bytes + offset,
                                      count));
  });
  for (size_t b = 0; b < layout_->buckets().size(); ++b) {
    const LayoutBucket& bucket = layout_->buckets()[b];
    for (const ShardPiece& piece :
         layout_->ShardPieces(static_cast<int>(b), communicator_->rank())) {
      float* const master = optimizer->master().data() + piece.state_offset;
      const size_t first = bucket.gradient_offset + piece.bucket_offset;
      for (size_t i = 0; i < piece.count; ++i) {
        master[i] = TestInitial(check_.seed, first + i);
      }
    }
  }
  for (int i = 0; i < optimizer->rule().state_count(); ++i) {
    std::ranges::fill(optimizer->state(i), 0.0f);
  }
  optimizer->SetSteps(0);
}

Result<double> ModelCheck::Norm(int step) const {
  const auto ranks = static_cast<size_t>(check_.ranks);
  double mine = 0;
  ForEachTile(*layout_, [&](size_t index, size_t count, size_t, int) {
    if (index / kStepShift % ranks != rank_) return;
    mine += SquaredNorm(check_, step, index, count);
  });
  RONDO_ASSIGN_OR_RETURN(const std::vector<double> all,
                         GatherValues(communicator_, mine));
  double squares = 0;
  for (double part : all) squares += part;
  return std::sqrt(squares);
}

int64_t ModelCheck::CountOutside(const std::vector<double>& coefficients,
                                 const void* parameters,
                                 const void* known) const {
  StepCheck check = check_;
  check.coefficients = coefficients;
  const auto* const bytes = static_cast<const char*>(parameters);
  const auto* const before = static_cast<const char*>(known);
  const size_t element_bytes = ElementSize(check_.parameter_type);
  int64_t outside = 0;
  ForEachTile(
      *layout_, [&](size_t index, size_t count, size_t offset, int group) {
        if (!Looks(index)) return;
        const bool seen =
            before != nullptr && std::memcmp(bytes + offset, before + offset,
                                             count * element_bytes) == 0;
        if (seen) return;
        outside += perf::CountOutside(check, hypers_[group], index, count,
                                      bytes + offset);
      });
  return outside;
}

int64_t ModelCheck::checked_count() const {
  size_t checked = 0;
  ForEachTile(*layout_, [&](size_t index, size_t count, size_t, int) {
    checked += Looks(index) ? count : 0;
  });
  return static_cast<int64_t>(checked);
}

int64_t ModelCheck::CountDifferent(const void* a, const void* b) const {
  const auto* const first = static_cast<const char*>(a);
  const auto* const second = static_cast<const char*>(b);
  const size_t bytes = ElementSize(check_.parameter_type);
  int64_t different = 0;
  ForEachTile(*layout_, [&](size_t, size_t count, size_t offset, int) {
    if (std::memcmp(first + offset, second + offset, count * bytes) == 0) {
      return;
    }
    for (size_t at = offset; at < offset + count * bytes; at += bytes) {
      different += std::memcmp(first + at, second + at, bytes) != 0;
    }
  });
  return different;
}

}  // namespace rondo::perf
