//===- AddLoss.cpp - what training makes small ----------------------------===//
//
// Losses are ordinary ops: differentiation and fusion see nothing special. The
// formulas are in TrainPasses.td.
//
//===----------------------------------------------------------------------===//

#include "lib/IR/Mnist/OutputScores.h"
#include "lib/IR/Names.h"
#include "lib/IR/PlanKind.h"
#include "lib/Passes/Passes.h"
#include "lib/Passes/States.h"

namespace mlir::mnistc {

#define GEN_PASS_DEF_ADDLOSS
#include "lib/Passes/Passes.h.inc"

namespace {
/// What a function is trained for.
struct Choice {
  std::string kind;
  Value scores;     ///< what the loss is computed on
  bool classes;     ///< targets are classes; else values
  std::string text; ///< for --explain
};

/// The rows of a batch that count: the first ones, and how many the mean of the
/// loss is over, which are those of all ranks where there are several.
struct RowCounts {
  Value valid, total;
};

/// Builds the ops of a loss over rows.
class LossBuilder {
public:
  LossBuilder(OpBuilder &b, Location loc, Value labels, RowCounts rows)
      : a{b, loc}, labels(labels), rows(rows) {}

  Value build(const Choice &choice, double smoothing);
  /// How many classes are right, as i64.
  Value correct(const Choice &choice);

private:
  Value isUsed(RankedTensorType type);
  Value isLabel(RankedTensorType type);
  Value target(const Choice &choice);
  Value meanOf(Value errors, double perRow);
  Value likelihood(Value logProbabilities, double smoothing);
  Value binary(Value p, Value target);

