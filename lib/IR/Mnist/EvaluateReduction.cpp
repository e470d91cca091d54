//===- EvaluateReduction.cpp - reductions and products of constants -------===//
//
// Sums of f32 are kept in f64 and rounded once.
//
//===----------------------------------------------------------------------===//

#include "lib/IR/Mnist/Evaluators.h"
#include "llvm/ADT/TypeSwitch.h"
#include <limits>
#include <vector>

using namespace mlir;
using namespace mlir::mnistc;

namespace {
/// What numbers of type T are summed in.
template <typename T>
using Sum = std::conditional_t<std::is_floating_point_v<T>, double, uint64_t>;
} // namespace

/// Calls `visit` with the number of each operand element and of the result
/// element that it goes to, the former in ascending order.
template <typename F>
static void forEachReduced(ArrayRef<int64_t> shape, ArrayRef<int64_t> dims,
                           F visit) {
  SmallVector<int64_t> strides(shape.size(), 0), index(shape.size(), 0);
  int64_t size = 1, stride = 1;
  for (size_t dim = shape.size(); dim-- > 0; size *= shape[dim])
    if (!llvm::is_contained(dims, int64_t(dim))) {
      strides[dim] = stride;
      stride *= shape[dim];
    }
  for (int64_t i = 0, target = 0; i < size; ++i) {
    visit(i, target);
    for (size_t dim = shape.size(); dim-- > 0;) {
      target += strides[dim];
      if (++index[dim] != shape[dim])
        break;
      target -= strides[dim] * shape[dim];
      index[dim] = 0;
    }
  }
}

static HostTensor evaluateSum(ReduceSumOp op, const HostTensor &x) {
  HostTensor result(op.getType());
  dispatch(op.getType().getElementType(), [&](auto element) {
    using T = decltype(element);
    std::vector<Sum<T>> sums(result.size());
    forEachReduced(x.getShape(), op.getDims(), [&](int64_t from, int64_t to) {
      sums[to] += Sum<T>(x.data<T>()[from * x.step()]);
    });
    for (auto [i, sum] : llvm::enumerate(sums))
      result.mutableData<T>()[i] = T(sum);
  });
  return result;
}

/// The first number in order, the result over no elements.
template <typename T> static T extreme(bool largest) {
  using Limits = std::numeric_limits<T>;
  if constexpr (std::is_floating_point_v<T>)
    return largest ? Limits::infinity() : -Limits::infinity();
  else
    return largest ? Limits::max() : Limits::min();
}

/// The largest or smallest element; NaN where one is.
template <typename Op>
static HostTensor evaluateExtreme(Op op, const HostTensor &x) {
  constexpr bool isMax = std::is_same_v<Op, ReduceMaxOp>;
  HostTensor result(cast<RankedTensorType>(op.getType()));
  dispatch(result.getType().getElementType(), [&](auto element) {
    using T = decltype(element);
    T *y = result.mutableData<T>();
    std::fill_n(y, result.size(), extreme<T>(/*largest=*/!isMax));
    forEachReduced(x.getShape(), op.getDims(), [&](int64_t from, int64_t to) {
      T a = x.data<T>()[from * x.step()];
      if ((isMax ? a > y[to] : a < y[to]) || a != a)
        y[to] = a;
    });
  });
  return result;
}

static HostTensor evaluateArgMax(ArgMaxOp op, const HostTensor &operand) {
  HostTensor x = operand.expanded(), result(op.getType());
  int64_t size = x.getShape()[op.getDim()], inner = 1;
  for (int64_t after : x.getShape().drop_front(op.getDim() + 1))
    inner *= after;
  dispatch(x.getType().getElementType(), [&](auto element) {
    using T = decltype(element);
    for (int64_t i = 0, n = result.size(); i < n; ++i) {
      const T *first = x.data<T>() + i / inner * size * inner + i % inner;
      int64_t best = 0;
      for (int64_t k = 1; k < size; ++k) {
        T a = first[k * inner], b = first[best * inner];
        if (a > b || (op.getLast() && a == b))
          best = k;
      }
      if (op.getType().getElementType().isInteger(32))
        result.mutableData<int32_t>()[i] = int32_t(best);
      else
        result.mutableData<int64_t>()[i] = best;
    }
  });
  return result;
}

static HostTensor evaluateMatmul(MatmulOp op, const HostTensor &lhs,
                                 const HostTensor &rhs) {
  HostTensor a = lhs.expanded(), b = rhs.expanded(), result(op.getType());
  bool at = op.getTransposed()[0], bt = op.getTransposed()[1];
  ArrayRef<int64_t> shape = result.getShape(), as = a.getShape();
  int64_t rows = shape[shape.size() - 2], columns = shape.back();
  int64_t depth = as[as.size() - (at ? 2 : 1)];
  int64_t count = shape.size() == 3 ? shape[0] : 1;
  dispatch(op.getType().getElementType(), [&](auto element) {
    using T = decltype(element);
    std::vector<Sum<T>> sums(columns);
    for (int64_t row = 0; row < count * rows; ++row) {
      int64_t matrix = row / rows, i = row % rows;
      const T *p = a.data<T>() + matrix * rows * depth;
      const T *q = b.data<T>() + matrix * depth * columns;
      sums.assign(columns, 0);
      for (int64_t k = 0; k < depth; ++k) {
        Sum<T> x = Sum<T>(p[at ? k * rows + i : i * depth + k]);
        for (int64_t j = 0; j < columns; ++j)
          sums[j] += x * Sum<T>(q[bt ? j * depth + k : k * columns + j]);
      }
      for (int64_t j = 0; j < columns; ++j)
        result.mutableData<T>()[row * columns + j] = T(sums[j]);
    }
  });
  return result;
}

MaybeTensor mlir::mnistc::evaluateReduction(Operation *op,
                                            ArrayRef<HostTensor> operands) {
  return llvm::TypeSwitch<Operation *, MaybeTensor>(op)
      .Case([&](ArgMaxOp arg) { return evaluateArgMax(arg, operands[0]); })
      .Case([&](ReduceSumOp sum) { return evaluateSum(sum, operands[0]); })
      .Case<ReduceMaxOp, ReduceMinOp>(
          [&](auto reduce) { return evaluateExtreme(reduce, operands[0]); })
      .Case([&](MatmulOp matmul) {
        return evaluateMatmul(matmul, operands[0], operands[1]);
      })
      .Default(MaybeTensor());
}
