#include "perf/compare_mpi/rank.h"

#include <array>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include "collectives/communicator.h"
#include "fmt/format.h"
#include "perf/cli/exit_status.h"
#include "perf/cli/report_error.h"
#include "perf/compare_mpi/comparison.h"
#include "perf/compare_mpi/mpi_library.h"
#include "perf/compare_mpi/step_comparison.h"
#include "transports/base/log.h"
#include "transports/base/parameters.h"

namespace rondo::perf {
namespace {

Status CheckWorld(const CompareOptions& options, const MpiLibrary& mpi) {
  if (options.ranks == 0 && mpi.size() >= 2) return Status::Ok();
  if (options.ranks == mpi.size()) return Status::Ok();
  if (options.ranks == 0) {
    return InvalidUsage("a comparison needs at least 2 ranks; there is 1");
  }
  return InvalidUsage(fmt::format(
      "--ranks {} is refused: the launcher has started a world of {}; is it "
      "that of {}?",
      options.ranks, mpi.size(), FlavorName(MpiLibrary::Flavor())));
}

// A communicator over MPI's ranks, whatever the launcher's variables say.
Result<std::unique_ptr<Communicator>> JoinRanks(
    const EnvironmentReader& environment, MpiLibrary* mpi) {
  CommunicatorOptions options;
  options.rank = mpi->rank();
  options.world_size = mpi->size();
  RONDO_ASSIGN_OR_RETURN(options.parameters, Parameters::Load(environment));
  RONDO_RETURN_IF_ERROR(ConfigureLogging(options.parameters));
  std::array<char, UniqueId::kBytes> bytes = {};
  if (mpi->rank() == 0) {
    RONDO_ASSIGN_OR_RETURN(Communicator::MeetingPlace place,
                           Communicator::NewMeetingPlace(options.parameters));
    std::memcpy(bytes.data(), place.unique_id.bytes().data(), bytes.size());
    options.coordinator = std::move(place.coordinator);
  }
  RONDO_RETURN_IF_ERROR(mpi->BroadcastBytes(bytes.data(), bytes.size()));
  RONDO_ASSIGN_OR_RETURN(options.unique_id, UniqueId::Parse(std::string_view(
                                                bytes.data(), bytes.size())));
  return Communicator::Create(std::move(options));
}

Result<bool> Compare(const CompareOptions& options,
                     const std::vector<std::string>& words,
                     const EnvironmentReader& environment,
                     Communicator* communicator, MpiLibrary* mpi) {
  if (options.step) {
    return RunStepComparison(options, words, environment, communicator, mpi);
  }
  Comparison comparison(options, communicator, mpi);
  RONDO_RETURN_IF_ERROR(comparison.Run(words, environment));
  return comparison.right();
}

Result<bool> Run(const CompareOptions& options,
                 const std::vector<std::string>& words,
                 const EnvironmentReader& environment, MpiLibrary* mpi) {
  RONDO_RETURN_IF_ERROR(CheckWorld(options, *mpi));
  RONDO_ASSIGN_OR_RETURN(const std::unique_ptr<Communicator> communicator,
                         JoinRanks(environment, mpi));
  const Result<bool> right =
      Compare(options, words, environment, communicator.get(), mpi);
  if (!right.ok()) communicator->Abort(right.status().message());
  return right;
}

}  // namespace

int RunComparisonRank(const CompareOptions& options,
                      const std::vector<std::string>& words,
                      const EnvironmentReader& environment) {
  Result<MpiLibrary> mpi = MpiLibrary::Init();
  if (!mpi.ok()) return ReportError(mpi.status());
  const Result<bool> right = Run(options, words, environment, &*mpi);
  if (!right.ok()) {
    const int exit_status = ReportError(
        right.status().WithContext(fmt::format("rank {}", mpi->rank())));
    mpi->Abort(exit_status);
    return exit_status;
  }
  const Status left = mpi->Finalize();
  if (!left.ok()) return ReportError(left);
  return *right ? kExitOk : kExitFailed;
}

}  // namespace rondo::perf
