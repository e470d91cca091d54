//===- row-functors.h - what the row kernels under test do ------*- C++ -*-===//

#ifndef MNISTC_TEST_GPU_ROW_FUNCTORS_H
#define MNISTC_TEST_GPU_ROW_FUNCTORS_H

#include "mnistrt/generated.h"

/// The rows of a reduction, whose elements rise by four from the first to the
/// last, made to have the mean 0 and a variance below 1; their means follow.
/// Parts of a row have other means than the row.
template <mn::Reduce S> struct Normalize {
  float *y;
  const float *a;
  struct ElementValues {
    float a;
  };
  struct RowValues {
    float mean, scale;
  };
  using Phases = mn::Phases<mn::RowPhase<mn::Sum, float, 1>,
                            mn::RowPhase<mn::Sum, float, 1>>;
  static constexpr int meanPhase = 0;
  static constexpr bool storesElements = true;
  static constexpr bool storesInLastPhase = false;
  static constexpr mn::Index run = S.contiguous ? S.size : S.run;
  static constexpr mn::Index runsApart = S.outputs * run;
  static constexpr bool rowsInFours = run == 1 && S.outputs % 4 == 0;
  MN_FN static mn::Index placeOf(mn::Index o, mn::Index r) {
    return r / run * runsApart + o * run + r % run;
  }
  MN_FN ElementValues load(mn::Offset place) const { return {a[place]}; }
  MN_FN static float risen(const ElementValues &e, mn::Index r) {
    return e.a + float(r) * (4.0f / float(S.size));
  }
  MN_FN void begin(RowValues &, mn::Index) const {}
  MN_FN mn::Values<float, 1> values(mn::Phase<0>, const RowValues &,
                                    const ElementValues &e, mn::Index,
                                    mn::Index r, const mn::Neighbour &) const {
    return {{risen(e, r)}};
  }
  MN_FN void take(mn::Phase<0>, const mn::Values<float, 1> &v, RowValues &row,
                  mn::Index) const {
    row.mean = v.v[0] / float(S.size);
  }
  MN_FN mn::Values<float, 1> values(mn::Phase<1>, const RowValues &row,
                                    const ElementValues &e, mn::Index,
                                    mn::Index r, const mn::Neighbour &) const {
    const float difference = risen(e, r) - row.mean;
    return {{difference * difference}};
  }
  MN_FN void take(mn::Phase<1>, const mn::Values<float, 1> &v, RowValues &row,
                  mn::Index) const {
    row.scale = 1.0f / mn::sqrt(v.v[0] / float(S.size) + 1.0f);
  }
  struct StoredValues {
    float y;
  };
  MN_FN StoredValues results(const RowValues &row, const ElementValues &e,
                             mn::Index, mn::Index r,
                             const mn::Neighbour &) const {
    return {(risen(e, r) - row.mean) * row.scale};
  }
  template <int n>
  MN_FN void store(const StoredValues (&v)[n], mn::Offset place) const {
    for (int i = 0; i < n; ++i)
      y[place + i] = v[i].y;
  }
  MN_FN void storeRow(const RowValues &row, mn::Index o) const {
    y[S.outputs * S.size + o] = row.mean;
  }
};

/// Random numbers below 1/2, and where one is not, the row's maximum; what is
/// the largest of these follows. Elements are known before the last phase.
template <mn::Reduce S> struct Drawn {
  float *y;
  const float *a;
  using ElementValues = Normalize<S>::ElementValues;
  using StoredValues = Normalize<S>::StoredValues;
  struct RowValues {
    float top, largest;
  };
  using Phases = mn::Phases<mn::RowPhase<mn::Max, float, 1>,
                            mn::RowPhase<mn::Max, float, 1>>;
  static constexpr bool rowsInFours = Normalize<S>::rowsInFours;
  static constexpr bool drawsNumbers = true;
  static constexpr bool storesElements = true;
  static constexpr bool storesInLastPhase = true;
  MN_FN static mn::Index placeOf(mn::Index o, mn::Index r) {
    return Normalize<S>::placeOf(o, r);
  }
  MN_FN ElementValues load(mn::Offset place) const { return {a[place]}; }
  MN_FN void begin(RowValues &, mn::Index) const {}
  MN_FN mn::Values<float, 1> values(mn::Phase<0>, const RowValues &,
                                    const ElementValues &e, mn::Index,
                                    mn::Index, const mn::Neighbour &) const {
    return {{e.a}};
  }
  MN_FN void take(mn::Phase<0>, const mn::Values<float, 1> &v, RowValues &row,
                  mn::Index) const {
    row.top = v.v[0];
  }
  MN_FN mn::Values<float, 1> values(mn::Phase<1>, const RowValues &row,
                                    const ElementValues &, mn::Index, mn::Index,
                                    const mn::Neighbour &place,
                                    StoredValues &stored) const {
    const float uniform = mn::randomUniform(5, 1, 3, place);
    stored = {uniform < 0.5f ? uniform : row.top};
    return {{stored.y}};
  }
  MN_FN void take(mn::Phase<1>, const mn::Values<float, 1> &v, RowValues &row,
                  mn::Index) const {
    row.largest = v.v[0];
  }
  template <int n>
  MN_FN void store(const StoredValues (&v)[n], mn::Offset place) const {
    for (int i = 0; i < n; ++i)
      y[place + i] = v[i].y;
  }
  MN_FN void storeRow(const RowValues &row, mn::Index o) const {
    y[S.outputs * S.size + o] = row.largest;
  }
};

