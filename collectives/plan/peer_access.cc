#include "collectives/plan/peer_access.h"

#include <algorithm>
#include <limits>

#include "collectives/plan/step_text.h"
#include "fmt/format.h"

namespace rondo {

PeerAccess::PeerAccess(int ranks)
    : ranks_(ranks),
      access_(static_cast<size_t>(ranks) * ranks),
      chunk_begin_(ranks, std::numeric_limits<int>::max()),
      chunk_finished_(ranks, false) {}

std::string PeerAccess::DoneSignalled(int rank, int owner) {
  Access& access = At(rank, owner);
  access.done_signalled = true;
  if (access.puts_in_flight == 0) return "";
  return fmt::format("is done with rank {} while a put there is in flight",
                     owner);
}

void PeerAccess::EnterChunk(int rank, int time) {
  chunk_begin_[rank] = std::min(chunk_begin_[rank], time);
}

std::string PeerAccess::CheckTouch(int rank, const BlockRef& block,
                                   const VectorClock& clock) {
  if (block.owner == rank) return "";
  Access& access = At(rank, block.owner);
  access.touched = true;
  if (!access.ready) {
    return fmt::format(
        "{} is touched before the ready flag of rank {} was "
        "waited for",
        BlockToText(block, rank), block.owner);
  }
  if (access.done_signalled) {
    return fmt::format("{} is touched after the done flag was raised",
                       BlockToText(block, rank));
  }
  if (block.space != Space::kScratch) return "";
  // Scratch belongs to one chunk index, which flags cannot tell apart.
  if (chunk_finished_[block.owner] ||
      clock[block.owner] < chunk_begin_[block.owner]) {
    return fmt::format(
        "{} is touched, but no message orders that between the "
        "start and the end of that rank's chunk",
        BlockToText(block, rank));
  }
  return "";
}

std::string PeerAccess::CheckFinished() const {
  for (int owner = 0; owner < ranks_; ++owner) {
    for (int rank = 0; rank < ranks_; ++rank) {
      const Access& access = At(rank, owner);
      if (!access.touched || access.done_awaited) continue;
      return fmt::format(
          "rank {} may finish while rank {} still touches its "
          "spaces: it does not wait for flag {} of rank {}",
          owner, rank, FlagToText(kDoneFlag), rank);
    }
  }
  return "";
}

}  // namespace rondo
