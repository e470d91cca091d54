//===- IndexingGradients.cpp - the derivatives of ops that move elements --===//
//
// As MnistGradients.cpp, in the order of TensorOps.td.
//
//===----------------------------------------------------------------------===//

#include "lib/IR/Mnist/Arithmetic.h"

using namespace mlir;
using namespace mlir::mnistc;

// y[i, j] = x[j]      dx[j] = sum_i dy[i, j]
SmallVector<Value> BroadcastOp::buildGradient(OpBuilder &b, ValueRange dy) {
  return {b.createOrFold<ReduceSumOp>(
      getLoc(), getInput().getType(), dy[0],
      otherDims(getDims(), getOutput().getType().getRank()))};
}

// y = [a b ...]      da = the part of dy that a became
SmallVector<Value> ConcatOp::buildGradient(OpBuilder &b, ValueRange dy) {
  SmallVector<Value> gradients;
  SmallVector<int64_t> starts(getOutput().getType().getRank(), 0);
  SmallVector<int64_t> steps(starts.size(), 1);
  for (Value input : getInputs()) {
    gradients.push_back(
        b.create<SliceOp>(getLoc(), input.getType(), dy[0], starts, steps));
    starts[getDim()] += typeOf(input).getDimSize(getDim());
  }
  return gradients;
}

// y[i] = x[n[i]]      dx[k] = sum_i [n[i] = k] dy[i]   (a product with the
// one-hot matrix of the indices, so that no two threads ever add to one place)
SmallVector<Value> GatherOp::buildGradient(OpBuilder &b, ValueRange dy) {
  Arithmetic c{b, getLoc()};
  auto in = typeOf(getInput()), indices = typeOf(getIndices());
  int64_t axis = getDim(), size = in.getDimSize(axis);
  int64_t count = indices.getNumElements(), before = 1, after = 1;
  for (int64_t dim = 0; dim < in.getRank(); ++dim)
    (dim < axis ? before : after) *= dim == axis ? 1 : in.getDimSize(dim);

  // Indices, counted from the start, against 0 .. size - 1.
  auto hotType = RankedTensorType::get({count, size}, indices.getElementType());
  auto flatType = RankedTensorType::get({count}, indices.getElementType());
  Value index = c.reshape(getIndices(), flatType);
  Value wrapped = c.add(index, c.number(index, size));
  index = c.select(c.compare(Predicate::lt, index, c.number(index, 0)), wrapped,
                   index);
  index = c.max(c.min(index, c.number(index, size - 1)), c.number(index, 0));
  Value hot = c.compare(Predicate::eq, c.broadcast(index, {0}, hotType),
                        b.create<IotaOp>(getLoc(), hotType, 1));
  Value oneHot =
      b.create<CastOp>(getLoc(), hotType.clone(in.getElementType()), hot);

  // dx[size, before * after] = hot' [size, count] dy[count, before * after]
  auto cube = in.clone(ArrayRef<int64_t>{before, count, after});
  Value rows = b.create<TransposeOp>(getLoc(), c.reshape(dy[0], cube),
                                     ArrayRef<int64_t>{1, 0, 2});
  rows = c.reshape(rows, in.clone(ArrayRef<int64_t>{count, before * after}));
  Value sum = b.create<MatmulOp>(getLoc(), oneHot, rows, true, false);
  sum = c.reshape(sum, in.clone(ArrayRef<int64_t>{size, before, after}));
  sum = b.create<TransposeOp>(getLoc(), sum, ArrayRef<int64_t>{1, 0, 2});
  return {c.reshape(sum, in), Value()};
}

/// Elements `first` to `first + count - 1` of `x` along `dim`, backwards where
/// `reversed`.
static Value part(const Arithmetic &c, Value x, int64_t dim, int64_t first,
                  int64_t count, bool reversed) {
  SmallVector<int64_t> shape(typeOf(x).getShape());
  SmallVector<int64_t> starts(shape.size(), 0), steps(shape.size(), 1);
  shape[dim] = count;
  starts[dim] = reversed ? first + count - 1 : first;
  steps[dim] = reversed ? -1 : 1;
  return c.b.createOrFold<SliceOp>(c.loc, typeOf(x).clone(shape), x, starts,
                                   steps);
}

/// `x` from place `first` on along `dim`, which becomes `size` long; zeros
/// elsewhere.
static Value placed(const Arithmetic &c, Value x, int64_t dim, int64_t first,
                    int64_t size) {
  SmallVector<int64_t> shape(typeOf(x).getShape());
  SmallVector<int64_t> low(shape.size(), 0);
  shape[dim] = size, low[dim] = first;
  return c.b.createOrFold<PadOp>(c.loc, typeOf(x).clone(shape),
                                 PadMode::constant, x, low, APFloat(0.0));
}

static int64_t wrapped(int64_t i, int64_t size) {
  return (i % size + size) % size;
}

