//===- LearnedTensors.cpp - which tensors of a model are learned ----------===//

#include "lib/IR/Mnist/LearnedTensors.h"
#include "lib/IR/Mnist/Arithmetic.h"
#include "lib/IR/Mnist/HostTensor.h"

using namespace mlir;
using namespace mlir::mnistc;

using Verdict = LearnedTensors::Verdict;

static OperandUse useOf(OpOperand &operand) {
  auto op = dyn_cast<OperandUseOpInterface>(operand.getOwner());
  return op ? op.getOperandUse(operand.getOperandNumber()) : OperandUse::number;
}

/// Whether a result is more than its operands, element by element.
static bool computes(Operation &op) {
  bool mixes = !op.hasTrait<Elementwise>() && !op.hasTrait<Indexing>();
  return mixes || llvm::any_of(op.getOpOperands(), [](OpOperand &operand) {
           return useOf(operand) == OperandUse::weight;
         });
}

LearnedTensors::LearnedTensors(func::FuncOp function) {
  for (BlockArgument argument : function.getArguments())
    fromData.insert(argument);
  for (Operation &op : function.getBody().front().without_terminator()) {
    auto reads = [&](const DenseSet<Value> &values) {
      return llvm::any_of(op.getOperands(), [&](Value operand) {
        return values.contains(operand);
      });
    };
    if (!reads(fromData))
      continue;
    bool isComputed = reads(computed) || computes(op);
    for (Value result : op.getResults()) {
      fromData.insert(result);
      if (isComputed)
        computed.insert(result);
    }
  }
  // Users come later, and are classified first.
  for (Operation &op : llvm::reverse(function.getBody().front()))
    for (Value result : op.getResults())
      if (!isFromData(result))
        for (bool isNumber : {false, true})
          known[isNumber][result] = follow(result, isNumber);
}

//===----------------------------------------------------------------------===//
// Dimensions
//===----------------------------------------------------------------------===//

static SmallVector<int64_t> dimsLongerThanOne(RankedTensorType type) {
  SmallVector<int64_t> dims;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.getDimSize(dim) != 1)
      dims.push_back(dim);
  return dims;
}

/// The dimensions along which a value is not one element repeated.
static SmallVector<int64_t> varyingDims(Value value, int depth = 0) {
  constexpr int deepest = 16;
  SmallVector<int64_t> all = dimsLongerThanOne(typeOf(value));
  if (depth > deepest)
    return all;
  if (auto reshape = value.getDefiningOp<ReshapeOp>()) {
    RankedTensorType from = typeOf(reshape.getInput());
    SmallVector<int64_t> before = dimsLongerThanOne(from);
    auto sizes = [](RankedTensorType type, ArrayRef<int64_t> dims) {
      return llvm::map_to_vector(
          dims, [&](int64_t dim) { return type.getDimSize(dim); });
    };
    if (sizes(from, before) != sizes(typeOf(value), all))
      return all;
    SmallVector<int64_t> dims;
    for (int64_t dim : varyingDims(reshape.getInput(), depth + 1))
      dims.push_back(all[llvm::find(before, dim) - before.begin()]);
    return dims;
  }
  if (auto repeated = value.getDefiningOp<BroadcastOp>()) {
    SmallVector<int64_t> dims;
    for (int64_t dim : varyingDims(repeated.getInput(), depth + 1))
      dims.push_back(repeated.getDims()[dim]);
    return dims;
  }
  return all;
}

/// Whether a value is a sum over some dimensions, made the same by arithmetic.
static bool isStatistic(Value value, int depth = 0) {
  constexpr int deepest = 8;
  Operation *op = value.getDefiningOp();
  if (!op || depth > deepest)
    return false;
  if (isa<ReduceSumOp>(op))
    return true;
  return (op->hasTrait<Elementwise>() || isa<ReshapeOp>(op)) &&
         llvm::any_of(op->getOperands(), [&](Value operand) {
           return isStatistic(operand, depth + 1);
         });
}

