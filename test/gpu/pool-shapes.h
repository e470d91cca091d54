//===- pool-shapes.h - shapes of pools that join convolutions ---*- C++ -*-===//
//
// Rows as in shapes.h.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_TEST_GPU_POOL_SHAPES_H
#define MNISTC_TEST_GPU_POOL_SHAPES_H

#include "shapes.h"

// clang-format off
// Convolutions with a pool: by columns, with pixels that are kept and channels that are split, and by
// patches; with rows that are left over, and windows that hang over.
#define MN_TEST_POOLED_CONVS(X)                                                                \
  X(pooled_first, mn::Conv{.batch=64, .inChannels=1, .outChannels=32, .in={28,28,1},           \
    .kernel={3,3,1}, .out={28,28,1}, .pads={1,1,0}, .padsAfter={1,1,0},                        \
    .pool={.kernel={2,2,1}, .out={14,14,1}}})                                                  \
  X(pooled_alone, mn::Conv{.batch=1, .inChannels=32, .outChannels=64, .in={14,14,1},           \
    .kernel={3,3,1}, .out={14,14,1}, .pads={1,1,0}, .padsAfter={1,1,0},                        \
    .pool={.kernel={2,2,1}, .out={7,7,1}}})                                                    \
  X(pooled_left_over, mn::Conv{.batch=5, .inChannels=6, .outChannels=10, .in={14,12,1},        \
    .kernel={2,2,1}, .out={13,11,1}, .pool={.kernel={2,2,1}, .out={6,5,1}}})                   \
  X(pooled_over, mn::Conv{.batch=5, .inChannels=6, .outChannels=10, .in={14,12,1},             \
    .kernel={2,2,1}, .out={13,11,1}, .pool={.kernel={2,2,1}, .out={7,6,1}}})                   \
  X(pooled_grouped, mn::Conv{.batch=9, .inChannels=32, .outChannels=48, .groups=2,             \
    .in={11,11,1}, .kernel={3,3,1}, .out={6,6,1}, .strides={2,2,1}, .pads={1,1,0},             \
    .padsAfter={1,1,0}, .pool={.kernel={1,4,1}, .out={6,1,1}}})                                \
  X(pooled_threes, mn::Conv{.batch=7, .inChannels=2, .outChannels=10, .in={14,16,1},           \
    .kernel={3,3,1}, .out={14,16,1}, .pads={1,1,0}, .padsAfter={1,1,0},                        \
    .pool={.kernel={3,3,1}, .out={5,6,1}}})                                                    \
  X(pooled_strided, mn::Conv{.batch=5, .inChannels=1, .outChannels=20, .in={17,19,1},          \
    .kernel={5,5,1}, .out={7,8,1}, .strides={2,2,1}, .pool={.kernel={2,2,1}, .out={4,4,1}}})   \
  X(pooled_few_grouped, mn::Conv{.batch=6, .inChannels=4, .outChannels=36, .groups=2,          \
    .in={13,12,1}, .kernel={3,3,1}, .out={11,12,1}, .pads={1,1,0}, .padsAfter={1,1,0},         \
    .dilations={2,1,1}, .pool={.kernel={2,2,1}, .out={5,6,1}}})                                \
  X(pooled_wide, tiled(pooled_few_grouped, {.way = mn::Way::columns, .height = 2,              \
    .width = 32}))                                                                             \
  X(pooled_cores, scheduled(mn::Conv{.batch=64, .inChannels=32, .outChannels=64,               \
    .in={14,14,1}, .kernel={3,3,1}, .out={14,14,1}, .pads={1,1,0}, .padsAfter={1,1,0},         \
    .pool={.kernel={2,2,1}, .out={7,7,1}}}, mn::Mma::tf32x3))                                  \
  X(pooled_tf32, scheduled(mn::Conv{.batch=13, .inChannels=20, .outChannels=50,                \
    .in={12,12,1}, .kernel={5,5,1}, .out={8,8,1}, .pool={.kernel={2,2,1}, .out={4,4,1}}},      \
    mn::Mma::tf32))                                                                            \
  X(pooled_bf16, scheduled(mn::Conv{.batch=33, .inChannels=24, .outChannels=36,                \
    .in={11,13,1}, .kernel={3,3,1}, .out={11,13,1}, .pads={1,1,0}, .padsAfter={1,1,0},         \
    .pool={.kernel={3,3,1}, .out={4,5,1}}}, mn::Mma::bf16))                                    \
  X(pooled_odd, scheduled(mn::Conv{.batch=70, .inChannels=40, .outChannels=33,                 \
    .in={9,7,1}, .kernel={3,3,1}, .out={9,7,1}, .pads={1,1,0}, .padsAfter={1,1,0},             \
    .pool={.kernel={3,2,1}, .out={3,3,1}}}, mn::Mma::tf32x3))                                  \
  X(pooled_nhwc, scheduled(mn::Conv{.layout=MN_C, .batch=40, .inChannels=32,                   \
    .outChannels=64, .in={15,14,1}, .kernel={3,3,1}, .out={15,14,1}, .pads={1,1,0},            \
    .padsAfter={1,1,0}, .pool={.kernel={2,2,1}, .out={7,7,1}}}, mn::Mma::tf32x3))  \
  X(pooled_split, tiled(pooled_odd, {.mma = mn::Mma::tf32x3, .split = 4,                       \
    .way = mn::Way::patches, .width = 48}))                                                    \
  X(pooled_share, tiled(mn::Conv{.batch=3, .inChannels=12, .outChannels=40, .in={8,8,1},        \
    .kernel={3,3,1}, .out={8,8,1}, .pads={1,1,0}, .padsAfter={1,1,0},                          \
    .pool={.kernel={2,2,1}, .out={4,4,1}}}, {.mma = mn::Mma::tf32x3, .split = 2,               \
    .way = mn::Way::patches, .width = 16}))                                                    \
  X(pooled_nhwc_split, tiled(pooled_nhwc, {.mma = mn::Mma::tf32x3, .split = 2,                 \
    .way = mn::Way::patches, .width = 64}))                                                   \
  X(pooled_strips, tiled(mn::Conv{.batch=3, .inChannels=12, .outChannels=126, .in={14,14,1},    \
    .kernel={3,3,1}, .out={14,14,1}, .pads={1,1,0}, .padsAfter={1,1,0},                        \
    .pool={.kernel={2,2,1}, .out={7,7,1}}}, {.mma = mn::Mma::tf32, .way = mn::Way::patches,    \
    .height = 14, .width = 128}))                                                              \
  X(pooled_strips_rows, tiled(mn::Conv{.batch=3, .inChannels=20, .outChannels=40,              \
    .in={10,26,1}, .kernel={3,3,1}, .out={8,24,1}, .pool={.kernel={2,2,1}, .out={4,12,1}}},    \
    {.mma = mn::Mma::bf16, .way = mn::Way::patches, .height = 4, .width = 64}))                \
  X(pooled_strips_alone, tiled(mn::Conv{.batch=2, .inChannels=20, .outChannels=40,             \
    .in={20,26,1}, .kernel={3,3,1}, .out={18,24,1}, .pool={.kernel={2,2,1}, .out={9,12,1}}},   \
    {.mma = mn::Mma::tf32, .way = mn::Way::patches, .height = 18, .width = 64}))               \
  X(pooled_strips_over, tiled(pooled_odd, {.mma = mn::Mma::bf16, .way = mn::Way::patches,      \
    .height = 24, .width = 64}))                                                               \
  X(pooled_strips_nhwc, tiled(pooled_nhwc, {.mma = mn::Mma::tf32, .way = mn::Way::patches,     \
    .height = 8, .width = 64}))                                                                \
  X(pooled_long_rows, tiled(mn::Conv{.batch=3, .inChannels=16, .outChannels=24,                \
    .in={9,70,1}, .kernel={3,3,1}, .out={9,70,1}, .pads={1,1,0}, .padsAfter={1,1,0},           \
    .pool={.kernel={2,2,1}, .out={4,35,1}}}, {.mma = mn::Mma::tf32x3,                          \
    .way = mn::Way::patches, .width = 32}))

