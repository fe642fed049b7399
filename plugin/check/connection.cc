#include "plugin/check/connection.h"

#include <algorithm>
#include <utility>

#include "transports/base/clock.h"

namespace rondo::plugin {
namespace {

void* const kPoison = reinterpret_cast<void*>(uintptr_t{0xdeadbeef});

}  // namespace

int OpenComm::Close() {
  void* comm = Release();
  if (comm == nullptr) return nccl::kSuccess;
  switch (kind_) {
    case Kind::kListen:
      return net_->CloseListen(comm);
    case Kind::kSend:
      return net_->CloseSend(comm);
    case Kind::kReceive:
      return net_->CloseReceive(comm);
  }
  return nccl::kSuccess;
}

void* OpenComm::Release() { return std::exchange(comm_, nullptr); }

Memory::Memory(NetTable* net, size_t bytes)
    : net_(net), bytes_(bytes + 2 * kGuardBytes, kUntouched) {}

Memory::~Memory() {
  if (handle_ != nullptr) net_->DeregisterMemory(comm_, handle_);
}

Status Memory::Register(void* comm) {
  comm_ = comm;
  // Something at least: NCCL registers no empty range.
  const size_t bytes = std::max<size_t>(size(), 1);
  RONDO_RETURN_IF_ERROR(Succeeds(
      net_->RegisterMemory(comm, data(), bytes, nccl::kPointerHost, &handle_),
      "regMr"));
  return Expect(handle_ != nullptr, "regMr gave a null handle with success");
}

char Memory::Pattern(size_t number, size_t i) {
  return static_cast<char>((i * 31 + i / 251 + number * 17) & 0xff);
}

void Memory::Fill(size_t number) {
  for (size_t i = 0; i < size(); ++i) data()[i] = Pattern(number, i);
}

Status Memory::Verify(size_t number, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) {
    RONDO_RETURN_IF_ERROR(
        Expect(data()[i] == Pattern(number, i),
               "byte {} of {} of message {} is {:#x}, sent was {:#x}", i, bytes,
               number, static_cast<unsigned char>(data()[i]),
               static_cast<unsigned char>(Pattern(number, i))));
  }
  for (const char& c : bytes_) {
    const ptrdiff_t at = &c - data();
    const bool inside = at >= 0 && at < static_cast<ptrdiff_t>(bytes);
    RONDO_RETURN_IF_ERROR(
        Expect(inside || c == kUntouched,
               "byte {} of a buffer of {} was written by a message of {} bytes",
               at, size(), bytes));
  }
  return Status::Ok();
}

Status StepConnect(const PluginSide& side, HandleBytes* handle,
                   OpenComm* comm) {
  *comm->out() = kPoison;
  nccl::NetDeviceHandle* device_handle = nullptr;
  const int result =
      side.net().Connect(side.context(), side.device(), handle->data(),
                         comm->out(), &device_handle);
  if (comm->get() == kPoison || result != nccl::kSuccess) {
    const bool left = comm->Release() == kPoison;
    RONDO_RETURN_IF_ERROR(Succeeds(result, "connect"));
    return Expect(!left, "connect succeeded and did not write *sendComm");
  }
  return Status::Ok();
}

Status StepAccept(const PluginSide& side, const OpenComm& listen,
                  OpenComm* comm) {
  *comm->out() = kPoison;
  nccl::NetDeviceHandle* device_handle = nullptr;
  const int result =
      side.net().Accept(listen.get(), comm->out(), &device_handle);
  if (comm->get() == kPoison || result != nccl::kSuccess) {
    const bool left = comm->Release() == kPoison;
    RONDO_RETURN_IF_ERROR(Succeeds(result, "accept"));
    return Expect(!left, "accept succeeded and did not write *recvComm");
  }
  return Status::Ok();
}

Result<Connection> Connection::Open(const PluginSide& side) {
  NetTable* net = &side.net();
  OpenComm listen(net, OpenComm::Kind::kListen);
  HandleBytes handle{};
  RONDO_RETURN_IF_ERROR(Succeeds(
      net->Listen(side.context(), side.device(), handle.data(), listen.out()),
      "listen"));
  RONDO_RETURN_IF_ERROR(
      Expect(listen.get() != nullptr, "listen gave a null comm"));
  Connection both(net);
  const Deadline deadline = Deadline::AfterMs(kPatienceMs);
  while (both.send.get() == nullptr || both.receive.get() == nullptr) {
    if (both.send.get() == nullptr) {
      RONDO_RETURN_IF_ERROR(StepConnect(side, &handle, &both.send));
    }
    if (both.receive.get() == nullptr) {
      RONDO_RETURN_IF_ERROR(StepAccept(side, listen, &both.receive));
    }
    RONDO_RETURN_IF_ERROR(
        Expect(!deadline.expired(), "no connection after {} ms of polling: {}",
               kPatienceMs,
               both.send.get() == nullptr ? "connect is not ready"
                                          : "accept is not ready"));
  }
  return both;
}

