#include "transports/base/environment.h"

#include <unistd.h>

#include <string_view>

namespace rondo {

EnvironmentReader EnvironmentReader::FromProcess() {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const size_t equals = text.find('=');
    if (equals == std::string_view::npos || equals == 0) continue;
    // Of a name that appears twice the first counts, as for getenv.
    variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return EnvironmentReader(std::move(variables));
}

std::optional<std::string> EnvironmentReader::Get(
    const std::string& name) const {
  const auto found = variables_.find(name);
  if (found == variables_.end()) return std::nullopt;
  return found->second;
}

}  // namespace rondo
