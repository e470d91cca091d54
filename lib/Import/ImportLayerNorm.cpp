//===- ImportLayerNorm.cpp - layer, RMS, group, instance normalization ----===//
//
// Each sample is normalized by its own statistics. Everything is a map or a
// reduction of the same tensor, which is reshaped for groups of channels only.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Operators.h"

using namespace mlir;
using namespace mlir::mnistc;
using namespace mlir::mnistc::importer;

namespace {
/// Means over the last dimensions or others, and their repetition.
struct Rows {
  Node &n;
  RankedTensorType type;
  Shape reduced;

  Value mean(Value x) const {
    if (reduced.empty())
      return x;
    double count = 1;
    for (int64_t dim : reduced)
      count *= type.getDimSize(dim);
    Value sum = n.create<ReduceSumOp>(x, reduced);
    return n.create<MulOp>(sum, n.splat(sum, 1 / count));
  }
  Value repeated(Value numbers) const {
    if (reduced.empty())
      return numbers;
    return n.create<BroadcastOp>(type, numbers,
                                 otherDims(reduced, type.getRank()));
  }
  Value centred(Value x, Value mean) const {
    return n.create<SubOp>(x, repeated(mean));
  }
  Value meanSquare(Value x) const { return mean(n.create<MulOp>(x, x)); }
  // 1 / sqrt(x + epsilon)
  Value inverseRoot(Value x, double epsilon) const {
    Value root = n.create<SqrtOp>(n.create<AddOp>(x, n.splat(x, epsilon)));
    return n.create<DivOp>(n.splat(root, 1), root);
  }
  /// The reduced dimensions are kept as ones.
  Value kept(Value numbers) const {
    Shape shape(type.getShape());
    for (int64_t dim : reduced)
      shape[dim] = 1;
    return n.reshape(numbers, shape);
  }
};
} // namespace

static Rows rowsOf(Node &n, Value x, Shape reduced) {
  return {n, typeOf(x), std::move(reduced)};
}

static Rows lastDimensions(Node &n, Value x) {
  int64_t axis = n.axis(n.attribute("axis", -1), rankOf(x));
  return rowsOf(n, x, llvm::to_vector(llvm::seq(axis, rankOf(x))));
}

/// Statistics are computed in float, whatever precision a model asks for.
static void checkStashType(Node &n) {
  int64_t type = n.attribute("stash_type", 1);
  Type element = onnx::TensorProto::DataType_IsValid(type)
                     ? elementType(n.context(), type)
                     : Type();
  if (!isa_and_nonnull<FloatType>(element))
    fail("expected a type of floats as 'stash_type', got " + Twine(type));
  if (changesPrecision(type))
    n.note("'stash_type' " + typeName(type) + " becomes float");
}

// (x - E[x]) / sqrt(E[(x - E[x])^2] + epsilon)
static Value standardized(const Rows &rows, Value x, double epsilon,
                          Value *mean = nullptr, Value *inverse = nullptr) {
  Value m = rows.mean(x), c = rows.centred(x, m);
  Value i = rows.inverseRoot(rows.meanSquare(c), epsilon);
  if (mean)
    *mean = m;
  if (inverse)
    *inverse = i;
  return rows.n.create<MulOp>(c, rows.repeated(i));
}

/// Scaled, and shifted where there is a bias.
static Value layerNormalization(Node &n) {
  Value x = n.floatInput(0);
  checkStashType(n);
  Rows rows = lastDimensions(n, x);
  Value mean, inverse;
  Value y =
      standardized(rows, x, n.attribute("epsilon", 1e-5), &mean, &inverse);
  y = n.create<MulOp>(y, n.broadcast(n.learnedInput(1), shapeOf(x)));
  if (n.hasInput(2))
    y = n.create<AddOp>(y, n.broadcast(n.learnedInput(2), shapeOf(x)));
  if (n.isUsed(1))
    n.setOutput(1, rows.kept(mean));
  if (n.isUsed(2))
    n.setOutput(2, rows.kept(inverse));
  return y;
}

