#include "collectives/engine/host_segment.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>

#include "fmt/format.h"
#include "transports/base/cpu_quota.h"

namespace rondo {
namespace {

constexpr size_t kPage = 4096;

// The blob that the first rank of each host sends to the others.
struct Invitation {
  int32_t process_id = 0;
  int32_t file = -1;
  uint64_t device = 0;
  uint64_t inode = 0;
};

// The first rank's descriptor, open until every other rank had its chance.
struct OwnFile {
  ~OwnFile() {
    if (file >= 0) close(file);
  }
  int file = -1;
};

Result<int> OpenInvitation(const Invitation& invitation) {
  const std::string path =
      fmt::format("/proc/{}/fd/{}", invitation.process_id, invitation.file);
  const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return SystemError("open " + path, errno);
  struct stat facts;
  // Another pid namespace may have an unrelated file behind the same path.
  if (fstat(file, &facts) != 0 || facts.st_ino != invitation.inode ||
      facts.st_dev != invitation.device) {
    close(file);
    return Status(Code::kSystem, path + " is not the control segment");
  }
  return file;
}

Result<Invitation> MakeFile(size_t bytes) {
  const int file = memfd_create("rondo control segment", MFD_CLOEXEC);
  if (file < 0) return SystemError("memfd_create", errno);
  struct stat facts;
  if (ftruncate(file, static_cast<off_t>(bytes)) != 0 ||
      fstat(file, &facts) != 0) {
    const int error = errno;
    close(file);
    return SystemError(fmt::format("a control segment of {} bytes", bytes),
                       error);
  }
  return Invitation{static_cast<int32_t>(getpid()), file, facts.st_dev,
                    facts.st_ino};
}

std::vector<int> RanksOfHost(const std::vector<int>& host_of_rank, int host) {
  std::vector<int> ranks;
  for (size_t rank = 0; rank < host_of_rank.size(); ++rank) {
    if (host_of_rank[rank] == host) ranks.push_back(static_cast<int>(rank));
  }
  return ranks;
}

// Host numbers in order of first appearance, with `split` hosts taken apart.
std::vector<int> Renumber(const std::vector<int>& host_of_rank,
                          const std::vector<int>& split) {
  std::vector<int> renumbered(host_of_rank.size(), -1);
  int next = 0;
  for (size_t rank = 0; rank < host_of_rank.size(); ++rank) {
    if (renumbered[rank] >= 0) continue;
    const int host = host_of_rank[rank];
    renumbered[rank] = next;
    if (std::count(split.begin(), split.end(), host) == 0) {
      for (int other : RanksOfHost(host_of_rank, host))
        renumbered[other] = next;
    }
    ++next;
  }
  return renumbered;
}

}  // namespace

HostSegment::HostSegment(void* memory, size_t bytes, int local_rank,
                         int local_size)
    : memory_(memory),
      bytes_(bytes),
      local_rank_(local_rank),
      local_size_(local_size) {
  // The file is zero already, and `staging` need not be touched before use.
  HostArea* mine = new (&AreaOf(local_rank)) HostArea;
  mine->process_id = static_cast<int32_t>(getpid());
  mine->address = reinterpret_cast<uint64_t>(mine);
  mine->cpu_quota = CgroupCpuLimit("/proc/self");
  cpu_set_t cpus;
  if (sched_getaffinity(0, sizeof(cpus), &cpus) != 0) CPU_ZERO(&cpus);
  for (int cpu = 0; cpu < std::min(kMaxCpus, CPU_SETSIZE); ++cpu) {
    if (CPU_ISSET(cpu, &cpus)) mine->cpus[cpu / 64] |= uint64_t{1} << cpu % 64;
  }
}

void HostSegment::CountCpus() {
  int cpus = 0;
  for (int word = 0; word < kMaxCpus / 64; ++word) {
    uint64_t any = 0;
    for (int peer = 0; peer < local_size_; ++peer) {
      any |= AreaOf(peer).cpus[word];
    }
    cpus += std::popcount(any);
  }
  // A kernel that does not tell, or ranks beyond what is counted.
  if (cpus == 0) cpus = UsableCpus();
  // The smallest quota counts, so that all ranks come to the same number.
  usable_cpus_ = cpus;
  for (int peer = 0; peer < local_size_; ++peer) {
    const int quota = AreaOf(peer).cpu_quota;
    if (quota > 0) usable_cpus_ = std::min(usable_cpus_, quota);
  }
}

HostSegment::~HostSegment() { munmap(memory_, bytes_); }

std::atomic<uint64_t>& HostSegment::Flag(int to, int from, int flag) const {
  auto* flags = reinterpret_cast<std::atomic<uint64_t>*>(&AreaOf(local_size_));
  return flags[(static_cast<size_t>(to) * local_size_ + from) * kMaxFlags +
               flag];
}

size_t HostSegment::Bytes(int local_size) {
  const size_t flags = sizeof(std::atomic<uint64_t>) * kMaxFlags *
                       static_cast<size_t>(local_size) * local_size;
  return (sizeof(HostArea) * local_size + flags + kPage - 1) / kPage * kPage;
}

Result<std::unique_ptr<HostSegment>> HostSegment::Map(int file, int local_rank,
                                                      int local_size) {
  const size_t bytes = Bytes(local_size);
  void* memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) return SystemError("mmap control segment", errno);
  return std::unique_ptr<HostSegment>(
      new HostSegment(memory, bytes, local_rank, local_size));
}

