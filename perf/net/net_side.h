// NetSide: one process's end of a plugin: device, communicators and memory.
//
// The plugin is opened and connected as NCCL does it: listen, exchange of
// handles, connect and accept in turns until both are there. There is one
// communicator each way, and one registered piece of host memory for each.
//
// Thread-safety: one thread. Ownership: closes communicators, finalizes and
// unloads the plugin. Failure: errors name the call; connecting has a deadline.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(auto side, NetSide::Open(choice, most_bytes));
//   RONDO_RETURN_IF_ERROR(side->Connect(&peer));
//   SendFlow flow(side->sending(1024, 1), &watch);
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "perf/net/control_socket.h"
#include "perf/net/net_flow.h"
#include "plugin/check/loaded_plugin.h"
#include "transports/base/status.h"

namespace rondo::perf {

struct PluginChoice {
  std::string path;    // or name, as dlopen takes it
  int version = 0;     // 0: the newest that it exports
  std::string device;  // index or name
};

class NetSide {
 public:
  // `memory_bytes` to send from, and as many to receive into.
  static Result<std::unique_ptr<NetSide>> Open(const PluginChoice& choice,
                                               size_t memory_bytes);
  ~NetSide();
  NetSide(const NetSide&) = delete;
  NetSide& operator=(const NetSide&) = delete;

  // Both ways with the process at the other end of `peer`.
  Status Connect(ControlSocket* peer);

  plugin::NetTable* net() const { return net_; }
  const std::string& device_name() const { return device_name_; }

  // `slots * bytes` must fit the memory.
  FlowTarget sending(size_t bytes, int slots);
  FlowTarget receiving(size_t bytes, int slots);

 private:
  NetSide() = default;
  Status ChooseDevice(const std::string& wanted);
  Status ConnectBoth(void* peer_handle);
  Status Register(void* comm, std::vector<std::byte>* memory, void** handle);

  std::unique_ptr<plugin::LoadedPlugin> library_;
  plugin::NetTable* net_ = nullptr;
  bool initialized_ = false;
  void* context_ = nullptr;
  int device_ = 0;
  std::string device_name_;
  void* listen_comm_ = nullptr;
  void* send_comm_ = nullptr;
  void* receive_comm_ = nullptr;
  std::vector<std::byte> send_memory_;
  std::vector<std::byte> receive_memory_;
  void* send_handle_ = nullptr;
  void* receive_handle_ = nullptr;
};

}  // namespace rondo::perf
