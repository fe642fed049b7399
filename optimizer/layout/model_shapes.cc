#include "optimizer/layout/model_shapes.h"

#include <cstddef>
#include <string>
#include <utility>

#include "fmt/format.h"

namespace rondo {
namespace {

constexpr int kBlocks = 12;
constexpr size_t kWidth = 768;
constexpr size_t kVocabulary = 50257;
constexpr size_t kPositions = 1024;

class ModelList {
 public:
  explicit ModelList(DataType type) : type_(type) {}

  void NextUnit() { ++unit_; }

  void AddMatrix(std::string name, size_t rows, size_t columns) {
    Add(std::move(name), {rows, columns}, /*group=*/0);
  }

  // The weight and bias of a layer norm.
  void AddNorm(const std::string& name) {
    Add(name + ".weight", {kWidth}, /*group=*/1);
    Add(name + ".bias", {kWidth}, /*group=*/1);
  }

  // A matrix, stored as inputs by outputs, and its bias.
  void AddLinear(const std::string& name, size_t inputs, size_t outputs) {
    AddMatrix(name + ".weight", inputs, outputs);
    Add(name + ".bias", {outputs}, /*group=*/1);
  }

  void AddBlock(const std::string& name) {
    AddNorm(name + ".ln_1");
    AddLinear(name + ".attn.c_attn", kWidth, 3 * kWidth);
    AddLinear(name + ".attn.c_proj", kWidth, kWidth);
    AddNorm(name + ".ln_2");
    AddLinear(name + ".mlp.c_fc", kWidth, 4 * kWidth);
    AddLinear(name + ".mlp.c_proj", 4 * kWidth, kWidth);
  }

  void TieLastTo(std::string name) {
    parameters_.back().tied_to = std::move(name);
  }

  std::vector<LayoutParameter> Take() { return std::move(parameters_); }

 private:
  void Add(std::string name, std::vector<size_t> shape, int group) {
    parameters_.push_back({.name = std::move(name),
                           .shape = std::move(shape),
                           .type = type_,
                           .group = group,
                           .unit = unit_});
  }

  DataType type_;
  int unit_ = 0;
  std::vector<LayoutParameter> parameters_;
};

}  // namespace

std::vector<LayoutParameter> Gpt2Parameters(DataType type) {
  ModelList model(type);
  model.AddMatrix("wte.weight", kVocabulary, kWidth);
  model.AddMatrix("wpe.weight", kPositions, kWidth);
  for (int block = 0; block < kBlocks; ++block) {
    model.NextUnit();
    model.AddBlock(fmt::format("h.{}", block));
  }
  model.NextUnit();
  model.AddNorm("ln_f");
  model.AddMatrix("lm_head.weight", kVocabulary, kWidth);
  model.TieLastTo("wte.weight");
  return model.Take();
}

}  // namespace rondo
