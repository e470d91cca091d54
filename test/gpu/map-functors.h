//===- map-functors.h - functors of maps under test -------------*- C++ -*-===//

#ifndef MNISTC_TEST_GPU_MAP_FUNCTORS_H
#define MNISTC_TEST_GPU_MAP_FUNCTORS_H

#include "mnistrt/generated.h"

/// y = relu(a + b of the column)
struct Hidden {
  float *y;
  const float *a;
  const float *b;
  MN_FN void operator()(mn::Index i) const {
    const float sum = a[i] + b[i % 128];
    y[i] = sum > 0.0f ? sum : 0.0f;
  }
};

/// The same for fours of elements in a thread, and next to it a random number.
struct HiddenByFours {
  float *y;
  const float *a;
  const float *b;
  struct ElementValues {
    float a;
  };
  MN_FN ElementValues load(mn::Offset place) const { return {a[place]}; }
  struct StoredValues {
    float y;
  };
  MN_FN StoredValues results(const ElementValues &e,
                             const mn::Neighbour &i) const {
    const float sum = e.a + b[i % 128];
    return {sum > 0.0f ? sum : mn::randomUniform(5, 1, 3, i)};
  }
  template <int n>
  MN_FN void store(const StoredValues (&v)[n], mn::Offset place) const {
    for (int i = 0; i < n; ++i)
      y[place + i] = v[i].y;
  }
};

/// y = a of the matrix transposed + b of the column, and next to it a random
/// number; matrices of `rows` times `columns`.
template <int rows, int columns> struct TransposedSum {
  float *y;
  const float *a;
  const float *b;
  static constexpr mn::MatrixSides matrices{rows, columns};
  struct TransposedValues {
    float a;
  };
  MN_FN TransposedValues transposed(mn::Index matrix, mn::Offset row,
                                    mn::Index column) const {
    return {a[matrix * (rows * columns) + column * rows + row]};
  }
  struct ElementValues {
    float b;
  };
  MN_FN ElementValues load(mn::Offset place) const { return {b[place % 128]}; }
  struct StoredValues {
    float y;
  };
  MN_FN StoredValues results(const TransposedValues &t, const ElementValues &e,
                             const mn::Neighbour &i) const {
    const float sum = t.a + e.b;
    return {sum > 0.0f ? sum : mn::randomUniform(5, 1, 3, i)};
  }
  template <int n>
  MN_FN void store(const StoredValues (&v)[n], mn::Offset place) const {
    for (int i = 0; i < n; ++i)
      y[place + i] = v[i].y;
  }
};

/// Random numbers of a rank's rows, for fours of elements in a thread.
template <int ofRow> struct DrawnOfRank {
  float *y;
  struct ElementValues {};
  MN_FN ElementValues load(mn::Index) const { return {}; }
  struct StoredValues {
    float y;
  };
  MN_FN StoredValues results(const ElementValues &,
                             const mn::Neighbour &i) const {
    return {mn::randomUniform(5, 1, 3, mn::elementOfRank(i, ofRow, 2, 3))};
  }
  template <int n>
  MN_FN void store(const StoredValues (&v)[n], mn::Offset place) const {
    for (int i = 0; i < n; ++i)
      y[place + i] = v[i].y;
  }
};

struct Copy {
  float *y;
  const float *a;
  MN_FN void operator()(mn::Element i) const { y[i] = a[i]; }
};

/// The same, of neighbours.
struct CopyFours {
  float *y;
  const float *a;
  struct ElementValues {
    float a;
  };
  struct StoredValues {
    float y;
  };
  MN_FN ElementValues load(mn::Offset place) const { return {a[place]}; }
  MN_FN StoredValues results(const ElementValues &e,
                             const mn::Neighbour &) const {
    return {e.a};
  }
  template <int n>
  MN_FN void store(const StoredValues (&v)[n], mn::Offset place) const {
    for (int i = 0; i < n; ++i)
      y[place + i] = v[i].y;
  }
};

/// Of fours, where rows have such and all that is before them, too.
template <bool fours> struct Copies {
  using Type = Copy;
};
template <> struct Copies<true> {
  using Type = CopyFours;
};
template <int64_t rows, int64_t n>
using CopyOf = typename Copies<rows % 4 == 0 && n % 4 == 0>::Type;

#endif // MNISTC_TEST_GPU_MAP_FUNCTORS_H
