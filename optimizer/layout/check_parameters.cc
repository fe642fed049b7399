#include "optimizer/layout/check_parameters.h"

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>

#include "fmt/format.h"

namespace rondo {
namespace {

constexpr size_t kMaxParameters = std::numeric_limits<int>::max();

std::string ShapeText(const std::vector<size_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

Status CheckOptions(size_t parameter_count, const LayoutOptions& options) {
  if (options.world_size < 1) {
    return InvalidArgument(
        fmt::format("world size {}: at least 1 is needed", options.world_size));
  }
  if (options.bucket_count_target < 1) {
    return InvalidArgument("bucket target 0: at least 1 element is needed");
  }
  if (parameter_count > kMaxParameters) {
    return InvalidArgument(fmt::format("{} parameters: at most {} are accepted",
                                       parameter_count, kMaxParameters));
  }
  return Status::Ok();
}

// What can be said of a parameter alone.
Status CheckParameter(const LayoutParameter& parameter) {
  switch (parameter.type) {
    case DataType::kFloat16:
    case DataType::kBfloat16:
    case DataType::kFloat32:
      break;
    default:
      return InvalidArgument(fmt::format(
          "parameter '{}' has type {} (number {}): half, bfloat16 and float "
          "are accepted",
          parameter.name,
          DataTypeFromNumber(static_cast<int>(parameter.type)).ok()
              ? DataTypeName(parameter.type)
              : "unknown",
          static_cast<int>(parameter.type)));
  }
  if (parameter.group < 0) {
    return InvalidArgument(
        fmt::format("parameter '{}' is in group {}: groups begin with 0",
                    parameter.name, parameter.group));
  }
  if (parameter.unit < 0) {
    return InvalidArgument(
        fmt::format("parameter '{}' is in unit {}: units begin with 0",
                    parameter.name, parameter.unit));
  }
  if (parameter.count() > kMaxLayoutElements) {
    return InvalidArgument(fmt::format(
        "parameter '{}' of shape {} is too large: at most {} elements are "
        "accepted",
        parameter.name, ShapeText(parameter.shape), kMaxLayoutElements));
  }
  return Status::Ok();
}

Status CheckUnitOrder(const LayoutParameter& previous,
                      const LayoutParameter& parameter) {
  if (parameter.unit >= previous.unit) return Status::Ok();
  return InvalidArgument(fmt::format(
      "parameter '{}' is in unit {}, after '{}' in unit {}: parameters are "
      "given in the order of use, in which units do not decrease",
      parameter.name, parameter.unit, previous.name, previous.unit));
}

// `original` is the earlier parameter that `parameter` names.
Status CheckSameStorage(const LayoutParameter& parameter,
                        const LayoutParameter& original) {
  const auto differs = [&](std::string_view what, const auto& its,
                           const auto& originals) {
    return InvalidArgument(fmt::format(
        "parameter '{}' is tied to '{}' but has {} {} where that has {}: tied "
        "parameters share one storage and need the same {}",
        parameter.name, original.name, what, its, originals, what));
  };
  if (parameter.shape != original.shape) {
    return differs("shape", ShapeText(parameter.shape),
                   ShapeText(original.shape));
  }
  if (parameter.type != original.type) {
    return differs("type", DataTypeName(parameter.type),
                   DataTypeName(original.type));
  }
  if (parameter.group != original.group) {
    return differs("group", parameter.group, original.group);
  }
  if (parameter.frozen != original.frozen) {
    return differs("frozen", parameter.frozen, original.frozen);
  }
  return Status::Ok();
}

using Numbers = std::unordered_map<std::string_view, int>;

// The number of the parameter that parameter number `index` is tied to.
// `earlier` has those before it.
Result<int> FindOriginal(const std::vector<LayoutParameter>& parameters,
                         int index, const Numbers& earlier) {
  const LayoutParameter& parameter = parameters[index];
  const auto found = earlier.find(parameter.tied_to);
  if (found == earlier.end()) {
    const bool later = std::any_of(
        parameters.begin() + index, parameters.end(),
        [&](const auto& other) { return other.name == parameter.tied_to; });
    return InvalidArgument(fmt::format(
        "parameter '{}' is tied to '{}', which {}: it may be tied to a "
        "parameter that is given before it",
        parameter.name, parameter.tied_to,
        later ? "does not come before it" : "does not exist"));
  }
  const LayoutParameter& original = parameters[found->second];
  if (original.tied()) {
    return InvalidArgument(fmt::format(
        "parameter '{}' is tied to '{}', which is itself tied to '{}': tie it "
        "to that one",
        parameter.name, original.name, original.tied_to));
  }
  RONDO_RETURN_IF_ERROR(CheckSameStorage(parameter, original));
  return found->second;
}

}  // namespace

Result<std::vector<int>> CheckLayoutParameters(
    const std::vector<LayoutParameter>& parameters,
    const LayoutOptions& options) {
  RONDO_RETURN_IF_ERROR(CheckOptions(parameters.size(), options));
  std::vector<int> storage;
  Numbers earlier;
  for (int i = 0; i < static_cast<int>(parameters.size()); ++i) {
    const LayoutParameter& parameter = parameters[i];
    if (parameter.name.empty()) {
      return InvalidArgument(fmt::format(
          "parameter {} has no name: each needs one of its own", i));
    }
    if (earlier.count(parameter.name) != 0) {
      return InvalidArgument(
          fmt::format("parameter {} is called '{}' like parameter {}: each "
                      "needs a name of its own",
                      i, parameter.name, earlier[parameter.name]));
    }
    RONDO_RETURN_IF_ERROR(CheckParameter(parameter));
    if (i > 0) {
      RONDO_RETURN_IF_ERROR(CheckUnitOrder(parameters[i - 1], parameter));
    }
    int original = i;
    if (parameter.tied()) {
      RONDO_ASSIGN_OR_RETURN(original, FindOriginal(parameters, i, earlier));
    }
    storage.push_back(original);
    earlier.emplace(parameter.name, i);
  }
  return storage;
}

}  // namespace rondo
