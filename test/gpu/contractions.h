//===- contractions.h - cases of products and convolutions ------*- C++ -*-===//
//
// What a row of shapes.h becomes: kernels and library calls, each with its
// reference and with the error that its arithmetic allows.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_TEST_GPU_CONTRACTIONS_H
#define MNISTC_TEST_GPU_CONTRACTIONS_H

#include "case.h"
#include "kernels.h"

namespace test {

using Inputs = std::vector<Numbers>;

inline int64_t inputs(const mn::Conv &s) {
  return int64_t(s.batch) * s.inChannels * s.in[0] * s.in[1] * s.in[2];
}
inline int64_t outputs(const mn::Conv &s) {
  return int64_t(s.batch) * s.outChannels * s.out[0] * s.out[1] * s.out[2];
}
inline int64_t weights(const mn::Conv &s) {
  return int64_t(s.outChannels) * (s.inChannels / s.groups) * s.kernel[0] *
         s.kernel[1] * s.kernel[2];
}
inline double flops(const mn::Conv &s) {
  return 2.0 * double(outputs(s)) * double(weights(s)) / s.outChannels;
}

template <typename T>
Case make(std::string name, void (*run)(mn::Context &), int64_t y, int64_t a,
          int64_t b, double flops) {
  Case c;
  c.name = std::move(name);
  c.run = run;
  c.operands = {{typeOf<T>(), y}, {typeOf<T>(), a}, {typeOf<T>(), b}};
  c.flops = flops;
  c.tolerance = std::is_same_v<T, float> ? 2e-6 : 1e-13;
  return c;
}

/// A product of two rounded numbers is off by two roundings at most; what is
/// left of both halves of a split one is within what f32 is allowed.
template <typename S> double toleranceOf(const S &s, double ofFfma) {
  switch (s.schedule.mma) {
  case mn::Mma::tf32:
    return 1.0 / (1 << 10);
  case mn::Mma::bf16:
    return 1.0 / (1 << 7);
  case mn::Mma::tf32x3:
    return 1e-6;
  default:
    return ofFfma;
  }
}

// Which product adds to what: the only difference between the three.
inline void forward(const mn::Conv &s, const Inputs &in, Numbers &y) {
  reference::products(s, [&](int64_t o, int64_t i, int64_t w) {
    y[size_t(o)] += in[0][size_t(i)] * in[1][size_t(w)];
  });
}
inline void inputGrad(const mn::Conv &s, const Inputs &in, Numbers &y) {
  reference::products(s, [&](int64_t o, int64_t i, int64_t w) {
    y[size_t(i)] += in[0][size_t(o)] * in[1][size_t(w)];
  });
}
inline void filterGrad(const mn::Conv &s, const Inputs &in, Numbers &y) {
  reference::products(s, [&](int64_t o, int64_t i, int64_t w) {
    y[size_t(w)] += in[0][size_t(i)] * in[1][size_t(o)];
  });
}

/// Whether the target may ask cuDNN for the gradient of a filter. For few
/// weights over many images its sums are off by up to 5e-4, and it is slower;
/// with uneven padding some are wrong.
inline bool isForCudnn(const mn::Conv &s) {
  const auto weights =
      s.inChannels / s.groups * s.kernel[0] * s.kernel[1] * s.kernel[2];
  for (int d = 0; d < 3; ++d)
    if (s.pads[d] != s.padsAfter[d])
      return false;
  return weights >= 65 || s.batch < 64;
}

/// act(y + bias + residual), the operands after the first two.
inline void epilogue(Numbers &y, const Inputs &in, bool residual, bool relu,
                     const std::function<size_t(size_t)> &channel) {
  for (size_t i = 0; i < y.size(); ++i) {
    y[i] += in[2][channel(i)];
    if (residual)
      y[i] += in[3][i];
    if (relu)
      y[i] = y[i] < 0 ? 0 : y[i]; // a NaN stays one
  }
}

template <typename T>
void addMatmul(std::vector<Case> &cases, std::string name, const mn::Matmul &s,
               void (*run)(mn::Context &)) {
  Case c = make<T>(std::move(name), run, int64_t(s.batch) * s.m * s.n,
                   int64_t(s.batch) * s.m * s.k, int64_t(s.batch) * s.n * s.k,
                   2.0 * s.batch * s.m * s.n * s.k);
  c.reference = [s](const Inputs &in, Numbers &y) {
    reference::matmul(s, in[0], in[1], y);
  };
  c.tolerance = toleranceOf(s, c.tolerance);
  cases.push_back(c);
}

/// Once more what there is of products and convolutions, with operands that are
/// infinite, no numbers, or as large as there are.
void addSpecial(std::vector<Case> &cases);

#define MN_RUN_CONV(NAME)                                                      \
  [](mn::Context &ctx) {                                                       \
    const Pointers<float, float> p(ctx, outputs(NAME), inputs(NAME),           \
                                   weights(NAME));                             \
    mn::conv<float>(ctx, "conv_" #NAME, NAME##_forward,                        \
                    Forward<float>{{p.y, p.a, p.b}});                          \
  }
#define MN_CASE_CONV(NAME, ...)                                                \
  {                                                                            \
    Case c = make<float>("conv " #NAME, MN_RUN_CONV(NAME), outputs(NAME),      \
                         inputs(NAME), weights(NAME), flops(NAME));            \
    c.reference = [](const Inputs &in, Numbers &y) { forward(NAME, in, y); };  \
    c.tolerance = toleranceOf(NAME, c.tolerance);                              \
    cases.push_back(c);                                                        \
    Case d = make<float>(                                                      \
        "conv-input-grad " #NAME,                                              \
        [](mn::Context &ctx) {                                                 \
          const Pointers<float, float> p(ctx, inputs(NAME), outputs(NAME),     \
                                         weights(NAME));                       \
          mn::convInputGrad<float>(ctx, "input_grad_" #NAME, NAME##_input,     \
                                   InputGrad<float>{{p.y, p.a, p.b}});         \
        },                                                                     \
        inputs(NAME), outputs(NAME), weights(NAME), flops(NAME));              \
    d.reference = [](const Inputs &in, Numbers &y) {                           \
      inputGrad(NAME, in, y);                                                  \
    };                                                                         \
    d.tolerance = toleranceOf(NAME, d.tolerance);                              \
    cases.push_back(d);                                                        \
    Case e = make<float>(                                                      \
        "conv-filter-grad " #NAME,                                             \
        [](mn::Context &ctx) {                                                 \
          const Pointers<float, float> p(ctx, weights(NAME), inputs(NAME),     \
                                         outputs(NAME));                       \
          mn::convFilterGrad<float>(ctx, "filter_grad_" #NAME, NAME##_filter,  \
                                    OtherGrad<float>{{p.y, p.a, p.b}});        \
        },                                                                     \
        weights(NAME), inputs(NAME), outputs(NAME), flops(NAME));              \
    e.reference = [](const Inputs &in, Numbers &y) {                           \
      filterGrad(NAME, in, y);                                                 \
    };                                                                         \
    e.tolerance = toleranceOf(NAME, 1e-5);                                     \
    cases.push_back(e);                                                        \
  }

/// A convolution that packs its filters, and then one that finds them packed:
/// they were before the kernel between them began.
#define MN_CASE_PACKED(NAME)                                                   \
  {                                                                            \
    Case c = make<float>(                                                      \
        "conv " #NAME " packed",                                               \
        [](mn::Context &ctx) {                                                 \
          MN_RUN_CONV(NAME)(ctx);                                              \
          ctx.part = mn::StepPart::others;                                     \
          MN_RUN_CONV(NAME)(ctx);                                              \
          ctx.part = mn::StepPart::all;                                        \
        },                                                                     \
        outputs(NAME), inputs(NAME), weights(NAME), flops(NAME));              \
    c.reference = [](const Inputs &in, Numbers &y) { forward(NAME, in, y); };  \
    c.tolerance = toleranceOf(NAME, c.tolerance);                              \
    cases.push_back(c);                                                        \
  }

#define MN_RUN_MATMUL(T, F, KERNEL, NAME)                                      \
  [](mn::Context &ctx) {                                                       \
    static constexpr mn::Matmul s = NAME;                                      \
    const Pointers<T, T> p(ctx, int64_t(s.batch) * s.m * s.n,                  \
                           int64_t(s.batch) * s.m * s.k,                       \
                           int64_t(s.batch) * s.n * s.k);                      \
    mn::matmul<T>(ctx, KERNEL, NAME##_product, F{p.y, p.a, p.b});              \
  }
#define MN_CASE_MATMUL(NAME, ...)                                              \
  addMatmul<float>(cases, "matmul " #NAME, NAME,                               \
                   MN_RUN_MATMUL(float, Plain<float>, "matmul_" #NAME, NAME));

#define MN_CASE_ROUNDED_MATMUL(NAME, ...)                                      \
  addMatmul<mn::Bf16>(                                                         \
      cases, "matmul rounded " #NAME, NAME, [](mn::Context &ctx) {             \
        const Pointers<mn::Bf16, mn::Bf16> p(                                  \
            ctx, int64_t(NAME.batch) * NAME.m * NAME.n,                        \
            int64_t(NAME.batch) * NAME.m * NAME.k,                             \
            int64_t(NAME.batch) * NAME.n * NAME.k);                            \
        mn::matmul<float>(ctx, "matmul_" #NAME, NAME##_product,                \
                          Rounded{p.y, p.a, p.b});                             \
      });

/// Of floats, or of what is bf16 in memory and rounded again.
#define MN_CASE_CUDNN(NAME, ...) MN_CASE_CUDNN_OF(float, "", NAME, 1e-5)
#define MN_CASE_CUDNN_ROUNDED(NAME, ...)                                       \
  MN_CASE_CUDNN_OF(mn::Bf16, " rounded", NAME, 1.0 / (1 << 8))
#define MN_CASE_CUDNN_OF(T, SUFFIX, NAME, TOLERANCE)                           \
  {                                                                            \
    const auto add =                                                           \
        [&](const char *kind, void (*run)(mn::Context &), int64_t y,           \
            int64_t a, int64_t b,                                              \
            void (*reference)(const mn::Conv &, const Inputs &, Numbers &)) {  \
          Case c = make<T>(std::string(kind) + " " #NAME SUFFIX, run, y, a, b, \
                           flops(NAME));                                       \
          c.implementation = "cudnn";                                          \
          c.tolerance = toleranceOf(NAME, TOLERANCE);                          \
          c.reference = [reference](const Inputs &in, Numbers &y) {            \
            reference(NAME, in, y);                                            \
          };                                                                   \
          cases.push_back(c);                                                  \
        };                                                                     \
    add(                                                                       \
        "cudnn-conv",                                                          \
        [](mn::Context &ctx) {                                                 \
          const Pointers<T, T> p(ctx, outputs(NAME), inputs(NAME),             \
                                 weights(NAME));                               \
          mn::cudnn::conv(ctx, p.y, p.a, p.b, NAME);                           \
        },                                                                     \
        outputs(NAME), inputs(NAME), weights(NAME), forward);                  \
    add(                                                                       \
        "cudnn-input-grad",                                                    \
        [](mn::Context &ctx) {                                                 \
          const Pointers<T, T> p(ctx, inputs(NAME), outputs(NAME),             \
                                 weights(NAME));                               \
          mn::cudnn::convInputGrad(ctx, p.y, p.a, p.b, NAME);                  \
        },                                                                     \
        inputs(NAME), outputs(NAME), weights(NAME), inputGrad);                \
    if (isForCudnn(NAME))                                                      \
      add(                                                                     \
          "cudnn-filter-grad",                                                 \
          [](mn::Context &ctx) {                                               \
            const Pointers<T, T> p(ctx, weights(NAME), inputs(NAME),           \
                                   outputs(NAME));                             \
            mn::cudnn::convFilterGrad(ctx, p.y, p.a, p.b, NAME);               \
          },                                                                   \
          weights(NAME), inputs(NAME), outputs(NAME), filterGrad);             \
  }

#define MN_CASE_CUBLAS(NAME, ...)                                              \
  MN_CASE_CUBLAS_WITH(NAME, "", false, false, false)                           \
  MN_CASE_CUBLAS_WITH(NAME, "-bias-relu", true, false, true)                   \
  MN_CASE_CUBLAS_WITH(NAME, "-bias-residual-relu", true, true, true)
#define MN_CASE_CUBLAS_WITH(NAME, SUFFIX, BIAS, RESIDUAL, RELU)                \
  {                                                                            \
    static constexpr mn::Matmul s = NAME;                                      \
    Case c = make<float>(                                                      \
        "cublas-matmul" SUFFIX " " #NAME,                                      \
        [](mn::Context &ctx) {                                                 \
          const Pointers<float, float> p(ctx, int64_t(s.batch) * s.m * s.n,    \
                                         int64_t(s.batch) * s.m * s.k,         \
                                         int64_t(s.batch) * s.n * s.k, s.n);   \
          mn::cublas::matmul(ctx, p.y, p.a, p.b, NAME,                         \
                             {.bias = BIAS ? p.extra[0] : nullptr,             \
                              .residual = RESIDUAL ? p.extra[1] : nullptr,     \
                              .relu = RELU});                                  \
        },                                                                     \
        int64_t(s.batch) * s.m * s.n, int64_t(s.batch) * s.m * s.k,            \
        int64_t(s.batch) * s.n * s.k, 2.0 * s.batch * s.m * s.n * s.k);        \
    c.operands.push_back({mn::Type::f32, s.n});                                \
    c.operands.push_back({mn::Type::f32, int64_t(s.batch) * s.m * s.n});       \
    c.implementation = "cublas";                                               \
    c.tolerance = toleranceOf(NAME, c.tolerance);                              \
    c.reference = [](const Inputs &in, Numbers &y) {                           \
      reference::matmul(s, in[0], in[1], y);                                   \
      if (BIAS)                                                                \
        epilogue(y, in, RESIDUAL, RELU,                                        \
                 [](size_t i) { return i % size_t(s.n); });                    \
    };                                                                         \
    cases.push_back(c);                                                        \
  }

} // namespace test

#endif // MNISTC_TEST_GPU_CONTRACTIONS_H
