// The limit loop: the loads and stores of an optimizer step, and nothing else.
//
// For every element of a shard it reads one gradient from each of several
// arrays, reads and writes master copy and two moments in place, and writes a
// parameter to each of several arrays, past the cache. The arithmetic is a few
// integer additions, there only so that no load can be left out:
//
//   sum = gradient_0 + gradient_1 + ...      each as an unsigned integer
//   first_moment += sum;  second_moment += sum
//   master += first_moment ^ second_moment
//   parameter_k = master, or its lower 16 bits
//
// No optimizer step that moves the same bytes can be faster than the fastest
// way of this loop.
//
// Thread-safety: safe on disjoint arrays. Ownership: none taken. Failure: none;
// element sizes are 2 or 4 bytes, a block is 64 to kLimitBlockElements elements
// and a multiple of 64, `count` is a multiple of kLimitBlockElements, and
// arrays are aligned to 64 bytes.
//
// Example:
//   RunLimitLoop(arrays, {.block_elements = 1024, .prefetch_bytes = 512});
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rondo::perf {

inline constexpr size_t kLimitBlockElements = 1024;

struct LimitArrays {
  size_t count = 0;  // elements of each array
  size_t gradient_bytes = 4;
  size_t parameter_bytes = 4;
  std::vector<const std::byte*> gradients;
  uint32_t* master = nullptr;
  uint32_t* first_moment = nullptr;
  uint32_t* second_moment = nullptr;
  std::vector<std::byte*> parameters;
};

// Bytes read and written by one pass.
size_t LimitBytes(const LimitArrays& arrays);

// The same result in every way; only the speed differs.
struct LimitWay {
  size_t block_elements = kLimitBlockElements;  // done before the next stream
  size_t prefetch_bytes = 0;                    // how far ahead; 0: not at all
};

void RunLimitLoop(const LimitArrays& arrays, const LimitWay& way);

}  // namespace rondo::perf
