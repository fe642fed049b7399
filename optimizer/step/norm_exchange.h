// The global norm of what the ranks have summed.
//
// Thread-safety: one thread at a time per communicator. Ownership: none.
// Failure: that of the exchange.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(const double squared,
//                          SumOverRanks(comm, own_squares));
#pragma once

#include "collectives/communicator.h"
#include "optimizer/kernels/exact_sum.h"
#include "transports/base/status.h"

namespace rondo {

// The exact sum of all ranks' sums, rounded once: the same bits on every rank.
// Infinity or NaN where one of the numbers was. Collective, one small
// all-gather.
Result<double> SumOverRanks(Communicator* communicator, const ExactSum& own);

// What gradients of this norm are multiplied with, so that it does not exceed
// `max_norm`: max_norm / (norm + 1e-6), at most 1, as PyTorch's
// clip_grad_norm_ has it; 1 where `max_norm` is 0.
double ClipCoefficient(double norm, double max_norm);

}  // namespace rondo
