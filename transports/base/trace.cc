#include "transports/base/trace.h"

#include <time.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <new>

#include "transports/base/atomic_file.h"
#include "transports/base/json_text.h"
#include "transports/base/path_pattern.h"

namespace rondo {
namespace {

int64_t UnixMinusMonotonicNs() {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec - NowNs();
}

// Microseconds with three decimals: exact, where a double would lose the last
// digits of a machine that has been up for months.
void AppendUs(std::string* out, const char* key, int64_t ns) {
  char text[64];
  std::snprintf(text, sizeof(text), ",\"%s\":%" PRId64 ".%03d", key, ns / 1000,
                static_cast<int>(ns % 1000));
  *out += text;
}

void AppendNumber(std::string* out, const char* key, int64_t value) {
  char text[64];
  std::snprintf(text, sizeof(text), ",\"%s\":%" PRId64, key, value);
  *out += text;
}

// How much of `text` fits into `limit` bytes without cutting a character.
size_t WholeCharacters(std::string_view text, size_t limit) {
  if (text.size() <= limit) return text.size();
  size_t end = limit;
  const auto continues = [&](size_t i) {
    return (static_cast<unsigned char>(text[i]) & 0xc0) == 0x80;
  };
  while (end > 0 && continues(end)) --end;
  return end > 0 ? end : limit;
}

}  // namespace

Result<std::unique_ptr<TraceRecorder>> TraceRecorder::Create(
    int rank, size_t event_capacity) {
  if (event_capacity < 1 || event_capacity > kMaxEvents) {
    return InvalidArgument("rank " + std::to_string(rank) + ": a trace of " +
                           std::to_string(event_capacity) +
                           " events is refused; accepted is 1 to " +
                           std::to_string(kMaxEvents));
  }
  try {
    return std::unique_ptr<TraceRecorder>(
        new TraceRecorder(rank, event_capacity));
  } catch (const std::bad_alloc&) {
    return Status(Code::kResourceExhausted,
                  "rank " + std::to_string(rank) + ": no memory for " +
                      std::to_string(event_capacity) + " trace events");
  }
}

TraceRecorder::TraceRecorder(int rank, size_t event_capacity)
    : rank_(rank),
      unix_minus_monotonic_ns_(UnixMinusMonotonicNs()),
      ring_(event_capacity) {}

void TraceRecorder::NameThread(int thread, std::string_view name) {
  const std::lock_guard<std::mutex> lock(mutex_);
  thread_names_[thread] = std::string(name);
}

void TraceRecorder::Complete(std::string_view name, const char* category,
                             int thread, int64_t start_ns, int64_t end_ns,
                             const Arguments& arguments) {
  Event event = {};
  event.phase = 'X';
  event.category = category;
  event.thread = thread;
  event.start_ns = start_ns;
  event.duration_ns = std::max<int64_t>(end_ns - start_ns, 0);
  event.arguments = arguments;
  Record(&event, name);
}

void TraceRecorder::Counter(std::string_view name, int64_t at_ns,
                            int64_t value) {
  Event event = {};
  event.phase = 'C';
  event.start_ns = at_ns;
  event.arguments[0] = {"value", value};
  Record(&event, name);
}

void TraceRecorder::FlowStart(std::string_view name, int thread, int64_t at_ns,
                              uint64_t id) {
  Event event = {};
  event.phase = 's';
  event.category = "flow";
  event.thread = thread;
  event.start_ns = at_ns;
  event.flow_id = id;
  Record(&event, name);
}

void TraceRecorder::FlowEnd(std::string_view name, int thread, int64_t at_ns,
                            uint64_t id) {
  Event event = {};
  event.phase = 'f';
  event.category = "flow";
  event.thread = thread;
  event.start_ns = at_ns;
  event.flow_id = id;
  Record(&event, name);
}

void TraceRecorder::Record(Event* event, std::string_view name) {
  std::memcpy(event->name, name.data(), WholeCharacters(name, kMaxNameBytes));
  const std::lock_guard<std::mutex> lock(mutex_);
  ring_[recorded_ % ring_.size()] = *event;
  ++recorded_;
}

uint64_t TraceRecorder::dropped() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return recorded_ - std::min<uint64_t>(recorded_, ring_.size());
}

