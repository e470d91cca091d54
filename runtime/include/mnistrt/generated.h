//===- generated.h - what generated code may use ----------------*- C++ -*-===//
//
// The one header that a generated file includes. The same text is compiled for
// the CPU, for the host of a CUDA program, and by NVRTC for the GPU; see
// docs/generated-code.md for what a generated file looks like.
//
//   MN_TARGET_CPU    the host compiler, CPU program: everything runs here
//   MN_TARGET_CUDA   the host compiler, CUDA program: functors are launched
//   __CUDACC__       NVRTC or nvcc: functors become kernels; the host part is
//                    skipped
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_GENERATED_H
#define MNISTRT_GENERATED_H

#include "mnistrt/shapes.h"

// A generated file with a tensor of 2^31 elements or more defines MN_INDEX as
// int64_t.
#ifndef MN_INDEX
#define MN_INDEX int
#endif

namespace mn {
/// The number of an element that a map computes.
using Element = MN_INDEX;
/// Where an element is. Integers wrap around, and on the CPU what may do so
/// at 2^31 is no address that SIMD code can count on.
#ifdef __CUDACC__
using Index = MN_INDEX;
#else
using Index = int64_t;
#endif
/// The same, of elements of which neighbours are loaded or stored at once: of
/// Bf16 a GPU's compiler sees that they are adjacent only by 64 bits.
using Offset = int64_t;
} // namespace mn

#ifdef __CUDACC__
#define MN_HOST 0
#define MN_FN __device__ __forceinline__
#else
#define MN_HOST 1
#define MN_FN inline
#include "mnistrt/model.h"
#endif

#include "mnistrt/math.h"
#include "mnistrt/philox.h"

#if defined(__CUDACC__) || defined(MN_TARGET_CUDA)
#include "mnistrt/cuda/kernels.h"
#else
#include "mnistrt/cpu/kernels.h"
#endif

#if MN_HOST
#if defined(MN_TARGET_CUDA)
#include "mnistrt/cuda/libraries.h"
#else
#include "mnistrt/cpu/libraries.h"
#endif
#endif

// A large file is compiled in two parts at the same time. Both have the whole
// text; MN_PART=1 makes code of the first part's steps and of the tables, and
// takes the other steps from MN_PART=2; of a GPU's kernels each makes code of
// its own. Without it the file is one part.
#if !defined(MN_PART)
#define MN_PART 0
#endif
#define MN_IN_PART(part) (MN_PART == 0 || MN_PART == (part))
#define MN_STEP(part) MN_STEP_##part
#define MN_STEP_1 static
#if MN_PART == 0
#define MN_STEP_2 static
#elif MN_PART == 1
#define MN_STEP_2 extern inline __attribute__((gnu_inline))
#else
#define MN_STEP_2
#endif

#if MN_HOST && defined(MN_LIBRARY) && MN_PART <= 1
// A library's only symbol: digits_model, as its header declares it.
struct mn_compiled_model;
namespace mn {
const mn_compiled_model *compiledModel();
} // namespace mn
extern "C" __attribute__((visibility("default"))) const mn_compiled_model *
MN_LIBRARY(void) {
  return mn::compiledModel();
}
#endif

#endif // MNISTRT_GENERATED_H
