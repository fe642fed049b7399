// NetLibrary: what the versions of the table have in common: the devices, the
// open contexts of UCX, the attempts to connect that are under way.
//
// One object lives as long as the shared object is loaded. Contexts of UCX live
// as long as a communicator or an attempt needs them, so that nothing is left
// when NCCL unloads the library, also in versions without finalize.
//
// Thread-safety: any thread. Failure: Status; the tables turn it into a result
// and a warning.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "plugin/net/net_connect.h"
#include "plugin/net/net_device.h"
#include "plugin/net/net_handle.h"
#include "transports/base/parameters.h"

namespace rondo::plugin {

class NetLibrary {
 public:
  static NetLibrary& Get();

  // Finds the devices, the first time it succeeds.
  Status Init();
  Status Devices(int* count);
  // Stays valid while the library is loaded.
  Result<const NetDevice*> Device(int index);
  bool forces_flush();

  Result<std::unique_ptr<NetListener>> Listen(int device, NetHandle* handle);
  // Null while the connection is not ready.
  Result<std::unique_ptr<SendComm>> Connect(int device, NetHandle* handle);
  // Whether UCX can reach GPU memory on this device.
  bool SupportsCuda(const NetDevice& device);

 private:
  NetLibrary() = default;
  OpenContext Opener(const NetDevice& device);
  Result<std::shared_ptr<UcxContext>> OpenShared(const NetDevice& device);

  std::mutex mutex_;
  bool ready_ = false;
  Parameters parameters_;
  std::vector<NetDevice> devices_;
  std::map<std::string, std::weak_ptr<UcxContext>> contexts_;
  std::map<std::string, bool> cuda_;
  uint64_t next_connect_id_ = 1;
  std::map<uint64_t, std::unique_ptr<NetConnector>> connecting_;
};

}  // namespace rondo::plugin
