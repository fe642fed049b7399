#include "transports/ucx/ucx_transport.h"

#include <ucp/api/ucp.h>

#include <cstdlib>
#include <deque>
#include <set>
#include <utility>

#include "transports/base/clock.h"
#include "transports/contract/arguments.h"
#include "transports/ucx/ucx_address.h"
#include "transports/ucx/ucx_lane.h"
#include "transports/ucx/ucx_process.h"
#include "transports/ucx/ucx_tls.h"

namespace rondo {

namespace {

// How long UCX may take to let go of what belongs to a failed peer.
constexpr int kLetGoMs = 50;

class UcxTransport : public Transport {
 public:
  UcxTransport(std::vector<std::unique_ptr<UcxLane>> lanes,
               std::string description)
      : lanes_(std::move(lanes)), description_(std::move(description)) {}
  ~UcxTransport() override;

  std::string Describe() const override { return description_; }
  int lane_count() const override { return static_cast<int>(lanes_.size()); }
  bool Supports(MemoryKind kind) const override;
  Result<std::string> Address() override;
  Status Connect(int rank, std::vector<std::string> addresses) override;
  void Send(int peer, int lane, uint64_t tag, ConstBuffer buffer,
            Transfer* transfer) override;
  void Receive(int peer, int lane, uint64_t tag, MutableBuffer buffer,
               Transfer* transfer) override;
  int Progress() override;
  void FailPeer(int peer, const Status& why) override;
  void FailAll(const Status& why) override;
  Status Disconnect(Deadline deadline) override;

 private:
  // A "goodbye" that was sent or is awaited.
  struct Goodbye {
    int peer;
    Transfer transfer;
  };

  bool InForkedChild() const { return ForkGeneration() != fork_generation_; }
  Status Refusal(const char* verb, int peer, int lane, uint64_t tag,
                 const void* data, size_t bytes, MemoryKind kind) const;
  Status CheckProcess() const;
  void FailRange(int first, int last, const Status& why);
  std::set<int> BusyPeers() const;
  void SayGoodbye();
  std::set<int> AwaitedPeers() const;
  // Progresses until `waiting_for` names nobody.
  template <typename WaitingFor>
  Status AwaitNobody(const char* what, Deadline deadline,
                     WaitingFor waiting_for);

