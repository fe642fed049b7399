#include "perf/net/net_tasks.h"

#include <sched.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "perf/bench/statistics.h"

namespace rondo::perf {
namespace {

constexpr size_t kCheckedBytes = size_t{64} << 20;
constexpr int kStepsPerDeadline = 256;  // reading the clock costs time

// Byte `at` of message `message`: neighbours in space and time differ.
std::byte Expected(size_t at, int message) {
  return static_cast<std::byte>((at ^ (at >> 8) * 31 ^ (at >> 16) * 7) +
                                static_cast<size_t>(message) * 17 + 1);
}

int64_t Progress(std::initializer_list<Flow*> flows) {
  int64_t progress = 0;
  for (const Flow* flow : flows) progress += flow->posted() + flow->done();
  return progress;
}

Status Late(std::initializer_list<Flow*> flows) {
  std::string text;
  for (const Flow* flow : flows) {
    text += fmt::format("; {} posted, {} done", flow->posted(), flow->done());
  }
  return Status(Code::kTimeout,
                fmt::format("messages did not arrive within {} s{}",
                            kTaskMs / 1000, text));
}

// Steps `flows` until `finished`. A round that brings nothing yields, as NCCL's
// progress thread does: where the two processes share a core, each would else
// spin through its time slice before the other can answer.
template <typename Finished>
Status StepUntil(std::initializer_list<Flow*> flows, Deadline deadline,
                 Finished finished) {
  for (int steps = 1; !finished(); ++steps) {
    const int64_t before = Progress(flows);
    for (Flow* flow : flows) RONDO_RETURN_IF_ERROR(flow->Step());
    if (Progress(flows) == before) sched_yield();
    if (steps % kStepsPerDeadline == 0 && deadline.expired()) {
      return Late(flows);
    }
  }
  return Status::Ok();
}

Status Barrier(ControlSocket* peer, Deadline deadline) {
  char token = 0;
  RONDO_RETURN_IF_ERROR(peer->Send(token));
  return peer->Receive(&token, deadline);
}

// Posts until the window or `flow`'s messages are all with the plugin, so that
// no message finds a receiver that is not ready.
Status PostAhead(Flow* flow, int64_t messages, Deadline deadline) {
  const int64_t wanted = std::min<int64_t>(messages, kWindow);
  while (flow->posted() < wanted) {
    RONDO_RETURN_IF_ERROR(flow->Step());
    if (deadline.expired()) {
      return Status(Code::kTimeout, fmt::format("irecv took {} of {} requests",
                                                flow->posted(), wanted));
    }
  }
  return Status::Ok();
}

struct TaskContext {
  const Order& order;
  Role role;
  ControlSocket* peer;
  NetSide* side;
  CallWatch watch;
  Deadline deadline;

