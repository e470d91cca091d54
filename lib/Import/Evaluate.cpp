//===- Evaluate.cpp - shapes that a model computes ------------------------===//

#include "lib/Import/Evaluate.h"
#include "lib/IR/Mnist/MnistOps.h"
#include "lib/Import/TensorData.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::mnistc;
using namespace mlir::mnistc::importer;

/// Shapes are short; data is for the device.
static constexpr int64_t maxElements = 1024;

namespace {
struct Constant {
  ArrayRef<int64_t> shape;
  SmallVector<int64_t> values;
};
using Index = SmallVector<int64_t>;
using Values = std::optional<SmallVector<int64_t>>;
} // namespace

static bool isSmall(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getElementType().isIntOrIndex() &&
         tensor.getNumElements() <= maxElements;
}

static int64_t flatIndex(ArrayRef<int64_t> shape, ArrayRef<int64_t> index) {
  int64_t flat = 0;
  for (auto [size, i] : llvm::zip_equal(shape, index))
    flat = flat * size + i;
  return flat;
}

/// Calls `body` with every index of a shape, in row-major order.
static void forEachIndex(ArrayRef<int64_t> shape,
                         llvm::function_ref<void(const Index &)> body) {
  if (llvm::is_contained(shape, 0))
    return;
  Index index(shape.size(), 0);
  while (true) {
    body(index);
    size_t dim = shape.size();
    while (dim > 0 && ++index[dim - 1] == shape[dim - 1])
      index[--dim] = 0;
    if (dim == 0)
      return;
  }
}

//===----------------------------------------------------------------------===//
// Indexing
//===----------------------------------------------------------------------===//

/// Every result element is an operand element, the one at `source(index)`.
static SmallVector<int64_t>
moved(const Constant &in, ArrayRef<int64_t> shape,
      llvm::function_ref<Index(const Index &)> source) {
  SmallVector<int64_t> result;
  forEachIndex(shape, [&](const Index &index) {
    result.push_back(in.values[flatIndex(in.shape, source(index))]);
  });
  return result;
}

static SmallVector<int64_t> gathered(GatherOp op, const Constant &in,
                                     const Constant &indices,
                                     ArrayRef<int64_t> shape) {
  int64_t dim = op.getDim(), rank = indices.shape.size();
  return moved(in, shape, [&](const Index &index) {
    ArrayRef<int64_t> whole(index);
    int64_t i =
        indices.values[flatIndex(indices.shape, whole.slice(dim, rank))];
    i += i < 0 ? in.shape[dim] : 0;
    Index source(whole.take_front(dim));
    source.push_back(std::clamp<int64_t>(i, 0, in.shape[dim] - 1));
    llvm::append_range(source, whole.drop_front(dim + rank));
    return source;
  });
}

static SmallVector<int64_t> concatenated(ConcatOp op, ArrayRef<Constant> in,
                                         ArrayRef<int64_t> shape) {
  SmallVector<int64_t> result;
  int64_t dim = op.getDim();
  forEachIndex(shape, [&](const Index &index) {
    Index source(index);
    const Constant *part = in.begin();
    while (source[dim] >= part->shape[dim])
      source[dim] -= (part++)->shape[dim];
    result.push_back(part->values[flatIndex(part->shape, source)]);
  });
  return result;
}

