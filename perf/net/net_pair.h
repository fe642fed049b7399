// NetPair: two processes with the same plugin, connected, that take orders.
//
// They are forked before the plugin is opened, so that neither inherits state
// of a network library from the other or from the command.
//
// Thread-safety: one thread, in a process that has started no others.
// Ownership: the processes are told to stop, and killed if they do not.
// Failure: what either process said, or how it ended.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(auto pair, NetPair::Start(choice, bytes, {}));
//   RONDO_ASSIGN_OR_RETURN(auto answers, pair->Run(order));
#pragma once

#include <sys/types.h>

#include <array>
#include <map>
#include <memory>
#include <string>

#include "perf/net/control_socket.h"
#include "perf/net/net_protocol.h"
#include "perf/net/net_side.h"
#include "transports/base/status.h"

namespace rondo::perf {

struct PairAnswers {
  Answer first;   // which streams
  Answer second;  // which receives the stream
};

class NetPair {
 public:
  // `variables` are set in both processes before the plugin is opened.
  static Result<std::unique_ptr<NetPair>> Start(
      const PluginChoice& choice, size_t memory_bytes,
      const std::map<std::string, std::string>& variables);
  ~NetPair();
  NetPair(const NetPair&) = delete;
  NetPair& operator=(const NetPair&) = delete;

  // As the first process introduced itself.
  const std::string& plugin_name() const { return plugin_name_; }
  const std::string& device_name() const { return device_name_; }
  int version() const { return version_; }

  Result<PairAnswers> Run(const Order& order);

 private:
  struct Process {
    pid_t pid = 0;
    ControlSocket orders;
  };

  NetPair() = default;
  Status Meet();
  // `error` of process `index`, or how that process ended.
  Status Explain(size_t index, const Status& error);

  std::array<Process, 2> processes_;
  std::string plugin_name_;
  std::string device_name_;
  int version_ = 0;
};

}  // namespace rondo::perf
