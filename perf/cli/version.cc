#include "perf/cli/version.h"

#include "collectives/rondo.h"
#include "fmt/format.h"

namespace rondo::perf {

std::string VersionText() {
  return fmt::format("{}.{}.{}", RONDO_MAJOR, RONDO_MINOR, RONDO_PATCH);
}

}  // namespace rondo::perf
