//===- others.cpp - maps, reductions, softmax -----------------------------===//

#include "case.h"
#include "kernels.h"

namespace test {

namespace {

using Inputs = std::vector<Numbers>;

/// The index of the largest; of equal ones, NaN included, the first or last.
int64_t argMax(const mn::Reduce &s, const Numbers &x, int64_t o, bool last) {
  int64_t best = 0;
  for (int64_t r = 1; r < s.size; ++r) {
    const double v = x[reference::element(s, o, r)];
    const double top = x[reference::element(s, o, best)];
    const bool equal = v == top || (std::isnan(v) && std::isnan(top));
    if (v > top || (std::isnan(v) && !std::isnan(top)) || (last && equal))
      best = r;
  }
  return best;
}

template <typename Fold>
void fold(const mn::Reduce &s, const Numbers &x, Numbers &y, double first,
          const Fold &step) {
  for (int64_t o = 0; o < s.outputs; ++o) {
    y[size_t(o)] = first;
    for (int64_t r = 0; r < s.size; ++r)
      y[size_t(o)] = step(y[size_t(o)], x[reference::element(s, o, r)]);
  }
}

double larger(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? NAN : std::fmax(a, b);
}

#define MN_RUN_REDUCE(R, T, Y, KERNEL, NAME)                                   \
  [](mn::Context &ctx) {                                                       \
    const Pointers<Y, T> p(ctx, NAME.outputs, NAME.outputs *NAME.size);        \
    mn::reduce<mn::R, T>(ctx, KERNEL, NAME, Elements<T, Y, NAME>{p.y, p.a});   \
  }

void addReduces(std::vector<Case> &cases) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
#define MN_CASE_REDUCE(NAME, ...)                                              \
  {                                                                            \
    constexpr int64_t count = NAME.outputs * NAME.size;                        \
    Case c = make<float, float>(                                               \
        "sum " #NAME, MN_RUN_REDUCE(Sum, float, float, "sum_" #NAME, NAME),    \
        NAME.outputs, count);                                                  \
    c.tolerance = 1e-5;                                                        \
    c.reference = [](const Inputs &in, Numbers &y) {                           \
      fold(NAME, in[0], y, 0, [](double a, double b) { return a + b; });       \
    };                                                                         \
    cases.push_back(c);                                                        \
    Case d = make<float, float>(                                               \
        "max " #NAME,                                                          \
        MN_RUN_REDUCE(Max, float, float, "maximum_" #NAME, NAME),              \
        NAME.outputs, count);                                                  \
    d.reference = [](const Inputs &in, Numbers &y) {                           \
      fold(NAME, in[0], y, -infinity, larger);                                 \
    };                                                                         \
    d.hasNan = NAME.outputs > 32;                                              \
    cases.push_back(d);                                                        \
    Case e = make<int64_t, float>(                                             \
        "arg-max " #NAME,                                                      \
        MN_RUN_REDUCE(ArgMaxFirst, float, int64_t, "arg_first_" #NAME, NAME),  \
        NAME.outputs, count);                                                  \
    e.reference = [](const Inputs &in, Numbers &y) {                           \
      for (int64_t o = 0; o < NAME.outputs; ++o)                               \
        y[size_t(o)] = double(argMax(NAME, in[0], o, false));                  \
    };                                                                         \
    e.hasNan = e.fewValues = true;                                             \
    cases.push_back(e);                                                        \
    Case f = make<int64_t, int32_t>(                                           \
        "arg-max-last-i32 " #NAME,                                             \
        MN_RUN_REDUCE(ArgMaxLast, int32_t, int64_t, "arg_last_" #NAME, NAME),  \
        NAME.outputs, count);                                                  \
    f.reference = [](const Inputs &in, Numbers &y) {                           \
      for (int64_t o = 0; o < NAME.outputs; ++o)                               \
        y[size_t(o)] = double(argMax(NAME, in[0], o, true));                   \
    };                                                                         \
    f.fewValues = true;                                                        \
    cases.push_back(f);                                                        \
  }
  MN_TEST_REDUCES(MN_CASE_REDUCE)

  Case c = make<int64_t, int64_t>(
      "min-i64 few_columns",
      MN_RUN_REDUCE(Min, int64_t, int64_t, "min_i64", few_columns),
      few_columns.outputs, few_columns.outputs * few_columns.size);
  c.reference = [](const Inputs &in, Numbers &y) {
    fold(few_columns, in[0], y, 1e18,
         [](double a, double b) { return std::fmin(a, b); });
  };
  cases.push_back(c);
  Case d = make<bool, bool>("max-b8 middle",
                            MN_RUN_REDUCE(Max, bool, bool, "any_b8", middle),
                            middle.outputs, middle.outputs * middle.size);
  d.reference = [](const Inputs &in, Numbers &y) {
    fold(middle, in[0], y, 0, larger);
  };
  cases.push_back(d);
  Case e = make<double, double>(
      "sum-f64 whole", MN_RUN_REDUCE(Sum, double, double, "sum_f64", whole),
      whole.outputs, whole.outputs * whole.size);
  e.reference = [](const Inputs &in, Numbers &y) {
    fold(whole, in[0], y, 0, [](double a, double b) { return a + b; });
  };
  e.tolerance = 1e-12;
  cases.push_back(e);
}

void addSoftmaxes(std::vector<Case> &cases) {
#define MN_RUN_SOFTMAX(T, KERNEL, NAME)                                        \
  [](mn::Context &ctx) {                                                       \
    constexpr int64_t count = NAME.outer * NAME.size * NAME.inner;             \
    const Pointers<T, T> p(ctx, count, count);                                 \
    mn::softmax<T>(ctx, KERNEL, NAME, Plain<T>{p.y, p.a, nullptr});            \
  }
#define MN_CASE_SOFTMAX(NAME, ...)                                             \
  {                                                                            \
    constexpr int64_t count = NAME.outer * NAME.size * NAME.inner;             \
    Case c = make<float, float>("softmax " #NAME,                              \
                                MN_RUN_SOFTMAX(float, "softmax_" #NAME, NAME), \
                                count, count);                                 \
    c.reference = [](const Inputs &in, Numbers &y) {                           \
      reference::softmax(NAME, in[0], y);                                      \
    };                                                                         \
    cases.push_back(c);                                                        \
  }
  MN_TEST_SOFTMAXES(MN_CASE_SOFTMAX)
  constexpr int64_t count = warp_row.outer * warp_row.size;
  Case c = make<double, double>("softmax-f64 warp_row",
                                MN_RUN_SOFTMAX(double, "softmax_f64", warp_row),
                                count, count);
  c.reference = [](const Inputs &in, Numbers &y) {
    reference::softmax(warp_row, in[0], y);
  };
  cases.push_back(c);
}

void addMaps(std::vector<Case> &cases) {
#define MN_CASE_MAP(KERNEL, COUNT, F, OTHERWISE)                               \
  {                                                                            \
    Case c = make<float, float>(                                               \
        "pointwise " #KERNEL " " #COUNT,                                       \
        [](mn::Context &ctx) {                                                 \
          const Pointers<float, float> p(ctx, COUNT, COUNT, 128);              \
          mn::pointwise(ctx, #KERNEL, COUNT, F{p.y, p.a, p.b});                \
        },                                                                     \
        COUNT, COUNT, 128);                                                    \
    c.reference = [](const Inputs &in, Numbers &y) {                           \
      for (size_t i = 0; i < y.size(); ++i) {                                  \
        const double sum = in[0][i] + in[1][i % 128];                          \
        y[i] = sum > 0 ? sum : OTHERWISE;                                      \
      }                                                                        \
    };                                                                         \
    cases.push_back(c);                                                        \
  }
  MN_CASE_MAP(map_small, 64 * 128, Hidden, 0)
  MN_CASE_MAP(map_large, 30000000, Hidden, 0)
#define MN_RANDOM_ELEMENT mn::randomUniform(5, 1, 3, int64_t(i))
  MN_CASE_MAP(map_by_fours, 3, HiddenByFours, MN_RANDOM_ELEMENT)
  MN_CASE_MAP(map_by_fours, 64 * 128, HiddenByFours, MN_RANDOM_ELEMENT)
  MN_CASE_MAP(map_by_fours, 10007, HiddenByFours, MN_RANDOM_ELEMENT)
#define MN_CASE_TRANSPOSED(ROWS, COLUMNS, MATRICES)                            \
  {                                                                            \
    constexpr int64_t count = int64_t(MATRICES) * ROWS * COLUMNS;              \
    Case c = make<float, float>(                                               \
        "pointwise transposed " #ROWS "x" #COLUMNS " " #MATRICES,              \
        [](mn::Context &ctx) {                                                 \
          const Pointers<float, float> p(ctx, count, count, 128);              \
          mn::pointwise(ctx, "transposed_" #ROWS "_" #COLUMNS, count,          \
                        TransposedSum<ROWS, COLUMNS>{p.y, p.a, p.b});          \
        },                                                                     \
        count, count, 128);                                                    \
    c.reference = [](const Inputs &in, Numbers &y) {                           \
      for (int64_t i = 0; i < count; ++i) {                                    \
        const int64_t of = i / (ROWS * COLUMNS) * (ROWS * COLUMNS);            \
        const double sum =                                                     \
            in[0][size_t(of + i % COLUMNS * ROWS + i / COLUMNS % ROWS)] +      \
            in[1][size_t(i % 128)];                                            \
        y[size_t(i)] = sum > 0 ? sum : mn::randomUniform(5, 1, 3, i);          \
      }                                                                        \
    };                                                                         \
    cases.push_back(c);                                                        \
  }
  MN_CASE_TRANSPOSED(64, 64, 1)
  MN_CASE_TRANSPOSED(49, 512, 5)
  MN_CASE_TRANSPOSED(9, 131, 17)
  MN_CASE_TRANSPOSED(1000, 8, 3)
  MN_CASE_TRANSPOSED(67, 65, 2)
  MN_CASE_TRANSPOSED(196, 72, 3)
#define MN_CASE_DRAWN_MAP(KERNEL, OF_ROW)                                      \
  {                                                                            \
    Case c = make<float, float>(                                               \
        "pointwise " #KERNEL,                                                  \
        [](mn::Context &ctx) {                                                 \
          const Pointers<float, float> p(ctx, 10007, 0);                       \
          mn::pointwise(ctx, #KERNEL, 10007, DrawnOfRank<OF_ROW>{p.y});        \
        },                                                                     \
        10007, 0);                                                             \
    c.tolerance = 0;                                                           \
    c.reference = [](const Inputs &, Numbers &y) {                             \
      for (int64_t i = 0; i < 10007; ++i)                                      \
        y[size_t(i)] =                                                         \
            mn::randomUniform(5, 1, 3, mn::elementOfRank(i, OF_ROW, 2, 3));    \
    };                                                                         \
    cases.push_back(c);                                                        \
  }
  MN_CASE_DRAWN_MAP(map_of_rank, 12)
  MN_CASE_DRAWN_MAP(map_of_rank_odd, 13)
}

} // namespace

std::vector<Case> otherCases() {
  std::vector<Case> cases;
  addMaps(cases);
  addReduces(cases);
  addSoftmaxes(cases);
  return cases;
}

} // namespace test
