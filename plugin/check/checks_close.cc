#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <ctime>
#include <thread>
#include <utility>
#include <vector>

#include "plugin/check/checks.h"
#include "plugin/check/connection.h"
#include "transports/base/clock.h"

namespace rondo::plugin {
namespace {

constexpr int64_t kMostCloseMs = 1000;

Status CloseQuickly(OpenComm* comm, const char* what) {
  const int64_t start_ns = NowNs();
  RONDO_RETURN_IF_ERROR(Succeeds(comm->Close(), what));
  const int64_t ms = (NowNs() - start_ns) / 1'000'000;
  return Expect(ms < kMostCloseMs, "{} took {} ms", what, ms);
}

int64_t ThreadCpuNs() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * int64_t{1'000'000'000} + now.tv_nsec;
}

// How often this thread gave up its CPU of its own accord.
long VoluntarySwitches() {  // NOLINT: getrusage's type
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nvcsw;
}

}  // namespace

Status CheckCloseInFlight(const CheckSetup& setup) {
  RONDO_ASSIGN_OR_RETURN(auto side, PluginSide::Open(setup));
  NetTable& net = side->net();
  RONDO_ASSIGN_OR_RETURN(Connection bystander, Connection::Open(*side));
  for (const bool send_first : {true, false}) {
    RONDO_ASSIGN_OR_RETURN(Connection both, Connection::Open(*side));
    Memory from(&net, 8 << 20), to(&net, 8 << 20);
    RONDO_RETURN_IF_ERROR(from.Register(both.send.get()));
    RONDO_RETURN_IF_ERROR(to.Register(both.receive.get()));
    RONDO_ASSIGN_OR_RETURN(void* first,
                           PostReceive(net, both.receive.get(), &to, 1));
    std::vector<Awaited> early = {{first}};
    RONDO_ASSIGN_OR_RETURN(
        void* sent, PostSend(net, both.send.get(), &from, 8 << 20, 1, &early));
    RONDO_ASSIGN_OR_RETURN(void* never,
                           PostReceive(net, both.receive.get(), &to, 2));
    int done = 0;
    for (void* request : {first, sent, never}) {
      RONDO_RETURN_IF_ERROR(
          Succeeds(net.Test(request, &done, nullptr), "test before closing"));
      if (done != 0) break;
    }
    OpenComm* order[] = {&both.send, &both.receive};
    if (!send_first) std::swap(order[0], order[1]);
    for (OpenComm* comm : order) {
      RONDO_RETURN_IF_ERROR(CloseQuickly(
          comm, comm == &both.send ? "closeSend with requests in flight"
                                   : "closeRecv with requests in flight"));
    }
    // Handles that are still registered are NCCL's habit; their end comes
    // after their communicator's only in this check's clean-up.
    from.Forget();
    to.Forget();
  }
  return bystander.Move(1000, 1000, 0)
      .WithContext("another connection, after closing two");
}

Status CheckCloseOrders(const CheckSetup& setup) {
  RONDO_ASSIGN_OR_RETURN(auto side, PluginSide::Open(setup));
  for (const bool send_first : {true, false}) {
    for (const bool used : {true, false}) {
      RONDO_ASSIGN_OR_RETURN(Connection both, Connection::Open(*side));
      if (used) RONDO_RETURN_IF_ERROR(both.Move(5000, 5000, 0));
      OpenComm* order[] = {&both.send, &both.receive};
      if (!send_first) std::swap(order[0], order[1]);
      for (OpenComm* comm : order) {
        RONDO_RETURN_IF_ERROR(
            CloseQuickly(comm, comm == &both.send ? "closeSend" : "closeRecv"));
      }
    }
  }
  return Status::Ok();
}

// How long the calls of one message took.
struct CallTimes {
  int64_t calls = 0;
  int64_t slow = 0;  // computed for more than a millisecond
  int64_t longest_ns = 0;

