#include "tests/pytorch/adam_vectors.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <fstream>
#include <sstream>
#include <string_view>
#include <system_error>

#include "fmt/format.h"

namespace rondo {
namespace {

float NumberOf(uint64_t key, uint64_t index) {
  uint64_t x = (key << 32) + index;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  x ^= x >> 31;
  const auto integer = static_cast<int32_t>(x >> 40) - (1 << 23);
  return std::ldexp(static_cast<float>(integer), -23 - static_cast<int>(x & 7));
}

std::vector<float> Sequence(uint64_t key, size_t count) {
  std::vector<float> numbers;
  for (size_t k = 0; k < count; ++k) numbers.push_back(NumberOf(key, k));
  return numbers;
}

bool ParseFloatBits(std::string_view word, float* value) {
  uint32_t bits = 0;
  const char* const end = word.data() + word.size();
  const auto [parsed, error] = std::from_chars(word.data(), end, bits, 16);
  if (error != std::errc() || parsed != end || word.size() != 8) return false;
  *value = std::bit_cast<float>(bits);
  return true;
}

// Takes the file line by line.
class VectorReader {
 public:
  // False when the line is none of the known ones.
  bool Read(const std::string& line) {
    std::istringstream words(line);
    std::string first;
    words >> first;
    if (first == "#") return true;
    if (first == "optimizer") return Optimizer(words);
    if (first == "parameter") return Parameter(words);
    if (first == "step") return Step(words);
    return Floats(line);
  }

  // Whether every array has as many elements as its parameter.
  bool IsComplete() const {
    for (const AdamVector& vector : vectors) {
      for (const auto& [key, values] : vector.after) {
        if (values.size() != vector.count) return false;
      }
    }
    return !vectors.empty();
  }

  std::vector<AdamVector> vectors;

 private:
  bool Optimizer(std::istringstream& words) {
    std::string name;
    words >> name;
    decoupled_ = name == "adamw";
    return decoupled_ || name == "adam";
  }

  bool Parameter(std::istringstream& words) {
    AdamVector v;
    std::string group, lr, decay, count;
    words >> v.parameter >> group >> v.group >> lr >> v.learning_rate;
    words >> decay >> v.weight_decay >> count >> v.count;
    v.decoupled = decoupled_;
    vectors.push_back(v);
    array_ = nullptr;
    return words && group == "group" && lr == "lr" && decay == "decay" &&
           count == "count";
  }

  bool Step(std::istringstream& words) {
    int step = 0;
    char array = 0;
    words >> step >> array;
    if (!words || vectors.empty()) return false;
    array_ = &vectors.back().after[{step, array}];
    return true;
  }

  bool Floats(const std::string& line) {
    std::istringstream words(line);
    std::string word;
    while (words >> word) {
      float value = 0;
      if (array_ == nullptr || !ParseFloatBits(word, &value)) return false;
      array_->push_back(value);
    }
    return true;
  }

  bool decoupled_ = true;
  std::vector<float>* array_ = nullptr;
};

}  // namespace

std::vector<float> AdamVector::InitialValues() const {
  return Sequence(1000 * static_cast<uint64_t>(parameter), count);
}

std::vector<float> AdamVector::Gradient(int step) const {
  return Sequence(
      1000 * static_cast<uint64_t>(parameter) + static_cast<uint64_t>(step),
      count);
}

Result<std::vector<AdamVector>> ReadAdamVectors(const std::string& path) {
  std::ifstream file(path);
  if (!file) {
    return InvalidArgument(fmt::format("{} cannot be opened", path));
  }
  VectorReader reader;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (reader.Read(line)) continue;
    return InvalidArgument(
        fmt::format("{}:{}: `{}` is no line that make_adam_vectors.py writes",
                    path, number, line));
  }
  if (!reader.IsComplete()) {
    return InvalidArgument(fmt::format("{} is cut short", path));
  }
  return std::move(reader.vectors);
}

}  // namespace rondo
