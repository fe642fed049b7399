#include "perf/launch/local_ranks.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include <algorithm>
#include <cerrno>

#include "fmt/format.h"
#include "perf/launch/child_process.h"
#include "perf/launch/temporary_directory.h"
#include "transports/base/clock.h"

namespace rondo::perf {
namespace {

// How long ranks have between SIGTERM and SIGKILL.
constexpr int64_t kTerminateMs = 2000;
// Signals wake the wait; this bounds it in case one was missed.
constexpr int kPollMs = 200;

sigset_t WatchedSignals() {
  sigset_t set;
  sigemptyset(&set);
  for (int signal : {SIGCHLD, SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, signal);
  return set;
}

// Blocks the watched signals, so that they are taken by sigtimedwait only.
class SignalGuard {
 public:
  SignalGuard() {
    const sigset_t watched = WatchedSignals();
    sigprocmask(SIG_BLOCK, &watched, &old_mask_);
    // An ignored SIGCHLD would make the kernel reap the ranks by itself.
    struct sigaction plain = {};
    plain.sa_handler = SIG_DFL;
    sigaction(SIGCHLD, &plain, &old_child_action_);
  }
  ~SignalGuard() {
    sigaction(SIGCHLD, &old_child_action_, nullptr);
    sigprocmask(SIG_SETMASK, &old_mask_, nullptr);
  }
  SignalGuard(const SignalGuard&) = delete;
  SignalGuard& operator=(const SignalGuard&) = delete;

  const sigset_t& old_mask() const { return old_mask_; }

 private:
  sigset_t old_mask_;
  struct sigaction old_child_action_;
};

std::map<std::string, std::string> RankEnvironment(
    const LocalRanks& launch, int rank, const std::string& rendezvous_file) {
  std::map<std::string, std::string> variables = launch.environment;
  variables.erase("RONDO_ROOT");  // the file below is where these ranks meet
  variables["RONDO_RANK"] = std::to_string(rank);
  variables["RONDO_WORLD_SIZE"] = std::to_string(launch.ranks);
  variables["RONDO_LOCAL_RANK"] = std::to_string(rank);
  variables["RONDO_LOCAL_WORLD_SIZE"] = std::to_string(launch.ranks);
  variables["RONDO_RENDEZVOUS_FILE"] = rendezvous_file;
  return variables;
}

// The running ranks and what has become of them.
class RankGroup {
 public:
  explicit RankGroup(const LocalRanks& launch) : launch_(launch) {}
  // Nothing may outlive the launcher, whatever path it leaves by.
  ~RankGroup() {
    Signal(SIGKILL);
    for (pid_t pid : pids_) {
      if (pid > 0) waitpid(pid, nullptr, 0);
    }
  }

  Status Start(const std::string& directory, const sigset_t& mask) {
    for (int rank = 0; rank < launch_.ranks; ++rank) {
      const auto environment =
          RankEnvironment(launch_, rank, directory + "/rendezvous");
      Result<pid_t> pid =
          StartChild(launch_.program, launch_.arguments, environment, mask);
      if (!pid.ok()) {
        return pid.status().WithContext(fmt::format("starting rank {}", rank));
      }
      pids_.push_back(*pid);
    }
    return Status::Ok();
  }

  int Wait() {
    while (running() > 0) {
      Enforce();
      TakeSignal();
      Reap();
    }
    return worst_;
  }

 private:
  int64_t running() const {
    return std::count_if(pids_.begin(), pids_.end(),
                         [](pid_t pid) { return pid > 0; });
  }

  void Signal(int signal) {
    for (pid_t pid : pids_) {
      if (pid > 0) kill(pid, signal);
    }
  }

  void TakeSignal() {
    const sigset_t watched = WatchedSignals();
    const timespec limit = {0, kPollMs * 1000000L};
    const int signal = sigtimedwait(&watched, nullptr, &limit);
    if (signal <= 0 || signal == SIGCHLD) return;
    launch_.report(fmt::format("interrupted by signal {} ({})", signal,
                               strsignal(signal)));
    interrupted_ = true;
    worst_ = std::max(worst_, 1);
    Signal(signal);
    StartGrace();
  }

  void Reap() {
    for (size_t rank = 0; rank < pids_.size(); ++rank) {
      int state = 0;
      if (pids_[rank] <= 0) continue;
      if (waitpid(pids_[rank], &state, WNOHANG) != pids_[rank]) continue;
      pids_[rank] = 0;
      Judge(static_cast<int>(rank), state);
    }
  }

  void Judge(int rank, int state) {
    const int status = WIFEXITED(state) ? WEXITSTATUS(state) : -1;
    if (status == 0) return;
    worst_ = std::max(worst_, status == 2 ? 2 : 1);
    // Ranks that exit with 1 or 2 have said why; the launcher's own signals
    // need no further words.
    if (WIFSIGNALED(state) && !interrupted_ && !terminated_) {
      launch_.report(fmt::format("rank {} was killed by signal {} ({})", rank,
                                 WTERMSIG(state), strsignal(WTERMSIG(state))));
    } else if (status > 2) {
      launch_.report(
          fmt::format("rank {} exited with status {}", rank, status));
    }
    if (first_failed_ < 0) first_failed_ = rank;
    StartGrace();
  }

  void StartGrace() {
    if (ending_) return;
    ending_ = true;
    limit_ = Deadline::AfterMs(launch_.grace_ms);
  }

  // Ends ranks that are still there after the grace time: first gently.
  void Enforce() {
    if (!ending_ || !limit_.expired()) return;
    if (terminated_) {
      Signal(SIGKILL);
      return;
    }
    terminated_ = true;
    limit_ = Deadline::AfterMs(kTerminateMs);
    for (size_t rank = 0; rank < pids_.size(); ++rank) {
      if (pids_[rank] <= 0) continue;
      launch_.report(fmt::format(
          "rank {} was ended: still running {} ms after {}", rank,
          launch_.grace_ms,
          first_failed_ >= 0 ? fmt::format("rank {} failed", first_failed_)
                             : "the interruption"));
    }
    Signal(SIGTERM);
  }

  const LocalRanks& launch_;
  std::vector<pid_t> pids_;  // 0 once reaped
  bool ending_ = false;      // limit_ counts
  Deadline limit_ = Deadline::AfterMs(0);
  int first_failed_ = -1;
  bool interrupted_ = false;
  bool terminated_ = false;
  int worst_ = 0;
};

}  // namespace

Result<LocalOutcome> RunLocalRanks(const LocalRanks& launch) {
  RONDO_ASSIGN_OR_RETURN(const TemporaryDirectory directory,
                         TemporaryDirectory::Create("rondo"));
  const SignalGuard guard;
  RankGroup group(launch);
  RONDO_RETURN_IF_ERROR(group.Start(directory.path(), guard.old_mask()));
  return LocalOutcome{group.Wait()};
}

}  // namespace rondo::perf
