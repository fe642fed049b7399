// Train: a character model trained with a sharded optimizer, from text to
// samples. It is a whole use of ShardedOptimizer that can be read in one
// sitting; `rondo train` is a command line around it.
//
// Every rank holds the model, computes gradients on its slice of the global
// batch, and takes part in one sharded step. Which samples a step sees depends
// on the seed and the step alone, and each sample weighs 1 / global_batch on
// whatever rank it falls, so that any number of ranks trains the same model:
// the losses agree within rounding. The learning rate falls in a straight line
// to a tenth of its first value.
//
// Thread-safety: one thread at a time. Ownership: the communicator stays the
// caller's. Failure: a bad option, unreadable text or a difference between the
// ranks is an error on every rank, that names option, value and rank; so is a
// rank that dies on the way.
//
// Example (every rank):
//   TrainOptions options;
//   options.steps = 500;
//   RONDO_ASSIGN_OR_RETURN(TrainResult result, Train(comm, options));
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "collectives/communicator.h"
#include "collectives/kernels/data_type.h"
#include "optimizer/sharded_optimizer.h"
#include "transports/base/status.h"

namespace rondo {

struct TrainOptions {
  int steps = 200;
  int global_batch = 128;  // samples of a step, over all ranks
  double learning_rate = 0.01;
  double weight_decay = 0.01;
  double max_norm = 0;  // gradients are clipped to it; 0: not
  // How a step moves its data; the losses are the same bits.
  StepSchedule schedule = StepSchedule::kFused;
  int context = 8;     // characters the model sees
  int embedding = 16;  // numbers per character
  int hidden = 128;    // units of the hidden layer
  uint64_t seed = 1;
  DataType gradient_type = DataType::kFloat32;
  DataType parameter_type = DataType::kFloat32;
  std::string corpus_path;  // empty: the text that LoadCorpus() finds
  std::string svg_path;     // loss curve, written by rank 0; empty: none
  std::string json_path;    // the result, written by rank 0; empty: none
  bool quiet = false;       // rank 0 prints nothing
};

// What the run holds on one rank. Padding is part of every class, and stated
// again.
struct TrainBytes {
  uint64_t parameters = 0;
  uint64_t gradients = 0;
  uint64_t master = 0;
  uint64_t moments = 0;
  uint64_t scratch = 0;
  uint64_t padding = 0;

  uint64_t Total() const {
    return parameters + gradients + master + moments + scratch;
  }
};

struct TrainResult {
  int ranks = 0;
  size_t parameters = 0;          // elements of the model
  std::string corpus;             // where the text came from
  std::vector<double> losses;     // mean over the global batch, of every step
  int skipped_steps = 0;          // a gradient was not finite
  double seconds = 0;             // of all steps
  double tokens_per_s = 0;        // characters predicted, over all ranks
  std::vector<TrainBytes> bytes;  // of every rank
  std::string sample;             // text that the trained model wrote
};

// Collective: every rank calls it with the same options. `svg_path`,
// `json_path` and `quiet` matter on rank 0 only.
Result<TrainResult> Train(Communicator* communicator,
                          const TrainOptions& options);

}  // namespace rondo
