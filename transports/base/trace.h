// Trace: what a rank did and when, as Chrome Trace Event JSON.
//
// Perfetto and chrome://tracing open the file. The process id of every event is
// the rank, so the files of several ranks can be merged: concatenate their
// traceEvents. Times are of the monotonic clock, which the ranks of one host
// share; `otherData.unix_minus_monotonic_ns` aligns hosts.
//
// Events go to a ring that is allocated once; when it is full the oldest are
// overwritten and counted. Recording allocates nothing. A null TraceRecorder*
// is how tracing is off: TraceSpan then only tests a pointer.
//
// Thread-safety: any thread may record. Ownership: names are copied (up to
// kMaxNameBytes); categories and argument names must be string literals.
// Failure: only Create and Write can fail.
//
// Example:
//   {
//     TraceSpan span(recorder, "reduce", "step", /*thread=*/0);
//     span.Argument("bytes", bytes);
//     ...
//   }                                  // records the time since its beginning
//   RONDO_RETURN_IF_ERROR(recorder->Write(path));
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "transports/base/clock.h"
#include "transports/base/status.h"

namespace rondo {

// A named number that is shown with an event.
struct TraceArgument {
  const char* name = nullptr;  // a literal; null when unused
  int64_t value = 0;
};

class TraceRecorder {
 public:
  static constexpr size_t kMaxNameBytes = 47;
  static constexpr size_t kMaxEvents = size_t{1} << 24;
  static constexpr size_t kDefaultEvents = size_t{1} << 16;
  using Arguments = std::array<TraceArgument, 3>;

  // Room for `event_capacity` events (1 to kMaxEvents), about 160 bytes each.
  static Result<std::unique_ptr<TraceRecorder>> Create(
      int rank, size_t event_capacity = kDefaultEvents);

  // `thread` is any small number that tells lanes of a rank apart.
  void NameThread(int thread, std::string_view name);

  // Something that took time (phase "X").
  void Complete(std::string_view name, const char* category, int thread,
                int64_t start_ns, int64_t end_ns, const Arguments& arguments);
  // A value that changes over time (phase "C").
  void Counter(std::string_view name, int64_t at_ns, int64_t value);
  // An arrow from one event to another, of any rank: equal names and ids, each
  // end inside the event it belongs to (phases "s" and "f").
  void FlowStart(std::string_view name, int thread, int64_t at_ns, uint64_t id);
  void FlowEnd(std::string_view name, int thread, int64_t at_ns, uint64_t id);

  // Events that were overwritten because the ring was full.
  uint64_t dropped() const;

  // The whole trace as JSON text.
  std::string ToJson() const;
  // Writes ToJson() to a temporary file beside `path` and renames it, so that a
  // reader never sees half a trace.
  Status Write(const std::string& path) const;

 private:
  struct Event {
    char phase;
    char name[kMaxNameBytes + 1];
    const char* category;
    int thread;
    int64_t start_ns;
    int64_t duration_ns;
    uint64_t flow_id;
    Arguments arguments;
  };

  TraceRecorder(int rank, size_t event_capacity);
  void Record(Event* event, std::string_view name);
  void AppendEvent(std::string* out, const Event& event) const;
  void AppendMetadata(std::string* out) const;

  const int rank_;
  const int64_t unix_minus_monotonic_ns_;
  mutable std::mutex mutex_;
  std::vector<Event> ring_;                  // guarded by mutex_
  uint64_t recorded_ = 0;                    // guarded by mutex_
  std::map<int, std::string> thread_names_;  // guarded by mutex_
};

// Records the time of a scope as one complete event; does nothing without a
// recorder. For one thread.
class TraceSpan {
 public:
  // `name` must outlive the span; `category` is a literal.
  TraceSpan(TraceRecorder* recorder, std::string_view name,
            const char* category, int thread)
      : recorder_(recorder) {
    if (recorder_ == nullptr) return;
    name_ = name;
    category_ = category;
    thread_ = thread;
    start_ns_ = NowNs();
  }
  ~TraceSpan() {
    if (recorder_ == nullptr) return;
    recorder_->Complete(name_, category_, thread_, start_ns_, NowNs(),
                        arguments_);
  }
  TraceSpan(const TraceSpan&) = delete;
  TraceSpan& operator=(const TraceSpan&) = delete;

  // The first three count.
  void Argument(const char* name, int64_t value) {
    if (recorder_ == nullptr || used_ == arguments_.size()) return;
    arguments_[used_++] = {name, value};
  }

 private:
  TraceRecorder* const recorder_;
  std::string_view name_;
  const char* category_ = nullptr;
  int thread_ = 0;
  int64_t start_ns_ = 0;
  size_t used_ = 0;
  TraceRecorder::Arguments arguments_ = {};
};

// The file that RONDO_TRACE_FILE names for this rank. With several ranks it
// must contain %r (or %p): else they would overwrite each other's.
Result<std::string> TracePath(std::string_view pattern, int rank,
                              int world_size);

}  // namespace rondo
