//===- fake-nccl.cpp - an NCCL that only writes down ----------------------===//

#include "fake-nccl.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <mutex>

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

/// What is written down, one thread at a time: a rank may be one.
std::unique_lock<std::mutex> alone() {
  static std::mutex all;
  return std::unique_lock(all);
}

bool isShared(void *memory) {
  const auto lock = alone();
  return std::any_of(fake::nccl().windows.begin(), fake::nccl().windows.end(),
                     [&](const fake::Window &window) {
                       return memory >= window.begin &&
                              memory < window.begin + window.bytes;
                     });
}

void call(const char *function) {
  if (fake::nccl().onCall)
    fake::nccl().onCall(function);
}
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
  call(__func__);
  const auto lock = alone();
  fake::nccl().ranks = ranks;
  fake::nccl().rank = rank;
  *communicator = fake::nccl().connectResult == 0 ? &fake::nccl() : nullptr;
  return fake::nccl().connectResult;
}

MN_EXPORT int ncclCommDestroy(void *) {
  const auto lock = alone();
  return ++fake::nccl().destroyed, 0;
}
MN_EXPORT int ncclCommAbort(void *) {
  call(__func__);
  const auto lock = alone();
  return ++fake::nccl().aborted, 0;
}

MN_EXPORT int ncclCommGetAsyncError(void *, int *error) {
  *error = fake::nccl().asyncError;
  return 0;
}

MN_EXPORT int ncclAllReduce(const void *from, void *to, size_t count, int type,
                            int, void *, CUstream stream) {
  call(__func__);
  {
    const auto lock = alone();
    fake::nccl().sums.push_back({from, to, count, type, stream});
  }
  CUlaunchAttribute overlap = {};
  overlap.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  overlap.value.programmaticStreamSerializationAllowed = isShared(to);
  CUlaunchConfig config = {};
  config.gridDimX = config.blockDimX = 1;
  config.hStream = stream;
  config.attrs = &overlap;
  config.numAttrs = 1;
  CUfunction kernel = nullptr;
  return cuModuleGetFunction(&kernel, nullptr, "nccl") ||
         cuLaunchKernelEx(&config, kernel, nullptr, nullptr);
}

MN_EXPORT int ncclMemAlloc(void **memory, size_t bytes) {
  return cuMemAlloc(reinterpret_cast<CUdeviceptr *>(memory), bytes);
}

MN_EXPORT int ncclMemFree(void *memory) {
  return cuMemFree(reinterpret_cast<CUdeviceptr>(memory));
}

MN_EXPORT int ncclCommWindowRegister(void *, void *begin, size_t bytes,
                                     void **window, int) {
  if (reinterpret_cast<size_t>(begin) % 4096 != 0 || bytes % 4096 != 0)
    return 4;
  call(__func__);
  const auto lock = alone();
  ++fake::nccl().windowsAsked;
  *window = begin;
  if (fake::nccl().windowResult == 0)
    fake::nccl().windows.push_back({static_cast<char *>(begin), bytes});
  return fake::nccl().windowResult;
}

MN_EXPORT int ncclCommWindowDeregister(void *, void *window) {
  const auto lock = alone();
  return std::erase_if(fake::nccl().windows, [&](const fake::Window &each) {
           return each.begin == window;
         }) != 1;
}

MN_EXPORT const char *ncclGetErrorString(int) { return "a fault"; }
}
