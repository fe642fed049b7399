#include "transports/bootstrap/launch_variable.h"

#include <charconv>

namespace rondo {

namespace {

constexpr int kLargest = 1 << 20;

}  // namespace

std::optional<std::string> TextOf(const EnvironmentReader& environment,
                                  const std::string& name) {
  std::optional<std::string> value = environment.Get(name);
  if (value && value->empty()) value.reset();
  return value;
}

Result<std::optional<int>> NumberOf(const EnvironmentReader& environment,
                                    const std::string& name, int minimum) {
  const std::optional<std::string> text = TextOf(environment, name);
  if (!text) return std::optional<int>();
  const bool own = name.compare(0, 6, "RONDO_") == 0;
  if (own && *text == "-1") return std::optional<int>();
  int value = 0;
  const char* end = text->data() + text->size();
  const auto [stop, error] = std::from_chars(text->data(), end, value);
  if (error != std::errc() || stop != end || value < minimum ||
      value > kLargest) {
    return InvalidArgument(
        name + " is '" + *text + "'; accepted are whole numbers from " +
        std::to_string(minimum) + " to " + std::to_string(kLargest));
  }
  return std::optional<int>(value);
}

}  // namespace rondo
