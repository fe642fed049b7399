/* A program of a user of librondo.so: every function of the C API, each result
 * checked. Compiled as C99 and as C++. Prints the first thing that is wrong and
 * exits with 1; exit status 0 when all is right. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/rondo.h"

enum { kCount = 1001, kMaxRanks = 8 };

static int rank = -1;
static int ranks = -1;

static void Fail(int line, const char* what) {
  fprintf(stderr, "rank %d, line %d: %s; last error: %s\n", rank, line, what,
          rondoGetLastError(NULL));
  exit(1);
}

#define CHECK(condition)                          \
  do {                                            \
    if (!(condition)) Fail(__LINE__, #condition); \
  } while (0)
#define OK(call) CHECK((call) == rondoSuccess)

/* What rank r sends at element i, and the sum of it over all ranks. */
static float Sent(int r, size_t i) { return (float)((r + 1) * (int)(i % 7)); }
static float Sum(size_t i) {
  return (float)(ranks * (ranks + 1) / 2 * (int)(i % 7));
}

static float input[kMaxRanks * kCount];
static float output[kMaxRanks * kCount];

static void Fill(void) {
  size_t i;
  for (i = 0; i < (size_t)ranks * kCount; ++i) {
    input[i] = Sent(rank, i);
    output[i] = -1;
  }
}

static void CheckGathered(const size_t* counts) {
  size_t at = 0;
  int r;
  for (r = 0; r < ranks; ++r) {
    size_t i;
    for (i = 0; i < counts[r]; ++i) CHECK(output[at++] == Sent(r, i));
  }
}

static void CheckReduced(size_t count, size_t offset) {
  size_t i;
  for (i = 0; i < count; ++i) CHECK(output[i] == Sum(offset + i));
}

static void CheckVersion(void) {
  int version = -1;
  OK(rondoGetVersion(&version));
  CHECK(version == RONDO_VERSION_CODE);
  CHECK(version == RONDO_MAJOR * 10000 + RONDO_MINOR * 100 + RONDO_PATCH);
  CHECK(rondoGetVersion(NULL) == rondoInvalidArgument);
  CHECK(strlen(rondoGetErrorString(rondoMismatch)) > 0);
  CHECK(strcmp(rondoGetErrorString(rondoMismatch),
               rondoGetErrorString(rondoTimeout)) != 0);
}

static void CheckBlocking(rondoComm_t comm) {
  size_t counts[kMaxRanks], uneven[kMaxRanks], before = 0;
  size_t i;
  int r;
  for (r = 0; r < ranks; ++r) {
    counts[r] = kCount;
    uneven[r] = (size_t)(3 * r);
    if (r < rank) before += uneven[r];
  }
  Fill();
  OK(rondoAllGather(input, output, kCount, rondoFloat32, comm, NULL));
  CheckGathered(counts);
  OK(rondoAllGatherV(input, output, uneven, rondoFloat32, comm, NULL));
  CheckGathered(uneven);
  OK(rondoReduceScatter(input, output, kCount, rondoFloat32, rondoSum, comm,
                        NULL));
  CheckReduced(kCount, (size_t)rank * kCount);
  OK(rondoReduceScatterV(input, output, uneven, rondoFloat32, rondoSum, comm,
                         NULL));
  CheckReduced(uneven[rank], before);
  OK(rondoBroadcast(input, output, kCount, rondoFloat32, ranks - 1, comm,
                    NULL));
  for (i = 0; i < kCount; ++i) CHECK(output[i] == Sent(ranks - 1, i));
  OK(rondoBarrier(comm, NULL));
}

static void Finish(rondoRequest_t request) {
  int done = 0;
  while (!done) OK(rondoTest(request, &done));
}

