/* The C API, from a C program that knows the installed headers only: an
 * all-gather on symmetric memory, and what an error says. */
#include <rondo/rondo.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { kCount = 1000 };

static int fail(const char* what) {
  fprintf(stderr, "%s: %s\n", what, rondoGetLastError(NULL));
  return 1;
}

/* 0 when all[rank * kCount + i] is rank * 10000 + i everywhere. */
static int wrong_elements(const int32_t* all, int ranks) {
  int wrong = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    for (int i = 0; i < kCount; ++i) {
      wrong += all[rank * kCount + i] != rank * 10000 + i;
    }
  }
  return wrong;
}

static int gather(rondoComm_t comm, int rank, int ranks) {
  void* memory = NULL;
  size_t bytes = (size_t)ranks * kCount * sizeof(int32_t);
  if (rondoMemAlloc(&memory, bytes) != rondoSuccess) return fail("allocate");
  int32_t* all = (int32_t*)memory;
  int32_t* mine = all + (size_t)rank * kCount;
  for (int i = 0; i < kCount; ++i) mine[i] = rank * 10000 + i;
  if (rondoAllGather(mine, all, kCount, rondoInt32, comm, NULL) !=
      rondoSuccess) {
    return fail("all-gather");
  }
  int wrong = wrong_elements(all, ranks);
  printf("%d ranks, %d wrong elements\n", ranks, wrong);
  if (rondoMemFree(memory) != rondoSuccess) return fail("free");
  return wrong != 0;
}

int main(void) {
  rondoComm_t comm = NULL;
  int rank = 0, ranks = 0, version = 0;
  if (rondoGetVersion(&version) != rondoSuccess ||
      version != RONDO_VERSION_CODE) {
    fprintf(stderr, "headers and library have different versions\n");
    return 1;
  }
  if (rondoCommInitFromEnvironment(&comm) != rondoSuccess ||
      rondoCommUserRank(comm, &rank) != rondoSuccess ||
      rondoCommCount(comm, &ranks) != rondoSuccess) {
    return fail("join");
  }
  if (gather(comm, rank, ranks) != 0) return 1;
  if (rondoAllGather(NULL, NULL, 1, rondoInt32, comm, NULL) == rondoSuccess ||
      strlen(rondoGetLastError(comm)) == 0) {
    fprintf(stderr, "a null pointer was accepted\n");
    return 1;
  }
  return rondoCommDestroy(comm);
}
