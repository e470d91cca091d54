//===- shapes.h - the shapes that kernels are tested on ---------*- C++ -*-===//
//
// One row a test, X(name, shape): every row becomes kernels and library calls,
// each checked against loops on the CPU. `_big` rows are timed as well.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_TEST_GPU_SHAPES_H
#define MNISTC_TEST_GPU_SHAPES_H

#include "mnistrt/cuda/launch.h"

template <typename S> MN_SHAPE_FN S tiled(S s, mn::ProductSchedule how) {
  s.schedule = how;
  return s;
}
template <typename S> MN_SHAPE_FN S scheduled(S s, mn::Mma mma) {
  return tiled(s, {.mma = mma});
}

#define MN_N mn::Layout::nchw
#define MN_C mn::Layout::nhwc

// clang-format off
#define MN_TEST_CONVS(X)                                                                       \
  X(conv1_64_big, mn::Conv{.batch=64, .inChannels=1, .outChannels=32, .in={28,28,1},           \
    .kernel={3,3,1}, .out={28,28,1}, .pads={1,1,0}, .padsAfter={1,1,0}})                       \
  X(conv2_64_big, mn::Conv{.batch=64, .inChannels=32, .outChannels=64, .in={14,14,1},          \
    .kernel={3,3,1}, .out={14,14,1}, .pads={1,1,0}, .padsAfter={1,1,0}})                       \
  X(conv2_64_nhwc_big, mn::Conv{.layout=MN_C, .batch=64, .inChannels=32, .outChannels=64,      \
    .in={14,14,1}, .kernel={3,3,1}, .out={14,14,1}, .pads={1,1,0}, .padsAfter={1,1,0}})        \
  X(conv1_1_big, mn::Conv{.batch=1, .inChannels=1, .outChannels=32, .in={28,28,1},             \
    .kernel={3,3,1}, .out={28,28,1}, .pads={1,1,0}, .padsAfter={1,1,0}})                       \
  X(conv2_1_big, mn::Conv{.batch=1, .inChannels=32, .outChannels=64, .in={14,14,1},            \
    .kernel={3,3,1}, .out={14,14,1}, .pads={1,1,0}, .padsAfter={1,1,0}})                       \
  X(conv1_1024_big, mn::Conv{.batch=1024, .inChannels=1, .outChannels=32, .in={28,28,1},       \
    .kernel={3,3,1}, .out={28,28,1}, .pads={1,1,0}, .padsAfter={1,1,0}})                       \
  X(conv2_1024_big, mn::Conv{.batch=1024, .inChannels=32, .outChannels=64, .in={14,14,1},      \
    .kernel={3,3,1}, .out={14,14,1}, .pads={1,1,0}, .padsAfter={1,1,0}})                       \
  X(strided, mn::Conv{.batch=3, .inChannels=5, .outChannels=7, .in={13,11,1}, .kernel={3,2,1}, \
    .out={7,4,1}, .strides={2,3,1}, .pads={1,0,0}, .padsAfter={1,1,0}})                        \
  X(strided_nhwc, mn::Conv{.layout=MN_C, .batch=3, .inChannels=5, .outChannels=7,              \
    .in={13,11,1}, .kernel={3,2,1}, .out={7,4,1}, .strides={2,3,1}, .pads={1,0,0},             \
    .padsAfter={1,1,0}})                                                                       \
  X(groups, mn::Conv{.batch=2, .inChannels=6, .outChannels=9, .groups=3, .in={9,9,1},          \
    .kernel={3,3,1}, .out={7,7,1}})                                                            \
  X(groups_nhwc, mn::Conv{.layout=MN_C, .batch=2, .inChannels=6, .outChannels=9, .groups=3,    \
    .in={9,9,1}, .kernel={3,3,1}, .out={7,7,1}})                                               \
  X(depthwise, mn::Conv{.batch=2, .inChannels=16, .outChannels=16, .groups=16, .in={8,8,1},    \
    .kernel={3,3,1}, .out={8,8,1}, .pads={1,1,0}, .padsAfter={1,1,0}})                         \
  X(dilated, mn::Conv{.batch=2, .inChannels=4, .outChannels=8, .in={12,10,1}, .kernel={3,3,1}, \
    .out={8,8,1}, .pads={0,2,0}, .padsAfter={0,0,0}, .dilations={2,2,1}})                      \
  X(uneven_pads, mn::Conv{.batch=2, .inChannels=3, .outChannels=4, .in={7,7,1},                \
    .kernel={4,4,1}, .out={7,7,1}, .pads={1,2,0}, .padsAfter={2,1,0}})                         \
  X(one_dim, mn::Conv{.spatial=1, .batch=4, .inChannels=3, .outChannels=6, .in={50,1,1},       \
    .kernel={5,1,1}, .out={25,1,1}, .strides={2,1,1}, .pads={2,0,0}, .padsAfter={2,0,0}})      \
  X(long_filters, mn::Conv{.spatial=1, .batch=2, .inChannels=4, .outChannels=4, .groups=4,     \
    .in={45,1,1}, .kernel={41,1,1}, .out={45,1,1}, .pads={20,0,0}, .padsAfter={20,0,0}})       \
  X(tall_filters, mn::Conv{.batch=2, .inChannels=1, .outChannels=3, .in={45,5,1},              \
    .kernel={35,1,1}, .out={45,5,1}, .pads={17,0,0}, .padsAfter={17,0,0}})                     \
  X(far_apart, mn::Conv{.batch=2, .inChannels=2, .outChannels=3, .in={44,6,1},                 \
    .kernel={3,3,1}, .out={44,6,1}, .pads={18,1,0}, .padsAfter={18,1,0}, .dilations={18,1,1}}) \
  X(farther_apart, mn::Conv{.batch=2, .inChannels=2, .outChannels=3, .in={80,6,1},             \
    .kernel={3,3,1}, .out={80,6,1}, .pads={33,1,0}, .padsAfter={33,1,0}, .dilations={33,1,1}}) \
  X(three_dim, mn::Conv{.spatial=3, .batch=2, .inChannels=3, .outChannels=4, .in={5,6,7},      \
    .kernel={2,3,3}, .out={4,6,4}, .strides={1,1,2}, .pads={0,1,1}, .padsAfter={0,1,1}})       \
  X(three_dim_nhwc, mn::Conv{.layout=MN_C, .spatial=3, .batch=2, .inChannels=3,                \
    .outChannels=4, .in={5,6,7}, .kernel={2,3,3}, .out={4,6,4}, .strides={1,1,2},              \
    .pads={0,1,1}, .padsAfter={0,1,1}})                                                        \
  X(net1_64_big, mn::Conv{.batch=64, .inChannels=1, .outChannels=32, .in={28,28,1},            \
    .kernel={3,3,1}, .out={26,26,1}})                                                          \
  X(lenet1_64_big, mn::Conv{.batch=64, .inChannels=1, .outChannels=20, .in={28,28,1},          \
    .kernel={5,5,1}, .out={24,24,1}})                                                          \
  X(colors_64_big, mn::Conv{.batch=64, .inChannels=3, .outChannels=32, .in={32,32,1},          \
    .kernel={3,3,1}, .out={32,32,1}, .pads={1,1,0}, .padsAfter={1,1,0}})                       \
  X(depthwise_64_big, mn::Conv{.batch=64, .inChannels=96, .outChannels=96, .groups=96,         \
    .in={14,14,1}, .kernel={3,3,1}, .out={14,14,1}, .pads={1,1,0}, .padsAfter={1,1,0}})        \
  X(depthwise_nhwc, mn::Conv{.layout=MN_C, .batch=6, .inChannels=24, .outChannels=48,          \
    .groups=24, .in={9,11,1}, .kernel={3,3,1}, .out={5,6,1}, .strides={2,2,1}, .pads={1,1,0},  \
    .padsAfter={1,1,0}})                                                                       \
  X(first_nhwc, mn::Conv{.layout=MN_C, .batch=70, .inChannels=1, .outChannels=32,              \
    .in={16,12,1}, .kernel={3,3,1}, .out={16,12,1}, .pads={1,1,0}, .padsAfter={1,1,0}})        \
  X(first_nhwc_odd, mn::Conv{.layout=MN_C, .batch=9, .inChannels=1, .outChannels=13,           \
    .in={13,11,1}, .kernel={5,4,1}, .out={5,4,1}, .strides={2,2,1}})                           \
  X(one_result, mn::Conv{.batch=3, .inChannels=14, .outChannels=1, .in={12,10,1},              \
    .kernel={3,3,1}, .out={8,6,1}, .dilations={2,2,1}})                                        \
  X(few_odd, mn::Conv{.batch=37, .inChannels=4, .outChannels=14, .groups=2, .in={33,31,1},     \
    .kernel={3,4,1}, .out={17,28,1}, .strides={2,1,1}, .pads={1,0,0}, .padsAfter={1,0,0}})     \
  X(seven_by_seven, mn::Conv{.batch=9, .inChannels=1, .outChannels=5, .in={33,29,1},           \
    .kernel={7,7,1}, .out={33,29,1}, .pads={3,3,0}, .padsAfter={3,3,0}})                       \
  X(patch_inside, mn::Conv{.batch=150, .inChannels=24, .outChannels=40, .in={9,12,1},             \
    .kernel={3,2,1}, .out={7,11,1}})                                                           \
  X(patch_five, mn::Conv{.batch=50, .inChannels=20, .outChannels=50, .in={12,11,1},             \
    .kernel={5,4,1}, .out={12,11,1}, .pads={2,1,0}, .padsAfter={2,2,0}})                       \
  X(patch_dilated_nhwc, mn::Conv{.layout=MN_C, .batch=90, .inChannels=19, .outChannels=33,      \
    .in={10,9,1}, .kernel={3,3,1}, .out={9,9,1}, .pads={1,2,0}, .padsAfter={2,2,0},            \
    .dilations={2,2,1}})                                                                       \
  X(patch_squares, mn::Conv{.batch=21, .inChannels=12, .outChannels=20, .in={8,16,1},          \
    .kernel={3,2,1}, .out={8,16,1}, .pads={2,1,0}, .padsAfter={2,2,0}, .dilations={2,3,1}})    \
  X(patch_three_dim, mn::Conv{.spatial=3, .batch=40, .inChannels=16, .outChannels=24,           \
    .in={5,6,7}, .kernel={2,3,3}, .out={4,6,7}, .pads={0,1,1}, .padsAfter={0,1,1}})            \
  X(patch_many, mn::Conv{.batch=70, .inChannels=64, .outChannels=130, .in={8,8,1},             \
    .kernel={3,3,1}, .out={8,8,1}, .pads={1,1,0}, .padsAfter={1,1,0}})                         \
  X(phases_patch, mn::Conv{.batch=300, .inChannels=32, .outChannels=64, .in={15,14,1},         \
    .kernel={3,3,1}, .out={8,7,1}, .strides={2,2,1}, .pads={1,1,0}, .padsAfter={1,1,0}})       \
  X(phases_few, mn::Conv{.batch=40, .inChannels=3, .outChannels=24, .in={17,19,1},             \
    .kernel={5,7,1}, .out={9,7,1}, .strides={2,3,1}, .pads={2,3,0}, .padsAfter={2,3,0}})       \
  X(columns_grouped, mn::Conv{.batch=30, .inChannels=48, .outChannels=8, .groups=4,            \
    .in={13,16,1}, .kernel={4,4,1}, .out={10,13,1}})                                           \
  X(columns_seven, mn::Conv{.batch=16, .inChannels=32, .outChannels=6, .in={20,21,1},          \
    .kernel={7,7,1}, .out={20,21,1}, .pads={3,3,0}, .padsAfter={3,3,0}})                       \
  X(columns_three_dim, mn::Conv{.spatial=3, .batch=90, .inChannels=20, .outChannels=5,         \
    .in={5,6,9}, .kernel={2,3,3}, .out={4,3,9}, .strides={1,2,1}, .pads={0,1,1},               \
    .padsAfter={0,1,1}})                                                                       \
  X(columns_dilated, mn::Conv{.batch=110, .inChannels=30, .outChannels=3, .in={14,13,1},       \
    .kernel={3,3,1}, .out={12,11,1}, .pads={1,1,0}, .padsAfter={1,1,0}, .dilations={2,2,1}})   \
  X(pointwise, mn::Conv{.batch=2, .inChannels=20, .outChannels=33, .in={5,5,1}, .out={5,5,1}}) \
  X(pointwise_fours, mn::Conv{.batch=13, .inChannels=40, .outChannels=72, .groups=2,           \
    .in={4,7,1}, .out={4,7,1}})                                                                \
  X(pointwise_nhwc, mn::Conv{.layout=MN_C, .batch=9, .inChannels=40, .outChannels=72,          \
    .in={5,7,1}, .out={5,7,1}})

