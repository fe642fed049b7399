// Options whose values are checked where they are parsed.
//
// CLI11 finds the options; these helpers convert their values with Rondo's own
// parsers, so that every refusal quotes the value and says what is accepted,
// and a size is written the same way here as in a RONDO_ variable. The output
// is written only when the value is accepted; its value before is the default.
//
// Thread-safety: one thread; outputs must outlive the App. Failure: a refused
// value becomes CLI11's ValidationError inside App::parse.
//
// Example:
//   AddSizeOption(app, "-b,--minbytes", "smallest size", &min_bytes)
//       ->default_str("32Mi");
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "CLI/CLI.hpp"
#include "collectives/kernels/data_type.h"
#include "transports/base/status.h"

namespace rondo::perf {

// `accept` checks the text and stores the value.
CLI::Option* AddCheckedOption(CLI::App* app, const std::string& names,
                              const std::string& description,
                              const std::string& type_name,
                              std::function<Status(std::string_view)> accept);

// Any Result<T> Parse(std::string_view).
template <typename T, typename Parse>
CLI::Option* AddParsedOption(CLI::App* app, const std::string& names,
                             const std::string& description,
                             const std::string& type_name, T* value,
                             Parse parse) {
  return AddCheckedOption(app, names, description, type_name,
                          [value, parse](std::string_view text) {
                            auto result = parse(text);
                            if (result.ok()) *value = static_cast<T>(*result);
                            return result.status();
                          });
}

// Bytes: "64M" is decimal, "64Mi" binary; at least 1.
CLI::Option* AddSizeOption(CLI::App* app, const std::string& names,
                           const std::string& description, int64_t* value);
// A whole number from `min` to `max`; both fit an int.
CLI::Option* AddNumberOption(CLI::App* app, const std::string& names,
                             const std::string& description, int64_t min,
                             int64_t max, int* value);
// "0" or "1".
CLI::Option* AddSwitchOption(CLI::App* app, const std::string& names,
                             const std::string& description, bool* value);
// The types that gradients and parameters can have: float, bfloat16, half.
Result<DataType> ParseTrainingType(std::string_view text);
// One of `choices`.
CLI::Option* AddChoiceOption(CLI::App* app, const std::string& names,
                             const std::string& description,
                             const std::vector<std::string>& choices,
                             std::string* value);

}  // namespace rondo::perf
