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

/// What the CPU executor hands to steps as Context::runtime.
struct CpuRuntime {
  /// What a step's library call keeps between runs; deleted with the executor.
  struct Prepared {
    virtual ~Prepared() = default;
  };
  Prepared **prepared;      ///< one a step of the plan
  const char *constantsEnd; ///< pointers into the constants never change
};

namespace onednn {
void conv(Context &ctx, float *y, const float *x, const float *w, const Conv &s,
          const Epilogue &epilogue = {});
void convInputGrad(Context &ctx, float *dx, const float *dy, const float *w,
                   const Conv &s);
void convFilterGrad(Context &ctx, float *dw, const float *x, const float *dy,
                    const Conv &s);
void matmul(Context &ctx, float *y, const float *a, const float *b,
            const Matmul &s, const Epilogue &epilogue = {});
} // namespace onednn

namespace openblas {

/// Rows [i, i + rows) and columns [j, j + columns) of product `batch`, on the
/// calling thread.
void matmulTile(float *y, const float *a, const float *b, const Matmul &s,
                const Epilogue &epilogue, int batch, int i, int rows, int j,
                int columns);

/// The library runs on one thread, of which there are many: tiles depend on
/// the shape alone, and so do the results.
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
} // namespace mn

#endif // MNISTRT_CPU_LIBRARIES_H
