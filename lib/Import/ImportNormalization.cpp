//===- ImportNormalization.cpp - normalizations, softmax, dropout ---------===//

#include "lib/Import/Operators.h"
#include <random>

using namespace mlir;
using namespace mlir::mnistc;
using namespace mlir::mnistc::importer;

/// A mask that is known at compile time is stored in the program.
static constexpr int64_t maxMask = int64_t(1) << 26;

//===----------------------------------------------------------------------===//
// BatchNormalization
//===----------------------------------------------------------------------===//

namespace {
struct BatchNorm {
  Value x, scale, bias, mean, variance;
  double epsilon, momentum;
};
} // namespace

/// The operands, with `x` as batch, channels and all other dimensions. Without
/// `spatial` (up to opset 8) each place of an image is a separate channel.
static BatchNorm batchNorm(Node &n) {
  BatchNorm b{n.floatInput(0),
              n.floatInput(1),
              n.floatInput(2),
              n.floatInput(3),
              n.floatInput(4),
              n.attribute("epsilon", 1e-5),
              n.attribute("momentum", 0.9)};
  Shape shape(shapeOf(b.x));
  if (shape.empty())
    fail("expected at least one dimension, got a scalar");
  if (shape.size() == 1)
    shape.push_back(1);
  if (!n.flag("spatial", true)) {
    shape = {shape[0], product(ArrayRef(shape).drop_front())};
    for (Value *number : {&b.scale, &b.bias, &b.mean, &b.variance})
      *number = n.reshape(*number, {product(shapeOf(*number))});
  }
  b.x = n.reshape(b.x, shape);
  for (Value number : {b.scale, b.bias, b.mean, b.variance})
    if (shapeOf(number) != ArrayRef(shape).slice(1, 1))
      fail("expected " + Twine(shape[1]) +
           " numbers for the channels, got the shape " +
           shapeText(shapeOf(number)));
  return b;
}

static Value byRunningStatistics(Node &n, const BatchNorm &b) {
  Value y = n.create<BatchNormOp>(
      b.x.getType(), b.x, b.scale, b.bias, b.mean, b.variance,
      /*dim=*/uint64_t(1), llvm::APFloat(b.epsilon), llvm::APFloat(b.momentum));
  // Where a training updates statistics that several nodes have.
  if (n.trains())
    y.getDefiningOp()->setAttr("mnist.number", n.i64(n.number()));
  return n.reshape(y, n.inputType(0).getShape());
}

/// What of the running statistics is kept, and what comes from the batch.
static Value running(Node &n, Value old, Value now, double momentum) {
  return n.create<AddOp>(n.create<MulOp>(old, n.splat(old, momentum)),
                         n.create<MulOp>(now, n.splat(now, 1 - momentum)));
}

namespace {
/// What a batch has in each channel.
struct BatchStatistics {
  Value mean, variance, centred; ///< x - E[x]
};
} // namespace

/// `number` of each channel along all other dimensions.
static Value repeated(Node &n, const BatchNorm &b, Value number) {
  Shape along = {1};
  return n.create<BroadcastOp>(b.x.getType(), number, along);
}

static BatchStatistics batchStatistics(Node &n, const BatchNorm &b) {
  Shape others = {0};
  llvm::append_range(others, llvm::seq<int64_t>(2, rankOf(b.x)));
  double count = double(product(shapeOf(b.x))) / shapeOf(b.x)[1];
  auto meanOf = [&](Value x) {
    Value sum = n.create<ReduceSumOp>(x, others);
    return n.create<MulOp>(sum, n.splat(sum, 1 / count));
  };
  BatchStatistics found;
  found.mean = meanOf(b.x);
  found.centred = n.create<SubOp>(b.x, repeated(n, b, found.mean));
  found.variance = meanOf(n.create<MulOp>(found.centred, found.centred));
  return found;
}

// scale (x - E[x]) / sqrt(E[(x - E[x])^2] + epsilon) + bias
static Value byBatchStatistics(Node &n, const BatchNorm &b,
                               const BatchStatistics &found) {
  Value deviation = n.create<SqrtOp>(
      n.create<AddOp>(found.variance, n.splat(found.variance, b.epsilon)));
  Value factor = n.create<DivOp>(b.scale, deviation);
  Value y =
      n.create<AddOp>(n.create<MulOp>(found.centred, repeated(n, b, factor)),
                      repeated(n, b, b.bias));
  return n.reshape(y, n.inputType(0).getShape());
}

/// A program that trains takes the batch's statistics where it trains and the
/// running ones where it evaluates, whatever the file was exported for. One
/// that infers does as the file says.
static Value inTraining(Node &n, const BatchNorm &b) {
  bool needsStatistics = !n.trains() || n.isUsed(1) || n.isUsed(2);
  BatchStatistics found;
  if (needsStatistics)
    found = batchStatistics(n, b);
  if (n.isUsed(1))
    n.setOutput(1, running(n, b.mean, found.mean, b.momentum));
  if (n.isUsed(2))
    n.setOutput(2, running(n, b.variance, found.variance, b.momentum));
  if (n.trains())
    return byRunningStatistics(n, b);
  n.warn("it is in training mode; this program infers, and takes mean and "
         "variance from the batch, so that a row's result depends on the "
         "others; a model exported in evaluation mode takes the running ones");
  return byBatchStatistics(n, b, found);
}

