#include "collectives/kernels/data_type.h"

#include <string>

namespace rondo {
namespace {

struct DataTypeFacts {
  std::string_view name;
  bool floating_point;
};

// Indexed by the number of the type.
constexpr std::array<DataTypeFacts, AllDataTypes().size()> kDataTypes = {{
    {"int8", false},
    {"uint8", false},
    {"int32", false},
    {"uint32", false},
    {"int64", false},
    {"uint64", false},
    {"half", true},
    {"float", true},
    {"double", true},
    {"bfloat16", true},
}};

// Indexed by the number of the reduction.
constexpr std::array<std::string_view, AllReductions().size()> kReductions = {
    "sum", "prod", "max", "min", "avg"};

const DataTypeFacts& Facts(DataType type) {
  return kDataTypes[static_cast<size_t>(type)];
}

std::string_view Name(DataType type) { return DataTypeName(type); }
std::string_view Name(Reduction reduction) { return ReductionName(reduction); }

template <typename Enums>
std::string Names(const Enums& all) {
  std::string names;
  for (auto each : all) {
    if (!names.empty()) names += ", ";
    names += Name(each);
  }
  return names;
}

template <typename Enums>
auto Parse(std::string_view what, const Enums& all, std::string_view text)
    -> Result<typename Enums::value_type> {
  for (auto each : all) {
    if (Name(each) == text) return each;
  }
  return InvalidArgument("unknown " + std::string(what) + " \"" +
                         std::string(text) + "\"; accepted are " + Names(all));
}

template <typename Enums>
auto FromNumber(std::string_view what, const Enums& all, int number)
    -> Result<typename Enums::value_type> {
  if (number >= 0 && static_cast<size_t>(number) < all.size()) {
    return all[static_cast<size_t>(number)];
  }
  return InvalidArgument("unknown " + std::string(what) + " number " +
                         std::to_string(number) + "; accepted are 0 to " +
                         std::to_string(all.size() - 1) + " (" + Names(all) +
                         ")");
}

}  // namespace

std::string_view DataTypeName(DataType type) { return Facts(type).name; }

bool IsFloatingPoint(DataType type) { return Facts(type).floating_point; }

Result<DataType> ParseDataType(std::string_view text) {
  return Parse("data type", AllDataTypes(), text);
}

Result<DataType> DataTypeFromNumber(int number) {
  return FromNumber("data type", AllDataTypes(), number);
}

std::string_view ReductionName(Reduction reduction) {
  return kReductions[static_cast<size_t>(reduction)];
}

Result<Reduction> ParseReduction(std::string_view text) {
  return Parse("reduction", AllReductions(), text);
}

Result<Reduction> ReductionFromNumber(int number) {
  return FromNumber("reduction", AllReductions(), number);
}

}  // namespace rondo
