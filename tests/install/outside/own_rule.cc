// An optimizer of a user's own, from a program that knows the installed headers
// only: AdamW as a plain loop, fused into ShardedOptimizer's step, and held
// against what PyTorch's AdamW did to the same numbers.
//
//   own_rule RULE FILE
//
// RULE: own, the loop below; own_wrong_decay, the same with each group's decay
// given to the other, which must be found; built_in, Rondo's AdamRule. FILE has
// PyTorch's results. Ends with 0 when every element agrees.
#include <rondo/collectives/communicator.h>
#include <rondo/collectives/symmetric_buffer.h>
#include <rondo/optimizer/kernels/adam_rule.h>
#include <rondo/optimizer/kernels/update_rule.h>
#include <rondo/optimizer/sharded_optimizer.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace {

using rondo::Result;
using rondo::ShardPiece;
using rondo::Status;

constexpr int64_t kSteps = 10;

struct Hyper {
  double learning_rate = 0;
  double decay = 0;
  double beta1 = 0.1, beta2 = 0.2, epsilon = 0.25;
};

// AdamW in the order of torch/optim/adam.py.
class PlainAdamW final : public rondo::UpdateRule {
 public:
  explicit PlainAdamW(std::vector<Hyper> groups) : groups_(std::move(groups)) {}

  std::string_view name() const override { return "plain_adamw"; }
  int state_count() const override { return 2; }
  int group_count() const override { return static_cast<int>(groups_.size()); }

  Status BeginStep(int64_t step) override {
    constants_.clear();
    fingerprint_ = rondo::RuleFingerprint().Add(name()).Add(step);
    for (const Hyper& h : groups_) {
      const auto t = static_cast<double>(step);
      Constants c;
      c.keep = static_cast<float>(1 - h.learning_rate * h.decay);
      c.lerp1 = static_cast<float>(1 - h.beta1);
      c.beta2 = static_cast<float>(h.beta2);
      c.rest2 = static_cast<float>(1 - h.beta2);
      c.rate =
          static_cast<float>(-h.learning_rate / (1 - std::pow(h.beta1, t)));
      c.root = static_cast<float>(std::sqrt(1 - std::pow(h.beta2, t)));
      c.epsilon = static_cast<float>(h.epsilon);
      constants_.push_back(c);
      fingerprint_.Add(h.learning_rate).Add(h.decay);
      fingerprint_.Add(h.beta1).Add(h.beta2).Add(h.epsilon);
    }
    return Status::Ok();
  }

  uint64_t Fingerprint() const override { return fingerprint_.value(); }

  void ApplyTile(int group, const float* gradient, float* parameter,
                 float* const* states, size_t count) const override {
    const Constants& c = constants_[static_cast<size_t>(group)];
    float* m = states[0];
    float* v = states[1];
    for (size_t i = 0; i < count; ++i) {
      const float g = gradient[i];
      const float kept = parameter[i] * c.keep;
      // torch.lerp with a weight of at least one half.
      m[i] = g + (c.lerp1 - 1) * (g - m[i]);
      v[i] = v[i] * c.beta2 + (c.rest2 * g) * g;
      parameter[i] =
          kept + (c.rate * m[i]) / (std::sqrt(v[i]) / c.root + c.epsilon);
    }
  }

 private:
  struct Constants {
    float keep, lerp1, beta2, rest2, rate, root, epsilon;
  };
  std::vector<Hyper> groups_;
  std::vector<Constants> constants_;
  rondo::RuleFingerprint fingerprint_;
};

struct Expected {
  int group = 0;
  size_t count = 0;
  // By step and array: "10 m".
  std::map<std::string, std::vector<float>> arrays;
};

struct Vectors {
  std::vector<Hyper> groups = std::vector<Hyper>(2);
  std::vector<Expected> parameters;
};

// A line of eight-digit words, each the bits of a float.
void AppendFloats(const std::string& line, std::vector<float>* array) {
  std::istringstream words(line);
  for (uint32_t bits = 0; words >> std::hex >> bits;) {
    float value = 0;
    std::memcpy(&value, &bits, sizeof(value));
    array->push_back(value);
  }
}

