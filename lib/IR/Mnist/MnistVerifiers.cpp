//===- MnistVerifiers.cpp - what an op requires of its types --------------===//
//
// In the order of MnistOps.td. Every sentence said here is said once in
// test/lit/IR/mnist-invalid.mlir.
//
//===----------------------------------------------------------------------===//

#include "lib/IR/Mnist/Geometry.h"
#include "lib/IR/Mnist/MnistOps.h"
#include "lib/IR/Mnist/TensorShape.h"
#include "lib/IR/Mnist/TensorSize.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace mlir::mnistc;

/// "2x3", for messages.
static std::string text(ArrayRef<int64_t> shape) {
  std::string result;
  llvm::raw_string_ostream os(result);
  llvm::interleave(shape, os, "x");
  return shape.empty() ? "a scalar" : result;
}

static LogicalResult verifyShape(Operation *op, ArrayRef<int64_t> expected,
                                 Value result) {
  if (shapeOf(result) == expected)
    return success();
  return op->emitOpError("expected a result of shape ")
         << text(expected) << ", got " << text(shapeOf(result));
}

static LogicalResult verifyElementType(Operation *op, Value input,
                                       Value result) {
  Type expected = getElementTypeOrSelf(input),
       found = getElementTypeOrSelf(result);
  if (expected == found)
    return success();
  return op->emitOpError("expected a result of ")
         << expected << ", got " << found;
}

static LogicalResult verifyCount(Operation *op, StringRef what, size_t expected,
                                 size_t found) {
  if (expected == found)
    return success();
  return op->emitOpError("expected ")
         << expected << " " << what << ", got " << found;
}

static LogicalResult verifyDim(Operation *op, int64_t dim, int64_t rank) {
  if (dim >= 0 && dim < rank)
    return success();
  return op->emitOpError("expected a dimension below ")
         << rank << ", got " << dim;
}

static LogicalResult verifyNumbers(Operation *op, StringRef what,
                                   ArrayRef<int64_t> numbers, int64_t min,
                                   int64_t max) {
  for (int64_t number : numbers) {
    if (number < min)
      return op->emitOpError("expected ")
             << what << " of at least " << min << ", got " << number;
    if (number > max)
      return op->emitOpError("expected ")
             << what << " of at most " << max << ", got " << number;
  }
  return success();
}