/// The dimensions over which a value was normalized: a statistic over them was
/// repeated along them again, and combined with the value.
static SmallVector<int64_t> normalizedDims(Value value) {
  constexpr size_t farthest = 64;
  SmallVector<int64_t> dims;
  SmallVector<Value> values = {value};
  for (size_t i = 0; i < values.size() && i < farthest; ++i) {
    Operation *op = values[i].getDefiningOp();
    auto repeated = dyn_cast_or_null<BroadcastOp>(op);
    if (repeated && isStatistic(repeated.getInput())) {
      for (int64_t dim = 0; dim < typeOf(repeated).getRank(); ++dim)
        if (!llvm::is_contained(repeated.getDims(), dim))
          dims.push_back(dim);
    } else if (op && op->hasTrait<Elementwise>()) {
      llvm::append_range(values, op->getOperands());
    }
  }
  return dims;
}

/// Whether `value` is a product with weights that make one feature of a row.
static bool isOneFeature(Value value) {
  while (auto reshape = value.getDefiningOp<ReshapeOp>())
    value = reshape.getInput();
  if (auto product = value.getDefiningOp<MatmulOp>())
    return typeOf(value).getShape().back() == 1;
  auto conv = dyn_cast_or_null<LayoutOpInterface>(value.getDefiningOp());
  return conv && !conv.getFilterOperands().empty() &&
         typeOf(value).getDimSize(conv.getLayout() == Layout::nchw
                                      ? 1
                                      : typeOf(value).getRank() - 1) == 1;
}

//===----------------------------------------------------------------------===//
// Uses
//===----------------------------------------------------------------------===//

static Verdict learned(StringRef reason) { return {true, reason.str()}; }
static Verdict constant(StringRef reason) { return {false, reason.str()}; }

/// The operand of an op from the data, besides `use`; or null.
Value LearnedTensors::otherFromData(OpOperand &use) const {
  Value found;
  for (OpOperand &operand : use.getOwner()->getOpOperands())
    if (&operand != &use && isFromData(operand.get()) &&
        (!found || computed.contains(operand.get())))
      found = operand.get();
  return found;
}

/// The epsilon of a normalization is added to what a root is taken of.
static bool isOnlyRooted(Value value) {
  return !value.use_empty() &&
         llvm::all_of(value.getUses(), [](OpOperand &use) {
           return useOf(use) == OperandUse::statistic;
         });
}

Verdict LearnedTensors::ofShift(OpOperand &use, Value other,
                                bool isNumber) const {
  if (isOnlyRooted(use.getOwner()->getResult(0)))
    return constant("added to a statistic");
  if (isNumber && typeOf(use.get()).getRank() == 0)
    return constant("one number");
  if (isNumber)
    return isOneFeature(other) ? learned("bias") : constant("one number");
  return computed.contains(other) ? learned("bias")
                                  : constant("added to the input");
}

Verdict LearnedTensors::ofScale(OpOperand &use, Value other,
                                bool isNumber) const {
  if (isNumber)
    return constant("one number");
  if (!computed.contains(other))
    return constant("scales the input");
  SmallVector<int64_t> dims = varyingDims(use.get());
  SmallVector<int64_t> normalized = normalizedDims(other);
  bool isOfFeatures = dims.size() == 1 || llvm::all_of(dims, [&](int64_t dim) {
                        return llvm::is_contained(normalized, dim);
                      });
  return isOfFeatures ? learned("scale") : constant("scales each element");
}

Verdict LearnedTensors::ofUse(OpOperand &use, bool isNumber) const {
  Operation *op = use.getOwner();
  OperandUse kind = useOf(use);
  if (op->getNumResults() != 1 || kind == OperandUse::number)
    return constant("a number of a formula");
  // Ones or zeros, repeated for each channel, are no weight.
  if (kind == OperandUse::weight)
    return isNumber && typeOf(use.get()).getNumElements() > 1
               ? constant("one number")
               : learned("weight");
  if (kind == OperandUse::statistic)
    return constant("a statistic");
  Value other = otherFromData(use);
  bool isPart = kind == OperandUse::scale || kind == OperandUse::shift;
  if (!other && isPart && isNumber)
    return constant("one number");
  if (!other)
    return known[isNumber].lookup(op->getResult(0));
  if (kind == OperandUse::scale)
    return ofScale(use, other, isNumber);
  if (kind == OperandUse::shift)
    return ofShift(use, other, isNumber);
  // As in scale / sqrt(variance + epsilon).
  if (kind == OperandUse::dividend && isStatistic(other))
    return ofScale(use, other, isNumber);
  return constant("a number of a formula");
}

