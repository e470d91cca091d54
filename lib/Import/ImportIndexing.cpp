//===- ImportIndexing.cpp - parts of tensors, and tensors of parts --------===//

#include "lib/IR/Mnist/TensorSize.h"
#include "lib/Import/Operators.h"
#include <numeric>

using namespace mlir;
using namespace mlir::mnistc;
using namespace mlir::mnistc::importer;

//===----------------------------------------------------------------------===//
// Concat and Split
//===----------------------------------------------------------------------===//

/// Neighbours in groups of at most so many as a kernel takes.
static SmallVector<Value> joined(Node &n, ArrayRef<Value> parts, int64_t dim) {
  SmallVector<Value> result;
  for (; !parts.empty();
       parts = parts.drop_front(std::min(parts.size(), maxConcatInputs))) {
    ArrayRef<Value> group = parts.take_front(maxConcatInputs);
    Shape shape(shapeOf(group.front()));
    shape[dim] = 0;
    for (Value part : group)
      shape[dim] += shapeOf(part)[dim];
    result.push_back(
        group.size() == 1
            ? group.front()
            : n.create<ConcatOp>(tensorType(shape, elementOf(group.front())),
                                 group, static_cast<uint64_t>(dim)));
  }
  return result;
}

static Value concat(Node &n) {
  SmallVector<Value> parts;
  for (int i = 0; i < n.numInputs(); ++i)
    parts.push_back(n.input(i));
  // The attribute is required from opset 4 on.
  int64_t dim = n.axis(n.attribute("axis", 1), rankOf(parts.front()));
  Shape shape(shapeOf(parts.front()));
  shape[dim] = 0;
  for (Value part : parts) {
    if (rankOf(part) != int64_t(shape.size()))
      fail("expected parts of " + Twine(shape.size()) + " dimensions, got " +
           shapeText(shapeOf(part)));
    shape[dim] += shapeOf(part)[dim];
  }
  (void)tensorType(shape, elementOf(parts.front())); // not too large
  while (parts.size() > 1)
    parts = joined(n, parts, dim);
  return parts.front();
}

static Value slice(Node &n, Value x, ArrayRef<int64_t> starts,
                   ArrayRef<int64_t> steps, ArrayRef<int64_t> shape) {
  if (shape == shapeOf(x) &&
      llvm::all_of(steps, [](int64_t step) { return step == 1; }))
    return x;
  return n.create<SliceOp>(tensorType(shape, elementOf(x)), x, starts, steps);
}

/// The sizes of the parts: given, or equal except for the last.
static Shape splitSizes(Node &n, int64_t whole) {
  int64_t count = n.numOutputs();
  if (n.hasInput(1))
    return n.constantInts(1, "split");
  if (n.hasAttribute("split"))
    return n.attribute("split", Shape());
  bool mayDiffer = n.hasAttribute("num_outputs");
  if (n.attribute("num_outputs", count) != count)
    fail("expected " + Twine(count) + " as 'num_outputs', got " +
         Twine(n.attribute("num_outputs", count)));
  if (!mayDiffer && whole % count)
    fail("expected a size that is a multiple of " + Twine(count) + ", got " +
         Twine(whole));
  int64_t part = (whole + count - 1) / count;
  Shape sizes;
  for (int64_t i = 0; i < count; ++i)
    sizes.push_back(std::clamp<int64_t>(whole - i * part, 0, part));
  return sizes;
}

