#include "collectives/testing/check_collective.h"

#include <cstring>
#include <numeric>

#include "collectives/kernels/test_data.h"
#include "collectives/testing/elements.h"
#include "fmt/format.h"

namespace rondo {
namespace {

constexpr uint64_t kSeed = 7;

size_t Sum(const std::vector<size_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), size_t{0});
}

size_t Before(const std::vector<size_t>& counts, int rank) {
  return std::accumulate(counts.begin(), counts.begin() + rank, size_t{0});
}

// In place the larger buffer is the only one.
ElementsOptions OptionsOf(const CollectiveCase& c, bool input) {
  return {.misalignment = c.misalignment,
          .symmetric = input ? c.symmetric_input : c.symmetric_output};
}

std::string Problem(const Status& status, size_t wrong, bool guard_intact,
                    bool input_intact, const CollectiveCase& c) {
  if (!status.ok()) return status.ToString() + ": " + c.Text();
  if (wrong > 0) return fmt::format("{} wrong elements: {}", wrong, c.Text());
  if (!guard_intact) return "wrote behind the output: " + c.Text();
  if (!input_intact) return "changed the input: " + c.Text();
  return "";
}

}  // namespace

std::string CollectiveCase::Text() const {
  return fmt::format(
      "{} {} total {} in_place {} misaligned {} symmetric input {} output {}",
      DataTypeName(type), ReductionName(reduction), Sum(counts), in_place,
      misalignment, symmetric_input, symmetric_output);
}

std::vector<size_t> EvenCounts(int ranks, size_t count) {
  return std::vector<size_t>(ranks, count);
}

std::string WrongAllGather(Communicator& comm, const CollectiveCase& c) {
  const size_t total = Sum(c.counts);
  const size_t before = Before(c.counts, comm.rank());
  const size_t own_bytes = c.counts[comm.rank()] * ElementSize(c.type);
  Elements input(c.type, c.counts[comm.rank()], OptionsOf(c, true));
  Elements output(c.type, total, OptionsOf(c, false));
  if (!input.status().ok()) return input.status().ToString();
  if (!output.status().ok()) return output.status().ToString();
  Elements want(c.type, total);
  for (int r = 0; r < comm.world_size(); ++r) {
    FillTestData(c.type, Reduction::kMax, kSeed, r, 0,
                 want.at(Before(c.counts, r)), c.counts[r]);
  }
  char* source = c.in_place ? output.at(before) : input.at(0);
  std::memcpy(source, want.at(before), own_bytes);
  const Status status = comm.Run({.collective = Collective::kAllGather,
                                  .input = source,
                                  .output = output.at(0),
                                  .counts = c.counts,
                                  .type = c.type});
  return Problem(status, output.Wrong(want), output.GuardIntact(),
                 std::memcmp(source, want.at(before), own_bytes) == 0, c);
}

std::string WrongReduceScatter(Communicator& comm, const CollectiveCase& c) {
  const size_t total = Sum(c.counts);
  const size_t before = Before(c.counts, comm.rank());
  const size_t own = c.counts[comm.rank()];
  Elements input(c.type, total, OptionsOf(c, true));
  Elements output(c.type, own, OptionsOf(c, false));
  if (!input.status().ok()) return input.status().ToString();
  if (!output.status().ok()) return output.status().ToString();
  Elements untouched(c.type, total);
  Elements want(c.type, own);
  for (Elements* filled : {&input, &untouched}) {
    FillTestData(c.type, c.reduction, kSeed, comm.rank(), 0, filled->at(0),
                 total);
  }
  FillExpected(c.type, c.reduction, kSeed, comm.world_size(), before,
               want.at(0), own);
  char* result = c.in_place ? input.at(before) : output.at(0);
  const Status status = comm.Run({.collective = Collective::kReduceScatter,
                                  .input = input.at(0),
                                  .output = result,
                                  .counts = c.counts,
                                  .type = c.type,
                                  .reduction = c.reduction});
  const size_t wrong = CountWrong(c.type, result, want.at(0), own);
  if (c.in_place) {
    std::memcpy(untouched.at(before), want.at(0), own * ElementSize(c.type));
  }
  return Problem(status, wrong, output.GuardIntact() && input.GuardIntact(),
                 input.Wrong(untouched) == 0, c);
}

}  // namespace rondo
