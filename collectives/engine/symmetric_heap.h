// SymmetricHeap: the symmetric memory that this process has allocated.
//
// Like ncclMemAlloc it is local: a segment belongs to no communicator. A call
// whose buffer lies in a segment names it to the other ranks of the host, which
// then map it (peer_segments.h). Where shared memory cannot be had, a segment
// is ordinary memory and works everywhere, only slower; one line says why.
//
// Thread-safety: any thread. Ownership: the heap owns its segments until
// Free(); a call holds on to those it uses, and Free() is refused meanwhile.
// Failure: kResourceExhausted without memory, kInvalidArgument for an address
// that no segment begins at, kInvalidUsage while a call uses the segment.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(void* data, SymmetricHeap::Get().Allocate(bytes));
//   auto segment = SymmetricHeap::Get().Find(data, bytes);
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <shared_mutex>

#include "collectives/engine/symmetric_name.h"
#include "transports/base/status.h"

namespace rondo {

class SymmetricSegment {
 public:
  virtual ~SymmetricSegment() = default;
  virtual char* data() const = 0;
  virtual size_t bytes() const = 0;
  // What peers map it by; identity 0 when it cannot be shared.
  virtual const SymmetricName& name() const = 0;
};

class SymmetricHeap {
 public:
  static SymmetricHeap& Get();

  // At least `bytes`, aligned to pages, zeroed. 0 bytes give a valid address.
  Result<void*> Allocate(size_t bytes);
  // `data` as Allocate() gave it; null is ignored.
  Status Free(void* data);
  // The segment that holds all of [data, data + bytes), or null.
  std::shared_ptr<const SymmetricSegment> Find(const void* data,
                                               size_t bytes) const;
  // How many segments were freed so far.
  uint64_t freed() const { return freed_.load(std::memory_order_acquire); }

 private:
  SymmetricHeap() = default;

  mutable std::shared_mutex mutex_;
  std::map<const char*, std::shared_ptr<const SymmetricSegment>> segments_;
  std::atomic<size_t> count_{0};  // so that nobody locks for an empty heap
  std::atomic<uint64_t> freed_{0};
};

// Where a segment's identity is stored, so that who maps it can see that it is
// the right one and that it is still alive.
inline uint64_t* IdentityOf(char* base, size_t bytes) {
  return reinterpret_cast<uint64_t*>(base + bytes);
}

}  // namespace rondo
