#include "perf/bench/gather.h"

#include <algorithm>
#include <cstdint>

#include "fmt/format.h"

namespace rondo::perf {
namespace {

constexpr size_t kCopies = 5;
// Short records are padded: bits flipped in several copies then rarely meet.
constexpr size_t kMinRecordBytes = 128;

// Bits that most of the copies have; their bytes lie `stride` apart.
char Majority(const char* first, size_t stride) {
  int result = 0;
  for (int bit = 1; bit < 256; bit *= 2) {
    size_t votes = 0;
    for (size_t i = 0; i < kCopies; ++i)
      votes += (first[i * stride] & bit) != 0;
    if (votes > kCopies / 2) result |= bit;
  }
  return static_cast<char>(result);
}

}  // namespace

Result<std::vector<std::string>> GatherRecords(Communicator* communicator,
                                               std::string_view mine) {
  std::string padded(mine);
  padded.resize(std::max(mine.size(), kMinRecordBytes));
  std::string copies;
  for (size_t i = 0; i < kCopies; ++i) copies += padded;
  const auto ranks = static_cast<size_t>(communicator->world_size());
  std::vector<char> all(copies.size() * ranks);
  RONDO_RETURN_IF_ERROR(communicator->AllGather(
      copies.data(), all.data(), copies.size(), DataType::kUint8));
  std::vector<std::string> records(ranks, std::string(mine.size(), '\0'));
  for (size_t rank = 0; rank < ranks; ++rank) {
    const char* received = all.data() + rank * copies.size();
    for (size_t i = 0; i < mine.size(); ++i) {
      records[rank][i] = Majority(received + i, padded.size());
    }
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
