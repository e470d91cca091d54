//===- fake-memory.cpp - device memory of a fake driver -------------------===//

#include "fake-state.h"
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>

using namespace fake;

namespace {

CUresult copy(void *to, const void *from, size_t bytes, CUstream stream) {
  return enqueue(
      stream,
      {.what = What::copy, .bytes = bytes, .to = to, .from = from, .work = [=] {
         std::memcpy(to, from, bytes);
         return "";
       }});
}

template <typename T> T *pointer(CUdeviceptr address) {
  return reinterpret_cast<T *>(address);
}

/// Device memory, all 0, which ends (but for its alignment) before a page that
/// nobody may touch: what is outside of it cannot be read or written unseen.
struct Pages {
  static constexpr size_t page = 4096, alignment = 256;
  static size_t rounded(size_t bytes, size_t to) {
    return (bytes + to - 1) / to * to;
  }
  static size_t all(size_t bytes) { return rounded(bytes, page) + page; }
  static char *allocate(size_t bytes) {
    void *first = mmap(nullptr, all(bytes), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (first == MAP_FAILED)
      return nullptr;
    char *const end = static_cast<char *>(first) + all(bytes) - page;
    mprotect(end, page, PROT_NONE);
    return end - rounded(bytes, alignment);
  }
  static void free(char *memory, size_t bytes) {
    char *const end = memory + rounded(bytes, alignment);
    munmap(end + page - all(bytes), all(bytes));
  }
};

} // namespace

extern "C" {

CUresult cuMemGetInfo(size_t *available, size_t *total) {
  MN_FAILS;
  *available = driver().free;
  *total = size_t(1) << 35;
  return CUDA_SUCCESS;
}

CUresult cuMemAlloc(CUdeviceptr *address, size_t bytes) {
  MN_FAILS;
  if (bytes > driver().free)
    return CUDA_ERROR_OUT_OF_MEMORY;
  char *const memory = Pages::allocate(bytes);
  if (!memory)
    return CUDA_ERROR_OUT_OF_MEMORY;
  *address = reinterpret_cast<CUdeviceptr>(memory);
  driver().memory[memory] = bytes;
  ++driver().allocations;
  return CUDA_SUCCESS;
}

CUresult cuMemFree(CUdeviceptr address) {
  MN_ALONE;
  char *const memory = pointer<char>(address);
  const auto found = driver().memory.find(memory);
  if (found == driver().memory.end())
    return CUDA_ERROR_INVALID_VALUE;
  Pages::free(memory, found->second);
  driver().memory.erase(found);
  --driver().allocations;
  return CUDA_SUCCESS;
}

CUresult cuPointerGetAttribute(void *value, CUpointer_attribute attribute,
                               CUdeviceptr address) {
  MN_FAILS;
  const char *wanted = pointer<char>(address);
  const auto next = driver().memory.upper_bound(wanted);
  if (next == driver().memory.begin())
    return CUDA_ERROR_INVALID_VALUE;
  const auto [begin, bytes] = *std::prev(next);
  if (wanted >= begin + bytes)
    return CUDA_ERROR_INVALID_VALUE;
  const int found = attribute == CU_POINTER_ATTRIBUTE_MEMORY_TYPE
                        ? int(CU_MEMORYTYPE_DEVICE)
                        : driver().memoryOn;
  std::memcpy(value, &found, sizeof found);
  return CUDA_SUCCESS;
}

CUresult cuMemHostAlloc(void **memory, size_t bytes, unsigned) {
  MN_FAILS;
  *memory = std::calloc(1, bytes);
  ++driver().allocations;
  return CUDA_SUCCESS;
}

CUresult cuMemFreeHost(void *memory) {
  MN_ALONE;
  std::free(memory);
  --driver().allocations;
  return CUDA_SUCCESS;
}

CUresult cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t bytes) {
  MN_FAILS;
  std::memcpy(pointer<void>(to), from, bytes);
  return CUDA_SUCCESS;
}

CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t bytes,
                           CUstream stream) {
  MN_FAILS;
  return copy(pointer<void>(to), from, bytes, stream);
}

CUresult cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t bytes,
                           CUstream stream) {
  MN_FAILS;
  return copy(to, pointer<void>(from), bytes, stream);
}

CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                           CUstream stream) {
  MN_FAILS;
  return copy(pointer<void>(to), pointer<void>(from), bytes, stream);
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t bytes,
                         CUstream stream) {
  MN_FAILS;
  return enqueue(stream, {.what = What::set, .bytes = bytes, .work = [=] {
                            std::memset(pointer<void>(to), value, bytes);
                            return "";
                          }});
}

} // extern "C"
