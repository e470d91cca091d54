//===- maps.h - what a functor of a map says --------------------*- C++ -*-===//
//
// The functor F of elementwise and indexing work of any shape has
//
//   operator()(i)      computes and stores element i of every result
//
// or, for kernels that have fours of elements in a thread, as rows.h has it,
//
//   ElementValues      an element's inputs, which load(place) reads
//   results(e, i)      an element's StoredValues
//   store(v, place)    stores those of some next to each other
//
// One that is given random numbers, on the CPU, is described in cpu/draws.h. A
// functor that transposes has besides
//
//   matrices              the sides of those that its results are, of which the
//                         elements of a column are adjacent in what it reads
//   TransposedValues      what transposed(matrix, row, column) computes from
//                         that, and results(t, e, i) takes first
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_MAPS_H
#define MNISTRT_MAPS_H

#include "mnistrt/neighbour.h"

namespace mn {

/// Whether a functor stores elements that are next to each other at once.
template <typename F>
concept StoresNeighbours = requires { typename F::StoredValues; };

/// Matrices of `rows` times `columns`, one after the other.
struct MatrixSides {
  int rows, columns;
};

/// Whether a functor transposes.
template <typename F>
concept Transposes = requires { typename F::TransposedValues; };

/// What element `i` is computed from.
template <Transposes F>
MN_FN typename F::TransposedValues transposedAt(const F &f, Element i) {
  constexpr Element columns = F::matrices.columns,
                    size = F::matrices.rows * columns;
  return f.transposed(i / size, i % size / columns, i % columns);
}

/// Elements `i` to `i + n - 1`, where n is 1, or 4 and i a multiple of it: all
/// are computed before the first is stored.
template <int n, typename F> MN_FN void computeElements(const F &f, Element i) {
  if constexpr (StoresNeighbours<F>) {
    typename F::ElementValues e[n];
    typename F::StoredValues v[n];
    for (int j = 0; j < n; ++j)
      e[j] = f.load(neighbour<n>(Offset(i), j));
    for (int j = 0; j < n; ++j)
      if constexpr (Transposes<F>)
        v[j] = f.results(transposedAt(f, i + j), e[j], neighbour<n>(i, j));
      else
        v[j] = f.results(e[j], neighbour<n>(i, j));
    f.store(v, i);
  } else {
    static_assert(n == 1);
    f(i);
  }
}

} // namespace mn

#endif // MNISTRT_MAPS_H
