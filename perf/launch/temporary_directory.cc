#include "perf/launch/temporary_directory.h"

#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <optional>
#include <system_error>

#include "transports/base/environment.h"

namespace rondo::perf {

Result<TemporaryDirectory> TemporaryDirectory::Create(
    const std::string& prefix) {
  const std::optional<std::string> base =
      EnvironmentReader::FromProcess().Get("TMPDIR");
  std::string path = base.value_or("").empty() ? "/tmp" : *base;
  path += "/" + prefix + "-XXXXXX";
  if (mkdtemp(path.data()) == nullptr) {
    return SystemError("making the temporary directory " + path, errno);
  }
  return TemporaryDirectory(std::move(path));
}

TemporaryDirectory::~TemporaryDirectory() {
  if (path_.empty()) return;
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace rondo::perf
