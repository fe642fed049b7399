#include "optimizer/examples/char_model.h"

#include <algorithm>
#include <cmath>

#include "optimizer/examples/random.h"

namespace rondo {
namespace {

// output = bias + input * weight, the weight being inputs x outputs by rows.
// The inner loop runs along a row, so that it touches memory in order.
template <typename Scalar>
void DenseForward(const std::vector<Scalar>& input, const Scalar* weight,
                  const Scalar* bias, std::vector<Scalar>* output) {
  const size_t outputs = output->size();
  std::copy(bias, bias + outputs, output->begin());
  for (size_t i = 0; i < input.size(); ++i) {
    const Scalar* row = weight + i * outputs;
    for (size_t j = 0; j < outputs; ++j) (*output)[j] += input[i] * row[j];
  }
}

// Given the gradient at the output: adds those of weight and bias, and sets
// that of the input.
template <typename Scalar>
void DenseBackward(const std::vector<Scalar>& input, const Scalar* weight,
                   const std::vector<Scalar>& output_gradient,
                   Scalar* weight_gradient, Scalar* bias_gradient,
                   std::vector<Scalar>* input_gradient) {
  const size_t outputs = output_gradient.size();
  for (size_t i = 0; i < input.size(); ++i) {
    const Scalar* row = weight + i * outputs;
    Scalar* row_gradient = weight_gradient + i * outputs;
    Scalar sum = 0;
    for (size_t j = 0; j < outputs; ++j) {
      row_gradient[j] += input[i] * output_gradient[j];
      sum += row[j] * output_gradient[j];
    }
    (*input_gradient)[i] = sum;
  }
  for (size_t j = 0; j < outputs; ++j) bias_gradient[j] += output_gradient[j];
}

// The largest value is taken out first, so that exp() cannot overflow.
template <typename Scalar>
void Softmax(std::vector<Scalar>* values) {
  const Scalar largest = *std::max_element(values->begin(), values->end());
  Scalar sum = 0;
  for (Scalar& value : *values) {
    value = std::exp(value - largest);
    sum += value;
  }
  for (Scalar& value : *values) value /= sum;
}

}  // namespace

template <typename Scalar>
CharModel<Scalar>::CharModel(const CharModelShape& shape) : shape_(shape) {
  const size_t vocabulary = shape.vocabulary;
  const size_t embedding = shape.embedding;
  const size_t inputs = shape.context * embedding;
  const size_t hidden = shape.hidden;
  parameters_ = {{.name = "embedding", .shape = {vocabulary, embedding}},
                 {.name = "hidden_weight", .shape = {inputs, hidden}},
                 {.name = "hidden_bias", .shape = {hidden}, .group = 1},
                 {.name = "output_weight", .shape = {hidden, vocabulary}},
                 {.name = "output_bias", .shape = {vocabulary}, .group = 1}};
  input_.resize(inputs);
  input_gradient_.resize(inputs);
  hidden_.resize(hidden);
  hidden_gradient_.resize(hidden);
  probabilities_.resize(vocabulary);
  logits_gradient_.resize(vocabulary);
}

template <typename Scalar>
size_t CharModel<Scalar>::parameter_count() const {
  size_t count = 0;
  for (const LayoutParameter& parameter : parameters_) {
    count += parameter.count();
  }
  return count;
}

template <typename Scalar>
std::vector<Scalar> CharModel<Scalar>::InitialParameters(uint64_t seed) const {
  std::vector<Scalar> values(parameter_count(), Scalar{0});
  const Arrays<Scalar> p = Split(std::span<Scalar>(values));
  Random random(seed);
  // Uniform in [-limit, limit): variance limit^2 / 3.
  auto fill = [&random](Scalar* begin, Scalar* end, double variance) {
    const double limit = std::sqrt(3.0 * variance);
    for (; begin != end; ++begin) {
      *begin = static_cast<Scalar>(limit * (2.0 * random.Fraction() - 1.0));
    }
  };
  const double inputs = static_cast<double>(input_.size());
  const double hidden = shape_.hidden;
  fill(p.embedding, p.hidden_weight, 1.0);
  fill(p.hidden_weight, p.hidden_bias, 2.0 / (inputs + hidden));
  fill(p.output_weight, p.output_bias, 2.0 / (hidden + shape_.vocabulary));
  return values;
}

template <typename Scalar>
double CharModel<Scalar>::LossAndGradient(std::span<const Scalar> parameters,
                                          const CharBatch& batch,
                                          double sample_weight,
                                          std::span<Scalar> gradients) {
  const Arrays<const Scalar> p = Split(parameters);
  const Arrays<Scalar> g = Split(gradients);
  const std::span<const int> contexts(batch.contexts);
  double loss = 0;
  for (size_t i = 0; i < batch.size(); ++i) {
    const auto context = contexts.subspan(i * shape_.context, shape_.context);
    const int target = batch.targets[i];
    Forward(p, context);
    // A probability that underflowed to 0 would make the loss infinite.
    const double probability =
        std::max(static_cast<double>(probabilities_[target]), 1e-300);
    loss -= sample_weight * std::log(probability);
    Backward(p, context, target, static_cast<Scalar>(sample_weight), g);
  }
  return loss;
}

template <typename Scalar>
std::span<const Scalar> CharModel<Scalar>::Predict(
    std::span<const Scalar> parameters, std::span<const int> context) {
  Forward(Split(parameters), context);
  return probabilities_;
}

template <typename Scalar>
template <typename Element>
typename CharModel<Scalar>::template Arrays<Element> CharModel<Scalar>::Split(
    std::span<Element> flat) const {
  Element* at[5];
  size_t offset = 0;
  for (size_t i = 0; i < parameters_.size(); ++i) {
    at[i] = flat.data() + offset;
    offset += parameters_[i].count();
  }
  return {at[0], at[1], at[2], at[3], at[4]};
}

template <typename Scalar>
void CharModel<Scalar>::Forward(const Arrays<const Scalar>& p,
                                std::span<const int> context) {
  auto input = input_.begin();
  for (int token : context) {
    const Scalar* row = p.embedding + size_t{1} * token * shape_.embedding;
    input = std::copy(row, row + shape_.embedding, input);
  }
  DenseForward(input_, p.hidden_weight, p.hidden_bias, &hidden_);
  for (Scalar& unit : hidden_) unit = std::tanh(unit);
  DenseForward(hidden_, p.output_weight, p.output_bias, &probabilities_);
  Softmax(&probabilities_);
}

template <typename Scalar>
void CharModel<Scalar>::Backward(const Arrays<const Scalar>& p,
                                 std::span<const int> context, int target,
                                 Scalar sample_weight,
                                 const Arrays<Scalar>& g) {
  // d loss / d logits = softmax - one_hot(target).
  for (size_t j = 0; j < probabilities_.size(); ++j) {
    logits_gradient_[j] = sample_weight * probabilities_[j];
  }
  logits_gradient_[target] -= sample_weight;
  DenseBackward(hidden_, p.output_weight, logits_gradient_, g.output_weight,
                g.output_bias, &hidden_gradient_);
  // d tanh(x) / dx = 1 - tanh(x)^2.
  for (size_t i = 0; i < hidden_.size(); ++i) {
    hidden_gradient_[i] *= 1 - hidden_[i] * hidden_[i];
  }
  DenseBackward(input_, p.hidden_weight, hidden_gradient_, g.hidden_weight,
                g.hidden_bias, &input_gradient_);
  // A character that occurs twice in the context gets both contributions.
  auto input_gradient = input_gradient_.begin();
  for (int token : context) {
    Scalar* row = g.embedding + size_t{1} * token * shape_.embedding;
    for (int k = 0; k < shape_.embedding; ++k) row[k] += *input_gradient++;
  }
}

template class CharModel<float>;
template class CharModel<double>;

}  // namespace rondo
