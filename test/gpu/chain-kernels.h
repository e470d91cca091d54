//===- chain-kernels.h - chains under test ----------------------*- C++ -*-===//
//
// As kernels.h, for chain-shapes.h.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_TEST_GPU_CHAIN_KERNELS_H
#define MNISTC_TEST_GPU_CHAIN_KERNELS_H

#include "chain-shapes.h"
#include "functors.h"
#include "map-functors.h"
#include "mnistrt/generated.h"
#include "row-functors.h"

/// A product, sums of its rows, these normalized, and copied, the first
/// operand, and of the copied rows a product with the weights; one after
/// another in `y`.
#define MN_TEST_CHAIN(NAME, ROWS, N, K, MMA)                                   \
  inline constexpr mn::Matmul NAME##_product{                                  \
      .m = ROWS,                                                               \
      .n = N,                                                                  \
      .k = K,                                                                  \
      .transposedB = true,                                                     \
      .schedule = {.mma = mn::Mma::MMA}};                                      \
  inline constexpr mn::Matmul NAME##_back{                                     \
      .m = ROWS, .n = K, .k = N, .schedule = {.mma = mn::Mma::MMA}};           \
  inline constexpr mn::Reduce NAME##_rows{.outputs = ROWS, .size = N};         \
  using Chain_##NAME = mn::Chain<                                              \
      mn::shape::chainBlocks(ROWS),                                            \
      mn::MatmulLink<float, Plain<float>, NAME##_product>,                     \
      mn::ReduceLink<mn::Sum, float, Floats<NAME##_rows>, NAME##_rows>,        \
      mn::RowsLink<Normalize<NAME##_rows>, NAME##_rows>,                       \
      mn::MapLink<CopyOf<ROWS, N>, N>,                                         \
      mn::Beside<mn::MapLink<CopyOf<ROWS, K>, K>>,                             \
      mn::MatmulLink<float, Plain<float>, NAME##_back>>;                       \
  MN_CHAIN_KERNEL(NAME, Chain_##NAME)
MN_TEST_CHAINS(MN_TEST_CHAIN)

/// The shapes of an attention's links.
#define MN_TEST_HEADS(NAME, HEADS, TOKENS, WIDTH, MMA)                         \
  inline constexpr mn::Matmul NAME##_scores{                                   \
      .batch = HEADS,                                                          \
      .m = TOKENS,                                                             \
      .n = TOKENS,                                                             \
      .k = WIDTH,                                                              \
      .transposedB = true,                                                     \
      .schedule = {.mma = mn::Mma::MMA}};                                      \
  inline constexpr mn::Softmax NAME##_softmax{.outer = HEADS * TOKENS,         \
                                              .size = TOKENS};                 \
  inline constexpr mn::Matmul NAME##_weighed{                                  \
      .batch = HEADS,                                                          \
      .m = TOKENS,                                                             \
      .n = WIDTH,                                                              \
      .k = TOKENS,                                                             \
      .schedule = {.mma = mn::Mma::MMA}};                                      \
  inline constexpr mn::Matmul NAME##_back{.batch = HEADS,                      \
                                          .m = TOKENS,                         \
                                          .n = WIDTH,                          \
                                          .k = TOKENS,                         \
                                          .transposedA = true,                 \
                                          .schedule = {.mma = mn::Mma::MMA}};

