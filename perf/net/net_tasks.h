// The measured loops: checking, streaming and ping-pong between two NetSides.
//
// One thread does everything, as NCCL's progress thread does: it posts, polls,
// and yields when nothing has happened.
// Streaming and ping-pong use the same memory for every message, which is what
// ucx_perftest does; checking gives every message memory of its own.
//
// Thread-safety: one thread per side. Failure: the flows' errors; kTimeout when
// a whole task takes longer than kTaskMs.
//
// Example:
//   Answer answer = RunTask(order, Role::kFirst, side.get());
#pragma once

#include <cstddef>
#include <cstdint>

#include "perf/net/net_protocol.h"
#include "perf/net/net_side.h"

namespace rondo::perf {

// The first streams to the second, and begins a ping-pong.
enum class Role { kFirst, kSecond };

inline constexpr int64_t kTaskMs = 30000;

// How many messages of `bytes` are checked at once: a window, as long as it
// fits the memory, and at least one.
int CheckedMessages(size_t bytes);
// The memory that a side needs for messages of up to `most_bytes`.
size_t MemoryFor(size_t most_bytes);

// `peer` aligns the start: receives are posted before the first send.
Answer RunTask(const Order& order, Role role, ControlSocket* peer,
               NetSide* side);

}  // namespace rondo::perf
