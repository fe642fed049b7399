// Logging, with the habits of NCCL_DEBUG.
//
// RONDO_DEBUG chooses the level, RONDO_DEBUG_SUBSYS the subsystems that speak
// at info and trace, RONDO_DEBUG_FILE the destination (standard error without
// it). One line is one write, in NCCL's order, so that its users' tools still
// work:
//
//   node7:4242:4250 [3] transports/ucx/lane.cc:88 RONDO INFO lane 0 on mlx5_0:1
//
// A message that is switched off costs one relaxed load and evaluates none of
// its arguments. Format strings are fmt's and are checked at compile time.
//
// Thread-safety: everything may be called from any thread. Ownership: a sink is
// kept until it is replaced; a thread that is inside it then may still finish.
// Failure: logging never fails the caller; what cannot be written is dropped.
//
// Example:
//   RONDO_RETURN_IF_ERROR(ConfigureLogging(parameters));
//   SetLogRank(rank);
//   RONDO_LOG_INFO(NET, "lane {} on {}", lane, device);
//   RONDO_LOG_WARN("rank {}: {}", peer, status.ToString());
#pragma once

#include <fmt/core.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>

#include "transports/base/log_subsystems.h"
#include "transports/base/parameters.h"
#include "transports/base/status.h"

namespace rondo {

// Each level includes those before it.
enum class LogLevel : uint8_t { kNone, kVersion, kWarn, kInfo, kTrace };

inline constexpr uint32_t kAllLogSubsystems = 0xffffff;

// Level, subsystems and destination from RONDO_DEBUG, _SUBSYS and _FILE; the
// rank, when it is known, labels threads that have set none. May be called
// again: the last call wins. An error, which names the file, changes nothing.
Status ConfigureLogging(const Parameters& parameters);

// Warns about unknown names, and says at info (ENV) which parameters are not at
// their default and who set them.
void LogParameters(const Parameters& parameters);

void SetLogLevel(LogLevel level, uint32_t subsystems = kAllLogSubsystems);

// Labels what this thread logs; -1 goes back to the label of the process.
void SetLogRank(int rank);

// One message on its way to a sink. The views are valid during the call only;
// `message` is followed by a zero byte.
struct LogRecord {
  LogLevel level;
  LogSubsystem subsystem;  // INIT for warnings, which have none
  const char* file;
  int line;
  int rank;  // -1 when unknown
  std::string_view message;
};

// Takes all messages in place of the file; an empty function ends that. It must
// not throw, and may be called by several threads at once.
using LogSink = std::function<void(const LogRecord&)>;
void SetLogSink(LogSink sink);

namespace log_internal {

// Level in bits 0 to 7, subsystems above.
extern std::atomic<uint32_t> filter;

inline bool Enabled(LogLevel level, uint32_t subsystems) {
  const uint32_t now = filter.load(std::memory_order_relaxed);
  return static_cast<uint32_t>(level) <= (now & 0xff) &&
         (subsystems & (now >> 8)) != 0;
}

// For versions and warnings, which no choice of subsystems silences.
inline bool Enabled(LogLevel level) {
  return static_cast<uint32_t>(level) <=
         (filter.load(std::memory_order_relaxed) & 0xff);
}

void Emit(LogLevel level, LogSubsystem subsystem, const char* file, int line,
          fmt::string_view format, fmt::format_args arguments);

template <typename... Arguments>
void Log(LogLevel level, LogSubsystem subsystem, const char* file, int line,
         fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  Emit(level, subsystem, file, line, format,
       fmt::make_format_args(arguments...));
}

}  // namespace log_internal
}  // namespace rondo

#define RONDO_LOG_AT_(level, subsystem, ...)                                   \
  do {                                                                         \
    if (::rondo::log_internal::Enabled(level,                                  \
                                       ::rondo::LogSubsystemBit(subsystem))) { \
      ::rondo::log_internal::Log(level, subsystem, __FILE__, __LINE__,         \
                                 __VA_ARGS__);                                 \
    }                                                                          \
  } while (false)

// Versions and warnings do not ask for a subsystem.
#define RONDO_LOG_ALWAYS_(level, ...)                                 \
  do {                                                                \
    if (::rondo::log_internal::Enabled(level)) {                      \
      ::rondo::log_internal::Log(level, ::rondo::LogSubsystem::kINIT, \
                                 __FILE__, __LINE__, __VA_ARGS__);    \
    }                                                                 \
  } while (false)

// RONDO_LOG_INFO(NET, "format", ...): names of subsystems as in
// log_subsystems.h.
#define RONDO_LOG_VERSION(...) \
  RONDO_LOG_ALWAYS_(::rondo::LogLevel::kVersion, __VA_ARGS__)
#define RONDO_LOG_WARN(...) \
  RONDO_LOG_ALWAYS_(::rondo::LogLevel::kWarn, __VA_ARGS__)
#define RONDO_LOG_INFO(subsystem, ...)                                         \
  RONDO_LOG_AT_(::rondo::LogLevel::kInfo, ::rondo::LogSubsystem::k##subsystem, \
                __VA_ARGS__)
#define RONDO_LOG_TRACE(subsystem, ...)    \
  RONDO_LOG_AT_(::rondo::LogLevel::kTrace, \
                ::rondo::LogSubsystem::k##subsystem, __VA_ARGS__)
