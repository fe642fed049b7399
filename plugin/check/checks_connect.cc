#include <vector>

#include "plugin/check/checks.h"
#include "plugin/check/connection.h"
#include "transports/base/clock.h"

namespace rondo::plugin {
namespace {

// Far above what opening a device takes; far below what waiting for the other
// side, which is not called meanwhile, would.
constexpr int64_t kMostCallMs = 1000;

// A listener and its handle.
struct Listening {
  OpenComm comm;
  HandleBytes handle{};
};

Result<Listening> Listen(const PluginSide& side) {
  Listening listening{OpenComm(&side.net(), OpenComm::Kind::kListen)};
  RONDO_RETURN_IF_ERROR(
      Succeeds(side.net().Listen(side.context(), side.device(),
                                 listening.handle.data(), listening.comm.out()),
               "listen"));
  RONDO_RETURN_IF_ERROR(Expect(listening.comm.get() != nullptr,
                               "listen succeeded with a null comm"));
  return listening;
}

Status Quick(int64_t since_ns, const char* what) {
  const int64_t ms = (NowNs() - since_ns) / 1'000'000;
  return Expect(ms < kMostCallMs, "one call of {} took {} ms: it waits", what,
                ms);
}

}  // namespace

Status CheckHandshakeInOneThread(const CheckSetup& setup) {
  RONDO_ASSIGN_OR_RETURN(auto side, PluginSide::Open(setup));
  RONDO_ASSIGN_OR_RETURN(Listening listening, Listen(*side));
  OpenComm send(&side->net(), OpenComm::Kind::kSend);
  OpenComm receive(&side->net(), OpenComm::Kind::kReceive);
  const Deadline deadline = Deadline::AfterMs(kPatienceMs);
  while (send.get() == nullptr || receive.get() == nullptr) {
    int64_t start_ns = NowNs();
    if (send.get() == nullptr) {
      RONDO_RETURN_IF_ERROR(StepConnect(*side, &listening.handle, &send));
      RONDO_RETURN_IF_ERROR(Quick(start_ns, "connect"));
    }
    start_ns = NowNs();
    if (receive.get() == nullptr) {
      RONDO_RETURN_IF_ERROR(StepAccept(*side, listening.comm, &receive));
      RONDO_RETURN_IF_ERROR(Quick(start_ns, "accept"));
    }
    RONDO_RETURN_IF_ERROR(
        Expect(!deadline.expired(), "not connected after {} ms", kPatienceMs));
  }
  return Status::Ok();
}

Status CheckConnectLongBeforeAccept(const CheckSetup& setup) {
  RONDO_ASSIGN_OR_RETURN(auto side, PluginSide::Open(setup));
  for (const bool connect_first : {true, false}) {
    RONDO_ASSIGN_OR_RETURN(Listening listening, Listen(*side));
    OpenComm send(&side->net(), OpenComm::Kind::kSend);
    OpenComm receive(&side->net(), OpenComm::Kind::kReceive);
    const Deadline alone = Deadline::AfterMs(100);
    const Deadline deadline = Deadline::AfterMs(kPatienceMs);
    while (send.get() == nullptr || receive.get() == nullptr) {
      const bool both = alone.expired();
      if (send.get() == nullptr && (connect_first || both)) {
        RONDO_RETURN_IF_ERROR(StepConnect(*side, &listening.handle, &send));
      }
      if (receive.get() == nullptr && (!connect_first || both)) {
        RONDO_RETURN_IF_ERROR(StepAccept(*side, listening.comm, &receive));
      }
      RONDO_RETURN_IF_ERROR(
          Expect(!deadline.expired(),
                 "not connected after {} ms, {} having been polled 100 ms "
                 "longer",
                 kPatienceMs, connect_first ? "connect" : "accept"));
    }
  }
  return Status::Ok();
}

Status CheckManyConnections(const CheckSetup& setup) {
  constexpr size_t kConnections = 16;
  RONDO_ASSIGN_OR_RETURN(auto side, PluginSide::Open(setup));
  std::vector<Listening> listening;
  std::vector<Connection> both;
  for (size_t i = 0; i < kConnections; ++i) {
    RONDO_ASSIGN_OR_RETURN(Listening one, Listen(*side));
    listening.push_back(std::move(one));
    both.emplace_back(&side->net());
  }
  size_t left = 2 * kConnections;
  const Deadline deadline = Deadline::AfterMs(3 * kPatienceMs);
  while (left > 0) {
    for (size_t i = 0; i < kConnections; ++i) {
      if (both[i].send.get() == nullptr) {
        RONDO_RETURN_IF_ERROR(
            StepConnect(*side, &listening[i].handle, &both[i].send));
        left -= both[i].send.get() != nullptr;
      }
      Connection& other = both[kConnections - 1 - i];
      if (other.receive.get() == nullptr) {
        RONDO_RETURN_IF_ERROR(StepAccept(
            *side, listening[kConnections - 1 - i].comm, &other.receive));
        left -= other.receive.get() != nullptr;
      }
    }
    RONDO_RETURN_IF_ERROR(Expect(!deadline.expired(),
                                 "{} of {} ends not connected after {} ms",
                                 left, 2 * kConnections, 3 * kPatienceMs));
  }
  for (size_t i = 0; i < kConnections; ++i) {
    RONDO_RETURN_IF_ERROR(both[i].Move(100 + i, 200, static_cast<int>(i)));
  }
  return Status::Ok();
}

Status CheckNullDeviceHandles(const CheckSetup& setup) {
  RONDO_ASSIGN_OR_RETURN(auto side, PluginSide::Open(setup));
  RONDO_ASSIGN_OR_RETURN(Listening listening, Listen(*side));
  Connection both(&side->net());
  const Deadline deadline = Deadline::AfterMs(kPatienceMs);
  while (both.send.get() == nullptr || both.receive.get() == nullptr) {
    if (both.send.get() == nullptr) {
      RONDO_RETURN_IF_ERROR(
          Succeeds(side->net().Connect(side->context(), side->device(),
                                       listening.handle.data(), both.send.out(),
                                       nullptr),
                   "connect without a place for a device handle"));
    }
    if (both.receive.get() == nullptr) {
      RONDO_RETURN_IF_ERROR(Succeeds(
          side->net().Accept(listening.comm.get(), both.receive.out(), nullptr),
          "accept without a place for a device handle"));
    }
    RONDO_RETURN_IF_ERROR(
        Expect(!deadline.expired(), "not connected after {} ms", kPatienceMs));
  }
  return both.Move(64, 64, 0);
}

Status CheckListenWithoutAccept(const CheckSetup& setup) {
  RONDO_ASSIGN_OR_RETURN(auto side, PluginSide::Open(setup));
  for (int i = 0; i < 8; ++i) {
    RONDO_ASSIGN_OR_RETURN(Listening listening, Listen(*side));
    const int64_t start_ns = NowNs();
    RONDO_RETURN_IF_ERROR(
        Succeeds(listening.comm.Close(), "closeListen without an accept"));
    RONDO_RETURN_IF_ERROR(Quick(start_ns, "closeListen"));
  }
  RONDO_ASSIGN_OR_RETURN(Connection both, Connection::Open(*side));
  return both.Move(8, 8, 1);
}

}  // namespace rondo::plugin
