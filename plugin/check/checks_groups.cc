// Several receives in one request, which is how NCCL shares a communicator
// between the ranks of a host.
#include <algorithm>
#include <memory>
#include <vector>

#include "plugin/check/checks.h"
#include "plugin/check/connection.h"
#include "transports/base/clock.h"

namespace rondo::plugin {
namespace {

constexpr size_t kRoom = 2048;

// One irecv of several buffers.
struct Group {
  std::vector<std::unique_ptr<Memory>> buffers;
  std::vector<int> tags;
  void* request = nullptr;
  std::vector<int> sizes;

  Awaited awaited() {
    return {request, sizes.data(), static_cast<int>(tags.size())};
  }
};

Result<Group> PostGroup(Connection* both, std::vector<int> tags) {
  Group group;
  group.tags = std::move(tags);
  group.sizes.resize(group.tags.size());
  std::vector<void*> data, handles;
  std::vector<size_t> bytes(group.tags.size(), kRoom);
  for (size_t i = 0; i < group.tags.size(); ++i) {
    group.buffers.push_back(std::make_unique<Memory>(both->net, kRoom));
    RONDO_RETURN_IF_ERROR(group.buffers[i]->Register(both->receive.get()));
    data.push_back(group.buffers[i]->data());
    handles.push_back(group.buffers[i]->handle());
  }
  const Deadline deadline = Deadline::AfterMs(kPatienceMs);
  const int count = static_cast<int>(group.tags.size());
  while (group.request == nullptr) {
    RONDO_RETURN_IF_ERROR(Succeeds(
        both->net->Irecv(both->receive.get(), count, data.data(), bytes.data(),
                         group.tags.data(), handles.data(), &group.request),
        "irecv of a group"));
    RONDO_RETURN_IF_ERROR(
        Expect(!deadline.expired(), "no request for a group of {}", count));
  }
  return group;
}

Status Holds(Group* group, size_t entry, size_t message, size_t bytes) {
  RONDO_RETURN_IF_ERROR(
      Expect(static_cast<size_t>(group->sizes[entry]) == bytes,
             "entry {} (tag {}) of a group has {} bytes; message {} of that "
             "tag had {}",
             entry, group->tags[entry], group->sizes[entry], message, bytes));
  return group->buffers[entry]
      ->Verify(message, bytes)
      .WithContext(fmt::format("entry {} (tag {}) of a group", entry,
                               group->tags[entry]));
}

// Sends message `number`, of 10 * number + 1 bytes, while all else goes on.
struct Outbox {
  Connection* both;
  std::vector<Awaited> in_flight;
  std::vector<std::unique_ptr<Memory>> memories = {};