Result<std::unique_ptr<HostSegment>> HostSegment::Accept(
    const std::string& blob, int local_rank, int local_size) {
  Invitation invitation;
  if (blob.size() != sizeof(invitation)) {
    return Status(Code::kSystem,
                  "the host's first rank has no segment: " + blob);
  }
  std::memcpy(&invitation, blob.data(), sizeof(invitation));
  RONDO_ASSIGN_OR_RETURN(const int file, OpenInvitation(invitation));
  auto mapped = Map(file, local_rank, local_size);
  close(file);
  return mapped;
}

Result<std::unique_ptr<HostSegment>> HostSegment::Alone() {
  RONDO_ASSIGN_OR_RETURN(const Invitation invitation, MakeFile(Bytes(1)));
  auto mapped = Map(invitation.file, 0, 1);
  close(invitation.file);
  return mapped;
}

Result<HostSegment::Placement> HostSegment::Create(
    Bootstrap* bootstrap, std::vector<int> host_of_rank, Deadline deadline) {
  const int rank = bootstrap->rank();
  const std::vector<int> local = RanksOfHost(host_of_rank, host_of_rank[rank]);
  const int local_size = static_cast<int>(local.size());
  const int local_rank = static_cast<int>(
      std::find(local.begin(), local.end(), rank) - local.begin());

  // The first rank of each host invites, the others open, and all hear of it.
  std::string blob;
  OwnFile own;
  if (local_rank == 0) {
    Result<Invitation> made = MakeFile(Bytes(local_size));
    if (made.ok()) {
      own.file = made->file;
      blob.assign(reinterpret_cast<const char*>(&*made), sizeof(*made));
    } else {
      blob = made.status().message();
    }
  }
  RONDO_ASSIGN_OR_RETURN(auto blobs, bootstrap->AllGather(blob, deadline));
  auto segment = Accept(blobs[local[0]], local_rank, local_size);
  RONDO_ASSIGN_OR_RETURN(
      auto problems,
      bootstrap->AllGather(segment.status().message(), deadline));

  Placement placement;
  std::vector<int> split;
  for (size_t r = 0; r < problems.size(); ++r) {
    if (problems[r].empty()) continue;
    split.push_back(host_of_rank[r]);
    placement.warning = fmt::format(
        "rank {} cannot share memory with the other ranks of its host ({}); "
        "they are treated as separate hosts",
        r, problems[r]);
  }
  placement.host_of_rank = Renumber(host_of_rank, split);
  const bool alone =
      std::count(split.begin(), split.end(), host_of_rank[rank]) != 0;
  if (alone) segment = Alone();
  if (!segment.ok()) return segment.status();
  placement.segment = *std::move(segment);
  placement.segment->CountCpus();
  return placement;
}