static void CheckRequestsAndGroups(rondoComm_t comm) {
  static float reduced[kCount];
  size_t counts[kMaxRanks];
  rondoRequest_t request = NULL;
  size_t i;
  int r;
  for (r = 0; r < ranks; ++r) counts[r] = kCount;
  Fill();
  OK(rondoAllGatherStart(input, output, kCount, rondoFloat32, comm, &request));
  OK(rondoWait(request, -1));
  CheckGathered(counts);
  OK(rondoReduceScatterStart(input, output, kCount, rondoFloat32, rondoSum,
                             comm, &request));
  Finish(request);
  CheckReduced(kCount, (size_t)rank * kCount);
  OK(rondoBroadcastStart(input, output, kCount, rondoFloat32, 0, comm,
                         &request));
  OK(rondoWait(request, 30000));
  for (i = 0; i < kCount; ++i) CHECK(output[i] == Sent(0, i));

  OK(rondoGroupStart());
  OK(rondoAllGather(input, output, kCount, rondoFloat32, comm, NULL));
  OK(rondoReduceScatter(input, reduced, kCount, rondoFloat32, rondoSum, comm,
                        NULL));
  OK(rondoGroupEnd());
  CheckGathered(counts);
  for (i = 0; i < kCount; ++i) {
    CHECK(reduced[i] == Sum((size_t)rank * kCount + i));
  }
  CHECK(rondoGroupEnd() == rondoInvalidUsage);
}

static void CheckRefusals(rondoComm_t comm) {
  rondoResult_t async_error = rondoInternalError;
  rondoRequest_t request = NULL;
  int done = 0;
  CHECK(rondoBarrier(NULL, NULL) == rondoInvalidArgument);
  CHECK(strlen(rondoGetLastError(NULL)) > 0);
  CHECK(rondoBarrier(comm, (rondoStream_t)&done) == rondoNotSupported);
  CHECK(rondoAllGather(NULL, output, kCount, rondoFloat32, comm, NULL) ==
        rondoInvalidArgument);
  CHECK(rondoAllGather(input, output, kCount, (rondoDataType_t)99, comm,
                       NULL) == rondoInvalidArgument);
  CHECK(strstr(rondoGetLastError(comm), "99") != NULL);
  CHECK(rondoBroadcast(input, output, kCount, rondoFloat32, ranks, comm,
                       NULL) == rondoInvalidArgument);
  CHECK(rondoAllGatherV(input, output, NULL, rondoFloat32, comm, NULL) ==
        rondoInvalidArgument);
  CHECK(rondoAllGatherStart(input, output, kCount, rondoFloat32, comm, NULL) ==
        rondoInvalidArgument);
  CHECK(rondoTest(request, &done) == rondoInvalidArgument);
  CHECK(rondoWait(request, 0) == rondoInvalidArgument);
  CHECK(rondoCommDestroy(NULL) == rondoInvalidArgument);
  /* Refused arguments poison nothing. */
  OK(rondoCommGetAsyncError(comm, &async_error));
  CHECK(async_error == rondoSuccess);
  OK(rondoBarrier(comm, NULL));
}

static int LastErrorHas(const char* text) {
  return strstr(rondoGetLastError(NULL), text) != NULL;
}

/* Sizes on both sides of where ranks begin to map each other's memory. */
static void CheckSymmetricMemory(rondoComm_t comm) {
  static const size_t sizes[] = {1, kCount, 40 * kCount};
  size_t s, i;
  for (s = 0; s < sizeof(sizes) / sizeof(sizes[0]); ++s) {
    const size_t count = sizes[s];
    void *mine = NULL, *all = NULL;
    OK(rondoMemAlloc(&mine, count * sizeof(float)));
    OK(rondoMemAlloc(&all, (size_t)ranks * count * sizeof(float)));
    for (i = 0; i < (size_t)ranks * count; ++i) {
      CHECK(((float*)all)[i] == 0);
    }
    for (i = 0; i < count; ++i) ((float*)mine)[i] = Sent(rank, i);
    OK(rondoAllGather(mine, all, count, rondoFloat32, comm, NULL));
    for (i = 0; i < (size_t)ranks * count; ++i) {
      CHECK(((float*)all)[i] == Sent((int)(i / count), i % count));
    }
    OK(rondoMemFree(mine));
    OK(rondoMemFree(all));
  }
}

