//===- kernels.h - the kernels under test -----------------------*- C++ -*-===//
//
// For each row of shapes.h what the compiler would write: functors, kernels,
// and host functions that launch them. Compiled twice, like generated files.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_TEST_GPU_KERNELS_H
#define MNISTC_TEST_GPU_KERNELS_H

#include "chain-kernels.h"
#include "functors.h"
#include "map-functors.h"
#include "mnistrt/generated.h"
#include "pool-shapes.h"
#include "rounded-shapes.h"
#include "row-functors.h"
#include "schedule-shapes.h"
// The choice, which the compiler makes and generated files do not include.
#include "mnistrt/cuda/kernels/schedule_choice.cuh"

#define MN_NAME_SHAPE(NAME, ...) inline constexpr auto NAME = __VA_ARGS__;
MN_TEST_CONVS(MN_NAME_SHAPE)
MN_TEST_POOLS(MN_NAME_SHAPE)
MN_TEST_TILED_POOLS(MN_NAME_SHAPE)
MN_TEST_MATMULS(MN_NAME_SHAPE)
MN_TEST_MMA_CONVS(MN_NAME_SHAPE)
MN_TEST_ROUNDED_CONVS(MN_NAME_SHAPE)
MN_TEST_POOLED_CONVS(MN_NAME_SHAPE)
MN_TEST_MEAN_CONVS(MN_NAME_SHAPE)
MN_TEST_BIASED_CONVS(MN_NAME_SHAPE)
MN_TEST_UNPOOLED_CONVS(MN_NAME_SHAPE)
MN_TEST_UNPOOLED_BANDS(MN_NAME_SHAPE)
MN_TEST_UNPOOLED_PATCHES(MN_NAME_SHAPE)
MN_TEST_MMA_MATMULS(MN_NAME_SHAPE)
MN_TEST_ROUNDED_MATMULS(MN_NAME_SHAPE)
MN_TEST_SCHEDULES(MN_NAME_SHAPE)
MN_TEST_DOTS(MN_NAME_SHAPE)
MN_TEST_SOFTMAXES(MN_NAME_SHAPE)
MN_TEST_REDUCES(MN_NAME_SHAPE)

/// A shape's schedule, where it has one for what is computed; else the one that
/// the compiler would choose.
MN_SHAPE_FN bool isScheduled(const mn::ProductSchedule &s) {
  return s.tile[0] != 0 || s.way != mn::Way::product;
}
MN_SHAPE_FN bool isForFilterGrads(mn::Way way) {
  return way == mn::Way::weights || way == mn::Way::bands;
}
MN_SHAPE_FN mn::Conv withMmaOnly(mn::Conv s) {
  s.schedule = {.mma = s.schedule.mma};
  return s;
}
/// Patches of images that cannot be folded are of gradients of inputs only.
MN_SHAPE_FN bool isForInputGrads(const mn::Conv &s) {
  return s.schedule.way == mn::Way::patches && !mn::shape::canFold(s);
}
MN_SHAPE_FN mn::Conv scheduledConv(const mn::Conv &s) {
  return isScheduled(s.schedule) && !isForFilterGrads(s.schedule.way) &&
                 !isForInputGrads(s)
             ? s
             : mn::shape::chooseConv(withMmaOnly(s));
}
MN_SHAPE_FN mn::Conv scheduledInputGrad(const mn::Conv &s) {
  return isScheduled(s.schedule) && !isForFilterGrads(s.schedule.way)
             ? s
             : mn::shape::chooseInputGrad(withMmaOnly(s));
}
MN_SHAPE_FN mn::Conv scheduledFilterGrad(const mn::Conv &s) {
  return s.schedule.tile[0] != 0 || isForFilterGrads(s.schedule.way)
             ? s
             : mn::shape::chooseFilterGrad(withMmaOnly(s));
}
MN_SHAPE_FN mn::Matmul scheduledMatmul(const mn::Matmul &s) {
  return isScheduled(s.schedule) ? s : mn::shape::choose(s);
}

