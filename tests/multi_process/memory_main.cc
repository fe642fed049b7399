// One rank of a job that makes and drops communicators and symmetric buffers.
//
//   memory communicators CYCLES   makes, uses and destroys a communicator
//   memory buffers CYCLES         allocates, uses and frees two buffers
//   memory kept CYCLES            the same, but keeps the buffers
//   memory freed-by-rank-0 COUNT  rank 0 frees buffers that the others mapped
//   memory denied RANK            calls where ranks may not read each other;
//                                 then one with ordinary memory on RANK, on all
//                                 for -1
//
// The first three print "before" and "after" with what the process holds then.
// Prints "done" when all calls were right, else "problem ...". Exit status: 0,
// 1, or 2 for wrong arguments.

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "collectives/communicator.h"
#include "collectives/symmetric_buffer.h"
#include "tests/multi_process/deny_reading.h"

namespace rondo {
namespace {

// Too much to travel with a header, so that peers do map it.
constexpr size_t kBytes = 40 << 10;
// Until the C library's and UCX's own memory has its size.
constexpr int kWarmUpCycles = 100;

void Say(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

// Where UCX makes its segments.
std::string SharedFolder() {
  const char* folder = std::getenv("UCX_POSIX_DIR");
  return folder == nullptr ? "/dev/shm" : folder;
}

size_t CountEntries(const std::string& folder) {
  size_t count = 0;
  for ([[maybe_unused]] const auto& entry :
       std::filesystem::directory_iterator(folder)) {
    ++count;
  }
  return count;
}

// Lines of /proc/self/maps that have `text`; all for "".
size_t CountMappings(const std::string& text) {
  std::ifstream maps("/proc/self/maps");
  size_t count = 0;
  for (std::string line; std::getline(maps, line);) {
    count += line.find(text) != std::string::npos;
  }
  return count;
}

std::string ResidentKib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    std::istringstream words(line);
    std::string name, kib;
    words >> name >> kib;
    if (name == "VmRSS:") return kib;
  }
  return "-1";
}

void SayHoldings(const std::string& when) {
  Say(when + " resident_kib " + ResidentKib() + " mappings " +
      std::to_string(CountMappings("")) + " shared_mappings " +
      std::to_string(CountMappings(" rw-s ")) + " descriptors " +
      std::to_string(CountEntries("/proc/self/fd")) + " threads " +
      std::to_string(CountEntries("/proc/self/task")) + " files " +
      std::to_string(CountEntries(SharedFolder())));
}

char ByteOf(int rank, int cycle) {
  return static_cast<char>(1 + rank * 50 + cycle % 50);
}

// An all-gather of kBytes per rank between these two, checked.
Status Gather(Communicator* comm, int cycle, char* input, char* output) {
  std::memset(input, ByteOf(comm->rank(), cycle), kBytes);
  RONDO_RETURN_IF_ERROR(
      comm->AllGather(input, output, kBytes, DataType::kUint8));
  for (int rank = 0; rank < comm->world_size(); ++rank) {
    const std::string want(kBytes, ByteOf(rank, cycle));
    if (std::memcmp(output + rank * kBytes, want.data(), kBytes) != 0) {
      return Internal("wrong data of rank " + std::to_string(rank));
    }
  }
  return Status::Ok();
}

class Scenario {
 public:
  explicit Scenario(Communicator* comm)
      : comm_(comm),
        total_bytes_(kBytes * comm->world_size()),
        input_(kBytes),
        output_(total_bytes_) {}

  Status CommunicatorCycles(int cycles) {
    RONDO_ASSIGN_OR_RETURN(auto symmetric, SymmetricBuffer::Allocate(kBytes));
    return Measured(cycles, [&](int cycle) -> Status {
      RONDO_ASSIGN_OR_RETURN(auto part, comm_->Split(0, -comm_->rank()));
      return Gather(part.get(), cycle, static_cast<char*>(symmetric.data()),
                    output_.data());
    });
  }

  // In turn all of it is symmetric, the input alone, and the output alone.
  Status BufferCycles(int cycles, bool keep) {
    std::deque<SymmetricBuffer> kept;
    return Measured(cycles, [&](int cycle) -> Status {
      RONDO_ASSIGN_OR_RETURN(auto input, SymmetricBuffer::Allocate(kBytes));
      RONDO_ASSIGN_OR_RETURN(auto output,
                             SymmetricBuffer::Allocate(total_bytes_));
      RONDO_RETURN_IF_ERROR(
          Gather(comm_, cycle, cycle % 3 == 2 ? input_.data() : Bytes(input),
                 cycle % 3 == 1 ? output_.data() : Bytes(output)));
      if (keep) kept.push_back(std::move(input));
      if (keep) kept.push_back(std::move(output));
      return Status::Ok();
    });
  }

