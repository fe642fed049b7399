// What the parts of the C API share: the handles, and how a Status becomes a
// result code whose message rondoGetLastError keeps.
//
// Thread-safety: the last error and the open group belong to their thread.
//
// Example:
//   return Guard([&]() -> Status {
//     RONDO_RETURN_IF_ERROR(NeedComm(comm));
//     ...
//   });
#pragma once

#include <exception>
#include <memory>
#include <new>

#include "collectives/communicator.h"
#include "collectives/rondo.h"
#include "transports/base/status.h"

struct rondoComm {
  std::unique_ptr<rondo::Communicator> communicator;
};

struct rondoRequest {
  rondo::Request request;
};

namespace rondo {

// Keeps the message of an error for rondoGetLastError.
rondoResult_t ToResult(const Status& status);

// Runs `body` and lets nothing escape into C: what can still throw is memory
// running out.
template <typename Body>
rondoResult_t Guard(const Body& body) {
  try {
    return ToResult(body());
  } catch (const std::bad_alloc&) {
    return ToResult(Status(Code::kResourceExhausted, "out of memory"));
  } catch (const std::exception& error) {
    return ToResult(Internal(error.what()));
  }
}

// Errors that name what is NULL.
Status NeedComm(rondoComm_t comm);
Status NeedPointer(const void* pointer, const char* name);

}  // namespace rondo
