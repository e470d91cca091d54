//===- EvaluateReduction.cpp - reductions and products of constants -------===//
//
// Made of mnistrt/reductions.h, in the order of the elements. Sums of floats
// are kept in f64 and rounded once: kernels, which have many short sums, come
// close to that, but a single sum of f32 does not.
//
//===----------------------------------------------------------------------===//

#include "lib/IR/Mnist/Evaluators.h"
#include "llvm/ADT/TypeSwitch.h"
#include <vector>

using namespace mlir;
using namespace mlir::mnistc;

/// What numbers of type T are summed in.
template <typename T>
using SumOf = std::conditional_t<std::is_floating_point_v<T>, double, T>;

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

/// A reduction R whose states are kept in `StateType<T>`.
template <typename R, template <typename> typename StateType>
static HostTensor evaluateReduce(Operation *op, ArrayRef<int64_t> dims,
                                 const HostTensor &x) {
  HostTensor result(resultType(op));
  dispatch(result.getType().getElementType(), [&](auto element) {
    using T = decltype(element);
    using S = StateType<T>;
    std::vector states(result.size(), R::template none<S>());
    forEachReduced(x.getShape(), dims, [&](int64_t from, int64_t to) {
      S a = S(x.data<T>()[from * x.step()]);
      states[to] = R::join(states[to], R::of(a, from));
    });
    for (auto [i, state] : llvm::enumerate(states))
      result.mutableData<T>()[i] = T(R::result(state));
  });
  return result;
}
template <typename T> using Itself = T;

template <bool last>
static HostTensor evaluateArgMax(ArgMaxOp op, const HostTensor &x) {
  using R = mn::ArgMax<last>;
  HostTensor result(op.getType());
  int64_t inner = 1;
  for (int64_t after : x.getShape().drop_front(op.getDim() + 1))
    inner *= after;
  int64_t size = x.getShape()[op.getDim()];
  dispatch(x.getType().getElementType(), [&](auto element) {
    using T = decltype(element);
    std::vector states(result.size(), R::template none<T>());
    forEachReduced(x.getShape(), op.getDim(), [&](int64_t from, int64_t to) {
      T a = x.data<T>()[from * x.step()];
      states[to] = R::join(states[to], R::of(a, from / inner % size));
    });
    for (auto [i, state] : llvm::enumerate(states))
      if (op.getType().getElementType().isInteger(32))
        result.mutableData<int32_t>()[i] = int32_t(R::result(state));
      else
        result.mutableData<int64_t>()[i] = R::result(state);
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
    using S = SumOf<T>;
    std::vector<S> sums(columns);
    for (int64_t row = 0; row < count * rows; ++row) {
      int64_t matrix = row / rows, i = row % rows;
      const T *p = a.data<T>() + matrix * rows * depth;
      const T *q = b.data<T>() + matrix * depth * columns;
      sums.assign(columns, 0);
      for (int64_t k = 0; k < depth; ++k) {
        S x = S(p[at ? k * rows + i : i * depth + k]);
        for (int64_t j = 0; j < columns; ++j)
          sums[j] = mn::add<S>(
              sums[j], mn::mul(x, S(q[bt ? j * depth + k : k * columns + j])));
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
      .Case([&](ArgMaxOp arg) {
        return arg.getLast() ? evaluateArgMax<true>(arg, operands[0])
                             : evaluateArgMax<false>(arg, operands[0]);
      })
      .Case([&](ReduceMaxOp max) {
        return evaluateReduce<mn::Max, Itself>(max, max.getDims(), operands[0]);
      })
      .Case([&](ReduceMinOp min) {
        return evaluateReduce<mn::Min, Itself>(min, min.getDims(), operands[0]);
      })
      .Case([&](ReduceSumOp sum) {
        return evaluateReduce<mn::Sum, SumOf>(sum, sum.getDims(), operands[0]);
      })
      .Case([&](MatmulOp matmul) {
        return evaluateMatmul(matmul, operands[0], operands[1]);
      })
      .Default(MaybeTensor());
}
