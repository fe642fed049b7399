#include "collectives/plan/symbolic_memory.h"

#include "fmt/format.h"

namespace rondo {
SymbolicMemory::SymbolicMemory(const Shape& shape, const Programs& programs,
                               Placement placement)
    : programs_(programs),
      collective_(shape.collective),
      in_place_(placement == Placement::kInPlace),
      root_(shape.root) {
  for (int space = 0; space < 3; ++space) {
    for (int rank = 0; rank < shape.ranks; ++rank) {
      const BlockSpan span =
          space == static_cast<int>(Space::kScratch)
              ? BlockSpan{0, programs.scratch_blocks(rank)}
              : BlocksOf(shape, static_cast<Space>(space), rank);
      first_[space].push_back(span.first);
      cells_[space].emplace_back(span.count);
    }
  }
  for (int rank = 0; rank < shape.ranks; ++rank) FillInput(shape, rank);
}

void SymbolicMemory::FillInput(const Shape& shape, int rank) {
  const BlockSpan span = BlocksOf(shape, Space::kInput, rank);
  for (int index = span.first; index < span.first + span.count; ++index) {
    Cell& cell = At({.space = Space::kInput, .owner = rank, .index = index});
    cell.value = InputValue(shape, rank, index);
    // The caller wrote it before its rank's first step.
    cell.last_write = {rank, 1};
  }
}

int SymbolicMemory::SharedBlock(int rank) const {
  if (!in_place_) return -1;
  if (collective_ == Collective::kBroadcast) return rank == root_ ? 0 : -1;
  return rank;
}

Cell& SymbolicMemory::At(const BlockRef& block) {
  Space space = block.space;
  // Shared cells are kept in the larger of the two spaces or, alike, the input.
  if (space != Space::kScratch && block.index == SharedBlock(block.owner)) {
    space =
        collective_ == Collective::kAllGather ? Space::kOutput : Space::kInput;
  }
  const int s = static_cast<int>(space);
  return cells_[s][block.owner][block.index - first_[s][block.owner]];
}

bool SymbolicMemory::IsInput(const BlockRef& block) const {
  return block.space == Space::kInput &&
         block.index != SharedBlock(block.owner);
}

std::string SymbolicMemory::Read(Cell* cell, Touch by,
                                 const VectorClock& clock) const {
  if (cell->arriving.valid()) {
    return "is read while a transfer into it is in flight: " +
           programs_.Describe(cell->arriving);
  }
  if (cell->value.block < 0) return "is read but was never written";
  if (!cell->last_write.KnownTo(clock)) {
    return fmt::format(
        "is read, but nothing orders that after its write by "
        "rank {}",
        cell->last_write.rank);
  }
  for (Touch& read : cell->reads) {
    if (read.rank != by.rank) continue;
    read.time = by.time;
    return "";
  }
  cell->reads.push_back(by);
  return "";
}

std::string SymbolicMemory::Write(Cell* cell, Touch by,
                                  const VectorClock& clock) const {
  if (cell->arriving.valid()) {
    return "is written while another transfer into it is in flight: " +
           programs_.Describe(cell->arriving);
  }
  if (!cell->leaving.empty()) {
    return "is written while a transfer from it is in flight: " +
           programs_.Describe(cell->leaving.front());
  }
  if (cell->last_write.rank >= 0 && !cell->last_write.KnownTo(clock)) {
    return fmt::format(
        "is written, but nothing orders that after its write by "
        "rank {}",
        cell->last_write.rank);
  }
  for (const Touch& read : cell->reads) {
    if (read.KnownTo(clock)) continue;
    return fmt::format("is written, but rank {} may still be reading it",
                       read.rank);
  }
  cell->last_write = by;
  cell->reads.clear();
  return "";
}

}  // namespace rondo
