// HostArea: what one rank shows the other ranks of its host.
//
// The layout of the control segment: one area per local rank, written by that
// rank only. Fields that change at different times, or for different readers,
// lie in different cache lines; the first line of a slot holds all that a
// small call has to read.
//
// Thread-safety: written by the one thread inside the engine of its rank, read
// by the others; what is read is published by a release store of the atomic
// beside it. Ownership: HostSegment's. Failure: none.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "collectives/engine/call_header.h"
#include "collectives/engine/symmetric_name.h"

namespace rondo {

inline constexpr int kCallSlots = 4;
// What a rank may send beside its header: the rest of a cache line.
inline constexpr size_t kSmallBytes = 40;
// Of more CPUs, only these are counted.
inline constexpr int kMaxCpus = 1024;
// Pieces of user memory on their way to the peers: enough of them that writer
// and readers overlap, and all together at home in a second-level cache.
inline constexpr int kStagedPieces = 8;
inline constexpr size_t kStagedPieceBytes = 32 << 10;
// Beyond it, ranks of one host do not map each other's symmetric memory.
inline constexpr int kMaxMappingRanks = 1024;

static_assert(std::atomic<uint64_t>::is_always_lock_free);

struct alignas(4096) HostArea {
  struct alignas(64) Slot {
    std::atomic<uint64_t> sequence{0};
    // The header's, for those who need no more of it.
    uint64_t agreement = 0;
    uint64_t freed_segments = 0;
    char small[kSmallBytes];
    CallHeader header;
    alignas(64) SymmetricName input;
    SymmetricName output;
  };
  Slot slots[kCallSlots];

  int32_t process_id = 0;
  uint64_t address = 0;  // of this area, in its rank's process
  // What its cgroup allows this rank, in CPUs; 0: no limit.
  int32_t cpu_quota = 0;
  // CPUs that this rank may run on.
  uint64_t cpus[kMaxCpus / 64] = {};

  // See HostSegment::BeginTouch().
  alignas(64) std::atomic<uint32_t> touching{0};
  std::atomic<uint32_t> closed{0};

  // See HostSegment::Sleep().
  alignas(64) std::atomic<uint32_t> sleepers{0};
  std::atomic<uint32_t> bell{0};

  // Since the communicator began: pieces that lie in `staging` for the peers
  // to read, and pieces of all peers that this rank has read.
  alignas(64) std::atomic<uint64_t> published_pieces{0};
  alignas(64) std::atomic<uint64_t> consumed_pieces{0};

  // The call for which this rank has tried to map what the others named, and a
  // bit for each local rank whose memory it could not map.
  alignas(64) std::atomic<uint64_t> verdict_sequence{0};
  uint64_t refused[kMaxMappingRanks / 64] = {};

  alignas(4096) char staging[kStagedPieces][kStagedPieceBytes];
};

}  // namespace rondo
