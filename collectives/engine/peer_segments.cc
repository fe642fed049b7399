#include "collectives/engine/peer_segments.h"

#include <atomic>
#include <string_view>

#include "collectives/engine/symmetric_heap.h"
#include "fmt/format.h"
#include "transports/base/log.h"

namespace rondo {
namespace {

uint64_t StoredIdentity(char* base, size_t bytes) {
  return std::atomic_ref<uint64_t>(*IdentityOf(base, bytes))
      .load(std::memory_order_acquire);
}

// Whether a segment of this process is freed: it may be unmapped, so that only
// the heap can tell.
bool IsGone(const SymmetricName& name) {
  const auto segment = SymmetricHeap::Get().Find(
      reinterpret_cast<const void*>(name.base), name.bytes);
  return segment == nullptr || segment->name().identity != name.identity;
}

}  // namespace

PeerSegments::PeerSegments(HostSegment* host)
    : host_(host), freed_(host->local_size(), 0) {}

bool PeerSegments::Knows(int local_peer, uint64_t identity) const {
  const auto found = segments_.find({local_peer, identity});
  return found != segments_.end() && found->second.agreed;
}

Status PeerSegments::MapInto(const SymmetricName& name, Segment* segment) {
  if (host_->local_size() > kMaxMappingRanks) {
    return Status(Code::kNotSupported,
                  fmt::format("{} ranks on a host; up to {} map each other's "
                              "memory",
                              host_->local_size(), kMaxMappingRanks));
  }
  if (name.key_bytes > sizeof(name.key)) {
    return Status(Code::kTransport, "a damaged memory key");
  }
  RONDO_ASSIGN_OR_RETURN(UcxSharedMemory * memory, UcxSharedMemory::Get());
  RONDO_ASSIGN_OR_RETURN(
      auto mapping,
      memory->Map(std::string_view(name.key, name.key_bytes), name.base));
  if (StoredIdentity(mapping->data(), name.bytes) != name.identity) {
    return Status(Code::kTransport, "what UCX maps is other memory");
  }
  segment->base = mapping->data();
  segment->mapping = std::move(mapping);
  return Status::Ok();
}

void PeerSegments::Map(int local_peer, const SymmetricName& name) {
  const Key key{local_peer, name.identity};
  auto [entry, is_new] = segments_.try_emplace(key);
  if (!is_new) return;  // input and output may lie in the same segment
  unagreed_.push_back(key);
  Segment& segment = entry->second;
  segment.name = name;
  if (local_peer == host_->local_rank()) {
    segment.base = reinterpret_cast<char*>(name.base);
    return;
  }
  const Status mapped = MapInto(name, &segment);
  if (!mapped.ok()) {
    RONDO_LOG_WARN(
        "a symmetric buffer of {} bytes of local rank {} is used as ordinary "
        "memory, because local rank {} cannot map it: {}",
        name.bytes, local_peer, host_->local_rank(), mapped.message());
  }
}

void PeerSegments::PostVerdict(uint64_t sequence) {
  HostArea& own = host_->own();
  for (uint64_t& word : own.refused) word = 0;
  for (const Key& key : unagreed_) {
    if (segments_[key].base != nullptr) continue;
    const size_t bit = static_cast<size_t>(key.first) % kMaxMappingRanks;
    own.refused[bit / 64] |= uint64_t{1} << (bit % 64);
  }
  own.verdict_sequence.store(sequence, std::memory_order_release);
  host_->Ring();
}

bool PeerSegments::ApplyVerdicts(uint64_t sequence) {
  for (int peer = 0; peer < host_->local_size(); ++peer) {
    if (host_->of(peer).verdict_sequence.load(std::memory_order_acquire) <
        sequence) {
      return false;
    }
  }
  for (const Key& key : unagreed_) {
    Segment& segment = segments_[key];
    const size_t bit = static_cast<size_t>(key.first) % kMaxMappingRanks;
    segment.agreed = true;
    segment.shared = true;
    for (int peer = 0; peer < host_->local_size(); ++peer) {
      const uint64_t word = host_->of(peer).refused[bit / 64];
      if ((word >> (bit % 64) & 1) != 0) segment.shared = false;
    }
    if (!segment.shared) segment.mapping.reset();
  }
  unagreed_.clear();
  return true;
}

bool PeerSegments::IsShared(int local_peer, uint64_t identity) const {
  if (identity == 0) return false;
  const auto found = segments_.find({local_peer, identity});
  return found != segments_.end() && found->second.shared;
}

char* PeerSegments::Address(int local_peer, uint64_t identity,
                            uint64_t address) const {
  const Segment& segment = segments_.at({local_peer, identity});
  return segment.base + (address - segment.name.base);
}

void PeerSegments::DropFreed(int local_peer, uint64_t freed_segments) {
  freed_[local_peer] = freed_segments;
  // One that was refused cannot be looked at; if it is still alive, the next
  // header that names it is another try.
  auto entry = segments_.lower_bound({local_peer, 0});
  while (entry != segments_.end() && entry->first.first == local_peer) {
    const Segment& segment = entry->second;
    const bool freed = segment.mapping != nullptr
                           ? StoredIdentity(segment.base, segment.name.bytes) !=
                                 segment.name.identity
                       : local_peer == host_->local_rank()
                           ? IsGone(segment.name)
                           : !segment.shared;
    entry = freed ? segments_.erase(entry) : std::next(entry);
  }
}

}  // namespace rondo
