//===- chain-shapes.h - shapes of steps in one launch -----------*- C++ -*-===//
//
// Rows as in shapes.h.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_TEST_GPU_CHAIN_SHAPES_H
#define MNISTC_TEST_GPU_CHAIN_SHAPES_H

#include "shapes.h"

// clang-format off
/// Chains: so many rows, of a product with so many columns from so many terms,
/// the last first of all: one row a block, or some, with rows that are left over;
/// long rows for a few warps each, of which one has none. On tensor cores those
/// of several rows a block: of columns and terms that are left over, and whole.
#define MN_TEST_CHAINS(X)                                                                      \
  X(chain_one, 1, 3, 5, ffma)                                                                  \
  X(chain_head, 64, 10, 128, ffma)                                                             \
  X(chain_wide, 64, 84, 120, ffma)                                                             \
  X(chain_pairs, 201, 33, 17, ffma)                                                            \
  X(chain_many, 1000, 40, 64, ffma)                                                            \
  X(chain_columns, 140, 530, 12, ffma)                                                         \
  X(chain_long, 100, 1080, 3, ffma)                                                            \
  X(chain_threes, 300, 700, 5, ffma)                                                           \
  X(chain_many_tf32x3, 1000, 40, 64, tf32x3)                                                   \
  X(chain_left_tf32x3, 3001, 33, 101, tf32x3)                                                  \
  X(chain_many_tf32, 1000, 40, 64, tf32)                                                       \
  X(chain_many_bf16, 1000, 40, 64, bf16)

/// Chains of an attention: so many rows of so many heads each, of tokens of a
/// width: one head; two rows a block; more heads than a block holds; rows of a
/// softmax that have a warp each, and that are long for it. On tensor cores: parts
/// of one, two and four times 8 columns, sums that move, three times 16 terms, and
/// matrices that a block holds: more than at once, fewer in the last block, and one
/// of more elements than threads load at once.
#define MN_TEST_ATTENTIONS(X)                                                                  \
  X(attention_one, 1, 1, 5, 6, ffma)                                                           \
  X(attention_pairs, 140, 4, 17, 16, ffma)                                                     \
  X(attention_heads, 3, 40, 20, 33, ffma)                                                      \
  X(attention_tokens, 64, 2, 49, 24, ffma)                                                     \
  X(attention_longer, 3, 2, 66, 5, ffma)                                                       \
  X(attention_one_tf32x3, 1, 1, 5, 6, tf32x3)                                                  \
  X(attention_pairs_tf32x3, 140, 4, 17, 16, tf32x3)                                            \
  X(attention_heads_tf32x3, 3, 40, 20, 33, tf32x3)                                             \
  X(attention_tokens_tf32x3, 384, 1, 49, 16, tf32x3)                                           \
  X(attention_longer_tf32x3, 3, 2, 66, 5, tf32x3)                                              \
  X(attention_steps_tf32x3, 100, 1, 9, 48, tf32x3)                                             \
  X(attention_left_tf32x3, 20, 5, 49, 16, tf32x3)                                              \
  X(attention_less_tf32x3, 201, 1, 49, 16, tf32x3)                                             \
  X(attention_large_tf32x3, 2, 1, 97, 8, tf32x3)                                               \
  X(attention_tokens_tf32, 384, 1, 49, 16, tf32)                                               \
  X(attention_tokens_bf16, 384, 1, 49, 16, bf16)

/// The same of chains whose blocks hold tensors: so many heads; one row of each a
/// block, of many, some and few threads; tensors whose rows begin at multiples of
/// 16 bytes, of 4 and of 8.
#define MN_TEST_HELD_ATTENTIONS(X)                                                             \
  X(held_few_tf32x3, 4, 5, 6, tf32x3)                                                          \
  X(held_some_tf32x3, 140, 17, 16, tf32x3)                                                     \
  X(held_pairs_tf32, 268, 10, 7, tf32)                                                         \
  X(held_fours_bf16, 264, 28, 32, bf16)                                                        \
  X(held_tokens_bf16, 268, 49, 12, bf16)                                                       \
  X(held_tokens_tf32x3, 268, 49, 12, tf32x3)

/// Chains of rows that lie side by side: so many, of so many columns each, of a
/// size: of four, eight and more members, which several warps may share; columns and
/// lanes that are left over.
#define MN_TEST_COLUMN_CHAINS(X)                                                               \
  X(columns_one, 1, 3, 5)                                                                      \
  X(columns_tokens, 64, 16, 64)                                                                \
  X(columns_odd, 16, 49, 48)                                                                   \
  X(columns_long, 140, 33, 130)                                                                \
  X(columns_longer, 5, 2, 300)                                                                 \
  X(columns_single, 16, 1, 40)
// clang-format on

#endif // MNISTC_TEST_GPU_CHAIN_SHAPES_H