static Value split(Node &n) {
  Value x = n.input(0);
  int64_t dim = n.axis(n.attribute("axis", 0), rankOf(x));
  int64_t whole = shapeOf(x)[dim], start = 0;
  Shape sizes = splitSizes(n, whole);
  // The sum of sizes that fit one by one does not overflow.
  bool fit = llvm::all_of(
      sizes, [&](int64_t size) { return size >= 0 && size <= whole; });
  if (int64_t(sizes.size()) != n.numOutputs() || !fit ||
      std::accumulate(sizes.begin(), sizes.end(), int64_t(0)) != whole)
    fail("expected " + Twine(n.numOutputs()) + " parts of " + Twine(whole) +
         " in total, got " + shapeText(sizes));
  Value first;
  for (auto [number, size] : llvm::enumerate(sizes)) {
    Shape starts(rankOf(x), 0), steps(rankOf(x), 1), shape(shapeOf(x));
    starts[dim] = size ? start : 0;
    shape[dim] = size;
    Value part = slice(n, x, starts, steps, shape);
    n.setOutput(static_cast<int>(number), part);
    first = number == 0 ? part : first;
    start += size;
  }
  return first;
}

//===----------------------------------------------------------------------===//
// Sequences
//===----------------------------------------------------------------------===//

/// The sizes of the parts: one by one, or one for all but perhaps the last.
static Shape partSizes(Node &n, int64_t whole) {
  if (!n.hasInput(1))
    return Shape(whole, 1);
  Shape sizes = n.constantInts(1, "split");
  const bool isOne = n.inputType(1).getRank() == 0;
  const int64_t least = isOne ? 1 : 0;
  for (int64_t size : sizes)
    if (size < least || size > whole)
      fail("expected parts of " + Twine(least) + " to " + Twine(whole) +
           " elements, got " + Twine(size));
  if (isOne) {
    const int64_t size = sizes.front();
    sizes.assign(whole / size, size);
    if (whole % size)
      sizes.push_back(whole % size);
  } else if (std::accumulate(sizes.begin(), sizes.end(), int64_t(0)) != whole) {
    fail("expected parts of " + Twine(whole) + " in total, got " +
         shapeText(sizes));
  }
  return sizes;
}

static Value splitToSequence(Node &n) {
  Value x = n.input(0);
  int64_t dim = n.axis(n.attribute("axis", 0), rankOf(x));
  bool keeps = n.flag("keepdims", true) || n.hasInput(1);
  n.giveSequences({dim, partSizes(n, shapeOf(x)[dim]), keeps});
  return x;
}

static Value sequenceAt(Node &n) {
  const Parts &parts = n.parts(0);
  Value x = n.sequence(0);
  const auto count = static_cast<int64_t>(parts.sizes.size());
  Shape position = n.constantInts(1, "position");
  if (position.size() != 1 || position[0] < -count || position[0] >= count)
    fail("expected a position from " + Twine(-count) + " to " +
         Twine(count - 1) + ", got " + shapeText(position));
  const int64_t at = position[0] < 0 ? position[0] + count : position[0];
  Shape starts(rankOf(x), 0), steps(rankOf(x), 1), shape(shapeOf(x));
  shape[parts.dim] = parts.sizes[at];
  if (parts.sizes[at] != 0)
    starts[parts.dim] = std::accumulate(parts.sizes.begin(),
                                        parts.sizes.begin() + at, int64_t(0));
  Value part = slice(n, x, starts, steps, shape);
  if (!parts.keepsDim)
    shape.erase(shape.begin() + parts.dim);
  return n.reshape(part, shape);
}

//===----------------------------------------------------------------------===//
// Slice
//===----------------------------------------------------------------------===//

namespace {
struct Range {
  int64_t start = 0, step = 1, count = 0;
};
} // namespace

/// Python's slices: negative numbers count from the end, what is outside is
/// cut off. Exporters write huge numbers for "to the end".
static Range clampedRange(int64_t size, int64_t start, int64_t end,
                          int64_t step) {
  auto fromFront = [&](int64_t i, int64_t low, int64_t high) {
    if (i < 0)
      i = i < -size ? low : i + size;
    return std::clamp(i, low, high);
  };
  Range range;
  if (step > 0) {
    range.start = fromFront(start, 0, size);
    end = fromFront(end, 0, size);
  } else {
    range.start = fromFront(start, -1, size - 1);
    end = fromFront(end, -1, size - 1);
  }
  // A step of more than the tensor takes one element.
  range.step = std::clamp<int64_t>(step, -size - 1, size + 1);
  int64_t length = step > 0 ? end - range.start : range.start - end;
  int64_t stride = std::abs(range.step);
  range.count = length <= 0 ? 0 : (length + stride - 1) / stride;
  if (range.count == 0)
    range.start = 0;
  return range;
}

