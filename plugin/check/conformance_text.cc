#include <nlohmann/json.hpp>
#include <string>

#include "plugin/check/conformance.h"

namespace rondo::plugin {
namespace {

const char* WordOf(Outcome outcome) {
  switch (outcome) {
    case Outcome::kPassed:
      return "passed";
    case Outcome::kFailed:
      return "failed";
    case Outcome::kSkipped:
      return "skipped";
  }
  return "";
}

}  // namespace

std::string ConformanceText(const std::vector<ConformanceRow>& rows) {
  std::string text;
  int counts[3] = {};
  int version = 0;
  for (const ConformanceRow& row : rows) {
    if (row.version != version) {
      version = row.version;
      text += fmt::format("ncclNetPlugin_v{}\n", version);
    }
    ++counts[static_cast<int>(row.outcome)];
    text += fmt::format("  {:28} {}\n", row.check, WordOf(row.outcome));
    if (!row.detail.empty()) text += fmt::format("      {}\n", row.detail);
  }
  return text + fmt::format("{} passed, {} failed, {} skipped\n", counts[0],
                            counts[1], counts[2]);
}

std::string ConformanceJson(const std::vector<ConformanceRow>& rows) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const ConformanceRow& row : rows) {
    list.push_back({{"version", row.version},
                    {"check", row.check},
                    {"status", WordOf(row.outcome)},
                    {"detail", row.detail}});
  }
  return list.dump(2) + "\n";
}

std::string ChecksText() {
  std::string text;
  for (const Check& check : AllChecks()) {
    text += fmt::format("{:28} {}\n", check.name, check.why);
  }
  return text;
}

}  // namespace rondo::plugin