static Values evaluateIndexing(Operation *op, ArrayRef<Constant> in,
                               ArrayRef<int64_t> shape) {
  return llvm::TypeSwitch<Operation *, Values>(op)
      .Case([&](ReshapeOp) { return in[0].values; })
      .Case([&](GatherOp gather) -> Values {
        if (in[0].values.empty())
          return std::nullopt;
        return gathered(gather, in[0], in[1], shape);
      })
      .Case([&](ConcatOp concat) { return concatenated(concat, in, shape); })
      .Case([&](BroadcastOp broadcast) {
        return moved(in[0], shape, [&](const Index &index) {
          Index source;
          for (int64_t dim : broadcast.getDims())
            source.push_back(index[dim]);
          return source;
        });
      })
      .Case([&](SliceOp slice) {
        return moved(in[0], shape, [&](const Index &index) {
          Index source;
          for (auto [i, start, step] : llvm::zip_equal(
                   index, slice.getStarts(), slice.getSteps()))
            source.push_back(start + i * step);
          return source;
        });
      })
      .Case([&](TransposeOp transpose) {
        return moved(in[0], shape, [&](const Index &index) {
          Index source(index.size());
          for (auto [i, dim] : llvm::zip_equal(index, transpose.getPerm()))
            source[dim] = i;
          return source;
        });
      })
      .Default([](Operation *) { return std::nullopt; });
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

// Numbers wrap around, as on the device.
static int64_t wrapped(uint64_t number) { return static_cast<int64_t>(number); }

static bool holds(Predicate predicate, int64_t a, int64_t b) {
  switch (predicate) {
  case Predicate::eq:
    return a == b;
  case Predicate::ne:
    return a != b;
  case Predicate::lt:
    return a < b;
  case Predicate::le:
    return a <= b;
  case Predicate::gt:
    return a > b;
  case Predicate::ge:
    return a >= b;
  }
  return false;
}

static std::optional<int64_t> evaluateOne(Operation *op,
                                          ArrayRef<int64_t> x) {
  using Result = std::optional<int64_t>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](AddOp) { return wrapped(uint64_t(x[0]) + uint64_t(x[1])); })
      .Case([&](SubOp) { return wrapped(uint64_t(x[0]) - uint64_t(x[1])); })
      .Case([&](MulOp) { return wrapped(uint64_t(x[0]) * uint64_t(x[1])); })
      .Case([&](DivOp) -> Result {
        if (x[1] == 0)
          return 0;
        return x[1] == -1 ? wrapped(-uint64_t(x[0])) : x[0] / x[1];
      })
      .Case([&](MinOp) { return std::min(x[0], x[1]); })
      .Case([&](MaxOp) { return std::max(x[0], x[1]); })
      .Case([&](NegOp) { return wrapped(-uint64_t(x[0])); })
      .Case([&](AndOp) { return int64_t(x[0] && x[1]); })
      .Case([&](OrOp) { return int64_t(x[0] || x[1]); })
      .Case([&](NotOp) { return int64_t(!x[0]); })
      .Case([&](CompareOp compare) {
        return int64_t(holds(compare.getPredicate(), x[0], x[1]));
      })
      .Case([&](SelectOp) { return x[0] ? x[1] : x[2]; })
      .Case([&](CastOp) { return x[0]; })
      .Default([](Operation *) { return std::nullopt; });
}

static Values evaluateElementwise(Operation *op, ArrayRef<Constant> in) {
  SmallVector<int64_t> result;
  for (size_t i = 0; i < in[0].values.size(); ++i) {
    SmallVector<int64_t, 3> x;
    for (const Constant &operand : in)
      x.push_back(operand.values[i]);
    std::optional<int64_t> value = evaluateOne(op, x);
    if (!value)
      return std::nullopt;
    result.push_back(*value);
  }
  return result;
}

DenseElementsAttr importer::evaluate(Operation *op) {
  if (op->getNumResults() != 1 || op->getNumOperands() == 0 ||
      !isSmall(op->getResult(0).getType()))
    return {};
  SmallVector<Constant> in;
  for (Value operand : op->getOperands()) {
    DenseElementsAttr value;
    if (!isSmall(operand.getType()) || !matchPattern(operand, m_Constant(&value)))
      return {};
    in.push_back({cast<RankedTensorType>(operand.getType()).getShape(),
                  integersOf(value)});
  }
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  Values values = op->hasTrait<Elementwise>()
                      ? evaluateElementwise(op, in)
                      : evaluateIndexing(op, in, type.getShape());
  return values ? integersAttr(type, *values) : DenseElementsAttr();
}
