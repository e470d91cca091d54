//===- chains.cpp - several steps in one launch ---------------------------===//

#include "case.h"
#include "kernels.h"

namespace test {

namespace {
/// Where each link's results are in `y`.
struct Places {
  Places(int64_t rows, int64_t n, int64_t k)
      : sums(rows * n), normalized(sums + rows),
        copies(normalized + rows * n + rows), others(copies + rows * n),
        back(others + rows * k), end(back + rows * k) {}
  int64_t sums, normalized, copies, others, back, end;
};
} // namespace

/// One row of all that a chain computes.
static void computeRow(int64_t o, int64_t n, int64_t k, const Places &at,
                       const std::vector<Numbers> &in, Numbers &y) {
  double &sum = y[size_t(at.sums + o)] = 0;
  for (int64_t c = 0; c < n; ++c) {
    double &product = y[size_t(o * n + c)] = 0;
    for (int64_t i = 0; i < k; ++i)
      product += in[0][size_t(o * k + i)] * in[1][size_t(c * k + i)];
    sum += product;
  }
  y[size_t(at.normalized + at.sums + o)] = reference::normalizeRow(
      n, [&](int64_t c) { return y[size_t(o * n + c)]; },
      [&](int64_t c, double v) {
        y[size_t(at.normalized + o * n + c)] = v;
        y[size_t(at.copies + o * n + c)] = v;
      });
  for (int64_t i = 0; i < k; ++i) {
    y[size_t(at.others + o * k + i)] = in[0][size_t(o * k + i)];
    double &back = y[size_t(at.back + o * k + i)] = 0;
    for (int64_t c = 0; c < n; ++c)
      back += y[size_t(at.copies + o * n + c)] * in[1][size_t(c * k + i)];
  }
}

/// One head of an attention, as its kernel computes it; `addsWeights`: to what
/// is weighed.
static void computeHead(int64_t head, int64_t heads, int64_t tokens,
                        int64_t width, const std::vector<Numbers> &in,
                        Numbers &y, bool addsWeights = false) {
  const int64_t square = heads * tokens * tokens,
                image = heads * tokens * width;
  const auto at = [&](int64_t base, int64_t row, int64_t column,
                      int64_t columns) {
    return size_t(base + (head * tokens + row) * columns + column);
  };
  const auto product = [&](int64_t base, int64_t row, int64_t column,
                           int64_t terms, const auto &term) {
    double &sum = y[at(base, row, column, base == 0 ? tokens : width)] = 0;
    for (int64_t i = 0; i < terms; ++i)
      sum += term(i);
  };
  for (int64_t r = 0; r < tokens; ++r) {
    double total = 0;
    for (int64_t c = 0; c < tokens; ++c) {
      product(0, r, c, width, [&](int64_t i) {
        return in[0][at(0, r, i, width)] * in[1][at(0, c, i, width)];
      });
      total += y[at(square, r, c, tokens)] = std::exp(y[at(0, r, c, tokens)]);
    }
    for (int64_t c = 0; c < tokens; ++c)
      y[at(square, r, c, tokens)] /= total;
    for (int64_t c = 0; c < width; ++c) {
      product(2 * square, r, c, tokens, [&](int64_t i) {
        return y[at(square, r, i, tokens)] * in[1][at(0, i, c, width)];
      });
      if (addsWeights)
        y[at(2 * square, r, c, width)] += in[1][at(0, r, c, width)];
    }
  }
  for (int64_t r = 0; r < tokens; ++r)
    for (int64_t c = 0; c < width; ++c)
      product(2 * square + image, r, c, tokens, [&](int64_t i) {
        return y[at(square, i, r, tokens)] * y[at(2 * square, i, c, width)];
      });
}

/// One column, and its place among the results.
static void computeColumn(int64_t o, int64_t columns, int64_t size,
                          const std::vector<Numbers> &in, Numbers &y) {
  const auto x = [&](int64_t r) { return in[0][size_t(r * columns + o)]; };
  y[size_t(o)] = 0;
  for (int64_t r = 0; r < size; ++r)
    y[size_t(o)] += x(r);
  y[size_t(columns + size * columns + o)] =
      reference::normalizeRow(size, x, [&](int64_t r, double v) {
        y[size_t(columns + r * columns + o)] = v;
      });
}

/// Of two products and what is between.
static double toleranceOf(mn::Mma mma) {
  return mma == mn::Mma::bf16 ? 2e-2 : mma == mn::Mma::tf32 ? 3e-3 : 1e-5;
}

std::vector<Case> chainCases() {
  std::vector<Case> cases;
#define MN_CASE_CHAIN(NAME, ROWS, N, K, MMA)                                   \
  {                                                                            \
    Case c = make<float, float>(                                               \
        #NAME,                                                                 \
        [](mn::Context &ctx) {                                                 \
          const Places at(ROWS, N, K);                                         \
          const Pointers<float, float> p(ctx, at.end, ROWS *K, N *K);          \
          float *normalized = p.y + at.normalized, *copies = p.y + at.copies;  \
          mn::chain<Chain_##NAME>(ctx, #NAME, Plain<float>{p.y, p.a, p.b},     \
                                  Floats<NAME##_rows>{p.y + at.sums, p.y},     \
                                  Normalize<NAME##_rows>{normalized, p.y},     \
                                  CopyOf<ROWS, N>{copies, normalized},         \
                                  CopyOf<ROWS, K>{p.y + at.others, p.a},       \
                                  Plain<float>{p.y + at.back, copies, p.b});   \
        },                                                                     \
        Places(ROWS, N, K).end, ROWS * K, N * K);                              \
    c.tolerance = toleranceOf(mn::Mma::MMA);                                   \
    c.reference = [](const std::vector<Numbers> &in, Numbers &y) {             \
      for (int64_t o = 0; o < ROWS; ++o)                                       \
        computeRow(o, N, K, Places(ROWS, N, K), in, y);                        \
    };                                                                         \
    cases.push_back(std::move(c));                                             \
  }
  MN_TEST_CHAINS(MN_CASE_CHAIN)
#undef MN_CASE_CHAIN
#define MN_CASE_ATTENTION(NAME, ROWS, HEADS, TOKENS, WIDTH, MMA)               \
  {                                                                            \
    constexpr int64_t heads = ROWS * HEADS, square = heads * TOKENS * TOKENS;  \
    constexpr int64_t image = heads * TOKENS * WIDTH;                          \
    constexpr int64_t count = 2 * square + 3 * image;                          \
    Case c = make<float, float>(                                               \
        #NAME,                                                                 \
        [](mn::Context &ctx) {                                                 \
          const Pointers<float, float> p(ctx, count, image, image);            \
          float *weights = p.y + square, *weighed = weights + square;          \
          mn::chain<Chain_##NAME>(                                             \
              ctx, #NAME, Plain<float>{p.y, p.a, p.b},                         \
              Plain<float>{weights, p.y, nullptr},                             \
              Plain<float>{weighed, weights, p.b},                             \
              Plain<float>{weighed + image, weights, weighed},                 \
              Plain<float>{weighed + 2 * image, weights, weighed});            \
        },                                                                     \
        count, image, image);                                                  \
    c.tolerance = toleranceOf(mn::Mma::MMA);                                   \
    c.reference = [](const std::vector<Numbers> &in, Numbers &y) {             \
      for (int64_t head = 0; head < heads; ++head)                             \
        computeHead(head, heads, TOKENS, WIDTH, in, y);                        \
      std::copy_n(y.end() - 2 * image, image, y.end() - image);                \
    };                                                                         \
    cases.push_back(std::move(c));                                             \
  }
  MN_TEST_ATTENTIONS(MN_CASE_ATTENTION)
