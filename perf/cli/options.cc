#include "perf/cli/options.h"

#include <algorithm>
#include <utility>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "transports/base/size_text.h"

namespace rondo::perf {
namespace {

constexpr int64_t kMaxBytes = int64_t{1} << 50;

// A number is a size whose unit may be left out; 20 and 1K are both readable.
Result<int64_t> ParseWithin(std::string_view text, int64_t min, int64_t max,
                            const std::string& accepted) {
  const Result<int64_t> number = ParseSize(text);
  if (number.ok() && *number >= min && *number <= max) return *number;
  return InvalidArgument(
      fmt::format("\"{}\" is refused; accepted is {}", text, accepted));
}

}  // namespace

CLI::Option* AddCheckedOption(CLI::App* app, const std::string& names,
                              const std::string& description,
                              const std::string& type_name,
                              std::function<Status(std::string_view)> accept) {
  auto check = [accept = std::move(accept)](std::string& text) {
    return accept(text).message();
  };
  // The validator stores the value, so the option itself needs no storage.
  return app
      ->add_option_function<std::string>(
          names, [](const std::string&) {}, description)
      ->check(CLI::Validator(check, ""))
      ->type_name(type_name);
}

CLI::Option* AddSizeOption(CLI::App* app, const std::string& names,
                           const std::string& description, int64_t* value) {
  return AddParsedOption(
      app, names, description, "SIZE", value, [](std::string_view text) {
        return ParseWithin(text, 1, kMaxBytes,
                           fmt::format("a size from 1 to {}, such as 4096, 64M "
                                       "(decimal) or 64Mi (binary)",
                                       FormatSize(kMaxBytes)));
      });
}

CLI::Option* AddNumberOption(CLI::App* app, const std::string& names,
                             const std::string& description, int64_t min,
                             int64_t max, int* value) {
  return AddParsedOption(
             app, names, description, "N", value,
             [=](std::string_view text) {
               return ParseWithin(
                   text, min, max,
                   fmt::format("a whole number from {} to {}", min, max));
             })
      ->default_str(std::to_string(*value));
}

CLI::Option* AddSwitchOption(CLI::App* app, const std::string& names,
                             const std::string& description, bool* value) {
  return AddParsedOption(app, names, description, "0|1", value,
                         [](std::string_view text) {
                           return ParseWithin(text, 0, 1, "0 or 1");
                         })
      ->default_str(*value ? "1" : "0");
}

Result<DataType> ParseTrainingType(std::string_view text) {
  const Result<DataType> type = ParseDataType(text);
  const bool fits =
      type.ok() && IsFloatingPoint(*type) && *type != DataType::kFloat64;
  if (fits) return *type;
  return InvalidArgument(fmt::format(
      "\"{}\" is refused; accepted is float, bfloat16 or half", text));
}

CLI::Option* AddChoiceOption(CLI::App* app, const std::string& names,
                             const std::string& description,
                             const std::vector<std::string>& choices,
                             std::string* value) {
  return AddCheckedOption(
             app, names, description, "NAME",
             [value, choices](std::string_view text) {
               if (std::count(choices.begin(), choices.end(), text) == 0) {
                 return InvalidArgument(
                     fmt::format("\"{}\" is refused; accepted is {}", text,
                                 fmt::join(choices, ", ")));
               }
               *value = text;
               return Status::Ok();
             })
      ->default_str(*value);
}

}  // namespace rondo::perf
