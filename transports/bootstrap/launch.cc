#include "transports/bootstrap/launch.h"

#include <optional>

#include "transports/bootstrap/launch_variable.h"
#include "transports/bootstrap/meeting.h"

namespace rondo {

namespace {

// The variables in which one launcher says who a process is. Local ones may be
// null or missing: then nothing is known.
struct Variables {
  Launcher launcher;
  const char* rank;
  const char* world_size;
  const char* local_rank;
  const char* local_size;
};

constexpr Variables kLaunchers[] = {
    {Launcher::kRondo, "RONDO_RANK", "RONDO_WORLD_SIZE", "RONDO_LOCAL_RANK",
     "RONDO_LOCAL_WORLD_SIZE"},
    {Launcher::kTorchrun, "RANK", "WORLD_SIZE", "LOCAL_RANK",
     "LOCAL_WORLD_SIZE"},
    {Launcher::kOpenMpi, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
     "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"},
    {Launcher::kPmi, "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID",
     "MPI_LOCALNRANKS"},
    {Launcher::kPmix, "PMIX_RANK", "SLURM_NTASKS", "SLURM_LOCALID", nullptr},
    {Launcher::kSlurm, "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID",
     nullptr},
};

// Everything that one launcher says, checked for sense.
struct Claim {
  Variables variables;
  int rank = 0;
  int world_size = 1;
  int local_rank = -1;
  int local_size = -1;
};

std::string Says(const char* name, int value) {
  return std::string(name) + " is " + std::to_string(value);
}

Status CheckLocal(const Claim& claim) {
  const Variables& names = claim.variables;
  if (claim.local_size > claim.world_size) {
    return InvalidArgument(Says(names.local_size, claim.local_size) + ", but " +
                           Says(names.world_size, claim.world_size));
  }
  const int limit = claim.local_size > 0 ? claim.local_size : claim.world_size;
  if (claim.local_rank >= limit) {
    const bool known = claim.local_size > 0;
    return InvalidArgument(
        Says(names.local_rank, claim.local_rank) + ", but " +
        Says(known ? names.local_size : names.world_size, limit) +
        "; accepted are 0 to " + std::to_string(limit - 1));
  }
  return Status::Ok();
}

Result<int> OptionalNumber(const EnvironmentReader& environment,
                           const char* name, int minimum) {
  if (name == nullptr) return -1;
  RONDO_ASSIGN_OR_RETURN(std::optional<int> value,
                         NumberOf(environment, name, minimum));
  return value.value_or(-1);
}

// A step runs on one host when Slurm says that it has one node.
Result<int> SlurmLocalSize(const EnvironmentReader& environment,
                           int world_size) {
  for (const char* name : {"SLURM_STEP_NUM_NODES", "SLURM_NNODES"}) {
    RONDO_ASSIGN_OR_RETURN(std::optional<int> nodes,
                           NumberOf(environment, name, 1));
    if (nodes) return *nodes == 1 ? world_size : -1;
  }
  return -1;
}

bool HasSlurmStep(const EnvironmentReader& environment) {
  return TextOf(environment, "SLURM_STEP_ID") ||
         TextOf(environment, "SLURM_STEPID");
}

// What this launcher says; nothing when it did not start this process.
Result<std::optional<Claim>> Read(const EnvironmentReader& environment,
                                  const Variables& names) {
  const std::optional<Claim> none;
  const bool has_rank = TextOf(environment, names.rank).has_value();
  const bool has_size = TextOf(environment, names.world_size).has_value();
  if (!has_rank || !has_size) {
    if (names.launcher != Launcher::kRondo || has_rank == has_size) return none;
    return InvalidArgument(
        std::string(has_rank ? names.rank : names.world_size) +
        " is set, but " + (has_rank ? names.world_size : names.rank) +
        " is not; set both or neither");
  }
  if (names.launcher == Launcher::kSlurm && !HasSlurmStep(environment)) {
    return none;
  }
  RONDO_ASSIGN_OR_RETURN(auto rank, NumberOf(environment, names.rank, 0));
  RONDO_ASSIGN_OR_RETURN(auto size, NumberOf(environment, names.world_size, 1));
  if (!rank && !size) return none;  // both -1
  if (!rank || !size) {
    return InvalidArgument(std::string(rank ? names.world_size : names.rank) +
                           " is -1, but " +
                           (rank ? names.rank : names.world_size) + " is set");
  }
  if (*rank >= *size) {
    return InvalidArgument(
        Says(names.rank, *rank) + ", but " + Says(names.world_size, *size) +
        "; accepted are ranks 0 to " + std::to_string(*size - 1));
  }
  Claim claim{names, *rank, *size, -1, -1};
  RONDO_ASSIGN_OR_RETURN(claim.local_rank,
                         OptionalNumber(environment, names.local_rank, 0));
  RONDO_ASSIGN_OR_RETURN(claim.local_size,
                         OptionalNumber(environment, names.local_size, 1));
  if (names.local_size == nullptr) {
    RONDO_ASSIGN_OR_RETURN(claim.local_size,
                           SlurmLocalSize(environment, claim.world_size));
  }
  RONDO_RETURN_IF_ERROR(CheckLocal(claim));
  return std::optional<Claim>(claim);
}

// RANK and WORLD_SIZE are names that anything may have left behind. When they
// were not set by torchrun itself, they must agree with an MPI launcher's.
Status CheckAgreement(const EnvironmentReader& environment, const Claim& won,
                      const Claim& other) {
  if (won.variables.launcher != Launcher::kTorchrun) return Status::Ok();
  if (TextOf(environment, "TORCHELASTIC_RUN_ID")) return Status::Ok();
  const Launcher launcher = other.variables.launcher;
  if (launcher != Launcher::kOpenMpi && launcher != Launcher::kPmi) {
    return Status::Ok();
  }
  if (won.rank == other.rank && won.world_size == other.world_size) {
    return Status::Ok();
  }
  const auto describe = [](const Claim& claim) {
    return Says(claim.variables.rank, claim.rank) + " and " +
           Says(claim.variables.world_size, claim.world_size);
  };
  return InvalidArgument(describe(won) + ", but " + describe(other) +
                         ": unset one pair, or set RONDO_RANK and "
                         "RONDO_WORLD_SIZE");
}

// Variables set by hand rarely say what is local; a launcher below that means
// the same rank does.
void TakeLocalFacts(const Claim& other, Claim* won) {
  const bool same =
      other.rank == won->rank && other.world_size == won->world_size;
  if (!same || won->local_rank >= 0 || won->local_size >= 0) return;
  won->local_rank = other.local_rank;
  won->local_size = other.local_size;
}

}  // namespace

std::string_view LauncherName(Launcher launcher) {
  switch (launcher) {
    case Launcher::kAlone:
      return "no launcher";
    case Launcher::kRondo:
      return "RONDO_ variables";
    case Launcher::kTorchrun:
      return "torchrun";
    case Launcher::kOpenMpi:
      return "Open MPI";
    case Launcher::kPmi:
      return "PMI";
    case Launcher::kPmix:
      return "PMIx";
    case Launcher::kSlurm:
      return "Slurm";
  }
  return "unknown";
}

Result<LaunchInfo> DetectLaunch(const EnvironmentReader& environment) {
  std::optional<Claim> won;
  for (const Variables& names : kLaunchers) {
    // Once one has won, nonsense in another's variables does no harm.
    Result<std::optional<Claim>> claim = Read(environment, names);
    if (!claim.ok()) {
      if (won) continue;
      return claim.status();
    }
    if (!*claim) continue;
    if (!won) {
      won = **claim;
      continue;
    }
    RONDO_RETURN_IF_ERROR(CheckAgreement(environment, *won, **claim));
    TakeLocalFacts(**claim, &*won);
  }
  LaunchInfo info;
  if (won) {
    info.launcher = won->variables.launcher;
    info.rank = won->rank;
    info.world_size = won->world_size;
    info.local_rank = won->local_rank;
    info.local_size = won->local_size;
  }
  if (info.world_size == 1) info.local_rank = 0;
  if (info.world_size == 1) info.local_size = 1;
  RONDO_RETURN_IF_ERROR(ChooseMeeting(environment, &info));
  return info;
}

}  // namespace rondo
