//===- ImportWindow.cpp - convolutions and pools --------------------------===//
//
// Every way in which ONNX can place windows becomes one: explicit
// strides, pads and dilations.
//
//===----------------------------------------------------------------------===//

#include "lib/IR/Mnist/Geometry.h"
#include "lib/Import/Operators.h"

using namespace mlir;
using namespace mlir::mnistc;
using namespace mlir::mnistc::importer;

namespace {
struct Window {
  Shape kernel, strides, pads, dilations;
  Shape size; ///< of the result
};
} // namespace

/// `count` numbers of at least `min`, or `otherwise` where there are none.
static Shape numbers(Node &n, StringRef name, size_t count, int64_t min,
                     int64_t otherwise) {
  Shape found = n.attribute(name, Shape());
  if (found.empty())
    return Shape(count, otherwise);
  if (found.size() != count)
    fail("expected " + Twine(count) + " numbers as '" + name + "', got " +
         Twine(found.size()));
  for (int64_t number : found)
    if (number < min || number > maxWindowNumber)
      fail("expected '" + name + "' from " + Twine(min) + " to " +
           Twine(maxWindowNumber) + ", got " + Twine(number));
  return found;
}

static size_t spatialRank(Value x) {
  if (rankOf(x) < 3 || rankOf(x) > 5)
    unsupported("expected 1 to 3 spatial dimensions, got the shape " +
                shapeText(shapeOf(x)));
  return rankOf(x) - 2;
}

static int64_t groupCount(Node &n) {
  int64_t groups = n.attribute("group", 1);
  if (groups < 1 || groups > maxWindowNumber)
    fail("expected a 'group' from 1 to " + Twine(maxWindowNumber) + ", got " +
         Twine(groups));
  return groups;
}

