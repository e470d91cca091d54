//===- rounded-shapes.h - of what is bf16 in memory -------------*- C++ -*-===//
//
// Rows as in shapes.h.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_TEST_GPU_ROUNDED_SHAPES_H
#define MNISTC_TEST_GPU_ROUNDED_SHAPES_H

#include "shapes.h"

// clang-format off

// That cuDNN computes in bf16.
#define MN_TEST_ROUNDED_CONVS(X)                                               \
  X(rounded_conv, mn::Conv{.layout=MN_C, .batch=9, .inChannels=64, .outChannels=128, \
    .in={14,15,1}, .kernel={3,3,1}, .out={14,15,1}, .pads={1,1,0},              \
    .padsAfter={1,1,0}, .schedule={.mma=mn::Mma::bf16}})                       \
  X(rounded_strided, mn::Conv{.layout=MN_C, .batch=5, .inChannels=128, .outChannels=72, \
    .in={14,14,1}, .kernel={7,7,1}, .out={7,7,1}, .strides={2,2,1}, .pads={3,3,0}, \
    .padsAfter={2,2,0}, .schedule={.mma=mn::Mma::bf16}})                       \
  X(rounded_inside, mn::Conv{.layout=MN_C, .batch=3, .inChannels=67, .outChannels=64, \
    .in={12,11,1}, .kernel={5,3,1}, .out={8,9,1}, .schedule={.mma=mn::Mma::bf16}})

// In eights, in fours, and with rows and places along k left over.
#define MN_TEST_ROUNDED_MATMULS(X)                                                             \
  X(eights_lines, tiled(mn::Matmul{.batch=2, .m=136, .n=88, .k=176, .transposedA=true},        \
                        {mn::Mma::bf16, {64, 64, 32}, {4, 1}, 2}))                             \
  X(eights_turned, tiled(mn::Matmul{.m=136, .n=152, .k=400, .transposedA=true},                \
                         {mn::Mma::bf16, {32, 64, 64}, {1, 4}, 1}))                            \
  X(eights_chunks, tiled(mn::Matmul{.m=75, .n=99, .k=216, .transposedB=true},                  \
                         {mn::Mma::bf16, {64, 32, 64}, {4, 1}, 2}))                            \
  X(eights_warps, tiled(mn::Matmul{.m=75, .n=88, .k=216}, {mn::Mma::bf16, {64, 64, 32}, {2, 2}, 1})) \
  X(fours_lines, tiled(mn::Matmul{.m=100, .n=76, .k=92, .transposedA=true},                    \
                       {mn::Mma::bf16, {64, 64, 32}, {4, 1}, 1}))                              \
  X(fours_chunks, tiled(mn::Matmul{.m=100, .n=77, .k=92, .transposedB=true},                   \
                        {mn::Mma::bf16, {64, 64, 16}, {4, 1}, 1}))

// clang-format on

#endif // MNISTC_TEST_GPU_ROUNDED_SHAPES_H
