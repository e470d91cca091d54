//===- kernels.h - the kinds of step on a GPU -------------------*- C++ -*-===//
//
// The calls of docs/generated-code.md and the macros after a functor. For the
// host compiler the calls launch kernels by name; for NVRTC the macros define
// them. Each file in kernels/ says both about one kind of step.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_H
#define MNISTRT_CUDA_KERNELS_H

#include "mnistrt/cuda/kernels/batch.cuh"
#include "mnistrt/cuda/kernels/chain.cuh"
#include "mnistrt/cuda/kernels/conv.cuh"
#include "mnistrt/cuda/kernels/conv_filter_grad.cuh"
#include "mnistrt/cuda/kernels/conv_input_grad.cuh"
#include "mnistrt/cuda/kernels/matmul.cuh"
#include "mnistrt/cuda/kernels/pointwise.cuh"
#include "mnistrt/cuda/kernels/pool.cuh"
#include "mnistrt/cuda/kernels/reduce.cuh"
#include "mnistrt/cuda/kernels/rows.cuh"
#include "mnistrt/cuda/kernels/segments.cuh"
#include "mnistrt/cuda/kernels/softmax.cuh"
#include "mnistrt/cuda/kernels/transfer.cuh"

#endif // MNISTRT_CUDA_KERNELS_H
