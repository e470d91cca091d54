//===- ImportShape.cpp - the same elements under another shape ------------===//

#include "lib/Import/Operators.h"

using namespace mlir;
using namespace mlir::mnistc;
using namespace mlir::mnistc::importer;

static Value flatten(Node &n) {
  Value x = n.input(0);
  ArrayRef<int64_t> shape = shapeOf(x);
  int64_t axis =
      n.axis(n.attribute("axis", 1), rankOf(x), /*endIncluded=*/true);
  return n.reshape(
      x, {product(shape.take_front(axis)), product(shape.drop_front(axis))});
}

static Value identity(Node &n) { return n.input(0); }

//===----------------------------------------------------------------------===//
// Reshape
//===----------------------------------------------------------------------===//

/// Exporters write the batch that they traced with into shapes. Where the
/// batch is another now, the first size of such a shape is as well.
static void rebindBatch(Node &n, ArrayRef<int64_t> in, Shape &shape) {
  const Batch &batch = n.batch();
  if (!batch.isRebound() || !n.isBatched(0) || shape.empty() || shape[0] <= 0 ||
      batch.inFile <= 0 || shape[0] % batch.inFile)
    return;
  int64_t first = shape[0] / batch.inFile * batch.bound;
  bool isInferred = llvm::is_contained(shape, -1);
  bool fits = isInferred ? shape[0] == batch.inFile && !in.empty() &&
                               in[0] == batch.bound
                         : product(shape) / shape[0] * first == product(in);
  if (fits)
    shape[0] = first;
}

/// 0 copies a size, -1 is what remains.
static Value reshapeTo(Node &n, Shape shape, bool zeroCopies) {
  Value x = n.input(0);
  ArrayRef<int64_t> in = shapeOf(x);
  std::optional<size_t> inferred;
  int64_t known = 1;
  for (auto [dim, size] : llvm::enumerate(shape)) {
    if (size == 0 && zeroCopies) {
      if (dim >= in.size())
        fail("expected a size to copy as dimension " + Twine(dim) +
             ", got the shape " + shapeText(in));
      size = in[dim];
    }
    if (size < -1 || (size == -1 && inferred))
      fail("expected sizes with at most one -1, got " + shapeText(shape));
    if (size == -1)
      inferred = dim;
  }
  tensorType(to_vector(llvm::make_filter_range(
                 shape, [](int64_t size) { return size >= 0; })),
             elementOf(x));
  rebindBatch(n, in, shape);
  for (int64_t size : shape)
    known *= size == -1 ? 1 : size;
  if (inferred) {
    if (known == 0 || product(in) % known)
      fail("expected a shape that divides " + shapeText(in) + ", got " +
           shapeText(shape));
    shape[*inferred] = product(in) / known;
  }
  return n.reshape(x, shape);
}

static Value reshape(Node &n) {
  bool zeroCopies = !n.flag("allowzero");
  return reshapeTo(n, n.constantInts(1, "shape"), zeroCopies);
}

static Value reshapeByAttribute(Node &n) {
  n.ignore("consumed_inputs");
  return reshapeTo(n, n.attribute("shape", Shape()), /*zeroCopies=*/true);
}

//===----------------------------------------------------------------------===//
// Squeeze and Unsqueeze
//===----------------------------------------------------------------------===//

/// An attribute at first, an input from opset 13 on.
static std::optional<Shape> axesOf(Node &n) {
  if (n.hasInput(1))
    return n.constantInts(1, "axes");
  if (n.hasAttribute("axes"))
    return n.attribute("axes", Shape());
  return std::nullopt;
}

static Value squeeze(Node &n) {
  Value x = n.input(0);
  std::optional<Shape> given = axesOf(n);
  Shape axes = n.axes(given.value_or(Shape()), rankOf(x)), shape;
  for (auto [dim, size] : llvm::enumerate(shapeOf(x))) {
    bool isGone = given ? llvm::is_contained(axes, int64_t(dim)) : size == 1;
    if (isGone && size != 1)
      fail("expected size 1 of dimension " + Twine(dim) + ", got " +
           Twine(size));
    if (!isGone)
      shape.push_back(size);
  }
  return n.reshape(x, shape);
}

static Value unsqueeze(Node &n) {
  Value x = n.input(0);
  Shape given = axesOf(n).value_or(Shape()), shape(shapeOf(x));
  for (int64_t axis : n.axes(given, rankOf(x) + given.size()))
    shape.insert(shape.begin() + axis, 1);
  return n.reshape(x, shape);
}

//===----------------------------------------------------------------------===//
// Shapes as tensors
//===----------------------------------------------------------------------===//

static Value shapeConstant(Node &n, ArrayRef<int64_t> shape) {
  Type i64 = Builder(n.context()).getI64Type();
  return n.constantOf(
      integersAttr(RankedTensorType::get({int64_t(shape.size())}, i64), shape));
}