static void CheckSymmetricRefusals(void) {
  void* memory = NULL;
  void* unchanged = &memory;
  CHECK(rondoMemAlloc(NULL, 1) == rondoInvalidArgument);
  CHECK(LastErrorHas("pointer is NULL"));
  CHECK(rondoMemAlloc(&unchanged, (size_t)-1) == rondoResourceExhausted);
  CHECK(unchanged == NULL);
  OK(rondoMemFree(NULL));
  OK(rondoMemAlloc(&memory, 0));
  CHECK(memory != NULL);
  CHECK(rondoMemFree((char*)memory + 1) == rondoInvalidArgument);
  CHECK(LastErrorHas("is not where a living symmetric buffer begins"));
  CHECK(rondoMemFree(input) == rondoInvalidArgument);
  OK(rondoMemFree(memory));
  CHECK(rondoMemFree(memory) == rondoInvalidArgument);
}

static void CheckSplitAndAbort(rondoComm_t comm) {
  rondoComm_t part = NULL;
  rondoResult_t async_error = rondoSuccess;
  int size = -1, place = -1;
  /* Everybody in one, in the reverse order. */
  OK(rondoCommSplit(comm, 0, -rank, &part));
  OK(rondoCommCount(part, &size));
  OK(rondoCommUserRank(part, &place));
  CHECK(size == ranks && place == ranks - 1 - rank);
  OK(rondoBarrier(part, NULL));
  /* Nobody may still be inside that barrier when another aborts. */
  OK(rondoBarrier(comm, NULL));
  OK(rondoCommAbort(part));
  CHECK(rondoBarrier(part, NULL) == rondoAborted);
  OK(rondoCommGetAsyncError(part, &async_error));
  CHECK(async_error == rondoAborted);
  OK(rondoCommDestroy(part));
  /* A colour below zero takes no part; the parent works on. */
  OK(rondoCommSplit(comm, -1, 0, &part));
  CHECK(part == NULL);
  OK(rondoBarrier(comm, NULL));
}

static void CheckUniqueId(void) {
  rondoConfig_t config = RONDO_CONFIG_INITIALIZER;
  rondoUniqueId id;
  rondoComm_t comm = NULL;
  int size = -1;
  config.timeout_ms = 20000;
  OK(rondoGetUniqueId(&id));
  OK(rondoCommInitRankConfig(&comm, 1, id, 0, &config));
  OK(rondoCommCount(comm, &size));
  CHECK(size == 1);
  OK(rondoBarrier(comm, NULL));
  OK(rondoCommDestroy(comm));

  OK(rondoGetUniqueId(&id));
  OK(rondoCommInitRank(&comm, 1, id, 0));
  OK(rondoCommDestroy(comm));
  CHECK(rondoCommInitRank(&comm, 1, id, 1) == rondoInvalidArgument);
  config.magic = 0;
  CHECK(rondoCommInitRankConfig(&comm, 1, id, 0, &config) ==
        rondoInvalidArgument);
}

int main(void) {
  rondoComm_t comm = NULL;
  CheckVersion();
  CheckUniqueId();
  OK(rondoCommInitFromEnvironment(&comm));
  OK(rondoCommCount(comm, &ranks));
  OK(rondoCommUserRank(comm, &rank));
  CHECK(ranks <= kMaxRanks);
  CheckBlocking(comm);
  CheckRequestsAndGroups(comm);
  CheckRefusals(comm);
  CheckSymmetricMemory(comm);
  CheckSymmetricRefusals();
  CheckSplitAndAbort(comm);
  OK(rondoCommDestroy(comm));
  printf("rank %d of %d: all right\n", rank, ranks);
  return 0;
}