Result<void*> PostReceive(NetTable& net, void* comm, Memory* memory, int tag) {
  const Deadline deadline = Deadline::AfterMs(kPatienceMs);
  while (true) {
    void* data = memory->data();
    void* handle = memory->handle();
    size_t bytes = memory->size();
    void* request = kPoison;
    RONDO_RETURN_IF_ERROR(Succeeds(
        net.Irecv(comm, 1, &data, &bytes, &tag, &handle, &request), "irecv"));
    RONDO_RETURN_IF_ERROR(
        Expect(request != kPoison, "irecv did not write *request"));
    if (request != nullptr) return request;
    RONDO_RETURN_IF_ERROR(Expect(
        !deadline.expired(), "irecv of {} bytes, tag {}: no request for {} ms",
        bytes, tag, kPatienceMs));
  }
}

Result<void*> PostSend(NetTable& net, void* comm, Memory* memory, size_t bytes,
                       int tag, std::vector<Awaited>* meanwhile) {
  const Deadline deadline = Deadline::AfterMs(kPatienceMs);
  while (true) {
    void* request = kPoison;
    RONDO_RETURN_IF_ERROR(Succeeds(
        net.Isend(comm, memory->data(), bytes, tag, memory->handle(), &request),
        "isend"));
    RONDO_RETURN_IF_ERROR(
        Expect(request != kPoison, "isend did not write *request"));
    if (request != nullptr) return request;
    if (meanwhile != nullptr) RONDO_RETURN_IF_ERROR(Poll(net, meanwhile));
    RONDO_RETURN_IF_ERROR(Expect(
        !deadline.expired(), "isend of {} bytes, tag {}: no request for {} ms",
        bytes, tag, kPatienceMs));
  }
}

Status Poll(NetTable& net, std::vector<Awaited>* requests) {
  for (Awaited& awaited : *requests) {
    if (awaited.done) continue;
    int done = 0;
    int sizes[64] = {};
    RONDO_RETURN_IF_ERROR(
        Succeeds(net.Test(awaited.request, &done,
                          awaited.sizes == nullptr ? nullptr : sizes),
                 "test"));
    if (done == 0) continue;
    if (awaited.sizes != nullptr) {
      std::copy_n(sizes, awaited.count, awaited.sizes);
    }
    awaited.done = true;
  }
  return Status::Ok();
}

Status AwaitAll(NetTable& net, std::vector<Awaited> requests) {
  const Deadline deadline = Deadline::AfterMs(kPatienceMs);
  while (true) {
    RONDO_RETURN_IF_ERROR(Poll(net, &requests));
    const auto left =
        std::count_if(requests.begin(), requests.end(),
                      [](const Awaited& awaited) { return !awaited.done; });
    if (left == 0) return Status::Ok();
    RONDO_RETURN_IF_ERROR(Expect(!deadline.expired(),
                                 "{} of {} requests not done after {} ms", left,
                                 requests.size(), kPatienceMs));
  }
}

Status Connection::Move(size_t bytes, size_t room, int tag) {
  Memory from(net, bytes), to(net, room);
  from.Fill(bytes);
  RONDO_RETURN_IF_ERROR(from.Register(send.get()));
  RONDO_RETURN_IF_ERROR(to.Register(receive.get()));
  RONDO_ASSIGN_OR_RETURN(void* received,
                         PostReceive(*net, receive.get(), &to, tag));
  int size = -1;
  int sent_size = -1;
  std::vector<Awaited> all = {{received, &size}};
  RONDO_ASSIGN_OR_RETURN(void* sent,
                         PostSend(*net, send.get(), &from, bytes, tag, &all));
  all.push_back({sent, &sent_size});
  RONDO_RETURN_IF_ERROR(AwaitAll(*net, all));
  RONDO_RETURN_IF_ERROR(Expect(static_cast<size_t>(size) == bytes,
                               "{} bytes sent into {}: test reports {}", bytes,
                               room, size));
  return to.Verify(bytes, bytes);
}

}  // namespace rondo::plugin