#define MN_TEST_POOLS(X)                                                                       \
  X(pool_64_big, mn::Pool{.batch=64, .channels=32, .in={28,28,1}, .kernel={2,2,1},             \
    .out={14,14,1}, .strides={2,2,1}})                                                         \
  X(pool_64_nhwc_big, mn::Pool{.layout=MN_C, .batch=64, .channels=32, .in={28,28,1},           \
    .kernel={2,2,1}, .out={14,14,1}, .strides={2,2,1}})                                        \
  X(pool_1024_big, mn::Pool{.batch=1024, .channels=32, .in={28,28,1}, .kernel={2,2,1},         \
    .out={14,14,1}, .strides={2,2,1}})                                                         \
  X(padded, mn::Pool{.batch=2, .channels=3, .in={7,9,1}, .kernel={3,3,1}, .out={4,5,1},        \
    .strides={2,2,1}, .pads={1,1,0}, .padsAfter={1,1,0}, .countPads=true})                     \
  X(padded_nhwc, mn::Pool{.layout=MN_C, .batch=2, .channels=3, .in={7,9,1}, .kernel={3,3,1},   \
    .out={4,5,1}, .strides={2,2,1}, .pads={1,1,0}, .padsAfter={1,1,0}})                        \
  X(ceiled, mn::Pool{.batch=2, .channels=3, .in={8,8,1}, .kernel={3,3,1}, .out={4,4,1},        \
    .strides={2,2,1}, .countPads=true})                                                        \
  X(ceiled_pads, mn::Pool{.batch=2, .channels=3, .in={7,7,1}, .kernel={2,2,1}, .out={5,5,1},   \
    .strides={2,2,1}, .pads={1,1,0}, .padsAfter={1,1,0}, .countPads=true})                     \
  X(overlapping, mn::Pool{.batch=2, .channels=2, .in={9,9,1}, .kernel={3,3,1}, .out={7,7,1},   \
    .columnMajor=true})                                                                        \
  X(dilated_pool, mn::Pool{.batch=2, .channels=2, .in={10,10,1}, .kernel={2,3,1},              \
    .out={8,6,1}, .dilations={2,2,1}})                                                         \
  X(pool_one_dim, mn::Pool{.spatial=1, .batch=3, .channels=4, .in={17,1,1}, .kernel={3,1,1},   \
    .out={8,1,1}, .strides={2,1,1}})                                                           \
  X(pool_three_dim, mn::Pool{.spatial=3, .batch=2, .channels=2, .in={4,5,6}, .kernel={2,2,3},  \
    .out={3,4,2}, .strides={1,1,3}})                                                           \
  X(pool_planes, mn::Pool{.batch=61, .channels=16, .in={13,12,1}, .kernel={3,3,1},             \
    .out={7,6,1}, .strides={2,2,1}, .pads={1,1,0}, .padsAfter={1,1,0}})                        \
  X(pool_planes_wide, mn::Pool{.batch=9, .channels=15, .in={19,33,1}, .kernel={5,4,1},         \
    .out={10,16,1}, .strides={2,2,1}, .pads={2,1,0}, .padsAfter={2,1,0}, .countPads=true})     \
  X(pool_teams, mn::Pool{.batch=3, .channels=11, .in={23,20,1}, .kernel={7,5,1},               \
    .out={6,5,1}, .strides={4,4,1}, .pads={3,1,0}, .padsAfter={3,1,0}})                        \
  X(pool_teams_three_dim, mn::Pool{.spatial=3, .batch=1, .channels=3, .in={6,7,8},             \
    .kernel={5,6,7}, .out={2,1,2}, .strides={1,2,1}})

