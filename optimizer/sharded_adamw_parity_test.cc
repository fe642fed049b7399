#include <cmath>
#include <ostream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "collectives/kernels/convert.h"
#include "collectives/kernels/data_type.h"
#include "gtest/gtest.h"
#include "optimizer/kernels/adamw_reference.h"
#include "optimizer/sharded_adamw.h"
#include "optimizer/testing/step_run.h"

namespace rondo {
namespace {

// AdamW in double on the sums over all ranks.
std::vector<AdamWReference> RunReference(int ranks,
                                         const ShardedAdamWOptions& options) {
  const size_t total = TotalCount(options);
  const double scale = options.average_gradients ? 1.0 / ranks : 1.0;
  // Partial sums may travel in the gradients' own type.
  const double unit_roundoff =
      options.gradient_type == DataType::kBfloat16 ? 0x1p-8 : 0x1p-24;
  const std::vector<float> initial = InitialValues(options);
  std::vector<AdamWReference> elements(initial.begin(), initial.end());
  for (int step = 1; step <= kRunSteps; ++step) {
    std::vector<GradientSum> sums(total);
    for (int rank = 0; rank < ranks; ++rank) {
      const TypedValues gradient = GradientOf(options, step, rank);
      for (size_t i = 0; i < total; ++i) sums[i].Add(gradient.floats[i]);
    }
    size_t i = 0;
    for (const ParameterSpec& parameter : options.parameters) {
      for (size_t k = 0; k < parameter.count; ++k, ++i) {
        elements[i].Step(options.hyper, step, parameter.decay,
                         sums[i].Scaled(scale),
                         sums[i].ScaledBound(scale, unit_roundoff));
      }
    }
  }
  return elements;
}

// Elements of `outcome` that are further off than their bound.
int CountOutside(const ShardedAdamWOptions& options, const RankOutcome& outcome,
                 const std::vector<AdamWReference>& reference) {
  std::vector<double> values(reference.size());
  EXPECT_TRUE(ConvertElements(options.parameter_type, outcome.parameters.data(),
                              DataType::kFloat64, values.data(), values.size())
                  .ok());
  int outside = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const double error = std::abs(values[i] - reference[i].p());
    if (!(error <= reference[i].p_bound(options.parameter_type))) ++outside;
  }
  return outside;
}

struct Case {
  std::vector<size_t> counts;
  size_t alignment;
  DataType gradient_type;
  DataType parameter_type;
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.counts.size() << " parameters, alignment " << c.alignment << ", "
       << DataTypeName(c.gradient_type) << " to "
       << DataTypeName(c.parameter_type);
}

class ShardedAdamWParityTest
    : public testing::TestWithParam<std::tuple<int, Case>> {
 protected:
  int ranks() const { return std::get<0>(GetParam()); }
  ShardedAdamWOptions options() const {
    const Case& c = std::get<1>(GetParam());
    ShardedAdamWOptions options = SomeOptions(c.counts, c.alignment);
    options.gradient_type = c.gradient_type;
    options.parameter_type = c.parameter_type;
    return options;
  }
};

TEST_P(ShardedAdamWParityTest, EqualsDoublePrecisionOnTheSummedGradients) {
  const std::vector<RankOutcome> outcomes = RunSteps(ranks(), options());
  const std::vector<AdamWReference> reference =
      RunReference(ranks(), options());
  EXPECT_EQ(CountOutside(options(), outcomes[0], reference), 0);
  size_t state = 0;
  for (const RankOutcome& outcome : outcomes) {
    EXPECT_EQ(outcome.parameters, outcomes[0].parameters) << "ranks differ";
    state += outcome.master.size();
  }
  EXPECT_EQ(state, TotalCount(options())) << "state is held once";
}

constexpr DataType kF32 = DataType::kFloat32;
constexpr DataType kB16 = DataType::kBfloat16;

INSTANTIATE_TEST_SUITE_P(
    Worlds, ShardedAdamWParityTest,
    testing::Combine(
        testing::Values(1, 2, 3, 4),
        testing::Values(Case{{}, 1, kF32, kF32}, Case{{1}, 1, kF32, kF32},
                        Case{{2, 0, 1}, 1, kF32, kB16},
                        Case{{4001, 7, 2999}, 1, kF32, kF32},
                        Case{{4001, 7, 2999}, 1024, kF32, kB16},
                        Case{{1500, 3000}, 64, kB16, kF32},
                        Case{{5003}, 64, kB16, DataType::kFloat16})));

// The check above must be able to fail.
TEST(ShardedAdamWParityControl, WrongResultsAreOutsideTheBound) {
  const ShardedAdamWOptions options = SomeOptions({1003, 500});
  const std::vector<AdamWReference> reference = RunReference(2, options);
  RankOutcome outcome = RunSteps(2, options)[0];
  EXPECT_EQ(CountOutside(options, outcome, reference), 0);
  RankOutcome swapped = outcome;
  std::swap_ranges(swapped.parameters.begin(), swapped.parameters.begin() + 4,
                   swapped.parameters.begin() + 4);
  EXPECT_EQ(CountOutside(options, swapped, reference), 2);

  ShardedAdamWOptions wrong = options;
  wrong.parameters[1].decay = true;  // decay where there should be none
  EXPECT_GT(CountOutside(wrong, RunSteps(2, wrong)[0], reference), 250);
  wrong = options;
  wrong.average_gradients = false;  // a sum for an average
  EXPECT_GT(CountOutside(wrong, RunSteps(2, wrong)[0], reference), 750);
}

}  // namespace
}  // namespace rondo
