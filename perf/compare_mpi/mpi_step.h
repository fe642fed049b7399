// The collectives of an MPI library for a step of separate passes.
//
// MPI sums in the type that it is given and knows no 16-bit floating point, so
// gradients of less than fp32 are widened by every rank before they are
// reduced, as a user of MPI has to. Parameters are gathered in place, as
// integers of their size.
//
// Thread-safety: as the library. Ownership: the functions share memory for
// widened gradients, and refer to the library, which must outlive them.
// Failure: MPI's errors; a bucket that MPI cannot count is kInvalidArgument.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(
//       StepCollectives collectives,
//       MpiCollectives(&mpi, benchmark->layout(), DataType::kFloat32,
//                      MpiReduce::kReduceScatter));
#pragma once

#include "collectives/kernels/data_type.h"
#include "optimizer/layout/model_layout.h"
#include "perf/compare_mpi/mpi_library.h"
#include "perf/step/separate_step.h"
#include "transports/base/status.h"

namespace rondo::perf {

enum class MpiReduce { kReduceScatter, kReduceScatterBlock };

Result<StepCollectives> MpiCollectives(MpiLibrary* mpi,
                                       const ModelLayout& layout,
                                       DataType gradient_type,
                                       MpiReduce reduce);

}  // namespace rondo::perf