#define MN_TEST_MATMULS(X)                                                                     \
  X(fc1_64_big, mn::Matmul{.m=64, .n=128, .k=3136, .transposedB=true})                         \
  X(fc2_64_big, mn::Matmul{.m=64, .n=10, .k=128, .transposedB=true})                           \
  X(fc1_1_big, mn::Matmul{.m=1, .n=128, .k=3136, .transposedB=true})                           \
  X(fc1_1024_big, mn::Matmul{.m=1024, .n=128, .k=3136, .transposedB=true})                     \
  X(mlp_256_big, mn::Matmul{.m=256, .n=256, .k=784})                                           \
  X(fc1_grad_big, mn::Matmul{.m=128, .n=3136, .k=64, .transposedA=true})                       \
  X(mlp1_256_big, mn::Matmul{.m=256, .n=256, .k=784, .transposedB=true})                       \
  X(mlp1_grad_big, mn::Matmul{.m=256, .n=784, .k=256, .transposedA=true})                      \
  X(mlp2_256_big, mn::Matmul{.m=256, .n=10, .k=256, .transposedB=true})                        \
  X(mlp2_grad_big, mn::Matmul{.m=10, .n=256, .k=256, .transposedA=true})                       \
  X(net_fc1_big, mn::Matmul{.m=64, .n=128, .k=9216, .transposedB=true})                        \
  X(net_fc1_grad_big, mn::Matmul{.m=128, .n=9216, .k=64, .transposedA=true})                   \
  X(net_fc1_input_big, mn::Matmul{.m=64, .n=9216, .k=128})                                     \
  X(odd_split, mn::Matmul{.batch=2, .m=45, .n=77, .k=1003, .transposedA=true})                 \
  X(square_big, mn::Matmul{.m=512, .n=512, .k=512})                                         \
  X(small, mn::Matmul{.m=5, .n=3, .k=7})                                                       \
  X(one, mn::Matmul{.m=1, .n=1, .k=1})                                                         \
  X(both_transposed, mn::Matmul{.m=33, .n=65, .k=129, .transposedA=true, .transposedB=true})   \
  X(left_transposed, mn::Matmul{.m=50, .n=70, .k=30, .transposedA=true})                       \
  X(stacked, mn::Matmul{.batch=6, .m=17, .n=19, .k=23})                                        \
  X(stacked_transposed, mn::Matmul{.batch=3, .m=17, .n=19, .k=200, .transposedB=true})         \
  X(long_sum, mn::Matmul{.m=3, .n=2, .k=10001})                                                \
  X(fours, mn::Matmul{.batch=3, .m=100, .n=76, .k=92})                                         \
  X(fours_transposed, mn::Matmul{.m=140, .n=84, .k=172, .transposedA=true, .transposedB=true})

