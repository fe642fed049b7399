#include <cstdint>

#include "transports/inprocess/inprocess_internal.h"

namespace rondo {

namespace {

constexpr int kMaxRanks = 4096;
constexpr int kMaxLanes = 64;

Status CheckWithin(const char* what, int value, int largest) {
  if (value >= 1 && value <= largest) return Status::Ok();
  return InvalidArgument(std::string("in-process network: ") + what + " " +
                         std::to_string(value) + " is not within 1 to " +
                         std::to_string(largest));
}

}  // namespace

Result<std::shared_ptr<InProcessNetwork>> InProcessNetwork::Create(
    int world_size, int lane_count) {
  RONDO_RETURN_IF_ERROR(CheckWithin("world size", world_size, kMaxRanks));
  RONDO_RETURN_IF_ERROR(CheckWithin("lane count", lane_count, kMaxLanes));
  return std::shared_ptr<InProcessNetwork>(
      new InProcessNetwork(world_size, lane_count));
}

InProcessNetwork::InProcessNetwork(int world_size, int lane_count)
    : lane_count_(lane_count) {
  for (int rank = 0; rank < world_size; ++rank) {
    ranks_.push_back(std::make_unique<RankState>());
  }
}

InProcessNetwork::~InProcessNetwork() = default;

Result<std::unique_ptr<Transport>> InProcessNetwork::Endpoint(int rank) {
  if (rank < 0 || rank >= world_size()) {
    return InvalidArgument("in-process network: rank " + std::to_string(rank) +
                           " is not within 0 to " +
                           std::to_string(world_size() - 1));
  }
  if (ranks_[rank]->taken.exchange(true)) {
    return InvalidUsage("in-process network: rank " + std::to_string(rank) +
                        " already has its endpoint");
  }
  return std::unique_ptr<Transport>(
      new InProcessTransport(shared_from_this(), rank));
}

std::string InProcessNetwork::AddressOf(int rank) const {
  return "rondo in-process network " +
         std::to_string(reinterpret_cast<uintptr_t>(this)) + " lanes " +
         std::to_string(lane_count_) + " rank " + std::to_string(rank);
}

}  // namespace rondo
