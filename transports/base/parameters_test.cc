#include "transports/base/parameters.h"

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <set>

#include "gtest/gtest.h"

namespace rondo {
namespace {

Result<Parameters> LoadWith(std::map<std::string, std::string> variables) {
  return Parameters::Load(EnvironmentReader(std::move(variables)));
}

std::string LoadError(std::map<std::string, std::string> variables) {
  const Result<Parameters> parameters = LoadWith(std::move(variables));
  EXPECT_FALSE(parameters.ok());
  EXPECT_EQ(parameters.status().code(), Code::kInvalidArgument);
  return parameters.status().message();
}

std::string WriteConf(const std::string& text) {
  const std::string path = testing::TempDir() + "/rondo.conf";
  std::ofstream(path) << text;
  return path;
}

TEST(ParametersTest, WithoutAnySettingEveryValueIsItsDefault) {
  const auto parameters = LoadWith({});
  ASSERT_TRUE(parameters.ok());
  EXPECT_EQ(parameters->debug, "warn");
  EXPECT_EQ(parameters->rank, -1);
  EXPECT_EQ(parameters->peer_timeout_ms, 3000);
  EXPECT_EQ(parameters->chunk_bytes, 262'144);
  EXPECT_FALSE(parameters->progress_thread);
  EXPECT_TRUE(parameters->net_devices.empty());
  for (const ParameterInfo& info : parameters->Describe()) {
    EXPECT_EQ(info.value, info.default_text) << info.name;
    EXPECT_EQ(info.source, "default") << info.name;
  }
  EXPECT_TRUE(parameters->warnings().empty());
}

TEST(ParametersTest, TheEnvironmentSetsEveryType) {
  const auto parameters = LoadWith({{"RONDO_DEBUG", "INFO"},
                                    {"RONDO_PROGRESS_THREAD", "y"},
                                    {"RONDO_TIMEOUT_MS", "5000"},
                                    {"RONDO_CHUNK_BYTES", "1Mi"},
                                    {"RONDO_NET_DEVICES", "mlx5_0:1,mlx5_1:1"},
                                    {"RONDO_ROOT", "node0:9000"},
                                    {"PATH", "/bin"}});
  ASSERT_TRUE(parameters.ok()) << parameters.status().ToString();
  EXPECT_EQ(parameters->debug, "info");
  EXPECT_TRUE(parameters->progress_thread);
  EXPECT_EQ(parameters->timeout_ms, 5000);
  EXPECT_EQ(parameters->chunk_bytes, 1 << 20);
  EXPECT_EQ(parameters->net_devices.size(), 2u);
  EXPECT_EQ(parameters->root, "node0:9000");
  EXPECT_EQ(parameters->SourceOf("RONDO_ROOT"), "environment");
  EXPECT_EQ(parameters->SourceOf("RONDO_FAULT"), "default");
  EXPECT_TRUE(parameters->warnings().empty());
}

TEST(ParametersTest, TheEnvironmentBeatsTheFileAndTheFileTheDefault) {
  const std::string path =
      WriteConf("# site\nRONDO_TIMEOUT_MS=111\nHEARTBEAT_MS = 55\n");
  const auto parameters =
      LoadWith({{"RONDO_CONF_FILE", path}, {"RONDO_TIMEOUT_MS", "222"}});
  ASSERT_TRUE(parameters.ok()) << parameters.status().ToString();
  EXPECT_EQ(parameters->timeout_ms, 222);
  EXPECT_EQ(parameters->heartbeat_ms, 55);
  EXPECT_EQ(parameters->bootstrap_timeout_ms, 60'000);
  EXPECT_EQ(parameters->SourceOf("RONDO_TIMEOUT_MS"), "environment");
  EXPECT_EQ(parameters->SourceOf("RONDO_HEARTBEAT_MS"), "file " + path);
  EXPECT_EQ(parameters->SourceOf("RONDO_BOOTSTRAP_TIMEOUT_MS"), "default");
  EXPECT_EQ(parameters->SourceOf("RONDO_CONF_FILE"), "environment");
}

TEST(ParametersTest, AValueThatEqualsItsDefaultStillRemembersItsSource) {
  const auto parameters = LoadWith({{"RONDO_DEBUG", "warn"}});
  EXPECT_EQ(parameters->SourceOf("RONDO_DEBUG"), "environment");
}

TEST(ParametersTest, ABadValueIsRefusedWithNameTextSourceAndAccepted) {
  EXPECT_EQ(LoadError({{"RONDO_RANK", "two"}}),
            "RONDO_RANK (environment): 'two' is refused; accepted is a whole "
            "number from 0 to 1048575, or -1");
  EXPECT_NE(LoadError({{"RONDO_WORLD_SIZE", "0"}}).find("from 1"),
            std::string::npos);
  EXPECT_NE(LoadError({{"RONDO_DEBUG_SUBSYS", "NETT"}}).find("BOOTSTRAP"),
            std::string::npos);
  EXPECT_NE(
      LoadError({{"RONDO_ALGO", ""}}).find("auto, direct, staged or ring"),
      std::string::npos);
}

TEST(ParametersTest, ABadValueInTheFileIsRefusedWithItsLine) {
  const std::string path = WriteConf("\nDEBUG=loud\n");
  const std::string message = LoadError({{"RONDO_CONF_FILE", path}});
  EXPECT_NE(message.find(path + ", line 2: RONDO_DEBUG (file " + path +
                         "): 'loud' is refused"),
            std::string::npos)
      << message;
}

TEST(ParametersTest, ABadValueInTheFileIsRefusedEvenWhenOverridden) {
  const std::string path = WriteConf("DEBUG=loud\n");
  LoadError({{"RONDO_CONF_FILE", path}, {"RONDO_DEBUG", "info"}});
}

TEST(ParametersTest, AFileThatIsAbsentOrNamesAnotherIsRefused) {
  const auto absent = LoadWith({{"RONDO_CONF_FILE", "/absent/rondo.conf"}});
  EXPECT_EQ(absent.status().code(), Code::kSystem);
  EXPECT_NE(absent.status().message().find("RONDO_CONF_FILE"),
            std::string::npos);
  EXPECT_NE(absent.status().message().find("/absent/rondo.conf"),
            std::string::npos);
  const std::string path = WriteConf("CONF_FILE=/other\n");
  EXPECT_NE(LoadError({{"RONDO_CONF_FILE", path}}).find("line 1"),
            std::string::npos);
}

TEST(ParametersTest, UnknownNamesAreWarnedAboutWithASuggestion) {
  const std::string path = WriteConf("TIMEOUT=1\nDEBG=info\n");
  const auto parameters = LoadWith({{"RONDO_CONF_FILE", path},
                                    {"RONDO_CHUNK_BYTE", "4"},
                                    {"RONDO_PURPLE_UNICORN", "1"},
                                    {"RONDOLET", "1"}});
  ASSERT_TRUE(parameters.ok());
  ASSERT_EQ(parameters->warnings().size(), 4u);
  EXPECT_EQ(parameters->warnings()[0], "unknown parameter RONDO_TIMEOUT in " +
                                           ("file " + path) +
                                           ", line 1 is ignored; did you mean "
                                           "RONDO_TIMEOUT_MS?");
  EXPECT_NE(parameters->warnings()[1].find("did you mean RONDO_DEBUG?"),
            std::string::npos);
  EXPECT_EQ(parameters->warnings()[2],
            "unknown parameter RONDO_CHUNK_BYTE in the environment is ignored; "
            "did you mean RONDO_CHUNK_BYTES?");
  EXPECT_EQ(parameters->warnings()[3],
            "unknown parameter RONDO_PURPLE_UNICORN in the environment is "
            "ignored");
}

TEST(ParametersTest, SetLaysAnOptionOverTheRest) {
  auto parameters = LoadWith({{"RONDO_TIMEOUT_MS", "222"}});
  ASSERT_TRUE(parameters.ok());
  EXPECT_TRUE(parameters->Set("TIMEOUT_MS", "9", "option --timeout-ms").ok());
  EXPECT_EQ(parameters->timeout_ms, 9);
  EXPECT_EQ(parameters->SourceOf("RONDO_TIMEOUT_MS"), "option --timeout-ms");
  const Status bad = parameters->Set("TIMEOUT_MS", "0", "option --timeout-ms");
  EXPECT_NE(bad.message().find("option --timeout-ms"), std::string::npos);
  EXPECT_EQ(parameters->timeout_ms, 9);
  EXPECT_NE(parameters->Set("TIMEOUTMS", "1", "x")
                .message()
                .find("did you mean RONDO_TIMEOUT_MS?"),
            std::string::npos);
}

TEST(ParametersTest, APeerTimeoutNotAboveTheHeartbeatIsRefused) {
  const std::string message = LoadError({{"RONDO_PEER_TIMEOUT_MS", "100"}});
  EXPECT_NE(message.find("RONDO_PEER_TIMEOUT_MS is 100 (environment)"),
            std::string::npos);
  EXPECT_NE(message.find("RONDO_HEARTBEAT_MS is 200 (default)"),
            std::string::npos);
  EXPECT_TRUE(
      LoadWith({{"RONDO_PEER_TIMEOUT_MS", "100"}, {"RONDO_HEARTBEAT_MS", "20"}})
          .ok());
}

TEST(ParametersTest, EveryRowIsDocumentedUniqueAndAcceptsItsOwnDefault) {
  std::set<std::string> names;
  for (const ParameterInfo& info : Parameters().Describe()) {
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    EXPECT_EQ(info.name.rfind("RONDO_", 0), 0u) << info.name;
    EXPECT_GT(info.documentation.size(), 20u) << info.name;
    EXPECT_EQ(info.documentation.back(), '.') << info.name;
    EXPECT_NE(info.accepted, "") << info.name;
    Parameters parameters;
    EXPECT_TRUE(parameters.Set(info.name, info.default_text, "test").ok())
        << info.name << " refuses its default " << info.default_text;
  }
  EXPECT_GE(names.size(), 25u);
}

TEST(ParametersTest, OnlyFaultAndTraceAreForDebugging) {
  std::set<std::string> debug_names;
  for (const ParameterInfo& info : Parameters().Describe()) {
    if (info.parameter_class == ParameterClass::kDebug) {
      debug_names.insert(info.name);
    }
  }
  EXPECT_EQ(debug_names,
            (std::set<std::string>{"RONDO_FAULT", "RONDO_TRACE_FILE"}));
}

TEST(ParametersTest, LoadFromProcessReadsTheRealEnvironment) {
  ASSERT_EQ(setenv("RONDO_HOSTID", "a-host", 1), 0);
  const auto parameters = Parameters::LoadFromProcess();
  ASSERT_EQ(unsetenv("RONDO_HOSTID"), 0);
  ASSERT_TRUE(parameters.ok());
  EXPECT_EQ(parameters->hostid, "a-host");
}

}  // namespace
}  // namespace rondo
