//===- schedule-shapes.h - schedules that kernels must obey -----*- C++ -*-===//
//
// Rows as in shapes.h.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_TEST_GPU_SCHEDULE_SHAPES_H
#define MNISTC_TEST_GPU_SCHEDULE_SHAPES_H

#include "shapes.h"

// clang-format off
/// One shape with schedules of each kind; gradients of filters have those of
/// products, of weights and of bands, the others all but the latter two.
constexpr mn::Conv scheduledShape{.batch=10, .inChannels=6, .outChannels=14, .in={9,11,1},
  .kernel={3,3,1}, .out={9,11,1}, .pads={1,1,0}, .padsAfter={1,1,0}};
/// Of many channels.
constexpr mn::Conv deepShape{.batch=5, .inChannels=64, .outChannels=130, .in={8,8,1},
  .kernel={3,3,1}, .out={8,8,1}, .pads={1,1,0}, .padsAfter={1,1,0}};
/// Whose windows have all taps; and whose gradient of the input has phases.
constexpr mn::Conv insideShape{.batch=20, .inChannels=24, .outChannels=20, .in={9,12,1},
  .kernel={3,2,1}, .out={7,11,1}};
constexpr mn::Conv phasesShape{.batch=12, .inChannels=20, .outChannels=24, .in={15,14,1},
  .kernel={3,3,1}, .out={8,7,1}, .strides={2,2,1}, .pads={1,1,0}, .padsAfter={1,1,0}};
/// Whose images can be folded; along one dimension, in groups.
constexpr mn::Conv foldedShape{.batch=9, .inChannels=12, .outChannels=40, .in={12,18,1},
  .kernel={3,5,1}, .out={6,9,1}, .strides={2,2,1}, .pads={1,2,0}, .padsAfter={0,1,0}};
constexpr mn::Conv foldedRows{.batch=11, .inChannels=10, .outChannels=36, .groups=2, .in={12,10,1},
  .kernel={4,3,1}, .out={4,10,1}, .strides={3,1,1}, .pads={1,1,0}, .padsAfter={0,1,0}};
constexpr mn::Conv foldedNhwc{.layout=mn::Layout::nhwc, .batch=9, .inChannels=12, .outChannels=40,
  .in={12,18,1}, .kernel={3,5,1}, .out={6,9,1}, .strides={2,2,1}, .pads={1,2,0}, .padsAfter={0,1,0}};
/// In groups, with an even number of results in a row; and with phases.
constexpr mn::Conv groupedShape{.batch=15, .inChannels=44, .outChannels=52, .groups=2, .in={10,12,1},
  .kernel={3,3,1}, .out={10,12,1}, .pads={1,1,0}, .padsAfter={1,1,0}};
constexpr mn::Conv groupedPhases{.batch=7, .inChannels=24, .outChannels=57, .groups=3, .in={15,14,1},
  .kernel={3,3,1}, .out={8,7,1}, .strides={2,2,1}, .pads={1,1,0}, .padsAfter={1,1,0}};
/// Whose strips are side by side, with several blocks below each other.
constexpr mn::Conv joinedShape{.batch=3, .inChannels=10, .outChannels=24, .in={12,14,1},
  .kernel={3,3,1}, .out={12,14,1}, .pads={1,1,0}, .padsAfter={1,1,0}};
/// Of which a band has several.
constexpr mn::Conv smallImages{.batch=13, .inChannels=70, .outChannels=40, .in={4,5,1},
  .kernel={3,3,1}, .out={4,5,1}, .pads={1,1,0}, .padsAfter={1,1,0}};
/// Of windows as large as images.
constexpr mn::Conv depthwiseShape{.batch=10, .inChannels=12, .outChannels=12, .groups=12, .in={7,7,1},
  .kernel={7,7,1}, .out={7,7,1}, .pads={3,3,0}, .padsAfter={3,3,0}};
