//===- libraries.h - library calls of a CPU program -------------*- C++ -*-===//
//
// oneDNN's calls are in libmnistrt_onednn.a, OpenBLAS's in
// libmnistrt_openblas.a: a program links what its steps name. What a call
// prepares on its first run stays with its step.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CPU_LIBRARIES_H
#define MNISTRT_CPU_LIBRARIES_H

#include "mnistrt/cpu/parallel.h"
#include "mnistrt/shapes.h"

namespace mn {

class Ranks; // core/ranks.h

/// What the CPU executor hands to steps as Context::runtime.
struct CpuRuntime {
  /// What a step's library call keeps between runs; deleted with the executor.
  struct Prepared {
    virtual ~Prepared() = default;
  };
  Prepared **prepared;      ///< one a step of the plan
  const char *constantsEnd; ///< pointers into the constants never change
  /// The first library call that failed: its exit code, and what it was.
  int failure = 0;
  char message[256] = "";
  Ranks *ranks = nullptr; ///< null: they have not joined, or there are none
};

namespace onednn {

/// How a step is cut, by its shape only: oneDNN's primitives each run on one
/// thread, of which there are many, whatever OpenMP grants.
struct Parts {
  int64_t count;
  int64_t work; ///< what one costs; see parallelFor
};

Parts prepareConv(Context &ctx, float *y, const float *x, const float *w,
                  const Conv &s, const Epilogue &epilogue);
Parts prepareConvInputGrad(Context &ctx, float *dx, const float *dy,
                           const float *w, const Conv &s);
Parts prepareConvFilterGrad(Context &ctx, float *dw, const float *x,
                            const float *dy, const Conv &s);
Parts prepareMatmul(Context &ctx, float *y, const float *a, const float *b,
                    const Matmul &s, const Epilogue &epilogue);
void runPart(Context &ctx, int64_t part);
/// Elements [begin, end) of the sum of what the parts gave.
void addSummands(Context &ctx, float *sums, int64_t begin, int64_t end);

inline void runParts(Context &ctx, const Parts &parts) {
  parallelFor(parts.count, parts.work,
              [&ctx](int64_t part) { runPart(ctx, part); });
}

inline void conv(Context &ctx, float *y, const float *x, const float *w,
                 const Conv &s, const Epilogue &epilogue = {}) {
  runParts(ctx, prepareConv(ctx, y, x, w, s, epilogue));
}
inline void convInputGrad(Context &ctx, float *dx, const float *dy,
                          const float *w, const Conv &s) {
  runParts(ctx, prepareConvInputGrad(ctx, dx, dy, w, s));
}
inline void convFilterGrad(Context &ctx, float *dw, const float *x,
                           const float *dy, const Conv &s) {
  const Parts parts = prepareConvFilterGrad(ctx, dw, x, dy, s);
  runParts(ctx, parts);
  const int64_t size = int64_t(s.outChannels) * (s.inChannels / s.groups) *
                       s.kernel[0] * s.kernel[1] * s.kernel[2];
  if (parts.count > 1)
    parallelRanges(size, parts.count, [&](int64_t begin, int64_t end) {
      addSummands(ctx, dw, begin, end);
    });
}
inline void matmul(Context &ctx, float *y, const float *a, const float *b,
                   const Matmul &s, const Epilogue &epilogue = {}) {
  runParts(ctx, prepareMatmul(ctx, y, a, b, s, epilogue));
}

} // namespace onednn

namespace openblas {

/// Rows [i, i + rows) and columns [j, j + columns) of product `batch`, on the
/// calling thread.
void matmulTile(float *y, const float *a, const float *b, const Matmul &s,
                const Epilogue &epilogue, int batch, int i, int rows, int j,
                int columns);

/// The library runs on one thread, of which there are many: tiles depend on
/// the shape only, and so do the results.
inline void matmul(Context &, float *y, const float *a, const float *b,
                   const Matmul &s, const Epilogue &epilogue = {}) {
  constexpr int tileRows = 256, tileColumns = 256;
  const int down = (s.m + tileRows - 1) / tileRows;
  const int across = (s.n + tileColumns - 1) / tileColumns;
  parallelFor(int64_t(s.batch) * down * across,
              int64_t(s.k) * (s.m < tileRows ? s.m : tileRows) *
                  (s.n < tileColumns ? s.n : tileColumns) / 16,
              [&](int64_t task) {
                const int j = static_cast<int>(task % across) * tileColumns;
                const int i = static_cast<int>(task / across % down) * tileRows;
                matmulTile(y, a, b, s, epilogue,
                           static_cast<int>(task / across / down), i,
                           s.m - i < tileRows ? s.m - i : tileRows, j,
                           s.n - j < tileColumns ? s.n - j : tileColumns);
              });
}

} // namespace openblas

namespace mpi {

/// The sum over all ranks of `count` elements, in place.
void allReduce(Context &ctx, float *x, int64_t count);
void allReduce(Context &ctx, double *x, int64_t count);

} // namespace mpi
} // namespace mn

#endif // MNISTRT_CPU_LIBRARIES_H
