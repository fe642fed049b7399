// `rondo train`: a small character model, trained by several processes with its
// optimizer state sharded. The work is in optimizer/examples/train.h; this is
// its command line.
//
// Thread-safety: one thread. Failure: an ExitStatus, with the reason on stderr.
//
// Example:
//   AddTrainCommand(&commands);
#pragma once

#include "CLI/CLI.hpp"
#include "optimizer/examples/train.h"
#include "perf/cli/command.h"

namespace rondo::perf {

void AddTrainCommand(Commands* commands);

struct TrainCommandOptions {
  int local_ranks = 0;
  TrainOptions train;
};

// The options alone; `options` must outlive the app.
void AddTrainCommandOptions(CLI::App* app, TrainCommandOptions* options);

}  // namespace rondo::perf
