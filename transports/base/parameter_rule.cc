#include "transports/base/parameter_rule.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdio>

#include "transports/base/size_text.h"

namespace rondo {
namespace {

using Kind = ParameterRule::Kind;

constexpr size_t kMaxQuotedBytes = 200;

bool IsControl(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7f;
}

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return lower;
}

std::string_view Trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// "a, b or c".
std::string Enumerate(const std::vector<std::string>& words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

Status Refuse(std::string_view text, const ParameterRule& rule) {
  return InvalidArgument(QuoteForMessage(text) + " is refused; accepted is " +
                         DescribeAccepted(rule));
}

Status FindChoice(std::string_view text, const ParameterRule& rule,
                  std::string* value) {
  for (const std::string& choice : rule.choices) {
    if (LowerCase(choice) != LowerCase(text)) continue;
    *value = choice;
    return Status::Ok();
  }
  return Refuse(text, rule);
}

bool HasControl(std::string_view text) {
  return std::any_of(text.begin(), text.end(), IsControl);
}

Result<int64_t> ParseInteger(std::string_view text, const ParameterRule& rule) {
  if (rule.kind == Kind::kSize) {
    // Its own message would promise units without saying the range.
    const Result<int64_t> size = ParseSize(text);
    if (!size.ok()) return Refuse(text, rule);
    return *size;
  }
  int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || rest != end) return Refuse(text, rule);
  return number;
}

}  // namespace

ParameterRule Boolean() { return {.kind = Kind::kBool}; }

ParameterRule WholeNumber(int64_t min, int64_t max) {
  return {.kind = Kind::kInteger, .min = min, .max = max};
}

ParameterRule OptionalNumber(int64_t min, int64_t max, int64_t unset) {
  return {.kind = Kind::kInteger, .min = min, .max = max, .unset = unset};
}

ParameterRule ByteSize(int64_t min, int64_t max) {
  return {.kind = Kind::kSize, .min = min, .max = max};
}

ParameterRule Text() { return {.kind = Kind::kText}; }

ParameterRule List(std::vector<std::string> choices) {
  return {.kind = Kind::kList, .choices = std::move(choices)};
}

ParameterRule Choice(std::vector<std::string> choices) {
  return {.kind = Kind::kChoice, .choices = std::move(choices)};
}

std::string_view KindName(Kind kind) {
  switch (kind) {
    case Kind::kBool:
      return "bool";
    case Kind::kInteger:
      return "integer";
    case Kind::kSize:
      return "size";
    case Kind::kText:
      return "string";
    case Kind::kList:
      return "list";
    case Kind::kChoice:
      return "choice";
  }
  return "unknown";
}

std::string DescribeAccepted(const ParameterRule& rule) {
  switch (rule.kind) {
    case Kind::kBool:
      return "0, 1, y, n, yes, no, true or false";
    case Kind::kInteger: {
      std::string text = "a whole number from " + std::to_string(rule.min) +
                         " to " + std::to_string(rule.max);
      if (rule.unset) text += ", or " + std::to_string(*rule.unset);
      return text;
    }
    case Kind::kSize:
      return "a size from " + FormatSize(rule.min) + " to " +
             FormatSize(rule.max) +
             ", with K, M, G, T (powers of 1000) or Ki, Mi, Gi, Ti (powers of "
             "1024)";
    case Kind::kText:
      return "any text without control characters";
    case Kind::kList:
      if (rule.choices.empty()) return "a comma-separated list";
      return "a comma-separated list of " + Enumerate(rule.choices) +
             ", with a leading ^ to exclude them";
    case Kind::kChoice:
      return Enumerate(rule.choices);
  }
  return "";
}

Status ParseParameter(std::string_view text, const ParameterRule& rule,
                      bool* value) {
  const std::string word = LowerCase(text);
  if (word == "1" || word == "y" || word == "yes" || word == "true") {
    *value = true;
    return Status::Ok();
  }
  if (word == "0" || word == "n" || word == "no" || word == "false") {
    *value = false;
    return Status::Ok();
  }
  return Refuse(text, rule);
}

Status ParseParameter(std::string_view text, const ParameterRule& rule,
                      int64_t* value) {
  RONDO_ASSIGN_OR_RETURN(const int64_t number, ParseInteger(text, rule));
  const bool in_range = number >= rule.min && number <= rule.max;
  if (!in_range && number != rule.unset) return Refuse(text, rule);
  *value = number;
  return Status::Ok();
}

Status ParseParameter(std::string_view text, const ParameterRule& rule,
                      std::string* value) {
  if (rule.kind == Kind::kChoice) return FindChoice(text, rule, value);
  if (HasControl(text)) return Refuse(text, rule);
  *value = std::string(text);
  return Status::Ok();
}

Status ParseParameter(std::string_view text, const ParameterRule& rule,
                      std::vector<std::string>* value) {
  if (HasControl(text)) return Refuse(text, rule);
  std::vector<std::string> items;
  std::string_view rest = Trim(text);
  const bool excludes = !rest.empty() && rest.front() == '^';
  if (excludes) rest.remove_prefix(1);
  const bool empty = rest.empty() && !excludes;
  while (!empty) {
    const size_t comma = rest.find(',');
    std::string item(Trim(rest.substr(0, comma)));
    if (item.empty()) return Refuse(text, rule);
    if (!rule.choices.empty() && !FindChoice(item, rule, &item).ok()) {
      return Refuse(text, rule);
    }
    items.push_back(std::move(item));
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  if (excludes) items.front().insert(0, 1, '^');
  *value = std::move(items);
  return Status::Ok();
}

std::string FormatParameter(bool value, const ParameterRule&) {
  return value ? "1" : "0";
}

std::string FormatParameter(int64_t value, const ParameterRule& rule) {
  return rule.kind == Kind::kSize ? FormatSize(value) : std::to_string(value);
}

std::string FormatParameter(const std::string& value, const ParameterRule&) {
  return value;
}

std::string FormatParameter(const std::vector<std::string>& value,
                            const ParameterRule&) {
  std::string text;
  for (const std::string& item : value) {
    if (!text.empty()) text += ",";
    text += item;
  }
  return text;
}

std::string QuoteForMessage(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text.substr(0, kMaxQuotedBytes)) {
    if (IsControl(c)) {
      char escape[8];
      std::snprintf(escape, sizeof(escape), "\\x%02x",
                    static_cast<unsigned char>(c));
      quoted += escape;
    } else {
      quoted += c;
    }
  }
  if (text.size() > kMaxQuotedBytes) quoted += "...";
  return quoted + "'";
}

}  // namespace rondo
