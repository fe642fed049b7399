#include "transports/contract/arguments.h"

#include "transports/contract/transport.h"

namespace rondo {

std::string DescribeTransfer(int rank, const char* verb, int peer, int lane,
                             uint64_t tag) {
  return "rank " + std::to_string(rank) + ": " + verb + " rank " +
         std::to_string(peer) + ", lane " + std::to_string(lane) + ", tag " +
         std::to_string(tag);
}

Status CheckTransfer(const GroupShape& shape, const char* verb, int peer,
                     int lane, uint64_t tag, const void* data, size_t bytes) {
  const auto where = [&] {
    return DescribeTransfer(shape.rank, verb, peer, lane, tag);
  };
  if (shape.rank < 0) {
    return InvalidUsage(where() + ": the transport is not connected yet");
  }
  if (peer < 0 || peer >= shape.world_size || peer == shape.rank) {
    return InvalidArgument(where() +
                           ": the peer must be another rank of 0 to " +
                           std::to_string(shape.world_size - 1));
  }
  if (lane < 0 || lane >= shape.lane_count) {
    return InvalidArgument(where() + ": the lane must be within 0 to " +
                           std::to_string(shape.lane_count - 1));
  }
  if (tag > kMaxTag) {
    return InvalidArgument(where() + ": the tag must be at most " +
                           std::to_string(kMaxTag));
  }
  if (data == nullptr && bytes > 0) {
    return InvalidArgument(where() + ": no buffer was given for " +
                           std::to_string(bytes) + " bytes");
  }
  return Status::Ok();
}

Status CheckConnect(const GroupShape& shape, int rank, size_t address_count) {
  const std::string who = "rank " + std::to_string(rank);
  if (shape.rank >= 0) {
    return InvalidUsage(who + ": the transport is already connected as rank " +
                        std::to_string(shape.rank));
  }
  if (address_count == 0 || address_count > size_t{kMaxWorldSize}) {
    return InvalidArgument(who + ": " + std::to_string(address_count) +
                           " addresses were given; 1 to " +
                           std::to_string(kMaxWorldSize) + " are accepted");
  }
  if (rank < 0 || static_cast<size_t>(rank) >= address_count) {
    return InvalidArgument(who + " is not within 0 to " +
                           std::to_string(address_count - 1) +
                           ", the ranks of the addresses given");
  }
  return Status::Ok();
}

Status SizeMismatch(int rank, int peer, int lane, uint64_t tag,
                    size_t buffer_bytes, size_t message_bytes) {
  return Status(Code::kMismatch,
                DescribeTransfer(rank, "receive from", peer, lane, tag) + ": " +
                    std::to_string(message_bytes) +
                    " bytes arrived where exactly " +
                    std::to_string(buffer_bytes) + " were expected");
}

}  // namespace rondo
