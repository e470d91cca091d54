//===- functors.h - functors of the kernels that are tested -----*- C++ -*-===//
//
// Of products, convolutions, reductions, pools and softmax.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_TEST_GPU_FUNCTORS_H
#define MNISTC_TEST_GPU_FUNCTORS_H

#include "mnistrt/generated.h"

/// result(operand a, operand b), under all the names that kernels ask for.
template <typename T, typename Result = T> struct Plain {
  Result *y;
  const T *a;
  const T *b;

  MN_FN const T &loadA(mn::Index i) const { return a[i]; }
  MN_FN const T &loadB(mn::Index i) const { return b[i]; }
  MN_FN T load(mn::Index i) const { return a[i]; }
  MN_FN const T &loadInput(mn::Index i) const { return a[i]; }
  MN_FN void store(mn::Index i, Result v) const { y[i] = v; }
};
/// What a reduction of shape S reads: `run` elements of a result are
/// adjacent, then come those of the next one.
template <typename T, typename Result, mn::Reduce S> struct Elements {
  static constexpr mn::Index outputs = mn::Index(S.outputs);
  static constexpr mn::Index size = mn::Index(S.size > 0 ? S.size : 1);
  static constexpr mn::Index run = S.contiguous ? size : mn::Index(S.run);
  Result *y;
  const T *a;
  MN_FN T load(mn::Index o, mn::Index r) const {
    return a[(r / run * outputs + o) * run + r % run];
  }
  MN_FN void store(mn::Index i, Result v) const { y[i] = v; }
};
template <mn::Reduce S> using Floats = Elements<float, float, S>;
template <mn::Reduce S> using FloatsToIndex = Elements<float, int64_t, S>;
template <mn::Reduce S> using IntsToIndex = Elements<int32_t, int64_t, S>;
template <mn::Reduce S> using Longs = Elements<int64_t, int64_t, S>;
template <mn::Reduce S> using Bools = Elements<bool, bool, S>;
template <mn::Reduce S> using Doubles = Elements<double, double, S>;

/// Loads that give what they computed, and no memory.
struct Computed {
  float *y;
  const float *a;
  const float *b;
  MN_FN float loadA(mn::Index i) const { return a[i]; }
  MN_FN float loadB(mn::Index i) const { return b[i]; }
  MN_FN void store(mn::Index i, float v) const { y[i] = v; }
};

/// What is bf16 in memory.
struct Rounded {
  mn::Bf16 *y;
  const mn::Bf16 *a;
  const mn::Bf16 *b;
  MN_FN const mn::Bf16 &loadA(mn::Index i) const { return a[i]; }
  MN_FN const mn::Bf16 &loadB(mn::Index i) const { return b[i]; }
  MN_FN void store(mn::Index i, float v) const { y[i] = mn::Bf16(v); }
};

template <typename T> struct Forward : Plain<T> {
  MN_FN const T &loadFilter(mn::Index i) const { return this->b[i]; }
};
template <typename T> struct InputGrad : Plain<T> {
  MN_FN const T &loadOutputGrad(mn::Index i) const { return this->a[i]; }
  MN_FN const T &loadFilter(mn::Index i) const { return this->b[i]; }
};
template <typename T> struct OtherGrad : Plain<T> {
  MN_FN const T &loadOutputGrad(mn::Index i) const { return this->b[i]; }
};

/// What is added to a product: the element of `b` of the same number.
struct PlusB : Plain<float> {
  MN_FN float elements(mn::Index i) const { return b[i]; }
  MN_FN float result(mn::Index, float v, float e) const { return v + e; }
};

/// What is stored takes an element of memory; a place that says its channel is
/// right about it.
template <typename F> struct WithResult : F {
  MN_FN float elements(mn::Index i) const { return this->a[i % 2]; }
  template <typename Place>
  MN_FN float result(Place i, float v, float e) const {
    if constexpr (requires { Place::channels; })
      if (i / Place::adjacent % Place::channels !=
          mn::Index(i) / Place::adjacent % Place::channels)
        return 12345;
    return e == 12345 ? 0 : v;
  }
};
template <typename F> using Alone = F;

struct Unpool : Plain<float> {
  MN_FN int loadIndex(mn::Index i) const { return int(b[i]); }
};

/// Of a convolution that is pooled: the gradient of the pool, and where in its
/// windows the maxima were.
template <mn::Conv S, typename F = OtherGrad<float>> struct OfWindows : F {
  const float *places;
  static MN_FN int placeIn(mn::Index window, float v) {
    return int((window + mn::Index(v) + 64) % mn::shape::taps(S.pool));
  }
  MN_FN int loadIndex(mn::Index i) const { return placeIn(i, places[i]); }
};
/// With that of a bias.
template <typename F> struct WithBias : F {
  float *bias;
  MN_FN void storeBias(mn::Index o, float v) const { bias[o] = v; }
};

/// Of a convolution with a pool: the pool, where its maxima are, and what is
/// pooled, one after the other.
template <bool mean> struct WithPool : Forward<float> {
  mn::Index pools;
  MN_FN float tile(mn::Index i, float v) const {
    y[(mean ? 1 : 2) * pools + i] = v;
    return v;
  }
  MN_FN void storeIndex(mn::Index i, int64_t v) const
    requires(!mean)
  {
    y[pools + i] = float(v);
  }
};

#endif // MNISTC_TEST_GPU_FUNCTORS_H
