// The C API's collectives, requests and groups.

#include <utility>
#include <vector>

#include "collectives/c_handle.h"

namespace rondo {
namespace {

static_assert(static_cast<int>(DataType::kBfloat16) == rondoBfloat16);
static_assert(static_cast<int>(Reduction::kAverage) == rondoAvg);

// Started by blocking calls between rondoGroupStart and rondoGroupEnd.
thread_local int group_depth = 0;
thread_local std::vector<Request> group_requests;

Status NeedNoStream(rondoStream_t stream) {
  if (stream == nullptr) return Status::Ok();
  return Status(Code::kNotSupported,
                "a stream was given; only NULL is accepted until device memory "
                "is supported");
}

// A blocking call: run now, or start and leave to rondoGroupEnd.
rondoResult_t Block(rondoComm_t comm, rondoStream_t stream,
                    const CollectiveCall& call) {
  return Guard([&]() -> Status {
    RONDO_RETURN_IF_ERROR(NeedComm(comm));
    RONDO_RETURN_IF_ERROR(NeedNoStream(stream));
    if (group_depth == 0) return comm->communicator->Run(call);
    RONDO_ASSIGN_OR_RETURN(Request request, comm->communicator->Start(call));
    group_requests.push_back(std::move(request));
    return Status::Ok();
  });
}

rondoResult_t Start(rondoComm_t comm, rondoRequest_t* request,
                    const CollectiveCall& call) {
  return Guard([&]() -> Status {
    RONDO_RETURN_IF_ERROR(NeedComm(comm));
    RONDO_RETURN_IF_ERROR(NeedPointer(request, "request"));
    RONDO_ASSIGN_OR_RETURN(Request started, comm->communicator->Start(call));
    *request = new rondoRequest{std::move(started)};
    return Status::Ok();
  });
}

CollectiveCall AllGatherCall(const void* sendbuff, void* recvbuff, size_t count,
                             rondoDataType_t type) {
  return {.collective = Collective::kAllGather,
          .input = sendbuff,
          .output = recvbuff,
          .count = count,
          .type = static_cast<DataType>(type)};
}

CollectiveCall ReduceScatterCall(const void* sendbuff, void* recvbuff,
                                 size_t count, rondoDataType_t type,
                                 rondoRedOp_t op) {
  return {.collective = Collective::kReduceScatter,
          .input = sendbuff,
          .output = recvbuff,
          .count = count,
          .type = static_cast<DataType>(type),
          .reduction = static_cast<Reduction>(op)};
}

CollectiveCall BroadcastCall(const void* sendbuff, void* recvbuff, size_t count,
                             rondoDataType_t type, int root) {
  return {.collective = Collective::kBroadcast,
          .input = sendbuff,
          .output = recvbuff,
          .count = count,
          .type = static_cast<DataType>(type),
          .root = root};
}

// `counts` has one entry per rank; the size is only known with the
// communicator.
rondoResult_t BlockUneven(rondoComm_t comm, rondoStream_t stream,
                          const size_t* counts, CollectiveCall call) {
  if (comm != nullptr && counts != nullptr) {
    call.counts = {counts,
                   static_cast<size_t>(comm->communicator->world_size())};
  }
  if (comm != nullptr && counts == nullptr) {
    return ToResult(NeedPointer(counts, "counts"));
  }
  return Block(comm, stream, call);
}

}  // namespace
}  // namespace rondo

using rondo::Guard;
using rondo::Status;

rondoResult_t rondoAllGather(const void* sendbuff, void* recvbuff,
                             size_t sendcount, rondoDataType_t type,
                             rondoComm_t comm, rondoStream_t stream) {
  return rondo::Block(
      comm, stream, rondo::AllGatherCall(sendbuff, recvbuff, sendcount, type));
}

rondoResult_t rondoAllGatherV(const void* sendbuff, void* recvbuff,
                              const size_t* counts, rondoDataType_t type,
                              rondoComm_t comm, rondoStream_t stream) {
  return rondo::BlockUneven(comm, stream, counts,
                            rondo::AllGatherCall(sendbuff, recvbuff, 0, type));
}

