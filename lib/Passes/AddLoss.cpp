//===- AddLoss.cpp - what training makes small ----------------------------===//
//
// Losses are ordinary ops: differentiation and fusion see nothing special. The
// formulas are in TrainPasses.td.
//
//===----------------------------------------------------------------------===//

#include "lib/IR/Mnist/LossBuilder.h"
#include "lib/IR/Mnist/OutputScores.h"
#include "lib/IR/Names.h"
#include "lib/IR/PlanKind.h"
#include "lib/Passes/Passes.h"
#include "lib/Passes/States.h"
#include <cmath>

namespace mlir::mnistc {

#define GEN_PASS_DEF_ADDLOSS
#include "lib/Passes/Passes.h.inc"

namespace {
struct AddLoss : impl::AddLossBase<AddLoss> {
  using AddLossBase::AddLossBase;
  void runOnOperation() override;
  LogicalResult addTo(func::FuncOp infer, const char *kind);
  FailureOr<LossChoice> choose(func::FuncOp function, Value output);
  FailureOr<bool> targetsAreClasses(func::FuncOp function,
                                    const LossChoice &choice);
  Value addLabels(func::FuncOp function, const LossChoice &choice);
  RowCounts addRowCounts(func::FuncOp function);
  FailureOr<Value> addWeights(func::FuncOp function, OpBuilder &builder,
                              Location loc, const LossChoice &choice);
  void addMetrics(OpBuilder &builder, Location loc, Value loss, Value correct,
                  RowCounts rows, bool trains);
};
} // namespace

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

static SmallVector<int64_t> shapeWithoutOnes(Value value) {
  SmallVector<int64_t> shape(typeOf(value).getShape());
  llvm::erase(shape, 1);
  return shape;
}

/// "output 'y' of shape 64x1", of i64 where it is not of floats.
static std::string describe(func::FuncOp function, Value output) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "output";
  if (auto name = function.getResultAttrOfType<StringAttr>(0, "mnist.name"))
    os << " '" << name.getValue() << "'";
  auto type = cast<ShapedType>(output.getType());
  if (type.getRank() == 0)
    os << " of one number";
  else
    llvm::interleave(type.getShape(), os << " of shape ", "x");
  if (!isa<FloatType>(type.getElementType()))
    os << " of " << type.getElementType();
  return text;
}

/// The operand of the activation that `output` ends in, under the output's
/// shape, or null; reshapes that add or take dimensions of 1 may follow it.
static Value operandOfLast(Value output, OpBuilder &builder,
                           Operation *&activation) {
  Value value = output;
  while (auto reshape = value.getDefiningOp<ReshapeOp>())
    value = reshape.getInput();
  activation = value.getDefiningOp();
  if (!isa_and_nonnull<SoftmaxOp, LogSoftmaxOp, SigmoidOp>(activation) ||
      shapeWithoutOnes(value) != shapeWithoutOnes(output))
    return {};
  // A softmax must be over the classes.
  if (auto dim = activation->getAttrOfType<IntegerAttr>("dim")) {
    int64_t classes = typeOf(value).getDimSize(dim.getInt());
    if (typeOf(output).getRank() < 2 ||
        typeOf(output).getDimSize(classDim) != classes)
      return {};
  }
  builder.setInsertionPointAfterValue(value);
  return builder.createOrFold<ReshapeOp>(value.getLoc(), output.getType(),
                                         activation->getOperand(0));
}

FailureOr<bool> AddLoss::targetsAreClasses(func::FuncOp function,
                                           const LossChoice &choice) {
  bool needsClasses = choice.kind == "cross-entropy" || choice.kind == "nll";
  if (targets == "class")
    return true;
  if (targets == "values") {
    if (needsClasses)
      return function.emitError("expected --targets=class for ")
             << choice.kind << ", got values; --loss=mse, l1, bce and "
             << "bce-logits take values";
    return false;
  }
  if (targets != "auto")
    return function.emitError("expected targets of auto, class or values, "
                              "got '")
           << targets << "'";
  // One number per row is compared with a value, unless it says yes or no.
  RankedTensorType type = typeOf(choice.scores);
  bool isYesOrNo = choice.kind == "bce" || choice.kind == "bce-logits";
  return needsClasses || choice.kind == "own" ||
         (type.getRank() == 2 && (isYesOrNo || type.getDimSize(classDim) > 1));
}

