#include "transports/bootstrap/rendezvous.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "transports/base/clock.h"
#include "transports/bootstrap/inprocess_bootstrap.h"
#include "transports/bootstrap/network.h"
#include "transports/bootstrap/rendezvous_file.h"
#include "transports/bootstrap/tcp_bootstrap.h"
#include "transports/bootstrap/unique_id.h"

namespace rondo {

namespace {

constexpr int kPauseMs = 20;
constexpr size_t kMaxSecretBytes = size_t{64} << 10;
// An address may stay taken while the previous job's coordinator lingers.
constexpr int kListenRetryMs = 5000;

// One call of JoinLaunched.
class Meet {
 public:
  Meet(const LaunchInfo& launch, const RendezvousOptions& options)
      : launch_(launch),
        options_(options),
        deadline_(Deadline::AfterMs(options.timeout_ms)) {}

  Result<Joined> Run() {
    const bool by_file = launch_.meeting.kind == Meeting::Kind::kFile;
    RONDO_RETURN_IF_ERROR(by_file ? PrepareFile() : DeriveFixedId());
    if (launch_.rank == 0) {
      RONDO_RETURN_IF_ERROR(by_file ? StartAndPublish() : StartAtAddress());
    }
    RONDO_ASSIGN_OR_RETURN(joined_.bootstrap, JoinUntilDeadline());
    const Status complete = joined_.bootstrap->Barrier(deadline_);
    if (by_file && joined_.coordinator != nullptr) {
      RemoveUniqueId(launch_.meeting.path, *id_);
    }
    if (!complete.ok()) {
      // Those who did come should learn the reason, not just that we left.
      joined_.bootstrap->Report(complete);
      return complete.WithContext("not all ranks joined");
    }
    return std::move(joined_);
  }

 private:
  // The file's directory, when it is ours to make.
  Status PrepareFile() {
    if (!launch_.meeting.private_directory) return Status::Ok();
    const std::string& path = launch_.meeting.path;
    return MakePrivateDirectory(path.substr(0, path.rfind('/')));
  }

  Status DeriveFixedId() {
    const Meeting& meeting = launch_.meeting;
    std::string secret;
    if (!options_.secret_file.empty()) {
      RONDO_ASSIGN_OR_RETURN(
          secret, ReadPrivateFile(options_.secret_file, kMaxSecretBytes));
    } else {
      secret = "open " + meeting.host + " " + std::to_string(meeting.port) +
               " " + meeting.run_id;
    }
    RONDO_ASSIGN_OR_RETURN(
        id_, Optional(FixedUniqueId(meeting.host, meeting.port, secret,
                                    options_.coordinator.socket_ifname)));
    if (options_.secret_file.empty() && !id_->address().IsLoopback()) {
      joined_.warnings.push_back(
          "the ranks meet at " + id_->address().ToString() +
          " without RONDO_SECRET_FILE: whoever reaches that port can join");
    }
    return Status::Ok();
  }

  static Result<std::optional<UniqueId>> Optional(Result<UniqueId> id) {
    if (!id.ok()) return id.status();
    return std::optional<UniqueId>(*id);
  }

  CoordinatorOptions OptionsOfCoordinator() const {
    CoordinatorOptions out = options_.coordinator;
    out.world_size = launch_.world_size;
    if (out.socket_ifname.empty() && launch_.local_size == launch_.world_size) {
      out.socket_ifname = "lo";
    }
    return out;
  }

  Status StartAndPublish() {
    RONDO_ASSIGN_OR_RETURN(joined_.coordinator,
                           Coordinator::Start(OptionsOfCoordinator()));
    id_ = joined_.coordinator->unique_id();
    return PublishUniqueId(launch_.meeting.path, *id_);
  }

  Status StartAtAddress() {
    const Deadline retry =
        Deadline::Earlier(deadline_, Deadline::AfterMs(kListenRetryMs));
    while (true) {
      Result<std::unique_ptr<Coordinator>> started =
          Coordinator::StartAt(*id_, OptionsOfCoordinator());
      if (started.ok()) {
        joined_.coordinator = *std::move(started);
        return Status::Ok();
      }
      if (started.status().code() != Code::kSystem || retry.expired()) {
        return started.status().WithContext(
            "rank 0 cannot start the coordinator");
      }
      PauseMs(kPauseMs, retry);
    }
  }

  // The id to try next: rank 0's own, the derived one, or the file's content.
  Result<UniqueId> CurrentId() const {
    if (id_) return *id_;
    return ReadUniqueId(launch_.meeting.path);
  }

  // Anything but a refusal by our own coordinator may be the remains of another
  // job, so everything is tried anew, the file included.
  Result<std::unique_ptr<Bootstrap>> JoinUntilDeadline() {
    while (true) {
      const Result<UniqueId> id = CurrentId();
      Status error = id.status();
      if (id.ok()) {
        TcpOptions options;
        options.retry = false;
        options.join_timeout_ms = std::max(deadline_.remaining_ms(), 1);
        Result<std::unique_ptr<Bootstrap>> joined =
            JoinTcp(*id, launch_.rank, launch_.world_size, options);
        if (joined.ok()) return joined;
        error = joined.status();
      }
      if (error.code() == Code::kMismatch) return error;
      if (error.code() == Code::kInvalidUsage) refusal_ = error;
      if (deadline_.expired()) return GaveUp(error);
      PauseMs(kPauseMs, deadline_);
    }
  }

  Status GaveUp(const Status& last) const {
    const Meeting& meeting = launch_.meeting;
    const std::string place =
        meeting.kind == Meeting::Kind::kFile
            ? "by the file " + meeting.path +
                  " (if the ranks are on several hosts, set RONDO_ROOT)"
            : "at " + meeting.host + ":" + std::to_string(meeting.port);
    // A refusal says more than the closed port that may follow it.
    const bool refused = !refusal_.ok() && last.code() != Code::kInvalidUsage;
    const std::string earlier =
        refused ? "; before that: " + refusal_.message() : "";
    return Status(Code::kTimeout,
                  "rank " + std::to_string(launch_.rank) + " of " +
                      std::to_string(launch_.world_size) +
                      " did not meet rank 0 within " +
                      std::to_string(options_.timeout_ms) + " ms " + place +
                      "; the last attempt: " + last.message() + earlier);
  }

  const LaunchInfo& launch_;
  const RendezvousOptions& options_;
  const Deadline deadline_;
  std::optional<UniqueId> id_;
  Status refusal_;  // the last one by a coordinator
  Joined joined_;
};

Result<Joined> JoinAlone() {
  RONDO_ASSIGN_OR_RETURN(auto group, InProcessGroup::Create(1));
  Joined joined;
  RONDO_ASSIGN_OR_RETURN(joined.bootstrap, group->Join(0));
  return joined;
}

}  // namespace

Result<Joined> JoinLaunched(const LaunchInfo& launch,
                            const RendezvousOptions& options) {
  if (options.timeout_ms < 1) {
    return InvalidArgument("the rendezvous timeout is " +
                           std::to_string(options.timeout_ms) +
                           " ms; at least 1 is accepted");
  }
  if (launch.meeting.kind == Meeting::Kind::kAlone) {
    if (launch.world_size == 1) return JoinAlone();
    return InvalidArgument("a launch of " + std::to_string(launch.world_size) +
                           " ranks names no place to meet");
  }
  return Meet(launch, options).Run();
}

}  // namespace rondo
