// Greeting: the one message each side sends over the link.
//
// Thread-safety: a value. Failure: bytes that are no greeting, or one of
// another version of this plugin, are refused with what was found.
#pragma once

#include <cstdint>
#include <string>

#include "transports/base/status.h"

namespace rondo::plugin {

struct Greeting {
  uint64_t nonce = 0;          // of the listener's handle
  std::string worker_address;  // as UCX packs it

  std::string Encode() const;
  static Result<Greeting> Decode(const std::string& bytes);
};

}  // namespace rondo::plugin
