//===- ImportResize.cpp - tensors of more or fewer elements ---------------===//
//
// Each dimension is resized by itself: an element of the result is an element
// of the operand, or a sum of a few with weights, whose places and weights are
// known. What is picked so is repeated, sliced, or else gathered.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Operators.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace mlir;
using namespace mlir::mnistc;
using namespace mlir::mnistc::importer;

namespace {
enum class Interpolation { nearest, linear, cubic };

/// How all dimensions are resized.
struct Resizing {
  Interpolation mode = Interpolation::nearest;
  StringRef coordinates = "asymmetric", rounding = "floor";
  double cubic = -0.75; ///< the coefficient of Keys' convolution
  bool excludesOutside = false, antialias = false;
};

/// One dimension, from `in` to `out` elements.
struct Resized {
  int64_t in, out;
  double scale;
};

/// For each element of the result a place in the operand, and a weight.
struct Term {
  Shape places;
  Numbers weights;
};
} // namespace

//===----------------------------------------------------------------------===//
// Places and weights
//===----------------------------------------------------------------------===//

/// Where element `i` of the result is in the operand; in f32, as ONNX Runtime
/// computes it, so that what lies in the middle of two elements does there,
/// too.
static float coordinateOf(const Resizing &r, const Resized &d, int64_t i) {
  const auto scale = float(d.scale), in = float(d.in), out = float(d.out);
  const auto number = float(i);
  if (r.coordinates == "asymmetric")
    return number / scale;
  if (r.coordinates == "align_corners")
    return d.out == 1 ? 0 : number * (in - 1) / (out - 1);
  if (r.coordinates == "tf_half_pixel_for_nn")
    return (number + 0.5f) / scale;
  if (r.coordinates == "pytorch_half_pixel" && d.out == 1)
    return 0;
  float place = (number + 0.5f) / scale - 0.5f;
  // A scale that gives no whole number of elements is about the middle.
  if (r.coordinates == "half_pixel_symmetric")
    place += in / 2 * (1 - out / (scale * in));
  return place;
}

static double rounded(StringRef rounding, double x) {
  if (rounding == "floor")
    return std::floor(x);
  if (rounding == "ceil")
    return std::ceil(x);
  return rounding == "round_prefer_floor" ? std::ceil(x - 0.5)
                                          : std::floor(x + 0.5);
}

/// R. G. Keys, Cubic convolution interpolation for digital image processing,
/// 1981: the weight of an element that is so far away.
static double cubicWeight(double distance, double a) {
  double d = std::abs(distance);
  if (d <= 1)
    return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}
static double linearWeight(double distance) {
  return std::max(1 - std::abs(distance), 0.0);
}

namespace {
/// Weights of neighbours, of which the first is so many elements after the one
/// that is at or before a coordinate.
struct Neighbours {
  int64_t first = 0;
  Numbers weights;
};
} // namespace

/// Of a coordinate `fraction` beyond an element. Where a dimension shrinks and
/// that is smoothed, more elements are near, by the scale.
static Neighbours neighboursOf(const Resizing &r, const Resized &d,
                               double fraction) {
  if (r.mode == Interpolation::nearest)
    return {0, {1}};
  double scale = r.antialias ? std::min(d.scale, 1.0) : 1;
  double reach = r.mode == Interpolation::linear ? 1 : 2;
  Neighbours result;
  result.first = int64_t(std::floor(-reach / scale)) + 1;
  double sum = 0;
  for (int64_t i = result.first; i <= 1 - result.first; ++i) {
    double distance = (double(i) - fraction) * scale;
    result.weights.push_back(r.mode == Interpolation::linear
                                 ? linearWeight(distance)
                                 : cubicWeight(distance, r.cubic));
    sum += result.weights.back();
  }
  for (double &weight : result.weights)
    weight /= scale == 1 ? 1 : sum;
  return result;
}