  size_t bytes() const { return static_cast<size_t>(order.bytes); }
};

Status RunCheck(TaskContext* task, Answer* answer) {
  const size_t bytes = task->bytes();
  const int count = CheckedMessages(bytes);
  const FlowTarget from = task->side->sending(bytes, count);
  const FlowTarget into = task->side->receiving(bytes, count);
  for (int i = 0; i < count; ++i) {
    const size_t offset = static_cast<size_t>(i) * bytes;
    for (size_t at = 0; at < bytes; ++at) {
      from.memory[offset + at] = Expected(at, i);
      into.memory[offset + at] = ~Expected(at, i);
    }
  }
  SendFlow sends(from, &task->watch);
  ReceiveFlow receives(into, &task->watch);
  receives.Allow(count);
  RONDO_RETURN_IF_ERROR(PostAhead(&receives, count, task->deadline));
  RONDO_RETURN_IF_ERROR(Barrier(task->peer, task->deadline));
  sends.Allow(count);
  RONDO_RETURN_IF_ERROR(StepUntil({&sends, &receives}, task->deadline, [&] {
    return sends.done() == count && receives.done() == count;
  }));
  for (int i = 0; i < count; ++i) {
    const size_t offset = static_cast<size_t>(i) * bytes;
    for (size_t at = 0; at < bytes; ++at) {
      if (into.memory[offset + at] != Expected(at, i)) ++answer->wrong_bytes;
    }
  }
  return Status::Ok();
}

Status RunStream(TaskContext* task, Answer* answer) {
  const int64_t messages = task->order.messages;
  if (task->role == Role::kFirst) {
    SendFlow sends(task->side->sending(task->bytes(), 1), &task->watch);
    RONDO_RETURN_IF_ERROR(Barrier(task->peer, task->deadline));
    sends.Allow(messages);
    return StepUntil({&sends}, task->deadline,
                     [&] { return sends.done() == messages; });
  }
  ReceiveFlow receives(task->side->receiving(task->bytes(), 1), &task->watch);
  receives.Allow(messages);
  const int64_t start = NowNs();
  RONDO_RETURN_IF_ERROR(PostAhead(&receives, messages, task->deadline));
  RONDO_RETURN_IF_ERROR(Barrier(task->peer, task->deadline));
  RONDO_RETURN_IF_ERROR(StepUntil({&receives}, task->deadline,
                                  [&] { return receives.done() == messages; }));
  answer->elapsed_ns = NowNs() - start;
  return Status::Ok();
}

Status RunPingPong(TaskContext* task, Answer* answer) {
  const int64_t messages = task->order.messages;
  SendFlow sends(task->side->sending(task->bytes(), 1), &task->watch);
  ReceiveFlow receives(task->side->receiving(task->bytes(), 1), &task->watch);
  receives.Allow(messages);
  std::vector<int64_t> halves_ns;
  halves_ns.reserve(static_cast<size_t>(messages));
  RONDO_RETURN_IF_ERROR(PostAhead(&receives, messages, task->deadline));
  RONDO_RETURN_IF_ERROR(Barrier(task->peer, task->deadline));
  const bool first = task->role == Role::kFirst;
  const int64_t start = NowNs();
  for (int64_t i = 0; i < messages; ++i) {
    const int64_t sent_at = NowNs();
    if (first) sends.Allow(1);
    RONDO_RETURN_IF_ERROR(StepUntil({&sends, &receives}, task->deadline,
                                    [&] { return receives.done() > i; }));
    halves_ns.push_back((NowNs() - sent_at) / 2);
    if (first) continue;
    sends.Allow(1);
    RONDO_RETURN_IF_ERROR(sends.Post());
  }
  answer->elapsed_ns = NowNs() - start;
  const IterationTimes times = Summarize(std::move(halves_ns));
  answer->median_us = times.p50_us;
  answer->p99_us = times.p99_us;
  return StepUntil({&sends}, task->deadline,
                   [&] { return sends.done() == messages; });
}

Status Dispatch(TaskContext* task, Answer* answer) {
  switch (task->order.task) {
    case Task::kCheck:
      return RunCheck(task, answer);
    case Task::kStream:
      return RunStream(task, answer);
    case Task::kPingPong:
      return RunPingPong(task, answer);
    case Task::kStop:
      break;
  }
  return Status::Ok();
}

}  // namespace

int CheckedMessages(size_t bytes) {
  return static_cast<int>(
      std::clamp<size_t>(kCheckedBytes / bytes, 1, kWindow));
}

size_t MemoryFor(size_t most_bytes) {
  return std::max(most_bytes, std::min(most_bytes * kWindow, kCheckedBytes));
}

Answer RunTask(const Order& order, Role role, ControlSocket* peer,
               NetSide* side) {
  TaskContext task{order,
                   role,
                   peer,
                   side,
                   CallWatch(order.watch),
                   Deadline::AfterMs(kTaskMs)};
  Answer answer;
  const Status status = Dispatch(&task, &answer);
  answer.code = static_cast<int32_t>(status.code());
  answer.message = ToRecordText(status.message());
  answer.longest = task.watch.longest();
  return answer;
}

}  // namespace rondo::perf
