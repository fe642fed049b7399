// CallContext: what the engine lends to the call that is running.
//
// Thread-safety: one thread at a time, the one inside the engine. Ownership:
// the engine's; outlives every call.
#pragma once

#include <cstdint>
#include <vector>

#include "collectives/engine/executor.h"
#include "collectives/engine/host_segment.h"
#include "collectives/engine/peer_memory.h"
#include "collectives/engine/peer_segments.h"
#include "collectives/kernels/store_hint.h"
#include "transports/base/trace.h"
#include "transports/contract/transport.h"

namespace rondo {

struct TrafficCounters {
  uint64_t calls = 0;
  uint64_t message_bytes_sent = 0;
  uint64_t message_bytes_received = 0;
};

struct CallContext {
  int rank = 0;
  int ranks = 1;
  // Index within this rank's host, or -1 for ranks of other hosts.
  std::vector<int> local_index;
  int own_process = 0;  // its id
  HostSegment* segment = nullptr;
  Transport* transport = nullptr;  // null in a world of one
  Executor* executor = nullptr;
  PeerMemory* peers = nullptr;
  PeerSegments* segments = nullptr;
  TrafficCounters* counters = nullptr;
  TraceRecorder* trace = nullptr;  // null: not traced

  // The same on all ranks: whether all are threads of one process, and whether
  // every one may read every other's memory with process_vm_readv.
  bool one_process = false;
  bool can_read = false;
  // Outputs are stored past it when a call's data does not fit.
  size_t cache_bytes = SIZE_MAX;

  // How to store the outputs of a call that moves a vector inside the host: by
  // what its ranks read and write together.
  StoreHint StoreFor(size_t vector_bytes) const {
    const size_t ranks_and_one = static_cast<size_t>(ranks) + 1;
    return vector_bytes >= cache_bytes / ranks_and_one ? StoreHint::kStream
                                                       : StoreHint::kCached;
  }
  bool IsLocal(int peer) const { return local_index[peer] >= 0; }
  bool IsInProcess(int peer) const {
    return segment->ProcessId(local_index[peer]) == own_process;
  }
};

}  // namespace rondo
