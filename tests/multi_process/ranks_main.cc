// One rank of a job, as the multi-process tests start it.
//
//   ranks collectives          every collective, checked; prints "done"
//   ranks loop                 reduce-scatter and all-gather until an error
//   ranks differ FIELD RANK    a call of which RANK gives another FIELD
//
// With RANKS_MEMORY=symmetric in the environment, reduce-scatter and all-gather
// work on symmetric memory. Prints "ready" once the job runs, then "error CODE
// MESSAGE" for the first call that fails and "later CODE" for the call after
// it. Exit status: 0 when things went as the scenario says, 1 when not, 2 for
// wrong arguments.

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/communicator.h"
#include "collectives/symmetric_buffer.h"
#include "transports/base/clock.h"

namespace rondo {
namespace {

constexpr int64_t kScenarioMs = 60'000;
constexpr float kUntouched = -1.0f;
constexpr float kDiffering = 1e6f;

void Say(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

std::string ErrorLine(const Status& status) {
  return "error " + std::string(CodeName(status.code())) + " " +
         status.message();
}

// The input or output of a call, in the memory that the environment asks for.
class Floats {
 public:
  // `count` elements of any value. Memory that is large enough is kept.
  Status Resize(size_t count) {
    count_ = count;
    if (!symmetric_) {
      ordinary_.resize(count);
    } else if (buffer_.bytes() < count * sizeof(float)) {
      RONDO_ASSIGN_OR_RETURN(buffer_,
                             SymmetricBuffer::Allocate(count * sizeof(float)));
    }
    return Status::Ok();
  }
  size_t size() const { return count_; }
  float* data() {
    return symmetric_ ? static_cast<float*>(buffer_.data()) : ordinary_.data();
  }
  float& operator[](size_t i) { return data()[i]; }

 private:
  static bool AskedForSymmetric() {
    const char* memory = std::getenv("RANKS_MEMORY");
    return memory != nullptr && std::string_view(memory) == "symmetric";
  }

  const bool symmetric_ = AskedForSymmetric();
  size_t count_ = 0;
  std::vector<float> ordinary_;
  SymmetricBuffer buffer_;
};

// One rank's part, and all of it.
struct Buffers {
  Floats mine;
  Floats all;

  Status Resize(int ranks, size_t count) {
    RONDO_RETURN_IF_ERROR(mine.Resize(count));
    return all.Resize(count * ranks);
  }
};

// What rank r contributes at element i: small whole numbers, so that sums are
// exact in fp32 in any order.
float Contribution(int rank, size_t i) {
  return static_cast<float>((rank + 1) * (1 + i % 13));
}

float SumOfContributions(int world_size, size_t i) {
  float sum = 0;
  for (int rank = 0; rank < world_size; ++rank) sum += Contribution(rank, i);
  return sum;
}

Status Wrong(const std::string& what, size_t element, float got, float want) {
  return Internal(what + ": element " + std::to_string(element) + " is " +
                  std::to_string(got) + ", not " + std::to_string(want));
}

Status CheckedAllGather(Communicator* comm, size_t count, Buffers* buffers) {
  RONDO_RETURN_IF_ERROR(buffers->Resize(comm->world_size(), count));
  Floats& mine = buffers->mine;
  Floats& all = buffers->all;
  std::fill_n(all.data(), all.size(), kUntouched);
  for (size_t i = 0; i < count; ++i) mine[i] = Contribution(comm->rank(), i);
  RONDO_RETURN_IF_ERROR(
      comm->AllGather(mine.data(), all.data(), count, DataType::kFloat32));
  for (size_t i = 0; i < all.size(); ++i) {
    const float want = Contribution(static_cast<int>(i / count), i % count);
    if (all[i] != want) return Wrong("all-gather", i, all[i], want);
  }
  return Status::Ok();
}

Status CheckedReduceScatter(Communicator* comm, size_t count,
                            Buffers* buffers) {
  const int ranks = comm->world_size();
  RONDO_RETURN_IF_ERROR(buffers->Resize(ranks, count));
  Floats& mine = buffers->mine;
  Floats& all = buffers->all;
  std::fill_n(mine.data(), mine.size(), kUntouched);
  for (size_t i = 0; i < all.size(); ++i) {
    all[i] = Contribution(comm->rank(), i);
  }
  RONDO_RETURN_IF_ERROR(comm->ReduceScatter(
      all.data(), mine.data(), count, DataType::kFloat32, Reduction::kSum));
  for (size_t i = 0; i < count; ++i) {
    const float want = SumOfContributions(ranks, comm->rank() * count + i);
    if (mine[i] != want) return Wrong("reduce-scatter", i, mine[i], want);
  }
  return Status::Ok();
}

Status CheckedBroadcast(Communicator* comm, size_t count, int root) {
  std::vector<float> input(count), output(count, kUntouched);
  for (size_t i = 0; i < count; ++i) input[i] = Contribution(comm->rank(), i);
  RONDO_RETURN_IF_ERROR(comm->Broadcast(input.data(), output.data(), count,
                                        DataType::kFloat32, root));
  for (size_t i = 0; i < count; ++i) {
    const float want = Contribution(root, i);
    if (output[i] != want) return Wrong("broadcast", i, output[i], want);
  }
  return Status::Ok();
}

Status RunCollectives(Communicator* comm) {
  Buffers buffers;
  for (size_t count : {size_t{0}, size_t{1}, size_t{1000}, size_t{300'001}}) {
    RONDO_RETURN_IF_ERROR(CheckedAllGather(comm, count, &buffers));
    RONDO_RETURN_IF_ERROR(CheckedReduceScatter(comm, count, &buffers));
    RONDO_RETURN_IF_ERROR(
        CheckedBroadcast(comm, count, comm->world_size() - 1));
    RONDO_RETURN_IF_ERROR(comm->Barrier());
  }
  return Status::Ok();
}

int Collectives(Communicator* comm) {
  const Status status = RunCollectives(comm);
  Say(status.ok() ? "done" : ErrorLine(status));
  return status.ok() ? 0 : 1;
}

int Loop(Communicator* comm) {
  // Long enough that a signal from outside nearly always falls into a call.
  constexpr size_t kCount = 1'000'000;
  Buffers buffers;
  Status status = RunCollectives(comm);
  // A segment has a name while UCX fills it, and would be left behind if this
  // rank were killed just then: so all memory is there before "ready".
  if (status.ok()) status = buffers.Resize(comm->world_size(), kCount);
  if (status.ok()) Say("ready");
  const Deadline end = Deadline::AfterMs(kScenarioMs);
  while (status.ok() && !end.expired()) {
    status = CheckedReduceScatter(comm, kCount, &buffers);
    if (status.ok()) status = CheckedAllGather(comm, kCount, &buffers);
  }
  if (status.ok()) {
    Say("no error came");
    return 1;
  }
  Say(ErrorLine(status));
  Say("later " + std::string(CodeName(comm->Barrier().code())));
  return 0;
}

// The call that all make, and in which one rank gives another `field`.
CollectiveCall CallThatDiffers(const std::string& field, bool differs,
                               const float* input, float* output) {
  CollectiveCall call;
  call.collective = Collective::kAllGather;
  if (field == "reduction" || (field == "operation" && differs)) {
    call.collective = Collective::kReduceScatter;
  }
  if (field == "root") call.collective = Collective::kBroadcast;
  call.input = input;
  call.output = output;
  call.count = (field == "count" && differs) ? 501 : 500;
  if (field == "type" && differs) call.type = DataType::kInt32;
  if (field == "reduction" && differs) call.reduction = Reduction::kMax;
  if (field == "root" && differs) call.root = 1;
  return call;
}

// Whether `output` of a call with mismatching ranks holds what was never agreed
// on. The differing rank contributes 1,000,000 everywhere, all others 1: none
// of it may reach the other side. A rank's own contribution may be there.
bool HoldsForeignData(bool differs, const std::vector<float>& output) {
  return std::any_of(output.begin(), output.end(), [differs](float x) {
    return differs ? (x != kUntouched && x != kDiffering) : x >= kDiffering;
  });
}

int Differ(Communicator* comm, const std::string& field, int rank) {
  const bool differs = comm->rank() == rank;
  // The others may find the mismatch while this rank still finishes this call.
  Buffers buffers;
  Status status = CheckedAllGather(comm, 100, &buffers);
  const size_t elements = 501 * static_cast<size_t>(comm->world_size());
  const std::vector<float> input(elements, differs ? kDiffering : 1.0f);
  std::vector<float> output(elements, kUntouched);
  // In the order scenario, one rank leaves out a call that the others make.
  if (status.ok() && field == "order" && !differs) status = comm->Barrier();
  if (status.ok()) {
    status =
        comm->Run(CallThatDiffers(field, differs, input.data(), output.data()));
  }
  const bool foreign = HoldsForeignData(differs, output);
  // A rank that needs nothing of the others (a root between hosts) may be done
  // with its part before anyone can tell; then it hears of it in the next call.
  if (status.ok()) status = comm->Barrier();
  Say(foreign ? "foreign data" : "no foreign data");
  Say(status.ok() ? "no error came" : ErrorLine(status));
  Say("later " + std::string(CodeName(comm->Barrier().code())));
  return status.ok() ? 1 : 0;
}

int Usage() {
  std::fprintf(stderr, "ranks: collectives | loop | differ FIELD RANK\n");
  return 2;
}

int Main(const std::vector<std::string>& arguments) {
  if (arguments.empty()) return Usage();
  Result<std::unique_ptr<Communicator>> comm = Communicator::FromEnvironment();
  if (!comm.ok()) {
    Say(ErrorLine(comm.status()));
    return 1;
  }
  if (arguments[0] == "collectives") return Collectives(comm->get());
  if (arguments[0] == "loop") return Loop(comm->get());
  if (arguments[0] == "differ" && arguments.size() == 3) {
    int rank = -1;
    const std::string& text = arguments[2];
    std::from_chars(text.data(), text.data() + text.size(), rank);
    return Differ(comm->get(), arguments[1], rank);
  }
  return Usage();
}

}  // namespace
}  // namespace rondo

int main(int argument_count, char** arguments) {
  return rondo::Main(
      std::vector<std::string>(arguments + 1, arguments + argument_count));
}