/// Ascending, distinct dimensions of a tensor of rank `rank`.
static LogicalResult verifyDims(Operation *op, ArrayRef<int64_t> dims,
                                int64_t rank) {
  int64_t last = -1;
  for (int64_t dim : dims) {
    if (failed(verifyDim(op, dim, rank)))
      return failure();
    if (dim <= last)
      return op->emitOpError("expected ascending dimensions, got ")
             << dim << " after " << last;
    last = dim;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Sources and indexing
//===----------------------------------------------------------------------===//

LogicalResult IotaOp::verify() {
  return verifyDim(*this, getDim(), shapeOf(getOutput()).size());
}

LogicalResult RandomUniformOp::verify() {
  if (bool(getRank()) != bool(getRanks()) || bool(getRank()) != bool(getRows()))
    return emitOpError("expected a rank, the ranks and rows, or none of them");
  int64_t count = getType().getNumElements();
  if (!getRows() || (*getRows() > 0 && count % *getRows() == 0))
    return success();
  return emitOpError("expected a number of rows that divides ")
         << count << " elements, got " << int64_t(*getRows());
}

LogicalResult BroadcastOp::verify() {
  ArrayRef<int64_t> in = shapeOf(getInput()), out = shapeOf(getOutput());
  if (failed(verifyElementType(*this, getInput(), getOutput())) ||
      failed(verifyCount(*this, "dimensions", in.size(), getDims().size())) ||
      failed(verifyDims(*this, getDims(), out.size())))
    return failure();
  for (auto [size, dim] : llvm::zip_equal(in, getDims()))
    if (out[dim] != size)
      return emitOpError("expected result dimension ")
             << dim << " to have size " << size << ", got " << out[dim];
  return success();
}

LogicalResult ConcatOp::verify() {
  if (getInputs().empty())
    return emitOpError("expected at least one operand");
  ArrayRef<int64_t> first = shapeOf(getInputs().front());
  if (failed(verifyDim(*this, getDim(), first.size())))
    return failure();
  SmallVector<int64_t> expected(first);
  expected[getDim()] = 0;
  for (Value input : getInputs()) {
    SmallVector<int64_t> shape(shapeOf(input));
    if (failed(verifyElementType(*this, input, getOutput())) ||
        failed(verifyCount(*this, "dimensions", expected.size(), shape.size())))
      return failure();
    expected[getDim()] += shape[getDim()];
    shape[getDim()] = expected[getDim()];
    if (shape != expected)
      return emitOpError("expected operands that differ in dimension ")
             << getDim() << " only, got " << text(first) << " and "
             << text(shapeOf(input));
  }
  return verifyShape(*this, expected, getOutput());
}

LogicalResult GatherOp::verify() {
  ArrayRef<int64_t> in = shapeOf(getInput());
  if (failed(verifyDim(*this, getDim(), in.size())) ||
      failed(verifyElementType(*this, getInput(), getOutput())))
    return failure();
  SmallVector<int64_t> expected(in.take_front(getDim()));
  llvm::append_range(expected, shapeOf(getIndices()));
  llvm::append_range(expected, in.drop_front(getDim() + 1));
  return verifyShape(*this, expected, getOutput());
}

LogicalResult PadOp::verify() {
  ArrayRef<int64_t> in = shapeOf(getInput()), out = shapeOf(getOutput());
  if (failed(verifyElementType(*this, getInput(), getOutput())) ||
      failed(verifyCount(*this, "low numbers", in.size(), getLow().size())) ||
      failed(verifyCount(*this, "dimensions", in.size(), out.size())) ||
      failed(verifyNumbers(*this, "low numbers", getLow(), -maxTensorElements,
                           maxTensorElements)))
    return failure();
  if (getMode() == PadMode::constant)
    return success();
  for (auto [dim, size] : llvm::enumerate(in)) {
    int64_t high = out[dim] - size - getLow()[dim];
    int64_t most = getMode() == PadMode::reflect ? size - 1
                   : size == 0                   ? 0
                                                 : INT64_MAX;
    if (getLow()[dim] > most || high > most)
      return emitOpError("expected at most ")
             << most << " elements on each side of dimension " << dim
             << ", got " << getLow()[dim] << " and " << high;
  }
  return success();
}

LogicalResult ReshapeOp::verify() {
  int64_t in = getInput().getType().getNumElements();
  int64_t out = getOutput().getType().getNumElements();
  if (in != out)
    return emitOpError("expected ") << in << " elements, got " << out;
  return verifyElementType(*this, getInput(), getOutput());
}

/// start + count * step, or the number nearest to it.
static int64_t indexAfter(int64_t start, int64_t count, int64_t step) {
  int64_t distance, index;
  int64_t nearest = step < 0 ? INT64_MIN : INT64_MAX;
  if (llvm::MulOverflow(count, step, distance) ||
      llvm::AddOverflow(start, distance, index))
    return nearest;
  return index;
}

LogicalResult SliceOp::verify() {
  ArrayRef<int64_t> in = shapeOf(getInput()), out = shapeOf(getOutput());
  if (failed(verifyElementType(*this, getInput(), getOutput())) ||
      failed(verifyCount(*this, "starts", in.size(), getStarts().size())) ||
      failed(verifyCount(*this, "steps", in.size(), getSteps().size())) ||
      failed(verifyCount(*this, "dimensions", in.size(), out.size())))
    return failure();
  for (size_t dim = 0; dim < in.size(); ++dim) {
    if (out[dim] == 0)
      continue;
    int64_t first = getStarts()[dim];
    int64_t last = indexAfter(first, out[dim] - 1, getSteps()[dim]);
    if (std::min(first, last) < 0 || std::max(first, last) >= in[dim])
      return emitOpError("expected indices below ")
             << in[dim] << " in dimension " << dim << ", got " << first
             << " to " << last;
  }
  return success();
}

LogicalResult TransposeOp::verify() {
  ArrayRef<int64_t> in = shapeOf(getInput());
  if (failed(verifyElementType(*this, getInput(), getOutput())) ||
      failed(verifyCount(*this, "dimensions", in.size(), getPerm().size())))
    return failure();
  SmallVector<int64_t> expected;
  llvm::SmallBitVector seen(in.size());
  for (int64_t dim : getPerm()) {
    if (failed(verifyDim(*this, dim, in.size())))
      return failure();
    if (seen.test(dim))
      return emitOpError("expected a permutation, got ") << dim << " twice";
    seen.set(dim);
    expected.push_back(in[dim]);
  }
  return verifyShape(*this, expected, getOutput());
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

static LogicalResult verifyReduce(Operation *op, Value input,
                                  ArrayRef<int64_t> dims, Value output) {
  ArrayRef<int64_t> in = shapeOf(input);
  if (failed(verifyDims(op, dims, in.size())))
    return failure();
  SmallVector<int64_t> expected;
  for (auto [dim, size] : llvm::enumerate(in))
    if (!llvm::is_contained(dims, (int64_t)dim))
      expected.push_back(size);
  return verifyShape(op, expected, output);
}

LogicalResult ArgMaxOp::verify() {
  if (failed(verifyReduce(*this, getInput(), int64_t(getDim()), getOutput())))
    return failure();
  if (shapeOf(getInput())[getDim()] == 0)
    return emitOpError("expected a dimension that is not empty");
  return success();
}

LogicalResult ReduceMaxOp::verify() {
  if (failed(verifyElementType(*this, getInput(), getOutput())))
    return failure();
  return verifyReduce(*this, getInput(), getDims(), getOutput());
}

LogicalResult ReduceMinOp::verify() {
  if (failed(verifyElementType(*this, getInput(), getOutput())))
    return failure();
  return verifyReduce(*this, getInput(), getDims(), getOutput());
}

LogicalResult ReduceSumOp::verify() {
  if (failed(verifyElementType(*this, getInput(), getOutput())))
    return failure();
  return verifyReduce(*this, getInput(), getDims(), getOutput());
}

//===----------------------------------------------------------------------===//
// Contractions
//===----------------------------------------------------------------------===//

/// Of a product or convolution: what is rounded is summed in f32, and the sum
/// may be rounded, too.
static LogicalResult verifyTermType(Operation *op, Value tensor, Value result) {
  Type element = getElementTypeOrSelf(tensor),
       found = getElementTypeOrSelf(result);
  if (!element.isBF16() || element == found)
    return verifyElementType(op, tensor, result);
  if (found.isF32())
    return success();
  return op->emitOpError("expected a result of f32, got ") << found;
}

LogicalResult MatmulOp::verify() {
  ArrayRef<int64_t> a = shapeOf(getLhs()), b = shapeOf(getRhs());
  if (failed(verifyTermType(*this, getLhs(), getOutput())) ||
      failed(verifyTermType(*this, getRhs(), getOutput())) ||
      failed(verifyCount(*this, "numbers in transposed", 2,
                         getTransposed().size())))
    return failure();
  if ((a.size() != 2 && a.size() != 3) || a.size() != b.size())
    return emitOpError("expected two operands of rank 2 or two of rank 3, "
                       "got ranks ")
           << a.size() << " and " << b.size();
  if (a.size() == 3 && a[0] != b[0])
    return emitOpError("expected as many matrices on the right (")
           << b[0] << ") as on the left (" << a[0] << ")";
  bool at = getTransposed()[0], bt = getTransposed()[1];
  size_t row = a.size() - 2, column = a.size() - 1;
  int64_t ka = a[at ? row : column], kb = b[bt ? column : row];
  if (ka != kb)
    return emitOpError("expected as many rows on the right (")
           << kb << ") as columns on the left (" << ka << ")";
  SmallVector<int64_t> expected(a.drop_back(2));
  expected.push_back(a[at ? column : row]);
  expected.push_back(b[bt ? row : column]);
  return verifyShape(*this, expected, getOutput());
}

/// The positions of the windows of a convolution or a pool.
template <typename Op> static LogicalResult verifyPlaces(Op op) {
  constexpr int64_t most = maxWindowNumber;
  if (failed(verifyNumbers(op, "strides", op.getStrides(), 1, most)) ||
      failed(verifyNumbers(op, "pads", op.getPads(), 0, most)) ||
      failed(verifyNumbers(op, "dilations", op.getDilations(), 1, most)))
    return failure();
  return success();
}

/// One rule for a convolution and its two gradients, which hold the same three
/// shapes.
template <typename Op>
static LogicalResult verifyConv(Op op, Value input, Value filter,
                                Value output) {
  for (Value tensor : op->getOperands())
    if (failed(verifyTermType(op, tensor, op->getResult(0))))
      return failure();
  ArrayRef<int64_t> in = shapeOf(input), out = shapeOf(output);
  int64_t spatial = int64_t(in.size()) - 2;
  if (spatial < 1 || spatial > 3)
    return op.emitOpError("expected 1 to 3 spatial dimensions, got ")
           << spatial;
  if (failed(verifyCount(op, "dimensions of the filter", in.size(),
                         shapeOf(filter).size())) ||
      failed(
          verifyCount(op, "dimensions of the output", in.size(), out.size())) ||
      failed(verifyCount(op, "strides", spatial, op.getStrides().size())) ||
      failed(verifyCount(op, "pads", 2 * spatial, op.getPads().size())) ||
      failed(verifyCount(op, "dilations", spatial, op.getDilations().size())))
    return failure();
  int64_t groups = op.getGroups();
  if (failed(verifyPlaces(op)) ||
      failed(verifyNumbers(op, "groups", groups, 1, maxWindowNumber)))
    return failure();
  ConvShape conv(op.getLayout(), in, shapeOf(filter), out);
  if (conv.inChannels % groups || conv.outChannels % groups)
    return op.emitOpError("expected channels (")
           << conv.inChannels << " in, " << conv.outChannels
           << " out) that are multiples of the groups (" << groups << ")";
  if (conv.filterChannels * groups != conv.inChannels)
    return op.emitOpError("expected as many channels in the filter (")
           << conv.filterChannels << ") as in a group of the input ("
           << conv.inChannels / groups << "), reading both as "
           << stringifyLayout(op.getLayout());
  if (conv.filterOutChannels != conv.outChannels || conv.batch != conv.outBatch)
    return op.emitOpError("expected an output of batch ")
           << conv.batch << " and " << conv.filterOutChannels
           << " channels, got " << conv.outBatch << " and " << conv.outChannels;
  for (int64_t d = 0; d < spatial; ++d) {
    int64_t expected = windowCount(
        conv.inSize[d], conv.kernel[d], op.getStrides()[d],
        op.getPads()[d] + op.getPads()[spatial + d], op.getDilations()[d]);
    if (conv.outSize[d] != expected)
      return op.emitOpError("expected size ")
             << expected << " in spatial dimension " << d
             << " of the output, got " << conv.outSize[d];
  }
  return success();
}

LogicalResult ConvOp::verify() {
  return verifyConv(*this, getInput(), getFilter(), getOutput());
}
LogicalResult ConvFilterGradOp::verify() {
  return verifyConv(*this, getInput(), getFilterGrad(), getOutputGrad());
}
LogicalResult ConvInputGradOp::verify() {
  return verifyConv(*this, getInputGrad(), getFilter(), getOutputGrad());
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

template <typename Op>
static LogicalResult verifyPool(Op op, Value input, Value output) {
  ArrayRef<int64_t> in = shapeOf(input), out = shapeOf(output);
  int64_t spatial = int64_t(in.size()) - 2;
  if (spatial < 1 || spatial > 3)
    return op.emitOpError("expected 1 to 3 spatial dimensions, got ")
           << spatial;
  if (failed(
          verifyCount(op, "dimensions of the output", in.size(), out.size())) ||
      failed(verifyCount(op, "kernel sizes", spatial, op.getKernel().size())) ||
      failed(verifyCount(op, "strides", spatial, op.getStrides().size())) ||
      failed(verifyCount(op, "pads", 2 * spatial, op.getPads().size())) ||
      failed(verifyCount(op, "dilations", spatial, op.getDilations().size())) ||
      failed(verifyNumbers(op, "kernel sizes", op.getKernel(), 1,
                           maxWindowNumber)) ||
      failed(verifyPlaces(op)))
    return failure();
  ImageShape x(op.getLayout(), in), y(op.getLayout(), out);
  if (x.batch != y.batch || x.channels != y.channels)
    return op.emitOpError("expected an output of batch ")
           << x.batch << " and " << x.channels << " channels, got " << y.batch
           << " and " << y.channels;
  for (int64_t d = 0; d < spatial; ++d) {
    int64_t expected = windowCount(
        x.size[d], op.getKernel()[d], op.getStrides()[d],
        op.getPads()[d] + op.getPads()[spatial + d], op.getDilations()[d]);
    if (y.size[d] != expected && y.size[d] != expected + 1)
      return op.emitOpError("expected size ")
             << expected << " or " << expected + 1 << " in spatial dimension "
             << d << " of the output, got " << y.size[d];
  }
  return success();
}

LogicalResult ArgMaxPoolOp::verify() {
  Type element = getElementTypeOrSelf(getOutput().getType());
  if (isa<FloatType>(element))
    return emitOpError("expected indices that are integers, got ") << element;
  if (failed(verifyPool(*this, getInput(), getOutput())))
    return failure();
  int64_t elements = ShapedType::getNumElements(getKernel());
  if (element.isUnsignedInteger(8) && (!getInWindow() || elements > 256))
    return emitOpError("expected ui8 only for windows of at most 256 elements "
                       "and indices into them");
  if (getInWindow() && (getColumnMajor() || !areWindowsAdjacent(*this)))
    return emitOpError("expected row-major indices into windows that are next "
                       "to each other, without padding or dilations");
  return success();
}
LogicalResult AvgPoolOp::verify() {
  return verifyPool(*this, getInput(), getOutput());
}
LogicalResult AvgPoolGradOp::verify() {
  return verifyPool(*this, getInputGrad(), getOutputGrad());
}
LogicalResult MaxUnpoolOp::verify() {
  if (failed(verifyElementType(*this, getInput(), getOutput())))
    return failure();
  if (shapeOf(getInput()) != shapeOf(getIndices()))
    return emitOpError("expected an index for each value, got ")
           << getIndices().getType();
  if (isa<FloatType>(getElementTypeOrSelf(getIndices().getType())))
    return emitOpError("expected indices that are integers, got ")
           << getElementTypeOrSelf(getIndices().getType());
  if (!areWindowsAdjacent(*this))
    return emitOpError("expected windows that are next to each other, without "
                       "padding or dilations");
  return verifyPool(*this, getOutput(), getInput());
}
LogicalResult MaxPoolOp::verify() {
  return verifyPool(*this, getInput(), getOutput());
}
LogicalResult MaxPoolGradOp::verify() {
  return verifyPool(*this, getInput(), getOutputGrad());
}

//===----------------------------------------------------------------------===//
// Normalization
//===----------------------------------------------------------------------===//

LogicalResult BatchNormOp::verify() {
  ArrayRef<int64_t> in = shapeOf(getInput()), channels = shapeOf(getScale());
  if (failed(verifyDim(*this, getDim(), in.size())))
    return failure();
  if (channels != in.slice(getDim(), 1))
    return emitOpError("expected ")
           << in[getDim()] << " numbers for the channels, got "
           << text(channels);
  return success();
}

LogicalResult LogSoftmaxOp::verify() {
  return verifyDim(*this, getDim(), shapeOf(getInput()).size());
}
LogicalResult SoftmaxOp::verify() {
  return verifyDim(*this, getDim(), shapeOf(getInput()).size());
}