/// The means of a reduction's rows alone: of a row only one thread needs them.
template <mn::Reduce S> struct Average {
  float *y;
  const float *a;
  using ElementValues = Normalize<S>::ElementValues;
  struct RowValues {
    float mean;
  };
  using Phases = mn::Phases<mn::RowPhase<mn::Sum, float, 1>>;
  static constexpr bool storesElements = false;
  MN_FN static mn::Index placeOf(mn::Index o, mn::Index r) {
    return Normalize<S>::placeOf(o, r);
  }
  MN_FN ElementValues load(mn::Offset place) const { return {a[place]}; }
  MN_FN void begin(RowValues &, mn::Index) const {}
  MN_FN mn::Values<float, 1> values(mn::Phase<0>, const RowValues &,
                                    const ElementValues &e, mn::Index,
                                    mn::Index, const mn::Neighbour &) const {
    return {{e.a}};
  }
  MN_FN void take(mn::Phase<0>, const mn::Values<float, 1> &v, RowValues &row,
                  mn::Index) const {
    row.mean = v.v[0] / float(S.size);
  }
  MN_FN void storeRow(const RowValues &row, mn::Index o) const {
    y[o] = row.mean;
  }
};

/// Over all rows the mean of their means, and of where their maxima are, modulo
/// 7; before these, if there are `elements`, what each has above its row's
/// mean.
template <mn::Reduce S, bool elements> struct RowTotals {
  float *y;
  const float *a;
  using ElementValues = Normalize<S>::ElementValues;
  struct RowValues {
    float mean;
    int64_t best;
  };
  using Phases = mn::Phases<mn::RowPhase<mn::Sum, float, 1>,
                            mn::RowPhase<mn::ArgMaxFirst, float, 1>>;
  static constexpr bool storesElements = elements;
  static constexpr bool storesInLastPhase = false;
  MN_FN static mn::Index placeOf(mn::Index o, mn::Index r) {
    return Normalize<S>::placeOf(o, r);
  }
  MN_FN ElementValues load(mn::Offset place) const { return {a[place]}; }
  MN_FN void begin(RowValues &, mn::Index) const {}
  template <int p>
  MN_FN mn::Values<float, 1> values(mn::Phase<p>, const RowValues &,
                                    const ElementValues &e, mn::Index,
                                    mn::Index, const mn::Neighbour &) const {
    return {{e.a}};
  }
  MN_FN void take(mn::Phase<0>, const mn::Values<float, 1> &v, RowValues &row,
                  mn::Index) const {
    row.mean = v.v[0] / float(S.size);
  }
  MN_FN void take(mn::Phase<1>, const mn::Values<int64_t, 1> &v, RowValues &row,
                  mn::Index) const {
    row.best = v.v[0];
  }
  using StoredValues = Normalize<S>::StoredValues;
  MN_FN StoredValues results(const RowValues &row, const ElementValues &e,
                             mn::Index, mn::Index,
                             const mn::Neighbour &) const {
    return {e.a - row.mean};
  }
  template <int n>
  MN_FN void store(const StoredValues (&v)[n], mn::Offset place) const {
    for (int i = 0; i < n; ++i)
      y[place + i] = v[i].y;
  }
  MN_FN void storeRow(const RowValues &, mn::Index) const {}
  struct TotalValues {
    float mean;
    int64_t best;
  };
  using Totals = mn::Phases<mn::RowPhase<mn::Sum, float, 1>,
                            mn::RowPhase<mn::Sum, int64_t, 1>>;
  MN_FN mn::Values<float, 1> values(mn::Total<0>, const RowValues &row,
                                    mn::Index) const {
    return {{row.mean}};
  }
  MN_FN void take(mn::Total<0>, const mn::Values<float, 1> &v,
                  TotalValues &totals) const {
    totals.mean = v.v[0] / float(S.outputs);
  }
  MN_FN mn::Values<int64_t, 1> values(mn::Total<1>, const RowValues &row,
                                      mn::Index) const {
    return {{row.best % 7}};
  }
  MN_FN void take(mn::Total<1>, const mn::Values<int64_t, 1> &v,
                  TotalValues &totals) const {
    totals.best = v.v[0];
  }
  MN_FN void storeTotals(const TotalValues &totals) const {
    float *to = y + (elements ? S.outputs * S.size : 0);
    to[0] = totals.mean;
    to[1] = float(double(totals.best) / double(S.outputs));
  }
};

template <mn::Reduce S> using OnlyTotals = RowTotals<S, false>;
template <mn::Reduce S> using AlsoTotals = RowTotals<S, true>;

#endif // MNISTC_TEST_GPU_ROW_FUNCTORS_H
