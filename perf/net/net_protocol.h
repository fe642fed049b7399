// What the command and its two processes tell each other: plain records.
//
// Thread-safety: values. Failure: none.
//
// Example:
//   Order order{.task = Task::kStream, .bytes = 1024, .messages = 100};
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "perf/net/call_watch.h"
#include "transports/base/status.h"

namespace rondo::perf {

enum class Task : int32_t {
  kCheck,     // a window both ways, every byte compared
  kStream,    // from the first process to the second
  kPingPong,  // there and back
  kStop,
};

struct Order {
  Task task = Task::kStop;
  bool watch = false;  // times every call, and therefore not the whole
  int64_t bytes = 0;
  int64_t messages = 0;  // of a ping-pong: round trips
};

// Text of a record; what does not fit is cut off.
using RecordText = std::array<char, 512>;

inline RecordText ToRecordText(const std::string& text) {
  RecordText record = {};
  std::copy_n(text.begin(), std::min(text.size(), record.size() - 1),
              record.begin());
  return record;
}

// Of one process, to one order.
struct Answer {
  int32_t code = 0;  // of a Status
  RecordText message = {};
  int64_t elapsed_ns = 0;
  double median_us = 0;  // one way; of the first process in a ping-pong
  double p99_us = 0;
  int64_t wrong_bytes = 0;
  LongestCall longest;
};

// Sent once, when the process has connected or failed to.
struct Introduction {
  int32_t code = 0;
  RecordText message = {};
  RecordText plugin = {};  // its own name
  RecordText device = {};
  int32_t version = 0;
};

template <typename Record>
Status RecordStatus(const Record& record) {
  return Status(static_cast<Code>(record.code), record.message.data());
}

}  // namespace rondo::perf
