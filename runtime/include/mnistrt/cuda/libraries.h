//===- libraries.h - the library calls of a CUDA program --------*- C++ -*-===//
//
// Steps on cuBLASLt and cuDNN, in true fp32, or on the tensor cores that the
// shape's schedule names: tf32, and for matmul bf16. All tensors are of floats
// but the operands of matmul in bf16, which may be rounded, and then its
// result, and all of convolutions in bf16, which are; sums are in f32. The
// first call of a step chooses an algorithm and keeps it for the step; later
// ones only enqueue it. What goes wrong is kept in the context and reported,
// with the step's name, by who runs the steps.
// runtime/cuda/{cublas,cudnn,nccl}.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_LIBRARIES_H
#define MNISTRT_CUDA_LIBRARIES_H

#include "mnistrt/bf16.h"
#include "mnistrt/model.h"
#include "mnistrt/shapes.h"

namespace mn {

namespace cublas {
/// y = act(a b + bias + residual); the bias is one number a column.
void matmul(Context &ctx, float *y, const float *a, const float *b,
            const Matmul &s, const Epilogue &epilogue = {});
void matmul(Context &ctx, float *y, const Bf16 *a, const Bf16 *b,
            const Matmul &s, const Epilogue &epilogue = {});
/// y = a b, rounded.
void matmul(Context &ctx, Bf16 *y, const Bf16 *a, const Bf16 *b,
            const Matmul &s);
} // namespace cublas

namespace cudnn {
/// y = act(conv(x, w) + bias + residual); the bias is one number a channel.
void conv(Context &ctx, float *y, const float *x, const float *w, const Conv &s,
          const Epilogue &epilogue = {});
void convInputGrad(Context &ctx, float *dx, const float *dy, const float *w,
                   const Conv &s);
void convFilterGrad(Context &ctx, float *dw, const float *x, const float *dy,
                    const Conv &s);

void conv(Context &ctx, Bf16 *y, const Bf16 *x, const Bf16 *w, const Conv &s);
void convInputGrad(Context &ctx, Bf16 *dx, const Bf16 *dy, const Bf16 *w,
                   const Conv &s);
void convFilterGrad(Context &ctx, Bf16 *dw, const Bf16 *x, const Bf16 *dy,
                    const Conv &s);
} // namespace cudnn

namespace nccl {
/// The sum over all ranks of `count` elements, in place.
void allReduce(Context &ctx, float *x, int64_t count);
void allReduce(Context &ctx, double *x, int64_t count);
} // namespace nccl

} // namespace mn

#endif // MNISTRT_CUDA_LIBRARIES_H
