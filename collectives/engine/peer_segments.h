// PeerSegments: the symmetric memory of the other ranks, mapped here.
//
// A segment is mapped when a call's header first names it. Every local rank
// then tells the others which it could not map (a verdict in the control
// segment), and only a segment that all could map counts as shared: so all
// ranks make the same choice of path, and one that failed is ordinary memory to
// everybody. A rank also keeps account of its own segments here.
//
// Mappings are dropped when their owner has freed the segment and says so in a
// later header, or with this object.
//
// Thread-safety: one thread at a time, the one inside the engine. Ownership:
// owns the mappings. Failure: a segment that cannot be mapped is no error; one
// line of log says why.
//
// Example:
//   if (!segments.Knows(peer, name)) segments.Map(peer, name);
//   char* here = segments.Address(peer, header.input_segment, address);
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "collectives/engine/host_segment.h"
#include "collectives/engine/symmetric_name.h"
#include "transports/ucx/ucx_shared_memory.h"

namespace rondo {

class PeerSegments {
 public:
  explicit PeerSegments(HostSegment* host);

  // Whether the ranks have agreed about this segment of `local_peer`.
  bool Knows(int local_peer, uint64_t identity) const;
  // Maps it, unless it is this rank's own; what fails goes into the verdict.
  void Map(int local_peer, const SymmetricName& name);
  // Publishes what Map() could not do in call `sequence`.
  void PostVerdict(uint64_t sequence);
  // Once every local rank has: applies all verdicts. False: not all are here.
  bool ApplyVerdicts(uint64_t sequence);

  // Whether every local rank can use the segment; false for identity 0.
  bool IsShared(int local_peer, uint64_t identity) const;
  // Where `address` of that rank's process is mapped here; only when shared.
  char* Address(int local_peer, uint64_t identity, uint64_t address) const;

  // Drops mappings of segments that `local_peer` has freed, if its header says
  // that there are new ones.
  void Sweep(int local_peer, uint64_t freed_segments) {
    if (freed_[local_peer] != freed_segments) {
      DropFreed(local_peer, freed_segments);
    }
  }
  size_t size() const { return segments_.size(); }

 private:
  struct Segment {
    SymmetricName name;
    std::unique_ptr<UcxSharedMemory::Mapping> mapping;  // null: own, or refused
    char* base = nullptr;
    bool agreed = false;
    bool shared = false;
  };
  using Key = std::pair<int, uint64_t>;

  void DropFreed(int local_peer, uint64_t freed_segments);
  Status MapInto(const SymmetricName& name, Segment* segment);

  HostSegment* host_;
  std::map<Key, Segment> segments_;
  std::vector<Key> unagreed_;
  std::vector<uint64_t> freed_;  // by local rank, as last seen
};

}  // namespace rondo
