//===- chains.cpp - several steps in one launch ---------------------------===//

#include "case.h"
#include "kernels.h"

namespace test {

namespace {
/// Where each link's results are in `y`.
struct Places {
  Places(int64_t rows, int64_t n, int64_t k)
      : sums(rows * n), normalized(sums + rows),
        copies(normalized + rows * n + rows), back(copies + rows * n),
        end(back + rows * k) {}
  int64_t sums, normalized, copies, back, end;
};
} // namespace

/// One row of all that a chain computes.
static void computeRow(int64_t o, int64_t n, int64_t k, const Places &at,
                       const std::vector<Numbers> &in, Numbers &y) {
  double sum = 0, squares = 0;
  for (int64_t c = 0; c < n; ++c) {
    double &product = y[size_t(o * n + c)] = 0;
    for (int64_t i = 0; i < k; ++i)
      product += in[0][size_t(o * k + i)] * in[1][size_t(c * k + i)];
    sum += product;
    squares += product * product;
  }
  const double mean = sum / double(n);
  const double variance = squares / double(n) - mean * mean;
  y[size_t(at.sums + o)] = y[size_t(at.normalized + at.sums + o)] = sum;
  for (int64_t c = 0; c < n; ++c)
    y[size_t(at.normalized + o * n + c)] = y[size_t(at.copies + o * n + c)] =
        (y[size_t(o * n + c)] - mean) / std::sqrt(variance + 1);
  for (int64_t i = 0; i < k; ++i) {
    double &back = y[size_t(at.back + o * k + i)] = 0;
    for (int64_t c = 0; c < n; ++c)
      back += y[size_t(at.copies + o * n + c)] * in[1][size_t(c * k + i)];
  }
}

std::vector<Case> chainCases() {
  std::vector<Case> cases;
#define MN_CASE_CHAIN(NAME, ROWS, N, K)                                        \
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
                                  Copy{copies, normalized},                    \
                                  Plain<float>{p.y + at.back, copies, p.b});   \
        },                                                                     \
        Places(ROWS, N, K).end, ROWS * K, N * K);                              \
    c.tolerance = 1e-5;                                                        \
    c.reference = [](const std::vector<Numbers> &in, Numbers &y) {             \
      for (int64_t o = 0; o < ROWS; ++o)                                       \
        computeRow(o, N, K, Places(ROWS, N, K), in, y);                        \
    };                                                                         \
    cases.push_back(std::move(c));                                             \
  }
  MN_TEST_CHAINS(MN_CASE_CHAIN)
#undef MN_CASE_CHAIN
  return cases;
}

} // namespace test