/// What is outside of the operand is the element at its border, or has no
/// weight, and the others have more.
static SmallVector<Term> termsOf(const Resizing &r, const Resized &d) {
  SmallVector<Term> terms(neighboursOf(r, d, 0).weights.size());
  for (int64_t i = 0; i < d.out; ++i) {
    double x = coordinateOf(r, d, i);
    auto [first, weights] = neighboursOf(r, d, x - std::floor(x));
    double start = double(first) + (r.mode == Interpolation::nearest
                                        ? rounded(r.rounding, x)
                                        : std::floor(x));
    auto isInside = [&, start = start](size_t t) {
      return start + double(t) >= 0 && start + double(t) < double(d.in);
    };
    double sum = 0;
    for (auto [t, weight] : llvm::enumerate(weights))
      sum += isInside(t) ? weight : 0;
    for (auto [t, weight] : llvm::enumerate(weights)) {
      double place = std::clamp(start + double(t), 0.0, double(d.in - 1));
      terms[t].places.push_back(int64_t(place));
      terms[t].weights.push_back(!r.excludesOutside ? weight
                                 : isInside(t)      ? weight / sum
                                                    : 0);
    }
  }
  return terms;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// Each element several times, one after the other.
static Value repeated(Node &n, Value x, int64_t dim, int64_t times) {
  Shape apart(shapeOf(x)), whole(shapeOf(x)), dims;
  apart.insert(apart.begin() + dim + 1, times);
  whole[dim] *= times;
  for (int64_t i = 0; i < int64_t(apart.size()); ++i)
    if (i != dim + 1)
      dims.push_back(i);
  return n.reshape(
      n.create<BroadcastOp>(tensorType(apart, elementOf(x)), x, dims), whole);
}

/// Of the operand those at some places along a dimension.
static Value picked(Node &n, Value x, int64_t dim, ArrayRef<int64_t> places) {
  int64_t in = shapeOf(x)[dim], out = places.size();
  auto isAt = [&](auto &&placeOf) {
    return llvm::all_of(llvm::seq<int64_t>(out),
                        [&](int64_t i) { return places[i] == placeOf(i); });
  };
  int64_t times = out / in;
  if (out == times * in && isAt([&](int64_t i) { return i / times; }))
    return times == 1 ? x : repeated(n, x, dim, times);
  Shape shape(shapeOf(x));
  shape[dim] = out;
  RankedTensorType type = tensorType(shape, elementOf(x));
  int64_t step = out > 1 ? std::max<int64_t>(places[1] - places[0], 1) : 1;
  if (isAt([&](int64_t i) { return places[0] + i * step; })) {
    Shape starts(shape.size(), 0), steps(shape.size(), 1);
    starts[dim] = places[0], steps[dim] = step;
    return n.create<SliceOp>(type, x, starts, steps);
  }
  auto indices =
      RankedTensorType::get({out}, Builder(n.context()).getI64Type());
  return n.create<GatherOp>(
      type, x, n.constantOf(DenseElementsAttr::get(indices, places)),
      static_cast<uint64_t>(dim));
}

/// A number for each place along a dimension, in the type of `like`.
static Value alongDimension(Node &n, Value like, int64_t dim,
                            ArrayRef<double> numbers) {
  SmallVector<Attribute> values;
  for (double number : numbers)
    values.push_back(FloatAttr::get(elementOf(like), number));
  Value vector = n.constantOf(DenseElementsAttr::get(
      RankedTensorType::get({int64_t(numbers.size())}, elementOf(like)),
      values));
  return n.create<BroadcastOp>(mlir::cast<RankedTensorType>(like.getType()),
                               vector, Shape{dim});
}

static Value resize(Node &n, Value x, int64_t dim, const Resizing &r,
                    const Resized &d) {
  Value sum;
  for (const Term &term : termsOf(r, d)) {
    if (llvm::all_of(term.weights, [](double weight) { return weight == 0; }))
      continue;
    Value part = picked(n, x, dim, term.places);
    if (llvm::any_of(term.weights, [](double weight) { return weight != 1; }))
      part = n.create<MulOp>(part, alongDimension(n, part, dim, term.weights));
    sum = sum ? n.create<AddOp>(sum, part) : part;
  }
  return sum;
}

//===----------------------------------------------------------------------===//
// The operators
//===----------------------------------------------------------------------===//

static Resized scaled(int64_t in, double scale) {
  if (!(scale > 0) || scale > double(int64_t(1) << 32))
    fail("expected scales above 0 and of at most " + Twine(int64_t(1) << 32) +
         ", got " + numberText(scale));
  // In the type of the scales, as PyTorch and ONNX Runtime multiply.
  return {in, int64_t(std::floor(float(in) * float(scale))), scale};
}

/// The sizes that were asked for, or those of the same scale in all dimensions
/// of which none is larger, or smaller, than it.
static void chooseSizes(Node &n, MutableArrayRef<Resized> dims) {
  StringRef policy = n.attribute("keep_aspect_ratio_policy", "stretch");
  double least = std::numeric_limits<double>::infinity(), most = 0;
  for (const Resized &d : dims) {
    least = std::min(least, d.scale);
    most = std::max(most, d.scale);
  }
  if (policy == "stretch" || dims.empty())
    return;
  if (policy != "not_larger" && policy != "not_smaller")
    fail("expected 'stretch', 'not_larger' or 'not_smaller' as "
         "'keep_aspect_ratio_policy', got " +
         quoted(policy));
  for (Resized &d : dims) {
    d.scale = policy == "not_larger" ? least : most;
    d.out = int64_t(std::floor(double(d.in) * d.scale + 0.5));
  }
}

/// The batch of the file is the batch of the program.
static bool isBatchSize(Node &n, int64_t dim, int64_t size) {
  return dim == 0 && n.isBatched(0) && size == n.batch().inFile;
}

static SmallVector<Resized> dimensionsBySizes(Node &n, ArrayRef<int64_t> axes,
                                              ArrayRef<int64_t> sizes) {
  SmallVector<Resized> dims;
  for (auto [axis, size] : llvm::zip_equal(axes, sizes)) {
    int64_t in = n.inputType(0).getShape()[axis];
    int64_t out = isBatchSize(n, axis, size) ? in : size;
    if (out <= 0 || in <= 0)
      fail("expected sizes above 0, got " + shapeText(sizes) + " of " +
           shapeText(n.inputType(0).getShape()));
    dims.push_back({in, out, double(out) / double(in)});
  }
  chooseSizes(n, dims);
  return dims;
}

static SmallVector<Resized> dimensionsByScales(Node &n, ArrayRef<int64_t> axes,
                                               ArrayRef<double> scales) {
  SmallVector<Resized> dims;
  for (auto [axis, scale] : llvm::zip_equal(axes, scales))
    dims.push_back(scaled(n.inputType(0).getShape()[axis], scale));
  n.ignore("keep_aspect_ratio_policy");
  return dims;
}

static Value resizeAll(Node &n, const Resizing &r, ArrayRef<int64_t> axes,
                       ArrayRef<Resized> dims) {
  Value x = r.mode == Interpolation::nearest ? n.input(0) : n.floatInput(0);
  Shape shape(shapeOf(x));
  for (auto [axis, d] : llvm::zip_equal(axes, dims))
    shape[axis] = d.out;
  tensorType(shape, elementOf(x)); // not too large
  if (llvm::is_contained(shape, 0))
    unsupported("a result of no elements is not supported, got " +
                shapeText(shape));
  // What gets smaller first leaves less to do.
  SmallVector<size_t> order = llvm::to_vector(llvm::seq<size_t>(axes.size()));
  llvm::sort(order, [&](size_t a, size_t b) {
    int64_t left = dims[a].out * dims[b].in, right = dims[b].out * dims[a].in;
    return left != right ? left < right : a < b;
  });
  for (size_t number : order)
    if (dims[number].out != dims[number].in || dims[number].scale != 1)
      x = resize(n, x, axes[number], r, dims[number]);
  return x;
}

static Interpolation interpolationOf(Node &n, bool hasCubic) {
  StringRef mode = n.attribute("mode", "nearest");
  if (mode == "nearest")
    return Interpolation::nearest;
  // The name of the first versions.
  if (mode == "linear" || (!hasCubic && mode == "bilinear"))
    return Interpolation::linear;
  if (hasCubic && mode == "cubic")
    return Interpolation::cubic;
  fail(Twine("expected 'nearest'") +
       (hasCubic ? ", 'linear' or 'cubic'" : " or 'linear'") +
       " as 'mode', got " + quoted(mode));
}

static Numbers checkedScales(Numbers scales, int64_t rank) {
  if (int64_t(scales.size()) != rank)
    fail("expected " + Twine(rank) + " scales, got " + Twine(scales.size()));
  return scales;
}

static Shape allDimensions(Node &n) {
  return llvm::to_vector(llvm::seq<int64_t>(n.inputType(0).getRank()));
}

/// Upsample, and Resize as it was at first.
static Value resizeByScales(Node &n, Numbers scales) {
  Resizing r;
  r.mode = interpolationOf(n, /*hasCubic=*/false);
  Shape axes = allDimensions(n);
  scales = checkedScales(std::move(scales), axes.size());
  return resizeAll(n, r, axes, dimensionsByScales(n, axes, scales));
}

static Value upsampleByAttribute(Node &n) {
  return resizeByScales(n, n.attribute("scales", Numbers()));
}

static Value upsample(Node &n) {
  return resizeByScales(n, n.constantNumbers(1, "scales"));
}

static void expectOneOf(StringRef attribute, StringRef value,
                        ArrayRef<StringRef> known) {
  if (llvm::is_contained(known, value))
    return;
  std::string names;
  for (auto [i, name] : llvm::enumerate(known))
    names += (i == 0                  ? ""
              : i + 1 == known.size() ? " or "
                                      : ", ") +
             quoted(name);
  fail("expected " + names + " as '" + attribute + "', got " + quoted(value));
}

static Resizing resizingOf(Node &n) {
  Resizing r;
  r.mode = interpolationOf(n, /*hasCubic=*/true);
  r.coordinates = n.attribute("coordinate_transformation_mode", "half_pixel");
  if (r.coordinates == "tf_crop_and_resize")
    unsupported("'tf_crop_and_resize' is not supported as "
                "'coordinate_transformation_mode'; crop with Slice");
  expectOneOf("coordinate_transformation_mode", r.coordinates,
              {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel",
               "align_corners", "asymmetric", "tf_half_pixel_for_nn"});
  r.rounding = n.attribute("nearest_mode", "round_prefer_floor");
  expectOneOf("nearest_mode", r.rounding,
              {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"});
  r.cubic = n.attribute("cubic_coeff_a", -0.75);
  r.excludesOutside = n.flag("exclude_outside");
  r.antialias = n.flag("antialias");
  n.ignore("extrapolation_value"); // of tf_crop_and_resize
  return r;
}

static Value resizeRow(Node &n) {
  Resizing r = resizingOf(n);
  Shape axes = allDimensions(n);
  if (n.hasAttribute("axes")) {
    axes.clear();
    for (int64_t axis : n.attribute("axes", Shape()))
      axes.push_back(n.axis(axis, n.inputType(0).getRank()));
    n.axes(axes, n.inputType(0).getRank()); // distinct
  }
  bool bySizes = n.hasInput(3);
  if (bySizes == (n.hasInput(2) && n.inputType(2).getNumElements() != 0))
    fail(Twine("expected either scales or sizes, got ") +
         (bySizes ? "both" : "neither"));
  SmallVector<Resized> dims;
  if (bySizes) {
    Shape sizes = n.constantInts(3, "sizes");
    if (sizes.size() != axes.size())
      fail("expected " + Twine(axes.size()) + " sizes, got " +
           Twine(sizes.size()));
    dims = dimensionsBySizes(n, axes, sizes);
  } else {
    dims = dimensionsByScales(
        n, axes, checkedScales(n.constantNumbers(2, "scales"), axes.size()));
  }
  return resizeAll(n, r, axes, dims);
}

ArrayRef<Operator> importer::resizeOperators() {
  static const Operator rows[] = {
      {"Resize", 10, upsample},
      {"Resize", 11, resizeRow},
      {"Upsample", 7, upsampleByAttribute},
      {"Upsample", 9, upsample},
  };
  return rows;
}
