#include "perf/net/raw_ucx.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <memory>
#include <vector>

#include "fmt/format.h"
#include "perf/net/captured_child.h"
#include "perf/net/net_flow.h"

namespace rondo::perf {
namespace {

constexpr char kProgram[] = "ucx_perftest";
constexpr int64_t kStartMs = 10000;
constexpr int64_t kRunMs = 60000;
constexpr int kTries = 3;  // another process may take the port meanwhile

// A port that nobody listens on, until someone does.
Result<int> FreePort() {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return SystemError("socket", errno);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  socklen_t bytes = sizeof(address);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  const bool bound =
      bind(fd, generic, bytes) == 0 && getsockname(fd, generic, &bytes) == 0;
  const int error = errno;
  close(fd);
  if (!bound) return SystemError("finding a free port", error);
  return ntohs(address.sin_port);
}

// Asked of the kernel: trying to connect would use up the server's one accept.
bool Listening(int port) {
  const std::string wanted = fmt::format(":{:04X} ", port);
  std::ifstream sockets("/proc/self/net/tcp");
  for (std::string line; std::getline(sockets, line);) {
    const size_t at = line.find(wanted);
    const bool local = at != std::string::npos && at < 20;
    if (local && line.find(" 0A ") != std::string::npos) return true;
  }
  return false;
}

Status WaitForServer(CapturedChild* server, int port) {
  const Deadline deadline = Deadline::AfterMs(kStartMs);
  Backoff backoff;
  while (!Listening(port)) {
    if (!server->Running() || deadline.expired()) {
      const Status why = server->Finish(Deadline::AfterMs(0)).status();
      return Status(Code::kSystem,
                    fmt::format("the server of {} does not listen on port {}: "
                                "{}",
                                kProgram, port, why.message()));
    }
    backoff.Pause();
  }
  return Status::Ok();
}

}  // namespace

RawUcx::RawUcx(const EnvironmentReader& environment,
               const std::string& transports, const std::string& device)
    : environment_(environment.variables()) {
  environment_["UCX_TLS"] = transports;
  environment_["UCX_NET_DEVICES"] = device;
  environment_.insert_or_assign("UCX_WARN_UNUSED_ENV_VARS", std::string("n"));
  program_ = FindProgram(kProgram, environment.Get("PATH").value_or(""));
  if (program_.empty()) {
    missing_ = fmt::format(
        "no {} in PATH (Debian package ucx-utils): nothing to compare with",
        kProgram);
  }
}

Result<PerftestFigures> RawUcx::Bandwidth(int64_t bytes,
                                          int64_t messages) const {
  return Run("tag_bw", bytes, messages);
}

Result<PerftestFigures> RawUcx::Latency(int64_t bytes,
                                        int64_t round_trips) const {
  return Run("tag_lat", bytes, round_trips);
}

Result<PerftestFigures> RawUcx::Run(const std::string& test, int64_t bytes,
                                    int64_t iterations) const {
  Status failure;
  for (int i = 0; i < kTries; ++i) {
    RONDO_ASSIGN_OR_RETURN(const int port, FreePort());
    Result<PerftestFigures> figures = RunOnPort(test, bytes, iterations, port);
    if (figures.ok()) return figures;
    failure = figures.status();
    if (failure.code() == Code::kTimeout) break;
  }
  return failure.WithContext(fmt::format("{} of {} bytes", test, bytes));
}

Result<PerftestFigures> RawUcx::RunOnPort(const std::string& test,
                                          int64_t bytes, int64_t iterations,
                                          int port) const {
  RONDO_ASSIGN_OR_RETURN(
      const std::unique_ptr<CapturedChild> server,
      CapturedChild::Start({program_, "-p", std::to_string(port)},
                           environment_));
  RONDO_RETURN_IF_ERROR(WaitForServer(server.get(), port));
  std::vector<std::string> words = {program_, "127.0.0.1", "-f", "-t", test};
  auto add = [&](const char* name, int64_t value) {
    words.insert(words.end(), {name, std::to_string(value)});
  };
  add("-p", port);
  add("-s", bytes);
  add("-n", iterations);
  add("-w", std::max<int64_t>(kWindow, iterations / 10));
  add("-O", kWindow);
  RONDO_ASSIGN_OR_RETURN(const std::unique_ptr<CapturedChild> client,
                         CapturedChild::Start(words, environment_));
  const Deadline deadline = Deadline::AfterMs(kRunMs);
  RONDO_ASSIGN_OR_RETURN(const std::string text, client->Finish(deadline));
  RONDO_RETURN_IF_ERROR(server->Finish(deadline).status());
  return ParsePerftest(text);
}

}  // namespace rondo::perf
