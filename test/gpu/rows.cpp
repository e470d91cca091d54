//===- rows.cpp - steps that reduce rows ----------------------------------===//

#include "case.h"
#include "kernels.h"

namespace test {

static void normalize(const mn::Reduce &s, const Numbers &x, Numbers &y) {
  for (int64_t o = 0; o < s.outputs; ++o)
    y[size_t(s.outputs * s.size + o)] = reference::normalizeRow(
        s.size, [&](int64_t r) { return x[reference::element(s, o, r)]; },
        [&](int64_t r, double v) { y[reference::element(s, o, r)] = v; });
}

static void average(const mn::Reduce &s, const Numbers &x, Numbers &y) {
  for (int64_t o = 0; o < s.outputs; ++o) {
    double sum = 0;
    for (int64_t r = 0; r < s.size; ++r)
      sum += x[reference::element(s, o, r)];
    y[size_t(o)] = sum / double(s.size);
  }
}

/// The mean of the rows' means, and of where their maxima are.
static void totalsOf(const mn::Reduce &s, const Numbers &x, double *y) {
  for (int64_t o = 0; o < s.outputs; ++o) {
    double sum = 0;
    int64_t best = 0;
    for (int64_t r = 0; r < s.size; ++r) {
      const double value = x[reference::element(s, o, r)];
      sum += value;
      if (value > x[reference::element(s, o, best)])
        best = r;
    }
    y[0] += sum / double(s.size) / double(s.outputs);
    y[1] += double(best % 7) / double(s.outputs);
  }
}

static void totals(const mn::Reduce &s, const Numbers &x, Numbers &y) {
  y[0] = y[1] = 0;
  totalsOf(s, x, y.data());
}

static void both(const mn::Reduce &s, const Numbers &x, Numbers &y) {
  for (int64_t o = 0; o < s.outputs; ++o) {
    double sum = 0;
    for (int64_t r = 0; r < s.size; ++r)
      sum += x[reference::element(s, o, r)];
    for (int64_t r = 0; r < s.size; ++r) {
      const size_t at = reference::element(s, o, r);
      y[at] = x[at] - sum / double(s.size);
    }
  }
  double *to = y.data() + s.outputs * s.size;
  to[0] = to[1] = 0;
  totalsOf(s, x, to);
}

/// Random numbers of the plain formula, each by itself.
static void drawn(const mn::Reduce &s, const Numbers &x, Numbers &y) {
  for (int64_t o = 0; o < s.outputs; ++o) {
    double top = x[reference::element(s, o, 0)];
    for (int64_t r = 0; r < s.size; ++r)
      top = std::max(top, x[reference::element(s, o, r)]);
    double largest = -HUGE_VAL;
    for (int64_t r = 0; r < s.size; ++r) {
      const size_t at = reference::element(s, o, r);
      const float uniform = mn::randomUniform(5, 1, 3, int64_t(at));
      y[at] = uniform < 0.5f ? uniform : top;
      largest = std::max(largest, y[at]);
    }
    y[size_t(s.outputs * s.size + o)] = largest;
  }
}

/// A step with one operand that writes `results` numbers.
static Case rowCase(std::string name, void (*run)(mn::Context &),
                    void (*reference)(const mn::Reduce &, const Numbers &,
                                      Numbers &),
                    const mn::Reduce &s, int64_t results) {
  Case c;
  c.name = std::move(name);
  c.run = run;
  c.operands = {{typeOf<float>(), results},
                {typeOf<float>(), s.outputs * s.size},
                {typeOf<float>(), 0}};
  c.tolerance = 1e-5;
  c.reference = [=](const std::vector<Numbers> &in, Numbers &y) {
    reference(s, in[0], y);
  };
  return c;
}

std::vector<Case> rowCases() {
  std::vector<Case> cases;
#define MN_CASE_ROW(NAME)                                                      \
  {                                                                            \
    constexpr int64_t count = NAME.outputs * NAME.size;                        \
    cases.push_back(rowCase(                                                   \
        "rows " #NAME,                                                         \
        [](mn::Context &ctx) {                                                 \
          const Pointers<float, float> p(ctx, count + NAME.outputs, count);    \
          mn::rows(ctx, "rows_" #NAME, NAME, Normalize<NAME>{p.y, p.a});       \
        },                                                                     \
        normalize, NAME, count + NAME.outputs));                               \
    cases.push_back(rowCase(                                                   \
        "row means " #NAME,                                                    \
        [](mn::Context &ctx) {                                                 \
          const Pointers<float, float> p(ctx, NAME.outputs, count);            \
          mn::rows(ctx, "means_" #NAME, NAME, Average<NAME>{p.y, p.a});        \
        },                                                                     \
        average, NAME, NAME.outputs));                                         \
    cases.push_back(rowCase(                                                   \
        "row totals " #NAME,                                                   \
        [](mn::Context &ctx) {                                                 \
          const Pointers<float, float> p(ctx, 2, count);                       \
          mn::rows(ctx, "totals_" #NAME, NAME, OnlyTotals<NAME>{p.y, p.a});    \
        },                                                                     \
        totals, NAME, 2));                                                     \
    cases.push_back(rowCase(                                                   \
        "rows and totals " #NAME,                                              \
        [](mn::Context &ctx) {                                                 \
          const Pointers<float, float> p(ctx, count + 2, count);               \
          mn::rows(ctx, "both_" #NAME, NAME, AlsoTotals<NAME>{p.y, p.a});      \
        },                                                                     \
        both, NAME, count + 2));                                               \
  }
  MN_TEST_ROWS(MN_CASE_ROW)
#undef MN_CASE_ROW
#define MN_CASE_DRAWN_ROW(NAME)                                                \
  {                                                                            \
    constexpr int64_t count = NAME.outputs * NAME.size;                        \
    cases.push_back(rowCase(                                                   \
        "drawn rows " #NAME,                                                   \
        [](mn::Context &ctx) {                                                 \
          const Pointers<float, float> p(ctx, count + NAME.outputs, count);    \
          mn::rows(ctx, "drawn_" #NAME, NAME, Drawn<NAME>{p.y, p.a});          \
        },                                                                     \
        drawn, NAME, count + NAME.outputs));                                   \
    cases.back().tolerance = 0;                                                \
  }
  MN_TEST_DRAWN_ROWS(MN_CASE_DRAWN_ROW)
#undef MN_CASE_DRAWN_ROW
  return cases;
}

} // namespace test
