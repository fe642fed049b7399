#include "perf/net/net_command.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

#include "fmt/format.h"
#include "perf/bench/run_facts.h"
#include "perf/cli/exit_status.h"
#include "perf/cli/progress_line.h"
#include "perf/cli/report_error.h"
#include "perf/cli/text_file.h"
#include "perf/net/net_measure.h"
#include "perf/net/net_options.h"
#include "perf/net/net_pair.h"
#include "perf/net/net_result.h"
#include "perf/net/net_tasks.h"
#include "perf/net/raw_ucx.h"
#include "transports/base/clock.h"
#include "transports/base/size_text.h"

namespace rondo::perf {
namespace {

constexpr char kExamples[] =
    "  rondo perf net --device lo\n"
    "  rondo perf net --plugin ./libnccl-net-rondo.so --device lo -J net.json\n"
    "  rondo perf net --plugin libnccl-net.so --test bandwidth -b 1Mi -e 1Mi\n"
    "  rondo perf net --device mlx5_0:1 --ucx-tls rc\n\n"
    "Two processes open the plugin as NCCL does, one thread each. Bandwidth: 8 "
    "receives\nposted ahead and 8 sends in flight, from the first receive "
    "posted to the last one\ndone. Latency: half a round trip, receives posted "
    "ahead. Plugin and ucx_perftest\n(tag_bw, tag_lat) take turns with as many "
    "messages over the same transport and\ndevice, both unpinned. The longest "
    "single call is found in a run of its own; with\nfewer free CPUs than "
    "processes its wall time is the scheduler's.\n";

std::string OwnFolder() {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? "." : program.parent_path().string();
}

size_t LargestMessage(const NetOptions& options) {
  size_t most = 0;
  if (TestsBandwidth(options)) most = BandwidthSizes(options).back();
  if (TestsLatency(options)) {
    most = std::max(most, LatencySizes(options).back());
  }
  return most;
}

class NetBenchmark {
 public:
  NetBenchmark(const NetOptions& options, const Invocation& invocation)
      : options_(options), invocation_(invocation), progress_(true) {}

  Status Run() {
    progress_.Show("net: connecting");
    RONDO_ASSIGN_OR_RETURN(
        const std::unique_ptr<NetPair> pair,
        NetPair::Start({options_.plugin, options_.version, options_.device},
                       MemoryFor(LargestMessage(options_)),
                       PluginVariables(options_, invocation_.environment)));
    const RawUcx raw(invocation_.environment, options_.ucx_tls,
                     options_.ucx_device.empty() ? pair->device_name()
                                                 : options_.ucx_device);
    Describe(*pair, raw);
    Print(NetPreamble(run_));
    const bool compare = run_.raw_missing.empty();
    NetMeasure measure(pair.get(), compare ? &raw : nullptr, options_);
    if (TestsBandwidth(options_)) {
      RONDO_RETURN_IF_ERROR(Sweep(NetTest::kBandwidth, &measure));
    }
    if (TestsLatency(options_)) {
      RONDO_RETURN_IF_ERROR(Sweep(NetTest::kLatency, &measure));
    }
    run_.end_time = NowText();
    Print(NetSummary(run_));
    return WriteTextFile(options_.json_path, NetJson(run_));
  }

  bool right() const { return WrongBytes(run_) == 0; }

 private:
  void Describe(const NetPair& pair, const RawUcx& raw) {
    std::array<char, 256> hostname = {};
    gethostname(hostname.data(), hostname.size() - 1);
    run_.start_time = NowText();
    run_.arguments = CommandWords(invocation_);
    run_.environment = SteeringVariables(invocation_.environment);
    run_.hostname = hostname.data();
    run_.cpus = UsableCpus();
    run_.plugin = pair.plugin_name();
    run_.plugin_path = options_.plugin;
    run_.plugin_version = pair.version();
    run_.device = pair.device_name();
    run_.transport = options_.ucx_tls;
    run_.raw_program = raw.program();
    run_.raw_device =
        options_.ucx_device.empty() ? pair.device_name() : options_.ucx_device;
    run_.raw_missing = options_.raw ? raw.missing() : "not wanted (--raw 0)";
    run_.alternations = options_.alternations;
  }

  Status Sweep(NetTest test, NetMeasure* measure) {
    const bool bandwidth = test == NetTest::kBandwidth;
    Print(NetHeader(test));
    for (const size_t bytes :
         bandwidth ? BandwidthSizes(options_) : LatencySizes(options_)) {
      progress_.Show(fmt::format("net: {} of {}",
                                 bandwidth ? "bandwidth" : "latency",
                                 FormatSize(static_cast<int64_t>(bytes))));
      RONDO_ASSIGN_OR_RETURN(const NetCell cell, measure->Cell(test, bytes));
      Print(NetRow(cell));
      run_.cells.push_back(cell);
    }
    return Status::Ok();
  }

  void Print(const std::string& text) {
    progress_.Clear();
    fmt::print("{}", text);
    std::fflush(stdout);
  }

  const NetOptions& options_;
  const Invocation& invocation_;
  ProgressLine progress_;
  NetRun run_;
};

int RunNet(const Invocation& invocation, NetOptions* options) {
  const Status accepted = FinishNetOptions(OwnFolder(), options);
  if (!accepted.ok()) {
    ReportError(accepted);
    return kExitUsage;
  }
  NetBenchmark benchmark(*options, invocation);
  const Status status = benchmark.Run();
  if (!status.ok()) return ReportError(status);
  return benchmark.right() ? kExitOk : kExitFailed;
}

}  // namespace

void AddNetCommand(CLI::App* perf_group, Commands* commands) {
  auto options = std::make_shared<NetOptions>();
  CLI::App* app =
      commands->Add(perf_group, "net",
                    "measure a net plugin of NCCL against the network below it",
                    kExamples, [options](const Invocation& invocation) {
                      return RunNet(invocation, options.get());
                    });
  AddNetOptions(app, options.get());
}

}  // namespace rondo::perf