void TraceRecorder::AppendEvent(std::string* out, const Event& event) const {
  *out += ",\n{\"ph\":\"";
  *out += event.phase;
  *out += "\",\"name\":";
  AppendJsonString(out, event.name);
  if (event.category != nullptr) {
    *out += ",\"cat\":";
    AppendJsonString(out, event.category);
  }
  AppendNumber(out, "pid", rank_);
  AppendNumber(out, "tid", event.thread);
  AppendUs(out, "ts", event.start_ns);
  if (event.phase == 'X') AppendUs(out, "dur", event.duration_ns);
  if (event.phase == 's' || event.phase == 'f') {
    // A string: numbers above 2^53 would not survive a JavaScript reader.
    *out += ",\"id\":\"" + std::to_string(event.flow_id) + "\"";
  }
  // Binds the arrow to the event around it, not to the next one.
  if (event.phase == 'f') *out += ",\"bp\":\"e\"";
  std::string arguments;
  for (const TraceArgument& argument : event.arguments) {
    if (argument.name == nullptr) continue;
    if (!arguments.empty()) arguments += ',';
    AppendJsonString(&arguments, argument.name);
    arguments += ':' + std::to_string(argument.value);
  }
  if (!arguments.empty()) *out += ",\"args\":{" + arguments + "}";
  *out += '}';
}

void TraceRecorder::AppendMetadata(std::string* out) const {
  *out += "{\"ph\":\"M\",\"name\":\"process_name\"";
  AppendNumber(out, "pid", rank_);
  *out += ",\"args\":{\"name\":\"rank " + std::to_string(rank_) + "\"}}";
  *out += ",\n{\"ph\":\"M\",\"name\":\"process_sort_index\"";
  AppendNumber(out, "pid", rank_);
  *out += ",\"args\":{\"sort_index\":" + std::to_string(rank_) + "}}";
  for (const auto& [thread, name] : thread_names_) {
    *out += ",\n{\"ph\":\"M\",\"name\":\"thread_name\"";
    AppendNumber(out, "pid", rank_);
    AppendNumber(out, "tid", thread);
    *out += ",\"args\":{\"name\":";
    AppendJsonString(out, name);
    *out += "}}";
  }
}

std::string TraceRecorder::ToJson() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const uint64_t kept = std::min<uint64_t>(recorded_, ring_.size());
  std::string out =
      "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"rank\":" +
      std::to_string(rank_) + ",\"unix_minus_monotonic_ns\":\"" +
      std::to_string(unix_minus_monotonic_ns_) +
      "\",\"dropped_events\":" + std::to_string(recorded_ - kept) +
      "},\n\"traceEvents\":[";
  AppendMetadata(&out);
  for (uint64_t i = recorded_ - kept; i < recorded_; ++i) {
    AppendEvent(&out, ring_[i % ring_.size()]);
  }
  return out + "]}\n";
}

Status TraceRecorder::Write(const std::string& path) const {
  return WriteFileAtomically(path, ToJson())
      .WithContext("trace of rank " + std::to_string(rank_));
}

Result<std::string> TracePath(std::string_view pattern, int rank,
                              int world_size) {
  std::map<char, std::string> values = ProcessPathValues();
  values['r'] = std::to_string(rank);
  RONDO_ASSIGN_OR_RETURN(std::string path, ExpandPathPattern(pattern, values));
  // Another rank's path, to see whether the rank makes a difference.
  values['r'] = std::to_string(rank + 1);
  RONDO_ASSIGN_OR_RETURN(const std::string other,
                         ExpandPathPattern(pattern, values));
  if (world_size > 1 && path == other) {
    return InvalidArgument("RONDO_TRACE_FILE is '" + std::string(pattern) +
                           "' for all of " + std::to_string(world_size) +
                           " ranks; accepted is a name with %r, which becomes "
                           "the rank");
  }
  return path;
}

}  // namespace rondo