static Value sliceBy(Node &n, const Shape &starts, const Shape &ends,
                     std::optional<Shape> axes, std::optional<Shape> steps) {
  Value x = n.input(0);
  if (!axes)
    axes = llvm::to_vector(llvm::seq<int64_t>(starts.size()));
  if (!steps)
    steps = Shape(starts.size(), 1);
  if (starts.size() != ends.size() || starts.size() != axes->size() ||
      starts.size() != steps->size())
    fail("expected as many starts, ends, axes and steps, got " +
         Twine(starts.size()) + ", " + Twine(ends.size()) + ", " +
         Twine(axes->size()) + " and " + Twine(steps->size()));
  n.axes(*axes, rankOf(x)); // distinct
  Shape firsts(rankOf(x), 0), strides(rankOf(x), 1), shape(shapeOf(x));
  for (auto [axis, start, end, step] :
       llvm::zip_equal(*axes, starts, ends, *steps)) {
    if (step == 0)
      fail("expected steps other than 0");
    int64_t dim = n.axis(axis, rankOf(x));
    Range range = clampedRange(shapeOf(x)[dim], start, end, step);
    firsts[dim] = range.start;
    strides[dim] = range.step;
    shape[dim] = range.count;
  }
  return slice(n, x, firsts, strides, shape);
}

static Value sliceByInputs(Node &n) {
  std::optional<Shape> axes, steps;
  if (n.hasInput(3))
    axes = n.constantInts(3, "axes");
  if (n.hasInput(4))
    steps = n.constantInts(4, "steps");
  return sliceBy(n, n.constantInts(1, "starts"), n.constantInts(2, "ends"),
                 axes, steps);
}

static Value sliceByAttributes(Node &n) {
  std::optional<Shape> axes;
  if (n.hasAttribute("axes"))
    axes = n.attribute("axes", Shape());
  return sliceBy(n, n.attribute("starts", Shape()),
                 n.attribute("ends", Shape()), axes, std::nullopt);
}

//===----------------------------------------------------------------------===//
// Pad
//===----------------------------------------------------------------------===//

static Value padBy(Node &n, ArrayRef<int64_t> pads, ArrayRef<int64_t> axes,
                   double value) {
  Value x = n.input(0);
  std::optional<PadMode> mode =
      symbolizePadMode(n.attribute("mode", "constant"));
  if (!mode)
    fail("expected 'constant', 'reflect', 'edge' or 'wrap' as 'mode', got " +
         quoted(n.attribute("mode", "constant")));
  if (pads.size() != 2 * axes.size())
    fail("expected " + Twine(2 * axes.size()) + " pads, got " +
         Twine(pads.size()));
  Shape low(rankOf(x), 0), shape(shapeOf(x));
  for (auto [number, axis] : llvm::enumerate(axes)) {
    int64_t before = pads[number], after = pads[axes.size() + number];
    constexpr int64_t limit = int64_t(1) << 32;
    if (std::max(before, after) > limit || std::min(before, after) < -limit)
      fail("expected pads of at most " + Twine(limit) + ", got " +
           shapeText(pads));
    low[axis] = before;
    shape[axis] += before + after;
    if (shape[axis] < 0)
      fail("expected pads that leave something of size " +
           Twine(shapeOf(x)[axis]) + ", got " + Twine(before) + " and " +
           Twine(after));
  }
  if (llvm::all_of(pads, [](int64_t pad) { return pad == 0; }))
    return x;
  return n.create<PadOp>(tensorType(shape, elementOf(x)), *mode, x, low,
                         llvm::APFloat(value));
}

