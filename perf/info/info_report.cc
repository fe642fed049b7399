#include "perf/info/info_report.h"

#include <algorithm>

#include "collectives/kernels/reduce.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"
#include "perf/cli/version.h"
#include "transports/base/clock.h"
#include "transports/ucx/ucx_transport.h"

namespace rondo::perf {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kTextWidth = 80;

std::string Compiler() {
#if defined(__clang__)
  return fmt::format("Clang {}.{}.{}", __clang_major__, __clang_minor__,
                     __clang_patchlevel__);
#else
  return fmt::format("GCC {}.{}.{}", __GNUC__, __GNUC_MINOR__,
                     __GNUC_PATCHLEVEL__);
#endif
}

std::string Sanitizers() {
#if defined(__SANITIZE_ADDRESS__)
  return "address";
#elif defined(__SANITIZE_THREAD__)
  return "thread";
#else
  return "none";
#endif
}

std::string Optimized() {
#if defined(__OPTIMIZE__)
  return "yes";
#else
  return "no";
#endif
}

// `text` broken at spaces, every line indented by `indent`.
std::string Wrapped(const std::string& text, int indent) {
  std::string result;
  std::string line;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    if (!line.empty() &&
        indent + line.size() + 1 + word.size() > size_t{kTextWidth}) {
      result += std::string(indent, ' ') + line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
    begin = end + 1;
  }
  return result + std::string(indent, ' ') + line + "\n";
}

std::string ClassName(ParameterClass parameter_class) {
  return parameter_class == ParameterClass::kDebug ? "debug" : "system";
}

// A cell of a Markdown table: a bar would end it.
std::string Cell(const std::string& text) {
  std::string cell;
  for (char c : text) {
    if (c == '|') cell += '\\';
    cell += c;
  }
  return cell;
}

std::string ValueText(const std::string& value) {
  return value.empty() ? "(empty)" : value;
}

}  // namespace

InfoReport GatherInfo(const Parameters& parameters) {
  InfoReport info;
  info.version = VersionText();
  info.features = {{"compiler", Compiler()},
                   {"optimized", Optimized()},
                   {"sanitizer", Sanitizers()},
                   {"vector unit", ReduceTargetName()},
                   {"usable CPUs", std::to_string(UsableCpus())},
                   {"memory kinds", "host"}};
  info.ucx_version = UcxVersion();
  info.ucx_resources = UcxResources();
  info.parameters = parameters.Describe();
  info.warnings = parameters.warnings();
  return info;
}

std::string InfoText(const InfoReport& info) {
  std::string text = fmt::format("rondo {}\n", info.version);
  for (const auto& [name, value] : info.features) {
    text += fmt::format("  {:<14} {}\n", name, value);
  }
  text += fmt::format("\nUCX {}\n", info.ucx_version);
  for (const UcxResource& resource : info.ucx_resources) {
    text += fmt::format("  {:<14} {:<16} {}\n", resource.transport,
                        resource.device, resource.device_kind);
  }
  text += "\nParameters\n";
  for (const ParameterInfo& row : info.parameters) {
    text += fmt::format("  {} = {}  (from {}; default {}; {}, {})\n", row.name,
                        ValueText(row.value), row.source,
                        ValueText(row.default_text), row.type_name,
                        ClassName(row.parameter_class));
    text += Wrapped(row.documentation, 6);
    text += Wrapped("Accepted: " + row.accepted + ".", 6);
  }
  for (const std::string& warning : info.warnings) {
    text += fmt::format("\nWarning: {}\n", warning);
  }
  return text;
}

std::string InfoJson(const InfoReport& info) {
  Json features = Json::object();
  for (const auto& [name, value] : info.features) features[name] = value;
  Json resources = Json::array();
  for (const UcxResource& resource : info.ucx_resources) {
    resources.push_back({{"transport", resource.transport},
                         {"device", resource.device},
                         {"device_kind", resource.device_kind}});
  }
  Json parameters = Json::array();
  for (const ParameterInfo& row : info.parameters) {
    parameters.push_back({{"name", row.name},
                          {"type", row.type_name},
                          {"value", row.value},
                          {"default", row.default_text},
                          {"source", row.source},
                          {"accepted", row.accepted},
                          {"class", ClassName(row.parameter_class)},
                          {"documentation", row.documentation}});
  }
  const Json json = {
      {"version", info.version},
      {"features", features},
      {"ucx", {{"version", info.ucx_version}, {"resources", resources}}},
      {"parameters", parameters},
      {"warnings", info.warnings}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string ParametersMarkdown(const std::vector<ParameterInfo>& parameters) {
  std::string text =
      "| Name | Default | Accepted | What it does |\n"
      "| --- | --- | --- | --- |\n";
  for (const ParameterInfo& row : parameters) {
    const bool debug = row.parameter_class == ParameterClass::kDebug;
    text += fmt::format(
        "| `{}` | {} | {} | {}{} |\n", row.name,
        row.default_text.empty() ? "" : "`" + Cell(row.default_text) + "`",
        Cell(row.accepted), Cell(row.documentation),
        debug ? " For debugging." : "");
  }
  return text;
}

}  // namespace rondo::perf
