#include "transports/base/atomic_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

namespace rondo {
namespace {

// Closes `descriptor` in any case: an error may be reported only then.
Status WriteAndClose(int descriptor, std::string_view content,
                     const std::string& path) {
  int error = 0;
  while (!content.empty() && error == 0) {
    const ssize_t written = write(descriptor, content.data(), content.size());
    if (written >= 0) {
      content.remove_prefix(static_cast<size_t>(written));
    } else if (errno != EINTR) {
      error = errno;
    }
  }
  if (close(descriptor) != 0 && error == 0 && errno != EINTR) error = errno;
  return error == 0 ? Status::Ok() : SystemError("writing " + path, error);
}

}  // namespace

Status WriteFileAtomically(const std::string& path, std::string_view content) {
  std::string temporary = path + ".XXXXXX";
  const int descriptor = mkstemp(temporary.data());
  if (descriptor < 0) {
    return SystemError("creating a file beside " + path, errno);
  }
  // mkstemp makes private files; this one is for whoever asked for it.
  (void)fchmod(descriptor, S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH);
  Status status = WriteAndClose(descriptor, content, path);
  if (status.ok() && rename(temporary.c_str(), path.c_str()) != 0) {
    status = SystemError("renaming to " + path, errno);
  }
  if (!status.ok()) unlink(temporary.c_str());
  return status;
}

}  // namespace rondo
