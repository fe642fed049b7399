// A transport between ranks that are threads of one process: for tests, and for
// users who run several ranks in one process without a network.
//
// A network is made once; each rank takes its endpoint, which is a Transport
// like any other (transports/contract/transport.h). Messages of up to 8 KiB are
// copied when they are sent; larger ones are copied once, by the receiver,
// straight from the sender's buffer, and the send is done when that has
// happened.
//
// Thread-safety: the network and distinct endpoints may be used from different
// threads at once; one endpoint by one thread at a time. Ownership: endpoints
// keep the network alive. Failure: as the contract says; in addition, when an
// endpoint is destroyed, transfers with it that can no longer complete end on
// the other ranks with an error that names it.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(auto network, InProcessNetwork::Create(2, 1));
//   RONDO_ASSIGN_OR_RETURN(auto first, network->Endpoint(0));
//   RONDO_ASSIGN_OR_RETURN(auto second, network->Endpoint(1));
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "transports/base/status.h"
#include "transports/contract/transport.h"

namespace rondo {

class InProcessNetwork : public std::enable_shared_from_this<InProcessNetwork> {
 public:
  // `world_size` of 1 to 4096 ranks, `lane_count` of 1 to 64 lanes.
  static Result<std::shared_ptr<InProcessNetwork>> Create(int world_size,
                                                          int lane_count);
  ~InProcessNetwork();

  // The transport of `rank`; each rank has one, once.
  Result<std::unique_ptr<Transport>> Endpoint(int rank);

  int world_size() const { return static_cast<int>(ranks_.size()); }
  int lane_count() const { return lane_count_; }

 private:
  friend class InProcessTransport;
  struct Message;
  struct RankState;

  InProcessNetwork(int world_size, int lane_count);
  std::string AddressOf(int rank) const;

  const int lane_count_;
  std::vector<std::unique_ptr<RankState>> ranks_;
};

}  // namespace rondo
