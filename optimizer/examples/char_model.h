// CharModel: predicts the next character from the `context` previous ones.
//
// The neural language model of Bengio et al. (2003), with characters for words:
//
//   x      = the embeddings of the context's characters, end to end
//   h      = tanh(x * hidden_weight + hidden_bias)
//   logits = h * output_weight + output_bias
//   loss   = -log softmax(logits)[target]
//
// The parameters are one flat array, the arrays listed by parameters() end to
// end, matrices by rows; gradients have the same layout. Forward and backward
// are written out by hand, one sample at a time. Scalar is float for training;
// double lets a test compare the gradients with finite differences.
//
// Thread-safety: one thread at a time (it keeps scratch space). Ownership: owns
// nothing but that; parameters and gradients stay the caller's.
// Failure: none; tokens must be below the vocabulary size, arrays long enough.
//
// Example:
//   CharModel<float> model({.vocabulary = 96});
//   std::vector<float> parameters = model.InitialParameters(seed);
//   std::vector<float> gradients(parameters.size(), 0.0f);
//   double loss = model.LossAndGradient(parameters, batch, 1.0 / batch.size(),
//                                       gradients);
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "optimizer/layout/model_layout.h"

namespace rondo {

struct CharModelShape {
  int vocabulary = 0;
  int context = 8;
  int embedding = 16;
  int hidden = 128;
};

// Sample i: contexts[i * context ...] and the token that follows, targets[i].
struct CharBatch {
  std::vector<int> contexts;
  std::vector<int> targets;

  size_t size() const { return targets.size(); }
};

template <typename Scalar>
class CharModel {
 public:
  explicit CharModel(const CharModelShape& shape);

  // Names and shapes, in the order in which they lie and are used. Biases are
  // of group 1: by custom they have no decay.
  const std::vector<LayoutParameter>& parameters() const { return parameters_; }
  size_t parameter_count() const;

  // Uniform, with the variance that keeps activations of order 1 (Glorot and
  // Bengio, 2010); biases 0. The same on every machine.
  std::vector<Scalar> InitialParameters(uint64_t seed) const;

  // The sum over the batch of sample_weight * loss; its gradient is added to
  // `gradients`.
  double LossAndGradient(std::span<const Scalar> parameters,
                         const CharBatch& batch, double sample_weight,
                         std::span<Scalar> gradients);

  // What follows `context`: a probability for every token. Valid until the next
  // call.
  std::span<const Scalar> Predict(std::span<const Scalar> parameters,
                                  std::span<const int> context);

 private:
  // The arrays of a flat vector, of parameters or of gradients.
  template <typename Element>
  struct Arrays {
    Element* embedding;      // vocabulary x embedding
    Element* hidden_weight;  // (context * embedding) x hidden
    Element* hidden_bias;
    Element* output_weight;  // hidden x vocabulary
    Element* output_bias;
  };
  template <typename Element>
  Arrays<Element> Split(std::span<Element> flat) const;

  // Fills input_, hidden_ and probabilities_.
  void Forward(const Arrays<const Scalar>& p, std::span<const int> context);
  // Adds to `g`, using what Forward() left.
  void Backward(const Arrays<const Scalar>& p, std::span<const int> context,
                int target, Scalar sample_weight, const Arrays<Scalar>& g);

  CharModelShape shape_;
  std::vector<LayoutParameter> parameters_;
  std::vector<Scalar> input_;
  std::vector<Scalar> hidden_;
  std::vector<Scalar> probabilities_;
  std::vector<Scalar> input_gradient_;
  std::vector<Scalar> hidden_gradient_;
  std::vector<Scalar> logits_gradient_;
};

extern template class CharModel<float>;
extern template class CharModel<double>;

}  // namespace rondo
