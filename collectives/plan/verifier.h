// The verifier: proves a shape before it ever runs.
//
// It executes the programs of all ranks symbolically, for one chunk index, with
// each block holding the set of contributions that were summed into it. Message
// and flag waits follow the pessimistic rules of plan.h (a send may need its
// recv). Vector clocks order accesses between ranks, so the outcome does not
// depend on which rank the verifier happens to run first. It reports:
//
//   - an output block that does not end with every contribution exactly once;
//   - a read of a block that was never written, or of a transfer in flight;
//   - a write to a block that a transfer or another rank may still be reading;
//   - a contribution summed twice; a sum of different logical blocks;
//   - an update before its reduction is complete, or of a block twice;
//   - a transfer that nobody waits for, or that has no counterpart;
//   - a deadlock, with the step at which every stuck rank waits;
//   - a peer's space touched before its ready or after our done;
//   - a write to an input (unless it is the output's own place, in place);
//   - in a barrier, a rank that may leave before another has arrived;
//   - a scratch block that a peer may still touch when the chunk ends, or that
//     does not hold the logical block that a step says it holds;
//   - a malformed step (rank, index, message or flag out of range; operands of
//     different logical blocks; a flag in the chunk section or data outside
//     it).
//
// What it takes for granted: every block has this chunk. Where ranks touch each
// other's spaces and order that by messages, a message whose block has ended
// before must still be delivered, empty.
//
// Thread-safety: pure functions. Cost: O(steps of all ranks + messages *
// ranks). Failure: kInvalidArgument.
//
// Example:
//   Result<PlanFacts> facts = VerifyShape(RingReduceScatter(order));
//   if (!facts.ok()) return facts.status();  // names rank, step and block
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "collectives/plan/plan.h"
#include "transports/base/status.h"

namespace rondo {

// What the proof counted on its way, in blocks (all blocks taken as equal).
struct PlanFacts {
  // Blocks carried by messages or peer access from rank .first to rank .second.
  std::map<std::pair<int, int>, int64_t> blocks_per_link;
  int64_t max_blocks_sent = 0;      // by one rank
  int64_t max_blocks_received = 0;  // by one rank
  int64_t total_steps = 0;
  // Longest chain of transfers that depend on each other. A flag counts as one:
  // it costs a latency, too.
  int longest_chain = 0;
};

enum class Placement : uint8_t {
  kOutOfPlace,
  kInPlace,  // NCCL's rule: rank r's block shares its place in both spaces
};

Result<PlanFacts> VerifyShape(const Shape& shape, Placement placement);

// Both placements (in place only where the collective has it).
Result<PlanFacts> VerifyShape(const Shape& shape);

}  // namespace rondo
