//===- kernel.h - what stands before the text of kernels --------*- C++ -*-===//
//
// CUDA's words in C++, for kernels that run on a CPU. Assembly is replaced by
// the headers in include/.
//
//===----------------------------------------------------------------------===//

#include "gpu.h"
#include <algorithm>
#include <atomic>
#include <bit>
#include <cfloat>
#include <chrono>
#include <climits>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#define __device__
#define __host__
#define __constant__ static
#define __forceinline__ inline
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __shared__ static __attribute__((section("declared_shared")))

#define threadIdx (emulated::gpu->thread->thread)
#define blockIdx (emulated::gpu->thread->block)
#define blockDim (emulated::gpu->thread->threads)
#define gridDim (emulated::gpu->thread->blocks)

namespace emulated {

inline Gpu *gpu = nullptr;

template <typename T> T laneValue(T mine, int lane) {
  T theirs;
  std::memcpy(&theirs, gpu->exchange(&mine, sizeof mine)[lane], sizeof theirs);
  return theirs;
}

/// Of parameters: by value, as a launch copies them.
template <typename... Parameters>
inline constexpr size_t sizesOf[] = {sizeof(Parameters)..., 0};

template <auto kernel> struct Call;
template <typename... Parameters, void (*kernel)(Parameters...)>
struct Call<kernel> {
  static constexpr const size_t *sizes = sizesOf<Parameters...>;
  static void run(void **arguments) {
    [&]<size_t... i>(std::index_sequence<i...>) {
      kernel(*static_cast<std::remove_cv_t<Parameters> *>(arguments[i])...);
    }(std::index_sequence_for<Parameters...>());
  }
};

inline std::vector<Kernel> kernels;

/// Of launch bounds and of a cluster's dimensions.
constexpr unsigned first(unsigned x, unsigned = 1, unsigned = 1) { return x; }

template <auto kernel>
bool add(const char *name, unsigned threads, unsigned cluster) {
  kernels.push_back(
      {name, Call<kernel>::run, Call<kernel>::sizes, threads, cluster});
  return true;
}

} // namespace emulated

struct alignas(8) uint2 {
  unsigned x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
struct alignas(8) float2 {
  float x, y;
};
struct alignas(16) float4 {
  float x, y, z, w;
};
struct alignas(4) uchar4 {
  unsigned char x, y, z, w;
};

inline void __syncthreads() { emulated::gpu->syncBlock(false); }
inline bool __syncthreads_or(bool value) {
  return emulated::gpu->syncBlock(value);
}
inline void __threadfence() {}
inline void __threadfence_system() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
}
template <typename T> T __shfl_xor_sync(unsigned, T mine, int lanes) {
  return emulated::laneValue(mine, int(threadIdx.x % 32) ^ lanes);
}
template <typename T> T __shfl_sync(unsigned, T mine, int lane) {
  return emulated::laneValue(mine, lane);
}
inline unsigned atomicAdd(unsigned *to, unsigned value) {
  const unsigned before = *to;
  *to += value;
  return before;
}

inline float __fdividef(float a, float b) { return a / b; }
inline unsigned __float_as_uint(float v) { return std::bit_cast<unsigned>(v); }
inline float __uint_as_float(unsigned v) { return std::bit_cast<float>(v); }
inline float __int_as_float(int v) { return std::bit_cast<float>(v); }
inline double __longlong_as_double(long long v) {
  return std::bit_cast<double>(v);
}

inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __ddiv_rn(double a, double b) { return a / b; }

/// Addresses of shared memory are numbers: first what the launch gave, which
/// tensor cores read, then what kernels declare.
inline constexpr size_t declaredAddress = 1 << 18;

inline size_t __cvta_generic_to_shared(const void *pointer) {
  const auto *byte = static_cast<const char *>(pointer);
  const emulated::Gpu &gpu = *emulated::gpu;
  return byte >= gpu.declared && byte < gpu.declared + gpu.declaredBytes
             ? declaredAddress + size_t(byte - gpu.declared)
             : size_t(byte - gpu.dynamic);
}

namespace emulated {
inline char *sharedAt(size_t address) {
  return address >= declaredAddress
             ? gpu->declared + (address - declaredAddress)
             : gpu->dynamic + address;
}

/// All that is declared as __shared__, which begins as aligned as it may be.
extern "C" char __start_declared_shared[], __stop_declared_shared[];
__shared__ __align__(1024) __attribute__((used)) char firstDeclared[1024];

extern "C" __attribute__((visibility("default"), used)) inline Kernels
emulated_kernels() {
  return {kernels.data(), kernels.size(), __start_declared_shared,
          size_t(__stop_declared_shared - __start_declared_shared), &gpu};
}

} // namespace emulated