#define MN_TEST_SCHEDULES(X)                                                                   \
  X(by_ffma_12, tiled(scheduledShape, {mn::Mma::ffma, {8,64,12}, {4,1}, 3}))                   \
  X(by_ffma_tall, tiled(scheduledShape, {mn::Mma::ffma, {64,32,5}, {8,1}, 9}))                 \
  X(by_ffma_clusters, tiled(scheduledShape, {mn::Mma::ffma, {1,32,2}, {1,1}, 24}))             \
  X(by_tf32x3_square, tiled(scheduledShape, {mn::Mma::tf32x3, {64,32,16}, {2,2}, 2}))          \
  X(by_tf32x3_wgmma, tiled(scheduledShape, {mn::Mma::tf32x3, {64,16,16}, {4,1}, 5}))           \
  X(by_tf32_turned, tiled(scheduledShape, {mn::Mma::tf32, {32,64,8}, {1,4}, 1}))               \
  X(by_bf16_wide, tiled(scheduledShape, {mn::Mma::bf16, {16,128,32}, {1,2}, 12}))              \
  X(by_tf32x3_slices, tiled(scheduledShape, {.mma = mn::Mma::tf32x3, .tile = {32,32,32},       \
    .warps = {2,2}, .slices = 2}))                                                             \
  X(by_tf32x3_sliced_wgmma, tiled(scheduledShape, {.mma = mn::Mma::tf32x3, .tile = {64,16,16}, \
    .warps = {4,1}, .split = 3, .slices = 2}))                                                 \
  X(by_tf32_sliced_parts, tiled(scheduledShape, {.mma = mn::Mma::tf32, .tile = {16,64,16},     \
    .warps = {1,4}, .split = 12, .slices = 4}))                                                \
  X(by_bf16_slices, tiled(scheduledShape, {.mma = mn::Mma::bf16, .tile = {16,16,16},           \
    .slices = 8}))                                                                             \
  X(by_direct_1, tiled(scheduledShape, {.way = mn::Way::direct}))                              \
  X(by_direct_2, tiled(scheduledShape, {.way = mn::Way::direct, .images = 2}))                 \
  X(by_columns_tall, tiled(scheduledShape, {.split = 4, .way = mn::Way::columns,               \
    .height = 8}))                                                                             \
  X(by_columns_depthwise, tiled(depthwiseShape, {.way = mn::Way::columns, .height = 8}))       \
  X(by_columns_wide, tiled(scheduledShape, {.way = mn::Way::columns, .width = 16}))            \
  X(by_columns_both, tiled(scheduledShape, {.split = 2, .way = mn::Way::columns,               \
    .height = 4, .width = 4}))                                                                 \
  X(by_patches_16, tiled(scheduledShape, {.mma = mn::Mma::tf32x3, .way = mn::Way::patches,     \
    .width = 16}))                                                                             \
  X(by_patches_64, tiled(scheduledShape, {.mma = mn::Mma::tf32, .way = mn::Way::patches,       \
    .width = 64}))                                                                             \
  X(by_patches_128, tiled(scheduledShape, {.mma = mn::Mma::bf16, .way = mn::Way::patches,      \
    .width = 128}))                                                                            \
  X(by_patches_split, tiled(deepShape, {.mma = mn::Mma::tf32x3, .split = 4,                    \
    .way = mn::Way::patches, .width = 80}))                                                    \
  X(by_patches_uneven, tiled(patch_inside, {.mma = mn::Mma::tf32x3, .split = 2,                \
    .way = mn::Way::patches, .width = 48}))                                                    \
  X(by_patches_nhwc, tiled(patch_dilated_nhwc, {.mma = mn::Mma::tf32, .split = 2,              \
    .way = mn::Way::patches, .width = 48}))                                                    \
  X(by_patches_bf16, tiled(deepShape, {.mma = mn::Mma::bf16, .split = 2,                       \
    .way = mn::Way::patches, .width = 112}))                                                   \
  X(by_strips_whole, tiled(deepShape, {.mma = mn::Mma::tf32, .way = mn::Way::patches,          \
    .height = 8, .width = 64}))                                                                \
  X(by_strips_over, tiled(scheduledShape, {.mma = mn::Mma::tf32, .way = mn::Way::patches,      \
    .height = 16, .width = 64}))                                                               \
  X(by_strips_wide, tiled(deepShape, {.mma = mn::Mma::bf16, .way = mn::Way::patches,           \
    .height = 32, .width = 128}))                                                              \
  X(by_strips_joined, tiled(joinedShape, {.mma = mn::Mma::tf32, .way = mn::Way::patches,       \
    .height = 4, .width = 64}))                                                                \
  X(by_strips_nhwc, tiled(patch_dilated_nhwc, {.mma = mn::Mma::bf16, .way = mn::Way::patches,  \
    .height = 10, .width = 64}))                                                               \
  X(by_strips_groups, tiled(groupedShape, {.mma = mn::Mma::tf32, .way = mn::Way::patches,      \
    .height = 10, .width = 64}))                                                               \
  X(by_patches_groups, tiled(groupedShape, {.mma = mn::Mma::tf32x3,                            \
    .way = mn::Way::patches, .width = 16}))                                                    \
  X(by_patches_groups_split, tiled(groupedShape, {.mma = mn::Mma::bf16, .split = 2,            \
    .way = mn::Way::patches, .width = 32}))                                                    \
  X(by_patches_groups_phases, tiled(groupedPhases, {.mma = mn::Mma::tf32,                      \
    .way = mn::Way::patches, .width = 16}))                                                    \
  X(by_patches_folded_tf32x3, tiled(foldedShape, {.mma = mn::Mma::tf32x3,                      \
    .way = mn::Way::patches, .width = 48}))                                                    \
  X(by_patches_folded_split, tiled(foldedShape, {.mma = mn::Mma::tf32, .split = 2,             \
    .way = mn::Way::patches, .width = 16}))                                                    \
  X(by_patches_folded_bf16, tiled(foldedShape, {.mma = mn::Mma::bf16,                          \
    .way = mn::Way::patches, .width = 32}))                                                    \
  X(by_patches_folded_rows, tiled(foldedRows, {.mma = mn::Mma::tf32x3, .split = 2,             \
    .way = mn::Way::patches, .width = 32}))                                                    \
  X(by_patches_folded_nhwc, tiled(foldedNhwc, {.mma = mn::Mma::tf32,                           \
    .way = mn::Way::patches, .width = 48}))                                                    \
  X(by_patches_inside_tf32x3, tiled(insideShape, {.mma = mn::Mma::tf32x3, .split = 2,          \
    .way = mn::Way::patches, .width = 32}))                                                    \
  X(by_patches_inside_tf32, tiled(insideShape, {.mma = mn::Mma::tf32, .split = 2,              \
    .way = mn::Way::patches, .width = 32}))                                                    \
  X(by_patches_inside_bf16, tiled(insideShape, {.mma = mn::Mma::bf16, .split = 2,              \
    .way = mn::Way::patches, .width = 16}))                                                    \
  X(by_patches_phases_tf32, tiled(phasesShape, {.mma = mn::Mma::tf32, .split = 2,              \
    .way = mn::Way::patches, .width = 32}))                                                    \
  X(by_patches_phases_bf16, tiled(phasesShape, {.mma = mn::Mma::bf16,                          \
    .way = mn::Way::patches, .width = 16}))                                                    \
  X(by_patches_idle, tiled(mn::Conv{.batch=3, .inChannels=40, .outChannels=20, .in={6,6,1},    \
    .kernel={3,3,1}, .out={6,6,1}, .pads={1,1,0}, .padsAfter={1,1,0}},                         \
    {.mma = mn::Mma::tf32x3, .split = 4, .way = mn::Way::patches, .width = 32}))               \
  X(by_weights, tiled(scheduledShape, {.split = 7, .way = mn::Way::weights}))                  \
  X(by_bands, tiled(scheduledShape, {.mma = mn::Mma::tf32x3, .split = 3,                       \
    .way = mn::Way::bands, .height = 16, .width = 8}))                                         \
  X(by_bands_later, tiled(scheduledShape, {.mma = mn::Mma::tf32x3, .split = 30,                \
    .way = mn::Way::bands, .height = 32, .width = 16}))                                        \
  X(by_bands_strided, tiled(strided, {.mma = mn::Mma::tf32x3, .split = 2,                      \
    .way = mn::Way::bands, .height = 16, .width = 8}))                                         \
  X(by_bands_groups, tiled(groups, {.mma = mn::Mma::tf32, .way = mn::Way::bands,               \
    .height = 64, .width = 16}))                                                               \
  X(by_bands_dilated, tiled(dilated, {.mma = mn::Mma::bf16, .split = 4,                        \
    .way = mn::Way::bands, .height = 16, .width = 32}))                                        \
  X(by_bands_five, tiled(patch_five, {.mma = mn::Mma::tf32x3, .split = 17,                     \
    .way = mn::Way::bands, .height = 32, .width = 32}))                                        \
  X(by_bands_seven, tiled(mn::Conv{.batch=5, .inChannels=10, .outChannels=18, .in={13,10,1},   \
    .kernel={7,7,1}, .out={13,10,1}, .pads={3,3,0}, .padsAfter={3,3,0}},                       \
    {.mma = mn::Mma::bf16, .split = 3, .way = mn::Way::bands, .height = 16, .width = 16}))     \
  X(by_bands_parts_of_rows, tiled(mn::Conv{.batch=4, .inChannels=9, .outChannels=10,           \
    .in={6,22,1}, .kernel={2,12,1}, .out={6,14,1}, .pads={1,2,0}, .padsAfter={0,1,0}},         \
    {.mma = mn::Mma::tf32x3, .split = 2, .way = mn::Way::bands, .height = 16, .width = 16}))   \
  X(by_bands_turns, tiled(mn::Conv{.batch=2, .inChannels=11, .outChannels=25, .in={14,5,1},    \
    .kernel={4,1,1}, .out={14,5,1}, .pads={2,0,0}, .padsAfter={1,0,0}},                        \
    {.mma = mn::Mma::tf32x3, .way = mn::Way::bands, .height = 64, .width = 16}))               \
  X(by_bands_one_dim, tiled(one_dim, {.mma = mn::Mma::tf32x3, .split = 1,                      \
    .way = mn::Way::bands, .height = 16, .width = 8}))                                         \
  X(by_bands_one, tiled(mn::Conv{.batch=7, .inChannels=9, .outChannels=17, .in={12,12,1},      \
    .kernel={1,1,1}, .out={6,6,1}, .strides={2,2,1}}, {.mma = mn::Mma::tf32x3, .split = 2,     \
    .way = mn::Way::bands, .height = 16, .width = 16}))                                        \
  X(by_bands_many, tiled(patch_many, {.mma = mn::Mma::tf32x3, .split = 12,                     \
    .way = mn::Way::bands, .height = 64, .width = 8}))                                         \
  X(by_groups, tiled(scheduledShape, {.mma = mn::Mma::tf32x3, .split = 3,                      \
    .way = mn::Way::bands, .height = 16, .width = 16, .warpgroups = 3}))                       \
  X(by_groups_later, tiled(scheduledShape, {.mma = mn::Mma::tf32, .split = 30,                 \
    .way = mn::Way::bands, .height = 32, .width = 32, .warpgroups = 2}))                       \
  X(by_groups_strided, tiled(strided, {.mma = mn::Mma::tf32x3, .split = 2,                     \
    .way = mn::Way::bands, .height = 16, .width = 16, .warpgroups = 2}))                       \
  X(by_groups_groups, tiled(groups, {.mma = mn::Mma::bf16, .way = mn::Way::bands,              \
    .height = 64, .width = 8, .warpgroups = 2}))                                               \
  X(by_groups_dilated, tiled(dilated, {.mma = mn::Mma::bf16, .split = 4,                       \
    .way = mn::Way::bands, .height = 16, .width = 48, .warpgroups = 2}))                       \
  X(by_groups_five, tiled(patch_five, {.mma = mn::Mma::tf32x3, .split = 17,                    \
    .way = mn::Way::bands, .height = 32, .width = 16, .warpgroups = 4}))                       \
  X(by_groups_many, tiled(patch_many, {.mma = mn::Mma::tf32x3, .split = 12,                    \
    .way = mn::Way::bands, .height = 32, .width = 32, .warpgroups = 3}))                       \
  X(by_groups_images, tiled(smallImages, {.mma = mn::Mma::tf32x3, .split = 2,                  \
    .way = mn::Way::bands, .height = 16, .width = 64, .warpgroups = 2}))                       \
  X(by_groups_rows, tiled(smallImages, {.mma = mn::Mma::tf32, .split = 5,                      \
    .way = mn::Way::bands, .height = 128, .width = 24, .warpgroups = 2}))


