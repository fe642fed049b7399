#include "transports/base/parameters.h"

#include "transports/base/closest_name.h"
#include "transports/base/conf_file.h"

namespace rondo {
namespace {

constexpr std::string_view kPrefix = "RONDO_";
constexpr std::string_view kConfFileName = "RONDO_CONF_FILE";
constexpr int kMaxSuggestionDistance = 3;

// A row of the table at run time: what the macro knows, without the type.
struct Row {
  std::string name;
  ParameterRule rule;
  ParameterClass parameter_class;
  std::string documentation;
  Status (*parse)(std::string_view text, const ParameterRule& rule,
                  Parameters* parameters);
  std::string (*format)(const Parameters& parameters,
                        const ParameterRule& rule);
};

#define RONDO_PARAMETER_ROW_(type, field, name, initial, rule, group, doc) \
  Row{name,                                                                \
      rule,                                                                \
      ParameterClass::group,                                               \
      doc,                                                                 \
      [](std::string_view text, const ParameterRule& accepted,             \
         Parameters* parameters) {                                         \
        return ParseParameter(text, accepted, &parameters->field);         \
      },                                                                   \
      [](const Parameters& parameters, const ParameterRule& accepted) {    \
        return FormatParameter(parameters.field, accepted);                \
      }},

const std::vector<Row>& Rows() {
  // Never destroyed: other static objects may log or fail during exit.
  static const auto& rows =
      *new std::vector<Row>{RONDO_PARAMETER_TABLE(RONDO_PARAMETER_ROW_)};
  return rows;
}

#undef RONDO_PARAMETER_ROW_

std::string WithPrefix(std::string_view name) {
  std::string full(name);
  if (name.substr(0, kPrefix.size()) != kPrefix) full.insert(0, kPrefix);
  return full;
}

const Row* FindRow(std::string_view full_name) {
  for (const Row& row : Rows()) {
    if (row.name == full_name) return &row;
  }
  return nullptr;
}

// "; did you mean RONDO_DEBUG?", or nothing.
std::string Suggestion(std::string_view full_name) {
  std::vector<std::string> names;
  for (const Row& row : Rows()) names.push_back(row.name);
  const std::string closest =
      ClosestName(full_name, names, kMaxSuggestionDistance);
  return closest.empty() ? "" : "; did you mean " + closest + "?";
}

}  // namespace

Result<Parameters> Parameters::Load(const EnvironmentReader& environment) {
  Parameters parameters;
  const auto conf_path = environment.Get(std::string(kConfFileName));
  if (conf_path.has_value()) {
    RONDO_RETURN_IF_ERROR(
        parameters.Set(kConfFileName, *conf_path, "environment"));
  }
  RONDO_RETURN_IF_ERROR(parameters.ApplyFile());
  RONDO_RETURN_IF_ERROR(parameters.ApplyEnvironment(environment));
  RONDO_RETURN_IF_ERROR(parameters.Validate());
  return parameters;
}

Result<Parameters> Parameters::LoadFromProcess() {
  return Load(EnvironmentReader::FromProcess());
}

Status Parameters::ApplyFile() {
  if (conf_file.empty()) return Status::Ok();
  const std::string path = conf_file;
  const std::string source = "file " + path;
  const auto settings = ReadConfFile(path);
  if (!settings.ok()) return settings.status().WithContext("RONDO_CONF_FILE");
  for (const ConfSetting& setting : *settings) {
    const std::string place = ", line " + std::to_string(setting.line);
    if (setting.name == kConfFileName) {
      return InvalidArgument(source + place +
                             ": a configuration file cannot name another one");
    }
    if (FindRow(setting.name) == nullptr) {
      WarnUnknown(setting.name, source + place);
      continue;
    }
    const Status set = Set(setting.name, setting.value, source);
    if (!set.ok()) return set.WithContext(path + place);
  }
  return Status::Ok();
}

Status Parameters::ApplyEnvironment(const EnvironmentReader& environment) {
  for (const auto& [name, value] : environment.variables()) {
    if (name.compare(0, kPrefix.size(), kPrefix) != 0) continue;
    if (FindRow(name) == nullptr) {
      WarnUnknown(name, "the environment");
      continue;
    }
    RONDO_RETURN_IF_ERROR(Set(name, value, "environment"));
  }
  return Status::Ok();
}

void Parameters::WarnUnknown(const std::string& name,
                             const std::string& source) {
  warnings_.push_back("unknown parameter " + name + " in " + source +
                      " is ignored" + Suggestion(name));
}

Status Parameters::Set(std::string_view name, std::string_view text,
                       const std::string& source) {
  const std::string full_name = WithPrefix(name);
  const Row* row = FindRow(full_name);
  if (row == nullptr) {
    return InvalidArgument("there is no parameter " +
                           QuoteForMessage(full_name) + Suggestion(full_name));
  }
  const Status parsed = row->parse(text, row->rule, this);
  if (!parsed.ok()) {
    return parsed.WithContext(full_name + " (" + source + ")");
  }
  sources_[full_name] = source;
  return Status::Ok();
}

Status Parameters::Validate() const {
  if (peer_timeout_ms <= heartbeat_ms) {
    return InvalidArgument(
        "RONDO_PEER_TIMEOUT_MS is " + std::to_string(peer_timeout_ms) + " (" +
        SourceOf("RONDO_PEER_TIMEOUT_MS") + ") and RONDO_HEARTBEAT_MS is " +
        std::to_string(heartbeat_ms) + " (" + SourceOf("RONDO_HEARTBEAT_MS") +
        "); accepted is a peer timeout above the heartbeat, or every rank "
        "would be called dead between two heartbeats");
  }
  return Status::Ok();
}

std::vector<ParameterInfo> Parameters::Describe() const {
  const Parameters defaults;
  std::vector<ParameterInfo> infos;
  for (const Row& row : Rows()) {
    infos.push_back({.name = row.name,
                     .type_name = std::string(KindName(row.rule.kind)),
                     .value = row.format(*this, row.rule),
                     .default_text = row.format(defaults, row.rule),
                     .source = SourceOf(row.name),
                     .accepted = DescribeAccepted(row.rule),
                     .parameter_class = row.parameter_class,
                     .documentation = row.documentation});
  }
  return infos;
}

std::string Parameters::SourceOf(std::string_view name) const {
  const auto found = sources_.find(WithPrefix(name));
  return found == sources_.end() ? "default" : found->second;
}

}  // namespace rondo