#define MN_SCHEDULE_CONV(NAME, ...)                                            \
  inline constexpr mn::Conv NAME##_forward = scheduledConv(NAME);              \
  inline constexpr mn::Conv NAME##_input = scheduledInputGrad(NAME);           \
  inline constexpr mn::Conv NAME##_filter = scheduledFilterGrad(NAME);
MN_TEST_CONVS(MN_SCHEDULE_CONV)
MN_TEST_MMA_CONVS(MN_SCHEDULE_CONV)
MN_TEST_SCHEDULES(MN_SCHEDULE_CONV)
#define MN_SCHEDULE_MATMUL(NAME, ...)                                          \
  inline constexpr mn::Matmul NAME##_product = scheduledMatmul(NAME);
MN_TEST_MATMULS(MN_SCHEDULE_MATMUL)
MN_TEST_MMA_MATMULS(MN_SCHEDULE_MATMUL)
MN_TEST_ROUNDED_MATMULS(MN_SCHEDULE_MATMUL)
MN_TEST_DOTS(MN_SCHEDULE_MATMUL)

MN_POINTWISE_KERNEL(map_by_fours, HiddenByFours)
#define MN_TRANSPOSED_KERNEL(ROWS, COLUMNS)                                    \
  MN_POINTWISE_KERNEL(transposed_##ROWS##_##COLUMNS,                           \
                      TransposedSum<ROWS, COLUMNS>)
MN_TRANSPOSED_KERNEL(64, 64)
MN_TRANSPOSED_KERNEL(49, 512)
MN_TRANSPOSED_KERNEL(9, 131)
MN_TRANSPOSED_KERNEL(1000, 8)
MN_TRANSPOSED_KERNEL(67, 65)
MN_TRANSPOSED_KERNEL(196, 72)
MN_POINTWISE_KERNEL(map_of_rank, DrawnOfRank<12>)
MN_POINTWISE_KERNEL(map_of_rank_odd, DrawnOfRank<13>)
MN_POINTWISE_KERNEL(map_small, Hidden)
MN_POINTWISE_KERNEL(map_large, Hidden)

inline constexpr mn::Elements<9> segment_sizes{
    {128, 77, 1, 1280, 386, 4096, 1027, 3 * 67 * 65, 67 * 65}};
using OddTransposedSum = TransposedSum<67, 65>;
MN_SEGMENTS_KERNEL(map_segments, segment_sizes, mn::Table<Hidden, 1>,
                   mn::Table<Copy, 2>, mn::Table<Hidden, 2>,
                   mn::Table<HiddenByFours, 2>, mn::Table<OddTransposedSum, 2>)

