// SymmetricName: how a rank tells the others of its host which symmetric
// segment a buffer lies in, and how to map it.
//
// Plain data of a fixed layout: it lies in the control segment, beside the
// header of the call that names the segment first.
//
// Thread-safety, ownership, failure: a value.
#pragma once

#include <cstdint>

namespace rondo {

struct SymmetricName {
  uint64_t identity = 0;  // never 0, never used twice; 0: no segment
  uint64_t base = 0;      // where the segment begins in its owner's process
  uint64_t bytes = 0;     // of usable memory; its identity is stored behind
  uint64_t key_bytes = 0;
  char key[96] = {};  // UCX's
};
static_assert(sizeof(SymmetricName) == 128);

}  // namespace rondo
