// How ends part: the first to go does not take the other's bytes along, and one
// whose peer is dead can still be closed.
#include <poll.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "plugin/check/checks.h"
#include "plugin/check/peer.h"
#include "transports/base/clock.h"

namespace rondo::plugin {
namespace {

constexpr size_t kBytes = 1 << 20;
constexpr size_t kMessages = 4;
constexpr int64_t kMostCloseMs = 1000;
constexpr int64_t kNoticeMs = 4000;

// What a receiver needs for `count` messages, all posted.
struct Inbox {
  std::vector<std::unique_ptr<Memory>> memories;
  std::vector<Awaited> requests;

  Status Post(NetTable& net, void* comm, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      memories.push_back(std::make_unique<Memory>(&net, kBytes));
      RONDO_RETURN_IF_ERROR(memories[i]->Register(comm));
      RONDO_ASSIGN_OR_RETURN(void* request,
                             PostReceive(net, comm, memories[i].get(), 1));
      requests.push_back({request});
    }
    return Status::Ok();
  }
};

// The receiving thread has others to serve between two of its calls.
constexpr int kPauseMs = 5;

Status AwaitUnhurried(NetTable& net, std::vector<Awaited>* requests) {
  const Deadline deadline = Deadline::AfterMs(2 * kPatienceMs);
  size_t left = requests->size();
  while (left > 0) {
    for (Awaited& awaited : *requests) {
      if (awaited.done) continue;
      int done = 0;
      RONDO_RETURN_IF_ERROR(
          Succeeds(net.Test(awaited.request, &done, nullptr), "test"));
      awaited.done = done != 0;
      left -= awaited.done;
    }
    RONDO_RETURN_IF_ERROR(Expect(!deadline.expired(),
                                 "{} of {} messages not received after {} ms",
                                 left, requests->size(), 2 * kPatienceMs));
    poll(nullptr, 0, kPauseMs);
  }
  return Status::Ok();
}

Result<void*> SendOne(NetTable& net, void* comm, Memory* memory) {
  const Deadline deadline = Deadline::AfterMs(kPatienceMs);
  void* request = nullptr;
  while (request == nullptr) {
    RONDO_RETURN_IF_ERROR(Succeeds(
        net.Isend(comm, memory->data(), kBytes, 1, memory->handle(), &request),
        "isend"));
    RONDO_RETURN_IF_ERROR(Expect(request != nullptr || !deadline.expired(),
                                 "isend: no request for {} ms", kPatienceMs));
  }
  return request;
}

// Sends all, and closes as soon as the plugin calls all of it done.
Status SendAndClose(const PluginSide& side, PeerChannel* channel) {
  RONDO_ASSIGN_OR_RETURN(OpenComm comm, ConnectToPeer(side, channel));
  std::vector<std::unique_ptr<Memory>> memories;
  std::vector<Awaited> requests;
  for (size_t i = 0; i < kMessages; ++i) {
    memories.push_back(std::make_unique<Memory>(&side.net(), kBytes));
    memories[i]->Fill(i);
    RONDO_RETURN_IF_ERROR(memories[i]->Register(comm.get()));
    RONDO_ASSIGN_OR_RETURN(void* request,
                           SendOne(side.net(), comm.get(), memories[i].get()));
    requests.push_back({request});
  }
  RONDO_RETURN_IF_ERROR(AwaitAll(side.net(), requests));
  memories.clear();
  return Succeeds(comm.Close(), "closeSend");
}

// Polls the request until the plugin gives an error.
Status AwaitError(NetTable& net, void* request) {
  const Deadline deadline = Deadline::AfterMs(kNoticeMs);
  int done = 0;
  while (net.Test(request, &done, nullptr) == nccl::kSuccess) {
    RONDO_RETURN_IF_ERROR(
        Expect(done == 0 && !deadline.expired(),
               "a receive from a killed process is {} after {} ms",
               done != 0 ? "done" : "neither done nor an error", kNoticeMs));
  }
  return Status::Ok();
}

}  // namespace

