// What one parameter accepts, and how its text becomes a value and back.
//
// The parameter table gives each row a rule; the loader, `rondo info` and the
// README table all read the same rule, so what is documented is what is
// checked.
//
// Thread-safety: values and pure functions. Failure: an error that quotes the
// text and says what is accepted; the output is written only on success.
//
// Example:
//   ParameterRule rule = WholeNumber(1, 100);
//   int64_t value = 0;
//   RONDO_RETURN_IF_ERROR(ParseParameter("7", rule, &value));
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "transports/base/status.h"

namespace rondo {

struct ParameterRule {
  enum class Kind { kBool, kInteger, kSize, kText, kList, kChoice };

  Kind kind = Kind::kText;
  int64_t min = 0;                    // kInteger, kSize
  int64_t max = 0;                    // kInteger, kSize
  std::optional<int64_t> unset = {};  // kInteger: one value outside [min, max]
  // kChoice: the accepted words; kList: the accepted items, any when empty.
  std::vector<std::string> choices = {};
};

ParameterRule Boolean();
ParameterRule WholeNumber(int64_t min, int64_t max);
// Also accepts `unset`, which stands for "not given".
ParameterRule OptionalNumber(int64_t min, int64_t max, int64_t unset);
ParameterRule ByteSize(int64_t min, int64_t max);
ParameterRule Text();
// Comma-separated. With `choices`, items must be among them; one leading '^'
// turns the whole list into an exclusion.
ParameterRule List(std::vector<std::string> choices = {});
ParameterRule Choice(std::vector<std::string> choices);

// "bool", "integer", "size", "string", "list", "choice".
std::string_view KindName(ParameterRule::Kind kind);
// "a whole number from 1 to 100", "none, version or warn", ...
std::string DescribeAccepted(const ParameterRule& rule);

// Words of choices are matched in any case and returned as the rule spells
// them.
Status ParseParameter(std::string_view text, const ParameterRule& rule,
                      bool* value);
Status ParseParameter(std::string_view text, const ParameterRule& rule,
                      int64_t* value);
Status ParseParameter(std::string_view text, const ParameterRule& rule,
                      std::string* value);
Status ParseParameter(std::string_view text, const ParameterRule& rule,
                      std::vector<std::string>* value);

// The text that ParseParameter turns back into the value.
std::string FormatParameter(bool value, const ParameterRule& rule);
std::string FormatParameter(int64_t value, const ParameterRule& rule);
std::string FormatParameter(const std::string& value,
                            const ParameterRule& rule);
std::string FormatParameter(const std::vector<std::string>& value,
                            const ParameterRule& rule);

// `text` in quotes, with control characters as \x1b and cut when very long:
// safe to put into an error message.
std::string QuoteForMessage(std::string_view text);

}  // namespace rondo