/// Products of few rows, in fours and not, with columns and places left over,
/// shares without a place, and products of FMA units that dots would replace.
#define MN_TEST_DOTS(X)                                                                        \
  X(dots_one, tiled(one, {.way = mn::Way::dots, .width = 8}))                                  \
  X(dots_rounds, tiled(mn::Matmul{.n=5, .k=9216, .transposedB=true}, {.way = mn::Way::dots,    \
    .width = 2}))                                                                              \
  X(dots_warps, tiled(mn::Matmul{.m=2, .n=37, .k=1200, .transposedB=true}, {.warps = {8, 1},   \
    .way = mn::Way::dots, .width = 4}))                                                        \
  X(dots_clusters, tiled(mn::Matmul{.m=3, .n=37, .k=1203, .transposedB=true},                  \
    {.warps = {2, 1}, .split = 4, .way = mn::Way::dots, .width = 4}))                          \
  X(dots_adjacent, tiled(mn::Matmul{.m=4, .n=100, .k=500}, {.warps = {2, 1}, .split = 8,       \
    .way = mn::Way::dots, .width = 16}))                                                       \
  X(dots_adjacent_odd, tiled(mn::Matmul{.m=2, .n=21, .k=777}, {.warps = {16, 1},               \
    .way = mn::Way::dots, .width = 8}))                                                        \
  X(dots_short, tiled(mn::Matmul{.n=40, .k=2}, {.split = 8, .way = mn::Way::dots,              \
    .width = 32}))                                                                             \
  X(dots_stacked, tiled(mn::Matmul{.batch=3, .m=2, .n=20, .k=64, .transposedA=true,            \
    .transposedB=true}, {.warps = {4, 1}, .way = mn::Way::dots, .width = 2}))                  \
  X(dots_transposed, tiled(mn::Matmul{.m=4, .n=30, .k=212, .transposedA=true,                  \
    .transposedB=true}, {.way = mn::Way::dots}))                                               \
  X(ffma_one, tiled(one, {.tile = {1, 32, 1}}))                                                \
  X(ffma_row, tiled(fc1_1_big, {.tile = {4, 32, 16}, .warps = {2, 1}, .split = 66}))
// clang-format on

#endif // MNISTC_TEST_GPU_SCHEDULE_SHAPES_H
