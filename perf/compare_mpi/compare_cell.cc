#include "perf/compare_mpi/compare_cell.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "perf/bench/gather.h"
#include "perf/bench/workload.h"
#include "perf/compare_mpi/worst_rank.h"

namespace rondo::perf {
namespace {

// One of the ways to do the same thing.
struct Contender {
  std::string name;
  std::function<Status()> call;
  bool result_in_first_block = false;
  int calls = 0;  // per measurement
  std::vector<double> times_us;
};

// The pointers of a call as MPI wants them.
struct MpiPointers {
  const float* input;  // null in place
  float* output;
};

MpiPointers PointersFor(const CollectiveCall& call, bool in_place, int rank) {
  auto* output = static_cast<float*>(call.output);
  if (!in_place) return {static_cast<const float*>(call.input), output};
  // An in-place reduce-scatter of NCCL's points at the own block; MPI's works
  // on all of them.
  const bool scatter = call.collective == Collective::kReduceScatter;
  return {nullptr, scatter ? output - call.count * rank : output};
}

std::vector<Contender> MakeContenders(const CollectiveCall& call, bool in_place,
                                      Communicator* communicator,
                                      MpiLibrary* mpi) {
  std::vector<Contender> contenders;
  contenders.push_back(
      {"rondo", [=] { return communicator->Run(call); }, false, 0, {}});
  const auto [input, output] = PointersFor(call, in_place, mpi->rank());
  const size_t count = call.count;
  const auto add = [&, input = input, output = output](
                       const char* name, auto function, bool first_block) {
    const auto run = [=] { return (mpi->*function)(input, output, count); };
    contenders.push_back({name, run, first_block, 0, {}});
  };
  if (call.collective == Collective::kAllGather) {
    add("MPI_Allgather", &MpiLibrary::AllGather, false);
  } else {
    add("MPI_Reduce_scatter", &MpiLibrary::ReduceScatter, in_place);
    add("MPI_Reduce_scatter_block", &MpiLibrary::ReduceScatterBlock, in_place);
  }
  return contenders;
}

// Wrong elements on all ranks together, after one call of each contender.
Result<int64_t> Check(const CollectiveCall& call, bool in_place, uint64_t seed,
                      const std::vector<Contender>& contenders, MpiLibrary* mpi,
                      Workload* workload) {
  int64_t wrong = 0;
  for (const Contender& contender : contenders) {
    workload->Fill(in_place, seed);
    RONDO_RETURN_IF_ERROR(contender.call());
    if (contender.result_in_first_block) {
      auto* own = static_cast<float*>(call.output);
      std::memmove(own, own - call.count * mpi->rank(),
                   call.count * sizeof(float));
      wrong += workload->CountWrongOutput(in_place, seed);
    } else {
      wrong += workload->CountWrong(in_place, seed);
    }
    ++seed;
  }
  return mpi->Sum(wrong);
}

Status TakeTurns(int alternations, MpiLibrary* mpi,
                 const std::function<Status()>& sample_limit,
                 std::vector<Contender>* contenders) {
  for (Contender& contender : *contenders) {
    RONDO_ASSIGN_OR_RETURN(contender.calls,
                           CallsPerMeasurement(mpi, contender.call));
  }
  for (int turn = 0; turn < alternations; ++turn) {
    for (Contender& contender : *contenders) {
      // What the others left in the caches is not this one's doing.
      RONDO_RETURN_IF_ERROR(contender.call());
      RONDO_ASSIGN_OR_RETURN(const double us,
                             WorstRankUs(mpi, contender.calls, contender.call));
      contender.times_us.push_back(us);
    }
    RONDO_RETURN_IF_ERROR(sample_limit());
  }
  return Status::Ok();
}

}  // namespace

Result<CellResult> CompareCell(const Cell& cell, int alternations,
                               uint64_t seed, Communicator* communicator,
                               MpiLibrary* mpi, MemoryLoops* loops) {
  WorkloadSpec spec;
  spec.collective = cell.collective;
  spec.count = cell.count;
  spec.buffers = cell.buffers;
  Result<Workload> workload =
      Workload::Create(spec, communicator->rank(), communicator->world_size());
  RONDO_RETURN_IF_ERROR(Agree(communicator, workload.status()));
  const CollectiveCall call = workload->Call(cell.in_place);
  std::vector<Contender> contenders =
      MakeContenders(call, cell.in_place, communicator, mpi);

  CellResult result;
  result.cell = cell;
  result.bytes = workload->total_bytes();
  result.alternations = alternations;
  RONDO_ASSIGN_OR_RETURN(result.wrong, Check(call, cell.in_place, seed,
                                             contenders, mpi, &*workload));
  std::vector<double> limits_gbs;
  const auto sample_limit = [&]() -> Status {
    if (loops == nullptr || !IsMemoryBound(result.bytes)) return Status::Ok();
    RONDO_ASSIGN_OR_RETURN(const double gbs, loops->Sample(cell.collective));
    limits_gbs.push_back(gbs);
    return Status::Ok();
  };
  RONDO_RETURN_IF_ERROR(
      TakeTurns(alternations, mpi, sample_limit, &contenders));
  result.rondo_us = Median(contenders[0].times_us);
  for (size_t i = 1; i < contenders.size(); ++i) {
    const double us = Median(contenders[i].times_us);
    if (i > 1 && us >= result.mpi_us) continue;
    result.mpi_us = us;
    result.mpi_call = contenders[i].name;
  }
  result.limit_fraction =
      LimitFraction(Median(limits_gbs), cell.collective, result.bytes,
                    mpi->size(), cell.in_place, result.rondo_us);
  return result;
}

}  // namespace rondo::perf
