#include "plugin/net/net_device.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "transports/bootstrap/interface.h"

namespace rondo::plugin {
namespace {

namespace fs = std::filesystem;

// What NCCL's own transports assume of a link that does not tell.
constexpr int kUnknownSpeedMbps = 10000;
// More overflow NCCL's tables.
constexpr size_t kMostDevices = 128;

std::string FirstLine(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::vector<std::string> EntriesOf(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    names.push_back(it->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// The folder of a PCI device; empty for others.
std::string PciPath(const fs::path& device_link) {
  std::error_code error;
  const fs::path real = fs::canonical(device_link, error);
  if (error || !fs::exists(real / "class", error)) {
    // Virtual functions of a bus on a PCI device, such as virtio.
    if (error || !fs::exists(real.parent_path() / "class", error)) return "";
    return real.parent_path().string();
  }
  return real.string();
}

uint64_t HexDigits(const std::string& text) {
  uint64_t value = 0;
  for (const char c : text) {
    if (!std::isxdigit(static_cast<unsigned char>(c))) continue;
    const int digit = c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
    value = value << 4 | static_cast<uint64_t>(digit);
  }
  return value;
}

// The number that a text begins with; 0 when there is none.
double LeadingNumber(const std::string& text) {
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// "100 Gb/sec (4X EDR)" or "25000".
int SpeedMbps(const std::string& text, int per_unit) {
  const double value = LeadingNumber(text);
  if (!(value > 0) || value * per_unit > 1e8) return kUnknownSpeedMbps;
  return static_cast<int>(value * per_unit);
}

std::vector<NetDevice> RdmaPorts(const std::string& sys_root,
                                 const SocketAddress& address) {
  std::vector<NetDevice> devices;
  const fs::path root = fs::path(sys_root) / "class/infiniband";
  for (const std::string& adapter : EntriesOf(root)) {
    for (const std::string& port : EntriesOf(root / adapter / "ports")) {
      const fs::path folder = root / adapter / "ports" / port;
      // "4: ACTIVE"
      if (FirstLine(folder / "state").rfind("4:", 0) != 0) continue;
      NetDevice device;
      device.name = adapter + ":" + port;
      device.pci_path = PciPath(root / adapter / "device");
      device.port = static_cast<int>(LeadingNumber(port));
      device.guid = HexDigits(FirstLine(root / adapter / "node_guid")) +
                    static_cast<uint64_t>(device.port);
      device.speed_mbps = SpeedMbps(FirstLine(folder / "rate"), 1000);
      device.rdma = true;
      device.address = address;
      devices.push_back(std::move(device));
    }
  }
  return devices;
}

bool IsBridge(const std::string& name) {
  for (const char* prefix : {"docker", "virbr", "br-", "veth", "cni"}) {
    if (name.rfind(prefix, 0) == 0) return true;
  }
  return false;
}

NetDevice InterfaceDevice(const std::string& sys_root,
                          const Interface& interface) {
  const fs::path folder = fs::path(sys_root) / "class/net" / interface.name;
  NetDevice device;
  device.name = interface.name;
  device.pci_path = PciPath(folder / "device");
  device.speed_mbps = SpeedMbps(FirstLine(folder / "speed"), 1);
  device.guid = HexDigits(FirstLine(folder / "address"));
  if (device.guid == 0) device.guid = std::hash<std::string>()(device.name);
  device.address = interface.address;
  return device;
}

std::vector<NetDevice> InterfaceDevices(
    const std::string& sys_root, const std::vector<Interface>& interfaces) {
  std::vector<NetDevice> devices;
  for (const Interface& interface : interfaces) {
    if (!interface.up || interface.address.IsLinkLocal()) continue;
    const auto same = [&](const NetDevice& known) {
      return known.name == interface.name;
    };
    if (std::any_of(devices.begin(), devices.end(), same)) continue;
    devices.push_back(InterfaceDevice(sys_root, interface));
  }
  return devices;
}

bool Names(const std::string& wanted, const NetDevice& device) {
  return device.name == wanted ||
         (device.rdma && device.name.rfind(wanted + ":", 0) == 0);
}

std::string Listing(const std::vector<NetDevice>& devices) {
  std::string text;
  for (const NetDevice& device : devices) {
    text += (text.empty() ? "" : ", ") + device.name;
  }
  return text.empty() ? "none" : text;
}

Result<std::vector<NetDevice>> Select(const std::vector<NetDevice>& all,
                                      const std::vector<std::string>& wanted) {
  std::vector<NetDevice> chosen;
  for (const std::string& name : wanted) {
    const size_t before = chosen.size();
    for (const NetDevice& device : all) {
      if (Names(name, device)) chosen.push_back(device);
    }
    if (chosen.size() == before) {
      return InvalidArgument("RONDO_NET_DEVICES has \"" + name +
                             "\", which this machine has not; it has " +
                             Listing(all));
    }
  }
  return chosen;
}

// Without loopback and container bridges, unless nothing else is left.
std::vector<NetDevice> Preferred(const std::vector<NetDevice>& interfaces) {
  std::vector<NetDevice> preferred;
  for (const NetDevice& device : interfaces) {
    if (!device.address.IsLoopback() && !IsBridge(device.name)) {
      preferred.push_back(device);
    }
  }
  return preferred.empty() ? interfaces : preferred;
}

}  // namespace

Result<std::vector<NetDevice>> FindNetDevices(
    const std::string& sys_root, const std::vector<std::string>& wanted,
    const std::string& socket_ifname) {
  RONDO_ASSIGN_OR_RETURN(const auto interfaces, ListInterfaces());
  RONDO_ASSIGN_OR_RETURN(const Interface setup,
                         ChooseInterface(socket_ifname, interfaces));
  std::vector<NetDevice> rdma = RdmaPorts(sys_root, setup.address);
  const std::vector<NetDevice> ethernet =
      InterfaceDevices(sys_root, interfaces);
  std::vector<NetDevice> devices;
  if (!wanted.empty()) {
    std::vector<NetDevice> all = rdma;
    all.insert(all.end(), ethernet.begin(), ethernet.end());
    RONDO_ASSIGN_OR_RETURN(devices, Select(all, wanted));
  } else {
    devices = rdma.empty() ? Preferred(ethernet) : std::move(rdma);
  }
  if (devices.empty()) {
    return Status(Code::kSystem,
                  "this machine has no active RDMA port and no network "
                  "interface with an address");
  }
  if (devices.size() > kMostDevices) devices.resize(kMostDevices);
  return devices;
}

}  // namespace rondo::plugin
