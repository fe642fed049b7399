#include "perf/compare_mpi/mpi_library.h"

#include "fmt/format.h"

#if RONDO_HAVE_MPI
// Without the C++ bindings that MPI has given up.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
#endif

namespace rondo::perf {

MpiFlavor MpiLibrary::Flavor() { return MpiFlavor::RONDO_MPI_FLAVOR; }

#if RONDO_HAVE_MPI

namespace {

Status ToStatus(int error, const char* call) {
  if (error == MPI_SUCCESS) return Status::Ok();
  std::string text(MPI_MAX_ERROR_STRING, '\0');
  int length = 0;
  MPI_Error_string(error, text.data(), &length);
  text.resize(static_cast<size_t>(length));
  return Status(Code::kTransport, fmt::format("{}: {}", call, text));
}

const void* InputOrInPlace(const float* input) {
  return input == nullptr ? MPI_IN_PLACE : input;
}

}  // namespace

bool MpiLibrary::Built() { return true; }

Result<MpiLibrary> MpiLibrary::Init() {
  MpiLibrary mpi;
  // Rondo's own threads never call MPI.
  int provided = 0;
  RONDO_RETURN_IF_ERROR(ToStatus(
      MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided),
      "MPI_Init_thread"));
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &mpi.rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &mpi.size_);
  mpi.counts_.resize(static_cast<size_t>(mpi.size_));
  return mpi;
}

std::string MpiLibrary::VersionText() const {
  std::string text(MPI_MAX_LIBRARY_VERSION_STRING, '\0');
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  text.resize(static_cast<size_t>(length));
  // MPICH goes on with its configuration; some texts end in a zero byte.
  text = text.substr(0, text.find_first_of(std::string("\n\0", 2)));
  for (char& c : text) c = c == '\t' ? ' ' : c;
  return text;
}

Status MpiLibrary::AllGather(const float* input, float* output, size_t count) {
  const int n = static_cast<int>(count);
  return ToStatus(MPI_Allgather(InputOrInPlace(input), n, MPI_FLOAT, output, n,
                                MPI_FLOAT, MPI_COMM_WORLD),
                  "MPI_Allgather");
}

Status MpiLibrary::ReduceScatter(const float* input, float* output,
                                 size_t count) {
  const int n = static_cast<int>(count);
  if (counts_[0] != n) counts_.assign(counts_.size(), n);
  return ToStatus(
      MPI_Reduce_scatter(InputOrInPlace(input), output, counts_.data(),
                         MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD),
      "MPI_Reduce_scatter");
}

Status MpiLibrary::ReduceScatterBlock(const float* input, float* output,
                                      size_t count) {
  return ToStatus(MPI_Reduce_scatter_block(InputOrInPlace(input), output,
                                           static_cast<int>(count), MPI_FLOAT,
                                           MPI_SUM, MPI_COMM_WORLD),
                  "MPI_Reduce_scatter_block");
}

Status MpiLibrary::AllGatherInPlace(void* output, size_t element_bytes,
                                    size_t count) {
  const MPI_Datatype type = element_bytes == 2 ? MPI_UINT16_T : MPI_UINT32_T;
  return ToStatus(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, output,
                                static_cast<int>(count), type, MPI_COMM_WORLD),
                  "MPI_Allgather");
}

Status MpiLibrary::Barrier() {
  return ToStatus(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier");
}

Status MpiLibrary::BroadcastBytes(void* data, size_t bytes) {
  return ToStatus(
      MPI_Bcast(data, static_cast<int>(bytes), MPI_BYTE, 0, MPI_COMM_WORLD),
      "MPI_Bcast");
}

Result<double> MpiLibrary::Max(double mine) {
  double all = 0;
  RONDO_RETURN_IF_ERROR(ToStatus(
      MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD),
      "MPI_Allreduce"));
  return all;
}

Result<int64_t> MpiLibrary::Sum(int64_t mine) {
  int64_t all = 0;
  RONDO_RETURN_IF_ERROR(ToStatus(
      MPI_Allreduce(&mine, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD),
      "MPI_Allreduce"));
  return all;
}

Status MpiLibrary::Finalize() {
  return ToStatus(MPI_Finalize(), "MPI_Finalize");
}

void MpiLibrary::Abort(int exit_status) {
  MPI_Abort(MPI_COMM_WORLD, exit_status);
}

#else  // RONDO_HAVE_MPI

namespace {

Status NotBuilt() {
  return Status(Code::kNotSupported,
                fmt::format("this program was built without {}",
                            FlavorName(MpiLibrary::Flavor())));
}

}  // namespace

bool MpiLibrary::Built() { return false; }
Result<MpiLibrary> MpiLibrary::Init() { return NotBuilt(); }
std::string MpiLibrary::VersionText() const { return NotBuilt().message(); }
Status MpiLibrary::AllGather(const float*, float*, size_t) {
  return NotBuilt();
}
Status MpiLibrary::ReduceScatter(const float*, float*, size_t) {
  return NotBuilt();
}
Status MpiLibrary::ReduceScatterBlock(const float*, float*, size_t) {
  return NotBuilt();
}
Status MpiLibrary::AllGatherInPlace(void*, size_t, size_t) {
  return NotBuilt();
}
Status MpiLibrary::Barrier() { return NotBuilt(); }
Status MpiLibrary::BroadcastBytes(void*, size_t) { return NotBuilt(); }
Result<double> MpiLibrary::Max(double) { return NotBuilt(); }
Result<int64_t> MpiLibrary::Sum(int64_t) { return NotBuilt(); }
Status MpiLibrary::Finalize() { return NotBuilt(); }
void MpiLibrary::Abort(int) {}

#endif  // RONDO_HAVE_MPI

}  // namespace rondo::perf