/// Scores, their softmax, what it weighs, and of this the product with the
/// weights transposed, twice, beside each other; one after another in `y`.
#define MN_TEST_ATTENTION(NAME, ROWS, HEADS, TOKENS, WIDTH, MMA)               \
  MN_TEST_HEADS(NAME, ROWS *HEADS, TOKENS, WIDTH, MMA)                         \
  using Chain_##NAME =                                                         \
      mn::Chain<mn::shape::chainBlocks(ROWS),                                  \
                mn::MatmulLink<float, Plain<float>, NAME##_scores>,            \
                mn::SoftmaxLink<float, Plain<float>, NAME##_softmax>,          \
                mn::MatmulLink<float, Plain<float>, NAME##_weighed>,           \
                mn::MatmulLink<float, Plain<float>, NAME##_back>,              \
                mn::Beside<mn::MatmulLink<float, Plain<float>, NAME##_back>>>; \
  MN_CHAIN_KERNEL(NAME, Chain_##NAME)
MN_TEST_ATTENTIONS(MN_TEST_ATTENTION)

/// The same, where blocks hold all but the last results, and the weights are
/// added to what is weighed: so many bytes of a row of images and of scores,
/// one after another, those of `x` first.
#define MN_TEST_HELD_ATTENTION(NAME, HEADS, TOKENS, WIDTH, MMA)                \
  MN_TEST_HEADS(NAME, HEADS, TOKENS, WIDTH, MMA)                               \
  inline constexpr int64_t NAME##_image = 4 * TOKENS * WIDTH;                  \
  inline constexpr int64_t NAME##_square = 4 * TOKENS * TOKENS;                \
  inline constexpr int64_t NAME##_apart = mn::shape::bytesHeld(NAME##_image);  \
  inline constexpr int64_t NAME##_weights =                                    \
      3 * NAME##_apart + mn::shape::bytesHeld(NAME##_square);                  \
  inline constexpr int64_t NAME##_end = 2 * NAME##_weights - 3 * NAME##_apart; \
  using Chain_##NAME = mn::Chain<                                              \
      mn::shape::heldBlocks(HEADS, NAME##_end),                                \
      mn::BringLink<NAME##_image, 0>,                                          \
      mn::Beside<mn::BringLink<NAME##_image, NAME##_apart>>,                   \
      mn::HeldLink<mn::MatmulLink<float, Plain<float>, NAME##_scores>,         \
                   mn::Held<0, NAME##_square, 3 * NAME##_apart>,               \
                   mn::Held<1, NAME##_image, 0>,                               \
                   mn::Held<2, NAME##_image, NAME##_apart>>,                   \
      mn::HeldLink<mn::SoftmaxLink<float, Plain<float>, NAME##_softmax>,       \
                   mn::Held<0, NAME##_square, NAME##_weights>,                 \
                   mn::Held<1, NAME##_square, 3 * NAME##_apart>>,              \
      mn::HeldLink<mn::MatmulLink<float, PlusB, NAME##_weighed>,               \
                   mn::Held<0, NAME##_image, 2 * NAME##_apart>,                \
                   mn::Held<1, NAME##_square, NAME##_weights>,                 \
                   mn::Held<2, NAME##_image, NAME##_apart>>,                   \
      mn::HeldLink<mn::MatmulLink<float, Plain<float>, NAME##_back>,           \
                   mn::Held<1, NAME##_square, NAME##_weights>,                 \
                   mn::Held<2, NAME##_image, 2 * NAME##_apart>>,               \
      mn::Beside<                                                              \
          mn::HeldLink<mn::MatmulLink<float, Plain<float>, NAME##_back>,       \
                       mn::Held<1, NAME##_square, NAME##_weights>,             \
                       mn::Held<2, NAME##_image, 2 * NAME##_apart>>>,          \
      mn::Beside<mn::TakeLink<NAME##_square, 3 * NAME##_apart>>,               \
      mn::Beside<mn::TakeLink<NAME##_square, NAME##_weights>>,                 \
      mn::Beside<mn::TakeLink<NAME##_image, 2 * NAME##_apart>>>;               \
  MN_CHAIN_KERNEL(NAME, Chain_##NAME)
MN_TEST_HELD_ATTENTIONS(MN_TEST_HELD_ATTENTION)

/// What columns sum up to, and the columns normalized.
#define MN_TEST_COLUMN_CHAIN(NAME, ROWS, EACH, SIZE)                           \
  inline constexpr mn::Reduce NAME##_columns{                                  \
      .outputs = ROWS * EACH, .size = SIZE, .contiguous = false};              \
  using Chain_##NAME = mn::Chain<                                              \
      mn::shape::chainBlocks(ROWS),                                            \
      mn::ReduceLink<mn::Sum, float, Floats<NAME##_columns>, NAME##_columns>,  \
      mn::RowsLink<Normalize<NAME##_columns>, NAME##_columns>>;                \
  MN_CHAIN_KERNEL(NAME, Chain_##NAME)
MN_TEST_COLUMN_CHAINS(MN_TEST_COLUMN_CHAIN)

#endif // MNISTC_TEST_GPU_CHAIN_KERNELS_H