#define MN_TEST_MEAN_CONVS(X)                                                                  \
  X(mean_first, mn::Conv{.batch=64, .inChannels=1, .outChannels=6, .in={28,28,1},              \
    .kernel={5,5,1}, .out={28,28,1}, .pads={2,2,0}, .padsAfter={2,2,0},                        \
    .pool={.kernel={2,2,1}, .out={14,14,1}, .mean=true}})                                      \
  X(mean_few, mn::Conv{.batch=3, .inChannels=1, .outChannels=7, .in={10,9,1},                  \
    .kernel={2,2,1}, .out={9,8,1}, .pool={.kernel={3,2,1}, .out={3,4,1}, .mean=true}})         \
  X(mean_over, scheduled(mn::Conv{.batch=50, .inChannels=32, .outChannels=64,                  \
    .in={13,14,1}, .kernel={3,3,1}, .out={13,14,1}, .pads={1,1,0}, .padsAfter={1,1,0},         \
    .pool={.kernel={2,3,1}, .out={7,5,1}, .mean=true}}, mn::Mma::tf32x3)) \
  X(mean_strips, tiled(mn::Conv{.batch=3, .inChannels=8, .outChannels=24, .in={9,13,1},        \
    .kernel={2,2,1}, .out={8,12,1}, .pool={.kernel={2,2,1}, .out={4,6,1}, .mean=true}},        \
    {.mma = mn::Mma::tf32, .way = mn::Way::patches, .height = 8, .width = 64}))