#define MN_CONV_KERNELS(NAME, OF)                                              \
  MN_CONV_KERNEL(conv_##NAME, float, OF<Forward<float>>, NAME##_forward)       \
  MN_CONV_INPUT_GRAD_KERNEL(input_grad_##NAME, float, OF<InputGrad<float>>,    \
                            NAME##_input)                                      \
  MN_CONV_FILTER_GRAD_KERNEL(filter_grad_##NAME, float, OF<OtherGrad<float>>,  \
                             NAME##_filter)
#define MN_TEST_CONV(NAME, ...) MN_CONV_KERNELS(NAME, Alone)
MN_TEST_CONVS(MN_TEST_CONV)
MN_TEST_MMA_CONVS(MN_TEST_CONV)
#define MN_TEST_SCHEDULE(NAME, ...) MN_CONV_KERNELS(NAME, WithResult)
MN_TEST_SCHEDULES(MN_TEST_SCHEDULE)
MN_CONV_KERNEL(conv_f64_strided, double, Forward<double>, strided_forward)

#define MN_TEST_POOLED_CONV(NAME, ...)                                         \
  inline constexpr mn::Conv NAME##_forward = scheduledConv(NAME);              \
  MN_CONV_KERNEL(conv_##NAME, float, WithPool<false>, NAME##_forward)
MN_TEST_POOLED_CONVS(MN_TEST_POOLED_CONV)
#define MN_TEST_MEAN_CONV(NAME, ...)                                           \
  inline constexpr mn::Conv NAME##_forward = scheduledConv(NAME);              \
  MN_CONV_KERNEL(conv_##NAME, float, WithPool<true>, NAME##_forward)
MN_TEST_MEAN_CONVS(MN_TEST_MEAN_CONV)

#define MN_TEST_BIASED_CONV(NAME, ...)                                         \
  inline constexpr mn::Conv NAME##_filter = scheduledFilterGrad(NAME);         \
  using NAME##_functor = WithBias<OtherGrad<float>>;                           \
  MN_CONV_FILTER_GRAD_KERNEL(filter_grad_##NAME, float, NAME##_functor,        \
                             NAME##_filter)
MN_TEST_BIASED_CONVS(MN_TEST_BIASED_CONV)

#define MN_TEST_UNPOOLED_CONV(NAME, ...)                                       \
  inline constexpr mn::Conv NAME##_filter = scheduledFilterGrad(NAME);         \
  using NAME##_functor = WithBias<OfWindows<NAME>>;                            \
  MN_CONV_FILTER_GRAD_KERNEL(filter_grad_##NAME, float, NAME##_functor,        \
                             NAME##_filter)
MN_TEST_UNPOOLED_CONVS(MN_TEST_UNPOOLED_CONV)
#define MN_TEST_UNPOOLED_GRAD(NAME, ...)                                       \
  inline constexpr mn::Conv NAME##_filter = NAME;                              \
  using NAME##_functor = OfWindows<NAME>;                                      \
  MN_CONV_FILTER_GRAD_KERNEL(filter_grad_##NAME, float, NAME##_functor,        \
                             NAME##_filter)
MN_TEST_UNPOOLED_BANDS(MN_TEST_UNPOOLED_GRAD)
#define MN_TEST_UNPOOLED_INPUT(NAME, ...)                                      \
  inline constexpr mn::Conv NAME##_input = NAME;                               \
  using NAME##_functor = OfWindows<NAME, InputGrad<float>>;                    \
  MN_CONV_INPUT_GRAD_KERNEL(input_grad_##NAME, float, NAME##_functor,          \
                            NAME##_input)
MN_TEST_UNPOOLED_PATCHES(MN_TEST_UNPOOLED_INPUT)

#define MN_TEST_POOL(NAME, ...)                                                \
  MN_MAX_POOL_KERNEL(max_##NAME, float, Plain<float>, NAME)                    \
  MN_AVG_POOL_KERNEL(avg_##NAME, float, Plain<float>, NAME)                    \
  MN_ARG_MAX_POOL_KERNEL(arg_max_##NAME, float,                                \
                         MN_PAIR(Plain<float, int64_t>), NAME)                 \
  MN_MAX_POOL_GRAD_KERNEL(max_grad_##NAME, float, OtherGrad<float>, NAME)      \
  MN_AVG_POOL_GRAD_KERNEL(avg_grad_##NAME, float, Plain<float>, NAME)
#define MN_TEST_TILED_POOL(NAME, ...)                                          \
  MN_TEST_POOL(NAME)                                                           \
  MN_MAX_UNPOOL_KERNEL(unpool_##NAME, float, Unpool, NAME)
using ToIndex = Plain<float, int64_t>;
#define MN_PAIR(...) ToIndex
MN_TEST_POOLS(MN_TEST_POOL)
MN_TEST_TILED_POOLS(MN_TEST_TILED_POOL)

#define MN_TEST_MATMUL(NAME, ...)                                              \
  MN_MATMUL_KERNEL(matmul_##NAME, float, Plain<float>, NAME##_product)
MN_TEST_MATMULS(MN_TEST_MATMUL)
MN_TEST_MMA_MATMULS(MN_TEST_MATMUL)
MN_TEST_DOTS(MN_TEST_MATMUL)
#define MN_TEST_ROUNDED_MATMUL(NAME, ...)                                      \
  MN_MATMUL_KERNEL(matmul_##NAME, float, Rounded, NAME##_product)
MN_TEST_ROUNDED_MATMULS(MN_TEST_ROUNDED_MATMUL)
MN_MATMUL_KERNEL(matmul_computed, float, Computed, tf32x3_fours_product)
MN_MATMUL_KERNEL(dots_computed, float, Computed, dots_warps_product)
MN_MATMUL_KERNEL(dots_f64, double, Plain<double>, dots_clusters_product)
MN_MATMUL_KERNEL(matmul_f64, double, Plain<double>, both_transposed_product)
MN_MATMUL_KERNEL(matmul_i32, int32_t, Plain<int32_t>, long_sum_product)

#define MN_TEST_SOFTMAX(NAME, ...)                                             \
  MN_SOFTMAX_KERNEL(softmax_##NAME, float, Plain<float>, NAME)
MN_TEST_SOFTMAXES(MN_TEST_SOFTMAX)
MN_SOFTMAX_KERNEL(softmax_f64, double, Plain<double>, warp_row)

#define MN_TEST_REDUCE(NAME, ...)                                              \
  MN_REDUCE_KERNEL(sum_##NAME, mn::Sum, float, Floats<NAME>, NAME)             \
  MN_REDUCE_KERNEL(maximum_##NAME, mn::Max, float, Floats<NAME>, NAME)         \
  MN_REDUCE_KERNEL(arg_first_##NAME, mn::ArgMaxFirst, float,                   \
                   FloatsToIndex<NAME>, NAME)                                  \
  MN_REDUCE_KERNEL(arg_last_##NAME, mn::ArgMaxLast, int32_t,                   \
                   IntsToIndex<NAME>, NAME)
MN_TEST_REDUCES(MN_TEST_REDUCE)
MN_REDUCE_KERNEL(min_i64, mn::Min, int64_t, Longs<few_columns>, few_columns)
MN_REDUCE_KERNEL(any_b8, mn::Max, bool, Bools<middle>, middle)
MN_REDUCE_KERNEL(sum_f64, mn::Sum, double, Doubles<whole>, whole)

#define MN_TEST_ROW(NAME)                                                      \
  MN_ROWS_KERNEL(rows_##NAME, Normalize<NAME>, NAME)                           \
  MN_ROWS_KERNEL(means_##NAME, Average<NAME>, NAME)                            \
  MN_ROWS_KERNEL(totals_##NAME, OnlyTotals<NAME>, NAME)                        \
  MN_ROWS_KERNEL(both_##NAME, AlsoTotals<NAME>, NAME)
MN_TEST_ROWS(MN_TEST_ROW)
#define MN_TEST_DRAWN_ROW(NAME) MN_ROWS_KERNEL(drawn_##NAME, Drawn<NAME>, NAME)
MN_TEST_DRAWN_ROWS(MN_TEST_DRAWN_ROW)

//===----------------------------------------------------------------------===//
// Training
//===----------------------------------------------------------------------===//

/// Writes down what a plan was given, batch after batch.
struct Record {
  float *log;
  int32_t *labelLog;
  const float *x;
  const int32_t *labels;
  const int64_t *batch;
  long long size, rows;
  MN_FN void operator()(mn::Index i) const {
    log[*batch * size + i] = x[i];
    if (i < rows)
      labelLog[*batch * rows + i] = labels[i];
  }
};
struct Advance {
  int64_t *batch;
  float *weight;
  const int32_t *valid;
  MN_FN void operator()(mn::Index) const {
    *batch += 1;
    *weight += float(*valid);
  }
};
MN_POINTWISE_KERNEL(train_record, Record)
MN_POINTWISE_KERNEL(train_advance, Advance)
MN_NEXT_BATCH_KERNEL
MN_TRANSFER_KERNEL

#endif // MNISTC_TEST_GPU_KERNELS_H
