#include "perf/net/net_side.h"

#include <array>
#include <cstdarg>
#include <cstdio>
#include <utility>

#include "fmt/format.h"
#include "fmt/ranges.h"

namespace rondo::perf {
namespace {

constexpr int64_t kConnectMs = 20000;
constexpr uint64_t kCommId = 1;

using Handle = std::array<std::byte, nccl::kHandleBytes>;

// Only what went wrong: the rest would drown the figures.
void PrintWarnings(int level, unsigned long, const char*, int,  // NOLINT
                   const char* format, ...) {
  if (level != nccl::kLogWarn) return;
  std::array<char, 1024> text;
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text.data(), text.size(), format, arguments);
  va_end(arguments);
  fmt::print(stderr, "rondo: the plugin warns: {}\n", text.data());
}

Status Check(const char* call, int result) {
  return result == nccl::kSuccess ? Status::Ok() : PluginError(call, result);
}

}  // namespace

Result<std::unique_ptr<NetSide>> NetSide::Open(const PluginChoice& choice,
                                               size_t memory_bytes) {
  std::unique_ptr<NetSide> side(new NetSide);
  RONDO_ASSIGN_OR_RETURN(side->library_,
                         plugin::LoadedPlugin::Open(choice.path));
  side->net_ = choice.version == 0 ? side->library_->newest()
                                   : side->library_->table(choice.version);
  if (side->net_ == nullptr) {
    return InvalidArgument(
        fmt::format("--version {} is refused: {} exports {}", choice.version,
                    choice.path, fmt::join(side->library_->versions(), ", ")));
  }
  RONDO_RETURN_IF_ERROR(
      Check("init", side->net_->Init(&side->context_, kCommId, PrintWarnings)));
  side->initialized_ = true;
  RONDO_RETURN_IF_ERROR(side->ChooseDevice(choice.device));
  side->send_memory_.resize(memory_bytes);
  side->receive_memory_.resize(memory_bytes);
  return side;
}

// NCCL deregisters, closes, and finalizes last; memory goes after that.
NetSide::~NetSide() {
  if (send_handle_ != nullptr) net_->DeregisterMemory(send_comm_, send_handle_);
  if (receive_handle_ != nullptr) {
    net_->DeregisterMemory(receive_comm_, receive_handle_);
  }
  if (send_comm_ != nullptr) net_->CloseSend(send_comm_);
  if (receive_comm_ != nullptr) net_->CloseReceive(receive_comm_);
  if (listen_comm_ != nullptr) net_->CloseListen(listen_comm_);
  if (initialized_) net_->Finalize(context_);
}

Status NetSide::ChooseDevice(const std::string& wanted) {
  int count = 0;
  RONDO_RETURN_IF_ERROR(Check("devices", net_->Devices(&count)));
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) {
    nccl::PropertiesV12 properties = {};
    RONDO_RETURN_IF_ERROR(
        Check("getProperties", net_->GetProperties(i, &properties)));
    names.emplace_back(properties.name == nullptr ? "" : properties.name);
    if (wanted == names.back() || wanted == std::to_string(i)) {
      device_ = i;
      device_name_ = names.back();
      return Status::Ok();
    }
  }
  return InvalidArgument(fmt::format(
      "--device \"{}\" is refused; accepted is 0 to {} or one of: {}", wanted,
      count - 1, fmt::join(names, ", ")));
}

Status NetSide::Connect(ControlSocket* peer) {
  Handle mine = {};
  Handle theirs = {};
  RONDO_RETURN_IF_ERROR(Check(
      "listen", net_->Listen(context_, device_, mine.data(), &listen_comm_)));
  RONDO_RETURN_IF_ERROR(peer->Send(mine));
  RONDO_RETURN_IF_ERROR(peer->Receive(&theirs, Deadline::AfterMs(kConnectMs)));
  RONDO_RETURN_IF_ERROR(ConnectBoth(theirs.data()));
  net_->CloseListen(std::exchange(listen_comm_, nullptr));
  RONDO_RETURN_IF_ERROR(Register(send_comm_, &send_memory_, &send_handle_));
  return Register(receive_comm_, &receive_memory_, &receive_handle_);
}

Status NetSide::ConnectBoth(void* peer_handle) {
  const Deadline deadline = Deadline::AfterMs(kConnectMs);
  Backoff backoff;
  while (send_comm_ == nullptr || receive_comm_ == nullptr) {
    nccl::NetDeviceHandle* device_handle = nullptr;
    if (send_comm_ == nullptr) {
      RONDO_RETURN_IF_ERROR(
          Check("connect", net_->Connect(context_, device_, peer_handle,
                                         &send_comm_, &device_handle)));
    }
    if (receive_comm_ == nullptr) {
      RONDO_RETURN_IF_ERROR(
          Check("accept",
                net_->Accept(listen_comm_, &receive_comm_, &device_handle)));
    }
    if (deadline.expired()) {
      return Status(
          Code::kTimeout,
          fmt::format("after {} s connect {} and accept {}", kConnectMs / 1000,
                      send_comm_ ? "was done" : "was not done",
                      receive_comm_ ? "was done" : "was not done"));
    }
    backoff.Pause();
  }
  return Status::Ok();
}

Status NetSide::Register(void* comm, std::vector<std::byte>* memory,
                         void** handle) {
  return Check("regMr",
               net_->RegisterMemory(comm, memory->data(), memory->size(),
                                    nccl::kPointerHost, handle));
}

FlowTarget NetSide::sending(size_t bytes, int slots) {
  return {net_, send_comm_, send_handle_, send_memory_.data(), bytes, slots};
}

FlowTarget NetSide::receiving(size_t bytes, int slots) {
  return {net_,  receive_comm_, receive_handle_, receive_memory_.data(),
          bytes, slots};
}

}  // namespace rondo::perf
