//===- fake-nccl.cpp - an NCCL that only writes down ----------------------===//

#include "fake-nccl.h"
#include <cstdlib>
#include <cstring>

#define MN_EXPORT __attribute__((visibility("default")))

namespace fake {
MN_EXPORT Nccl &nccl() {
  static Nccl state;
  return state;
}
} // namespace fake

namespace {
struct Id {
  char bytes[128];
};
} // namespace

extern "C" {

MN_EXPORT int ncclGetVersion(int *version) {
  *version = 22800;
  return 0;
}

MN_EXPORT int ncclGetUniqueId(Id *id) {
  *id = {};
  return 0;
}

MN_EXPORT int ncclCommInitRank(void **communicator, int ranks, Id, int rank) {
  if (const char *mixes = std::getenv("FAKE_CUDA_MIXES"))
    if (const char *set = std::getenv("NCCL_GRAPH_MIXING_SUPPORT");
        !set || std::strcmp(set, mixes) != 0)
      return 5;
  fake::nccl().ranks = ranks;
  fake::nccl().rank = rank;
  *communicator = fake::nccl().connectResult == 0 ? &fake::nccl() : nullptr;
  return fake::nccl().connectResult;
}

MN_EXPORT int ncclCommDestroy(void *) { return ++fake::nccl().destroyed, 0; }
MN_EXPORT int ncclCommAbort(void *) { return ++fake::nccl().aborted, 0; }

MN_EXPORT int ncclCommGetAsyncError(void *, int *error) {
  *error = fake::nccl().asyncError;
  return 0;
}

MN_EXPORT int ncclAllReduce(const void *from, void *to, size_t count, int type,
                            int, void *, void *stream) {
  fake::nccl().sums.push_back({from, to, count, type, stream});
  return 0;
}

MN_EXPORT const char *ncclGetErrorString(int) { return "a fault"; }
}
