#include "transports/bootstrap/address.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <memory>

namespace rondo {

namespace {

bool AllZero(const uint8_t* bytes, size_t count) {
  return std::all_of(bytes, bytes + count, [](uint8_t b) { return b == 0; });
}

// getaddrinfo's answers, IPv4 before IPv6, each once.
Result<std::vector<SocketAddress>> Lookup(const std::string& host,
                                          uint16_t port, int flags) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags;
  addrinfo* list = nullptr;
  const int error = getaddrinfo(host.c_str(), nullptr, &hints, &list);
  if (error != 0) {
    return InvalidArgument("host '" + host +
                           "' cannot be resolved: " + gai_strerror(error));
  }
  std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(list, freeaddrinfo);
  std::vector<SocketAddress> found;
  for (const addrinfo* entry = list; entry; entry = entry->ai_next) {
    Result<SocketAddress> address = SocketAddress::FromSockaddr(entry->ai_addr);
    if (!address.ok()) continue;
    address->port = port;
    if (std::find(found.begin(), found.end(), *address) == found.end()) {
      found.push_back(*address);
    }
  }
  std::stable_partition(found.begin(), found.end(),
                        [](const SocketAddress& address) {
                          return address.family == SocketAddress::Family::kIpv4;
                        });
  if (found.empty()) {
    return InvalidArgument("host '" + host + "' has no IPv4 or IPv6 address");
  }
  return found;
}

}  // namespace

bool SocketAddress::IsLoopback() const {
  if (family == Family::kIpv4) return ip[0] == 127;
  return AllZero(ip.data(), 15) && ip[15] == 1;
}

bool SocketAddress::IsWildcard() const {
  return AllZero(ip.data(), family == Family::kIpv4 ? 4 : 16);
}

bool SocketAddress::IsLinkLocal() const {
  if (family == Family::kIpv4) return ip[0] == 169 && ip[1] == 254;
  return ip[0] == 0xfe && (ip[1] & 0xc0) == 0x80;
}

std::string SocketAddress::ToString() const {
  char text[INET6_ADDRSTRLEN] = {};
  const bool v4 = family == Family::kIpv4;
  inet_ntop(v4 ? AF_INET : AF_INET6, ip.data(), text, sizeof(text));
  std::string out = v4 ? text : "[" + std::string(text);
  if (!v4 && scope_id != 0) out += "%" + std::to_string(scope_id);
  return out + (v4 ? ":" : "]:") + std::to_string(port);
}

socklen_t SocketAddress::ToSockaddr(sockaddr_storage* out) const {
  std::memset(out, 0, sizeof(*out));
  if (family == Family::kIpv4) {
    auto* v4 = reinterpret_cast<sockaddr_in*>(out);
    v4->sin_family = AF_INET;
    v4->sin_port = htons(port);
    std::memcpy(&v4->sin_addr, ip.data(), 4);
    return sizeof(*v4);
  }
  auto* v6 = reinterpret_cast<sockaddr_in6*>(out);
  v6->sin6_family = AF_INET6;
  v6->sin6_port = htons(port);
  v6->sin6_scope_id = scope_id;
  std::memcpy(&v6->sin6_addr, ip.data(), 16);
  return sizeof(*v6);
}

Result<SocketAddress> SocketAddress::FromSockaddr(const sockaddr* address) {
  SocketAddress out;
  if (address->sa_family == AF_INET) {
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(address);
    std::memcpy(out.ip.data(), &v4->sin_addr, 4);
    out.port = ntohs(v4->sin_port);
    return out;
  }
  if (address->sa_family == AF_INET6) {
    const auto* v6 = reinterpret_cast<const sockaddr_in6*>(address);
    out.family = Family::kIpv6;
    std::memcpy(out.ip.data(), &v6->sin6_addr, 16);
    out.scope_id = v6->sin6_scope_id;
    out.port = ntohs(v6->sin6_port);
    return out;
  }
  return InvalidArgument("address family " +
                         std::to_string(address->sa_family) +
                         " is not IPv4 or IPv6");
}

Result<SocketAddress> ParseNumericAddress(const std::string& host,
                                          uint16_t port) {
  RONDO_ASSIGN_OR_RETURN(auto found, Lookup(host, port, AI_NUMERICHOST));
  return found.front();
}

Result<std::vector<SocketAddress>> ResolveHost(const std::string& host,
                                               uint16_t port) {
  if (host.empty()) return InvalidArgument("the host name is empty");
  // Always loopback (RFC 6761), also on a system without /etc/hosts.
  return Lookup(host == "localhost" ? "127.0.0.1" : host, port, 0);
}

Result<uint16_t> ParsePort(std::string_view text) {
  int port = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, port);
  if (error != std::errc() || stop != end || port < 1 || port > 65535) {
    return InvalidArgument("port '" + std::string(text) +
                           "' is not a number from 1 to 65535");
  }
  return static_cast<uint16_t>(port);
}

Result<HostPort> ParseHostPort(std::string_view text) {
  const size_t colon = text.rfind(':');
  const std::string shown = "'" + std::string(text) + "'";
  if (colon == std::string_view::npos) {
    return InvalidArgument(shown + " is not host:port");
  }
  std::string_view host = text.substr(0, colon);
  const bool bracketed =
      host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  if (host.empty() ||
      (!bracketed && host.find_first_of(":[]") != std::string_view::npos)) {
    return InvalidArgument(shown + " is not host:port or [ipv6]:port");
  }
  Result<uint16_t> port = ParsePort(text.substr(colon + 1));
  if (!port.ok()) return port.status().WithContext(shown);
  return HostPort{std::string(host), *port};
}

}  // namespace rondo
