#include "transports/bootstrap/meeting.h"

#include <unistd.h>

#include <cctype>
#include <fstream>
#include <optional>
#include <sstream>

#include "transports/bootstrap/address.h"
#include "transports/bootstrap/launch_variable.h"

namespace rondo {

namespace {

// What the launcher calls this job; the same on all its ranks and hosts.
std::optional<std::string> JobId(const EnvironmentReader& environment,
                                 Launcher launcher) {
  if (launcher == Launcher::kTorchrun) {
    return TextOf(environment, "TORCHELASTIC_RUN_ID");
  }
  if (launcher == Launcher::kOpenMpi) {
    const auto job = TextOf(environment, "OMPI_MCA_ess_base_jobid");
    if (job) return "ompi-" + *job;
  }
  if (launcher == Launcher::kOpenMpi || launcher == Launcher::kPmix) {
    const auto job = TextOf(environment, "PMIX_NAMESPACE");
    if (job) return "pmix-" + *job;
  }
  if (launcher == Launcher::kSlurm || launcher == Launcher::kPmix) {
    const auto job = TextOf(environment, "SLURM_JOB_ID");
    auto step = TextOf(environment, "SLURM_STEP_ID");
    if (!step) step = TextOf(environment, "SLURM_STEPID");
    if (job && step) return "slurm-" + *job + "." + *step;
  }
  return std::nullopt;
}

// The process that started this one is the launcher's: the same for all ranks
// of this host, and its start time tells it from an earlier one of that number.
std::optional<std::string> ParentId() {
  const std::string parent = std::to_string(getppid());
  std::ifstream file("/proc/" + parent + "/stat");
  std::stringstream text;
  text << file.rdbuf();
  // The command name is in parentheses and may hold anything; the start time is
  // field 22 of the line, the 20th after it.
  const std::string line = text.str();
  const size_t name_end = line.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(line.substr(name_end + 1));
  std::string field;
  for (int i = 0; i < 20; ++i) {
    if (!(fields >> field)) return std::nullopt;
  }
  return "parent-" + parent + "-" + field;
}

std::string FileNameOf(const std::string& key) {
  constexpr size_t kLongestName = 120;
  std::string out;
  for (char c : key.substr(0, kLongestName)) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                       c == '.' || c == '-' || c == '_';
    out.push_back(plain ? c : '_');
  }
  return out;
}

Status MeetAtMaster(const EnvironmentReader& environment,
                    const std::string& host, LaunchInfo* info) {
  const auto port_text = TextOf(environment, "MASTER_PORT");
  if (!port_text) {
    return InvalidArgument("MASTER_ADDR is '" + host +
                           "', but MASTER_PORT is not set");
  }
  Result<uint16_t> port = ParsePort(*port_text);
  if (!port.ok()) return port.status().WithContext("MASTER_PORT");
  info->meeting.kind = Meeting::Kind::kAddress;
  info->meeting.host = host;
  info->meeting.port = *port;
  if (!TextOf(environment, "TORCHELASTIC_RUN_ID")) return Status::Ok();
  if (*port == 65535) {
    return InvalidArgument(
        "MASTER_PORT is 65535, where torchrun's agent listens, and Rondo needs "
        "the port above it; choose a lower one, or set RONDO_ROOT");
  }
  ++info->meeting.port;
  info->notes.push_back("meeting at port " +
                        std::to_string(info->meeting.port) +
                        ", MASTER_PORT + 1, because torchrun's agent listens "
                        "on MASTER_PORT");
  return Status::Ok();
}

// Through a file of this host, if the ranks can all see it.
Status MeetOnThisHost(const EnvironmentReader& environment, LaunchInfo* info) {
  const Launcher launcher = info->launcher;
  const bool started_by_agent =
      launcher != Launcher::kRondo && launcher != Launcher::kTorchrun;
  const bool all_here = info->local_size == info->world_size;
  if (!all_here && !(info->local_size < 0 && started_by_agent)) {
    const std::string local =
        info->local_size < 0
            ? "the number of ranks on this host is unknown"
            : std::to_string(info->local_size) + " of them on this host";
    return InvalidArgument(
        "there are " + std::to_string(info->world_size) + " ranks, " + local +
        ", and no place to meet: set RONDO_ROOT to HOST:PORT of rank 0's host");
  }
  std::optional<std::string> key = JobId(environment, launcher);
  if (!key) key = ParentId();
  if (!key) {
    return InvalidArgument(
        "the launcher does not name the job, and /proc does not show the "
        "parent process: set RONDO_RENDEZVOUS_FILE or RONDO_ROOT");
  }
  const std::string base =
      TextOf(environment, "XDG_RUNTIME_DIR").value_or("/tmp");
  info->meeting.kind = Meeting::Kind::kFile;
  info->meeting.path =
      base + "/rondo-" + std::to_string(geteuid()) + "/" + FileNameOf(*key);
  info->meeting.private_directory = true;
  return Status::Ok();
}

}  // namespace

Status ChooseMeeting(const EnvironmentReader& environment, LaunchInfo* info) {
  Meeting& meeting = info->meeting;
  if (info->world_size == 1) {
    meeting.kind = Meeting::Kind::kAlone;
    return Status::Ok();
  }
  meeting.run_id = JobId(environment, info->launcher).value_or("");
  if (const auto root = TextOf(environment, "RONDO_ROOT")) {
    Result<HostPort> place = ParseHostPort(*root);
    if (!place.ok()) return place.status().WithContext("RONDO_ROOT");
    meeting.kind = Meeting::Kind::kAddress;
    meeting.host = place->host;
    meeting.port = place->port;
    return Status::Ok();
  }
  if (const auto path = TextOf(environment, "RONDO_RENDEZVOUS_FILE")) {
    meeting.kind = Meeting::Kind::kFile;
    meeting.path = *path;
    return Status::Ok();
  }
  if (const auto host = TextOf(environment, "MASTER_ADDR")) {
    return MeetAtMaster(environment, *host, info);
  }
  return MeetOnThisHost(environment, info);
}

}  // namespace rondo
