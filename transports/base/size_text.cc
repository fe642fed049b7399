#include "transports/base/size_text.h"

#include <cctype>
#include <charconv>
#include <limits>

namespace rondo {
namespace {

struct Unit {
  std::string_view name;
  int64_t bytes;
};

// Binary units come first, so that they win when both are equally short.
constexpr Unit kUnits[] = {
    {"Ki", int64_t{1} << 10},
    {"Mi", int64_t{1} << 20},
    {"Gi", int64_t{1} << 30},
    {"Ti", int64_t{1} << 40},
    {"K", 1'000},
    {"M", 1'000'000},
    {"G", 1'000'000'000},
    {"T", 1'000'000'000'000},
};

bool EqualsIgnoringCase(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::tolower(static_cast<unsigned char>(a[i])) !=
        std::tolower(static_cast<unsigned char>(b[i]))) {
      return false;
    }
  }
  return true;
}

Status Refuse(std::string_view text, std::string_view why) {
  return InvalidArgument(
      "'" + std::string(text) + "' is " + std::string(why) +
      "; accepted is a whole number with an optional unit: K, M, G, T (powers "
      "of 1000) or Ki, Mi, Gi, Ti (powers of 1024), as in 64M or 256Ki");
}

}  // namespace

Result<int64_t> ParseSize(std::string_view text) {
  const char* end = text.data() + text.size();
  // Unsigned, so that a minus sign is refused rather than read.
  uint64_t number = 0;
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc::invalid_argument) return Refuse(text, "not a size");
  constexpr uint64_t kMost = std::numeric_limits<int64_t>::max();
  if (error != std::errc() || number > kMost) return Refuse(text, "too large");

  std::string_view unit(rest, static_cast<size_t>(end - rest));
  if (!unit.empty() && (unit.back() == 'B' || unit.back() == 'b')) {
    unit.remove_suffix(1);
  }
  if (unit.empty()) return static_cast<int64_t>(number);
  for (const Unit& known : kUnits) {
    if (!EqualsIgnoringCase(unit, known.name)) continue;
    if (number > kMost / static_cast<uint64_t>(known.bytes)) {
      return Refuse(text, "too large");
    }
    return static_cast<int64_t>(number) * known.bytes;
  }
  return Refuse(text, "not a size");
}

std::string FormatSize(int64_t bytes) {
  std::string shortest = std::to_string(bytes);
  if (bytes <= 0) return shortest;
  for (const Unit& unit : kUnits) {
    if (bytes % unit.bytes != 0) continue;
    std::string text = std::to_string(bytes / unit.bytes);
    text += unit.name;
    if (text.size() < shortest.size()) shortest = text;
  }
  return shortest;
}

}  // namespace rondo
