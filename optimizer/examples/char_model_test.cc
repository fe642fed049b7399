#include "optimizer/examples/char_model.h"

#include <cmath>
#include <numeric>
#include <vector>

#include "gtest/gtest.h"
#include "optimizer/examples/random.h"

namespace rondo {
namespace {

constexpr CharModelShape kShape = {
    .vocabulary = 7, .context = 3, .embedding = 4, .hidden = 5};

CharBatch RandomBatch(const CharModelShape& shape, int samples, uint64_t seed) {
  Random random(seed);
  CharBatch batch;
  for (int i = 0; i < samples; ++i) {
    for (int k = 0; k < shape.context; ++k) {
      batch.contexts.push_back(
          static_cast<int>(random.Below(shape.vocabulary)));
    }
    batch.targets.push_back(static_cast<int>(random.Below(shape.vocabulary)));
  }
  return batch;
}

double LossAt(CharModel<double>* model, const std::vector<double>& parameters,
              const CharBatch& batch, double sample_weight) {
  std::vector<double> unused(parameters.size(), 0.0);
  return model->LossAndGradient(parameters, batch, sample_weight, unused);
}

// Central differences in double: with h = 1e-5 the error of the method, of
// order h^2, and that of rounding, of order 1e-16 / h, both stay below 1e-9.
TEST(CharModelTest, GradientsEqualFiniteDifferences) {
  constexpr double kH = 1e-5;
  CharModel<double> model(kShape);
  std::vector<double> parameters = model.InitialParameters(3);
  // Biases start at 0; move them to a general place.
  Random random(4);
  for (double& value : parameters) value += 0.1 * random.Fraction();
  const CharBatch batch = RandomBatch(kShape, 6, 5);
  std::vector<double> gradients(parameters.size(), 0.0);
  model.LossAndGradient(parameters, batch, 0.3, gradients);

  int clearly_not_zero = 0;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const double at = parameters[i];
    parameters[i] = at + kH;
    const double above = LossAt(&model, parameters, batch, 0.3);
    parameters[i] = at - kH;
    const double below = LossAt(&model, parameters, batch, 0.3);
    parameters[i] = at;
    EXPECT_NEAR(gradients[i], (above - below) / (2 * kH), 1e-8) << i;
    if (std::abs(gradients[i]) > 1e-4) ++clearly_not_zero;
  }
  EXPECT_GT(clearly_not_zero, static_cast<int>(parameters.size()) / 2);
}

TEST(CharModelTest, GradientsAddUpOverCalls) {
  CharModel<double> model(kShape);
  const std::vector<double> parameters = model.InitialParameters(3);
  const CharBatch batch = RandomBatch(kShape, 4, 5);
  CharBatch first, second;
  for (int i = 0; i < 4; ++i) {
    CharBatch& half = i < 2 ? first : second;
    const auto context = batch.contexts.begin() + i * kShape.context;
    half.contexts.insert(half.contexts.end(), context,
                         context + kShape.context);
    half.targets.push_back(batch.targets[i]);
  }
  std::vector<double> whole(parameters.size(), 0.0);
  std::vector<double> halves(parameters.size(), 0.0);
  const double loss = model.LossAndGradient(parameters, batch, 0.25, whole);
  double sum = model.LossAndGradient(parameters, first, 0.25, halves);
  sum += model.LossAndGradient(parameters, second, 0.25, halves);
  EXPECT_NEAR(loss, sum, 1e-14);
  for (size_t i = 0; i < whole.size(); ++i) {
    EXPECT_NEAR(whole[i], halves[i], 1e-14);
  }
}

TEST(CharModelTest, FloatFollowsDouble) {
  CharModel<double> exact(kShape);
  CharModel<float> model(kShape);
  const std::vector<float> parameters = model.InitialParameters(9);
  const std::vector<double> widened(parameters.begin(), parameters.end());
  const CharBatch batch = RandomBatch(kShape, 8, 1);
  std::vector<float> gradients(parameters.size(), 0.0f);
  std::vector<double> exact_gradients(parameters.size(), 0.0);
  const double loss =
      model.LossAndGradient(parameters, batch, 0.125, gradients);
  EXPECT_NEAR(loss,
              exact.LossAndGradient(widened, batch, 0.125, exact_gradients),
              1e-5);
  for (size_t i = 0; i < gradients.size(); ++i) {
    EXPECT_NEAR(gradients[i], exact_gradients[i], 1e-6);
  }
}

TEST(CharModelTest, PredictionsAreProbabilities) {
  CharModel<float> model(kShape);
  std::vector<float> parameters = model.InitialParameters(9);
  // Logits far beyond what exp() can take.
  for (float& value : parameters) value *= 100;
  const std::vector<int> context = {1, 6, 0};
  const auto predicted = model.Predict(parameters, context);
  ASSERT_EQ(predicted.size(), 7u);
  EXPECT_NEAR(std::accumulate(predicted.begin(), predicted.end(), 0.0), 1.0,
              1e-6);
}

TEST(CharModelTest, InitialParametersDependOnTheSeedAlone) {
  CharModel<float> model(kShape);
  EXPECT_EQ(model.InitialParameters(1), model.InitialParameters(1));
  EXPECT_NE(model.InitialParameters(1), model.InitialParameters(2));
  // So that a change of the generator, or of the machine, does not pass unseen.
  EXPECT_EQ(
      model.InitialParameters(1)[0],
      static_cast<float>(std::sqrt(3.0) *
                         (2.0 * (0x910a2dec89025cc1u >> 40) * 0x1p-24 - 1.0)));
}

TEST(CharModelTest, ParametersAreListedInOrder) {
  CharModel<float> model(kShape);
  const std::vector<LayoutParameter>& parameters = model.parameters();
  ASSERT_EQ(parameters.size(), 5u);
  EXPECT_EQ(parameters[0].count(), 28u);
  EXPECT_EQ(parameters[1].count(), 60u);
  EXPECT_EQ(parameters[2].count(), 5u);
  EXPECT_EQ(parameters[3].count(), 35u);
  EXPECT_EQ(parameters[4].count(), 7u);
  EXPECT_EQ(model.parameter_count(), 135u);
  EXPECT_EQ(parameters[1].group, 0);
  EXPECT_EQ(parameters[2].group, 1);
}

}  // namespace
}  // namespace rondo
