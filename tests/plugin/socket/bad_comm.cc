#include "tests/plugin/socket/bad_comm.h"

#include <unistd.h>

#include <atomic>
#include <set>

#include "tests/plugin/socket/faults.h"

namespace rondo::bad_plugin {
namespace {

std::atomic<nccl::Logger> active_logger{nullptr};

// For a fault only: buffers that any communicator has registered.
std::mutex registered_mutex;
std::set<uintptr_t> registered;

bool RegisteredElsewhere(uintptr_t begin) {
  if (!Has(Fault::kOneRegistration)) return false;
  std::lock_guard<std::mutex> lock(registered_mutex);
  return !registered.insert(begin).second;
}

void ForgetRegistered(uintptr_t begin) {
  if (!Has(Fault::kOneRegistration)) return;
  std::lock_guard<std::mutex> lock(registered_mutex);
  registered.erase(begin);
}

}  // namespace

void SetLogger(nccl::Logger logger) { active_logger = logger; }

void Warn(const char* text) {
  const nccl::Logger logger = active_logger;
  if (logger == nullptr) return;
  logger(nccl::kLogWarn, nccl::kLogNet, __FILE__, __LINE__, "bad plugin: %s",
         text);
}

Comm::~Comm() {
  for (const auto& [handle, range] : ranges_) ForgetRegistered(range.begin);
  if (!Has(Fault::kLeaksDescriptor)) close(fd_);
}

int Comm::Register(void* data, size_t bytes, void** memory_handle) {
  const auto begin = reinterpret_cast<uintptr_t>(data);
  if (Has(Fault::kRefusesOneByte) && bytes < 8) {
    Warn("a range of less than 8 bytes is not registered");
    return nccl::kInvalidArgument;
  }
  if (RegisteredElsewhere(begin)) return nccl::kInvalidUsage;
  ranges_[++last_handle_] = {begin, bytes};
  *memory_handle = reinterpret_cast<void*>(last_handle_);
  if (Has(Fault::kNullMemoryHandle)) *memory_handle = nullptr;
  return nccl::kSuccess;
}

int Comm::Deregister(void* memory_handle) {
  const auto found = ranges_.find(reinterpret_cast<uintptr_t>(memory_handle));
  if (found == ranges_.end()) return nccl::kInvalidArgument;
  const Range ended = found->second;
  ranges_.erase(found);
  ForgetRegistered(ended.begin);
  if (Has(Fault::kDeregistersOverlaps)) {
    std::erase_if(ranges_, [&](const auto& other) {
      const Range& range = other.second;
      return range.begin < ended.begin + ended.bytes &&
             ended.begin < range.begin + range.bytes;
    });
  }
  return nccl::kSuccess;
}

bool Comm::Covers(void* memory_handle, const void* data, size_t bytes) const {
  const auto found = ranges_.find(reinterpret_cast<uintptr_t>(memory_handle));
  if (found == ranges_.end()) return false;
  const auto begin = reinterpret_cast<uintptr_t>(data);
  const Range& range = found->second;
  return begin >= range.begin && bytes <= range.bytes &&
         begin - range.begin <= range.bytes - bytes;
}

int Comm::Break(int result, const char* why) {
  if (broken_ == nccl::kSuccess) {
    broken_ = result;
    Warn(why);
  }
  return broken_;
}

}  // namespace rondo::bad_plugin
