// What must hold between two processes that do not wait for each other.
#include <poll.h>

#include <vector>

#include "plugin/check/checks.h"
#include "plugin/check/peer.h"
#include "transports/base/clock.h"

namespace rondo::plugin {
namespace {

constexpr size_t kBytes = 1 << 20;
// How long a side stays silent.
constexpr int kSilentMs = 1000;
// A dead process must be noticed in this time.
constexpr int64_t kNoticeMs = 2000;

void StaySilent() { poll(nullptr, 0, kSilentMs); }

// `count` messages, all posted, then awaited.
Status ReceiveAll(const PluginSide& side, void* comm, size_t count) {
  std::vector<std::unique_ptr<Memory>> memories;
  std::vector<Awaited> all;
  for (size_t i = 0; i < count; ++i) {
    memories.push_back(std::make_unique<Memory>(&side.net(), kBytes));
    RONDO_RETURN_IF_ERROR(memories[i]->Register(comm));
    RONDO_ASSIGN_OR_RETURN(void* request,
                           PostReceive(side.net(), comm, memories[i].get(), 1));
    all.push_back({request});
  }
  RONDO_RETURN_IF_ERROR(AwaitAll(side.net(), all));
  for (size_t i = 0; i < count; ++i) {
    RONDO_RETURN_IF_ERROR(memories[i]->Verify(i, kBytes));
  }
  return Status::Ok();
}

Status SendAll(const PluginSide& side, void* comm, size_t count) {
  std::vector<std::unique_ptr<Memory>> memories;
  std::vector<Awaited> all;
  for (size_t i = 0; i < count; ++i) {
    memories.push_back(std::make_unique<Memory>(&side.net(), kBytes));
    memories[i]->Fill(i);
    RONDO_RETURN_IF_ERROR(memories[i]->Register(comm));
    RONDO_ASSIGN_OR_RETURN(
        void* request,
        PostSend(side.net(), comm, memories[i].get(), kBytes, 1, &all));
    all.push_back({request});
  }
  return AwaitAll(side.net(), all);
}

// Runs a sender in another process and `body` as the receiver here.
using ReceiverBody =
    std::function<Status(const PluginSide&, void* comm, Peer& peer)>;
using SenderBody =
    std::function<Status(const PluginSide&, void* comm, PeerChannel& channel)>;

Status RunBoth(const CheckSetup& setup, const SenderBody& send,
               const ReceiverBody& receive) {
  RONDO_ASSIGN_OR_RETURN(
      Peer peer, Peer::Start([&](PeerChannel& channel) -> Status {
        RONDO_ASSIGN_OR_RETURN(auto side, PluginSide::Open(setup));
        RONDO_ASSIGN_OR_RETURN(OpenComm comm, ConnectToPeer(*side, &channel));
        return send(*side, comm.get(), channel);
      }));
  RONDO_ASSIGN_OR_RETURN(auto side, PluginSide::Open(setup));
  RONDO_ASSIGN_OR_RETURN(OpenComm comm, AcceptFromPeer(*side, &peer.channel()));
  return receive(*side, comm.get(), peer);
}

}  // namespace

Status CheckTwoProcesses(const CheckSetup& setup) {
  return RunBoth(
      setup,
      [](const PluginSide& side, void* comm, PeerChannel&) {
        return SendAll(side, comm, 20);
      },
      [](const PluginSide& side, void* comm, Peer& peer) {
        RONDO_RETURN_IF_ERROR(ReceiveAll(side, comm, 20));
        return peer.Join();
      });
}

Status CheckSenderStopsCalling(const CheckSetup& setup) {
  return RunBoth(
      setup,
      [](const PluginSide& side, void* comm, PeerChannel& channel) {
        RONDO_RETURN_IF_ERROR(SendAll(side, comm, 6));
        // Done, by its own test: from now on no call.
        char received = 0;
        return channel.Receive(&received);
      },
      [](const PluginSide& side, void* comm, Peer& peer) {
        const Status received = ReceiveAll(side, comm, 6);
        RONDO_RETURN_IF_ERROR(
            received.WithContext("a sender whose requests are done makes no "
                                 "calls any more"));
        RONDO_RETURN_IF_ERROR(peer.channel().Send(char{1}));
        return peer.Join();
      });
}

Status CheckReceiverStopsCalling(const CheckSetup& setup) {
  return RunBoth(
      setup,
      [](const PluginSide& side, void* comm, PeerChannel& channel) {
        RONDO_RETURN_IF_ERROR(SendAll(side, comm, 6)
                                  .WithContext("a receiver whose requests are "
                                               "done makes no calls any more"));
        return channel.Send(char{1});
      },
      [](const PluginSide& side, void* comm, Peer& peer) {
        RONDO_RETURN_IF_ERROR(ReceiveAll(side, comm, 6));
        char sent = 0;
        // The peer's own report may come instead.
        RONDO_RETURN_IF_ERROR(peer.channel().Receive(&sent));
        if (sent != 1) {
          return Expect(false,
                        "the sender never finished: its last requests "
                        "need calls of a receiver that is done");
        }
        return peer.Join();
      });
}

Status CheckIdleReceiver(const CheckSetup& setup) {
  return RunBoth(
      setup,
      [](const PluginSide& side, void* comm, PeerChannel&) {
        return SendAll(side, comm, 4)
            .WithContext("to a receiver that was idle");
      },
      [](const PluginSide& side, void* comm, Peer& peer) {
        StaySilent();
        RONDO_RETURN_IF_ERROR(ReceiveAll(side, comm, 2));
        StaySilent();
        // The pattern goes on where the first two ended.
        Memory memory(&side.net(), kBytes), last(&side.net(), kBytes);
        RONDO_RETURN_IF_ERROR(memory.Register(comm));
        RONDO_RETURN_IF_ERROR(last.Register(comm));
        RONDO_ASSIGN_OR_RETURN(void* third,
                               PostReceive(side.net(), comm, &memory, 1));
        RONDO_ASSIGN_OR_RETURN(void* fourth,
                               PostReceive(side.net(), comm, &last, 1));
        RONDO_RETURN_IF_ERROR(AwaitAll(side.net(), {{third}, {fourth}}));
        RONDO_RETURN_IF_ERROR(memory.Verify(2, kBytes));
        RONDO_RETURN_IF_ERROR(last.Verify(3, kBytes));
        return peer.Join();
      });
}

namespace {

// Until the plugin says what happened to `request`.
Status ExpectNotice(NetTable& net, void* request, const char* what) {
  const Deadline deadline = Deadline::AfterMs(kNoticeMs);
  int done = 0;
  int result = nccl::kSuccess;
  while (result == nccl::kSuccess && done == 0 && !deadline.expired()) {
    result = net.Test(request, &done, nullptr);
  }
  RONDO_RETURN_IF_ERROR(Expect(
      result != nccl::kSuccess || done != 0,
      "{}: the other process was killed, and test() says nothing for {} ms",
      what, kNoticeMs));
  RONDO_RETURN_IF_ERROR(
      Expect(done == 0, "{}: done, though the other process was killed", what));
  return FailsWell(result, what);
}

}  // namespace

Status CheckKilledSender(const CheckSetup& setup) {
  return RunBoth(
      setup,
      [](const PluginSide&, void*, PeerChannel& channel) {
        char never = 0;
        RONDO_RETURN_IF_ERROR(channel.Send(char{1}));
        return channel.Receive(&never);
      },
      [](const PluginSide& side, void* comm, Peer& peer) {
        char ready = 0;
        RONDO_RETURN_IF_ERROR(peer.channel().Receive(&ready));
        Memory memory(&side.net(), kBytes);
        RONDO_RETURN_IF_ERROR(memory.Register(comm));
        RONDO_ASSIGN_OR_RETURN(void* request,
                               PostReceive(side.net(), comm, &memory, 1));
        peer.Kill();
        RONDO_RETURN_IF_ERROR(
            ExpectNotice(side.net(), request, "test of a receive"));
        int done = 0;
        return FailsWell(side.net().Test(request, &done, nullptr),
                         "test after a failure");
      });
}

Status CheckKilledReceiver(const CheckSetup& setup) {
  RONDO_ASSIGN_OR_RETURN(
      Peer peer, Peer::Start([&](PeerChannel& channel) -> Status {
        RONDO_ASSIGN_OR_RETURN(auto side, PluginSide::Open(setup));
        RONDO_ASSIGN_OR_RETURN(OpenComm comm, AcceptFromPeer(*side, &channel));
        Memory memory(&side->net(), 64 * kBytes);
        RONDO_RETURN_IF_ERROR(memory.Register(comm.get()));
        RONDO_ASSIGN_OR_RETURN(
            void* request, PostReceive(side->net(), comm.get(), &memory, 1));
        int done = 0;
        // Sends off what tells the sender of the buffer.
        for (int i = 0; i < 100; ++i) side->net().Test(request, &done, nullptr);
        RONDO_RETURN_IF_ERROR(channel.Send(char{1}));
        char never = 0;
        return channel.Receive(&never);
      }));
  RONDO_ASSIGN_OR_RETURN(auto side, PluginSide::Open(setup));
  RONDO_ASSIGN_OR_RETURN(OpenComm comm, ConnectToPeer(*side, &peer.channel()));
  char ready = 0;
  RONDO_RETURN_IF_ERROR(peer.channel().Receive(&ready));
  // More than sockets hold: it cannot be done without the receiver.
  Memory memory(&side->net(), 64 * kBytes);
  RONDO_RETURN_IF_ERROR(memory.Register(comm.get()));
  RONDO_ASSIGN_OR_RETURN(
      void* request,
      PostSend(side->net(), comm.get(), &memory, 64 * kBytes, 1, nullptr));
  int done = 0;
  RONDO_RETURN_IF_ERROR(
      Succeeds(side->net().Test(request, &done, nullptr), "test"));
  peer.Kill();
  return ExpectNotice(side->net(), request, "test of a send");
}

}  // namespace rondo::plugin