  Status Test(NetTable& net, void* request, int* done) {
    if (*done != 0) return Status::Ok();
    const int64_t start_ns = ThreadCpuNs();
    const int result = net.Test(request, done, nullptr);
    Count(ThreadCpuNs() - start_ns);
    return Succeeds(result, "test");
  }
  void Count(int64_t ns) {
    ++calls;
    slow += ns > 1'000'000;
    longest_ns = std::max(longest_ns, ns);
  }
};

Status CheckBoundedCalls(const CheckSetup& setup) {
  constexpr int kMessages = 400;
  constexpr size_t kBytes = 256 << 10;
  RONDO_ASSIGN_OR_RETURN(auto side, PluginSide::Open(setup));
  NetTable& net = side->net();
  RONDO_ASSIGN_OR_RETURN(Connection both, Connection::Open(*side));
  Memory from(&net, kBytes), to(&net, kBytes);
  RONDO_RETURN_IF_ERROR(from.Register(both.send.get()));
  RONDO_RETURN_IF_ERROR(to.Register(both.receive.get()));
  CallTimes times;
  const long switches = VoluntarySwitches();  // NOLINT
  for (int i = 0; i < kMessages; ++i) {
    const int64_t start_ns = ThreadCpuNs();
    RONDO_ASSIGN_OR_RETURN(void* received,
                           PostReceive(net, both.receive.get(), &to, 1));
    std::vector<Awaited> early = {{received}};
    RONDO_ASSIGN_OR_RETURN(
        void* sent, PostSend(net, both.send.get(), &from, kBytes, 1, &early));
    const Deadline deadline = Deadline::AfterMs(kPatienceMs);
    // Many calls, of which only all together are timed.
    times.Count(ThreadCpuNs() - start_ns);
    int received_done = early[0].done ? 1 : 0;
    int sent_done = 0;
    while (received_done == 0 || sent_done == 0) {
      RONDO_RETURN_IF_ERROR(times.Test(net, received, &received_done));
      RONDO_RETURN_IF_ERROR(times.Test(net, sent, &sent_done));
      RONDO_RETURN_IF_ERROR(Expect(!deadline.expired(),
                                   "message {} not done after {} ms", i,
                                   kPatienceMs));
    }
  }
  const long slept = VoluntarySwitches() - switches;  // NOLINT
  RONDO_RETURN_IF_ERROR(
      Expect(times.slow <= times.calls / 100 + 2,
             "{} of {} calls of test computed for more than 1 ms, the longest "
             "for {} us; one thread serves up to 64 channels",
             times.slow, times.calls, times.longest_ns / 1000));
  return Expect(slept < times.calls / 4 + 100,
                "{} calls of test gave up the CPU {} times: they sleep",
                times.calls, slept);
}

Status CheckThreads(const CheckSetup& setup) {
  constexpr int kContexts = 4;
  RONDO_ASSIGN_OR_RETURN(auto side, PluginSide::Open(setup));
  std::vector<Status> results(kContexts);
  std::vector<std::thread> threads;
  for (int i = 0; i < kContexts; ++i) {
    threads.emplace_back([&, i] {
      Status& result = results[static_cast<size_t>(i)];
      auto own = PluginSide::Open(setup);
      if (!own.ok()) {
        result = own.status();
        return;
      }
      auto both = Connection::Open(**own);
      if (!both.ok()) {
        result = both.status();
        return;
      }
      // The service thread's work beside the progress thread's.
      std::atomic<bool> stop{false};
      Status service_result;
      std::thread service([&] {
        std::vector<char> bytes(4096);
        while (!stop) {
          void* handle = nullptr;
          NetTable& net = (*own)->net();
          service_result = Succeeds(
              net.RegisterMemory(both->send.get(), bytes.data(), bytes.size(),
                                 nccl::kPointerHost, &handle),
              "regMr beside data");
          if (!service_result.ok()) return;
          net.DeregisterMemory(both->send.get(), handle);
        }
      });
      for (size_t bytes = 1; bytes < 300'000 && result.ok(); bytes *= 3) {
        for (int again = 0; again < 5 && result.ok(); ++again) {
          result = both->Move(bytes, bytes, 1);
        }
      }
      stop = true;
      service.join();
      if (result.ok()) result = service_result;
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < kContexts; ++i) {
    if (!results[static_cast<size_t>(i)].ok()) {
      return results[static_cast<size_t>(i)].WithContext(fmt::format(
          "context {} of {} in threads of their own", i, kContexts));
    }
  }
  return Status::Ok();
}

}  // namespace rondo::plugin