static Shape allAxes(Node &n) {
  return llvm::to_vector(llvm::seq<int64_t>(n.inputType(0).getRank()));
}

static Value padByAttributes(Node &n) {
  StringRef name = n.opset() < 2 ? "paddings" : "pads";
  return padBy(n, n.attribute(name, Shape()), allAxes(n),
               n.attribute("value", 0.0));
}

static Value padByInputs(Node &n) {
  Shape axes = allAxes(n);
  if (n.hasInput(3)) {
    Shape given = n.constantInts(3, "axes");
    n.axes(given, axes.size()); // distinct
    axes.clear();
    for (int64_t axis : given)
      axes.push_back(n.axis(axis, n.inputType(0).getRank()));
  }
  double value = n.hasInput(2) ? n.constantNumber(2, "constant_value") : 0.0;
  return padBy(n, n.constantInts(1, "pads"), axes, value);
}

//===----------------------------------------------------------------------===//
// Gather
//===----------------------------------------------------------------------===//

static Value gather(Node &n) {
  Value x = n.input(0), indices = n.input(1);
  int64_t dim = n.axis(n.attribute("axis", 0), rankOf(x));
  int64_t size = shapeOf(x)[dim];
  if (isFloat(indices))
    fail("expected integers as indices, got floats");
  DenseElementsAttr known = n.knownConstant(1);
  if (known && known.isSplat())
    known = known.resizeSplat(RankedTensorType::get({1}, elementOf(indices)));
  if (known)
    for (int64_t index : integersOf(known))
      if (index < -size || index >= size)
        fail("expected indices from " + Twine(-size) + " to " +
             Twine(size - 1) + ", got " + Twine(index));
  n.limitInput(indices, -size, size - 1);
  Shape shape(shapeOf(x).take_front(dim));
  llvm::append_range(shape, shapeOf(indices));
  llvm::append_range(shape, shapeOf(x).drop_front(dim + 1));
  return n.create<GatherOp>(tensorType(shape, elementOf(x)), x, indices,
                            static_cast<uint64_t>(dim));
}

//===----------------------------------------------------------------------===//
// Trilu
//===----------------------------------------------------------------------===//

/// What of each matrix is on the diagonal number k and above it, or below.
static Value trilu(Node &n) {
  Value x = n.input(0);
  int64_t rank = rankOf(x);
  if (rank < 2)
    fail("expected at least 2 dimensions, got " + shapeText(shapeOf(x)));
  Shape number = n.hasInput(1) ? n.constantInts(1, "k") : Shape{0};
  if (number.size() != 1)
    fail("expected one number as 'k', got " + Twine(number.size()));
  // Beyond these all is kept, or nothing.
  int64_t rows = shapeOf(x)[rank - 2], columns = shapeOf(x)[rank - 1];
  int64_t k = std::clamp(number[0], -rows, columns);
  auto indices =
      RankedTensorType::get(shapeOf(x), Builder(n.context()).getI64Type());
  Value row = n.create<IotaOp>(indices, static_cast<uint64_t>(rank - 2));
  Value column = n.create<IotaOp>(indices, static_cast<uint64_t>(rank - 1));
  Value kept = n.create<CompareOp>(
      n.flag("upper", true) ? Predicate::ge : Predicate::le, column,
      n.create<AddOp>(row, n.splat(row, double(k))));
  return n.create<SelectOp>(x.getType(), kept, x, n.splat(x, 0));
}

ArrayRef<Operator> importer::indexingOperators() {
  static const Operator rows[] = {
      {"Concat", 1, concat},
      {"Gather", 1, gather},
      {"Pad", 1, padByAttributes},
      {"Pad", 11, padByInputs},
      {"SequenceAt", 11, sequenceAt},
      {"Slice", 1, sliceByAttributes},
      {"Slice", 10, sliceByInputs},
      {"Split", 1, split},
      {"SplitToSequence", 11, splitToSequence},
      {"Trilu", 14, trilu},
  };
  return rows;
}