  Arithmetic a;
  Value labels;
  RowCounts rows;
};

struct AddLoss : impl::AddLossBase<AddLoss> {
  using AddLossBase::AddLossBase;
  void runOnOperation() override;
  LogicalResult addTo(func::FuncOp infer, const char *kind);
  FailureOr<Choice> choose(func::FuncOp function, Value output);
  FailureOr<bool> targetsAreClasses(func::FuncOp function,
                                    const Choice &choice);
  Value addLabels(func::FuncOp function, const Choice &choice);
  RowCounts addRowCounts(func::FuncOp function);
  void addMetrics(OpBuilder &builder, Location loc, Value loss, Value correct,
                  RowCounts rows, bool trains);
};
} // namespace

//===----------------------------------------------------------------------===//
// Losses
//===----------------------------------------------------------------------===//

/// Whether the row of each element of `type` counts.
Value LossBuilder::isUsed(RankedTensorType type) {
  auto index = type.clone(typeOf(rows.valid).getElementType());
  Value row = a.b.create<IotaOp>(a.loc, index, 0);
  return a.compare(Predicate::lt, row, a.spread(rows.valid, index));
}

/// Whether the class of each element of `type` is the label.
Value LossBuilder::isLabel(RankedTensorType type) {
  auto index = type.clone(typeOf(labels).getElementType());
  SmallVector<int64_t> places;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (dim != classDim)
      places.push_back(dim);
  Value number = a.b.create<IotaOp>(a.loc, index, classDim);
  return a.compare(Predicate::eq, number, a.broadcast(labels, places, index));
}

/// The targets as values: classes are one in their place.
Value LossBuilder::target(const Choice &choice) {
  RankedTensorType type = typeOf(choice.scores);
  if (!choice.classes)
    return labels;
  if (type.getRank() < 2 || type.getDimSize(classDim) == 1)
    return a.reshape(a.cast(labels, type.getElementType()), type);
  return a.cast(isLabel(type), type.getElementType());
}

/// The mean over the rows that count, of `perRow` errors each.
Value LossBuilder::meanOf(Value errors, double perRow) {
  Value sum = a.sumOfAll(a.where(isUsed(typeOf(errors)), errors));
  Value count = a.cast(rows.total, typeOf(sum).getElementType());
  return a.div(sum, a.mul(count, a.number(count, perRow)));
}

/// -log p of the label.
Value LossBuilder::likelihood(Value logP, double smoothing) {
  RankedTensorType type = typeOf(logP);
  double classes = type.getDimSize(classDim);
  double places = type.getNumElements() / classes / type.getDimSize(0);
  Value cost = a.neg(logP);
  Value loss = meanOf(a.where(isLabel(type), cost), places);
  if (smoothing == 0)
    return loss;
  Value all = meanOf(cost, places * classes);
  return a.add(a.mul(loss, a.number(loss, 1 - smoothing)),
               a.mul(all, a.number(all, smoothing)));
}

/// Logarithms are clamped as PyTorch does: 0 costs 100, not infinity.
Value LossBuilder::binary(Value p, Value t) {
  auto logarithm = [&](Value x) { return a.max(a.log(x), a.number(x, -100)); };
  return a.neg(a.add(a.mul(t, logarithm(p)),
                     a.mul(a.oneMinus(t), logarithm(a.oneMinus(p)))));
}

Value LossBuilder::build(const Choice &choice, double smoothing) {
  Value z = choice.scores;
  if (choice.kind == "own")
    return a.reshape(z, RankedTensorType::get({}, typeOf(z).getElementType()));
  if (choice.kind == "cross-entropy")
    return likelihood(a.b.create<LogSoftmaxOp>(a.loc, z, classDim), smoothing);
  if (choice.kind == "nll")
    return likelihood(z, smoothing);
  Value t = target(choice), errors;
  if (choice.kind == "mse") {
    Value difference = a.sub(z, t);
    errors = a.mul(difference, difference);
  } else if (choice.kind == "l1") {
    errors = a.abs(a.sub(z, t));
  } else if (choice.kind == "bce") {
    errors = binary(z, t);
  } else {
    errors = a.sub(a.softplus(z), a.mul(t, z));
  }
  RankedTensorType type = typeOf(z);
  return meanOf(errors, double(type.getNumElements()) / type.getDimSize(0));
}

Value LossBuilder::correct(const Choice &choice) {
  Type i64 = a.b.getI64Type();
  RankedTensorType type = typeOf(choice.scores);
  if (choice.kind == "own" || !choice.classes)
    return a.number(RankedTensorType::get({}, i64), 0);
  Value best;
  if (type.getRank() < 2 || type.getDimSize(classDim) == 1) {
    double half = choice.kind == "bce" ? 0.5 : 0;
    Value yes =
        a.compare(Predicate::gt, choice.scores, a.number(choice.scores, half));
    best = a.reshape(a.cast(yes, typeOf(labels).getElementType()),
                     labels.getType());
  } else {
    best = a.b.create<ArgMaxOp>(a.loc, typeOf(labels), choice.scores, classDim,
                                /*last=*/false);
  }
  Value right = a.logicalAnd(a.compare(Predicate::eq, best, labels),
                             isUsed(typeOf(labels)));
  return a.sumOfAll(a.cast(right, i64));
}

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
                                           const Choice &choice) {
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

FailureOr<Choice> AddLoss::choose(func::FuncOp function, Value output) {
  Choice choice{kind, output, false, ""};
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
  if (choice.kind == "own" && dataParallel)
    return function.emitError("expected a loss that mnistc adds, for "
                              "data-parallel training, got the model's own, "
                              "whose mean is over the rows of one rank; "
                              "--loss=NAME with an output that is no loss");
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
Value AddLoss::addLabels(func::FuncOp function, const Choice &choice) {
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
  return {valid, dataParallel
                     ? addArgument(function, count, mn::names::globalValid)
                     : valid};
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
  FailureOr<Choice> choice = choose(function, end.getOperand(0));
  if (failed(choice))
    return failure();
  Value labels = addLabels(function, *choice);
  if (!labels)
    return failure();
  RowCounts rows = addRowCounts(function);
  builder.setInsertionPoint(end);
  Location loc = nameLocation(builder.getContext(), mn::names::loss, "", "");
  LossBuilder builderOfLoss(builder, loc, labels, rows);
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
  for (auto infer : llvm::to_vector(getOperation().getOps<func::FuncOp>()))
    if (isOfKind(infer, mn::kinds::infer) && !infer.isExternal() &&
        (failed(addTo(infer, mn::kinds::eval)) ||
         failed(addTo(infer, mn::kinds::train))))
      return signalPassFailure();
}

} // namespace mlir::mnistc