// Gradients of few weights with those of biases, in groups and one dimension.
#define MN_TEST_BIASED_CONVS(X)                                                                \
  X(biased_first, mn::Conv{.batch=64, .inChannels=3, .outChannels=16, .in={32,32,1},           \
    .kernel={3,3,1}, .out={32,32,1}, .pads={1,1,0}, .padsAfter={1,1,0}, .bias=true})           \
  X(biased_few, mn::Conv{.batch=2, .inChannels=1, .outChannels=3, .in={9,7,1},                 \
    .kernel={2,1,1}, .out={8,7,1}, .bias=true})                                                \
  X(biased_groups, mn::Conv{.batch=20, .inChannels=6, .outChannels=12, .groups=3,              \
    .in={17,19,1}, .kernel={3,3,1}, .out={8,9,1}, .strides={2,2,1}, .bias=true})               \
  X(biased_one_dim, mn::Conv{.spatial=1, .batch=6, .inChannels=4, .outChannels=5,              \
    .in={50,1,1}, .kernel={5,1,1}, .out={46,1,1}, .bias=true})

// Gradients of few weights that read the windows of a pool: those that are left
// over, and that hang over; in one and three dimensions, and in groups.
#define MN_TEST_UNPOOLED_CONVS(X)                                                              \
  X(unpooled_first, mn::Conv{.batch=64, .inChannels=1, .outChannels=32, .in={28,28,1},         \
    .kernel={3,3,1}, .out={28,28,1}, .pads={1,1,0}, .padsAfter={1,1,0},                        \
    .pool={.kernel={2,2,1}, .out={14,14,1}}, .bias=true})                                      \
  X(unpooled_left_over, mn::Conv{.batch=5, .inChannels=1, .outChannels=21, .in={31,29,1},      \
    .kernel={5,5,1}, .out={27,25,1}, .pool={.kernel={2,2,1}, .out={13,12,1}}})                 \
  X(unpooled_over, mn::Conv{.batch=5, .inChannels=1, .outChannels=20, .in={31,29,1},           \
    .kernel={5,5,1}, .out={27,25,1}, .pool={.kernel={2,2,1}, .out={14,13,1}}})                 \
  X(unpooled_threes, mn::Conv{.batch=9, .inChannels=2, .outChannels=10, .in={16,14,1},         \
    .kernel={3,3,1}, .out={16,14,1}, .pads={1,1,0}, .padsAfter={1,1,0},                        \
    .pool={.kernel={3,3,1}, .out={5,5,1}}})                                                    \
  X(unpooled_wide, mn::Conv{.batch=3, .inChannels=1, .outChannels=7, .in={10,13,1},            \
    .kernel={2,2,1}, .out={9,12,1}, .pool={.kernel={1,5,1}, .out={9,3,1}}})                    \
  X(unpooled_tall, mn::Conv{.batch=1, .inChannels=1, .outChannels=9, .in={12,7,1},             \
    .kernel={3,3,1}, .out={10,7,1}, .pads={0,1,0}, .padsAfter={0,1,0},                         \
    .pool={.kernel={4,2,1}, .out={2,3,1}}})                                                    \
  X(unpooled_strided, mn::Conv{.batch=20, .inChannels=4, .outChannels=12, .groups=2,           \
    .in={17,19,1}, .kernel={3,3,1}, .out={8,9,1}, .strides={2,2,1},                            \
    .pool={.kernel={2,2,1}, .out={4,4,1}}, .bias=true})                                        \
  X(unpooled_one_dim, mn::Conv{.spatial=1, .batch=6, .inChannels=2, .outChannels=5,            \
    .in={50,1,1}, .kernel={5,1,1}, .out={46,1,1}, .pool={.kernel={3,1,1}, .out={15,1,1}},      \
    .bias=true})                                                                               \
  X(unpooled_three_dim, mn::Conv{.spatial=3, .batch=3, .inChannels=1, .outChannels=6,          \
    .in={6,9,8}, .kernel={2,3,3}, .out={5,7,6}, .pool={.kernel={2,2,3}, .out={3,3,2}}})

