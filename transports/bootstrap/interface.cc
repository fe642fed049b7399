#include "transports/bootstrap/interface.h"

#include <ifaddrs.h>
#include <net/if.h>

#include <cerrno>
#include <memory>

namespace rondo {

namespace {

// A parsed socket_ifname.
struct Filter {
  bool exclude = false;
  bool exact = false;
  std::vector<std::string> names;

  bool Lists(std::string_view name) const {
    for (const std::string& wanted : names) {
      if (exact ? name == wanted : name.substr(0, wanted.size()) == wanted) {
        return true;
      }
    }
    return false;
  }
};

Result<Filter> ParseFilter(std::string_view text) {
  Filter filter;
  std::string_view rest = text;
  if (!rest.empty() && rest.front() == '^') {
    filter.exclude = true;
    rest.remove_prefix(1);
  }
  if (!rest.empty() && rest.front() == '=') {
    filter.exact = true;
    rest.remove_prefix(1);
  }
  while (true) {
    const size_t comma = rest.find(',');
    const std::string_view name = rest.substr(0, comma);
    if (name.empty()) {
      return InvalidArgument("socket_ifname '" + std::string(text) +
                             "' has an empty name; accepted are 'eth', "
                             "'=eth0', '^docker', '^=lo', and lists 'eth,ib'");
    }
    filter.names.emplace_back(name);
    if (comma == std::string_view::npos) return filter;
    rest.remove_prefix(comma + 1);
  }
}

bool IsBridge(std::string_view name) {
  return name.substr(0, 6) == "docker" || name.substr(0, 5) == "virbr";
}

// A link-local IPv6 address is reached through an interface index, which means
// nothing on another host.
bool Usable(const Interface& interface) {
  const SocketAddress& address = interface.address;
  return interface.up && !(address.IsLinkLocal() &&
                           address.family == SocketAddress::Family::kIpv6);
}

std::string Names(const std::vector<Interface>& interfaces) {
  std::string out;
  for (const Interface& interface : interfaces) {
    if (!Usable(interface)) continue;
    std::string address = interface.address.ToString();
    address.resize(address.rfind(':'));
    out += (out.empty() ? "" : ", ") + interface.name + " " + address;
  }
  return out.empty() ? "none" : out;
}

}  // namespace

Result<std::vector<Interface>> ListInterfaces() {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return SystemError("getifaddrs", errno);
  std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(list, freeifaddrs);
  std::vector<Interface> found;
  for (const ifaddrs* entry = list; entry; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr) continue;
    Result<SocketAddress> address =
        SocketAddress::FromSockaddr(entry->ifa_addr);
    if (!address.ok()) continue;
    address->port = 0;
    found.push_back({entry->ifa_name, *address,
                     (entry->ifa_flags & IFF_UP) != 0,
                     (entry->ifa_flags & IFF_LOOPBACK) != 0});
  }
  return found;
}

Result<Interface> ChooseInterface(std::string_view socket_ifname,
                                  const std::vector<Interface>& interfaces) {
  if (socket_ifname.empty()) {
    const Interface* loopback = nullptr;
    for (const Interface& candidate : interfaces) {
      if (!Usable(candidate)) continue;
      if (!candidate.loopback && !IsBridge(candidate.name)) return candidate;
      if (candidate.loopback && loopback == nullptr) loopback = &candidate;
    }
    if (loopback != nullptr) return *loopback;
    return Status(Code::kTransport,
                  "no network interface is up, not even loopback");
  }
  RONDO_ASSIGN_OR_RETURN(Filter filter, ParseFilter(socket_ifname));
  const Interface* loopback = nullptr;
  for (const Interface& candidate : interfaces) {
    if (!Usable(candidate)) continue;
    if (filter.Lists(candidate.name) == filter.exclude) continue;
    // `^docker` does not ask for loopback: only the last choice then.
    if (!filter.exclude || !candidate.loopback) return candidate;
    if (loopback == nullptr) loopback = &candidate;
  }
  if (loopback != nullptr) return *loopback;
  return InvalidArgument(
      "socket_ifname '" + std::string(socket_ifname) +
      "' matches no usable interface; there are: " + Names(interfaces));
}

}  // namespace rondo
