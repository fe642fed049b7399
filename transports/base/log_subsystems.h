// The parts of Rondo that a log line can belong to: RONDO_DEBUG_SUBSYS chooses
// among them. One list, read by the logger and by the parameter table.
#pragma once

#include <cstdint>

// SUBSYSTEM(NAME): what each logs is said on its line.
#define RONDO_LOG_SUBSYSTEMS(SUBSYSTEM)                             \
  SUBSYSTEM(INIT)      /* creating and destroying communicators */  \
  SUBSYSTEM(BOOTSTRAP) /* how ranks find each other; heartbeats */  \
  SUBSYSTEM(NET)       /* transports, lanes, endpoints */           \
  SUBSYSTEM(COLL)      /* each collective call */                   \
  SUBSYSTEM(PLAN)      /* the plans that collectives become */      \
  SUBSYSTEM(TUNING)    /* which algorithm was chosen, and why */    \
  SUBSYSTEM(ENV)       /* parameters and where they came from */    \
  SUBSYSTEM(ALLOC)     /* memory: allocation, registration, maps */ \
  SUBSYSTEM(OPTIM)     /* the sharded optimizer */

namespace rondo {

// Bit numbers in a mask of subsystems: kINIT, kBOOTSTRAP, ...
enum class LogSubsystem : uint8_t {
#define RONDO_LOG_ENUMERATOR_(name) k##name,
  RONDO_LOG_SUBSYSTEMS(RONDO_LOG_ENUMERATOR_)
#undef RONDO_LOG_ENUMERATOR_
};

constexpr uint32_t LogSubsystemBit(LogSubsystem subsystem) {
  return uint32_t{1} << static_cast<uint8_t>(subsystem);
}

}  // namespace rondo
