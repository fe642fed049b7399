#include "collectives/meet.h"

#include <mutex>
#include <string>
#include <vector>

#include "fmt/format.h"
#include "transports/bootstrap/tcp_bootstrap.h"

namespace rondo {
namespace {

// A world of one needs no sockets.
class Alone : public Bootstrap {
 public:
  int rank() const override { return 0; }
  int world_size() const override { return 1; }

  Result<std::vector<std::string>> AllGather(std::string_view mine,
                                             Deadline) override {
    return std::vector<std::string>{std::string(mine)};
  }

  void Report(const Status& error) override {
    std::lock_guard<std::mutex> lock(mutex_);
    if (failed_.load(std::memory_order_relaxed)) return;
    failure_ = error;
    failed_.store(true, std::memory_order_release);
  }

  bool HasLeft(int) const override { return false; }

  Status failure() const override {
    std::lock_guard<std::mutex> lock(mutex_);
    return failure_;
  }

 private:
  mutable std::mutex mutex_;
  Status failure_;
};

Status CheckWorld(const CommunicatorOptions& options) {
  if (options.world_size < 1) {
    return InvalidArgument(fmt::format("world size {}; at least 1 is accepted",
                                       options.world_size));
  }
  if (options.rank < 0 || options.rank >= options.world_size) {
    return InvalidArgument(fmt::format("rank {}; accepted are 0 to {}",
                                       options.rank, options.world_size - 1));
  }
  return Status::Ok();
}

}  // namespace

CoordinatorOptions CoordinatorOptionsOf(const Parameters& parameters) {
  CoordinatorOptions options;
  options.socket_ifname = parameters.socket_ifname;
  options.heartbeat_ms = static_cast<int>(parameters.heartbeat_ms);
  options.peer_timeout_ms = static_cast<int>(parameters.peer_timeout_ms);
  return options;
}

Result<std::shared_ptr<Bootstrap>> MeetRanks(
    const CommunicatorOptions& options) {
  RONDO_RETURN_IF_ERROR(CheckWorld(options));
  if (options.bootstrap != nullptr) return options.bootstrap;
  if (options.unique_id.has_value()) {
    TcpOptions tcp;
    tcp.join_timeout_ms =
        static_cast<int>(options.parameters.bootstrap_timeout_ms);
    RONDO_ASSIGN_OR_RETURN(
        auto joined,
        JoinTcp(*options.unique_id, options.rank, options.world_size, tcp));
    return std::shared_ptr<Bootstrap>(std::move(joined));
  }
  if (options.world_size > 1) {
    return InvalidArgument(fmt::format(
        "rank {} of {} has neither a bootstrap nor a unique id to meet the "
        "others",
        options.rank, options.world_size));
  }
  return std::shared_ptr<Bootstrap>(std::make_shared<Alone>());
}

}  // namespace rondo