static Value shape(Node &n) {
  ArrayRef<int64_t> whole = n.inputType(0).getShape();
  int64_t rank = whole.size();
  auto bound = [&](int64_t end) {
    return std::clamp<int64_t>(end < 0 ? end + rank : end, 0, rank);
  };
  int64_t start = bound(n.attribute("start", 0));
  int64_t end = bound(n.attribute("end", rank));
  return shapeConstant(n,
                       whole.slice(start, std::max<int64_t>(end - start, 0)));
}

static Value size(Node &n) {
  return n.reshape(shapeConstant(n, {n.inputType(0).getNumElements()}), {});
}

//===----------------------------------------------------------------------===//
// Other orders
//===----------------------------------------------------------------------===//

static Value expand(Node &n) {
  Value x = n.input(0);
  Shape shape = n.constantInts(1, "shape");
  const Batch &batch = n.batch();
  bool isWhole = shape.size() >= shapeOf(x).size();
  if (batch.isRebound() && n.isBatched(0) && isWhole && !shape.empty() &&
      shape[0] == batch.inFile)
    shape[0] = batch.bound;
  tensorType(shape, elementOf(x));
  return n.broadcast(x, broadcastShape(shapeOf(x), shape));
}

static Value transposed(Node &n, Value x, ArrayRef<int64_t> perm) {
  if (llvm::equal(perm, llvm::seq<int64_t>(perm.size())))
    return x;
  return n.create<TransposeOp>(x, perm);
}

static Value transpose(Node &n) {
  Value x = n.input(0);
  Shape perm = llvm::to_vector(llvm::reverse(llvm::seq<int64_t>(rankOf(x))));
  perm = n.attribute("perm", perm);
  Shape sorted = n.axes(perm, rankOf(x));
  if (sorted.size() != shapeOf(x).size() ||
      llvm::any_of(perm, [](int64_t dim) { return dim < 0; }))
    fail("expected a permutation of " + Twine(rankOf(x)) + " dimensions, got " +
         shapeText(perm));
  return transposed(n, x, perm);
}

/// An image and the blocks that it is cut into.
static int64_t blockSize(Node &n, Value x) {
  int64_t block = n.attribute("blocksize", 0);
  if (rankOf(x) != 4 || block < 1 || block > (1 << 10))
    fail("expected an image and a block of at least 1, got " +
         shapeText(shapeOf(x)) + " and " + Twine(block));
  return block;
}

/// Whether channels are outside of blocks (depth, column, row) or inside.
static bool isDepthFirst(Node &n) {
  StringRef mode = n.attribute("mode", "DCR");
  if (mode != "DCR" && mode != "CRD")
    fail("expected 'DCR' or 'CRD' as 'mode', got " + quoted(mode));
  return mode == "DCR";
}

static Value depthToSpace(Node &n) {
  Value x = n.input(0);
  int64_t b = blockSize(n, x);
  bool depthFirst = isDepthFirst(n);
  ArrayRef<int64_t> s = shapeOf(x);
  if (s[1] % (b * b))
    fail("expected channels that are a multiple of " + Twine(b * b) + ", got " +
         Twine(s[1]));
  int64_t c = s[1] / (b * b);
  Value blocks = depthFirst ? n.reshape(x, {s[0], b, b, c, s[2], s[3]})
                            : n.reshape(x, {s[0], c, b, b, s[2], s[3]});
  Shape perm = depthFirst ? Shape{0, 3, 4, 1, 5, 2} : Shape{0, 1, 4, 2, 5, 3};
  return n.reshape(transposed(n, blocks, perm), {s[0], c, s[2] * b, s[3] * b});
}

static Value spaceToDepth(Node &n) {
  Value x = n.input(0);
  int64_t b = blockSize(n, x);
  bool depthFirst = isDepthFirst(n);
  ArrayRef<int64_t> s = shapeOf(x);
  if (s[2] % b || s[3] % b)
    fail("expected sizes that are multiples of " + Twine(b) + ", got " +
         shapeText(s));
  Value blocks = n.reshape(x, {s[0], s[1], s[2] / b, b, s[3] / b, b});
  Shape perm = depthFirst ? Shape{0, 3, 5, 1, 2, 4} : Shape{0, 1, 3, 5, 2, 4};
  return n.reshape(transposed(n, blocks, perm),
                   {s[0], s[1] * b * b, s[2] / b, s[3] / b});
}

ArrayRef<Operator> importer::shapeOperators() {
  static const Operator rows[] = {
      {"DepthToSpace", 1, depthToSpace},
      {"Expand", 8, expand},
      {"Flatten", 1, flatten},
      {"Identity", 1, identity},
      {"Reshape", 1, reshapeByAttribute},
      {"Reshape", 5, reshape},
      withoutGradient({"Shape", 1, shape}),
      withoutGradient({"Size", 1, size}),
      {"SpaceToDepth", 1, spaceToDepth},
      {"Squeeze", 1, squeeze},
      {"Transpose", 1, transpose},
      {"Unsqueeze", 1, unsqueeze},
  };
  return rows;
}
