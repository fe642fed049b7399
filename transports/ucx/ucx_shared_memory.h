// Memory that the processes of one host map from each other, by UCX alone.
//
// Allocate() gives ordinary memory with a key. Any process of the host that is
// given key and address maps the same memory with Map(). It all belongs to one
// memory domain of the process, opened when it is first needed, so that an
// allocation is a local call that needs no communicator.
//
// Nothing has a name once Allocate() has returned (UCX reaches the segment
// through /proc), so a crash leaves nothing behind. While it runs there is one:
// UCX fills the segment before it takes the name away.
//
// That Allocate() succeeds does not prove that others can map: they may be
// another user's, or see other processes under the same number. Only a
// successful Map(), followed by a look at what was mapped, is proof.
//
// Thread-safety: any thread, also in the same instant. Ownership: a Block and a
// Mapping own what they name. A child that forks must not use them.
// Failure: kResourceExhausted without room, kNotSupported when another version
// of UCX is loaded than Rondo was built with, kInvalidArgument for a key
// of another length, kTransport with UCX's reason.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(UcxSharedMemory* memory, UcxSharedMemory::Get());
//   RONDO_ASSIGN_OR_RETURN(auto block, memory->Allocate(1 << 20));
//   // In the other process:
//   RONDO_ASSIGN_OR_RETURN(auto mapping, memory->Map(key, address));
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "transports/base/status.h"

namespace rondo {

class UcxSharedMemory {
 public:
  class Block {
   public:
    virtual ~Block() = default;
    virtual char* data() const = 0;
    virtual size_t bytes() const = 0;
    virtual const std::string& key() const = 0;
  };
  class Mapping {
   public:
    virtual ~Mapping() = default;
    virtual char* data() const = 0;
  };

  // The process's; an error when UCX has no shared memory here.
  static Result<UcxSharedMemory*> Get();

  virtual ~UcxSharedMemory() = default;
  virtual Result<std::unique_ptr<Block>> Allocate(size_t bytes) = 0;
  // `key` and `address` of a living Block of this or another process.
  virtual Result<std::unique_ptr<Mapping>> Map(std::string_view key,
                                               uint64_t address) = 0;
};

}  // namespace rondo
