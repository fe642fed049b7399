#include "perf/net/net_pair.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "fmt/format.h"
#include "perf/net/net_tasks.h"

namespace rondo::perf {
namespace {

// Longer than the processes' own limits, so that they speak first.
constexpr int64_t kAnswerMs = 2 * kTaskMs;
constexpr int64_t kIdleMs = 600000;  // a process without orders gives up
constexpr int64_t kStopMs = 5000;

Introduction Introduce(const Status& status, const NetSide* side) {
  Introduction introduction;
  introduction.code = static_cast<int32_t>(status.code());
  introduction.message = ToRecordText(status.message());
  if (status.ok()) {
    introduction.plugin = ToRecordText(side->net()->name());
    introduction.device = ToRecordText(side->device_name());
    introduction.version = side->net()->version();
  }
  return introduction;
}

// A forked process's whole life. It ends with the first error: what it closes
// then is what the other process learns of it.
void Serve(const PluginChoice& choice, size_t memory_bytes, Role role,
           ControlSocket orders, ControlSocket peer) {
  Result<std::unique_ptr<NetSide>> side = NetSide::Open(choice, memory_bytes);
  Status status = side.ok() ? (*side)->Connect(&peer) : side.status();
  const NetSide* opened = side.ok() ? side->get() : nullptr;
  if (!orders.Send(Introduce(status, opened)).ok() || !status.ok()) return;
  for (;;) {
    Order order;
    status = orders.Receive(&order, Deadline::AfterMs(kIdleMs));
    if (!status.ok() || order.task == Task::kStop) return;
    const Answer answer = RunTask(order, role, &peer, side->get());
    if (!orders.Send(answer).ok() || answer.code != 0) return;
  }
}

bool EndsWithin(pid_t pid, int64_t limit_ms, int* wait_status) {
  const Deadline deadline = Deadline::AfterMs(limit_ms);
  Backoff backoff;
  while (waitpid(pid, wait_status, WNOHANG) != pid) {
    if (deadline.expired()) return false;
    backoff.Pause();
  }
  return true;
}

Status Join(const Status& first, const Status& second) {
  if (first.ok() || second.ok()) {
    return first.ok() ? second.WithContext("second process")
                      : first.WithContext("first process");
  }
  return Status(first.code(),
                first.message() == second.message()
                    ? first.message()
                    : fmt::format("first process: {}; second process: {}",
                                  first.message(), second.message()));
}

}  // namespace

Result<std::unique_ptr<NetPair>> NetPair::Start(
    const PluginChoice& choice, size_t memory_bytes,
    const std::map<std::string, std::string>& variables) {
  std::unique_ptr<NetPair> pair(new NetPair);
  RONDO_ASSIGN_OR_RETURN(ControlPair peers, MakeControlPair());
  std::fflush(nullptr);  // or both would print what is buffered once more
  const pid_t parent = getpid();
  for (const Role role : {Role::kFirst, Role::kSecond}) {
    RONDO_ASSIGN_OR_RETURN(ControlPair ends, MakeControlPair());
    const pid_t pid = fork();
    if (pid < 0) return SystemError("fork", errno);
    if (pid > 0) {
      Process& process = pair->processes_[role == Role::kFirst ? 0 : 1];
      process.pid = pid;
      process.orders = std::move(ends.first);
      continue;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    for (const auto& [name, value] : variables) {
      setenv(name.c_str(), value.c_str(), 1);
    }
    ends.first.Close();
    pair->processes_[0].orders.Close();
    ControlSocket& mine = role == Role::kFirst ? peers.first : peers.second;
    ControlSocket& other = role == Role::kFirst ? peers.second : peers.first;
    other.Close();
    Serve(choice, memory_bytes, role, std::move(ends.second), std::move(mine));
    _exit(0);
  }
  RONDO_RETURN_IF_ERROR(pair->Meet());
  return pair;
}

Status NetPair::Meet() {
  std::array<Status, 2> found;
  for (size_t i = 0; i < processes_.size(); ++i) {
    Introduction introduction;
    const Status heard = processes_[i].orders.Receive(
        &introduction, Deadline::AfterMs(kAnswerMs));
    found[i] = heard.ok() ? RecordStatus(introduction) : Explain(i, heard);
    if (i != 0 || !found[i].ok()) continue;
    plugin_name_ = introduction.plugin.data();
    device_name_ = introduction.device.data();
    version_ = introduction.version;
  }
  return Join(found[0], found[1]);
}

Result<PairAnswers> NetPair::Run(const Order& order) {
  PairAnswers answers;
  std::array<Answer*, 2> both = {&answers.first, &answers.second};
  std::array<Status, 2> found;
  for (Process& process : processes_) {
    const Status sent = process.orders.Send(order);
    if (!sent.ok()) found[&process == &processes_[0] ? 0 : 1] = sent;
  }
  for (size_t i = 0; i < processes_.size(); ++i) {
    const Status heard =
        processes_[i].orders.Receive(both[i], Deadline::AfterMs(kAnswerMs));
    found[i] = heard.ok() ? RecordStatus(*both[i]) : Explain(i, heard);
  }
  RONDO_RETURN_IF_ERROR(Join(found[0], found[1]));
  return answers;
}

Status NetPair::Explain(size_t index, const Status& error) {
  int wait_status = 0;
  Process& process = processes_[index];
  if (error.code() != Code::kRemoteDead ||
      !EndsWithin(process.pid, kStopMs, &wait_status)) {
    return error;
  }
  process.pid = 0;  // reaped
  if (WIFSIGNALED(wait_status)) {
    return Status(error.code(), fmt::format("it was killed by signal {} ({})",
                                            WTERMSIG(wait_status),
                                            strsignal(WTERMSIG(wait_status))));
  }
  return Status(error.code(), fmt::format("it ended early, with status {}",
                                          WEXITSTATUS(wait_status)));
}

NetPair::~NetPair() {
  for (Process& process : processes_) {
    // One that is gone needs no telling.
    static_cast<void>(process.orders.Send(Order{}));
  }
  for (Process& process : processes_) {
    if (process.pid == 0) continue;
    int wait_status = 0;
    if (EndsWithin(process.pid, kStopMs, &wait_status)) continue;
    kill(process.pid, SIGKILL);
    waitpid(process.pid, &wait_status, 0);
  }
}

}  // namespace rondo::perf
