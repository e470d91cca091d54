//===- onednn_cut.h - contractions cut into parts ---------------*- C++ -*-===//
//
// oneDNN plans a primitive for the threads that it sees, computes wrong results
// with fewer, and its sums depend on their number. So it sees one, and a step
// is cut into parts here, by its shape only: any number of threads runs them,
// with the same bits as results.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CPU_ONEDNN_CUT_H
#define MNISTRT_CPU_ONEDNN_CUT_H

#include "mnistrt/shapes.h"
#include <vector>

namespace mn::onednn {

/// Multiplications, counting the lanes of registers that are left empty.
double workOf(const Conv &s);
double workOf(const Matmul &s);

/// Some images of a convolution, or some lines of one. `in` and `out` are where
/// they begin, in elements.
struct ConvPart {
  Conv shape;
  int64_t in = 0, out = 0;
};

/// Whose lines do not overlap: the other image's do, where windows do.
enum class Lines { ofOutput, ofInput };

std::vector<ConvPart> cut(const Conv &s, Lines lines, int maxParts);

/// How many sums a gradient of a filter is worth: each takes memory and time.
int maxFilterParts(const Conv &s);

/// Some whole products, or some rows and columns of one.
struct MatmulPart {
  int first = 0, count = 1; ///< products
  int row = 0, rows = 0, column = 0, columns = 0;
};

std::vector<MatmulPart> cut(const Matmul &s);

} // namespace mn::onednn

#endif // MNISTRT_CPU_ONEDNN_CUT_H
