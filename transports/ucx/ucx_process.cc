#include "transports/ucx/ucx_process.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <sys/statvfs.h>
#include <ucs/debug/debug.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <mutex>

namespace rondo {

namespace {

std::atomic<int> fork_generation{0};

// Whether the handler that is installed for `signal_number` is code of libucs.
bool HandledByUcx(int signal_number) {
  struct sigaction current {};
  if (sigaction(signal_number, nullptr, &current) != 0) return false;
  if (current.sa_handler == SIG_DFL || current.sa_handler == SIG_IGN) {
    return false;
  }
  Dl_info handler{}, ucs{};
  return dladdr(reinterpret_cast<void*>(current.sa_handler), &handler) != 0 &&
         dladdr(reinterpret_cast<void*>(&ucs_debug_disable_signal), &ucs) !=
             0 &&
         handler.dli_fbase == ucs.dli_fbase;
}

void RemoveUnlessAskedFor(int signal_number) {
  if (HandledByUcx(signal_number)) ucs_debug_disable_signal(signal_number);
}

}  // namespace

void RemoveUcxSignalHandlers() {
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock(mutex);
  if (std::getenv("UCX_HANDLE_ERRORS") == nullptr &&
      std::getenv("UCX_ERROR_SIGNALS") == nullptr) {
    for (int signal_number : {SIGILL, SIGSEGV, SIGBUS, SIGFPE}) {
      RemoveUnlessAskedFor(signal_number);
    }
  }
  if (std::getenv("UCX_DEBUG_SIGNO") == nullptr) RemoveUnlessAskedFor(SIGHUP);
}

int ForkGeneration() {
  static const int registered =
      pthread_atfork(nullptr, nullptr, [] { fork_generation.fetch_add(1); });
  (void)registered;
  return fork_generation.load(std::memory_order_relaxed);
}

std::string SharedMemoryDirectory() {
  const char* chosen = std::getenv("UCX_POSIX_DIR");
  return chosen != nullptr && chosen[0] != '\0' ? chosen : "/dev/shm";
}

uint64_t AvailableBytes(const std::string& directory) {
  struct statvfs room {};
  if (statvfs(directory.c_str(), &room) != 0) {
    return std::numeric_limits<uint64_t>::max();
  }
  return uint64_t{room.f_bavail} * room.f_frsize;
}

}  // namespace rondo
