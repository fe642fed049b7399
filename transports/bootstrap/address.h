// SocketAddress: a numeric IPv4 or IPv6 address and a port.
//
// Thread-safety: a value. Failure: parsing names the text and what is accepted.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(HostPort root, ParseHostPort("node7:29400"));
//   RONDO_ASSIGN_OR_RETURN(auto found, ResolveHost(root.host, root.port));
//   Connect(found.front());
#pragma once

#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "transports/base/status.h"

namespace rondo {

struct SocketAddress {
  enum class Family : uint8_t { kIpv4 = 4, kIpv6 = 6 };

  Family family = Family::kIpv4;
  std::array<uint8_t, 16> ip{};  // network order; IPv4 uses the first four
  uint32_t scope_id = 0;         // interface index of a link-local address
  uint16_t port = 0;

  bool operator==(const SocketAddress& other) const = default;

  bool IsLoopback() const;
  bool IsWildcard() const;
  bool IsLinkLocal() const;
  // "10.0.0.1:4711", "[fe80::1%3]:4711".
  std::string ToString() const;

  // Fills `out` for the socket calls; returns its length.
  socklen_t ToSockaddr(sockaddr_storage* out) const;
  // Families other than IPv4 and IPv6 are refused.
  static Result<SocketAddress> FromSockaddr(const sockaddr* address);
};

// The address that a numeric text ("10.0.0.1", "::1") spells.
Result<SocketAddress> ParseNumericAddress(const std::string& host,
                                          uint16_t port);

// All addresses of a host name or a numeric text; IPv4 first, so that ranks on
// different hosts agree. Blocks for as long as the system's resolver does.
Result<std::vector<SocketAddress>> ResolveHost(const std::string& host,
                                               uint16_t port);

struct HostPort {
  std::string host;
  uint16_t port = 0;
};

// "name:port", "10.0.0.1:port" or "[ipv6]:port"; the port is 1 to 65535.
Result<HostPort> ParseHostPort(std::string_view text);

// A port of 1 to 65535.
Result<uint16_t> ParsePort(std::string_view text);

}  // namespace rondo
