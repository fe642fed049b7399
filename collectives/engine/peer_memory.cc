#include "collectives/engine/peer_memory.h"

#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "collectives/kernels/copy.h"
#include "fmt/format.h"

namespace rondo {
namespace {

// What is read at a time: large enough that the system calls do not matter,
// and all sources of a reduction together small enough to stay in a core's
// second-level cache.
constexpr size_t kMostBounceBytes = 128 << 10;
constexpr size_t kLeastBounceBytes = 16 << 10;
// The kernel copies several times slower between addresses that differ modulo
// this (measured: AMD Zen 2), so bounces lie as their sources do.
constexpr size_t kSameAlignment = 64;

size_t BounceBytes(size_t sources) {
  return std::max(kMostBounceBytes / std::max<size_t>(sources, 1),
                  kLeastBounceBytes);
}

Status MoveAcross(bool read, const OwnedPiece& remote, pid_t process_id,
                  size_t skip_bytes, char* local, size_t bytes) {
  char* address = remote.piece.data + skip_bytes;
  while (bytes > 0) {
    const iovec here{local, bytes};
    const iovec there{address, bytes};
    const ssize_t moved =
        read ? process_vm_readv(process_id, &here, 1, &there, 1, 0)
             : process_vm_writev(process_id, &here, 1, &there, 1, 0);
    if (moved <= 0) {
      return SystemError(
          fmt::format("{} {} bytes of rank {}'s memory",
                      read ? "process_vm_readv of" : "process_vm_writev of",
                      bytes, remote.owner),
          moved < 0 ? errno : EIO);
    }
    local += moved;
    address += moved;
    bytes -= static_cast<size_t>(moved);
  }
  return Status::Ok();
}

}  // namespace

bool PeerMemory::CanRead(pid_t process_id, uint64_t address) {
  char byte;
  const iovec here{&byte, 1};
  const iovec there{reinterpret_cast<void*>(address), 1};
  return process_vm_readv(process_id, &here, 1, &there, 1, 0) == 1;
}

Result<const void*> PeerMemory::Readable(const OwnedPiece& source, size_t first,
                                         size_t count, int bounce) {
  const size_t element_bytes = ElementSize(source.piece.type);
  const size_t skip_bytes = first * element_bytes;
  if (source.piece.reach == Reach::kMapped) {
    return static_cast<const void*>(source.piece.data + skip_bytes);
  }
  if (source.piece.reach == Reach::kMessage) {
    return Internal(fmt::format(
        "rank {}'s memory cannot be read here, which the plan asks for",
        source.owner));
  }
  char* const buffer = Bounce(bounce, source.piece.data + skip_bytes);
  const size_t bytes = count * element_bytes;
  RONDO_RETURN_IF_ERROR(MoveAcross(true, source, process_ids_[source.owner],
                                   skip_bytes, buffer, bytes));
  bytes_read_ += bytes;
  return static_cast<const void*>(buffer);
}

char* PeerMemory::Bounce(int index, const char* address) {
  if (bounces_.size() <= static_cast<size_t>(index)) bounces_.resize(index + 1);
  std::vector<char>& buffer = bounces_[index];
  if (buffer.empty()) buffer.resize(kMostBounceBytes + 2 * kSameAlignment);
  const auto distance = reinterpret_cast<uintptr_t>(address) -
                        reinterpret_cast<uintptr_t>(buffer.data());
  return buffer.data() + distance % kSameAlignment;
}

Status PeerMemory::ForEachReadable(std::span<const OwnedPiece> sources,
                                   size_t from, Use use, size_t* consumed) {
  const size_t total = sources[0].piece.count;
  size_t step = total;
  for (const OwnedPiece& source : sources) {
    if (source.piece.reach != Reach::kReadAcross) continue;
    step = std::min(
        step, BounceBytes(sources.size() - 1) / ElementSize(source.piece.type));
  }
  addresses_.resize(sources.size());
  *consumed = from;
  while (*consumed < total) {
    const size_t count = std::min(step, total - *consumed);
    for (size_t i = 0; i < sources.size(); ++i) {
      RONDO_ASSIGN_OR_RETURN(
          addresses_[i],
          Readable(sources[i], *consumed, count, static_cast<int>(i)));
    }
    RONDO_ASSIGN_OR_RETURN(const size_t used,
                           use(addresses_, *consumed, count));
    *consumed += used;
    if (used < count) break;
  }
  return Status::Ok();
}

Status PeerMemory::ReadInto(char* to, const OwnedPiece& from, StoreHint hint) {
  const size_t bytes = from.piece.bytes();
  bytes_read_ += bytes;
  const pid_t process_id = process_ids_[from.owner];
  const auto distance = reinterpret_cast<uintptr_t>(to) -
                        reinterpret_cast<uintptr_t>(from.piece.data);
  if (distance % kSameAlignment == 0) {
    return MoveAcross(true, from, process_id, 0, to, bytes);
  }
  for (size_t done = 0; done < bytes; done += kMostBounceBytes) {
    const size_t part = std::min(kMostBounceBytes, bytes - done);
    char* const buffer = Bounce(0, from.piece.data + done);
    RONDO_RETURN_IF_ERROR(
        MoveAcross(true, from, process_id, done, buffer, part));
    CopyBytes(to + done, buffer, part, hint);
  }
  return Status::Ok();
}

Status PeerMemory::Write(const OwnedPiece& to, const void* from,
                         StoreHint hint) {
  switch (to.piece.reach) {
    case Reach::kMapped:
      CopyBytes(to.piece.data, from, to.piece.bytes(), hint);
      return Status::Ok();
    case Reach::kReadAcross:
      return MoveAcross(false, to, process_ids_[to.owner], 0,
                        static_cast<char*>(const_cast<void*>(from)),
                        to.piece.bytes());
    case Reach::kMessage:
      break;
  }
  return Internal(fmt::format(
      "rank {}'s memory cannot be written here, which the plan asks for",
      to.owner));
}

}  // namespace rondo