void HostSegment::Post(const CallHeader& header) {
  HostArea::Slot& slot = NextSlot(header.sequence);
  slot.header = header;
  slot.agreement = header.agreement;
  slot.freed_segments = header.freed_segments;
  slot.sequence.store(header.sequence, std::memory_order_release);
  Ring();
}

int HostSegment::ProcessId(int local_peer) const {
  return AreaOf(local_peer).process_id;
}

uint64_t HostSegment::ProbeAddress(int local_peer) const {
  return AreaOf(local_peer).address;
}

// Either the toucher sees `closed`, or the closer sees `touching`: both store
// first and load then, in one total order.
void HostSegment::BeginTouch() {
  AreaOf(local_rank_).touching.store(1, std::memory_order_seq_cst);
}

void HostSegment::EndTouch() {
  AreaOf(local_rank_).touching.store(0, std::memory_order_release);
}

bool HostSegment::AnyClosed() const {
  for (int peer = 0; peer < local_size_; ++peer) {
    if (AreaOf(peer).closed.load(std::memory_order_seq_cst) != 0) return true;
  }
  return false;
}

void HostSegment::Close() {
  AreaOf(local_rank_).closed.store(1, std::memory_order_seq_cst);
  Ring();
}

// Either a ringer sees the sleeper, or the sleeper sees what the ringer has
// stored: both store first and load then, with a fence in between.
void HostSegment::Sleep(FunctionRef<bool()> is_there, int longest_ms) {
  HostArea& mine = own();
  const uint32_t seen = mine.bell.load(std::memory_order_relaxed);
  mine.sleepers.fetch_add(1, std::memory_order_seq_cst);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (!is_there()) {
    const timespec longest = {longest_ms / 1000,
                              longest_ms % 1000 * 1'000'000L};
    // A changed bell, a signal and a passed time are all the same to the
    // caller.
    syscall(SYS_futex, &mine.bell, FUTEX_WAIT, seen, &longest, nullptr, 0);
  }
  mine.sleepers.fetch_sub(1, std::memory_order_relaxed);
}

void HostSegment::WakeSleepers() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  for (int peer = 0; peer < local_size_; ++peer) {
    HostArea& area = AreaOf(peer);
    if (peer == local_rank_ ||
        area.sleepers.load(std::memory_order_relaxed) == 0) {
      continue;
    }
    area.bell.fetch_add(1, std::memory_order_relaxed);
    constexpr int kEverybody = std::numeric_limits<int>::max();
    syscall(SYS_futex, &area.bell, FUTEX_WAKE, kEverybody, nullptr, nullptr, 0);
  }
}

void HostSegment::WaitUntouched(Deadline deadline) const {
  Backoff backoff(local_size_, usable_cpus_);
  for (int peer = 0; peer < local_size_; ++peer) {
    if (peer == local_rank_) continue;
    while (AreaOf(peer).touching.load(std::memory_order_seq_cst) != 0 &&
           !deadline.expired()) {
      backoff.Pause();
    }
  }
}

void HostSegment::Raise(int local_peer, int flag, uint64_t sequence) {
  Flag(local_peer, local_rank_, flag)
      .store(sequence, std::memory_order_release);
  Ring();
}

bool HostSegment::Raised(int local_peer, int flag, uint64_t sequence) const {
  return Flag(local_rank_, local_peer, flag).load(std::memory_order_acquire) >=
         sequence;
}

}  // namespace rondo