/// What elements `first` to `first + count - 1` of dy give x, if they stand
/// before (or after) its `size` elements along `dim`.
static Value fromBorder(const Arithmetic &c, PadMode mode, Value dy,
                        int64_t dim, int64_t first, int64_t count, int64_t low,
                        int64_t size) {
  int64_t begin = first - low; // counted from x's first element
  bool before = begin < 0;
  Value border = part(c, dy, dim, first, count, mode == PadMode::reflect);
  switch (mode) {
  case PadMode::edge: {
    SmallVector<int64_t> shape(typeOf(border).getShape());
    shape[dim] = 1;
    Value sum = c.reshape(c.sum(border, dim), typeOf(dy).clone(shape));
    return placed(c, sum, dim, before ? 0 : size - 1, size);
  }
  case PadMode::reflect: {
    int64_t last = begin + count - 1; // comes first, reversed
    return placed(c, border, dim, before ? -last : 2 * (size - 1) - last, size);
  }
  case PadMode::wrap:
    return placed(c, border, dim, wrapped(begin, size), size);
  case PadMode::constant:
    break;
  }
  return c.number(typeOf(dy), 0);
}

// y = x between elements of another origin      dx = the middle of dy, and what
// the elements around it repeat
SmallVector<Value> PadOp::buildGradient(OpBuilder &b, ValueRange dy) {
  Arithmetic c{b, getLoc()};
  Value gradient = dy[0];
  for (int64_t dim = 0; dim < typeOf(gradient).getRank(); ++dim) {
    int64_t low = getLow()[dim], size = getInput().getType().getDimSize(dim);
    int64_t padded = typeOf(gradient).getDimSize(dim);
    Value middle = placed(c, gradient, dim, -low, size);
    auto add = [&](int64_t first, int64_t count) {
      while (count > 0 && getMode() != PadMode::constant) {
        // A tensor may be repeated more than once.
        int64_t here = count;
        if (getMode() == PadMode::wrap)
          here = std::min(count, size - wrapped(first - low, size));
        middle = c.add(middle, fromBorder(c, getMode(), gradient, dim, first,
                                          here, low, size));
        first += here, count -= here;
      }
    };
    int64_t after = std::max<int64_t>(low + size, 0);
    add(0, std::min(low, padded));
    add(after, padded - after);
    gradient = middle;
  }
  return {gradient};
}

// y = x under another shape      dx = dy under x's
SmallVector<Value> ReshapeOp::buildGradient(OpBuilder &b, ValueRange dy) {
  return {b.create<ReshapeOp>(getLoc(), getInput().getType(), dy[0])};
}

// y = every s-th element of x      dx = dy spread out: dy with s - 1 zeros
// after each element, padded to x's shape; backwards where s < 0
SmallVector<Value> SliceOp::buildGradient(OpBuilder &b, ValueRange dy) {
  Value grad = dy[0];
  auto in = getInput().getType();
  for (int64_t dim = 0; dim < in.getRank(); ++dim) {
    auto type = typeOf(grad);
    int64_t size = type.getDimSize(dim), step = getSteps()[dim];
    int64_t first =
        step < 0 ? getStarts()[dim] + (size - 1) * step : getStarts()[dim];
    SmallVector<int64_t> shape(type.getShape());
    if (step < 0) {
      SmallVector<int64_t> starts(type.getRank(), 0), steps(type.getRank(), 1);
      starts[dim] = size - 1, steps[dim] = -1;
      grad = b.create<SliceOp>(getLoc(), type, grad, starts, steps);
    }
    if (int64_t apart = std::abs(step); apart > 1) {
      SmallVector<int64_t> wide(shape);
      wide.insert(wide.begin() + dim + 1, 1);
      Value column = b.create<ReshapeOp>(getLoc(), type.clone(wide), grad);
      wide[dim + 1] = apart;
      column =
          b.create<PadOp>(getLoc(), type.clone(wide), PadMode::constant, column,
                          SmallVector<int64_t>(wide.size(), 0), APFloat(0.0));
      shape[dim] *= apart;
      grad = b.create<ReshapeOp>(getLoc(), type.clone(shape), column);
    }
    SmallVector<int64_t> low(shape.size(), 0);
    low[dim] = first;
    shape[dim] = in.getDimSize(dim);
    grad = b.create<PadOp>(getLoc(), type.clone(shape), PadMode::constant, grad,
                           low, APFloat(0.0));
  }
  return {grad};
}

// y = x permuted by p      dx = dy permuted by p's inverse
SmallVector<Value> TransposeOp::buildGradient(OpBuilder &b, ValueRange dy) {
  SmallVector<int64_t> inverse(getPerm().size());
  for (auto [i, dim] : llvm::enumerate(getPerm()))
    inverse[dim] = i;
  return {b.create<TransposeOp>(getLoc(), dy[0], inverse)};
}
