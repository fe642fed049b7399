#include "transports/base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <iterator>
#include <memory>
#include <mutex>
#include <string>

#include "transports/base/host_name.h"
#include "transports/base/path_pattern.h"

namespace rondo {
namespace {

constexpr uint32_t PackFilter(LogLevel level, uint32_t subsystems) {
  return static_cast<uint32_t>(level) | subsystems << 8;
}

// Where messages go. Never destroyed: threads may log while the process exits.
struct Destination {
  std::mutex mutex;
  int descriptor = STDERR_FILENO;       // guarded; closed when it is a file
  std::shared_ptr<const LogSink> sink;  // guarded
  const std::string host = HostName();
  std::atomic<int> process_rank{-1};
};

Destination& TheDestination() {
  static Destination& destination = *new Destination;
  return destination;
}

thread_local int thread_rank = -1;

int CurrentRank() {
  if (thread_rank >= 0) return thread_rank;
  return TheDestination().process_rank.load(std::memory_order_relaxed);
}

std::string_view LevelWord(LogLevel level) {
  switch (level) {
    case LogLevel::kNone:
    case LogLevel::kVersion:
      return "VERSION";
    case LogLevel::kWarn:
      return "WARN";
    case LogLevel::kInfo:
      return "INFO";
    case LogLevel::kTrace:
      return "TRACE";
  }
  return "INFO";
}

// The table has checked the word already.
LogLevel LevelOf(std::string_view word) {
  if (word == "none") return LogLevel::kNone;
  if (word == "version") return LogLevel::kVersion;
  if (word == "info") return LogLevel::kInfo;
  if (word == "trace") return LogLevel::kTrace;
  return LogLevel::kWarn;
}

uint32_t BitOf(std::string_view name) {
#define RONDO_LOG_BIT_(subsystem) \
  if (name == #subsystem) return LogSubsystemBit(LogSubsystem::k##subsystem);
  RONDO_LOG_SUBSYSTEMS(RONDO_LOG_BIT_)
#undef RONDO_LOG_BIT_
  return 0;
}

// Empty means all; a ^ before the first means all but these.
uint32_t MaskOf(const std::vector<std::string>& names) {
  if (names.empty()) return kAllLogSubsystems;
  uint32_t mask = 0;
  for (std::string_view name : names) {
    if (name.front() == '^') name.remove_prefix(1);
    mask |= BitOf(name);
  }
  const bool excludes = names.front().front() == '^';
  return excludes ? kAllLogSubsystems & ~mask : mask;
}

// Opens what RONDO_DEBUG_FILE names; standard error when it names nothing.
Result<int> OpenDestination(const std::string& pattern) {
  if (pattern.empty()) return STDERR_FILENO;
  const auto path = ExpandPathPattern(pattern, ProcessPathValues());
  if (!path.ok()) return path.status().WithContext("RONDO_DEBUG_FILE");
  // Appending keeps the lines of several processes whole.
  const int descriptor =
      open(path->c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY,
           0644);
  if (descriptor < 0) {
    return SystemError("RONDO_DEBUG_FILE: opening " + *path, errno);
  }
  return descriptor;
}

// Drops what cannot be written: a full disk must not stop a training run.
void WriteAll(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<size_t>(written));
  }
}

void WriteLine(Destination* destination, const LogRecord& record) {
  fmt::memory_buffer line;
  auto out = std::back_inserter(line);
  fmt::format_to(out, "{}:{}:{} [", destination->host, getpid(),
                 syscall(SYS_gettid));
  if (record.rank >= 0) {
    fmt::format_to(out, "{}", record.rank);
  } else {
    fmt::format_to(out, "-");
  }
  fmt::format_to(out, "] {}:{} RONDO {} {}\n", record.file, record.line,
                 LevelWord(record.level), record.message);
  const std::lock_guard<std::mutex> lock(destination->mutex);
  WriteAll(destination->descriptor, std::string_view(line.data(), line.size()));
}

void Deliver(const LogRecord& record) {
  Destination& destination = TheDestination();
  std::shared_ptr<const LogSink> sink;
  {
    const std::lock_guard<std::mutex> lock(destination.mutex);
    sink = destination.sink;
  }
  // Outside the lock, so that a sink may itself log or replace the sink.
  if (sink != nullptr) {
    (*sink)(record);
  } else {
    WriteLine(&destination, record);
  }
}

void ReportLost(const char* file, int line, const char* why) {
  char text[256];
  const int length =
      snprintf(text, sizeof(text), "%s:%d RONDO WARN a message was lost: %s\n",
               file, line, why);
  if (length < 0) return;
  WriteAll(STDERR_FILENO, {text, std::min<size_t>(length, sizeof(text) - 1)});
}

}  // namespace

namespace log_internal {

std::atomic<uint32_t> filter{PackFilter(LogLevel::kWarn, kAllLogSubsystems)};

void Emit(LogLevel level, LogSubsystem subsystem, const char* file, int line,
          fmt::string_view format, fmt::format_args arguments) {
  // A caller reports an error through errno only after it has logged.
  const int saved_errno = errno;
  LogRecord record{level, subsystem, file, line, CurrentRank(), {}};
  try {
    fmt::memory_buffer message;
    fmt::vformat_to(std::back_inserter(message), format, arguments);
    message.push_back('\0');
    record.message = std::string_view(message.data(), message.size() - 1);
    Deliver(record);
  } catch (const std::exception& error) {
    // Out of memory, or a width given at run time that fmt refuses.
    ReportLost(file, line, error.what());
  } catch (...) {
    ReportLost(file, line, "the sink threw");
  }
  errno = saved_errno;
}

}  // namespace log_internal

Status ConfigureLogging(const Parameters& parameters) {
  RONDO_ASSIGN_OR_RETURN(int descriptor,
                         OpenDestination(parameters.debug_file));
  Destination& destination = TheDestination();
  {
    const std::lock_guard<std::mutex> lock(destination.mutex);
    std::swap(destination.descriptor, descriptor);
  }
  if (descriptor != STDERR_FILENO) close(descriptor);
  destination.process_rank.store(static_cast<int>(parameters.rank),
                                 std::memory_order_relaxed);
  SetLogLevel(LevelOf(parameters.debug), MaskOf(parameters.debug_subsys));
  return Status::Ok();
}

void LogParameters(const Parameters& parameters) {
  for (const std::string& warning : parameters.warnings()) {
    RONDO_LOG_WARN("{}", warning);
  }
  for (const ParameterInfo& info : parameters.Describe()) {
    if (info.source == "default") continue;
    RONDO_LOG_INFO(ENV, "{} set to '{}' by {}", info.name, info.value,
                   info.source);
  }
}

void SetLogLevel(LogLevel level, uint32_t subsystems) {
  log_internal::filter.store(PackFilter(level, subsystems & kAllLogSubsystems),
                             std::memory_order_relaxed);
}

void SetLogRank(int rank) { thread_rank = rank; }

void SetLogSink(LogSink sink) {
  Destination& destination = TheDestination();
  std::shared_ptr<const LogSink> next;
  if (sink) next = std::make_shared<const LogSink>(std::move(sink));
  const std::lock_guard<std::mutex> lock(destination.mutex);
  destination.sink.swap(next);
}

}  // namespace rondo
