// Parameters: every setting of Rondo, typed, checked, and knowing its source.
//
// The fields come from parameter_table.h, where each is documented. A value is
// taken from the first of: the environment (RONDO_...), the file that
// RONDO_CONF_FILE names, the default. An option of the API or of a command line
// is laid over that with Set().
//
// Values that do not parse or are out of range are refused, never replaced by a
// default: the error has the name, the text, the source and what is accepted.
// Names that start with RONDO_ and are not in the table become warnings(), with
// a suggestion when one is near.
//
// Thread-safety: a value.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(Parameters parameters,
//                          Parameters::LoadFromProcess());
//   Deadline deadline = Deadline::AfterMs(parameters.timeout_ms);
//   for (const ParameterInfo& row : parameters.Describe()) ...
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "transports/base/environment.h"
#include "transports/base/parameter_table.h"
#include "transports/base/status.h"

namespace rondo {

// System parameters are for production; debug ones may make results wrong or
// slow, and their names may change.
enum class ParameterClass { kSystem, kDebug };

// One row of the table with its present value, as text for people.
struct ParameterInfo {
  std::string name;          // "RONDO_TIMEOUT_MS"
  std::string type_name;     // "integer"
  std::string value;         // "300000"
  std::string default_text;  // "300000"
  std::string source;        // "default", "environment", "file PATH", or Set's
  std::string accepted;      // "a whole number from 1 to 86400000"
  ParameterClass parameter_class = ParameterClass::kSystem;
  std::string documentation;
};

// `Parameters()` holds the defaults.
struct Parameters {
#define RONDO_PARAMETER_FIELD_(type, field, name, initial, rule, group, doc) \
  type field = initial;
  RONDO_PARAMETER_TABLE(RONDO_PARAMETER_FIELD_)
#undef RONDO_PARAMETER_FIELD_

  static Result<Parameters> Load(const EnvironmentReader& environment);
  static Result<Parameters> LoadFromProcess();

  // Sets one parameter by name (with or without RONDO_) from text. `source` is
  // for people: "option --timeout-ms". Refused: unknown names and bad values.
  Status Set(std::string_view name, std::string_view text,
             const std::string& source);

  // Whether the values fit each other. Load has checked it; call it after Set.
  Status Validate() const;

  // Every parameter, in the order of the table.
  std::vector<ParameterInfo> Describe() const;
  // Where the value of `name` came from: "default" unless something set it.
  std::string SourceOf(std::string_view name) const;
  // Complaints that do not stop anything, such as unknown names.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  Status ApplyFile();
  Status ApplyEnvironment(const EnvironmentReader& environment);
  void WarnUnknown(const std::string& name, const std::string& source);

  std::map<std::string, std::string, std::less<>> sources_;  // non-default ones
  std::vector<std::string> warnings_;
};

}  // namespace rondo
