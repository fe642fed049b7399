/* Rondo's C API: all-gather, reduce-scatter and the sharded step over UCX.
 *
 * Conventions, in NCCL's shape:
 *
 * 1. Handles are opaque. rondoCommDestroy frees a communicator; a request is
 *    freed by the rondoWait or rondoTest call that reports its end.
 * 2. Every function returns a rondoResult_t; rondoSuccess is 0.
 *    rondoGetErrorString gives the kind, rondoGetLastError(comm) the story:
 * which rank, which value, what is accepted. It is per thread and valid until
 * the thread's next failing call.
 * 3. Counts are elements per rank: what one rank sends to an all-gather, or
 *    receives from a reduce-scatter.
 * 4. `stream` must be NULL: calls then block until done or until the deadline
 *    (RONDO_TIMEOUT_MS) passes. Streams are refused until device memory exists.
 * 5. In place as in NCCL: sendbuff == recvbuff + rank * sendcount for an
 *    all-gather, recvbuff == sendbuff + rank * recvcount for a reduce-scatter.
 * 6. A config starts with its own size: use RONDO_CONFIG_INITIALIZER, so that
 * an older program works with a newer library.
 * 7. Any thread may call; calls of one communicator come in the same order on
 *    every rank. rondoCommAbort works from any thread.
 * 8. No exception, signal handler or exit() ever comes from this library.
 *
 * Example (error checks left out):
 *   rondoComm_t comm;
 *   rondoCommInitFromEnvironment(&comm);
 *   rondoAllGather(shard, all, count, rondoFloat32, comm, NULL);
 *   rondoCommDestroy(comm);
 */
#ifndef RONDO_H_
#define RONDO_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RONDO_MAJOR 0
#define RONDO_MINOR 1
#define RONDO_PATCH 0
#define RONDO_VERSION_CODE \
  (RONDO_MAJOR * 10000 + RONDO_MINOR * 100 + RONDO_PATCH)

#define RONDO_UNIQUE_ID_BYTES 128

typedef struct rondoComm* rondoComm_t;
typedef struct rondoRequest* rondoRequest_t;
/* Stands where a device stream will be passed; only NULL is accepted. */
typedef struct rondoStream* rondoStream_t;

typedef struct {
  char internal[RONDO_UNIQUE_ID_BYTES];
} rondoUniqueId;

typedef enum {
  rondoSuccess = 0,
  rondoInvalidArgument = 1,
  rondoInvalidUsage = 2,
  rondoMismatch = 3,
  rondoRemoteDead = 4,
  rondoTimeout = 5,
  rondoAborted = 6,
  rondoTransportError = 7,
  rondoSystemError = 8,
  rondoResourceExhausted = 9,
  rondoNotSupported = 10,
  rondoInternalError = 11,
  rondoInProgress = 12
} rondoResult_t;

typedef enum {
  rondoInt8 = 0,
  rondoUint8 = 1,
  rondoInt32 = 2,
  rondoUint32 = 3,
  rondoInt64 = 4,
  rondoUint64 = 5,
  rondoFloat16 = 6,
  rondoFloat32 = 7,
  rondoFloat64 = 8,
  rondoBfloat16 = 9
} rondoDataType_t;

typedef enum {
  rondoSum = 0,
  rondoProd = 1,
  rondoMax = 2,
  rondoMin = 3,
  rondoAvg = 4
} rondoRedOp_t;

/* Settings of one communicator. A field at its UNDEF value leaves the choice to
 * the environment (RONDO_*), the configuration file and the default, in order.
 */
#define RONDO_CONFIG_UNDEF_INT (-1)
typedef struct {
  size_t size;         /* sizeof(rondoConfig_t); set by the initializer */
  uint32_t magic;      /* set by the initializer */
  uint32_t version;    /* RONDO_VERSION_CODE the program was built with */
  int64_t timeout_ms;  /* deadline of one collective */
  int64_t chunk_bytes; /* size of a pipelined piece */
} rondoConfig_t;

#define RONDO_CONFIG_MAGIC 0x524f4e44u
#define RONDO_CONFIG_INITIALIZER                                   \
  {                                                                \
    sizeof(rondoConfig_t), RONDO_CONFIG_MAGIC, RONDO_VERSION_CODE, \
        RONDO_CONFIG_UNDEF_INT, RONDO_CONFIG_UNDEF_INT             \
  }

/* The library's version, as RONDO_VERSION_CODE is built. */
rondoResult_t rondoGetVersion(int* version);
const char* rondoGetErrorString(rondoResult_t result);
/* `comm` may be NULL; the last error of this thread is returned either way. */
const char* rondoGetLastError(rondoComm_t comm);

/* Makes an id in one process; give it to every rank by any means. That process
 * must stay alive while the communicator is in use: it holds its coordinator.
 */
