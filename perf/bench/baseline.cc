#include "perf/bench/baseline.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "fmt/format.h"
#include "nlohmann/json.hpp"
#include "perf/bench/json_report.h"

namespace rondo::perf {
namespace {

using Json = nlohmann::json;

Status Bad(const std::string& path, const std::string& what) {
  return InvalidArgument(fmt::format("\"{}\": {}", path, what));
}

// The string at `key` of an object; empty if there is none.
std::string StringAt(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>()
                                                   : std::string();
}

// The number at `key` of an object; `otherwise` if there is none.
double NumberAt(const Json& json, const char* key, double otherwise) {
  const auto found = json.find(key);
  return found != json.end() && found->is_number() ? found->get<double>()
                                                   : otherwise;
}

// Adds one row's two times; false if it is no row of such a report.
bool AddRow(const Json& row, Baseline* base) {
  if (!row.is_object()) return false;
  const double size = NumberAt(row, "size", 0);
  BaselineKey key;
  key.type = StringAt(row, "type");
  key.redop = StringAt(row, "redop");
  key.root = static_cast<int>(
      std::clamp<double>(NumberAt(row, "root", -1), -1, 1 << 30));
  if (size < 1 || size > 1e18 || key.type.empty() || key.redop.empty()) {
    return false;
  }
  key.size = static_cast<size_t>(size);
  for (bool in_place : {false, true}) {
    const auto half = row.find(in_place ? "in_place" : "out_of_place");
    if (half == row.end() || !half->is_object()) return false;
    const double time_us = NumberAt(*half, "time", 0);
    if (!(time_us > 0)) return false;
    key.in_place = in_place;
    base->times_us[key] = time_us;
  }
  return true;
}

std::string KeyText(const BaselineKey& key) {
  return fmt::format("{:>12}  {:>8}  {:>6}  {:>6}  {:>12}", key.size, key.type,
                     key.redop, key.root,
                     key.in_place ? "in_place" : "out_of_place");
}

}  // namespace

Status Baseline::CheckSameCommand(std::string_view now_collective,
                                  std::string_view now_buffers) const {
  if (collective != now_collective) {
    return Bad(path, fmt::format("is a report of {}, not of {}", collective,
                                 now_collective));
  }
  if (buffers != now_buffers) {
    return Bad(path, fmt::format("was measured with --buffers {}, not {}",
                                 buffers, now_buffers));
  }
  return Status::Ok();
}

Status Baseline::CheckSameRanks(int now_ranks) const {
  if (ranks == now_ranks) return Status::Ok();
  return Bad(path, fmt::format("was measured with {} ranks, not {}", ranks,
                               now_ranks));
}

Result<Baseline> ParseBaseline(const std::string& path, std::string_view text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return Bad(path, "is no JSON object");
  const double version = NumberAt(json, "version", 0);
  if (version != kJsonReportVersion || !json.contains("config") ||
      !json["config"].is_object() || !json.contains("results") ||
      !json["results"].is_array()) {
    return Bad(path, fmt::format("is no report that `rondo perf` writes with "
                                 "-J (version {})",
                                 kJsonReportVersion));
  }
  Baseline base;
  base.path = path;
  const Json& config = json["config"];
  base.collective = StringAt(config, "collective");
  base.buffers = StringAt(config, "buffers");
  base.ranks = static_cast<int>(
      std::clamp<double>(NumberAt(config, "ranks", 0), 0, 1 << 30));
  if (base.collective.empty() || base.buffers.empty() || base.ranks < 1) {
    return Bad(path,
               "does not say its collective, buffers and ranks; it is of "
               "an older version: measure the base again");
  }
  for (const Json& row : json["results"]) {
    if (AddRow(row, &base)) continue;
    return Bad(path, fmt::format("result {} has no size, type and times",
                                 &row - &json["results"][0]));
  }
  if (base.times_us.empty()) return Bad(path, "has no results");
  return base;
}

Result<Baseline> LoadBaseline(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  // A directory opens, and fails only here.
  if (!file || !(text << file.rdbuf())) {
    return Bad(path, "cannot be read, or is empty");
  }
  return ParseBaseline(path, text.str());
}

int BaselineVerdict::slower() const {
  return static_cast<int>(std::count_if(
      rows.begin(), rows.end(), [](const Row& row) { return row.slower; }));
}

BaselineVerdict CompareWithBaseline(const BenchmarkRun& run,
                                    const Baseline& base, int tolerance_pct) {
  BaselineVerdict verdict;
  verdict.path = base.path;
  verdict.tolerance_pct = tolerance_pct;
  std::map<BaselineKey, double> missing = base.times_us;
  for (const ResultRow& row : run.rows) {
    for (bool in_place : {false, true}) {
      const BaselineKey key{row.size, row.type, row.redop, row.root, in_place};
      const Measurement& now = in_place ? row.in_place : row.out_of_place;
      const auto found = base.times_us.find(key);
      if (found == base.times_us.end()) {
        verdict.only_now.push_back(key);
        continue;
      }
      missing.erase(key);
      BaselineVerdict::Row compared{key, found->second, now.times.mean_us};
      compared.slower = compared.growth_pct() > tolerance_pct;
      verdict.rows.push_back(compared);
    }
  }
  for (const auto& [key, time_us] : missing) {
    verdict.only_in_base.push_back(key);
  }
  return verdict;
}

std::string VerdictText(const BaselineVerdict& verdict) {
  std::string text = fmt::format(
      "#\n# Compared with {}, tolerance {} %\n"
      "# {:>12}  {:>8}  {:>6}  {:>6}  {:>12}  {:>11}  {:>11}  {:>8}\n",
      verdict.path, verdict.tolerance_pct, "size", "type", "redop", "root",
      "place", "base (us)", "now (us)", "change");
  for (const BaselineVerdict::Row& row : verdict.rows) {
    text += fmt::format("# {}  {:>11.2f}  {:>11.2f}  {:>+6.1f} %{}\n",
                        KeyText(row.key), row.base_us, row.now_us,
                        row.growth_pct(), row.slower ? "  SLOWER" : "");
  }
  for (const BaselineKey& key : verdict.only_in_base) {
    text += fmt::format("# {}  only in the base\n", KeyText(key));
  }
  for (const BaselineKey& key : verdict.only_now) {
    text += fmt::format("# {}  not in the base\n", KeyText(key));
  }
  return text + fmt::format("# Slower than the base : {} of {}{}\n",
                            verdict.slower(), verdict.rows.size(),
                            verdict.slower() > 0 ? " FAILED" : " OK");
}

}  // namespace rondo::perf
