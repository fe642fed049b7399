// Gathering the benchmark's own facts (times, counts of wrong elements, host
// names) over the control channel: a benchmark must count wrong elements
// truthfully also on a transport that corrupts what it carries.
//
// Thread-safety: as the communicator. Failure: the communicator's errors.
// Collective: every rank calls the same function in the same order.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(std::vector<int64_t> wrong,
//                          GatherValues(communicator, my_wrong));
#pragma once

#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "collectives/communicator.h"
#include "transports/base/status.h"

namespace rondo::perf {

// Every rank's record, indexed by rank. All records have the same size.
Result<std::vector<std::string>> GatherRecords(Communicator* communicator,
                                               std::string_view mine);

// The same for plain values without padding that matters.
template <typename T>
Result<std::vector<T>> GatherValues(Communicator* communicator, const T& mine) {
  static_assert(std::is_trivially_copyable_v<T>);
  const std::string_view bytes(reinterpret_cast<const char*>(&mine), sizeof(T));
  RONDO_ASSIGN_OR_RETURN(const std::vector<std::string> records,
                         GatherRecords(communicator, bytes));
  std::vector<T> values(records.size());
  for (size_t rank = 0; rank < records.size(); ++rank) {
    std::memcpy(&values[rank], records[rank].data(), sizeof(T));
  }
  return values;
}

// Ok when `mine` is ok on every rank: then all go on together. Otherwise this
// rank's own error, or kAborted naming the lowest rank that has one.
Status Agree(Communicator* communicator, const Status& mine);

}  // namespace rondo::perf
