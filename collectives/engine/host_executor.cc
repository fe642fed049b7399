#include <vector>

#include "collectives/engine/executor.h"
#include "collectives/kernels/copy.h"
#include "collectives/kernels/reduce.h"

namespace rondo {
namespace {

Status CheckHost(MemoryKind kind) {
  if (kind == MemoryKind::kHost) return Status::Ok();
  return Status(Code::kNotSupported,
                "the host executor was given device memory; only host memory "
                "is accepted");
}

class HostExecutor : public Executor {
 public:
  Status Copy(MutableBuffer to, ConstBuffer from, StoreHint hint) override {
    RONDO_RETURN_IF_ERROR(CheckHost(to.kind));
    RONDO_RETURN_IF_ERROR(CheckHost(from.kind));
    CopyBytes(to.data, from.data, from.bytes, hint);
    return Status::Ok();
  }

  Status Reduce(const ReduceOperation& operation,
                std::span<const ConstBuffer> sources, MutableBuffer to,
                StoreHint hint) override {
    RONDO_RETURN_IF_ERROR(CheckHost(to.kind));
    pointers_.clear();
    for (const ConstBuffer& source : sources) {
      RONDO_RETURN_IF_ERROR(CheckHost(source.kind));
      pointers_.push_back(source.data);
    }
    ReduceElements(operation.type, operation.reduction, pointers_.data(),
                   static_cast<int>(pointers_.size()), to.data,
                   to.bytes / ElementSize(operation.type),
                   ReduceScale{.divisor = operation.divisor}, hint);
    return Status::Ok();
  }

  bool Idle() override { return true; }

 private:
  std::vector<const void*> pointers_;  // kept, so that no call allocates
};

}  // namespace

std::unique_ptr<Executor> MakeHostExecutor() {
  return std::make_unique<HostExecutor>();
}

}  // namespace rondo
