#include "transports/bootstrap/service_thread.h"

#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>

#include <cerrno>
#include <system_error>

namespace rondo {

Result<Waker> Waker::Create() {
  FileDescriptor event(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  if (!event.valid()) return SystemError("eventfd", errno);
  return Waker(std::move(event));
}

void Waker::Signal() const {
  const uint64_t one = 1;
  // A full counter has already woken the reader.
  [[maybe_unused]] ssize_t ignored = write(event_.get(), &one, sizeof(one));
}

void Waker::Drain() const {
  uint64_t count;
  [[maybe_unused]] ssize_t ignored = read(event_.get(), &count, sizeof(count));
}

Result<std::thread> StartServiceThread(const char* name,
                                       std::function<void()> body) {
  // The new thread inherits the mask, so no signal can reach it in between.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread;
  int error = 0;
  try {
    thread = std::thread(std::move(body));
  } catch (const std::system_error& failure) {
    error = failure.code().value();
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error != 0) {
    return SystemError(std::string("starting thread ") + name, error);
  }
  pthread_setname_np(thread.native_handle(), name);
  return thread;
}

}  // namespace rondo