static Value batchNormalization(Node &n) {
  BatchNorm b = batchNorm(n);
  return n.flag("training_mode") ? inTraining(n, b) : byRunningStatistics(n, b);
}

/// Before opset 7 an attribute tells training from inference, before opset 14
/// the presence of more outputs.
static Value oldBatchNormalization(Node &n) {
  n.ignore("consumed_inputs");
  BatchNorm b = batchNorm(n);
  bool isTraining = false;
  if (n.opset() < 7)
    isTraining = !n.flag("is_test");
  else
    for (int i = 1; i < n.numOutputs(); ++i)
      isTraining |= n.hasOutput(i);
  return isTraining ? inTraining(n, b) : byRunningStatistics(n, b);
}

//===----------------------------------------------------------------------===//
// LRN
//===----------------------------------------------------------------------===//

// x / (bias + alpha / size * sum of x^2 over `size` channels around)^beta
static Value lrn(Node &n) {
  Value x = n.floatInput(0);
  int64_t size = n.attribute("size", 0);
  double alpha = n.attribute("alpha", 1e-4), beta = n.attribute("beta", 0.75);
  double bias = n.attribute("bias", 1.0);
  if (rankOf(x) < 2 || size < 1 || size > (1 << 30))
    fail("expected at least 2 dimensions and a size of at least 1, got " +
         shapeText(shapeOf(x)) + " and " + Twine(size));
  ArrayRef<int64_t> s = shapeOf(x);
  // The mean over the window, for which the channels are a column: the sum's
  // division by `size` is the mean's.
  Shape column = {s[0], 1, s[1], product(s.drop_front(2))};
  Value square = n.reshape(n.create<MulOp>(x, x), column);
  Shape kernel = {size, 1}, ones = {1, 1},
        pads = {(size - 1) / 2, 0, size / 2, 0};
  Value mean =
      n.create<AvgPoolOp>(square.getType(), square, Layout::nchw, kernel, ones,
                          pads, ones, /*countPads=*/true);
  mean = n.reshape(mean, s);
  Value sum = n.create<AddOp>(n.create<MulOp>(mean, n.splat(mean, alpha)),
                              n.splat(mean, bias));
  return n.create<DivOp>(x, n.create<PowOp>(sum, n.splat(sum, beta)));
}

//===----------------------------------------------------------------------===//
// Softmax, LogSoftmax, Hardmax
//===----------------------------------------------------------------------===//

/// The function of a tensor and a dimension; before opset 13 of the matrix
/// whose columns are the axis and all that follow it.
template <Value (*function)(Node &, Value, int64_t)>
static Value along(Node &n) {
  Value x = n.floatInput(0);
  return function(n, x, n.axis(n.attribute("axis", -1), rankOf(x)));
}

template <Value (*function)(Node &, Value, int64_t)>
static Value alongMatrix(Node &n) {
  Value x = n.floatInput(0);
  ArrayRef<int64_t> s = shapeOf(x);
  int64_t axis =
      n.axis(n.attribute("axis", 1), rankOf(x), /*endIncluded=*/true);
  if (axis == rankOf(x) - 1)
    return function(n, x, axis);
  Value matrix =
      n.reshape(x, {product(s.take_front(axis)), product(s.drop_front(axis))});
  return n.reshape(function(n, matrix, 1), s);
}

template <typename Op> static Value softmax(Node &n, Value x, int64_t dim) {
  return n.create<Op>(x.getType(), x, static_cast<uint64_t>(dim));
}

static Value hardmax(Node &n, Value x, int64_t dim) {
  Shape kept(shapeOf(x));
  if (kept[dim] == 0)
    fail("expected a dimension that is not empty, got " + shapeText(kept));
  kept.erase(kept.begin() + dim);
  Type i64 = Builder(n.context()).getI64Type();
  Value index = n.create<ArgMaxOp>(RankedTensorType::get(kept, i64), x,
                                   static_cast<uint64_t>(dim), false);
  auto whole = RankedTensorType::get(shapeOf(x), i64);
  Shape others = llvm::to_vector(llvm::seq<int64_t>(rankOf(x)));
  others.erase(others.begin() + dim);
  Value here = n.create<IotaOp>(whole, static_cast<uint64_t>(dim));
  Value there = n.create<BroadcastOp>(whole, index, others);
  Value isMaximum = n.create<CompareOp>(Predicate::eq, here, there);
  return n.cast(isMaximum, elementOf(x));
}

