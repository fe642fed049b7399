#include "collectives/engine/symmetric_heap.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <mutex>
#include <random>
#include <utility>

#include "fmt/format.h"
#include "transports/base/log.h"
#include "transports/ucx/ucx_shared_memory.h"

namespace rondo {
namespace {

constexpr size_t kPage = 4096;

// Random, so that no two processes of a host choose the same.
uint64_t NewIdentity() {
  static std::mutex mutex;
  static std::mt19937_64 random([] {
    std::random_device device;
    return (uint64_t{device()} << 32) ^ device() ^
           static_cast<uint64_t>(getpid());
  }());
  const std::lock_guard<std::mutex> lock(mutex);
  uint64_t identity = 0;
  while (identity == 0) identity = random();
  return identity;
}

class SharedSegment : public SymmetricSegment {
 public:
  SharedSegment(std::unique_ptr<UcxSharedMemory::Block> block, size_t bytes)
      : block_(std::move(block)) {
    name_.identity = NewIdentity();
    name_.base = reinterpret_cast<uint64_t>(block_->data());
    name_.bytes = bytes;
    name_.key_bytes = block_->key().size();
    std::memcpy(name_.key, block_->key().data(), block_->key().size());
    Identity().store(name_.identity, std::memory_order_release);
  }
  // Those who still map it find out here.
  ~SharedSegment() override { Identity().store(0, std::memory_order_release); }

  char* data() const override { return block_->data(); }
  size_t bytes() const override { return name_.bytes; }
  const SymmetricName& name() const override { return name_; }

 private:
  std::atomic_ref<uint64_t> Identity() const {
    return std::atomic_ref<uint64_t>(*IdentityOf(data(), name_.bytes));
  }

  std::unique_ptr<UcxSharedMemory::Block> block_;
  SymmetricName name_;
};

class PrivateSegment : public SymmetricSegment {
 public:
  PrivateSegment(char* data, size_t bytes) : data_(data), bytes_(bytes) {}
  ~PrivateSegment() override { munmap(data_, bytes_); }

  char* data() const override { return data_; }
  size_t bytes() const override { return bytes_; }
  const SymmetricName& name() const override { return name_; }

 private:
  char* data_;
  size_t bytes_;
  const SymmetricName name_;
};

using Segment = std::shared_ptr<const SymmetricSegment>;

Result<Segment> AllocateShared(size_t bytes) {
  RONDO_ASSIGN_OR_RETURN(UcxSharedMemory * memory, UcxSharedMemory::Get());
  // One page more, for the identity.
  RONDO_ASSIGN_OR_RETURN(auto block, memory->Allocate(bytes + kPage));
  if (block->key().size() > sizeof(SymmetricName::key)) {
    return Status(Code::kNotSupported,
                  fmt::format("UCX's memory keys have {} bytes; at most {} are "
                              "accepted",
                              block->key().size(), sizeof(SymmetricName::key)));
  }
  return Segment(std::make_shared<SharedSegment>(std::move(block), bytes));
}

Result<Segment> AllocatePrivate(size_t bytes) {
  void* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) {
    return Status(
        Code::kResourceExhausted,
        fmt::format("no memory for a symmetric buffer of {} bytes: {}", bytes,
                    std::strerror(errno)));
  }
  return Segment(
      std::make_shared<PrivateSegment>(static_cast<char*>(data), bytes));
}

}  // namespace

SymmetricHeap& SymmetricHeap::Get() {
  static auto* const heap = new SymmetricHeap();
  return *heap;
}

Result<void*> SymmetricHeap::Allocate(size_t bytes) {
  if (bytes > SIZE_MAX / 2) {
    return Status(Code::kResourceExhausted,
                  fmt::format("a symmetric buffer of {} bytes; at most {} are "
                              "accepted",
                              bytes, SIZE_MAX / 2));
  }
  const size_t rounded =
      (std::max<size_t>(bytes, 1) + kPage - 1) & ~(kPage - 1);
  Result<Segment> segment = AllocateShared(rounded);
  if (!segment.ok()) {
    RONDO_LOG_WARN(
        "a symmetric buffer of {} bytes is ordinary memory, because it cannot "
        "be shared: {}",
        bytes, segment.status().message());
    segment = AllocatePrivate(rounded);
  }
  if (!segment.ok()) return segment.status();
  char* const data = (*segment)->data();
  const std::lock_guard<std::shared_mutex> lock(mutex_);
  segments_[data] = *std::move(segment);
  count_.store(segments_.size(), std::memory_order_release);
  return static_cast<void*>(data);
}

Status SymmetricHeap::Free(void* data) {
  if (data == nullptr) return Status::Ok();
  Segment segment;
  {
    const std::lock_guard<std::shared_mutex> lock(mutex_);
    const auto found = segments_.find(static_cast<const char*>(data));
    if (found == segments_.end()) {
      return InvalidArgument(fmt::format(
          "{} is not where a living symmetric buffer begins", data));
    }
    // Nobody can find it while the lock is held, so the count cannot grow.
    if (found->second.use_count() > 1) {
      return InvalidUsage(fmt::format(
          "the symmetric buffer at {} is in use by a running call", data));
    }
    segment = std::move(found->second);
    segments_.erase(found);
    count_.store(segments_.size(), std::memory_order_release);
  }
  segment.reset();
  freed_.fetch_add(1, std::memory_order_release);
  return Status::Ok();
}

Segment SymmetricHeap::Find(const void* data, size_t bytes) const {
  if (count_.load(std::memory_order_acquire) == 0) return nullptr;
  const char* const begin = static_cast<const char*>(data);
  const std::shared_lock<std::shared_mutex> lock(mutex_);
  auto after = segments_.upper_bound(begin);
  if (after == segments_.begin()) return nullptr;
  const Segment& segment = std::prev(after)->second;
  const size_t offset = static_cast<size_t>(begin - segment->data());
  if (offset > segment->bytes() || bytes > segment->bytes() - offset) {
    return nullptr;
  }
  return segment;
}

}  // namespace rondo
