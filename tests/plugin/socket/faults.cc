#include "tests/plugin/socket/faults.h"

#include <cstdlib>
#include <cstring>

namespace rondo::bad_plugin {

Fault ActiveFault() {
  static const Fault active = [] {
    const char* name = std::getenv(kFaultVariable);
    if (name == nullptr) return Fault::kNone;
    for (const NamedFault& fault : kFaults) {
      if (std::strcmp(name, fault.name) == 0) return fault.fault;
    }
    return Fault::kUnknown;
  }();
  return active;
}

}  // namespace rondo::bad_plugin
