// One rank of a job that runs optimizer steps and prints what they gave.
//
//   steps GRADIENTS PARAMETERS TYPE [denied]
//
// TYPE is that of the gradients: "float" or "half", whose gradients are so
// large that a sum of three does not fit one. GRADIENTS and PARAMETERS say
// where the flat buffers lie: "user", "symmetric", or "mixed": symmetric on
// even ranks only. "denied" first forbids this process to read another's
// memory, as a container does. Prints "bits HASH" of the parameters, the fp32
// state and the norms after some steps, clipped and not, then "done"; or
// "problem ...". Exit status: 0, 1, or 2 for wrong arguments.

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "collectives/communicator.h"
#include "collectives/kernels/convert.h"
#include "collectives/symmetric_buffer.h"
#include "fmt/format.h"
#include "optimizer/agreement/agreement.h"
#include "optimizer/kernels/adam_rule.h"
#include "optimizer/sharded_optimizer.h"
#include "tests/multi_process/deny_reading.h"

namespace rondo {
namespace {

constexpr int kSteps = 4;

int Say(const std::string& line, int exit_status) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
  return exit_status;
}

// One flat buffer, wherever it was asked for.
class Memory {
 public:
  Status Allocate(size_t bytes, const std::string& where, int rank) {
    const bool symmetric =
        where == "symmetric" || (where == "mixed" && rank % 2 == 0);
    if (!symmetric) {
      own_.resize(bytes + 4);
      data_ = own_.data() + 4;  // no better aligned than floats are
      return Status::Ok();
    }
    RONDO_ASSIGN_OR_RETURN(symmetric_, SymmetricBuffer::Allocate(bytes));
    data_ = static_cast<char*>(symmetric_.data());
    return Status::Ok();
  }
  char* data() { return data_; }

 private:
  std::vector<char> own_;
  SymmetricBuffer symmetric_;
  char* data_ = nullptr;
};

ShardedOptimizerOptions Options() {
  ShardedOptimizerOptions options;
  options.parameters = {
      {.name = "a", .shape = {701, 301}, .type = DataType::kBfloat16},
      {.name = "b", .shape = {5003}, .type = DataType::kBfloat16, .group = 1},
      {.name = "c", .shape = {7}, .type = DataType::kFloat32}};
  options.bucket_count_target = 100'000;
  return options;
}

// Numbers whose sums round, the same on every machine.
float Gradient(size_t i, int step, int rank) {
  const auto mixed =
      static_cast<uint32_t>(i * 2654435761u + step * 40503u + rank * 69069u);
  return static_cast<float>(static_cast<int32_t>(mixed)) * 1.1e-10f;
}

Result<std::string> RunSteps(Communicator* comm, const std::string& where_from,
                             const std::string& where_to,
                             DataType gradients_of) {
  ShardedOptimizerOptions options = Options();
  options.gradient_type = gradients_of;
  RONDO_ASSIGN_OR_RETURN(const ModelLayout layout,
                         ShardedOptimizer::LayoutFor(*comm, options));
  Memory gradients, parameters;
  const bool half = options.gradient_type == DataType::kFloat16;
  RONDO_RETURN_IF_ERROR(gradients.Allocate(
      layout.gradient_count() * ElementSize(options.gradient_type), where_from,
      comm->rank()));
  RONDO_RETURN_IF_ERROR(
      parameters.Allocate(layout.parameter_bytes(), where_to, comm->rank()));
  std::memset(parameters.data(), 0, layout.parameter_bytes());
  RONDO_ASSIGN_OR_RETURN(auto rule,
                         AdamRule::Create({{}, {.weight_decay = 0}}));
  RONDO_ASSIGN_OR_RETURN(const auto optimizer,
                         ShardedOptimizer::Create(comm, std::move(rule),
                                                  options, parameters.data()));
  uint64_t hash = 0;
  for (int step = 1; step <= kSteps; ++step) {
    std::vector<float> values(layout.gradient_count());
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] = half ? 40'000 : Gradient(i, step, comm->rank());
    }
    RONDO_RETURN_IF_ERROR(ConvertElements(DataType::kFloat32, values.data(),
                                          options.gradient_type,
                                          gradients.data(), values.size()));
    RONDO_ASSIGN_OR_RETURN(
        const StepResult result,
        optimizer->Step(gradients.data(), parameters.data(),
                        {.max_norm = half || step % 2 == 0 ? 1.0 : 0.0}));
    hash = Fingerprint(&result.norm, sizeof(result.norm), hash);
  }
  for (size_t i = 0; i < options.parameters.size(); ++i) {
    const size_t bytes =
        options.parameters[i].count() * ElementSize(options.parameters[i].type);
    const PlacedPiece place = layout.PlaceOf(static_cast<int>(i));
    hash = Fingerprint(parameters.data() + place.parameter_offset_bytes, bytes,
                       hash);
  }
  // Shards differ between ranks: all of them, in rank order.
  const uint64_t own =
      Fingerprint(optimizer->master().data(), optimizer->master().size_bytes());
  std::vector<uint64_t> all(comm->world_size());
  RONDO_RETURN_IF_ERROR(
      comm->AllGather(&own, all.data(), 1, DataType::kUint64));
  hash = Fingerprint(all.data(), all.size() * sizeof(uint64_t), hash);
  return fmt::format("bits {:016x}", hash);
}

int Main(int argc, char** argv) {
  if (argc < 4)
    return Say("usage: steps GRADIENTS PARAMETERS TYPE [denied]", 2);
  if (argc > 4 && !testing::DenyReadingOthers()) {
    return Say("no seccomp here", 1);
  }
  auto comm = Communicator::FromEnvironment();
  if (!comm.ok()) return Say("problem " + comm.status().ToString(), 1);
  const Result<std::string> bits = RunSteps(
      comm->get(), argv[1], argv[2],
      std::string(argv[3]) == "half" ? DataType::kFloat16 : DataType::kFloat32);
  if (!bits.ok()) return Say("problem " + bits.status().ToString(), 1);
  Say(*bits, 0);
  const CommunicatorCounters counters = (*comm)->counters();
  Say(fmt::format("read {}", counters.peer_bytes_read), 0);
  return Say("done", 0);
}

}  // namespace
}  // namespace rondo

int main(int argc, char** argv) { return rondo::Main(argc, argv); }
