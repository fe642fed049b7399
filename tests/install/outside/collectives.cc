// The C++ API, from a program that knows the installed headers only: blocking
// and started collectives, on ordinary and on symmetric memory.
#include <rondo/collectives/communicator.h>
#include <rondo/collectives/symmetric_buffer.h>

#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

namespace {

constexpr size_t kCount = 1003;

float Element(int rank, size_t i) {
  return static_cast<float>(rank + 1) + 0.25f * static_cast<float>(i % 64);
}

rondo::Status Expect(float got, float wanted, const char* what) {
  if (got == wanted) return rondo::Status::Ok();
  return rondo::Internal(std::string(what) + ": " + std::to_string(got) +
                         " instead of " + std::to_string(wanted));
}

rondo::Status Gather(rondo::Communicator& comm) {
  const size_t ranks = static_cast<size_t>(comm.world_size());
  RONDO_ASSIGN_OR_RETURN(
      rondo::SymmetricBuffer buffer,
      rondo::SymmetricBuffer::Allocate(ranks * kCount * sizeof(float)));
  std::vector<float> mine(kCount);
  for (size_t i = 0; i < kCount; ++i) mine[i] = Element(comm.rank(), i);
  RONDO_RETURN_IF_ERROR(comm.AllGather(mine.data(), buffer.data(), kCount,
                                       rondo::DataType::kFloat32));
  const float* all = static_cast<const float*>(buffer.data());
  for (size_t i = 0; i < ranks * kCount; ++i) {
    const float wanted = Element(static_cast<int>(i / kCount), i % kCount);
    RONDO_RETURN_IF_ERROR(Expect(all[i], wanted, "all-gather"));
  }
  return rondo::Status::Ok();
}

rondo::Status Reduce(rondo::Communicator& comm) {
  const size_t ranks = static_cast<size_t>(comm.world_size());
  std::vector<float> all(ranks * kCount), mine(kCount);
  for (size_t i = 0; i < all.size(); ++i) all[i] = Element(comm.rank(), i);
  rondo::CollectiveCall call;
  call.collective = rondo::Collective::kReduceScatter;
  call.input = all.data();
  call.output = mine.data();
  call.count = kCount;
  RONDO_ASSIGN_OR_RETURN(rondo::Request request, comm.Start(call));
  RONDO_RETURN_IF_ERROR(request.Wait());
  for (size_t i = 0; i < kCount; ++i) {
    float sum = 0;
    const size_t place = static_cast<size_t>(comm.rank()) * kCount + i;
    for (size_t r = 0; r < ranks; ++r) {
      sum += Element(static_cast<int>(r), place);
    }
    RONDO_RETURN_IF_ERROR(Expect(mine[i], sum, "reduce-scatter"));
  }
  return rondo::Status::Ok();
}

rondo::Status Run() {
  RONDO_ASSIGN_OR_RETURN(auto comm, rondo::Communicator::FromEnvironment());
  RONDO_RETURN_IF_ERROR(Gather(*comm));
  RONDO_RETURN_IF_ERROR(Reduce(*comm));
  RONDO_RETURN_IF_ERROR(comm->Barrier());
  if (comm->AllGather(nullptr, nullptr, 1, rondo::DataType::kFloat32).ok()) {
    return rondo::Internal("a null pointer was accepted");
  }
  std::printf("%d ranks, 0 wrong elements\n", comm->world_size());
  return rondo::Status::Ok();
}

}  // namespace

int main() {
  const rondo::Status status = Run();
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