// Gradients by bands and by patches that read windows, likewise; of odd ones.
#define MN_TEST_UNPOOLED_BANDS(X)                                                              \
  X(unpooled_bands, tiled(mn::Conv{.batch=20, .inChannels=12, .outChannels=20, .in={15,13,1},  \
    .kernel={3,3,1}, .out={15,13,1}, .pads={1,1,0}, .padsAfter={1,1,0},                        \
    .pool={.kernel={2,2,1}, .out={7,6,1}}},                                                    \
    {.mma = mn::Mma::tf32x3, .split = 3, .way = mn::Way::bands, .height = 16, .width = 8}))    \
  X(unpooled_bands_groups, tiled(mn::Conv{.batch=9, .inChannels=16, .outChannels=32,           \
    .groups=2, .in={13,16,1}, .kernel={3,3,1}, .out={11,14,1},                                 \
    .pool={.kernel={3,2,1}, .out={4,7,1}}},                                                    \
    {.mma = mn::Mma::bf16, .split = 2, .way = mn::Way::bands, .height = 16, .width = 8}))      \
  X(unpooled_groups, tiled(mn::Conv{.batch=20, .inChannels=12, .outChannels=20, .in={15,13,1}, \
    .kernel={3,3,1}, .out={15,13,1}, .pads={1,1,0}, .padsAfter={1,1,0},                        \
    .pool={.kernel={2,2,1}, .out={7,6,1}}}, {.mma = mn::Mma::tf32x3, .split = 3,               \
    .way = mn::Way::bands, .height = 16, .width = 16, .warpgroups = 3}))                       \
  X(unpooled_groups_over, tiled(mn::Conv{.batch=33, .inChannels=8, .outChannels=16,            \
    .in={13,12,1}, .kernel={3,3,1}, .out={11,10,1}, .pool={.kernel={2,3,1}, .out={6,4,1}}},    \
    {.mma = mn::Mma::tf32, .split = 4, .way = mn::Way::bands, .height = 16, .width = 16,       \
    .warpgroups = 2}))                                                                         \
  X(unpooled_groups_cut, tiled(mn::Conv{.batch=9, .inChannels=16, .outChannels=32,             \
    .in={8,55,1}, .kernel={3,3,1}, .out={6,53,1}, .pool={.kernel={2,2,1}, .out={3,27,1}}},     \
    {.mma = mn::Mma::tf32, .split = 2, .way = mn::Way::bands, .height = 32, .width = 16,       \
    .warpgroups = 2}))                                                                         \
  X(unpooled_groups_cut_fours, tiled(mn::Conv{.batch=5, .inChannels=16, .outChannels=32,       \
    .in={8,72,1}, .kernel={3,3,1}, .out={6,70,1}, .pool={.kernel={2,4,1}, .out={3,17,1}}},     \
    {.mma = mn::Mma::tf32x3, .split = 2, .way = mn::Way::bands, .height = 32, .width = 16,     \
    .warpgroups = 2}))                                                                         \
  X(unpooled_groups_bf16, tiled(mn::Conv{.batch=30, .inChannels=16, .outChannels=32,           \
    .in={12,17,1}, .kernel={5,5,1}, .out={8,13,1}, .pool={.kernel={4,2,1}, .out={2,6,1}}},     \
    {.mma = mn::Mma::bf16, .split = 2, .way = mn::Way::bands, .height = 32, .width = 16,       \
    .warpgroups = 2}))
