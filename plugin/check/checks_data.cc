#include <algorithm>
#include <memory>
#include <vector>

#include "plugin/check/checks.h"
#include "plugin/check/connection.h"
#include "transports/base/clock.h"

namespace rondo::plugin {

Status CheckSizes(const CheckSetup& setup) {
  RONDO_ASSIGN_OR_RETURN(auto side, PluginSide::Open(setup));
  RONDO_ASSIGN_OR_RETURN(Connection both, Connection::Open(*side));
  for (const size_t bytes :
       {0, 1, 7, 8, 4095, 4096, 4097, 65536, 524288, 4194305}) {
    RONDO_RETURN_IF_ERROR(both.Move(bytes, bytes, 3));
    RONDO_RETURN_IF_ERROR(both.Move(bytes, bytes + 1000, 3));
  }
  return Status::Ok();
}

Status CheckOversizeSend(const CheckSetup& setup) {
  RONDO_ASSIGN_OR_RETURN(auto side, PluginSide::Open(setup));
  NetTable& net = side->net();
  RONDO_ASSIGN_OR_RETURN(Connection both, Connection::Open(*side));
  Memory from(&net, 5000), to(&net, 1000);
  from.Fill(1);
  RONDO_RETURN_IF_ERROR(from.Register(both.send.get()));
  RONDO_RETURN_IF_ERROR(to.Register(both.receive.get()));
  RONDO_ASSIGN_OR_RETURN(void* received,
                         PostReceive(net, both.receive.get(), &to, 1));
  void* sent = nullptr;
  const Deadline deadline = Deadline::AfterMs(kPatienceMs);
  int done = 0;
  int result = nccl::kSuccess;
  int send_result = nccl::kSuccess;
  int size = 0;
  while (done == 0 && result == nccl::kSuccess && !deadline.expired()) {
    // An error on the sending side is as good, as long as the receiver learns.
    if (sent == nullptr && send_result == nccl::kSuccess) {
      send_result = net.Isend(both.send.get(), from.data(), 5000, 1,
                              from.handle(), &sent);
    } else if (sent != nullptr && send_result == nccl::kSuccess) {
      int sent_done = 0;
      send_result = net.Test(sent, &sent_done, nullptr);
      if (sent_done != 0) send_result = nccl::kInProgress;  // no more tests
    }
    result = net.Test(received, &done, &size);
  }
  RONDO_RETURN_IF_ERROR(Expect(
      done == 0, "5000 bytes came into 1000 and were reported as {}", size));
  RONDO_RETURN_IF_ERROR(
      FailsWell(result, "test of a receive of 1000 bytes, 5000 being sent,"));
  return to.Verify(1, 0).WithContext("an oversize send");
}

Status CheckManyInFlight(const CheckSetup& setup) {
  constexpr int kMessages = 200;
  RONDO_ASSIGN_OR_RETURN(auto side, PluginSide::Open(setup));
  NetTable& net = side->net();
  RONDO_ASSIGN_OR_RETURN(Connection both, Connection::Open(*side));
  std::vector<std::unique_ptr<Memory>> from, to;
  std::vector<void*> sends, receives;
  int sent = 0, received = 0, most = 0;
  for (int i = 0; i < kMessages; ++i) {
    from.push_back(std::make_unique<Memory>(&net, 512));
    to.push_back(std::make_unique<Memory>(&net, 512));
    from.back()->Fill(static_cast<size_t>(i));
    RONDO_RETURN_IF_ERROR(from.back()->Register(both.send.get()));
    RONDO_RETURN_IF_ERROR(to.back()->Register(both.receive.get()));
  }
  // As many as it takes; beyond its room it has to say "not yet".
  const Deadline deadline = Deadline::AfterMs(2 * kPatienceMs);
  while (sent < kMessages || received < kMessages) {
    while (static_cast<int>(receives.size()) + received < kMessages) {
      Memory& memory = *to[receives.size() + static_cast<size_t>(received)];
      void* data = memory.data();
      void* handle = memory.handle();
      size_t bytes = 512;
      int tag = 5;
      void* request = nullptr;
      RONDO_RETURN_IF_ERROR(Succeeds(
          net.Irecv(both.receive.get(), 1, &data, &bytes, &tag, &handle,
                    &request),
          fmt::format("irecv with {} in flight", receives.size()).c_str()));
      if (request == nullptr) break;
      receives.push_back(request);
    }
    while (static_cast<int>(sends.size()) + sent < kMessages) {
      Memory& memory = *from[sends.size() + static_cast<size_t>(sent)];
      void* request = nullptr;
      RONDO_RETURN_IF_ERROR(Succeeds(
          net.Isend(both.send.get(), memory.data(), 512, 5, memory.handle(),
                    &request),
          fmt::format("isend with {} in flight", sends.size()).c_str()));
      if (request == nullptr) break;
      sends.push_back(request);
    }
    most = std::max(most, static_cast<int>(receives.size()));
    for (auto* pending : {&sends, &receives}) {
      if (pending->empty()) continue;
      int done = 0;
      RONDO_RETURN_IF_ERROR(
          Succeeds(net.Test(pending->front(), &done, nullptr), "test"));
      if (done == 0) continue;
      pending->erase(pending->begin());
      ++(pending == &sends ? sent : received);
    }
    RONDO_RETURN_IF_ERROR(Expect(!deadline.expired(),
                                 "{} of {} messages sent, {} received, then "
                                 "nothing more",
                                 sent, kMessages, received));
  }
  RONDO_RETURN_IF_ERROR(
      Expect(most >= 8, "{} receives in flight at most; NCCL needs 8", most));
  for (size_t i = 0; i < to.size(); ++i) {
    RONDO_RETURN_IF_ERROR(to[i]->Verify(i, 512));
  }
  return Status::Ok();
}

Status CheckOrderOfATag(const CheckSetup& setup) {
  constexpr int kMessages = 8;
  RONDO_ASSIGN_OR_RETURN(auto side, PluginSide::Open(setup));
  NetTable& net = side->net();
  RONDO_ASSIGN_OR_RETURN(Connection both, Connection::Open(*side));
  // Small and large ones go different ways inside a plugin.
  const size_t sizes[kMessages] = {8, 1 << 20, 16, 3000, 1 << 19, 0, 64, 9000};
  std::vector<std::unique_ptr<Memory>> from, to;
  std::vector<Awaited> all;
  int reported[kMessages];
  for (int i = 0; i < kMessages; ++i) {
    from.push_back(std::make_unique<Memory>(&net, sizes[i]));
    to.push_back(std::make_unique<Memory>(&net, size_t{1} << 20));
    from.back()->Fill(static_cast<size_t>(i));
    RONDO_RETURN_IF_ERROR(from.back()->Register(both.send.get()));
    RONDO_RETURN_IF_ERROR(to.back()->Register(both.receive.get()));
    RONDO_ASSIGN_OR_RETURN(void* request, PostReceive(net, both.receive.get(),
                                                      to.back().get(), 9));
    all.push_back({request, &reported[i]});
  }
  for (int i = 0; i < kMessages; ++i) {
    RONDO_ASSIGN_OR_RETURN(
        void* request,
        PostSend(net, both.send.get(), from[static_cast<size_t>(i)].get(),
                 sizes[i], 9, &all));
    all.push_back({request, nullptr});
  }
  // Tested from the last to the first: an order that NCCL may use too.
  std::reverse(all.begin(), all.end());
  RONDO_RETURN_IF_ERROR(AwaitAll(net, all));
  for (int i = 0; i < kMessages; ++i) {
    RONDO_RETURN_IF_ERROR(
        Expect(static_cast<size_t>(reported[i]) == sizes[i],
               "receive {} of a tag got {} bytes; send {} had {}", i,
               reported[i], i, sizes[i]));
    RONDO_RETURN_IF_ERROR(
        to[static_cast<size_t>(i)]->Verify(static_cast<size_t>(i), sizes[i]));
  }
  return Status::Ok();
}

Status CheckOptionalCompletion(const CheckSetup& setup) {
  RONDO_ASSIGN_OR_RETURN(auto side, PluginSide::Open(setup));
  NetTable& net = side->net();
  RONDO_ASSIGN_OR_RETURN(Connection both, Connection::Open(*side));
  void* const marker =
      reinterpret_cast<void*>(nccl::kOptionalReceiveCompletion);
  for (int i = 0; i < 100; ++i) {
    Memory from(&net, 256), to(&net, 256);
    from.Fill(static_cast<size_t>(i));
    RONDO_RETURN_IF_ERROR(from.Register(both.send.get()));
    RONDO_RETURN_IF_ERROR(to.Register(both.receive.get()));
    void* received = nullptr;
    const Deadline deadline = Deadline::AfterMs(kPatienceMs);
    while (received == nullptr && !deadline.expired()) {
      void* data = to.data();
      void* handle = to.handle();
      size_t bytes = 256;
      int tag = 2;
      received = marker;
      RONDO_RETURN_IF_ERROR(
          Succeeds(net.Irecv(both.receive.get(), 1, &data, &bytes, &tag,
                             &handle, &received),
                   "irecv with the optional-completion marker"));
    }
    RONDO_RETURN_IF_ERROR(Expect(received != marker && received != nullptr,
                                 "irecv left *request at {}", received));
    std::vector<Awaited> all = {{received}};
    RONDO_ASSIGN_OR_RETURN(void* sent,
                           PostSend(net, both.send.get(), &from, 256, 2, &all));
    all.push_back({sent});
    RONDO_RETURN_IF_ERROR(AwaitAll(net, all));
  }
  return Status::Ok();
}

Status CheckNullSizes(const CheckSetup& setup) {
  RONDO_ASSIGN_OR_RETURN(auto side, PluginSide::Open(setup));
  NetTable& net = side->net();
  RONDO_ASSIGN_OR_RETURN(Connection both, Connection::Open(*side));
  Memory from(&net, 999), to(&net, 999);
  from.Fill(4);
  RONDO_RETURN_IF_ERROR(from.Register(both.send.get()));
  RONDO_RETURN_IF_ERROR(to.Register(both.receive.get()));
  RONDO_ASSIGN_OR_RETURN(void* received,
                         PostReceive(net, both.receive.get(), &to, 0));
  std::vector<Awaited> all = {{received}};
  RONDO_ASSIGN_OR_RETURN(void* sent,
                         PostSend(net, both.send.get(), &from, 999, 0, &all));
  all.push_back({sent});
  RONDO_RETURN_IF_ERROR(AwaitAll(net, all));
  return to.Verify(4, 999);
}

Status CheckFlush(const CheckSetup& setup) {
  RONDO_ASSIGN_OR_RETURN(auto side, PluginSide::Open(setup));
  NetTable& net = side->net();
  RONDO_ASSIGN_OR_RETURN(Connection both, Connection::Open(*side));
  RONDO_RETURN_IF_ERROR(both.Move(4096, 4096, 0));
  Memory one(&net, 4096), other(&net, 4096);
  RONDO_RETURN_IF_ERROR(one.Register(both.receive.get()));
  RONDO_RETURN_IF_ERROR(other.Register(both.receive.get()));
  const int most = std::min(2, side->properties().max_receives);
  for (int count = 1; count <= most; ++count) {
    for (const int first_bytes : {4096, 0}) {
      void* data[] = {one.data(), other.data()};
      void* handles[] = {one.handle(), other.handle()};
      int bytes[] = {first_bytes, 1};
      void* request = reinterpret_cast<void*>(uintptr_t{1});
      RONDO_RETURN_IF_ERROR(Succeeds(
          net.Iflush(both.receive.get(), count, data, bytes, handles, &request),
          "iflush"));
      RONDO_RETURN_IF_ERROR(
          Expect(request != reinterpret_cast<void*>(uintptr_t{1}),
                 "iflush did not write *request"));
      // Null: nothing to wait for.
      if (request != nullptr) {
        RONDO_RETURN_IF_ERROR(AwaitAll(net, {{request}}));
      }
    }
  }
  return both.Move(128, 128, 0);
}

namespace {

constexpr size_t kRingRanks = 3, kRingBytes = 64;

// NCCL's bootstrap over the plugin: a ring in which everyone passes on what
// came, the same buffer registered with both communicators.
struct RingRank {
  explicit RingRank(NetTable* net) : data(net, kRingRanks * kRingBytes) {}
  OpenComm* to_next = nullptr;
  OpenComm* from_previous = nullptr;
  Memory data;
  void* receive_handle = nullptr;
};

Status JoinRing(NetTable& net, size_t rank, RingRank* member) {
  char* block = member->data.data() + rank * kRingBytes;
  std::fill_n(block, kRingBytes, static_cast<char>('a' + rank));
  RONDO_RETURN_IF_ERROR(member->data.Register(member->to_next->get()));
  return Succeeds(
      net.RegisterMemory(member->from_previous->get(), member->data.data(),
                         kRingRanks * kRingBytes, nccl::kPointerHost,
                         &member->receive_handle),
      "regMr of the same buffer with another comm");
}

Status RingStep(NetTable& net, size_t step,
                std::vector<std::unique_ptr<RingRank>>* members) {
  std::vector<Awaited> all;
  for (size_t rank = 0; rank < kRingRanks; ++rank) {
    RingRank& member = *(*members)[rank];
    const size_t block = (rank + 2 * kRingRanks - step - 1) % kRingRanks;
    void* at = member.data.data() + block * kRingBytes;
    size_t bytes = kRingBytes;
    int tag = 0;
    void* request = nullptr;
    RONDO_RETURN_IF_ERROR(
        Succeeds(net.Irecv(member.from_previous->get(), 1, &at, &bytes, &tag,
                           &member.receive_handle, &request),
                 "irecv"));
    RONDO_RETURN_IF_ERROR(Expect(request != nullptr, "no request to receive"));
    all.push_back({request});
  }
  for (size_t rank = 0; rank < kRingRanks; ++rank) {
    RingRank& member = *(*members)[rank];
    const size_t block = (rank + kRingRanks - step) % kRingRanks;
    void* request = nullptr;
    const Deadline deadline = Deadline::AfterMs(kPatienceMs);
    while (request == nullptr && !deadline.expired()) {
      RONDO_RETURN_IF_ERROR(
          Succeeds(net.Isend(member.to_next->get(),
                             member.data.data() + block * kRingBytes,
                             kRingBytes, 0, member.data.handle(), &request),
                   "isend"));
      RONDO_RETURN_IF_ERROR(Poll(net, &all));
    }
    RONDO_RETURN_IF_ERROR(Expect(request != nullptr, "no request to send"));
    all.push_back({request});
  }
  return AwaitAll(net, all);
}

}  // namespace

Status CheckRing(const CheckSetup& setup) {
  RONDO_ASSIGN_OR_RETURN(auto side, PluginSide::Open(setup));
  NetTable& net = side->net();
  std::vector<std::unique_ptr<Connection>> edges;
  for (size_t rank = 0; rank < kRingRanks; ++rank) {
    RONDO_ASSIGN_OR_RETURN(Connection edge, Connection::Open(*side));
    edges.push_back(std::make_unique<Connection>(std::move(edge)));
  }
  std::vector<std::unique_ptr<RingRank>> members;
  for (size_t rank = 0; rank < kRingRanks; ++rank) {
    members.push_back(std::make_unique<RingRank>(&net));
    members[rank]->to_next = &edges[rank]->send;
    members[rank]->from_previous =
        &edges[(rank + kRingRanks - 1) % kRingRanks]->receive;
    RONDO_RETURN_IF_ERROR(JoinRing(net, rank, members[rank].get()));
  }
  for (size_t step = 0; step + 1 < kRingRanks; ++step) {
    RONDO_RETURN_IF_ERROR(RingStep(net, step, &members));
  }
  for (size_t rank = 0; rank < kRingRanks; ++rank) {
    RingRank& member = *members[rank];
    for (size_t i = 0; i < kRingRanks * kRingBytes; ++i) {
      const char due = static_cast<char>('a' + i / kRingBytes);
      RONDO_RETURN_IF_ERROR(Expect(member.data.data()[i] == due,
                                   "rank {} has {} in block {} of a ring", rank,
                                   member.data.data()[i], i / kRingBytes));
    }
    net.DeregisterMemory(member.from_previous->get(), member.receive_handle);
  }
  return Status::Ok();
}

}  // namespace rondo::plugin
