#include "perf/net/net_flow.h"

#include "fmt/format.h"

namespace rondo::perf {
namespace {

constexpr int kTag = 0;

}  // namespace

Status PluginError(const char* call, int result) {
  return Status(Code::kTransport,
                fmt::format("the plugin's {} returned {} ({})", call, result,
                            nccl::ResultName(result)));
}

Status Flow::Post() {
  while (posted_ < allowed_ && posted_ - done_ < kWindow) {
    void* request = nullptr;
    std::byte* memory =
        target_.memory +
        static_cast<size_t>(posted_ % target_.slots) * target_.bytes;
    RONDO_RETURN_IF_ERROR(PostOne(memory, &request));
    if (request == nullptr) return Status::Ok();
    requests_[static_cast<size_t>(posted_ % kWindow)] = request;
    ++posted_;
  }
  return Status::Ok();
}

Status Flow::Step() {
  RONDO_RETURN_IF_ERROR(Post());
  return done_ < posted_ ? TestOldest() : Status::Ok();
}

Status Flow::TestOldest() {
  int done = 0;
  int bytes = -1;
  void* request = requests_[static_cast<size_t>(done_ % kWindow)];
  const int result =
      watch_->Call([&] { return target_.net->Test(request, &done, &bytes); });
  if (result != nccl::kSuccess) return PluginError("test", result);
  if (done == 0) return Status::Ok();
  if (bytes != static_cast<int>(target_.bytes)) {
    return Status(Code::kTransport,
                  fmt::format("message {} has {} bytes, but test says {}",
                              done_, target_.bytes, bytes));
  }
  ++done_;
  return Status::Ok();
}

Status SendFlow::PostOne(std::byte* memory, void** request) {
  const int result = watch_->Call([&] {
    return target_.net->Isend(target_.comm, memory, target_.bytes, kTag,
                              target_.memory_handle, request);
  });
  return result == nccl::kSuccess ? Status::Ok() : PluginError("isend", result);
}

Status ReceiveFlow::PostOne(std::byte* memory, void** request) {
  void* data = memory;
  size_t bytes = target_.bytes;
  int tag = kTag;
  const int result = watch_->Call([&] {
    return target_.net->Irecv(target_.comm, 1, &data, &bytes, &tag,
                              &target_.memory_handle, request);
  });
  return result == nccl::kSuccess ? Status::Ok() : PluginError("irecv", result);
}

}  // namespace rondo::perf
