//===- openblas.cpp - matrix products by OpenBLAS -------------------------===//
//
// The library computes tiles, on one thread each; see libraries.h.
//
//===----------------------------------------------------------------------===//

#include "mnistrt/cpu/libraries.h"
#include <cblas-openblas.h>
#include <cstring>

namespace mn::openblas {

namespace {

/// Once, before the first call, from whichever thread it comes.
void useOneThread() {
  static const bool done = (openblas_set_num_threads(1), true);
  (void)done;
}

void finish(float *y, int rows, int columns, int stride,
            const Epilogue &epilogue, bool residualInside, const float *bias,
            const float *residual) {
  if (!bias && !epilogue.relu && (residualInside || !residual))
    return;
  for (int row = 0; row < rows; ++row) {
    float *line = y + int64_t(row) * stride;
    if (bias)
      for (int column = 0; column < columns; ++column)
        line[column] += bias[column];
    if (residual && !residualInside)
      for (int column = 0; column < columns; ++column)
        line[column] += residual[int64_t(row) * stride + column];
    if (epilogue.relu)
      for (int column = 0; column < columns; ++column)
        line[column] = line[column] < 0 ? 0 : line[column];
  }
}

} // namespace

void matmulTile(float *y, const float *a, const float *b, const Matmul &s,
                const Epilogue &epilogue, int batch, int i, int rows, int j,
                int columns) {
  useOneThread();
  a += int64_t(batch) * s.m * s.k + int64_t(i) * (s.transposedA ? 1 : s.k);
  b += int64_t(batch) * s.k * s.n + int64_t(j) * (s.transposedB ? s.k : 1);
  const int64_t offset = (int64_t(batch) * s.m + i) * s.n + j;
  y += offset;
  const float *residual =
      epilogue.residual ? epilogue.residual + offset : nullptr;
  const bool inside = residual == y; // then the product is added to it
  cblas_sgemm(CblasRowMajor, s.transposedA ? CblasTrans : CblasNoTrans,
              s.transposedB ? CblasTrans : CblasNoTrans, rows, columns, s.k,
              1.f, a, s.transposedA ? s.m : s.k, b, s.transposedB ? s.k : s.n,
              inside ? 1.f : 0.f, y, s.n);
  finish(y, rows, columns, s.n, epilogue, inside,
         epilogue.bias ? epilogue.bias + j : nullptr, residual);
}

} // namespace mn::openblas
