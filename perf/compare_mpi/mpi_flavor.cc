#include "perf/compare_mpi/mpi_flavor.h"

namespace rondo::perf {

std::string_view FlavorName(MpiFlavor flavor) {
  return flavor == MpiFlavor::kOpenMpi ? "Open MPI" : "MPICH";
}

std::string_view ProgramName(MpiFlavor flavor) {
  return flavor == MpiFlavor::kOpenMpi ? "vs_openmpi" : "vs_mpich";
}

std::vector<std::string> LauncherPrograms(MpiFlavor flavor) {
  if (flavor == MpiFlavor::kOpenMpi) return {"mpirun.openmpi", "mpirun"};
  return {"mpirun.mpich", "mpiexec.hydra", "mpirun"};
}

std::string_view RankVariable(MpiFlavor flavor) {
  return flavor == MpiFlavor::kOpenMpi ? "OMPI_COMM_WORLD_RANK" : "PMI_RANK";
}

std::vector<std::string> LauncherArguments(MpiFlavor flavor, int ranks,
                                           bool superuser) {
  std::vector<std::string> arguments;
  if (flavor == MpiFlavor::kOpenMpi) {
    if (superuser) arguments.push_back("--allow-run-as-root");
    arguments.push_back("--oversubscribe");
  }
  arguments.insert(arguments.end(), {"-np", std::to_string(ranks)});
  return arguments;
}

}  // namespace rondo::perf