static StringRef autoPad(Node &n) {
  StringRef mode = n.attribute("auto_pad", "NOTSET");
  mode = mode.empty() ? "NOTSET" : mode;
  for (StringRef known : {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"})
    if (mode == known)
      return mode;
  fail("expected 'NOTSET', 'SAME_UPPER', 'SAME_LOWER' or 'VALID' as "
       "'auto_pad', got " +
       quoted(mode));
}

/// SAME puts the odd element after the image, or before it.
static void distribute(Window &w, size_t d, int64_t total, bool lower) {
  int64_t half = total / 2;
  w.pads[d] = lower ? total - half : half;
  w.pads[w.kernel.size() + d] = lower ? half : total - half;
}

/// The attributes that convolutions and pools share, for an image of `in`.
static Window window(Node &n, Shape kernel, ArrayRef<int64_t> in) {
  size_t rank = kernel.size();
  StringRef mode = autoPad(n);
  Window w{kernel,
           numbers(n, "strides", rank, 1, 1),
           numbers(n, "pads", 2 * rank, 0, 0),
           numbers(n, "dilations", rank, 1, 1),
           {}};
  if (mode != "NOTSET")
    w.pads.assign(2 * rank, 0);
  for (size_t d = 0; d < rank; ++d) {
    int64_t reach = w.dilations[d] * (kernel[d] - 1) + 1;
    if (mode.starts_with("SAME")) {
      int64_t out = (in[d] + w.strides[d] - 1) / w.strides[d];
      int64_t total = (out - 1) * w.strides[d] + reach - in[d];
      distribute(w, d, std::max<int64_t>(total, 0), mode == "SAME_LOWER");
    }
    w.size.push_back(windowCount(in[d], kernel[d], w.strides[d],
                                 w.pads[d] + w.pads[rank + d], w.dilations[d]));
  }
  return w;
}

static Shape kernelShape(Node &n, size_t rank) {
  Shape kernel = numbers(n, "kernel_shape", rank, 1, 0);
  if (!n.hasAttribute("kernel_shape"))
    fail("expected the attribute 'kernel_shape', got none");
  return kernel;
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

/// The filter's spatial sizes; `kernel_shape` may repeat them.
static Shape filterSize(Node &n, Value x, Value filter) {
  if (rankOf(filter) != rankOf(x))
    fail("expected a filter of " + Twine(rankOf(x)) + " dimensions, got " +
         shapeText(shapeOf(filter)));
  Shape kernel(shapeOf(filter).drop_front(2));
  Shape said = n.attribute("kernel_shape", Shape());
  if (!said.empty() && said != kernel)
    fail("expected 'kernel_shape' " + shapeText(kernel) +
         " as the filter has it, got " + shapeText(said));
  if (llvm::is_contained(kernel, 0))
    fail("expected a filter that is not empty, got " +
         shapeText(shapeOf(filter)));
  return kernel;
}

static Value withBias(Node &n, Value y) {
  if (!n.hasInput(2))
    return y;
  Value bias = n.learnedInput(2);
  if (rankOf(bias) != 1 || shapeOf(bias)[0] != shapeOf(y)[1])
    fail("expected " + Twine(shapeOf(y)[1]) +
         " numbers as the bias, got the shape " + shapeText(shapeOf(bias)));
  Shape along = {1};
  return n.create<AddOp>(y, n.create<BroadcastOp>(y.getType(), bias, along));
}

static Value conv(Node &n) {
  Value x = n.floatInput(0), filter = n.floatInput(1);
  spatialRank(x);
  Window w = window(n, filterSize(n, x, filter), shapeOf(x).drop_front(2));
  Shape shape = {shapeOf(x)[0], shapeOf(filter)[0]};
  llvm::append_range(shape, w.size);
  Value y =
      n.create<ConvOp>(tensorType(shape, elementOf(x)), x, filter, Layout::nchw,
                       w.strides, w.pads, w.dilations, groupCount(n));
  return withBias(n, y);
}

/// The size of a transposed convolution's result along dimension `d`. Where
/// that is given, the pads follow from it.
static int64_t transposedSize(Window &w, size_t d, int64_t in, int64_t extra,
                              std::optional<int64_t> given, bool lower) {
  size_t rank = w.kernel.size();
  int64_t reach = w.dilations[d] * (w.kernel[d] - 1) + 1;
  int64_t full = w.strides[d] * (in - 1) + extra + reach;
  if (!given)
    return full - w.pads[d] - w.pads[rank + d];
  distribute(w, d, std::max<int64_t>(full - *given, 0), lower);
  return *given;
}

/// It is the gradient of the convolution with the same attributes.
static Value convTranspose(Node &n) {
  Value x = n.floatInput(0), filter = n.floatInput(1);
  size_t rank = spatialRank(x);
  Shape kernel = filterSize(n, x, filter);
  int64_t groups = groupCount(n);
  StringRef mode = autoPad(n);
  Window w{kernel,
           numbers(n, "strides", rank, 1, 1),
           numbers(n, "pads", 2 * rank, 0, 0),
           numbers(n, "dilations", rank, 1, 1),
           {}};
  Shape extra = numbers(n, "output_padding", rank, 0, 0);
  Shape given = n.attribute("output_shape", Shape());
  tensorType(given, elementOf(x)); // checks the sizes
  if (given.size() == rank + 2)    // some exporters write the whole shape
    given.erase(given.begin(), given.begin() + 2);
  if (!given.empty() && given.size() != rank)
    fail("expected " + Twine(rank) + " numbers as 'output_shape', got " +
         Twine(given.size()));
  if (mode != "NOTSET")
    w.pads.assign(2 * rank, 0);
  Shape shape = {shapeOf(x)[0], shapeOf(filter)[1] * groups};
  for (size_t d = 0; d < rank; ++d) {
    int64_t in = shapeOf(x)[2 + d];
    std::optional<int64_t> size;
    if (!given.empty())
      size = given[d];
    else if (mode.starts_with("SAME"))
      size = in * w.strides[d];
    shape.push_back(
        transposedSize(w, d, in, extra[d], size, mode != "SAME_UPPER"));
  }
  Value y = n.create<ConvInputGradOp>(tensorType(shape, elementOf(x)), x,
                                      filter, Layout::nchw, w.strides, w.pads,
                                      w.dilations, groups);
  return withBias(n, y);
}

//===----------------------------------------------------------------------===//
// Pools
//===----------------------------------------------------------------------===//

/// ceil_mode has one more window where some input is left over, unless it
/// would be entirely in the padding after the image.
static void roundUp(Window &w, ArrayRef<int64_t> in) {
  size_t rank = w.kernel.size();
  for (size_t d = 0; d < rank; ++d) {
    int64_t reach = w.dilations[d] * (w.kernel[d] - 1) + 1;
    int64_t room = in[d] + w.pads[d] + w.pads[rank + d] - reach;
    bool isLeftOver = room % w.strides[d] != 0 && room > -w.strides[d];
    if (isLeftOver && w.size[d] * w.strides[d] < in[d] + w.pads[d])
      ++w.size[d];
  }
}

static Window poolWindow(Node &n, Value x) {
  size_t rank = spatialRank(x); // before there is a batch to drop
  ArrayRef<int64_t> in = shapeOf(x).take_back(rank);
  Window w = window(n, kernelShape(n, rank), in);
  if (n.flag("ceil_mode"))
    roundUp(w, in);
  return w;
}

static RankedTensorType poolType(Value x, const Window &w, Type element) {
  Shape shape(shapeOf(x).take_front(2));
  llvm::append_range(shape, w.size);
  return tensorType(shape, element);
}

static Value maxPool(Node &n) {
  Value x = n.input(0);
  Window w = poolWindow(n, x);
  bool columnMajor = n.flag("storage_order");
  if (n.isUsed(1)) {
    Type i64 = Builder(n.context()).getI64Type();
    n.setOutput(1, n.create<ArgMaxPoolOp>(poolType(x, w, i64), x, Layout::nchw,
                                          w.kernel, w.strides, w.pads,
                                          w.dilations, columnMajor));
  }
  return n.create<MaxPoolOp>(poolType(x, w, elementOf(x)), x, Layout::nchw,
                             w.kernel, w.strides, w.pads, w.dilations);
}

static Value averagePool(Node &n) {
  Value x = n.floatInput(0);
  Window w = poolWindow(n, x);
  return n.create<AvgPoolOp>(poolType(x, w, elementOf(x)), x, Layout::nchw,
                             w.kernel, w.strides, w.pads, w.dilations,
                             n.flag("count_include_pad"));
}

namespace {
struct Spatial {
  Shape dims, kept;
  int64_t count;
};
} // namespace

/// Everything but batch and channels.
static Spatial spatial(Value x) {
  if (rankOf(x) < 2)
    fail("expected at least 2 dimensions, got " + shapeText(shapeOf(x)));
  Spatial result;
  result.dims = llvm::to_vector(llvm::seq<int64_t>(2, rankOf(x)));
  result.kept = Shape(shapeOf(x).take_front(2));
  result.kept.append(result.dims.size(), 1);
  result.count = product(shapeOf(x).drop_front(2));
  return result;
}

static Value globalAveragePool(Node &n) {
  Value x = n.floatInput(0);
  Spatial s = spatial(x);
  Value sum = n.create<ReduceSumOp>(x, s.dims);
  Value mean = n.create<MulOp>(sum, n.splat(sum, 1.0 / s.count));
  return n.reshape(mean, s.kept);
}

static Value globalMaxPool(Node &n) {
  Value x = n.floatInput(0);
  Spatial s = spatial(x);
  return n.reshape(n.create<ReduceMaxOp>(x, s.dims), s.kept);
}

ArrayRef<Operator> importer::windowOperators() {
  static const Operator rows[] = {
      {"AveragePool", 1, averagePool},
      {"Conv", 1, conv},
      {"ConvTranspose", 1, convTranspose},
      {"GlobalAveragePool", 1, globalAveragePool},
      {"GlobalMaxPool", 1, globalMaxPool},
      {"MaxPool", 1, maxPool},
  };
  return rows;
}
