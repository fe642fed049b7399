#include "perf/bench/gather.h"

#include <cstdint>

#include "fmt/format.h"

namespace rondo::perf {

Result<std::vector<std::string>> GatherRecords(Communicator* communicator,
                                               std::string_view mine) {
  RONDO_ASSIGN_OR_RETURN(std::vector<std::string> records,
                         communicator->Exchange(mine));
  for (size_t rank = 0; rank < records.size(); ++rank) {
    if (records[rank].size() == mine.size()) continue;
    return Status(Code::kMismatch,
                  fmt::format("rank {} reports {} bytes where this one has {}",
                              rank, records[rank].size(), mine.size()));
  }
  return records;
}

Status Agree(Communicator* communicator, const Status& mine) {
  const uint8_t bad = mine.ok() ? 0 : 1;
  const Result<std::vector<uint8_t>> flags = GatherValues(communicator, bad);
  if (!mine.ok()) return mine;
  if (!flags.ok()) return flags.status();
  for (size_t rank = 0; rank < flags->size(); ++rank) {
    if ((*flags)[rank] == 0) continue;
    return Status(Code::kAborted,
                  fmt::format("rank {} reported an error and stopped", rank));
  }
  return Status::Ok();
}

}  // namespace rondo::perf