FailureOr<LossChoice> AddLoss::choose(func::FuncOp function, Value output) {
  LossChoice choice{kind, output, false, ""};
  auto type = dyn_cast<RankedTensorType>(output.getType());
  if (!type || !isa<FloatType>(type.getElementType()))
    return function.emitError(
               "expected a first output of floats to train, got ")
           << describe(function, output);
  if (!llvm::is_contained(
          {"auto", "cross-entropy", "nll", "mse", "l1", "bce", "bce-logits"},
          choice.kind))
    return function.emitError("expected a loss of auto, cross-entropy, nll, "
                              "mse, l1, bce or bce-logits, got '")
           << kind << "'";
  OpBuilder builder(function.getContext());
  Operation *last = nullptr;
  Value operand = operandOfLast(output, builder, last);
  if (choice.kind == "auto") {
    bool isOwn = type.getNumElements() == 1 && type.getRank() < 2;
    bool isBinary = operand && isa<SigmoidOp>(last);
    choice.kind = isOwn ? "own" : isBinary ? "bce" : "cross-entropy";
  }
  bool stable = operand && (choice.kind == "cross-entropy"
                                ? isa<SoftmaxOp, LogSoftmaxOp>(last)
                                : choice.kind == "bce" && isa<SigmoidOp>(last));
  choice.text = choice.kind == "own" ? "the model's own" : choice.kind;
  Value implied = !stable && choice.kind == "cross-entropy"
                      ? scoresOfProbabilities(output, builder)
                      : Value();
  if (stable) {
    choice.scores = operand;
    choice.text += " on the logits, input of '" +
                   last->getName().stripDialect().str() + "'";
    if (choice.kind == "bce")
      choice.kind = "bce-logits";
  } else if (implied) {
    choice.scores = implied;
    choice.text += " on the output as probabilities";
  } else if (choice.kind == "cross-entropy") {
    choice.text += " on the output as logits";
    if (kind == "auto" && isOfKind(function, mn::kinds::train) &&
        !looksLikeLogits(output))
      function.emitWarning("the loss takes ")
          << describe(function, output)
          << " as logits; --loss=nll says that it is logarithms of "
             "probabilities, --loss=mse --targets=values that it is values";
  }
  FailureOr<bool> classes = targetsAreClasses(function, choice);
  if (failed(classes))
    return failure();
  bool needsClasses = choice.kind == "cross-entropy" || choice.kind == "nll";
  if (needsClasses && (type.getRank() < 2 || type.getDimSize(classDim) < 2))
    return function.emitError("expected two scores or more per row for ")
           << choice.kind << ", got " << describe(function, output)
           << "; --loss=mse --targets=values trains values, --loss=bce-logits "
              "one score for two classes";
  if (choice.kind != "own" && type.getRank() == 0)
    return function.emitError("expected an output with rows to train, got ")
           << describe(function, output);
  if (choice.kind == "own" && (dataParallel || accumulate > 1))
    return function.emitError("expected a loss that mnistc adds, for ")
           << (dataParallel ? "data-parallel training" : "--accumulate")
           << ", got the model's own, whose mean is over the rows of one "
           << (dataParallel ? "rank" : "batch")
           << "; --loss=NAME with an output that is no loss";
  choice.classes = *classes;
  return choice;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

static Value addArgument(func::FuncOp function, Type type, StringRef name) {
  Builder builder(function.getContext());
  unsigned number = function.getNumArguments();
  auto attributes = builder.getDictionaryAttr(
      builder.getNamedAttr("mnist.name", builder.getStringAttr(name)));
  function.insertArgument(number, type, attributes,
                          NameLoc::get(builder.getStringAttr(name)));
  return function.getArgument(number);
}

/// The argument with the targets. A model with its own loss has an input
/// for them already, the only one of integers.
Value AddLoss::addLabels(func::FuncOp function, const LossChoice &choice) {
  Builder builder(function.getContext());
  RankedTensorType type = typeOf(choice.scores);
  if (choice.kind == "own") {
    SmallVector<BlockArgument> wholes;
    for (BlockArgument argument : function.getArguments())
      if (isa<IntegerType>(getElementTypeOrSelf(argument.getType())))
        wholes.push_back(argument);
    if (wholes.size() != 1) {
      function.emitError("expected one input of integers, the targets of the "
                         "model's own loss, got ")
          << wholes.size()
          << (wholes.empty() ? "; --loss=mse --targets=values trains values"
                             : "; --bind=NAME=VALUE fixes one");
      return {};
    }
    BlockArgument old = wholes.front();
    Value labels = addArgument(
        function, typeOf(old).clone(builder.getI32Type()), mn::names::labels);
    if (Attribute range =
            function.getArgAttr(old.getArgNumber(), "mnist.range"))
      function.setArgAttr(cast<BlockArgument>(labels).getArgNumber(),
                          "mnist.range", range);
    OpBuilder atStart = OpBuilder::atBlockBegin(old.getOwner());
    Value cast = Arithmetic{atStart, old.getLoc()}.cast(
        labels, typeOf(old).getElementType());
    old.replaceAllUsesWith(cast);
    function.eraseArgument(old.getArgNumber());
    return labels;
  }
  if (!choice.classes)
    return addArgument(function, type, mn::names::labels);
  SmallVector<int64_t> shape(type.getShape());
  if (shape.size() > 1)
    shape.erase(shape.begin() + classDim);
  return addArgument(function,
                     RankedTensorType::get(shape, builder.getI32Type()),
                     mn::names::labels);
}

RowCounts AddLoss::addRowCounts(func::FuncOp function) {
  auto count =
      RankedTensorType::get({}, IntegerType::get(function.getContext(), 32));
  Value valid = addArgument(function, count, mn::names::valid);
  bool isShare =
      dataParallel || (accumulate > 1 && isOfKind(function, mn::kinds::train));
  return {valid, isShare ? addArgument(function, count, mn::names::globalValid)
                         : valid};
}

/// The state with the weights of classes, or null.
FailureOr<Value> AddLoss::addWeights(func::FuncOp function, OpBuilder &builder,
                                     Location loc, const LossChoice &choice) {
  RankedTensorType scores = typeOf(choice.scores);
  if (classWeights.empty() || !isOfKind(function, mn::kinds::train))
    return Value();
  bool isOf = choice.kind == "cross-entropy" || choice.kind == "nll";
  bool isBinary = choice.kind == "bce" || choice.kind == "bce-logits";
  if (!isOf && !(isBinary && choice.classes && !hasScorePerClass(scores)))
    return function.emitError("expected a loss of one class for each label, to "
                              "weigh classes, got ")
           << choice.kind << " of " << (choice.classes ? "classes" : "values")
           << "; cross-entropy, nll, and bce with one score weigh them";
  int64_t classes = hasScorePerClass(scores) ? scores.getDimSize(classDim) : 2;
  ArrayRef<double> given(classWeights);
  if (given.size() != 1 && int64_t(given.size()) != classes)
    return function.emitError("expected ")
           << classes << " class weights, one for each class, got "
           << given.size();
  Type element = scores.getElementType();
  SmallVector<Attribute> initial;
  for (int64_t k = 0; k < classes; ++k)
    initial.push_back(
        builder.getFloatAttr(element, given[given.size() == 1 ? 0 : k]));
  auto type = RankedTensorType::get({classes}, element);
  States states(getOperation(), builder, loc);
  states.declare(mn::names::classWeights,
                 DenseElementsAttr::get(type, initial));
  return states.load(mn::names::classWeights, type);
}

/// Adds this batch to what the trainer reads at its next report. Of several
/// ranks, each adds what is its share.
void AddLoss::addMetrics(OpBuilder &builder, Location loc, Value loss,
                         Value correct, RowCounts rows, bool trains) {
  Arithmetic a{builder, loc};
  States states(getOperation(), builder, loc);
  Type f64 = builder.getF64Type(), i64 = builder.getI64Type();
  auto add = [&](StringRef name, Type element, Value value) {
    states.store(name, a.add(states.loadNumber(name, element), value));
  };
  add(mn::names::lossSum, f64,
      a.mul(a.cast(loss, f64), a.cast(rows.total, f64)));
  add(mn::names::correct, i64, correct);
  add(mn::names::seen, i64, a.cast(rows.valid, i64));

  // x - x is 0 for a number, and NaN for infinity and NaN.
  Value batch = states.loadNumber(mn::names::batch, i64);
  Value number = trains ? states.loadNumber(mn::names::step, i64) : batch;
  Value bad = states.loadNumber(mn::names::badStep, i64, -1);
  Value finite = a.compare(Predicate::eq, a.sub(loss, loss), a.number(loss, 0));
  Value known = a.compare(Predicate::ge, bad, a.number(bad, 0));
  states.store(mn::names::badStep,
               a.select(known, bad, a.select(finite, bad, number)));
  states.store(mn::names::batch, a.add(batch, a.number(batch, 1)));

  // Read where the next batch is loaded, for any model.
  for (StringRef name : {mn::names::seed, mn::names::epoch})
    states.declare(name, RankedTensorType::get({}, i64));
  // By these the trainer knows that several ranks may train it.
  if (dataParallel) {
    states.declare(mn::names::rank, RankedTensorType::get({}, i64));
    states.declare(mn::names::ranks, RankedTensorType::get({}, i64), 1);
  }
}

LogicalResult AddLoss::addTo(func::FuncOp infer, const char *kind) {
  if (infer.getNumResults() == 0)
    return infer.emitError("expected an output to train, got none");
  OpBuilder builder(infer.getContext());
  builder.setInsertionPointAfter(infer);
  auto function = cast<func::FuncOp>(builder.clone(*infer));
  function.setName(nameOfKind(infer, kind));
  auto end = cast<func::ReturnOp>(function.getBody().front().getTerminator());
  FailureOr<LossChoice> choice = choose(function, end.getOperand(0));
  if (failed(choice))
    return failure();
  Value labels = addLabels(function, *choice);
  if (!labels)
    return failure();
  RowCounts rows = addRowCounts(function);
  builder.setInsertionPoint(end);
  Location loc = nameLocation(builder.getContext(), mn::names::loss, "", "");
  LossBuilder builderOfLoss(builder, loc, labels, rows);
  FailureOr<Value> weights = addWeights(function, builder, loc, *choice);
  if (failed(weights))
    return failure();
  if (*weights) {
    builderOfLoss.weigh(*weights, dataParallel);
    choice->text += ", weighted by class";
  }
  Value loss = builderOfLoss.build(*choice, smoothing);
  Value correct = builderOfLoss.correct(*choice);
  addMetrics(builder, loc, loss, correct, rows,
             isOfKind(function, mn::kinds::train));
  end->setOperands(loss);
  function.setType(
      builder.getFunctionType(function.getArgumentTypes(), loss.getType()));
  function.setAllResultAttrs(ArrayRef<DictionaryAttr>{builder.getDictionaryAttr(
      {builder.getNamedAttr("mnist.loss", builder.getStringAttr(choice->text)),
       builder.getNamedAttr("mnist.name",
                            builder.getStringAttr(mn::names::loss))})});
  getOperation()->setAttr("mnist.loss", builder.getStringAttr(choice->text));
  getOperation()->setAttr(
      "mnist.targets",
      builder.getStringAttr(choice->classes ? "class" : "values"));
  if (choice->kind == "own")
    getOperation()->setAttr("mnist.partial", builder.getStringAttr("dropped"));
  return success();
}

void AddLoss::runOnOperation() {
  if (!(smoothing >= 0 && smoothing <= 1)) {
    getOperation().emitError("expected a smoothing from 0 to 1, got ")
        << double(smoothing);
    return signalPassFailure();
  }
  if (accumulate > 1 && !classWeights.empty()) {
    getOperation().emitError("expected no class weights where an update has "
                             "several batches, whose sum of weights is known "
                             "after the last one, got some");
    return signalPassFailure();
  }
  for (double weight : classWeights)
    if (!(std::isfinite(weight) && weight >= 0)) {
      getOperation().emitError("expected class weights of 0 or more, got ")
          << weight;
      return signalPassFailure();
    }
  for (auto infer : llvm::to_vector(getOperation().getOps<func::FuncOp>()))
    if (isOfKind(infer, mn::kinds::infer) && !infer.isExternal() &&
        (failed(addTo(infer, mn::kinds::eval)) ||
         failed(addTo(infer, mn::kinds::train))))
      return signalPassFailure();
}

} // namespace mlir::mnistc