// scale x / sqrt(E[x^2] + epsilon)
static Value rmsNormalization(Node &n) {
  Value x = n.floatInput(0);
  checkStashType(n);
  Rows rows = lastDimensions(n, x);
  Value inverse =
      rows.inverseRoot(rows.meanSquare(x), n.attribute("epsilon", 1e-5));
  Value y = n.create<MulOp>(x, rows.repeated(inverse));
  return n.create<MulOp>(y, n.broadcast(n.learnedInput(1), shapeOf(x)));
}

/// The scale or bias of channels or groups, repeated along `dims` of `shape`.
static Value ofChannels(Node &n, int input, Value x, ArrayRef<int64_t> dims) {
  Value numbers = n.learnedInput(input);
  Shape sizes;
  for (int64_t dim : dims)
    sizes.push_back(shapeOf(x)[dim]);
  if (shapeOf(numbers) != ArrayRef({product(sizes)}))
    fail("expected " + Twine(product(sizes)) + " numbers as " +
         (input == 1 ? "scale" : "bias") + ", got the shape " +
         shapeText(shapeOf(numbers)));
  return n.create<BroadcastOp>(x.getType(), n.reshape(numbers, sizes), dims);
}

/// Normalizes over `reduced`; scale and bias go along `channels`.
static Value scaledChannels(Node &n, Value x, Shape reduced,
                            ArrayRef<int64_t> channels) {
  Value y = standardized(rowsOf(n, x, std::move(reduced)), x,
                         n.attribute("epsilon", 1e-5));
  y = n.create<MulOp>(y, ofChannels(n, 1, x, channels));
  return n.create<AddOp>(y, ofChannels(n, 2, x, channels));
}

static void checkChannels(Value x) {
  if (rankOf(x) < 2)
    fail("expected a batch and channels, got the shape " +
         shapeText(shapeOf(x)));
}

/// Channels stay one dimension where a group is one of them or all. Before
/// opset 21 there is a scale for each group, not for each channel.
static Value groupNormalization(Node &n) {
  Value x = n.floatInput(0);
  if (n.opset() >= 21)
    checkStashType(n);
  checkChannels(x);
  Shape shape(shapeOf(x));
  int64_t channels = shape[1], groups = n.attribute("num_groups", 0);
  if (groups < 1 || channels % groups != 0)
    fail("expected a divisor of the " + Twine(channels) +
         " channels as 'num_groups', got " + Twine(groups));
  bool isOfGroups = n.opset() < 21;
  if (groups == channels || (groups == 1 && !isOfGroups))
    return scaledChannels(
        n, x,
        llvm::to_vector(llvm::seq<int64_t>(groups == 1 ? 1 : 2, rankOf(x))),
        {1});
  shape[1] = groups;
  shape.insert(shape.begin() + 2, channels / groups);
  Value grouped = n.reshape(x, shape);
  Shape dims = isOfGroups ? Shape{1} : Shape{1, 2};
  Value y = scaledChannels(
      n, grouped, llvm::to_vector(llvm::seq<int64_t>(2, rankOf(grouped))),
      dims);
  return n.reshape(y, shapeOf(x));
}

static Value instanceNormalization(Node &n) {
  n.ignore("consumed_inputs");
  Value x = n.floatInput(0);
  checkChannels(x);
  return scaledChannels(n, x, llvm::to_vector(llvm::seq<int64_t>(2, rankOf(x))),
                        {1});
}

// (x - E[x]) / (sqrt(E[(x - E[x])^2]) + 10^-9)
static Value meanVarianceNormalization(Node &n) {
  Value x = n.floatInput(0);
  Rows rows =
      rowsOf(n, x, n.axes(n.attribute("axes", Shape{0, 2, 3}), rankOf(x)));
  Value c = rows.centred(x, rows.mean(x));
  Value deviation = n.create<SqrtOp>(rows.meanSquare(c));
  Value divisor = n.create<AddOp>(deviation, n.splat(deviation, 1e-9));
  return n.create<DivOp>(c, rows.repeated(divisor));
}

ArrayRef<Operator> importer::layerNormOperators() {
  static const Operator rows[] = {
      {"GroupNormalization", 18, groupNormalization},
      {"InstanceNormalization", 1, instanceNormalization},
      {"LayerNormalization", 17, layerNormalization},
      {"MeanVarianceNormalization", 9, meanVarianceNormalization},
      {"RMSNormalization", 23, rmsNormalization},
  };
  return rows;
}
