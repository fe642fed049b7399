// What `rondo info` knows, and its three renderings.
//
// Thread-safety: GatherInfo() as UcxResources(); the rest are pure functions.
// Failure: none; bad parameters are refused before, by Parameters::Load.
//
// Example:
//   fmt::print("{}", InfoText(GatherInfo(parameters)));
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "transports/base/parameters.h"
#include "transports/ucx/ucx_resources.h"

namespace rondo::perf {

struct InfoReport {
  std::string version;
  // Name and value: "compiler" "GCC 12.2.0", "vector unit" "AVX3", ...
  std::vector<std::pair<std::string, std::string>> features;
  std::string ucx_version;
  std::vector<UcxResource> ucx_resources;
  std::vector<ParameterInfo> parameters;
  std::vector<std::string> warnings;
};

InfoReport GatherInfo(const Parameters& parameters);

std::string InfoText(const InfoReport& info);
std::string InfoJson(const InfoReport& info);

// The configuration table of README.md: names, defaults and documentation, not
// the values of this moment.
std::string ParametersMarkdown(const std::vector<ParameterInfo>& parameters);

}  // namespace rondo::perf
