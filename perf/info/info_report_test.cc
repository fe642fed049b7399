#include "perf/info/info_report.h"

#include <algorithm>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "transports/ucx/ucx_transport.h"

namespace rondo::perf {
namespace {

Parameters Load(std::map<std::string, std::string> variables) {
  auto parameters = Parameters::Load(EnvironmentReader(std::move(variables)));
  EXPECT_TRUE(parameters.ok()) << parameters.status().ToString();
  return *parameters;
}

TEST(InfoReportTest, ShowsEveryParameterWithItsSource) {
  const InfoReport info = GatherInfo(Load({{"RONDO_TIMEOUT_MS", "12345"}}));
  const std::string text = InfoText(info);
  for (const ParameterInfo& row : Parameters().Describe()) {
    EXPECT_NE(text.find("  " + row.name + " = "), std::string::npos);
  }
  EXPECT_NE(text.find("RONDO_TIMEOUT_MS = 12345  (from environment; default "),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("(from default; "), std::string::npos);
}

TEST(InfoReportTest, WarnsOfUnknownNames) {
  const InfoReport info = GatherInfo(Load({{"RONDO_TIMEOUT_SM", "1"}}));
  EXPECT_NE(InfoText(info).find("Warning: "), std::string::npos);
  EXPECT_NE(InfoText(info).find("RONDO_TIMEOUT_MS"), std::string::npos);
  EXPECT_EQ(InfoText(GatherInfo(Load({}))).find("Warning: "),
            std::string::npos);
}

TEST(InfoReportTest, JsonSaysTheSame) {
  const InfoReport info = GatherInfo(Load({{"RONDO_TIMEOUT_MS", "12345"}}));
  const auto json = nlohmann::json::parse(InfoJson(info));
  EXPECT_EQ(json["version"], info.version);
  EXPECT_EQ(json["ucx"]["version"], info.ucx_version);
  EXPECT_EQ(json["parameters"].size(), Parameters().Describe().size());
  const auto& rows = json["parameters"];
  const auto row =
      std::find_if(rows.begin(), rows.end(), [](const nlohmann::json& each) {
        return each["name"] == "RONDO_TIMEOUT_MS";
      });
  ASSERT_NE(row, rows.end());
  EXPECT_EQ((*row)["value"], "12345");
  EXPECT_EQ((*row)["source"], "environment");
}

TEST(InfoReportTest, MarkdownHasOneRowPerParameterAndFourColumns) {
  const auto parameters = Parameters().Describe();
  const std::string table = ParametersMarkdown(parameters);
  EXPECT_EQ(static_cast<size_t>(std::count(table.begin(), table.end(), '\n')),
            parameters.size() + 2);
  ParameterInfo odd;
  odd.name = "RONDO_ODD";
  odd.documentation = "a|b";
  odd.parameter_class = ParameterClass::kDebug;
  EXPECT_NE(ParametersMarkdown({odd}).find(
                "| `RONDO_ODD` |  |  | a\\|b For debugging. |\n"),
            std::string::npos);
}

TEST(UcxFactsTest, EveryMachineHasAWayToReachItself) {
  const std::string version = UcxVersion();
  EXPECT_EQ(std::count(version.begin(), version.end(), '.'), 2) << version;
  const auto resources = UcxResources();
  ASSERT_FALSE(resources.empty());
  EXPECT_TRUE(std::any_of(
      resources.begin(), resources.end(), [](const UcxResource& resource) {
        return resource.transport == "self" || resource.transport == "tcp";
      }));
  for (const UcxResource& resource : resources) {
    EXPECT_FALSE(resource.transport.empty());
    EXPECT_FALSE(resource.device_kind.empty());
  }
}

}  // namespace
}  // namespace rondo::perf