/// One use that learns is enough.
Verdict LearnedTensors::follow(Value value, bool isNumber) const {
  Verdict verdict = constant("nothing reads it");
  for (OpOperand &use : value.getUses()) {
    verdict = ofUse(use, isNumber);
    if (verdict.learned)
      break;
  }
  return verdict;
}

int64_t LearnedTensors::countReaders(Value value) const {
  int64_t count = 0;
  for (Operation *user : value.getUsers()) {
    bool isCombined = llvm::any_of(
        user->getResults(), [&](Value result) { return isFromData(result); });
    if (isCombined)
      ++count;
    else
      for (Value result : user->getResults())
        count += countReaders(result);
  }
  return count;
}

/// Masks hold what no weight is: -inf, or numbers far below zero.
static bool isMask(ml_program::GlobalOp global) {
  constexpr double lowest = -1e4;
  auto value = dyn_cast_or_null<ElementsAttr>(global.getValueAttr());
  auto tensor = value ? HostTensor::read(value) : std::nullopt;
  if (!tensor)
    return false;
  return dispatch(tensor->getType().getElementType(), [&](auto zero) {
    using T = decltype(zero);
    const T *data = tensor->data<T>();
    return std::any_of(data, data + (tensor->isSplat() ? 1 : tensor->size()),
                       [](T x) { return double(x) <= lowest; });
  });
}

/// Whether the global is one number repeated, such as no scale and no bias are.
static bool isNeutral(ml_program::GlobalOp global) {
  auto value = dyn_cast_or_null<DenseElementsAttr>(global.getValueAttr());
  if (!value || !value.isSplat() || !isa<FloatType>(value.getElementType()))
    return false;
  APFloat number = value.getSplatValue<APFloat>();
  return number.isZero() || number.isExactlyValue(1);
}

/// Whether a scale or bias only leads to data that are reshaped and scaled by
/// another tensor. PyTorch writes a group normalization as an instance
/// normalization of reshaped groups with ones and zeros, which nothing learned.
bool LearnedTensors::isScaledAgain(Value value, bool isOfData,
                                   bool isReshaped) const {
  auto leads = [&](OpOperand &use) {
    Operation *op = use.getOwner();
    if (isa<ReshapeOp, BroadcastOp>(op))
      return isScaledAgain(op->getResult(0), isOfData, isOfData);
    if (!isa<AddOp, MulOp>(op))
      return false;
    Value other = op->getOperand(1 - use.getOperandNumber());
    if (isFromData(other) == isOfData)
      return false;
    if (isa<MulOp>(op) && isOfData)
      return isReshaped && !varyingDims(other).empty();
    return isScaledAgain(op->getResult(0), true, isReshaped);
  };
  return !value.use_empty() && llvm::all_of(value.getUses(), leads);
}

Verdict LearnedTensors::of(ml_program::GlobalLoadOp load,
                           ml_program::GlobalOp global) const {
  RankedTensorType type = typeOf(load);
  if (!isa<FloatType>(type.getElementType()))
    return constant("integers");
  if (isMask(global))
    return constant("a mask");
  if (isNeutral(global) && isScaledAgain(load.getResult(), false, false))
    return constant("ones or zeros before another scale");
  Verdict verdict = known[type.getNumElements() == 1].lookup(load.getResult());
  // Where the operator knows it, as of a PRelu with one slope.
  if (!verdict.learned && global->hasAttr("mnist.learned"))
    return learned("parameter of its operator");
  return verdict;
}
