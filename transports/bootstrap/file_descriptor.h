// FileDescriptor: a descriptor with one owner, closed with it.
//
// Thread-safety: a value; not to be shared while it is being assigned.
// Ownership: owns the descriptor; moving leaves -1 behind.
// Failure: close errors are ignored, since nothing could be done about them.
//
// Example:
//   FileDescriptor file(open(path, O_RDONLY | O_CLOEXEC));
//   if (!file.valid()) return SystemError("open", errno);
#pragma once

#include <unistd.h>

#include <utility>

namespace rondo {

class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    if (this != &other) {
      Close();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  ~FileDescriptor() { Close(); }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  void Close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

 private:
  int fd_ = -1;
};

}  // namespace rondo
