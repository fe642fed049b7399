// MpiLibrary: the few calls of MPI that a comparison needs, without mpi.h.
//
// mpi_library.cc is compiled once with each MPI library; a program links one of
// them, because all MPI libraries define the same symbols. Everything else is
// compiled once and knows only this header.
//
// Thread-safety: one thread, the one that called Init(). Ownership: the object
// is this process's use of MPI, which can begin only once; Finalize() ends it.
// Failure: an error carries MPI's own text. MPI's waits have no deadline, so a
// rank that fails must call Abort(), which ends all ranks.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(MpiLibrary mpi, MpiLibrary::Init());
//   RONDO_RETURN_IF_ERROR(mpi.AllGather(shard, all, count));
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "perf/compare_mpi/mpi_flavor.h"
#include "transports/base/status.h"

namespace rondo::perf {

class MpiLibrary {
 public:
  // Whether the library was there when this program was built; Init() is
  // kNotSupported when not.
  static bool Built();
  static MpiFlavor Flavor();
  static Result<MpiLibrary> Init();

  int rank() const { return rank_; }
  int size() const { return size_; }
  // "Open MPI v4.1.4, package: ...": the first line of what it says.
  std::string VersionText() const;

  // Floats, `count` of them per rank. A null `input` is MPI_IN_PLACE: then an
  // all-gather's own block is where it belongs in `output`, and a
  // reduce-scatter reads all blocks from `output` and leaves its result in the
  // first one.
  Status AllGather(const float* input, float* output, size_t count);
  Status ReduceScatter(const float* input, float* output, size_t count);
  Status ReduceScatterBlock(const float* input, float* output, size_t count);
  // Elements of 2 or 4 bytes, whatever they mean; the own block is where it
  // belongs.
  Status AllGatherInPlace(void* output, size_t element_bytes, size_t count);

  Status Barrier();
  Status BroadcastBytes(void* data, size_t bytes);  // from rank 0
  Result<double> Max(double mine);
  Result<int64_t> Sum(int64_t mine);

  Status Finalize();
  // Ends every rank, this one with `exit_status`. Does not return.
  void Abort(int exit_status);

 private:
  MpiLibrary() = default;

  int rank_ = 0;
  int size_ = 1;
  std::vector<int> counts_;  // MPI_Reduce_scatter's, one per rank
};

}  // namespace rondo::perf