  Status FreedByRank0(int count) {
    std::deque<SymmetricBuffer> buffers;
    for (int i = 0; i < count; ++i) {
      RONDO_ASSIGN_OR_RETURN(auto input, SymmetricBuffer::Allocate(kBytes));
      RONDO_RETURN_IF_ERROR(Gather(comm_, i, Bytes(input), output_.data()));
      buffers.push_back(std::move(input));
    }
    SayPeerMappings("mapped");
    RONDO_RETURN_IF_ERROR(comm_->Barrier());
    if (comm_->rank() == 0) buffers.clear();
    RONDO_RETURN_IF_ERROR(comm_->Barrier());
    SayPeerMappings("freed");
    RONDO_RETURN_IF_ERROR(Gather(comm_, 0, input_.data(), output_.data()));
    SayPeerMappings("next");
    return Status::Ok();
  }

  Status Denied(int ordinary_rank) {
    RONDO_ASSIGN_OR_RETURN(auto input, SymmetricBuffer::Allocate(kBytes));
    RONDO_ASSIGN_OR_RETURN(auto output,
                           SymmetricBuffer::Allocate(total_bytes_));
    for (int cycle = 0; cycle < 3; ++cycle) {
      RONDO_RETURN_IF_ERROR(Gather(comm_, cycle, Bytes(input), Bytes(output)));
    }
    Say("symmetric memory works");
    const bool ordinary = ordinary_rank < 0 || ordinary_rank == comm_->rank();
    const Status status =
        Gather(comm_, 3, ordinary ? input_.data() : Bytes(input),
               ordinary ? output_.data() : Bytes(output));
    Say("ordinary " + status.ToString());
    return Status::Ok();
  }

 private:
  static char* Bytes(const SymmetricBuffer& buffer) {
    return static_cast<char*>(buffer.data());
  }
  static void SayPeerMappings(const std::string& when) {
    Say(when + " " +
        std::to_string(CountMappings(SharedFolder() + "/ucx_shm_posix")));
  }

  // Peers drop what was freed in their next call.
  Status Settle() {
    RONDO_RETURN_IF_ERROR(Gather(comm_, 0, input_.data(), output_.data()));
    return comm_->Barrier();
  }

  template <typename Cycle>
  Status Measured(int cycles, const Cycle& run_cycle) {
    for (int i = 0; i < kWarmUpCycles; ++i) RONDO_RETURN_IF_ERROR(run_cycle(i));
    RONDO_RETURN_IF_ERROR(Settle());
    SayHoldings("before");
    RONDO_RETURN_IF_ERROR(comm_->Barrier());
    for (int i = 0; i < cycles; ++i) RONDO_RETURN_IF_ERROR(run_cycle(i));
    RONDO_RETURN_IF_ERROR(Settle());
    SayHoldings("after");
    return Status::Ok();
  }

  Communicator* comm_;
  const size_t total_bytes_;
  std::vector<char> input_;
  std::vector<char> output_;
};

Status RunScenario(const std::string& name, int number) {
  RONDO_ASSIGN_OR_RETURN(auto comm, Communicator::FromEnvironment());
  Scenario scenario(comm.get());
  if (name == "communicators") return scenario.CommunicatorCycles(number);
  if (name == "buffers") return scenario.BufferCycles(number, false);
  if (name == "kept") return scenario.BufferCycles(number, true);
  if (name == "freed-by-rank-0") return scenario.FreedByRank0(number);
  if (name == "denied") return scenario.Denied(number);
  return InvalidArgument("no scenario " + name);
}

int Main(int argc, char** argv) {
  const std::string name = argc == 3 ? argv[1] : "";
  int number = 0;
  if (argc != 3 ||
      std::from_chars(argv[2], argv[2] + std::strlen(argv[2]), number).ec !=
          std::errc()) {
    Say("usage: memory SCENARIO NUMBER");
    return 2;
  }
  if (name == "denied" && !testing::DenyReadingOthers()) {
    Say("problem no seccomp here");
    return 1;
  }
  const Status status = RunScenario(name, number);
  Say(status.ok() ? "done" : "problem " + status.ToString());
  return status.ok() ? 0 : 1;
}

}  // namespace
}  // namespace rondo

int main(int argc, char** argv) { return rondo::Main(argc, argv); }