//===----------------------------------------------------------------------===//
// Dropout
//===----------------------------------------------------------------------===//

/// Nothing is dropped: the value itself, and a mask of ones.
static Value keepAll(Node &n, Type maskElement) {
  Value x = n.input(0);
  if (n.isUsed(1))
    n.setOutput(1, n.constantOf(splatAttr(
                       RankedTensorType::get(shapeOf(x), maskElement), 1)));
  return x;
}

static void checkRatio(double ratio) {
  if (!(ratio >= 0 && ratio < 1))
    fail("expected a ratio from 0 to below 1, got " + std::to_string(ratio));
}

static Value dropAtRandom(Node &n, double ratio, Type maskElement) {
  checkRatio(ratio);
  if (ratio == 0)
    return keepAll(n, maskElement);
  if (n.isUsed(1))
    unsupported("the mask of a dropout in training is not supported");
  if (!n.trains())
    n.warn("it is in training mode and would drop at random; this program "
           "infers, and keeps every element");
  return n.create<DropoutOp>(n.floatInput(0), n.f64(ratio));
}

static Type boolType(Node &n) { return Builder(n.context()).getI1Type(); }

/// What a seed keeps of `shape`: where numpy's generator of that seed, which
/// ONNX's reference draws with, gives the ratio or more. It is a Mersenne
/// Twister; a number has 53 bits, of two draws.
static DenseElementsAttr keptBySeed(Node &n, ArrayRef<int64_t> shape,
                                    int64_t seed, double ratio) {
  if (seed < 0 || seed > UINT32_MAX)
    unsupported("expected a seed from 0 to " + Twine(UINT32_MAX) + ", got " +
                Twine(seed));
  if (product(shape) > maxMask)
    unsupported("expected a mask of at most " + Twine(maxMask) +
                " elements with a seed, got " + Twine(product(shape)));
  std::mt19937 generator(static_cast<uint32_t>(seed));
  SmallVector<bool> kept;
  for (int64_t i = 0; i < product(shape); ++i) {
    double high = generator() >> 5, low = generator() >> 6;
    kept.push_back((high * 0x1p26 + low) * 0x1p-53 >= ratio);
  }
  return DenseElementsAttr::get(RankedTensorType::get(shape, boolType(n)),
                                kept);
}

/// A node that fixes its seed asks for the same mask each time it runs.
static Value dropBySeed(Node &n, double ratio, int64_t seed) {
  checkRatio(ratio);
  if (ratio == 0)
    return keepAll(n, boolType(n));
  Value x = n.floatInput(0);
  Value kept = n.constantOf(keptBySeed(n, shapeOf(x), seed, ratio));
  if (n.isUsed(1))
    n.setOutput(1, kept);
  Arithmetic a = n.arithmetic();
  return a.where(kept, a.mul(x, a.number(x, 1 / (1 - ratio))));
}

/// Training takes more than one step: there a seed of the node would
/// drop the same elements for good, and the program's own seed counts.
static Value dropout(Node &n) {
  bool isSeeded = n.hasAttribute("seed") && !n.trains();
  int64_t seed = n.attribute("seed", 0);
  bool isTraining = n.hasInput(2) && n.constantNumber(2, "training_mode") != 0;
  if (!isTraining)
    return keepAll(n, boolType(n));
  double ratio = n.hasInput(1) ? n.constantNumber(1, "ratio") : 0.5;
  return isSeeded ? dropBySeed(n, ratio, seed)
                  : dropAtRandom(n, ratio, boolType(n));
}

/// From opset 7 to 11 the operator is one of inference.
static Value inferenceDropout(Node &n) {
  n.ignore("ratio");
  return keepAll(n, n.opset() < 10 ? n.inputType(0).getElementType()
                                   : boolType(n));
}

static Value oldDropout(Node &n) {
  n.ignore("consumed_inputs");
  double ratio = n.attribute("ratio", 0.5);
  Type mask = n.inputType(0).getElementType();
  return n.flag("is_test") ? keepAll(n, mask) : dropAtRandom(n, ratio, mask);
}

ArrayRef<Operator> importer::normalizationOperators() {
  static const Operator rows[] = {
      {"BatchNormalization", 1, oldBatchNormalization},
      {"BatchNormalization", 14, batchNormalization},
      {"Dropout", 1, oldDropout},
      {"Dropout", 7, inferenceDropout},
      {"Dropout", 12, dropout},
      withoutGradient({"Hardmax", 1, alongMatrix<hardmax>}),
      withoutGradient({"Hardmax", 13, along<hardmax>}),
      {"LRN", 1, lrn},
      {"LogSoftmax", 1, alongMatrix<softmax<LogSoftmaxOp>>},
      {"LogSoftmax", 13, along<softmax<LogSoftmaxOp>>},
      {"Softmax", 1, alongMatrix<softmax<SoftmaxOp>>},
      {"Softmax", 13, along<softmax<SoftmaxOp>>},
  };
  return rows;
}