  const int fork_generation_ = ForkGeneration();
  GroupShape shape_;
  std::deque<Goodbye> goodbyes_;  // outlive the lanes
  std::vector<std::unique_ptr<UcxLane>> lanes_;
  const std::string description_;
};

UcxTransport::~UcxTransport() {
  FailAll(Status(Code::kAborted, "rank " + std::to_string(shape_.rank) +
                                     ": the transport was destroyed"));
  const Deadline deadline = Deadline::AfterMs(kLetGoMs);
  for (auto& lane : lanes_) lane->PrepareToClose(InForkedChild(), deadline);
}

Status UcxTransport::CheckProcess() const {
  if (!InForkedChild()) return Status::Ok();
  return InvalidUsage("rank " + std::to_string(shape_.rank) +
                      ": the UCX transport cannot be used in a child made by "
                      "fork(); create it after the fork");
}

bool UcxTransport::Supports(MemoryKind kind) const {
  for (const auto& lane : lanes_) {
    if (!lane->Supports(kind)) return false;
  }
  return true;
}

Result<std::string> UcxTransport::Address() {
  RONDO_RETURN_IF_ERROR(CheckProcess());
  std::vector<std::string> addresses;
  for (const auto& lane : lanes_) {
    RONDO_ASSIGN_OR_RETURN(std::string address, lane->worker().Address());
    addresses.push_back(std::move(address));
  }
  return PackUcxAddress(addresses);
}

Status UcxTransport::Connect(int rank, std::vector<std::string> addresses) {
  RONDO_RETURN_IF_ERROR(CheckProcess());
  RONDO_RETURN_IF_ERROR(CheckConnect(shape_, rank, addresses.size()));
  // By lane, then by rank.
  std::vector<std::vector<std::string>> of_lanes(
      lanes_.size(), std::vector<std::string>(addresses.size()));
  for (size_t peer = 0; peer < addresses.size(); ++peer) {
    if (static_cast<int>(peer) == rank) continue;
    auto unpacked = UnpackUcxAddress(addresses[peer], lane_count());
    if (!unpacked.ok()) {
      return unpacked.status().WithContext("rank " + std::to_string(rank) +
                                           ": the address of rank " +
                                           std::to_string(peer));
    }
    for (size_t lane = 0; lane < lanes_.size(); ++lane) {
      of_lanes[lane][peer] = std::move((*unpacked)[lane]);
    }
  }
  for (size_t lane = 0; lane < lanes_.size(); ++lane) {
    lanes_[lane]->Connect(rank, std::move(of_lanes[lane]));
  }
  shape_ = {rank, static_cast<int>(addresses.size()), lane_count()};
  return Status::Ok();
}

Status UcxTransport::Refusal(const char* verb, int peer, int lane, uint64_t tag,
                             const void* data, size_t bytes,
                             MemoryKind kind) const {
  RONDO_RETURN_IF_ERROR(CheckProcess());
  RONDO_RETURN_IF_ERROR(
      CheckTransfer(shape_, verb, peer, lane, tag, data, bytes));
  if (lanes_[lane]->Supports(kind)) return Status::Ok();
  return Status(Code::kNotSupported,
                DescribeTransfer(shape_.rank, verb, peer, lane, tag) +
                    ": this UCX moves host memory only; it was built without "
                    "CUDA or found none");
}

void UcxTransport::Send(int peer, int lane, uint64_t tag, ConstBuffer buffer,
                        Transfer* transfer) {
  transfer->Begin();
  Status refusal = Refusal("send to", peer, lane, tag, buffer.data,
                           buffer.bytes, buffer.kind);
  if (!refusal.ok()) return transfer->Finish(std::move(refusal));
  lanes_[lane]->Send(peer, tag, buffer, transfer);
}

void UcxTransport::Receive(int peer, int lane, uint64_t tag,
                           MutableBuffer buffer, Transfer* transfer) {
  transfer->Begin();
  Status refusal = Refusal("receive from", peer, lane, tag, buffer.data,
                           buffer.bytes, buffer.kind);
  if (!refusal.ok()) return transfer->Finish(std::move(refusal));
  lanes_[lane]->Receive(peer, tag, buffer, transfer);
}

int UcxTransport::Progress() {
  if (shape_.rank < 0 || InForkedChild()) return 0;
  int events = 0;
  for (const auto& lane : lanes_) events += lane->Progress();
  return events;
}

void UcxTransport::FailRange(int first, int last, const Status& why) {
  if (InForkedChild()) return;
  const Deadline deadline = Deadline::AfterMs(kLetGoMs);
  for (const auto& lane : lanes_) lane->FailPeers(first, last, why, deadline);
}

void UcxTransport::FailPeer(int peer, const Status& why) {
  if (peer < 0 || peer >= shape_.world_size || peer == shape_.rank) return;
  FailRange(peer, peer + 1, why);
}

void UcxTransport::FailAll(const Status& why) {
  FailRange(0, shape_.world_size, why);
}

std::set<int> UcxTransport::BusyPeers() const {
  std::set<int> busy;
  for (const auto& lane : lanes_) {
    for (int peer : lane->BusyPeers()) busy.insert(peer);
  }
  return busy;
}

std::set<int> UcxTransport::AwaitedPeers() const {
  std::set<int> awaited;
  for (const Goodbye& goodbye : goodbyes_) {
    if (goodbye.transfer.active()) awaited.insert(goodbye.peer);
  }
  return awaited;
}

template <typename WaitingFor>
Status UcxTransport::AwaitNobody(const char* what, Deadline deadline,
                                 WaitingFor waiting_for) {
  Backoff backoff(shape_.world_size);
  while (true) {
    const std::set<int> peers = waiting_for();
    if (peers.empty()) return Status::Ok();
    if (deadline.expired()) {
      std::string names;
      for (int peer : peers) {
        names += (names.empty() ? "" : ", ") + std::to_string(peer);
      }
      return Status(Code::kTimeout, "rank " + std::to_string(shape_.rank) +
                                        ": disconnect: " + what + " rank " +
                                        names);
    }
    if (Progress() == 0) backoff.Pause();
  }
}

// Both ends of a path have an endpoint, because a receive opens one as well: so
// each side knows from whom a goodbye must come.
void UcxTransport::SayGoodbye() {
  for (const auto& lane : lanes_) {
    for (int peer : lane->LivePeers()) {
      for (bool sending : {true, false}) {
        Goodbye& goodbye = goodbyes_.emplace_back();
        goodbye.peer = peer;
        goodbye.transfer.Begin();
        if (sending) {
          lane->Send(peer, kUcxControlTag, {nullptr, 0}, &goodbye.transfer);
        } else {
          lane->Receive(peer, kUcxControlTag, {nullptr, 0}, &goodbye.transfer);
        }
      }
    }
  }
}

Status UcxTransport::Disconnect(Deadline deadline) {
  RONDO_RETURN_IF_ERROR(CheckProcess());
  if (shape_.rank < 0) return Status::Ok();
  if (goodbyes_.empty()) {
    RONDO_RETURN_IF_ERROR(AwaitNobody("unfinished transfers with", deadline,
                                      [this] { return BusyPeers(); }));
    SayGoodbye();
  }
  // A path that breaks now ends its goodbyes too: nothing more is owed on it.
  RONDO_RETURN_IF_ERROR(AwaitNobody("still waiting for", deadline,
                                    [this] { return AwaitedPeers(); }));
  for (const auto& lane : lanes_) {
    if (!lane->Flush(deadline)) {
      return Status(Code::kTimeout,
                    "rank " + std::to_string(shape_.rank) +
                        ": disconnect: the last messages could not be sent");
    }
  }
  FailAll(InvalidUsage("rank " + std::to_string(shape_.rank) +
                       ": the transport was disconnected"));
  return Status::Ok();
}

void Warn(const UcxOptions& options, const std::string& text) {
  if (options.on_warning) options.on_warning(text);
}

// The UCX_TLS expression for the lanes: the option, else the environment, less
// what cannot or must not be used.
Result<std::string> ChooseTransports(const UcxOptions& options,
                                     size_t lane_count, std::string* note) {
  const char* environment = std::getenv("UCX_TLS");
  std::string transports = options.transports;
  if (transports.empty() && environment != nullptr) transports = environment;
  if (options.network_only) return ExcludeSharedMemory(transports);
  if (!AllowsPosix(transports)) return transports;
  const std::string directory = SharedMemoryDirectory();
  const uint64_t room = AvailableBytes(directory);
  const bool enough = room / lane_count >= options.shared_memory_bytes_per_lane;
  if (enough) return transports;
  *note = directory + " has " + std::to_string(room) + " bytes free where " +
          std::to_string(lane_count) + " lanes need " +
          std::to_string(options.shared_memory_bytes_per_lane) +
          " each: POSIX shared memory is not used";
  auto reduced = ExcludePosix(transports);
  if (!reduced.ok()) return reduced.status().WithContext(*note);
  Warn(options, *note);
  return reduced;
}

Status CheckOptions(const UcxOptions& options) {
  if (options.devices.size() > size_t{kMaxUcxLanes}) {
    return InvalidArgument(
        "UCX transport: " + std::to_string(options.devices.size()) +
        " devices were named; at most " + std::to_string(kMaxUcxLanes) +
        " are accepted");
  }
  for (const std::string& device : options.devices) {
    if (device.empty() || device.find(',') != std::string::npos) {
      return InvalidArgument("UCX transport: \"" + device +
                             "\" is not one device");
    }
  }
  return Status::Ok();
}

// "lane 0: eth0 (sysv, tcp)".
std::string DescribeLane(int lane, const std::string& device,
                         const UcxWorker& worker) {
  std::set<std::string> names;
  for (const std::string& resource : worker.resources()) {
    names.insert(resource.substr(0, resource.find('/')));
  }
  std::string text = "lane " + std::to_string(lane) + ": " +
                     (device.empty() ? "all devices" : device) + " (";
  for (const std::string& name : names) {
    text += (text.back() == '(' ? "" : ", ") + name;
  }
  return text + ")";
}

}  // namespace

std::string UcxVersion() {
  unsigned major = 0, minor = 0, patch = 0;
  ucp_get_version(&major, &minor, &patch);
  return std::to_string(major) + "." + std::to_string(minor) + "." +
         std::to_string(patch);
}

Result<std::unique_ptr<Transport>> CreateUcxTransport(
    const UcxOptions& options) {
  RONDO_RETURN_IF_ERROR(CheckOptions(options));
  RemoveUcxSignalHandlers();
  std::vector<std::string> devices = options.devices;
  if (devices.empty()) devices.push_back("");
  std::string note;
  RONDO_ASSIGN_OR_RETURN(std::string transports,
                         ChooseTransports(options, devices.size(), &note));
  std::string description = "ucx " + UcxVersion();
  std::vector<std::unique_ptr<UcxLane>> lanes;
  for (const std::string& device : devices) {
    const int lane = static_cast<int>(lanes.size());
    UcxWorkerOptions worker_options;
    worker_options.device = device;
    worker_options.transports = transports;
    auto opened = UcxLane::Open(lane, worker_options);
    if (!opened.ok()) {
      return opened.status().WithContext("lane " + std::to_string(lane));
    }
    lanes.push_back(*std::move(opened));
    description += "; " + DescribeLane(lane, device, lanes.back()->worker());
  }
  if (!note.empty()) description += "; " + note;
  return std::unique_ptr<Transport>(
      new UcxTransport(std::move(lanes), std::move(description)));
}

}  // namespace rondo
