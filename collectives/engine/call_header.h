// CallHeader: what a rank is about to do, for the others to compare with.
//
// Every call posts one before it touches an output: in the host's control
// segment for the ranks of its host, and as the first message on each lane for
// ranks of other hosts. Two ranks whose agreement hashes are equal run the same
// collective with the same arguments; if not, MatchHeaders says who differs
// from whom, and in what.
//
// Thread-safety: values and pure functions. Plain data with a fixed layout: it
// lies in shared memory and travels in messages between hosts of equal byte
// order. What comes from outside is only compared and printed.
//
// Example:
//   CallHeader mine = MakeHeader(call, sequence);
//   RONDO_RETURN_IF_ERROR(MatchHeaders({{0, mine}, {1, theirs}}));
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "transports/base/status.h"

namespace rondo {

struct CallHeader {
  // A hash of the fields from `sequence` to `algorithm_hash`.
  uint64_t agreement = 0;
  // Symmetric segments that this rank's process has freed so far: when it
  // changes, peers drop what they mapped of them.
  uint64_t freed_segments = 0;
  // What must agree.
  uint64_t sequence = 0;
  uint64_t count = 0;  // elements of one block; the largest if uneven
  uint64_t counts_hash = 0;
  // Sharded step: how the vector is cut, and what the updates agree on.
  uint64_t parameters_hash = 0;
  uint64_t chunk_bytes = 0;
  uint32_t collective = 0;
  uint32_t type = 0;
  uint32_t output_type = 0;
  uint32_t reduction = 0;
  uint32_t root = 0;
  uint32_t algorithm_hash = 0;
  // What may differ between ranks: where this rank's buffers are and of which
  // MemoryKind. They choose how a peer reaches them, never the plan.
  uint64_t input_address = 0;
  uint64_t output_address = 0;
  uint32_t input_kind = 0;
  uint32_t output_kind = 0;
  // The symmetric segments that they lie in (SymmetricName), or 0.
  uint64_t input_segment = 0;
  uint64_t output_segment = 0;

  // Sets `agreement`.
  void Seal();
};
static_assert(sizeof(CallHeader) == 120);

// The sequences of a user's calls begin behind this number, which errors leave
// away; what the engine runs for itself at the start is numbered from 1.
inline constexpr uint64_t kBeforeFirstCall = uint64_t{1} << 40;

// 64-bit FNV-1a, continued from `hash`.
inline constexpr uint64_t kHashSeed = 0xcbf29ce484222325u;
uint64_t HashBytes(const void* data, size_t bytes, uint64_t hash = kHashSeed);

// "all_gather(count 1024, float) as call 7".
std::string HeaderToText(const CallHeader& header);

// ok when all agree; else kMismatch naming the ranks that differ from the
// largest agreeing group (of equal ones, that of the lowest rank), each with
// what it called, and the fields they differ in.
Status MatchHeaders(std::span<const std::pair<int, CallHeader>> headers);

}  // namespace rondo
