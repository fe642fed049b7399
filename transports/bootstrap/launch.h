// Who am I: the rank, the number of ranks, and where they meet, as the launcher
// says in the environment.
//
// Launchers are tried in this order, and one counts only when all variables it
// needs are there: Rondo's own RONDO_RANK and RONDO_WORLD_SIZE; torchrun (RANK,
// WORLD_SIZE); Open MPI (OMPI_COMM_WORLD_*); PMI (PMI_RANK, PMI_SIZE); PMIx
// under Slurm (PMIX_RANK, SLURM_NTASKS); Slurm (SLURM_PROCID, SLURM_NTASKS, in
// a job step, because a batch shell has these as well). Nothing at all means
// one rank, alone.
//
// Ranks meet at RONDO_ROOT (host:port), else by RONDO_RENDEZVOUS_FILE, else at
// MASTER_ADDR and MASTER_PORT, else, when all ranks are on this host, through a
// file in a private directory that is named after the job.
//
// Thread-safety: stateless. Failure: kInvalidArgument that names the variable,
// its value and what is accepted.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(LaunchInfo launch,
//                          DetectLaunch(EnvironmentReader::FromProcess()));
//   RONDO_ASSIGN_OR_RETURN(Joined joined, JoinLaunched(launch, {}));
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "transports/base/environment.h"
#include "transports/base/status.h"

namespace rondo {

enum class Launcher {
  kAlone,
  kRondo,
  kTorchrun,
  kOpenMpi,
  kPmi,
  kPmix,
  kSlurm,
};
// "Open MPI".
std::string_view LauncherName(Launcher launcher);

// How the ranks meet.
struct Meeting {
  enum class Kind {
    kAlone,    // there is nobody to meet
    kAddress,  // rank 0 listens at host:port
    kFile,     // rank 0 publishes its unique id in a file
  };
  Kind kind = Kind::kAlone;
  std::string host;
  uint16_t port = 0;
  std::string path;
  // Whether `path` is in the private directory, which is made on demand.
  bool private_directory = false;
  // The same on every rank of a job, different in other jobs where the launcher
  // allows it; goes into the derived secret.
  std::string run_id;
};

struct LaunchInfo {
  Launcher launcher = Launcher::kAlone;
  int rank = 0;
  int world_size = 1;
  int local_rank = -1;  // -1: the launcher does not say
  int local_size = -1;
  Meeting meeting;
  // What a person should know: "using MASTER_PORT + 1, because ...".
  std::vector<std::string> notes;
};

Result<LaunchInfo> DetectLaunch(const EnvironmentReader& environment);

}  // namespace rondo