#define MN_EACH_MMA(X, NAME)                                                                   \
  X(tf32x3_##NAME, scheduled(NAME, mn::Mma::tf32x3))                                           \
  X(tf32_##NAME, scheduled(NAME, mn::Mma::tf32))                                               \
  X(bf16_##NAME, scheduled(NAME, mn::Mma::bf16))

#define MN_TEST_MMA_CONVS(X)                                                                   \
  MN_EACH_MMA(X, conv2_64_big)                                                                 \
  MN_EACH_MMA(X, conv2_64_nhwc_big)                                                            \
  MN_EACH_MMA(X, strided)                                                                      \
  MN_EACH_MMA(X, strided_nhwc)                                                                 \
  MN_EACH_MMA(X, groups)                                                                       \
  MN_EACH_MMA(X, groups_nhwc)                                                                  \
  MN_EACH_MMA(X, dilated)                                                                      \
  MN_EACH_MMA(X, uneven_pads)                                                                  \
  MN_EACH_MMA(X, one_dim)                                                                      \
  MN_EACH_MMA(X, three_dim)                                                                    \
  MN_EACH_MMA(X, three_dim_nhwc)                                                               \
  MN_EACH_MMA(X, one_result)                                                                   \
  MN_EACH_MMA(X, few_odd)                                                                      \
  MN_EACH_MMA(X, patch_inside)                                                                 \
  MN_EACH_MMA(X, patch_five)                                                                   \
  MN_EACH_MMA(X, patch_dilated_nhwc)                                                           \
  MN_EACH_MMA(X, patch_squares)                                                                \
  MN_EACH_MMA(X, patch_three_dim)                                                              \
  MN_EACH_MMA(X, patch_many)                                                                   \
  MN_EACH_MMA(X, phases_patch)                                                                 \
  MN_EACH_MMA(X, phases_few)                                                                   \
  MN_EACH_MMA(X, columns_grouped)                                                              \
  MN_EACH_MMA(X, columns_seven)                                                                \
  MN_EACH_MMA(X, columns_three_dim)                                                            \
  MN_EACH_MMA(X, columns_dilated)                                                              \
  MN_EACH_MMA(X, pointwise)                                                                    \
  MN_EACH_MMA(X, pointwise_fours)                                                              \
  MN_EACH_MMA(X, pointwise_nhwc)

#define MN_TEST_MMA_MATMULS(X)                                                                 \
  MN_EACH_MMA(X, fc1_64_big)                                                                   \
  MN_EACH_MMA(X, fc1_grad_big)                                                                 \
  MN_EACH_MMA(X, fc2_64_big)                                                                   \
  MN_EACH_MMA(X, odd_split)                                                                    \
  MN_EACH_MMA(X, square_big)                                                                   \
  MN_EACH_MMA(X, small)                                                                        \
  MN_EACH_MMA(X, one)                                                                          \
  MN_EACH_MMA(X, both_transposed)                                                              \
  MN_EACH_MMA(X, left_transposed)                                                              \
  MN_EACH_MMA(X, stacked)                                                                      \
  MN_EACH_MMA(X, stacked_transposed)                                                           \
  MN_EACH_MMA(X, long_sum)                                                                     \
  MN_EACH_MMA(X, fours)                                                                        \
  MN_EACH_MMA(X, fours_transposed)                                                             \
  X(tf32x3_fours_wgmma, tiled(fours, {mn::Mma::tf32x3, {64, 64, 32}, {4, 1}, 2}))              \
  X(tf32_fours_turned, tiled(fours_transposed, {mn::Mma::tf32, {128, 64, 16}, {1, 4}, 1}))     \
  X(bf16_fours_tall, tiled(fours_transposed, {mn::Mma::bf16, {128, 64, 32}, {8, 1}, 3}))       \
  X(bf16_fours_lines, tiled(fours, {mn::Mma::bf16, {64, 64, 64}, {4, 1}, 1}))                  \
  X(bf16_lines_turned, tiled(fours_transposed, {mn::Mma::bf16, {64, 64, 16}, {1, 4}, 1}))      \
  X(tf32x3_fours_few, tiled(fours, {mn::Mma::tf32x3, {16, 16, 8}, {1, 1}, 1}))                 \
  X(tf32x3_tile_96, tiled(odd_split, {mn::Mma::tf32x3, {96, 32, 16}, {3, 1}, 1}))              \
  X(tf32_tile_128, tiled(odd_split, {mn::Mma::tf32, {128, 64, 16}, {2, 2}, 2}))                \
  X(bf16_tile_16, tiled(odd_split, {mn::Mma::bf16, {16, 16, 32}, {1, 1}, 16}))                 \
  X(ffma_tile_32, tiled(odd_split, {mn::Mma::ffma, {32, 64, 8}, {4, 1}, 3}))

#define MN_TEST_SOFTMAXES(X)                                                                   \
  X(digits_64_big, mn::Softmax{.outer=64, .size=10})                                           \
  X(digits_log_big, mn::Softmax{.outer=1024, .size=10, .log=true})                             \
  X(warp_row, mn::Softmax{.outer=3, .size=1000})                                               \
  X(block_row, mn::Softmax{.outer=3, .size=5000, .log=true})                                   \
  X(interleaved, mn::Softmax{.outer=3, .size=10, .inner=37})                                   \
  X(rows_of_threes, mn::Softmax{.outer=140003, .size=3})                                       \
  X(rows_of_threes_log, mn::Softmax{.outer=70001, .size=3, .log=true})                         \
  X(single, mn::Softmax{.outer=2, .size=1})

/// Of the reductions, those that are done as rows, too.
#define MN_TEST_ROWS(X)                                                                        \
  X(layer) X(layer_128) X(many_fours)                                                          \
  X(bias_big) X(net_bias2_big) X(simple_bias1_big) X(fc_bias_big) X(columns_big) X(rows_big)   \
  X(loss) X(whole) X(few_columns) X(pairs) X(odd_runs) X(short_runs) X(many_odd)               \
  X(pairs_apart) X(middle) X(head) X(head_250) X(head_1000) X(classes) X(two_long)             \
  X(sevens) X(sevens_long) X(runs_of_33) X(columns_64) X(columns_100)

/// Rows in which random numbers are drawn: short ones, and long ones that are not kept.
#define MN_TEST_DRAWN_ROWS(X)                                                                  \
  X(layer) X(layer_128) X(many_fours) X(long_fours) X(fc_bias_big) X(few_columns) X(whole)     \
  X(odd_runs) X(loss) X(sevens) X(sevens_long) X(runs_of_33) X(columns_100)

#define MN_TEST_REDUCES(X)                                                                     \
  X(bias_big, mn::Reduce{.outputs=32, .size=50176, .contiguous=true})                          \
  X(net_bias1_big, mn::Reduce{.outputs=32, .size=43264, .contiguous=false, .run=676})          \
  X(net_bias2_big, mn::Reduce{.outputs=64, .size=36864, .contiguous=false, .run=576})          \
  X(simple_bias1_big, mn::Reduce{.outputs=32, .size=50176, .contiguous=false, .run=784})       \
  X(simple_bias2_big, mn::Reduce{.outputs=64, .size=12544, .contiguous=false, .run=196})       \
  X(fc_bias_big, mn::Reduce{.outputs=256, .size=256, .contiguous=false})                       \
  X(columns_big, mn::Reduce{.outputs=128, .size=1024, .contiguous=false})                      \
  X(rows_big, mn::Reduce{.outputs=10000, .size=10, .contiguous=true})                          \
  X(loss, mn::Reduce{.outputs=1, .size=64, .contiguous=true})                                  \
  X(whole, mn::Reduce{.outputs=1, .size=1000003, .contiguous=true})                            \
  X(few_columns, mn::Reduce{.outputs=10, .size=70001, .contiguous=false})                      \
  X(pairs, mn::Reduce{.outputs=1000, .size=2, .contiguous=true})                               \
  X(odd_runs, mn::Reduce{.outputs=7, .size=9471, .contiguous=false, .run=11})                  \
  X(short_runs, mn::Reduce{.outputs=101, .size=3003, .contiguous=false, .run=3})               \
  X(many_odd, mn::Reduce{.outputs=4301, .size=37, .contiguous=false})                          \
  X(pairs_apart, mn::Reduce{.outputs=1000, .size=2, .contiguous=false})                        \
  X(middle, mn::Reduce{.outputs=77, .size=50, .contiguous=false})                              \
  X(head, mn::Reduce{.outputs=64, .size=10, .contiguous=true})                                 \
  X(head_250, mn::Reduce{.outputs=250, .size=10, .contiguous=true})                            \
  X(head_1000, mn::Reduce{.outputs=1000, .size=10, .contiguous=true})                          \
  X(classes, mn::Reduce{.outputs=64, .size=1000, .contiguous=true})                            \
  X(layer, mn::Reduce{.outputs=1088, .size=64, .contiguous=true})                              \
  X(layer_128, mn::Reduce{.outputs=33, .size=132, .contiguous=true})                           \
  X(many_fours, mn::Reduce{.outputs=20, .size=36864, .contiguous=false, .run=12})              \
  X(long_fours, mn::Reduce{.outputs=2, .size=240000, .contiguous=false, .run=48})              \
  X(two_long, mn::Reduce{.outputs=2, .size=16000, .contiguous=true})                           \
  X(sevens, mn::Reduce{.outputs=12, .size=490, .contiguous=false, .run=49})                    \
  X(sevens_long, mn::Reduce{.outputs=20, .size=25088, .contiguous=false, .run=49})             \
  X(runs_of_33, mn::Reduce{.outputs=6, .size=462, .contiguous=false, .run=33})                 \
  X(columns_64, mn::Reduce{.outputs=64, .size=8450, .contiguous=false})                        \
  X(columns_100, mn::Reduce{.outputs=100, .size=5500, .contiguous=false})                      \
  X(no_elements, mn::Reduce{.outputs=5, .size=0, .contiguous=true})
// clang-format on

#endif // MNISTC_TEST_GPU_SHAPES_H
