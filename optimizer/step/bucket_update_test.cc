#include "optimizer/step/bucket_update.h"

#include <cmath>
#include <numeric>
#include <vector>

#include "gtest/gtest.h"

namespace rondo {
namespace {

// p -= g, by group: group 1 goes twice as far.
class PlainRule final : public UpdateRule {
 public:
  std::string_view name() const override { return "plain"; }
  int state_count() const override { return 1; }
  int group_count() const override { return 2; }
  Status BeginStep(int64_t) override { return Status::Ok(); }
  uint64_t Fingerprint() const override { return 1; }
  void ApplyTile(int group, const float* gradient, float* parameter,
                 float* const* states, size_t count) const override {
    for (size_t i = 0; i < count; ++i) {
      parameter[i] -= static_cast<float>(group + 1) * gradient[i];
      states[0][i] += 1;
    }
  }
};

// Rank 1 of 2 owns tiles 3 to 5: the end of "b", and "a", which the reversed
// order puts last.
ModelLayout SomeLayout() {
  auto layout = ModelLayout::Create({{.name = "a", .shape = {100}, .group = 1},
                                     {.name = "b", .shape = {4000}}},
                                    {.world_size = 2});
  EXPECT_TRUE(layout.ok());
  return *std::move(layout);
}

class BucketUpdateTest : public testing::Test {
 protected:
  BucketUpdateTest()
      : layout_(SomeLayout()),
        state_(*ShardState::Allocate(layout_.state_count(), 1)),
        update_(layout_, 0, 1),
        gradients_(layout_.gradient_count()),
        output_(layout_.gradient_count(), -1) {
    std::iota(gradients_.begin(), gradients_.end(), 1.0f);
    setting_.rule = &rule_;
    setting_.state = &state_;
    EXPECT_TRUE(state_.KeepGradient().ok());
  }

  Status Apply(size_t begin, size_t count, bool sources, bool destinations) {
    const ConstElements from{DataType::kFloat32, &gradients_[begin]};
    const MutableElements to{DataType::kFloat32, &output_[begin]};
    return update_
        .Apply({0, begin, count, begin},
               std::span<const ConstElements>(&from, sources ? 1 : 0),
               std::span<const MutableElements>(&to, destinations ? 1 : 0))
        .status();
  }
  Status ApplyShard(bool sources, bool destinations) {
    return Apply(3072, 3072, sources, destinations);
  }

  PlainRule rule_;
  ModelLayout layout_;
  ShardState state_;
  BucketUpdate update_;
  UpdateSetting setting_;
  std::vector<float> gradients_;
  std::vector<float> output_;
};

TEST_F(BucketUpdateTest, UpdatesWhatParametersCoverAndNothingElse) {
  ASSERT_EQ(layout_.gradient_count(), 6144u);
  update_.Begin(&setting_);
  ASSERT_TRUE(ApplyShard(true, true).ok());
  EXPECT_EQ(update_.applied_count(), 3072u);
  EXPECT_EQ(output_[3071], -1);            // the other rank's
  EXPECT_EQ(output_[3072], -3073);         // "b"
  EXPECT_EQ(output_[3999], -4000);         // its last element
  EXPECT_EQ(output_[4000], -1);            // padding
  EXPECT_EQ(output_[4096], -2 * 4097.0f);  // "a", of group 1
  EXPECT_EQ(output_[4195], -2 * 4196.0f);
  EXPECT_EQ(output_[4196], -1);
  EXPECT_EQ(state_.master.data()[0], -3073);
  EXPECT_EQ(state_.arrays[0].data()[927], 1);
  EXPECT_EQ(state_.arrays[0].data()[928], 0);
}

TEST_F(BucketUpdateTest, TwoPhasesGiveWhatOneGives) {
  update_.Begin(&setting_);
  ASSERT_TRUE(ApplyShard(true, true).ok());
  const std::vector<float> whole = output_;
  ShardState fresh = *ShardState::Allocate(layout_.state_count(), 1);
  ASSERT_TRUE(fresh.KeepGradient().ok());
  setting_.state = &fresh;
  setting_.phase = UpdatePhase::kReduce;
  update_.Begin(&setting_);
  ASSERT_TRUE(ApplyShard(true, false).ok());
  EXPECT_EQ(fresh.master.data()[0], 0);
  setting_.phase = UpdatePhase::kApply;
  update_.Begin(&setting_);
  output_.assign(output_.size(), -1);
  ASSERT_TRUE(ApplyShard(false, true).ok());
  EXPECT_EQ(output_, whole);
  // Twice as much with a coefficient of 2.
  setting_.coefficient = 2;
  update_.Begin(&setting_);
  ASSERT_TRUE(ApplyShard(false, true).ok());
  EXPECT_EQ(output_[3072], -3 * 3073.0f);
}

TEST_F(BucketUpdateTest, SquaresDoNotDependOnHowRangesAreCut) {
  for (float& value : gradients_) value = 1 / value;
  setting_.phase = UpdatePhase::kReduce;
  const auto measure = [&](size_t step) {
    ExactSum squares;
    setting_.squares = &squares;
    update_.Begin(&setting_);
    for (size_t at = 3072; at < 6144; at += step) {
      EXPECT_TRUE(Apply(at, std::min(step, 6144 - at), true, false).ok());
    }
    EXPECT_EQ(update_.applied_count(), 3072u);
    return squares.Result();
  };
  const double whole = measure(3072);
  double want = 0;
  for (size_t i = 3072; i < 4196; ++i) {
    if (i < 4000 || i >= 4096) want += double(gradients_[i]) * gradients_[i];
  }
  EXPECT_NEAR(whole, want, 1e-15);
  for (size_t step : {1, 7, 129, 1000, 1024, 1500}) {
    EXPECT_EQ(measure(step), whole) << step;
  }
  gradients_[4100] *= 1.001f;  // the control
  EXPECT_NE(measure(3072), whole);
}

TEST_F(BucketUpdateTest, RangesOfOtherRanksAreRefused) {
  update_.Begin(&setting_);
  EXPECT_EQ(Apply(3071, 2, true, true).code(), Code::kInternal);
  EXPECT_EQ(output_[3072], -1);
}

}  // namespace
}  // namespace rondo
