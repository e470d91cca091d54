//===- pooled.cpp - convolutions with a pool ------------------------------===//

#include "contractions.h"

namespace test {

namespace {

int64_t pools(const mn::Conv &s) {
  return int64_t(s.batch) * s.outChannels * s.pool.out[0] * s.pool.out[1] *
         s.pool.out[2];
}

/// The result of WithPool: the pool, where its maxima are, and what is pooled.
int64_t allOf(const mn::Conv &s) {
  return (s.pool.mean ? 1 : 2) * pools(s) + outputs(s);
}

mn::Pool poolOf(const mn::Conv &s) {
  mn::Pool pool{.layout = s.layout,
                .spatial = s.spatial,
                .batch = s.batch,
                .channels = s.outChannels};
  for (int d = 0; d < 3; ++d) {
    pool.in[d] = s.out[d], pool.out[d] = s.pool.out[d];
    pool.kernel[d] = pool.strides[d] = s.pool.kernel[d];
  }
  return pool;
}

void convWithPool(const mn::Conv &s, const Inputs &in, Numbers &y) {
  Numbers x(size_t(outputs(s)));
  forward(s, in, x);
  const mn::Pool pool = poolOf(s);
  const reference::Image image{s.layout, s.outChannels, pool.in};
  const size_t after = size_t(pools(s));
  reference::windows(pool, [&](int n, int c, int64_t o, const int(&at)[3]) {
    double best = 0, sum = 0;
    int seen = 0, where = -1;
    reference::window(pool, at, [&](const int(&tap)[3], const int(&p)[3]) {
      const double v = x[size_t(image.at(n, c, p))];
      if (seen++ == 0 || (v > best && best == best) || (v != v && best == best))
        best = v,
        where = (tap[0] * pool.kernel[1] + tap[1]) * pool.kernel[2] + tap[2];
      sum += v;
    });
    y[size_t(o)] = s.pool.mean ? sum / seen : best;
    if (!s.pool.mean)
      y[after + size_t(o)] = where;
  });
  std::copy(x.begin(), x.end(), y.end() - std::ptrdiff_t(x.size()));
}

/// Inputs are small integers: sums are exact in any precision, and windows have
/// several maxima. A mean is rounded.
Case exact(std::string name, const mn::Conv &s, void (*run)(mn::Context &)) {
  Case c = make<float>(std::move(name), run, allOf(s), inputs(s), weights(s),
                       flops(s));
  c.reference = [&s](const Inputs &in, Numbers &y) { convWithPool(s, in, y); };
  c.fewValues = true;
  c.tolerance = s.pool.mean ? 1e-7 : 0;
  return c;
}

/// Once more with NaN, but not 0 of the padding times that.
void addPooled(std::vector<Case> &cases, const mn::Conv &s, const Case &c) {
  cases.push_back(c);
  if (s.pads[0] + s.pads[1] != 0)
    return;
  cases.push_back(c);
  cases.back().name += " nan";
  cases.back().hasNan = true;
}

/// Of the weights, and of the biases where they are asked for.
int64_t gradients(const mn::Conv &s) {
  return weights(s) + (s.bias ? s.outChannels : 0);
}
template <mn::Conv S>
void gradients(const Numbers &x, const Numbers &grad, Numbers &y) {
  filterGrad(S, {x, grad}, y);
  const size_t pixels = size_t(S.out[0]) * S.out[1] * S.out[2];
  if (S.bias)
    for (size_t i = 0; i < grad.size(); ++i)
      y[size_t(weights(S)) + i / pixels % size_t(S.outChannels)] += grad[i];
}
template <mn::Conv S> void filterGradOf(const Inputs &in, Numbers &y) {
  gradients<S>(in[0], in[1], y);
}

/// Each value where its index says, if that is in the image; else 0.
template <mn::Conv S>
Numbers unpool(const Numbers &pooled, const Numbers &places) {
  Numbers grad(size_t(outputs(S)), 0.0);
  const mn::Pool pool = poolOf(S);
  const reference::Image image{S.layout, S.outChannels, pool.in};
  reference::windows(pool, [&](int n, int c, int64_t o, const int(&at)[3]) {
    const int place =
        OfWindows<S>::placeIn(mn::Index(o), float(places[size_t(o)]));
    reference::window(pool, at, [&](const int(&tap)[3], const int(&p)[3]) {
      if (place == (tap[0] * pool.kernel[1] + tap[1]) * pool.kernel[2] + tap[2])
        grad[size_t(image.at(n, c, p))] = pooled[size_t(o)];
    });
  });
  return grad;
}
template <mn::Conv S> void filterGradOfPool(const Inputs &in, Numbers &y) {
  gradients<S>(in[0], unpool<S>(in[1], in[2]), y);
}
template <mn::Conv S> void inputGradOfPool(const Inputs &in, Numbers &y) {
  inputGrad(S, {unpool<S>(in[0], in[2]), in[1]}, y);
}

/// Of small integers, too.
Case exactGrad(std::string name, int64_t y, int64_t a, int64_t b,
               void (*run)(mn::Context &),
               void (*reference)(const Inputs &, Numbers &)) {
  Case c = make<float, float>(std::move(name), run, y, a, b);
  c.reference = reference;
  c.fewValues = true;
  c.tolerance = 0;
  return c;
}
/// The last case has the places of maxima too; once more with NaN, but not 0 of
/// the padding times that.
void addPlaces(std::vector<Case> &cases, const mn::Conv &s) {
  cases.back().operands.push_back({mn::Type::f32, pools(s)});
  if (s.pads[0] + s.pads[1] != 0)
    return;
  cases.push_back(cases.back());
  cases.back().name += " nan";
  cases.back().hasNan = true;
  cases.back().special = 1;
}

} // namespace

std::vector<Case> pooledCases() {
  std::vector<Case> cases;
#define MN_CASE_POOLED(NAME, ...)                                              \
  addPooled(cases, NAME, exact("conv " #NAME, NAME, [](mn::Context &ctx) {     \
              const Pointers<float, float> p(ctx, allOf(NAME), inputs(NAME),   \
                                             weights(NAME));                   \
              mn::conv<float>(ctx, "conv_" #NAME, NAME##_forward,              \
                              WithPool<NAME.pool.mean>{                        \
                                  {{p.y, p.a, p.b}}, mn::Index(pools(NAME))}); \
            }));
  MN_TEST_POOLED_CONVS(MN_CASE_POOLED)
  MN_TEST_MEAN_CONVS(MN_CASE_POOLED)

#define MN_CASE_FILTER_GRAD(NAME, GRADS, REFERENCE, ...)                       \
  cases.push_back(exactGrad(                                                   \
      "conv-filter-grad " #NAME, gradients(NAME), inputs(NAME), GRADS(NAME),   \
      [](mn::Context &ctx) {                                                   \
        const Pointers<float, float> p(ctx, gradients(NAME), inputs(NAME),     \
                                       GRADS(NAME), pools(NAME));              \
        mn::convFilterGrad<float>(ctx, "filter_grad_" #NAME, NAME##_filter,    \
                                  NAME##_functor{__VA_ARGS__});                \
      },                                                                       \
      REFERENCE<NAME##_filter>));
#define MN_CASE_BIASED(NAME, ...)                                              \
  MN_CASE_FILTER_GRAD(NAME, outputs, filterGradOf, {{p.y, p.a, p.b}},          \
                      p.y + weights(NAME))
#define MN_CASE_UNPOOLED(NAME, ...)                                            \
  MN_CASE_FILTER_GRAD(NAME, pools, filterGradOfPool,                           \
                      {{{p.y, p.a, p.b}}, p.extra[0]}, p.y + weights(NAME))    \
  addPlaces(cases, NAME);
#define MN_CASE_UNPOOLED_BANDS(NAME, ...)                                      \
  MN_CASE_FILTER_GRAD(NAME, pools, filterGradOfPool, {{p.y, p.a, p.b}},        \
                      p.extra[0])                                              \
  addPlaces(cases, NAME);
  MN_TEST_BIASED_CONVS(MN_CASE_BIASED)
  MN_TEST_UNPOOLED_CONVS(MN_CASE_UNPOOLED)
  MN_TEST_UNPOOLED_BANDS(MN_CASE_UNPOOLED_BANDS)

#define MN_CASE_UNPOOLED_PATCHES(NAME, ...)                                    \
  cases.push_back(exactGrad(                                                   \
      "conv-input-grad " #NAME, inputs(NAME), pools(NAME), weights(NAME),      \
      [](mn::Context &ctx) {                                                   \
        const Pointers<float, float> p(ctx, inputs(NAME), pools(NAME),         \
                                       weights(NAME), pools(NAME));            \
        mn::convInputGrad<float>(                                              \
            ctx, "input_grad_" #NAME, NAME##_input,                            \
            NAME##_functor{{{p.y, p.a, p.b}}, p.extra[0]});                    \
      },                                                                       \
      inputGradOfPool<NAME##_input>));                                         \
  addPlaces(cases, NAME);
  MN_TEST_UNPOOLED_PATCHES(MN_CASE_UNPOOLED_PATCHES)
  return cases;
}

} // namespace test