  static size_t Bytes(size_t number) { return 10 * number + 1; }
  Status Send(size_t number, int tag) {
    memories.push_back(std::make_unique<Memory>(both->net, Bytes(number)));
    memories.back()->Fill(number);
    RONDO_RETURN_IF_ERROR(memories.back()->Register(both->send.get()));
    RONDO_ASSIGN_OR_RETURN(
        void* request,
        PostSend(*both->net, both->send.get(), memories.back().get(),
                 Bytes(number), tag, &in_flight));
    in_flight.push_back({request});
    return Status::Ok();
  }
};

}  // namespace

Status CheckGroups(const CheckSetup& setup) {
  RONDO_ASSIGN_OR_RETURN(auto side, PluginSide::Open(setup));
  RONDO_ASSIGN_OR_RETURN(Connection both, Connection::Open(*side));
  const int most = std::min(8, side->properties().max_receives);
  for (int count = 1; count <= most; ++count) {
    std::vector<int> tags;
    for (int i = 0; i < count; ++i) tags.push_back(100 + i);
    RONDO_ASSIGN_OR_RETURN(Group group, PostGroup(&both, tags));
    Outbox out{&both, {group.awaited()}};
    // The last tag first.
    for (int i = count; i-- > 0;) {
      RONDO_RETURN_IF_ERROR(out.Send(static_cast<size_t>(i), 100 + i));
    }
    RONDO_RETURN_IF_ERROR(AwaitAll(side->net(), out.in_flight));
    for (int i = 0; i < count; ++i) {
      const auto entry = static_cast<size_t>(i);
      RONDO_RETURN_IF_ERROR(Holds(&group, entry, entry, Outbox::Bytes(entry)));
    }
  }
  return Status::Ok();
}

Status CheckEqualTagsInAGroup(const CheckSetup& setup) {
  RONDO_ASSIGN_OR_RETURN(auto side, PluginSide::Open(setup));
  if (side->properties().max_receives < 3) return Status::Ok();
  RONDO_ASSIGN_OR_RETURN(Connection both, Connection::Open(*side));
  RONDO_ASSIGN_OR_RETURN(Group group, PostGroup(&both, {7, 8, 7}));
  Outbox out{&both, {group.awaited()}};
  RONDO_RETURN_IF_ERROR(out.Send(1, 7));
  RONDO_RETURN_IF_ERROR(out.Send(2, 7));
  RONDO_RETURN_IF_ERROR(out.Send(3, 8));
  RONDO_RETURN_IF_ERROR(AwaitAll(side->net(), out.in_flight));
  RONDO_RETURN_IF_ERROR(Holds(&group, 0, 1, Outbox::Bytes(1)));
  RONDO_RETURN_IF_ERROR(Holds(&group, 1, 3, Outbox::Bytes(3)));
  return Holds(&group, 2, 2, Outbox::Bytes(2));
}

Status CheckInterleavedGroups(const CheckSetup& setup) {
  RONDO_ASSIGN_OR_RETURN(auto side, PluginSide::Open(setup));
  if (side->properties().max_receives < 2) return Status::Ok();
  RONDO_ASSIGN_OR_RETURN(Connection both, Connection::Open(*side));
  RONDO_ASSIGN_OR_RETURN(Group first, PostGroup(&both, {1, 2}));
  RONDO_ASSIGN_OR_RETURN(Group second, PostGroup(&both, {1, 2}));
  Outbox out{&both, {first.awaited(), second.awaited()}};
  // Tag 1 of both groups before tag 2 of the first: NCCL's ranks do not wait
  // for each other. A plugin may hold back what does not fit its order.
  const Deadline deadline = Deadline::AfterMs(kPatienceMs);
  RONDO_RETURN_IF_ERROR(out.Send(1, 1));
  Memory early(both.net, Outbox::Bytes(3));
  early.Fill(3);
  RONDO_RETURN_IF_ERROR(early.Register(both.send.get()));
  void* request = nullptr;
  RONDO_RETURN_IF_ERROR(
      Succeeds(side->net().Isend(both.send.get(), early.data(),
                                 Outbox::Bytes(3), 1, early.handle(), &request),
               "isend of a later group's tag"));
  RONDO_RETURN_IF_ERROR(out.Send(2, 2));
  while (request == nullptr && !deadline.expired()) {
    RONDO_RETURN_IF_ERROR(Succeeds(
        side->net().Isend(both.send.get(), early.data(), Outbox::Bytes(3), 1,
                          early.handle(), &request),
        "isend of a later group's tag"));
    RONDO_RETURN_IF_ERROR(Poll(side->net(), &out.in_flight));
  }
  RONDO_RETURN_IF_ERROR(
      Expect(request != nullptr, "a later group's tag can never be sent"));
  out.in_flight.push_back({request});
  RONDO_RETURN_IF_ERROR(out.Send(4, 2));
  RONDO_RETURN_IF_ERROR(AwaitAll(side->net(), out.in_flight));
  RONDO_RETURN_IF_ERROR(Holds(&first, 0, 1, Outbox::Bytes(1)));
  RONDO_RETURN_IF_ERROR(Holds(&first, 1, 2, Outbox::Bytes(2)));
  RONDO_RETURN_IF_ERROR(Holds(&second, 0, 3, Outbox::Bytes(3)));
  return Holds(&second, 1, 4, Outbox::Bytes(4));
}

}  // namespace rondo::plugin