Status CheckSenderClosesFirst(const CheckSetup& setup) {
  RONDO_ASSIGN_OR_RETURN(
      Peer peer, Peer::Start([&](PeerChannel& channel) -> Status {
        RONDO_ASSIGN_OR_RETURN(auto side, PluginSide::Open(setup));
        RONDO_RETURN_IF_ERROR(SendAndClose(*side, &channel));
        // The process stays, so that only the close can lose anything.
        RONDO_RETURN_IF_ERROR(channel.Send(char{1}));
        char received = 0;
        return channel.Receive(&received);
      }));
  RONDO_ASSIGN_OR_RETURN(auto side, PluginSide::Open(setup));
  RONDO_ASSIGN_OR_RETURN(OpenComm comm, AcceptFromPeer(*side, &peer.channel()));
  Inbox inbox;
  RONDO_RETURN_IF_ERROR(inbox.Post(side->net(), comm.get(), kMessages));
  RONDO_RETURN_IF_ERROR(
      AwaitUnhurried(side->net(), &inbox.requests)
          .WithContext("the sender closed when its requests were done"));
  for (size_t i = 0; i < kMessages; ++i) {
    RONDO_RETURN_IF_ERROR(inbox.memories[i]->Verify(i, kBytes));
  }
  char closed = 0;
  RONDO_RETURN_IF_ERROR(peer.channel().Receive(&closed));
  RONDO_RETURN_IF_ERROR(peer.channel().Send(char{1}));
  return peer.Join();
}

Status CheckCloseAfterDeath(const CheckSetup& setup) {
  RONDO_ASSIGN_OR_RETURN(
      Peer peer, Peer::Start([&](PeerChannel& channel) -> Status {
        RONDO_ASSIGN_OR_RETURN(auto side, PluginSide::Open(setup));
        RONDO_ASSIGN_OR_RETURN(OpenComm comm, ConnectToPeer(*side, &channel));
        RONDO_RETURN_IF_ERROR(channel.Send(char{1}));
        char never = 0;
        return channel.Receive(&never);
      }));
  RONDO_ASSIGN_OR_RETURN(auto side, PluginSide::Open(setup));
  RONDO_ASSIGN_OR_RETURN(Connection bystander, Connection::Open(*side));
  RONDO_ASSIGN_OR_RETURN(OpenComm comm, AcceptFromPeer(*side, &peer.channel()));
  char ready = 0;
  RONDO_RETURN_IF_ERROR(peer.channel().Receive(&ready));
  Inbox inbox;
  RONDO_RETURN_IF_ERROR(inbox.Post(side->net(), comm.get(), kMessages));
  peer.Kill();
  RONDO_RETURN_IF_ERROR(AwaitError(side->net(), inbox.requests[0].request));
  // As NCCL aborts: requests in flight, memory still registered.
  const int64_t start_ns = NowNs();
  const int result = comm.Close();
  const int64_t ms = (NowNs() - start_ns) / 1'000'000;
  for (auto& memory : inbox.memories) memory->Forget();
  RONDO_RETURN_IF_ERROR(
      Succeeds(result, "closeRecv after the other process was killed"));
  RONDO_RETURN_IF_ERROR(
      Expect(ms < kMostCloseMs,
             "closeRecv took {} ms after the other process was killed", ms));
  return bystander.Move(1000, 1000, 0)
      .WithContext("another connection, after a peer of this one was killed");
}

Status CheckHandleBytes(const CheckSetup& setup) {
  constexpr char kUntouched = 0x5c;
  constexpr size_t kGuard = 128;
  RONDO_ASSIGN_OR_RETURN(auto side, PluginSide::Open(setup));
  NetTable& net = side->net();
  std::vector<char> handle(nccl::kHandleBytes + kGuard, kUntouched);
  std::fill_n(handle.begin(), nccl::kHandleBytes, 0);
  const auto intact = [&](const char* what) {
    for (size_t i = nccl::kHandleBytes; i < handle.size(); ++i) {
      RONDO_RETURN_IF_ERROR(Expect(handle[i] == kUntouched,
                                   "{} wrote byte {} of a handle of {}", what,
                                   i, nccl::kHandleBytes));
    }
    return Status::Ok();
  };
  OpenComm listen(&net, OpenComm::Kind::kListen);
  RONDO_RETURN_IF_ERROR(Succeeds(
      net.Listen(side->context(), side->device(), handle.data(), listen.out()),
      "listen"));
  RONDO_RETURN_IF_ERROR(intact("listen"));
  Connection both(&net);
  const Deadline deadline = Deadline::AfterMs(kPatienceMs);
  while (both.send.get() == nullptr || both.receive.get() == nullptr) {
    if (both.send.get() == nullptr) {
      nccl::NetDeviceHandle* device_handle = nullptr;
      RONDO_RETURN_IF_ERROR(
          Succeeds(net.Connect(side->context(), side->device(), handle.data(),
                               both.send.out(), &device_handle),
                   "connect"));
      RONDO_RETURN_IF_ERROR(intact("connect"));
    }
    if (both.receive.get() == nullptr) {
      RONDO_RETURN_IF_ERROR(StepAccept(*side, listen, &both.receive));
    }
    RONDO_RETURN_IF_ERROR(
        Expect(!deadline.expired(), "not connected after {} ms", kPatienceMs));
  }
  return both.Move(32, 32, 0);
}

}  // namespace rondo::plugin