// "parameter INDEX group GROUP lr LR decay DECAY count COUNT"
Status AddParameter(const std::string& line, Vectors* vectors) {
  std::istringstream words(line);
  std::string skip;
  Expected parameter;
  Hyper hyper;
  words >> skip >> skip >> skip >> parameter.group >> skip >>
      hyper.learning_rate >> skip >> hyper.decay >> skip >> parameter.count;
  if (!words || parameter.group < 0 || parameter.group > 1) {
    return rondo::InvalidArgument("not a parameter of group 0 or 1: " + line);
  }
  vectors->groups[static_cast<size_t>(parameter.group)] = hyper;
  vectors->parameters.push_back(std::move(parameter));
  return Status::Ok();
}

// The part "adamw" of the file; its maker describes the form.
Result<Vectors> ReadVectors(const char* path) {
  std::ifstream file(path);
  Vectors vectors;
  std::vector<float>* array = nullptr;
  bool wanted = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("optimizer")) {
      wanted = line == "optimizer adamw";
    } else if (wanted && line.starts_with("parameter")) {
      RONDO_RETURN_IF_ERROR(AddParameter(line, &vectors));
    } else if (wanted && line.starts_with("step ")) {
      array = &vectors.parameters.back().arrays[line.substr(5)];
    } else if (wanted && array != nullptr) {
      AppendFloats(line, array);
    }
  }
  if (array == nullptr) {
    return rondo::InvalidArgument(std::string(path) +
                                  ": no results of PyTorch's AdamW");
  }
  return vectors;
}

// Number `index` of the sequence with this key, as the file's maker has it.
float Number(uint64_t key, uint64_t index) {
  uint64_t x = (key << 32) + index;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  x ^= x >> 31;
  const double fraction = (static_cast<double>(x >> 40) - 8388608.0) / 8388608;
  return static_cast<float>(std::ldexp(fraction, -static_cast<int>(x & 7)));
}

Result<std::unique_ptr<rondo::UpdateRule>> MakeRule(const std::string& name,
                                                    std::vector<Hyper> groups) {
  if (name == "built_in") {
    std::vector<rondo::AdamHyper> hyper;
    for (const Hyper& h : groups) {
      hyper.push_back({.learning_rate = h.learning_rate,
                       .beta1 = h.beta1,
                       .beta2 = h.beta2,
                       .epsilon = h.epsilon,
                       .weight_decay = h.decay});
    }
    RONDO_ASSIGN_OR_RETURN(auto rule, rondo::AdamRule::Create(hyper));
    return std::unique_ptr<rondo::UpdateRule>(std::move(rule));
  }
  if (name == "own_wrong_decay") {
    std::swap(groups[0].decay, groups[1].decay);
  } else if (name != "own") {
    return rondo::InvalidArgument("rule '" + name +
                                  "': not one of own, "
                                  "own_wrong_decay, built_in");
  }
  return std::unique_ptr<rondo::UpdateRule>(
      std::make_unique<PlainAdamW>(std::move(groups)));
}

// Flat buffers that ranks reach in each other.
struct Buffers {
  rondo::SymmetricBuffer gradients, parameters;

  float* gradient(const rondo::PlacedPiece& place) {
    return static_cast<float*>(gradients.data()) + place.gradient_offset;
  }
  float* parameter(const rondo::PlacedPiece& place) {
    return reinterpret_cast<float*>(static_cast<char*>(parameters.data()) +
                                    place.parameter_offset_bytes);
  }
};

// Gradients whose sum over ranks is exactly the sequence: rank 0 has it
// world_size times, every other rank its negative.
void FillGradients(const rondo::Communicator& comm,
                   const rondo::ModelLayout& layout, int64_t step,
                   Buffers* buffers) {
  const auto ranks = static_cast<float>(comm.world_size());
  const float factor = comm.rank() == 0 ? ranks : -1;
  for (size_t p = 0; p < layout.parameters().size(); ++p) {
    const auto place = layout.PlaceOf(static_cast<int>(p));
    const uint64_t key = 1000 * p + static_cast<uint64_t>(step);
    for (size_t i = 0; i < place.count; ++i) {
      buffers->gradient(place)[i] = factor * Number(key, i);
    }
  }
}

void FillParameters(const rondo::ModelLayout& layout, Buffers* buffers) {
  for (size_t p = 0; p < layout.parameters().size(); ++p) {
    const auto place = layout.PlaceOf(static_cast<int>(p));
    for (size_t i = 0; i < place.count; ++i) {
      buffers->parameter(place)[i] = Number(1000 * p, i);
    }
  }
}

// Compares with the tolerances that fp32 is compared with elsewhere.
struct Comparison {
  size_t compared = 0;
  size_t wrong = 0;