rondoResult_t rondoGetUniqueId(rondoUniqueId* unique_id);
rondoResult_t rondoCommInitRank(rondoComm_t* comm, int world_size,
                                rondoUniqueId unique_id, int rank);
rondoResult_t rondoCommInitRankConfig(rondoComm_t* comm, int world_size,
                                      rondoUniqueId unique_id, int rank,
                                      const rondoConfig_t* config);
/* Rank and meeting place as mpirun, torchrun, srun or RONDO_* give them. */
rondoResult_t rondoCommInitFromEnvironment(rondoComm_t* comm);
/* Ranks with equal color >= 0 form a new communicator, ordered by (key, rank);
 * a negative color gets NULL. Collective over `comm`. */
rondoResult_t rondoCommSplit(rondoComm_t comm, int color, int key,
                             rondoComm_t* new_comm);
rondoResult_t rondoCommDestroy(rondoComm_t comm);
/* Ends every call on every rank with rondoAborted. Does not free. */
rondoResult_t rondoCommAbort(rondoComm_t comm);
/* *async_error: rondoSuccess, or what poisoned the communicator. */
rondoResult_t rondoCommGetAsyncError(rondoComm_t comm,
                                     rondoResult_t* async_error);
rondoResult_t rondoCommCount(rondoComm_t comm, int* world_size);
rondoResult_t rondoCommUserRank(rondoComm_t comm, int* rank);

/* Memory that the ranks of one host reach in each other directly: collectives
 * on it are the fastest. Zeroed, aligned to pages. Local calls: no other rank
 * takes part, and the memory serves any communicator. Where it cannot be shared
 * it is ordinary memory, and one line of the log says why. rondoMemFree takes
 * what rondoMemAlloc gave (NULL: nothing happens), and waits for calls that use
 * it.
 */
rondoResult_t rondoMemAlloc(void** pointer, size_t bytes);
rondoResult_t rondoMemFree(void* pointer);

/* recvbuff[r * sendcount ...] = rank r's sendbuff. */
rondoResult_t rondoAllGather(const void* sendbuff, void* recvbuff,
                             size_t sendcount, rondoDataType_t type,
                             rondoComm_t comm, rondoStream_t stream);
/* Rank r contributes counts[r] elements; counts has one entry per rank. */
rondoResult_t rondoAllGatherV(const void* sendbuff, void* recvbuff,
                              const size_t* counts, rondoDataType_t type,
                              rondoComm_t comm, rondoStream_t stream);
/* recvbuff = reduction over ranks of sendbuff[rank * recvcount ...]. */
rondoResult_t rondoReduceScatter(const void* sendbuff, void* recvbuff,
                                 size_t recvcount, rondoDataType_t type,
                                 rondoRedOp_t op, rondoComm_t comm,
                                 rondoStream_t stream);
rondoResult_t rondoReduceScatterV(const void* sendbuff, void* recvbuff,
                                  const size_t* counts, rondoDataType_t type,
                                  rondoRedOp_t op, rondoComm_t comm,
                                  rondoStream_t stream);
rondoResult_t rondoBroadcast(const void* sendbuff, void* recvbuff, size_t count,
                             rondoDataType_t type, int root, rondoComm_t comm,
                             rondoStream_t stream);
rondoResult_t rondoBarrier(rondoComm_t comm, rondoStream_t stream);

/* The same, but return at once with a request to test or wait for. */
rondoResult_t rondoAllGatherStart(const void* sendbuff, void* recvbuff,
                                  size_t sendcount, rondoDataType_t type,
                                  rondoComm_t comm, rondoRequest_t* request);
rondoResult_t rondoReduceScatterStart(const void* sendbuff, void* recvbuff,
                                      size_t recvcount, rondoDataType_t type,
                                      rondoRedOp_t op, rondoComm_t comm,
                                      rondoRequest_t* request);
rondoResult_t rondoBroadcastStart(const void* sendbuff, void* recvbuff,
                                  size_t count, rondoDataType_t type, int root,
                                  rondoComm_t comm, rondoRequest_t* request);
/* *done is 1 once the call has ended; then its result is returned and the
 * request is freed. Before that: rondoSuccess and *done 0. */
rondoResult_t rondoTest(rondoRequest_t request, int* done);
/* Waits at most timeout_ms (negative: until the call's own deadline).
 * rondoInProgress when timeout_ms passed first: the request stays valid. */
rondoResult_t rondoWait(rondoRequest_t request, int64_t timeout_ms);

/* Blocking calls between Start and End only start; End waits for all of them
 * and returns the first error. Nests; per thread. */
rondoResult_t rondoGroupStart(void);
rondoResult_t rondoGroupEnd(void);

#ifdef __cplusplus
}
#endif

#endif /* RONDO_H_ */
