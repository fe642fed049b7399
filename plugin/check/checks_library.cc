#include <dirent.h>

#include <cmath>
#include <cstdlib>
#include <string>

#include "plugin/check/checks.h"
#include "plugin/check/connection.h"

namespace rondo::plugin {
namespace {

int EntriesOf(const char* folder) {
  DIR* opened = opendir(folder);
  if (opened == nullptr) return -1;
  int count = 0;
  while (readdir(opened) != nullptr) ++count;
  closedir(opened);
  return count;
}

Status SameAgain(const PluginSide& side) {
  nccl::PropertiesV12 again{};
  RONDO_RETURN_IF_ERROR(Succeeds(
      side.net().GetProperties(side.device(), &again), "getProperties again"));
  const nccl::PropertiesV12& first = side.properties();
  return Expect(again.name == first.name && again.guid == first.guid &&
                    again.speed_mbps == first.speed_mbps,
                "name, guid or speed change between two calls: {} {:#x} {}, "
                "then {} {:#x} {}",
                static_cast<const void*>(first.name), first.guid,
                first.speed_mbps, static_cast<const void*>(again.name),
                again.guid, again.speed_mbps);
}

Status SinceVersion9(const nccl::PropertiesV12& p, int device) {
  RONDO_RETURN_IF_ERROR(Expect(p.force_flush == 0 || p.force_flush == 1,
                               "forceFlush is {}: left unset?", p.force_flush));
  RONDO_RETURN_IF_ERROR(Expect(
      p.virtual_device.count == 1 && p.virtual_device.devices[0] == device,
      "vProps is {} devices, first {}; due are 1 and {} (NCCL loops over them)",
      p.virtual_device.count, p.virtual_device.devices[0], device));
  RONDO_RETURN_IF_ERROR(
      Expect(p.max_p2p_bytes > 0 && p.max_p2p_bytes <= nccl::kMaxNetBytes,
             "maxP2pBytes is {}; accepted are 1 to 2^40", p.max_p2p_bytes));
  return Expect(p.max_collective_bytes > 0 &&
                    p.max_collective_bytes <= nccl::kMaxNetBytes,
                "maxCollBytes is {}; accepted are 1 to 2^40",
                p.max_collective_bytes);
}

}  // namespace

Status CheckProperties(const CheckSetup& setup) {
  RONDO_ASSIGN_OR_RETURN(auto side, PluginSide::Open(setup));
  const nccl::PropertiesV12& p = side->properties();
  RONDO_RETURN_IF_ERROR(Expect(p.name != nullptr, "name is null"));
  RONDO_RETURN_IF_ERROR(
      Expect((p.pointer_support & nccl::kPointerHost) != 0 &&
                 (p.pointer_support & ~7) == 0,
             "ptrSupport is {:#x}: host memory (1) is a must, 2 and 4 may be",
             p.pointer_support));
  RONDO_RETURN_IF_ERROR(
      Expect(p.registration_is_global == 0 || p.registration_is_global == 1,
             "regIsGlobal is {}: left unset?", p.registration_is_global));
  RONDO_RETURN_IF_ERROR(Expect(p.speed_mbps > 0 && p.speed_mbps < 100'000'000,
                               "speed is {} Mbps", p.speed_mbps));
  RONDO_RETURN_IF_ERROR(
      Expect(p.port >= 0 && p.port < 65536, "port is {}", p.port));
  RONDO_RETURN_IF_ERROR(Expect(
      std::isfinite(p.latency_us) && p.latency_us >= 0 && p.latency_us < 1e6F,
      "latency is {} us", p.latency_us));
  RONDO_RETURN_IF_ERROR(Expect(p.max_comms > 0, "maxComms is {}", p.max_comms));
  RONDO_RETURN_IF_ERROR(Expect(p.max_receives >= 1 && p.max_receives <= 64,
                               "maxRecvs is {}", p.max_receives));
  RONDO_RETURN_IF_ERROR(Expect(p.net_device_type == nccl::kNetDeviceHost,
                               "netDeviceType is {}", p.net_device_type));
  RONDO_RETURN_IF_ERROR(
      Expect(p.net_device_version == 0 || p.net_device_version == 7,
             "netDeviceVersion is {}", p.net_device_version));
  if (setup.version >= 9) {
    RONDO_RETURN_IF_ERROR(SinceVersion9(p, setup.device));
  }
  if (setup.version >= 11) {
    RONDO_RETURN_IF_ERROR(
        Expect(p.max_multi_request_size >= 1 && p.max_multi_request_size <= 64,
               "maxMultiRequestSize is {}", p.max_multi_request_size));
  }
  return SameAgain(*side);
}

Status CheckDeviceRange(const CheckSetup& setup) {
  RONDO_ASSIGN_OR_RETURN(auto side, PluginSide::Open(setup));
  int count = 0;
  int again = 0;
  RONDO_RETURN_IF_ERROR(Succeeds(side->net().Devices(&count), "devices"));
  RONDO_RETURN_IF_ERROR(Expect(count > 0 && count <= nccl::kMaxDevices,
                               "devices() says {}; accepted are 1 to 128",
                               count));
  RONDO_RETURN_IF_ERROR(Succeeds(side->net().Devices(&again), "devices"));
  RONDO_RETURN_IF_ERROR(
      Expect(count == again, "devices() says {}, then {}", count, again));
  nccl::PropertiesV12 properties{};
  for (const int device : {-1, count}) {
    RONDO_RETURN_IF_ERROR(
        FailsWell(side->net().GetProperties(device, &properties),
                  fmt::format("getProperties of device {} of {}", device, count)
                      .c_str()));
  }
  return Status::Ok();
}

Status CheckFailedInit(const CheckSetup& setup) {
  RONDO_ASSIGN_OR_RETURN(auto plugin, LoadedPlugin::Open(setup.path));
  NetTable& net = *plugin->table(setup.version);
  std::string setting = setup.failing_environment;
  if (setting.empty() && std::string(net.name()) == "Rondo") {
    setting = "RONDO_NET_DEVICES=no-such-device";
  }
  if (setting.empty()) return Skip("no --failing-env NAME=VALUE was given");
  const size_t equals = setting.find('=');
  const std::string name = setting.substr(0, equals);
  const char* before = std::getenv(name.c_str());
  const std::string kept = before == nullptr ? "" : before;
  setenv(name.c_str(), setting.c_str() + equals + 1, 1);
  void* context = nullptr;
  RONDO_RETURN_IF_ERROR(
      FailsWell(net.Init(&context, 1, CheckLogger()), "init that has to fail"));
  RONDO_RETURN_IF_ERROR(Expect(!TakeWarnings().empty(),
                               "init failed without a warning that says why"));
  // NCCL 2.28.9 does that.
  RONDO_RETURN_IF_ERROR(
      Succeeds(net.Finalize(nullptr), "finalize after a failed init"));
  if (before == nullptr) {
    unsetenv(name.c_str());
  } else {
    setenv(name.c_str(), kept.c_str(), 1);
  }
  RONDO_RETURN_IF_ERROR(Succeeds(net.Init(&context, 1, CheckLogger()),
                                 "init after one that failed"));
  int count = 0;
  RONDO_RETURN_IF_ERROR(Succeeds(net.Devices(&count), "devices"));
  return Succeeds(net.Finalize(context), "finalize");
}

Status CheckReload(const CheckSetup& setup) {
  int threads = 0, files = 0;
  for (int round = 0; round < 10; ++round) {
    {
      RONDO_ASSIGN_OR_RETURN(auto side, PluginSide::Open(setup));
      RONDO_ASSIGN_OR_RETURN(Connection both, Connection::Open(*side));
      RONDO_RETURN_IF_ERROR(both.Move(100, 100, 0));
      RONDO_RETURN_IF_ERROR(Succeeds(both.send.Close(), "closeSend"));
      RONDO_RETURN_IF_ERROR(Succeeds(both.receive.Close(), "closeRecv"));
    }
    const int threads_now = EntriesOf("/proc/self/task");
    const int files_now = EntriesOf("/proc/self/fd");
    // The first rounds load what others share, once.
    if (round < 2) {
      threads = threads_now;
      files = files_now;
    }
    RONDO_RETURN_IF_ERROR(
        Expect(threads_now <= threads,
               "{} threads after unloading {} times, {} after the second",
               threads_now, round + 1, threads));
    RONDO_RETURN_IF_ERROR(
        Expect(files_now <= files,
               "{} open files after unloading {} times, {} after the second",
               files_now, round + 1, files));
  }
  return Expect(threads <= 3,
                "{} entries in /proc/self/task after unloading: a thread stays",
                threads);
}

Status CheckAttributes(const CheckSetup& setup) {
  RONDO_ASSIGN_OR_RETURN(auto side, PluginSide::Open(setup));
  nccl::NetAttributes attributes{};
  for (const int32_t value : {-1, 0, 1, 1 << 20}) {
    attributes.send = {value, value, value, value};
    attributes.receive = attributes.send;
    attributes.operations = static_cast<uint32_t>(value);
    // NCCL ignores the result.
    side->net().SetAttributes(side->context(), &attributes);
  }
  RONDO_ASSIGN_OR_RETURN(Connection both, Connection::Open(*side));
  return both.Move(77, 77, 0);
}

}  // namespace rondo::plugin