  void Add(const float* got, const std::vector<float>& wanted, size_t offset,
           size_t count) {
    compared += count;
    if (wanted.size() < offset + count) {
      wrong += count;
      return;
    }
    for (size_t i = 0; i < count; ++i) {
      const double expected = wanted[offset + i];
      const double distance = std::abs(got[i] - expected);
      wrong += !(distance <= 1e-6 + 1.3e-6 * std::abs(expected));
    }
  }
};

// All parameters, and the states of this rank's shard.
void Compare(const Vectors& vectors, int rank, int64_t step, Buffers* buffers,
             rondo::ShardedOptimizer* optimizer, Comparison* comparison) {
  const rondo::ModelLayout& layout = optimizer->layout();
  const std::string prefix = std::to_string(step) + " ";
  for (size_t p = 0; p < vectors.parameters.size(); ++p) {
    const auto& arrays = vectors.parameters[p].arrays;
    const auto found = arrays.find(prefix + "p");
    if (found == arrays.end()) continue;
    const auto place = layout.PlaceOf(static_cast<int>(p));
    comparison->Add(buffers->parameter(place), found->second, 0, place.count);
  }
  for (size_t b = 0; b < layout.buckets().size(); ++b) {
    for (const ShardPiece& piece :
         layout.ShardPieces(static_cast<int>(b), rank)) {
      const auto& arrays =
          vectors.parameters[static_cast<size_t>(piece.parameter)].arrays;
      for (int state = 0; state < 2; ++state) {
        const auto found = arrays.find(prefix + (state == 0 ? "m" : "v"));
        if (found == arrays.end()) continue;
        comparison->Add(optimizer->state(state).data() + piece.state_offset,
                        found->second, piece.parameter_offset, piece.count);
      }
    }
  }
}

rondo::ShardedOptimizerOptions OptionsFor(const Vectors& vectors) {
  rondo::ShardedOptimizerOptions options;
  options.average_gradients = false;
  options.bucket_count_target = 2048;  // several buckets
  for (const Expected& parameter : vectors.parameters) {
    options.parameters.push_back(
        {.name = "parameter" + std::to_string(options.parameters.size()),
         .shape = {parameter.count},
         .group = parameter.group});
  }
  return options;
}

Result<Comparison> Train(const std::string& rule_name, const char* path) {
  RONDO_ASSIGN_OR_RETURN(const Vectors vectors, ReadVectors(path));
  RONDO_ASSIGN_OR_RETURN(auto comm, rondo::Communicator::FromEnvironment());
  const rondo::ShardedOptimizerOptions options = OptionsFor(vectors);
  RONDO_ASSIGN_OR_RETURN(const rondo::ModelLayout layout,
                         rondo::ShardedOptimizer::LayoutFor(*comm, options));
  Buffers buffers;
  RONDO_ASSIGN_OR_RETURN(buffers.gradients,
                         rondo::SymmetricBuffer::Allocate(
                             layout.gradient_count() * sizeof(float)));
  RONDO_ASSIGN_OR_RETURN(buffers.parameters, rondo::SymmetricBuffer::Allocate(
                                                 layout.parameter_bytes()));
  FillParameters(layout, &buffers);
  RONDO_ASSIGN_OR_RETURN(auto rule, MakeRule(rule_name, vectors.groups));
  RONDO_ASSIGN_OR_RETURN(
      auto optimizer,
      rondo::ShardedOptimizer::Create(comm.get(), std::move(rule), options,
                                      buffers.parameters.data()));
  Comparison comparison;
  for (int64_t step = 1; step <= kSteps; ++step) {
    FillGradients(*comm, layout, step, &buffers);
    RONDO_ASSIGN_OR_RETURN(
        const rondo::StepResult result,
        optimizer->Step(buffers.gradients.data(), buffers.parameters.data()));
    if (result.step != step) return rondo::Internal("a step was not counted");
    Compare(vectors, comm->rank(), step, &buffers, optimizer.get(),
            &comparison);
  }
  return comparison;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: own_rule RULE FILE\n");
    return 2;
  }
  const Result<Comparison> result = Train(argv[1], argv[2]);
  if (!result.ok()) {
    std::fprintf(stderr, "%s\n", result.status().ToString().c_str());
    return 2;
  }
  std::printf("%zu elements compared, %zu differ\n", result->compared,
              result->wrong);
  return result->wrong == 0 ? 0 : 1;
}