rondoResult_t rondoReduceScatter(const void* sendbuff, void* recvbuff,
                                 size_t recvcount, rondoDataType_t type,
                                 rondoRedOp_t op, rondoComm_t comm,
                                 rondoStream_t stream) {
  return rondo::Block(
      comm, stream,
      rondo::ReduceScatterCall(sendbuff, recvbuff, recvcount, type, op));
}

rondoResult_t rondoReduceScatterV(const void* sendbuff, void* recvbuff,
                                  const size_t* counts, rondoDataType_t type,
                                  rondoRedOp_t op, rondoComm_t comm,
                                  rondoStream_t stream) {
  return rondo::BlockUneven(
      comm, stream, counts,
      rondo::ReduceScatterCall(sendbuff, recvbuff, 0, type, op));
}

rondoResult_t rondoBroadcast(const void* sendbuff, void* recvbuff, size_t count,
                             rondoDataType_t type, int root, rondoComm_t comm,
                             rondoStream_t stream) {
  return rondo::Block(
      comm, stream,
      rondo::BroadcastCall(sendbuff, recvbuff, count, type, root));
}

rondoResult_t rondoBarrier(rondoComm_t comm, rondoStream_t stream) {
  return rondo::Block(comm, stream,
                      {.collective = rondo::Collective::kBarrier});
}

rondoResult_t rondoAllGatherStart(const void* sendbuff, void* recvbuff,
                                  size_t sendcount, rondoDataType_t type,
                                  rondoComm_t comm, rondoRequest_t* request) {
  return rondo::Start(
      comm, request, rondo::AllGatherCall(sendbuff, recvbuff, sendcount, type));
}

rondoResult_t rondoReduceScatterStart(const void* sendbuff, void* recvbuff,
                                      size_t recvcount, rondoDataType_t type,
                                      rondoRedOp_t op, rondoComm_t comm,
                                      rondoRequest_t* request) {
  return rondo::Start(
      comm, request,
      rondo::ReduceScatterCall(sendbuff, recvbuff, recvcount, type, op));
}

rondoResult_t rondoBroadcastStart(const void* sendbuff, void* recvbuff,
                                  size_t count, rondoDataType_t type, int root,
                                  rondoComm_t comm, rondoRequest_t* request) {
  return rondo::Start(
      comm, request,
      rondo::BroadcastCall(sendbuff, recvbuff, count, type, root));
}

rondoResult_t rondoTest(rondoRequest_t request, int* done) {
  return Guard([&]() -> Status {
    RONDO_RETURN_IF_ERROR(rondo::NeedPointer(request, "request"));
    RONDO_RETURN_IF_ERROR(rondo::NeedPointer(done, "done"));
    *done = request->request.Test() ? 1 : 0;
    if (*done == 0) return Status::Ok();
    Status status = request->request.Wait();
    delete request;
    return status;
  });
}

rondoResult_t rondoWait(rondoRequest_t request, int64_t timeout_ms) {
  rondoResult_t result = Guard([&]() -> Status {
    RONDO_RETURN_IF_ERROR(rondo::NeedPointer(request, "request"));
    return request->request.Wait(timeout_ms);
  });
  if (request == nullptr) return result;
  if (result == rondoTimeout) {
    if (!request->request.Test()) return rondoInProgress;
    // It ended just now, or by its own deadline.
    result = rondo::ToResult(request->request.Wait());
  }
  delete request;
  return result;
}

rondoResult_t rondoGroupStart(void) {
  ++rondo::group_depth;
  return rondoSuccess;
}

rondoResult_t rondoGroupEnd(void) {
  return Guard([&]() -> Status {
    if (rondo::group_depth == 0) {
      return rondo::InvalidUsage("rondoGroupEnd without rondoGroupStart");
    }
    if (--rondo::group_depth > 0) return Status::Ok();
    Status first;
    for (rondo::Request& request : rondo::group_requests) {
      Status status = request.Wait();
      if (first.ok()) first = status;
    }
    rondo::group_requests.clear();
    return first;
  });
}
