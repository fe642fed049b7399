#include "transports/base/path_pattern.h"

#include <unistd.h>

#include "transports/base/host_name.h"

namespace rondo {

Result<std::string> ExpandPathPattern(
    std::string_view pattern, const std::map<char, std::string>& values) {
  std::string path;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%') {
      path += pattern[i];
      continue;
    }
    const char letter = ++i < pattern.size() ? pattern[i] : '\0';
    const auto found = values.find(letter);
    if (letter == '%') {
      path += '%';
    } else if (found != values.end()) {
      path += found->second;
    } else {
      std::string accepted = "%%";
      for (const auto& [known, value] : values) {
        accepted += std::string(", %") + known;
      }
      return InvalidArgument("'" + std::string(pattern) + "' has '%" +
                             std::string(letter == '\0' ? 0 : 1, letter) +
                             "'; accepted are " + accepted);
    }
  }
  return path;
}

std::map<char, std::string> ProcessPathValues() {
  return {{'h', HostName()}, {'p', std::to_string(getpid())}};
}

}  // namespace rondo