#define MN_TEST_UNPOOLED_PATCHES(X)                                                            \
  X(unpooled_patches, tiled(mn::Conv{.batch=20, .inChannels=12, .outChannels=20,               \
    .in={15,13,1}, .kernel={3,3,1}, .out={15,13,1}, .pads={1,1,0}, .padsAfter={1,1,0},         \
    .pool={.kernel={2,2,1}, .out={7,6,1}}},                                                    \
    {.mma = mn::Mma::tf32x3, .way = mn::Way::patches, .width = 16}))                           \
  X(unpooled_patches_over, tiled(mn::Conv{.batch=9, .inChannels=24, .outChannels=32,           \
    .groups=2, .in={13,12,1}, .kernel={3,3,1}, .out={11,10,1},                                 \
    .pool={.kernel={2,3,1}, .out={6,4,1}}},                                                    \
    {.mma = mn::Mma::tf32, .way = mn::Way::patches, .width = 16}))                             \
  X(unpooled_patches_bf16, tiled(mn::Conv{.batch=30, .inChannels=16, .outChannels=36,          \
    .in={12,17,1}, .kernel={5,5,1}, .out={8,13,1}, .pool={.kernel={4,2,1}, .out={2,6,1}}},     \
    {.mma = mn::Mma::bf16, .split = 2, .way = mn::Way::patches, .width = 16}))                 \
  X(unpooled_squares, tiled(mn::Conv{.batch=7, .inChannels=16, .outChannels=24,                \
    .in={16,16,1}, .kernel={3,3,1}, .out={16,16,1}, .pads={1,1,0}, .padsAfter={1,1,0},         \
    .pool={.kernel={2,2,1}, .out={8,8,1}}},                                                    \
    {.mma = mn::Mma::tf32, .way = mn::Way::patches, .width = 16}))                             \
  X(unpooled_squares_over, tiled(mn::Conv{.batch=7, .inChannels=16, .outChannels=20,           \
    .in={16,24,1}, .kernel={5,4,1}, .out={12,21,1}, .pool={.kernel={3,4,1}, .out={4,5,1}}},    \
    {.mma = mn::Mma::bf16, .way = mn::Way::patches, .width = 16}))                             \
  X(unpooled_patches_phases, tiled(mn::Conv{.batch=12, .inChannels=16, .outChannels=16,        \
    .in={17,19,1}, .kernel={3,3,1}, .out={8,9,1}, .strides={2,2,1},                            \
    .pool={.kernel={2,2,1}, .out={4,4,1}}},                                                    \
    {.mma = mn::Mma::tf32, .way = mn::Way::patches, .width = 16}))                             \
  X(unpooled_patches_one_dim, tiled(mn::Conv{.spatial=1, .batch=6, .inChannels=16,             \
    .outChannels=24, .in={50,1,1}, .kernel={5,1,1}, .out={46,1,1},                             \
    .pool={.kernel={3,1,1}, .out={15,1,1}}},                                                   \
    {.mma = mn::Mma::tf32x3, .way = mn::Way::patches, .width = 16}))

// Indices into windows: with rows that are left over, and windows that hang over.
#define MN_TEST_TILED_POOLS(X)                                                                 \
  X(tiled_big, mn::Pool{.batch=1024, .channels=32, .in={28,28,1}, .kernel={2,2,1},             \
    .out={14,14,1}, .strides={2,2,1}, .inWindow=true})                                         \
  X(tiled_left_over, mn::Pool{.batch=3, .channels=4, .in={10,9,1}, .kernel={3,2,1},            \
    .out={3,4,1}, .strides={3,2,1}, .inWindow=true})                                           \
  X(tiled_over, mn::Pool{.layout=MN_C, .batch=3, .channels=4, .in={5,8,1}, .kernel={2,2,1},    \
    .out={3,4,1}, .strides={2,2,1}, .inWindow=true})                                           \
  X(tiled_three_dim, mn::Pool{.spatial=3, .batch=2, .channels=2, .in={4,6,6}, .kernel={2,3,2}, \
    .out={2,2,3}, .strides={2,3,2}, .inWindow=true})                                           \
  X(tiled_large, mn::Pool{.batch=7, .channels=5, .in={17,14,1}, .kernel={5,4,1},               \
    .out={3,3,1}, .strides={5,4,1}, .inWindow=true})                                           \
  X(tiled_large_over, mn::Pool{.layout=MN_C, .batch=3, .channels=5, .in={9,13,1},              \
    .kernel={4,5,1}, .out={3,3,1}, .strides={4,5,1}, .inWindow=true})                          \
  X(tiled_whole, mn::Pool{.batch=9, .channels=7, .in={14,14,1}, .kernel={14,14,1},             \
    .out={1,1,1}, .strides={14,14,1}, .inWindow=true})

// clang-format on

#endif // MNISTC_TEST_GPU_POOL_SHAPES_H
