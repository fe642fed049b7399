#include "perf/cli/text_file.h"

#include <string.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "fmt/format.h"
#include "transports/base/atomic_file.h"

namespace rondo::perf {

namespace fs = std::filesystem;

namespace {

// A device or pipe, such as /dev/stdout: written in place, not replaced.
bool IsSpecial(const std::string& path) {
  std::error_code ignored;
  const fs::file_status found = fs::status(path, ignored);
  return fs::exists(found) && !fs::is_regular_file(found);
}

}  // namespace

Status CheckWritable(const std::string& path) {
  if (path.empty()) return Status::Ok();
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    return InvalidArgument(
        fmt::format("cannot write \"{}\": it is a directory", path));
  }
  const fs::path parent = fs::path(path).parent_path();
  const std::string target = IsSpecial(path)  ? path
                             : parent.empty() ? "."
                                              : parent.string();
  if (access(target.c_str(), W_OK) != 0) {
    return InvalidArgument(
        fmt::format("cannot write \"{}\": {}", path, strerror(errno)));
  }
  return Status::Ok();
}

Status WriteTextFile(const std::string& path, std::string_view text) {
  if (path.empty()) return Status::Ok();
  RONDO_RETURN_IF_ERROR(CheckWritable(path));
  if (!IsSpecial(path)) return WriteFileAtomically(path, text);
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (file) return Status::Ok();
  return SystemError(fmt::format("writing \"{}\"", path), errno);
}

}  // namespace rondo::perf
