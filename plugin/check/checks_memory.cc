#include <sys/mman.h>
#include <unistd.h>

#include <vector>

#include "plugin/check/checks.h"
#include "plugin/check/connection.h"

namespace rondo::plugin {

Status CheckRegistration(const CheckSetup& setup) {
  RONDO_ASSIGN_OR_RETURN(auto side, PluginSide::Open(setup));
  NetTable& net = side->net();
  RONDO_ASSIGN_OR_RETURN(Connection both, Connection::Open(*side));
  constexpr size_t kLarge = size_t{5} << 30;  // address space, never touched
  void* large = mmap(nullptr, kLarge, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  RONDO_RETURN_IF_ERROR(
      Expect(large != MAP_FAILED, "this process cannot map 5 GiB"));
  std::vector<char> bytes(1 << 16);
  struct Range {
    char* data;
    size_t count;
  };
  const Range ranges[] = {{bytes.data(), bytes.size()},
                          {bytes.data() + 1, 1},
                          {bytes.data() + 4093, 7},
                          {static_cast<char*>(large), kLarge}};
  Status found;
  for (void* comm : {both.send.get(), both.receive.get()}) {
    for (const Range& range : ranges) {
      void* handle = nullptr;
      const int result = net.RegisterMemory(comm, range.data, range.count,
                                            nccl::kPointerHost, &handle);
      if (found.ok()) {
        found = Succeeds(result,
                         fmt::format("regMr of {} bytes", range.count).c_str());
      }
      if (found.ok()) {
        found = Expect(handle != nullptr,
                       "regMr of {} bytes gave a null handle", range.count);
      }
      if (handle == nullptr) continue;
      const int ended = net.DeregisterMemory(comm, handle);
      if (found.ok()) found = Succeeds(ended, "deregMr");
    }
  }
  munmap(large, kLarge);
  return found;
}

Status CheckOverlappingRegistration(const CheckSetup& setup) {
  RONDO_ASSIGN_OR_RETURN(auto side, PluginSide::Open(setup));
  NetTable& net = side->net();
  RONDO_ASSIGN_OR_RETURN(Connection both, Connection::Open(*side));
  Memory from(&net, 8192), to(&net, 8192);
  from.Fill(6);
  RONDO_RETURN_IF_ERROR(from.Register(both.send.get()));
  RONDO_RETURN_IF_ERROR(to.Register(both.receive.get()));
  // Nested in and across what is registered already; the first ends first.
  void* nested = nullptr;
  void* again = nullptr;
  RONDO_RETURN_IF_ERROR(
      Succeeds(net.RegisterMemory(both.send.get(), from.data() + 100, 1000,
                                  nccl::kPointerHost, &nested),
               "regMr of a nested range"));
  RONDO_RETURN_IF_ERROR(
      Succeeds(net.RegisterMemory(both.send.get(), from.data(), 8192,
                                  nccl::kPointerHost, &again),
               "regMr of the same range again"));
  RONDO_RETURN_IF_ERROR(
      Succeeds(net.DeregisterMemory(both.send.get(), nested), "deregMr"));
  RONDO_RETURN_IF_ERROR(Succeeds(net.DeregisterMemory(both.send.get(), again),
                                 "deregMr of the second of two"));
  RONDO_ASSIGN_OR_RETURN(void* received,
                         PostReceive(net, both.receive.get(), &to, 0));
  std::vector<Awaited> all = {{received}};
  RONDO_ASSIGN_OR_RETURN(void* sent,
                         PostSend(net, both.send.get(), &from, 8192, 0, &all));
  all.push_back({sent});
  RONDO_RETURN_IF_ERROR(AwaitAll(net, all));
  return to.Verify(6, 8192);
}

Status CheckWrongMemoryType(const CheckSetup& setup) {
  RONDO_ASSIGN_OR_RETURN(auto side, PluginSide::Open(setup));
  RONDO_ASSIGN_OR_RETURN(Connection both, Connection::Open(*side));
  char byte = 0;
  void* handle = nullptr;
  RONDO_RETURN_IF_ERROR(FailsWell(
      side->net().RegisterMemory(both.send.get(), &byte, 1, 64, &handle),
      "regMr of a type that does not exist"));
  return both.Move(16, 16, 0).WithContext("after a refused regMr");
}

Status CheckDmaBuf(const CheckSetup& setup) {
  RONDO_ASSIGN_OR_RETURN(auto side, PluginSide::Open(setup));
  if ((side->properties().pointer_support & nccl::kPointerDmaBuf) != 0) {
    return Skip("needs a GPU, whose memory has dmabufs");
  }
  // Without support: an error, no crash, and nothing kept of the descriptor.
  RONDO_ASSIGN_OR_RETURN(Connection both, Connection::Open(*side));
  const int file = memfd_create("rondo-check", MFD_CLOEXEC);
  RONDO_RETURN_IF_ERROR(Expect(file >= 0 && ftruncate(file, 4096) == 0,
                               "this process cannot make a memory file"));
  void* data = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  void* handle = nullptr;
  const int result = side->net().RegisterDmaBuf(
      both.send.get(), data, 4096, nccl::kPointerCuda, 0, file, &handle);
  close(file);
  munmap(data, 4096);
  RONDO_RETURN_IF_ERROR(
      FailsWell(result, "regMrDmaBuf, which the properties do not offer,"));
  return both.Move(16, 16, 0).WithContext("after a refused regMrDmaBuf");
}

}  // namespace rondo::plugin
