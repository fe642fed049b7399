// PreparedShape and CallPlan: what the engine runs.
//
// Thread-safety: immutable once made. Ownership: a PreparedShape is its cache's
// and lives as long; a plan refers to it. Failure: none.
#pragma once

#include <cstdint>
#include <vector>

#include "collectives/plan/plan.h"

namespace rondo {

// A shape and this rank's program of it, proved once and kept.
struct PreparedShape {
  Shape shape;
  RankProgram program;
  uint32_t algorithm_hash = 0;
  // Ranks this program sends to or signals, and receives from or waits for.
  // Both hold the two neighbours in the rank order: those exchange headers in
  // every call, whatever its plan, so that a difference between any two ranks
  // lies between two that compare. Ranks of this host, whose headers are read
  // in the control segment, are left out.
  std::vector<int> send_to;
  std::vector<int> receive_from;
  // How it touches blocks of other ranks: a source of a copy, reduce or update;
  // a destination of a copy or update, which needs mapped memory; of a put.
  bool reads_peers = false;
  bool stores_to_peers = false;
  bool puts_to_peers = false;
  bool uses_transport = false;  // has messages, or peers on other hosts

  bool touches_peers() const {
    return reads_peers || stores_to_peers || puts_to_peers;
  }
};

// Whether data goes through shared slots instead of from memory to memory.
enum class Stage : uint8_t {
  kNever,
  kIfNeeded,      // where the system does not let ranks read each other
  kUnlessMapped,  // it is the cheaper way for ordinary memory
  kAlways,
};

// What may serve a call: how its data really moves is decided once all ranks'
// headers tell where their buffers lie.
struct CallPlan {
  const PreparedShape* shape = nullptr;
  // Instead of `shape` where every rank's output is mapped; may be null.
  const PreparedShape* push = nullptr;
  // Instead of both where the memory of the ranks cannot be reached from each
  // other; may be null. Inside a host only.
  const PreparedShape* fallback = nullptr;
  // The data is small enough to go with the header.
  bool with_header = false;
  Stage stage = Stage::kNever;
};

}  // namespace rondo
