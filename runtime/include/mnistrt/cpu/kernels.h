//===- kernels.h - the kinds of step on the CPU -----------------*- C++ -*-===//
//
// The calls of docs/generated-code.md as loops over a functor, and the kernel
// macros, which mean nothing here. A macro's last argument may hold commas.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CPU_KERNELS_H
#define MNISTRT_CPU_KERNELS_H

#include "mnistrt/cpu/conv.h"
#include "mnistrt/cpu/matmul.h"
#include "mnistrt/cpu/pointwise.h"
#include "mnistrt/cpu/pool.h"
#include "mnistrt/cpu/pool_grad.h"
#include "mnistrt/cpu/reduce.h"
#include "mnistrt/cpu/rows.h"

// The executor fetches batches, and copies inputs and outputs.
#define MN_NEXT_BATCH_KERNEL
#define MN_TRANSFER_KERNEL

#endif // MNISTRT_CPU_KERNELS_H
