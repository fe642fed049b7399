// One rank of a job that runs random all-gathers and reduce-scatters, checked.
//
//   random_calls SEED CALLS [denied]
//
// Collective, type, reduction, counts and placement are the same on all ranks;
// kind and alignment of memory differ between them. "denied" first forbids this
// process to read another's memory, as a container does. Prints "done", or
// "problem ..." for the first call that is wrong. Exit status: 0, 1, or 2 for
// wrong arguments.

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "collectives/communicator.h"
#include "collectives/kernels/data_type.h"
#include "collectives/testing/check_collective.h"
#include "tests/multi_process/deny_reading.h"

namespace rondo {
namespace {

int Say(const std::string& line, int exit_status) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
  return exit_status;
}

class RandomCalls {
 public:
  RandomCalls(Communicator* comm, unsigned seed)
      : comm_(comm), common_(seed), own_(seed * 1000 + comm->rank()) {}

  // What is wrong with the next call, or nothing.
  std::string Next() {
    CollectiveCase c;
    c.type = AllDataTypes()[common_() % AllDataTypes().size()];
    c.reduction = AllReductions()[common_() % AllReductions().size()];
    c.counts = Counts(ElementSize(c.type));
    c.in_place = common_() % 2 == 0;
    c.misalignment = own_() % 3 == 0 ? own_() % 64 : 0;
    c.symmetric_input = own_() % 2 == 0;
    c.symmetric_output = own_() % 2 == 0;
    // Often enough that all ranks' are, which no chance would bring about.
    if (common_() % 2 == 0) c.symmetric_input = c.symmetric_output = true;
    return common_() % 2 == 0 ? WrongAllGather(*comm_, c)
                              : WrongReduceScatter(*comm_, c);
  }

 private:
  std::vector<size_t> Counts(size_t element_bytes) {
    constexpr size_t kMostBytes[] = {1, 64, 4 << 10, 100 << 10, 3 << 20};
    const size_t most =
        kMostBytes[common_() % std::size(kMostBytes)] / element_bytes + 1;
    const int ranks = comm_->world_size();
    const size_t even = common_() % (most / ranks + 2);
    std::vector<size_t> counts = EvenCounts(ranks, even);
    if (common_() % 3 == 0) {
      for (size_t& count : counts) count = common_() % (2 * even + 1);
    }
    return counts;
  }

  Communicator* comm_;
  std::mt19937 common_;
  std::mt19937 own_;
};

int Main(int argc, char** argv) {
  if (argc < 3) return Say("usage: random_calls SEED CALLS [denied]", 2);
  if (argc > 3 && !testing::DenyReadingOthers())
    return Say("no seccomp here", 1);
  auto comm = Communicator::FromEnvironment();
  if (!comm.ok()) return Say("problem " + comm.status().ToString(), 1);
  RandomCalls calls(comm->get(), static_cast<unsigned>(std::atoi(argv[1])));
  for (int i = 0; i < std::atoi(argv[2]); ++i) {
    const std::string problem = calls.Next();
    if (!problem.empty()) {
      return Say("problem of call " + std::to_string(i) + ": " + problem, 1);
    }
  }
  const CommunicatorCounters counters = (*comm)->counters();
  Say("read " + std::to_string(counters.peer_bytes_read), 0);
  return Say("done", 0);
}

}  // namespace
}  // namespace rondo

int main(int argc, char** argv) { return rondo::Main(argc, argv); }
