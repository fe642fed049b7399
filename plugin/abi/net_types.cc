#include "plugin/abi/net_types.h"

namespace rondo::nccl {

const char* ResultName(int result) {
  switch (result) {
    case kSuccess:
      return "success";
    case kUnhandledCudaError:
      return "unhandled CUDA error";
    case kSystemError:
      return "system error";
    case kInternalError:
      return "internal error";
    case kInvalidArgument:
      return "invalid argument";
    case kInvalidUsage:
      return "invalid usage";
    case kRemoteError:
      return "remote error";
    case kInProgress:
      return "in progress";
    default:
      return "unknown result";
  }
}

}  // namespace rondo::nccl
