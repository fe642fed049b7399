// UniqueId: what the ranks of one communicator share before they meet: where
// the coordinator listens, and a secret that proves membership.
//
// Exactly 128 bytes, without pointers, so that it fits the C API's
// rondoUniqueId and may travel by any means (a file, MPI, another library's
// store). Whoever holds it can join: treat it as a password. It knows nothing
// of the number of ranks.
//
// Thread-safety: a value. Failure: Parse refuses a wrong length, magic,
// version, family, padding, or checksum, and never prints the secret.
//
// Example:
//   UniqueId id = coordinator->unique_id();
//   WriteFile(path, id.ToHex());                    // one process
//   RONDO_ASSIGN_OR_RETURN(UniqueId id, UniqueId::FromHex(text));  // another
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "transports/base/status.h"
#include "transports/bootstrap/address.h"

namespace rondo {

class UniqueId {
 public:
  static constexpr size_t kBytes = 128;
  static constexpr size_t kSecretBytes = 32;
  using Secret = std::array<uint8_t, kSecretBytes>;

  // A new random secret for a coordinator at `address`.
  static Result<UniqueId> Create(const SocketAddress& address);
  static Result<UniqueId> FromParts(const SocketAddress& address,
                                    const Secret& secret);

  // From 128 bytes, or from 256 hexadecimal digits (and one newline).
  static Result<UniqueId> Parse(std::string_view bytes);
  static Result<UniqueId> FromHex(std::string_view text);

  // All 128 bytes: secret.
  std::string_view bytes() const;
  // Secret as well: for a file that only its owner can read.
  std::string ToHex() const;
  // For logs: the address, never the secret.
  std::string ToString() const;

  SocketAddress address() const;
  Secret secret() const;

 private:
  UniqueId() = default;
  std::array<uint8_t, kBytes> bytes_{};
};
static_assert(sizeof(UniqueId) == UniqueId::kBytes);

// The id of a job that meets at a fixed place: the secret is derived from
// `secret_text`, so that every rank computes the same id on its own. A host
// name that this machine resolves to loopback (its own name, often) stands for
// the address of the interface that `socket_ifname` chooses, since that is what
// the other hosts resolve it to; "localhost" and numeric text mean themselves.
Result<UniqueId> FixedUniqueId(const std::string& host, uint16_t port,
                               std::string_view secret_text,
                               std::string_view socket_ifname = "");

}  // namespace rondo
