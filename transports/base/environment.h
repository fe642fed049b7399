// A snapshot of environment variables.
//
// Configuration is read from a snapshot, not from getenv, for two reasons:
// tests give their own variables without touching the process, and a variable
// that another thread sets halfway cannot make two parameters disagree.
//
// Thread-safety: a value. FromProcess reads `environ`, which must not be
// changed by another thread meanwhile (the rule of getenv).
//
// Example:
//   EnvironmentReader environment({{"RONDO_DEBUG", "info"}});
//   environment.Get("RONDO_DEBUG");  // "info"
#pragma once

#include <map>
#include <optional>
#include <string>

namespace rondo {

class EnvironmentReader {
 public:
  EnvironmentReader() = default;  // no variables at all
  explicit EnvironmentReader(std::map<std::string, std::string> variables)
      : variables_(std::move(variables)) {}

  static EnvironmentReader FromProcess();

  // The value, possibly empty, or nothing when the variable is not set.
  std::optional<std::string> Get(const std::string& name) const;

  // Every variable, by name.
  const std::map<std::string, std::string>& variables() const {
    return variables_;
  }

 private:
  std::map<std::string, std::string> variables_;
};

}  // namespace rondo
