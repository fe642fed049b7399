// Two processes on one GPU, which NCCL takes for two hosts: all-gather,
// reduce-scatter and all-reduce through whatever network NCCL was told to use,
// checked, and timed.
//
// Usage: nccl_plugin_check RANK ID_FILE. nccl_plugin_check.sh starts both.
#include <cuda_runtime_api.h>
#include <nccl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

constexpr int kRanks = 2;
constexpr size_t kCounts[] = {1, 1000, 1 << 18, (1 << 22) + 3};
constexpr int kTimedCalls = 20;

void CheckCuda(cudaError_t result, const char* what) {
  if (result == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(result));
  std::exit(1);
}

void CheckNccl(ncclResult_t result, const char* what) {
  if (result == ncclSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, ncclGetErrorString(result));
  std::exit(1);
}

// Rank 0 writes the file; the other waits for it, a minute at most.
ncclUniqueId ShareId(int rank, const std::string& path) {
  ncclUniqueId id;
  if (rank == 0) {
    CheckNccl(ncclGetUniqueId(&id), "ncclGetUniqueId");
    const std::string draft = path + ".draft";
    std::FILE* file = std::fopen(draft.c_str(), "wb");
    if (file == nullptr || std::fwrite(&id, sizeof(id), 1, file) != 1 ||
        std::fclose(file) != 0 || rename(draft.c_str(), path.c_str()) != 0) {
      std::perror(path.c_str());
      std::exit(1);
    }
    return id;
  }
  for (int i = 0; i < 600; ++i, usleep(100'000)) {
    std::FILE* file = std::fopen(path.c_str(), "rb");
    if (file == nullptr) continue;
    const bool whole = std::fread(&id, sizeof(id), 1, file) == 1;
    std::fclose(file);
    if (whole) return id;
  }
  std::fprintf(stderr, "rank 0 did not write %s\n", path.c_str());
  std::exit(1);
}

struct Run {
  int rank;
  ncclComm_t comm;
  cudaStream_t stream;
  float* in;
  float* out;
};

// Small whole numbers: sums are exact.
float Element(int rank, size_t i) {
  return static_cast<float>((i * 7 + static_cast<size_t>(rank) * 3) % 101);
}

enum class Kind { kAllGather, kReduceScatter, kAllReduce };

const char* NameOf(Kind kind) {
  return kind == Kind::kAllGather       ? "all_gather"
         : kind == Kind::kReduceScatter ? "reduce_scatter"
                                        : "all_reduce";
}

void Call(const Run& run, Kind kind, size_t count) {
  ncclResult_t result = ncclSuccess;
  if (kind == Kind::kAllGather) {
    result =
        ncclAllGather(run.in, run.out, count, ncclFloat, run.comm, run.stream);
  } else if (kind == Kind::kReduceScatter) {
    result = ncclReduceScatter(run.in, run.out, count, ncclFloat, ncclSum,
                               run.comm, run.stream);
  } else {
    result = ncclAllReduce(run.in, run.out, count, ncclFloat, ncclSum, run.comm,
                           run.stream);
  }
  CheckNccl(result, NameOf(kind));
}

float Expected(Kind kind, int rank, size_t count, size_t i) {
  if (kind == Kind::kAllGather) {
    return Element(static_cast<int>(i / count), i % count);
  }
  const size_t shift =
      kind == Kind::kReduceScatter ? static_cast<size_t>(rank) * count : 0;
  return Element(0, shift + i) + Element(1, shift + i);
}

// The number of wrong elements.
size_t Check(const Run& run, Kind kind, size_t count) {
  const size_t in = kind == Kind::kReduceScatter ? kRanks * count : count;
  const size_t out = kind == Kind::kAllGather ? kRanks * count : count;
  std::vector<float> host(in);
  for (size_t i = 0; i < in; ++i) host[i] = Element(run.rank, i);
  CheckCuda(cudaMemcpy(run.in, host.data(), in * sizeof(float),
                       cudaMemcpyHostToDevice),
            "copying in");
  CheckCuda(cudaMemset(run.out, 0xff, out * sizeof(float)), "clearing");
  Call(run, kind, count);
  CheckCuda(cudaStreamSynchronize(run.stream), "synchronizing");
  host.resize(out);
  CheckCuda(cudaMemcpy(host.data(), run.out, out * sizeof(float),
                       cudaMemcpyDeviceToHost),
            "copying out");
  size_t wrong = 0;
  for (size_t i = 0; i < out; ++i) {
    wrong += host[i] != Expected(kind, run.rank, count, i);
  }
  return wrong;
}

double MicrosecondsEach(const Run& run, Kind kind, size_t count) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < kTimedCalls; ++i) Call(run, kind, count);
  CheckCuda(cudaStreamSynchronize(run.stream), "synchronizing");
  const std::chrono::duration<double, std::micro> passed =
      std::chrono::steady_clock::now() - start;
  return passed.count() / kTimedCalls;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s RANK ID_FILE\n", argv[0]);
    return 2;
  }
  Run run{};
  run.rank = std::string(argv[1]) == "0" ? 0 : 1;
  CheckCuda(cudaSetDevice(0), "cudaSetDevice");
  CheckNccl(
      ncclCommInitRank(&run.comm, kRanks, ShareId(run.rank, argv[2]), run.rank),
      "ncclCommInitRank");
  CheckCuda(cudaStreamCreate(&run.stream), "cudaStreamCreate");
  const size_t most = kRanks * kCounts[3] * sizeof(float);
  CheckCuda(cudaMalloc(reinterpret_cast<void**>(&run.in), most), "cudaMalloc");
  CheckCuda(cudaMalloc(reinterpret_cast<void**>(&run.out), most), "cudaMalloc");
  size_t wrong = 0;
  for (const Kind kind :
       {Kind::kAllGather, Kind::kReduceScatter, Kind::kAllReduce}) {
    for (const size_t count : kCounts) {
      const size_t now = Check(run, kind, count);
      wrong += now;
      const double us = MicrosecondsEach(run, kind, count);
      if (run.rank == 0) {
        std::printf("%-14s %9zu floats %10.1f us %zu wrong\n", NameOf(kind),
                    count, us, now);
      }
    }
  }
  CheckNccl(ncclCommDestroy(run.comm), "ncclCommDestroy");
  return wrong == 0 ? 0 : 1;
}
