// The choice of how data moves inside a host, by prediction.
//
// Each way costs a fixed time and a time per byte that a rank takes from its
// peers. The constants are measured when a communicator starts
// (engine/measure_host.h) and are the same on all ranks, so that all make the
// same choice. Memory kind is part of the question: what is mapped everywhere
// needs no help of the kernel.
//
// Thread-safety: pure functions. Failure: none; a way that is not possible says
// why.
//
// Example:
//   const auto ways = PredictHostWays(costs, {.moved_bytes = 1 << 20});
//   fmt::print("{}: {} us", HostWayName(ways[0].way), ways[0].us);
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rondo {

// Microseconds as a function of bytes; of the whole call, on the slowest rank.
struct LinearCost {
  double fixed_us = 0;
  double us_per_kib = 0;

  double At(size_t bytes) const {
    return fixed_us + us_per_kib * static_cast<double>(bytes) / 1024;
  }
};

// Through two measurements; never falling, and never below zero.
LinearCost LineThrough(size_t bytes_a, double us_a, size_t bytes_b,
                       double us_b);

enum class HostWay : uint8_t {
  kMapped,  // plain loads and stores: symmetric memory
  kRead,    // process_vm_readv: ordinary memory
  kStaged,  // cache-sized pieces through shared slots: any memory
  kRing,    // messages to a neighbour
};

// "direct, mapped", "direct, process_vm_readv", "staged", "ring".
std::string_view HostWayName(HostWay way);

struct HostCosts {
  LinearCost mapped;
  LinearCost read;
  LinearCost staged;
  LinearCost ring;
};

// What a machine typically needs, for before anything is measured.
HostCosts TypicalHostCosts();

struct HostQuestion {
  // What a rank takes from its peers: (ranks - 1) blocks.
  size_t moved_bytes = 0;
  bool mapped = false;       // every buffer in question is symmetric
  bool can_read = true;      // process_vm_readv is permitted
  bool staging_fits = true;  // the host's ranks have room in the slots
};

struct PredictedWay {
  HostWay way = HostWay::kRing;
  double us = 0;
  std::string why_not;  // empty: it is possible
};

// All ways: those that are possible first, by time, so that the first is the
// choice and the second the runner-up.
std::vector<PredictedWay> PredictHostWays(const HostCosts& costs,
                                          const HostQuestion& question);

// Whether ordinary memory of that many bytes goes through the slots: when that
// is predicted to be `margin` times as quick, or nothing else is permitted.
bool PrefersStaging(const HostCosts& costs, const HostQuestion& question,
                    double margin = 1);

}  // namespace rondo
