#include "perf/compare_mpi/comparison.h"

#include <cstdio>

#include "fmt/format.h"
#include "perf/bench/gather.h"
#include "perf/bench/run_facts.h"
#include "perf/cli/text_file.h"
#include "perf/compare_mpi/compare_cell.h"
#include "perf/compare_mpi/compared_counts.h"
#include "perf/compare_mpi/machine.h"
#include "perf/compare_mpi/report.h"
#include "perf/compare_mpi/svg_plot.h"
#include "transports/ucx/ucx_transport.h"

namespace rondo::perf {

std::vector<Cell> CellsOf(const CompareOptions& options, int ranks) {
  const std::vector<size_t> counts = ComparedCounts(options.sweep, ranks);
  std::vector<Cell> cells;
  for (Collective collective : options.collectives) {
    for (bool in_place : options.in_place) {
      for (BufferKind buffers : options.buffers) {
        for (size_t count : counts) {
          cells.push_back({collective, count, in_place, buffers});
        }
      }
    }
  }
  return cells;
}

Comparison::Comparison(const CompareOptions& options,
                       Communicator* communicator, MpiLibrary* mpi)
    : options_(options),
      communicator_(communicator),
      mpi_(mpi),
      speaks_(mpi->rank() == 0),
      progress_(speaks_) {}

Status Comparison::Run(const std::vector<std::string>& words,
                       const EnvironmentReader& environment) {
  RONDO_RETURN_IF_ERROR(Agree(communicator_, CheckFiles()));
  RONDO_RETURN_IF_ERROR(Describe(words, environment));
  Print(PreambleText(run_) + HeaderText(run_));
  RONDO_RETURN_IF_ERROR(MeasureAll());
  RONDO_RETURN_IF_ERROR(MeasureSlowOnesAgain());
  run_.limits = loops_->limits();
  run_.end_time = NowText();
  Print(SummaryText(run_));
  return Agree(communicator_, WriteReports());
}

Status Comparison::CheckFiles() const {
  if (!speaks_) return Status::Ok();
  RONDO_RETURN_IF_ERROR(
      CheckWritable(options_.json_path).WithContext("--json"));
  return CheckWritable(options_.svg_path).WithContext("--svg");
}

Status Comparison::Describe(const std::vector<std::string>& words,
                            const EnvironmentReader& environment) {
  run_.program = ProgramName(MpiLibrary::Flavor());
  run_.start_time = NowText();
  run_.arguments = words;
  run_.environment = SteeringVariables(environment);
  run_.mpi_name = FlavorName(MpiLibrary::Flavor());
  run_.mpi_version = mpi_->VersionText();
  run_.ucx_version = UcxVersion();
  run_.transport = communicator_->Describe();
  run_.cpu_model = CpuModel(ReadCpuInfo());
  run_.cores = OnlineCores();
  run_.ranks = mpi_->size();
  progress_.Show("measuring the memory");
  RONDO_ASSIGN_OR_RETURN(loops_, MemoryLoops::Create(mpi_));
  run_.limits = loops_->limits();
  return Status::Ok();
}

Status Comparison::MeasureAll() {
  for (const Cell& cell : CellsOf(options_, run_.ranks)) {
    RONDO_ASSIGN_OR_RETURN(const CellResult result,
                           MeasureCell(cell, options_.alternations));
    Print(RowText(result, run_.ranks));
    run_.results.push_back(result);
  }
  return Status::Ok();
}

Status Comparison::MeasureSlowOnesAgain() {
  if (options_.rerun_alternations == 0) return Status::Ok();
  bool announced = false;
  for (CellResult& result : run_.results) {
    if (result.ratio() >= kRerunBelow) continue;
    if (!announced) {
      Print(fmt::format("#\n# Below {:.2f}, once more with {} alternations\n",
                        kRerunBelow, options_.rerun_alternations));
    }
    announced = true;
    const int64_t wrong = result.wrong;
    RONDO_ASSIGN_OR_RETURN(
        result, MeasureCell(result.cell, options_.rerun_alternations));
    result.rerun = true;
    result.wrong += wrong;
    Print(RowText(result, run_.ranks));
  }
  return Status::Ok();
}

Result<CellResult> Comparison::MeasureCell(const Cell& cell, int alternations) {
  progress_.Show(fmt::format(
      "{} {} {} {} elements per rank", BufferKindName(cell.buffers),
      PlaceName(cell.in_place), CollectiveName(cell.collective), cell.count));
  // Never the same data twice, so that what a call left behind is not taken
  // for the result of a later one.
  seed_ += 3;
  // The loops are those of one host's memory.
  MemoryLoops* loops = communicator_->host_count() == 1 ? &*loops_ : nullptr;
  return CompareCell(cell, alternations, seed_, communicator_, mpi_, loops);
}

Status Comparison::WriteReports() const {
  if (!speaks_) return Status::Ok();
  RONDO_RETURN_IF_ERROR(
      WriteTextFile(options_.json_path, ComparisonJson(run_)));
  return WriteTextFile(options_.svg_path, SvgPlot(run_));
}

void Comparison::Print(const std::string& text) {
  if (!speaks_) return;
  progress_.Clear();
  fmt::print("{}", text);
  std::fflush(stdout);
}

}  // namespace rondo::perf
