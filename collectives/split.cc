// Communicator::Split: new communicators meet at coordinators that are made on
// the spot, one by the first rank of each color; the parent carries the ids.

#include <algorithm>
#include <cstring>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "collectives/communicator.h"
#include "collectives/communicator_impl.h"
#include "collectives/meet.h"
#include "fmt/format.h"

namespace rondo {
namespace {

struct Wish {
  int32_t color = 0;
  int32_t key = 0;
};

// The parent's ranks of `color`, in the order that they have in the new one.
Result<std::vector<int>> MembersOf(const std::vector<std::string>& blobs,
                                   int color) {
  std::vector<std::pair<int, int>> members;  // (key, rank)
  for (size_t rank = 0; rank < blobs.size(); ++rank) {
    Wish wish;
    if (blobs[rank].size() != sizeof(wish)) {
      return Status(Code::kMismatch,
                    fmt::format("rank {} is not in Split", rank));
    }
    std::memcpy(&wish, blobs[rank].data(), sizeof(wish));
    if (wish.color == color) {
      members.emplace_back(wish.key, static_cast<int>(rank));
    }
  }
  std::sort(members.begin(), members.end());
  std::vector<int> ranks;
  for (const auto& [key, rank] : members) ranks.push_back(rank);
  return ranks;
}

}  // namespace

Result<std::unique_ptr<Communicator>> Communicator::Split(int color, int key) {
  RONDO_RETURN_IF_ERROR(AsyncError());
  const Wish wish{color, key};
  RONDO_ASSIGN_OR_RETURN(
      auto wishes,
      Exchange({reinterpret_cast<const char*>(&wish), sizeof(wish)}));
  RONDO_ASSIGN_OR_RETURN(std::vector<int> members, MembersOf(wishes, color));

  CommunicatorOptions options;
  // The leader of a color makes its meeting place. Every rank takes part in the
  // exchange, also those that get nothing and a leader that failed.
  std::string offer;
  if (color >= 0 && members[0] == rank() && members.size() > 1) {
    Result<MeetingPlace> place = NewMeetingPlace(parameters());
    if (place.ok()) {
      offer = place->unique_id.bytes();
      options.coordinator = std::move(place->coordinator);
    } else {
      offer = place.status().message();
    }
  }
  RONDO_ASSIGN_OR_RETURN(auto offers, Exchange(offer));
  if (color < 0) return std::unique_ptr<Communicator>();
  if (members.size() > 1) {
    Result<UniqueId> unique_id = UniqueId::Parse(offers[members[0]]);
    if (!unique_id.ok()) {
      return Status(Code::kTransport,
                    fmt::format("rank {} could not make a meeting place: {}",
                                members[0], offers[members[0]]));
    }
    options.unique_id = *unique_id;
  }
  options.rank = static_cast<int>(
      std::find(members.begin(), members.end(), rank()) - members.begin());
  options.world_size = static_cast<int>(members.size());
  options.parameters = parameters();
  return Create(std::move(options));
}

}  // namespace rondo
