// TemporaryDirectory: a fresh directory that only this user may enter, removed
// with all that is in it when the object goes.
//
// Thread-safety: one thread. Ownership: movable, not copyable; the moved-from
// object owns nothing. Failure: Create() names the path that was tried; removal
// is silent, since nothing is left to do about it.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(auto directory,
//   TemporaryDirectory::Create("rondo")); directory.path() + "/rendezvous";
#pragma once

#include <string>
#include <utility>

#include "transports/base/status.h"

namespace rondo::perf {

class TemporaryDirectory {
 public:
  // Mode 0700, below $TMPDIR, else /tmp: "/tmp/PREFIX-XXXXXX".
  static Result<TemporaryDirectory> Create(const std::string& prefix);

  TemporaryDirectory(TemporaryDirectory&& other) noexcept
      : path_(std::exchange(other.path_, "")) {}
  TemporaryDirectory& operator=(TemporaryDirectory&&) = delete;
  ~TemporaryDirectory();

  const std::string& path() const { return path_; }

 private:
  explicit TemporaryDirectory(std::string path) : path_(std::move(path)) {}

  std::string path_;
};

}  // namespace rondo::perf
