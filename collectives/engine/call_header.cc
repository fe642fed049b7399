#include "collectives/engine/call_header.h"

#include <cstddef>
#include <cstring>
#include <map>
#include <vector>

#include "collectives/kernels/data_type.h"
#include "collectives/plan/plan.h"
#include "fmt/format.h"

namespace rondo {
namespace {

// Headers come from other processes: a number that is no enumerator is printed
// as it is.
std::string TypeText(uint32_t type) {
  Result<DataType> known = DataTypeFromNumber(static_cast<int>(type));
  return known.ok() ? std::string(DataTypeName(*known))
                    : fmt::format("type {}", type);
}

std::string ReductionText(uint32_t reduction) {
  Result<Reduction> known = ReductionFromNumber(static_cast<int>(reduction));
  return known.ok() ? std::string(ReductionName(*known))
                    : fmt::format("reduction {}", reduction);
}

bool IsCollective(const CallHeader& header, Collective collective) {
  return header.collective == static_cast<uint32_t>(collective);
}

std::string FieldsThatDiffer(const CallHeader& a, const CallHeader& b) {
  std::string fields;
  const auto compare = [&fields](bool differs, const char* name) {
    if (differs) fields += (fields.empty() ? "" : ", ") + std::string(name);
  };
  compare(a.sequence != b.sequence, "order of calls");
  compare(a.collective != b.collective, "operation");
  compare(a.count != b.count, "count");
  compare(a.count == b.count && a.counts_hash != b.counts_hash,
          "counts per rank");
  compare(a.type != b.type, "type");
  compare(a.output_type != b.output_type, "output type");
  compare(a.reduction != b.reduction, "reduction");
  compare(a.root != b.root, "root");
  compare(a.parameters_hash != b.parameters_hash,
          "parameter counts or settings of the update");
  compare(a.chunk_bytes != b.chunk_bytes, "chunk size (RONDO_CHUNK_BYTES)");
  compare(a.algorithm_hash != b.algorithm_hash, "algorithm (RONDO_ALGO)");
  return fields.empty() ? "a damaged header" : fields;
}

using RankedHeader = std::pair<int, CallHeader>;

// Index of a member of the largest group with equal agreement.
size_t ReferenceIndex(std::span<const RankedHeader> headers) {
  std::map<uint64_t, int> votes;
  for (const RankedHeader& ranked : headers) ++votes[ranked.second.agreement];
  size_t best = 0;
  for (size_t i = 1; i < headers.size(); ++i) {
    const int mine = votes[headers[i].second.agreement];
    const int leading = votes[headers[best].second.agreement];
    const bool lower_rank = headers[i].first < headers[best].first;
    if (mine > leading || (mine == leading && lower_rank)) best = i;
  }
  return best;
}

}  // namespace

uint64_t HashBytes(const void* data, size_t bytes, uint64_t hash) {
  const auto* byte = static_cast<const unsigned char*>(data);
  for (size_t i = 0; i < bytes; ++i) {
    hash = (hash ^ byte[i]) * 0x100000001b3u;
  }
  return hash;
}

// By words, since it is on the way of every small message: each step is a
// bijection of the state, so a single field that differs always shows.
void CallHeader::Seal() {
  constexpr size_t kFrom = offsetof(CallHeader, sequence);
  constexpr size_t kWords =
      (offsetof(CallHeader, input_address) - kFrom) / sizeof(uint64_t);
  uint64_t words[kWords];
  std::memcpy(words, reinterpret_cast<const char*>(this) + kFrom,
              sizeof(words));
  uint64_t hash = kHashSeed;
  for (uint64_t word : words) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
  }
  agreement = hash;
}

std::string HeaderToText(const CallHeader& header) {
  std::string name = fmt::format("collective {}", header.collective);
  if (header.collective < kCollectives) {
    name = CollectiveName(static_cast<Collective>(header.collective));
  }
  std::string arguments;
  if (!IsCollective(header, Collective::kBarrier)) {
    arguments =
        fmt::format("count {}, {}", header.count, TypeText(header.type));
  }
  if (IsCollective(header, Collective::kReduceScatter)) {
    arguments += ", " + ReductionText(header.reduction);
  }
  if (IsCollective(header, Collective::kBroadcast)) {
    arguments += fmt::format(", root {}", header.root);
  }
  return fmt::format("{}({}) as call {}", name, arguments,
                     header.sequence % kBeforeFirstCall);
}

Status MatchHeaders(std::span<const RankedHeader> headers) {
  if (headers.empty()) return Status::Ok();
  const RankedHeader& reference = headers[ReferenceIndex(headers)];
  std::string differing;
  for (const auto& [rank, header] : headers) {
    if (header.agreement == reference.second.agreement) continue;
    differing +=
        fmt::format("{}rank {} called {}, which differs in {}",
                    differing.empty() ? "" : "; ", rank, HeaderToText(header),
                    FieldsThatDiffer(header, reference.second));
  }
  if (differing.empty()) return Status::Ok();
  return Status(Code::kMismatch,
                fmt::format("{}; rank {} called {}", differing, reference.first,
                            HeaderToText(reference.second)));
}

}  // namespace rondo
