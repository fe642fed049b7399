#include "transports/base/host_name.h"

#include <unistd.h>

#include <algorithm>

namespace rondo {

std::string HostName() {
  char name[256] = {};
  // The last byte stays zero: a name that was cut need not be terminated.
  if (gethostname(name, sizeof(name) - 1) != 0) return "unknown";
  std::string text(name);
  text.resize(std::min(text.find('.'), text.size()));
  return text.empty() ? "unknown" : text;
}

}  // namespace rondo
