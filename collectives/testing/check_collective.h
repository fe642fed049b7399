// Runs one collective on this rank and says what is wrong with its result:
// every element against exact data, what lies behind the output, and that the
// input is as it was.
//
// Every rank of the communicator calls the same function with the same case,
// but for the fields that may differ between ranks.
//
// Thread-safety: one call per communicator at a time. Failure: returned as
// text, so that processes without a test framework can use it too.
//
// Example:
//   EXPECT_EQ(WrongAllGather(comm, {.counts = {3, 0, 7}}), "");
#pragma once

#include <string>
#include <vector>

#include "collectives/communicator.h"
#include "collectives/kernels/data_type.h"

namespace rondo {

struct CollectiveCase {
  DataType type = DataType::kFloat32;
  Reduction reduction = Reduction::kSum;
  std::vector<size_t> counts;  // of each rank's block
  bool in_place = false;
  // These may differ between ranks.
  size_t misalignment = 0;  // bytes
  bool symmetric_input = false;
  bool symmetric_output = false;

  std::string Text() const;
};

// Equal blocks.
std::vector<size_t> EvenCounts(int ranks, size_t count);

std::string WrongAllGather(Communicator& comm, const CollectiveCase& c);
std::string WrongReduceScatter(Communicator& comm, const CollectiveCase& c);

}  // namespace rondo
