// rondo: the command line of Rondo. Every subcommand lives in a folder of its
// own; this file only puts them together.
#include <string>
#include <vector>

#include "perf/bench/collective_benchmark.h"
#include "perf/cli/command.h"
#include "perf/info/info_command.h"
#include "perf/net/net_command.h"
#include "perf/plan/plan_command.h"
#include "perf/plugin_check/plugin_check_command.h"
#include "perf/step/step_command.h"
#include "perf/train/train_command.h"

int main(int argc, char** argv) {
  rondo::perf::Commands commands;
  CLI::App* perf = commands.AddGroup(
      "perf", "measure one collective, the optimizer step or a net plugin");
  rondo::perf::AddCollectiveCommands(perf, &commands);
  rondo::perf::AddStepCommand(perf, &commands);
  rondo::perf::AddNetCommand(perf, &commands);
  rondo::perf::AddTrainCommand(&commands);
  rondo::perf::AddPlanCommand(&commands);
  rondo::perf::AddInfoCommand(&commands);
  rondo::perf::AddPluginCheckCommand(&commands);

  rondo::perf::Invocation invocation;
  invocation.arguments = std::vector<std::string>(argv + 1, argv + argc);
  invocation.environment = rondo::EnvironmentReader::FromProcess();
  return commands.Run(invocation);
}