#undef MN_CASE_ATTENTION
#define MN_CASE_HELD_ATTENTION(NAME, HEADS, TOKENS, WIDTH, MMA)                \
  {                                                                            \
    constexpr int64_t square = HEADS * TOKENS * TOKENS;                        \
    constexpr int64_t image = HEADS * TOKENS * WIDTH;                          \
    static_assert(square % 4 == 0 && image % 4 == 0, "tensors are aligned");   \
    Case c = make<float, float>(                                               \
        #NAME,                                                                 \
        [](mn::Context &ctx) {                                                 \
          const Pointers<float, float> p(ctx, 2 * square + 3 * image, image,   \
                                         image);                               \
          float *weights = p.y + square, *weighed = weights + square;          \
          mn::chain<Chain_##NAME>(                                             \
              ctx, #NAME, mn::BroughtRows{p.a}, mn::BroughtRows{p.b},          \
              Plain<float>{nullptr, nullptr, nullptr},                         \
              Plain<float>{nullptr, nullptr, nullptr},                         \
              PlusB{nullptr, nullptr, nullptr},                                \
              Plain<float>{weighed + image, nullptr, nullptr},                 \
              Plain<float>{weighed + 2 * image, nullptr, nullptr},             \
              mn::TakenRows{p.y}, mn::TakenRows{weights},                      \
              mn::TakenRows{weighed});                                         \
        },                                                                     \
        2 * square + 3 * image, image, image);                                 \
    c.tolerance = toleranceOf(mn::Mma::MMA);                                   \
    c.reference = [](const std::vector<Numbers> &in, Numbers &y) {             \
      for (int64_t head = 0; head < HEADS; ++head)                             \
        computeHead(head, HEADS, TOKENS, WIDTH, in, y, true);                  \
      std::copy_n(y.end() - 2 * image, image, y.end() - image);                \
    };                                                                         \
    cases.push_back(std::move(c));                                             \
  }
  MN_TEST_HELD_ATTENTIONS(MN_CASE_HELD_ATTENTION)
#undef MN_CASE_HELD_ATTENTION
#define MN_CASE_COLUMN_CHAIN(NAME, ROWS, EACH, SIZE)                           \
  {                                                                            \
    constexpr int64_t columns = ROWS * EACH, count = columns * (SIZE + 2);     \
    Case c = make<float, float>(                                               \
        #NAME,                                                                 \
        [](mn::Context &ctx) {                                                 \
          const Pointers<float, float> p(ctx, count, columns *SIZE, 1);        \
          mn::chain<Chain_##NAME>(                                             \
              ctx, #NAME, Floats<NAME##_columns>{p.y, p.a},                    \
              Normalize<NAME##_columns>{p.y + columns, p.a});                  \
        },                                                                     \
        count, columns * SIZE, 1);                                             \
    c.tolerance = 1e-5;                                                        \
    c.reference = [](const std::vector<Numbers> &in, Numbers &y) {             \
      for (int64_t o = 0; o < columns; ++o)                                    \
        computeColumn(o, columns, SIZE, in, y);                                \
    };                                                                         \
    cases.push_back(std::move(c));                                             \
  }
  MN_TEST_COLUMN_CHAINS(MN_CASE_COLUMN_CHAIN)
#undef MN_CASE_COLUMN_CHAIN
  return cases;
}

} // namespace test
