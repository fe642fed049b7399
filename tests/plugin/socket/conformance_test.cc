// The conformance driver passes a correct plugin and finds every seeded fault.
#include "plugin/check/conformance.h"

#include <algorithm>
#include <set>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "plugin/abi/net_types.h"
#include "tests/plugin/socket/faults.h"

namespace rondo::plugin {
namespace {

using bad_plugin::kDevicesVariable;
using bad_plugin::kFaults;
using bad_plugin::kFaultVariable;
using bad_plugin::NamedFault;

constexpr char kPlugin[] = "tests/plugin/socket/libbad_plugin.so";
constexpr int kNewest = 12;

ConformanceOptions Options() {
  ConformanceOptions options;
  options.path = kPlugin;
  options.failing_environment = std::string(kDevicesVariable) + "=no_such";
  return options;
}

ConformanceOptions WithFault(const std::string& name) {
  ConformanceOptions options = Options();
  options.version = kNewest;
  options.environment = {std::string(kFaultVariable) + "=" + name};
  return options;
}

std::set<std::string> AllNames() {
  std::set<std::string> names;
  for (const Check& check : AllChecks()) names.insert(check.name);
  return names;
}

class CorrectPluginTest : public testing::TestWithParam<int> {};

TEST_P(CorrectPluginTest, PassesEveryCheck) {
  ConformanceOptions options = Options();
  options.version = GetParam();
  const auto rows = RunConformance(options);
  ASSERT_TRUE(rows.ok()) << rows.status().ToString();
  EXPECT_EQ((*rows).size(), AllChecks().size());
  for (const ConformanceRow& row : *rows) {
    EXPECT_EQ(row.version, GetParam());
    EXPECT_EQ(row.outcome, Outcome::kPassed) << row.check << ": " << row.detail;
  }
}

INSTANTIATE_TEST_SUITE_P(Versions, CorrectPluginTest,
                         testing::Values(8, 9, 10, 11, 12),
                         testing::PrintToStringParamName());

class SeededFaultTest : public testing::TestWithParam<NamedFault> {};

TEST_P(SeededFaultTest, IsFoundByItsCheck) {
  const NamedFault& fault = GetParam();
  ConformanceOptions options = WithFault(fault.name);
  options.checks = {fault.check};
  const auto rows = RunConformance(options);
  ASSERT_TRUE(rows.ok()) << rows.status().ToString();
  ASSERT_EQ((*rows).size(), 1U);
  const ConformanceRow& row = (*rows)[0];
  EXPECT_EQ(row.check, fault.check);
  EXPECT_EQ(row.outcome, Outcome::kFailed)
      << fault.check << " does not find " << fault.name;
  EXPECT_FALSE(row.detail.empty());
  // Whoever reads the log sees what an author would be told.
  RecordProperty("detail", row.detail);
  std::printf("%s: %s\n", fault.check, row.detail.c_str());
}

INSTANTIATE_TEST_SUITE_P(Faults, SeededFaultTest, testing::ValuesIn(kFaults),
                         [](const auto& info) {
                           std::string name = info.param.name;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// A check that no fault can fail proves nothing.
TEST(SeededFaultsTest, LeaveNoCheckUntested) {
  std::set<std::string> failing;
  for (const NamedFault& fault : kFaults) failing.insert(fault.check);
  EXPECT_EQ(failing, AllNames());
}

TEST(SeededFaultsTest, AFaultThatDoesNotExistFailsInit) {
  ConformanceOptions options = WithFault("no-such-fault");
  options.checks = {"sizes"};
  const auto rows = RunConformance(options);
  ASSERT_TRUE(rows.ok()) << rows.status().ToString();
  EXPECT_EQ((*rows)[0].outcome, Outcome::kFailed);
  EXPECT_THAT((*rows)[0].detail, testing::HasSubstr("names no fault"));
}

TEST(ConformanceTest, SkipsAFailingInitThatNobodyKnowsHowToCause) {
  ConformanceOptions options = Options();
  options.version = kNewest;
  options.failing_environment.clear();
  options.checks = {"failed-init"};
  const auto rows = RunConformance(options);
  ASSERT_TRUE(rows.ok()) << rows.status().ToString();
  EXPECT_EQ((*rows)[0].outcome, Outcome::kSkipped);
  EXPECT_THAT((*rows)[0].detail, testing::HasSubstr("--failing-env"));
}

TEST(ConformanceTest, RefusesWhatItCannotRun) {
  ConformanceOptions unknown_check = Options();
  unknown_check.checks = {"no-such-check"};
  EXPECT_FALSE(RunConformance(unknown_check).ok());
  ConformanceOptions unknown_version = Options();
  unknown_version.version = 7;
  EXPECT_FALSE(RunConformance(unknown_version).ok());
  ConformanceOptions no_plugin = Options();
  no_plugin.path = "tests/plugin/socket/no_such_plugin.so";
  EXPECT_FALSE(RunConformance(no_plugin).ok());
  ConformanceOptions no_setting = Options();
  no_setting.environment = {"NOT_A_SETTING"};
  EXPECT_FALSE(RunConformance(no_setting).ok());
}

}  // namespace
}  // namespace rondo::plugin
