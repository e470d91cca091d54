//===- AddOptimizer.cpp - updates of parameters, as elementwise ops -------===//
//
// No optimizer ops and no optimizer kernels: fusion makes one step of all
// updates.
//
//===----------------------------------------------------------------------===//

#include "lib/IR/PlanKind.h"
#include "lib/Passes/Passes.h"
#include "lib/Passes/RecipeNumbers.h"
#include "lib/Passes/States.h"
#include "llvm/ADT/StringExtras.h"

namespace mlir::mnistc {

#define GEN_PASS_DEF_ADDOPTIMIZER
#include "lib/Passes/Passes.h.inc"

namespace {
using Column = mn::RecipeColumn;

struct AddOptimizer : impl::AddOptimizerBase<AddOptimizer> {
  using AddOptimizerBase::AddOptimizerBase;
  void runOnOperation() override;
  LogicalResult checkOptions();
  LogicalResult addTo(func::FuncOp train);
  void readAverages(func::FuncOp function);
  LogicalResult checkInputs(func::FuncOp train);
  LogicalResult checkStates(ArrayRef<std::string> parameters);
  void rememberRecipe();
};

/// Updates the parameters of one function.
class Updates {
public:
  Updates(StringRef kind, bool keras, StringRef clipping, double average,
          ModuleOp module, OpBuilder &builder, Location loc)
      : kind(kind), keras(keras), clipping(clipping), average(average),
        module(module), a{builder, loc}, states(module, builder, loc) {}

  void readNumbers(FloatType element);
  void clip(MutableArrayRef<Value> gradients);
  void update(StringRef name, Value gradient);
  /// An update has `all` rows, which come in batches of `rows` on each rank.
  void accumulate(Value all, int64_t rows) {
    updateRows = all, batchRows = rows;
  }
  Value sumOfBatches(StringRef name, Value gradient);
  void countBatch();
  void countStep();
  void countStepFirst(Block &body);

private:
  void updateAverage(StringRef name, Value w);
  Value next(StringRef name, Value w, Value g);
  Value momentum(StringRef name, Value w, Value g);
  Value adam(StringRef name, Value w, Value g);
  Value rootOfSquares(StringRef name, Value g);
  Value loadState(StringRef name, StringRef state, Value like) {
    std::string full = (name + "." + state).str();
    Value loaded = states.load(full, typeOf(like));
    keepOrder(name, full);
    return loaded;
  }
  void keepOrder(StringRef parameter, StringRef other);
  void storeState(StringRef name, StringRef state, Value old, Value value) {
    store((name + "." + state).str(), old, value);
  }
  /// After the last batch of an update; `old` stays until then.
  void store(StringRef name, Value old, Value value) {
    states.store(
        name, updates ? a.select(a.spread(updates, old.getType()), value, old)
                      : value);
  }
  /// (1 - p) x + p y
  Value mix(Value p, Value x, Value y) {
    return a.add(a.mul(a.oneMinus(p), x), a.mul(p, y));
  }

  StringRef kind;
  bool keras;
  StringRef clipping;
  double average;
  ModuleOp module;
  bool counted = false;
  Value updateRows; ///< null: an update has one batch
  int64_t batchRows = 0;
  Value updates; ///< whether this is the last batch of an update; or null
  Arithmetic a;
  States states;
  Numbers numbers;
};
} // namespace

void Updates::readNumbers(FloatType element) {
  OpBuilder &b = a.b;
  a.loc = NameLoc::get(b.getStringAttr(mn::names::recipe));
  Type i64 = b.getI64Type();
  constexpr int64_t rows = mn::recipeRows, columns = Column::count;
  auto table = RankedTensorType::get({rows, columns}, element);
  Value recipe = states.load(mn::names::recipe, table);
  if (!counted)
    numbers.step = states.loadNumber(mn::names::step, i64);
  Value size = a.number(numbers.step, rows);
  Value row = a.sub(numbers.step, a.mul(a.div(numbers.step, size), size));
  Value flat =
      a.reshape(recipe, RankedTensorType::get({rows * columns}, element));
  // Numbers on their own: they are computed where they are read.
  for (int column = 0; column < Column::count; ++column) {
    Value place =
        a.add(a.mul(row, a.number(row, columns)), a.number(row, column));
    Value one = b.create<GatherOp>(
        a.loc, RankedTensorType::get({1}, element), flat,
        a.reshape(place, RankedTensorType::get({1}, i64)), 0);
    numbers.at(column) = a.reshape(one, RankedTensorType::get({}, element));
  }
}

void Updates::clip(MutableArrayRef<Value> gradients) {
  if (clipping == "value")
    for (Value &g : gradients)
      g = a.max(a.min(g, numbers.clip), a.neg(numbers.clip));
  if (clipping != "norm")
    return;
  Value sum;
  for (Value g : gradients) {
    Value squares = a.sumOfAll(a.mul(g, g));
    sum = sum ? a.add(sum, squares) : squares;
  }
  Value norm = a.add(a.sqrt(sum), a.number(sum, 1e-6));
  Value factor = a.min(a.div(numbers.clip, norm), a.number(norm, 1));
  for (Value &g : gradients)
    g = a.mul(factor, g);
}

Value Updates::momentum(StringRef name, Value w, Value g) {
  bool nesterov = kind == "nesterov";
  Value old = loadState(name, "momentum", w), v = old;
  if (keras) {
    Value step = a.mul(numbers.lr, g);
    v = a.sub(a.mul(numbers.momentum, v), step);
    storeState(name, "momentum", old, v);
    return nesterov ? a.sub(a.add(w, a.mul(numbers.momentum, v)), step)
                    : a.add(w, v);
  }
  Value first =
      a.compare(Predicate::eq, numbers.step, a.number(numbers.step, 0));
  Value share = a.select(first, a.number(numbers.dampening, 1),
                         a.oneMinus(numbers.dampening));
  v = a.add(a.mul(numbers.momentum, v), a.mul(share, g));
  storeState(name, "momentum", old, v);
  Value step = nesterov ? a.add(g, a.mul(numbers.momentum, v)) : v;
  return a.sub(w, a.mul(numbers.lr, step));
}

Value Updates::adam(StringRef name, Value w, Value g) {
  Value oldM = loadState(name, "m", w), m = mix(numbers.rest1, oldM, g);
  Value oldV = loadState(name, "v", w);
  Value v = mix(numbers.rest2, oldV, a.mul(g, g));
  storeState(name, "m", oldM, m);
  storeState(name, "v", oldV, v);
  if (kind == "adamw")
    w = a.sub(w, a.mul(a.mul(numbers.lr, numbers.weightDecay), w));
  Value root = a.sqrt(numbers.correction2);
  if (keras) {
    Value rate = a.mul(numbers.lr, a.div(root, numbers.correction1));
    return a.sub(w, a.div(a.mul(rate, m), a.add(a.sqrt(v), numbers.epsilon)));
  }
  // Rounded as PyTorch does: lr / (1 - beta1^t) and sqrt(v) / sqrt(1 -
  // beta2^t).
  Value rate = a.div(numbers.lr, numbers.correction1);
  Value deviation = a.add(a.div(a.sqrt(v), root), numbers.epsilon);
  return a.sub(w, a.mul(rate, a.div(m, deviation)));
}

/// What RMSProp and Adagrad divide by.
Value Updates::rootOfSquares(StringRef name, Value g) {
  Value old = loadState(name, "v", g), squares = a.mul(g, g);
  Value v = kind == "rmsprop" ? mix(numbers.rest2, old, squares)
                              : a.add(old, squares);
  storeState(name, "v", old, v);
  return keras && kind == "rmsprop" ? a.sqrt(a.add(v, numbers.epsilon))
                                    : a.add(a.sqrt(v), numbers.epsilon);
}

Value Updates::next(StringRef name, Value w, Value g) {
  if (kind != "adamw")
    g = a.add(g, a.mul(numbers.weightDecay, w));
  if (kind == "momentum" || kind == "nesterov")
    return momentum(name, w, g);
  if (kind == "adam" || kind == "adamw")
    return adam(name, w, g);
  Value step = kind == "sgd" ? g : a.div(g, rootOfSquares(name, g));
  return a.sub(w, a.mul(numbers.lr, step));
}

void Updates::update(StringRef name, Value gradient) {
  a.loc = NameLoc::get(a.b.getStringAttr(name));
  Value w = a.b.create<ml_program::GlobalLoadOp>(
      a.loc, gradient.getType(), SymbolRefAttr::get(a.b.getContext(), name));
  Value updated = next(name, w, gradient);
  store(name, w, updated);
  if (average > 0)
    updateAverage(name, updated);
}

/// What is kept for each element of a parameter is in its order.
void Updates::keepOrder(StringRef parameter, StringRef other) {
  Operation *from = module.lookupSymbol(parameter);
  Operation *to = module.lookupSymbol(other);
  for (StringRef name : {"mnist.order_shape", "mnist.order"})
    if (Attribute order = from->getAttr(name))
      to->setAttr(name, order);
}

/// `name` becomes that of the parameter's mean.
static std::string averageOf(StringRef name) {
  return (name + mn::names::average).str();
}

/// It begins as the parameter does.
void Updates::updateAverage(StringRef name, Value w) {
  std::string mean = averageOf(name);
  auto parameter = module.lookupSymbol<ml_program::GlobalOp>(name);
  if (!module.lookupSymbol(mean)) {
    auto atStart = OpBuilder::atBlockBegin(module.getBody());
    auto global = atStart.create<ml_program::GlobalOp>(
        a.loc, mean, parameter.getType(), /*is_mutable=*/true,
        parameter.getValueAttr(), a.b.getStringAttr("private"));
    global->setAttr("mnist.role", a.b.getStringAttr("state"));
    keepOrder(name, mean);
  }
  Value old = states.load(mean, typeOf(w));
  Value rest = a.number(old, 1 - average);
  store(mean, old, a.add(old, a.mul(rest, a.sub(w, old))));
}

/// Before all else, so that neither updates nor the count wait for the loss:
/// who needs the number of this step takes one from the new count. Where the
/// forward and the backward pass draw random numbers by it, it is counted last.
void Updates::countStepFirst(Block &body) {
  OpBuilder::InsertionGuard guard(a.b);
  auto loads = llvm::to_vector(body.getOps<ml_program::GlobalLoadOp>());
  a.b.setInsertionPointToStart(&body);
  numbers.step = states.loadNumber(mn::names::step, a.b.getI64Type());
  countBatch();
  countStep();
  for (ml_program::GlobalLoadOp load : loads)
    if (load.getGlobal().getLeafReference() == mn::names::step)
      load.replaceAllUsesWith(numbers.step), load.erase();
}

/// The count of batches begins again after the last one of an update: who looks
/// at the new count knows whether that was it.
void Updates::countBatch() {
  if (!updateRows || updates)
    return;
  a.loc = NameLoc::get(a.b.getStringAttr(mn::names::part));
  Type i64 = a.b.getI64Type();
  Value part = states.loadNumber(mn::names::part, i64);
  Value next = a.add(part, a.number(part, 1));
  Value rows = a.mul(next, a.number(next, double(batchRows)));
  if (module.lookupSymbol(mn::names::ranks))
    rows = a.mul(rows, states.loadNumber(mn::names::ranks, i64));
  Value all = a.cast(updateRows, i64);
  next = a.where(a.compare(Predicate::lt, rows, all), next);
  states.store(mn::names::part, next);
  updates = a.compare(Predicate::eq, next, a.number(next, 0));
}

void Updates::countStep() {
  if (counted)
    return;
  counted = true;
  a.loc = NameLoc::get(a.b.getStringAttr(mn::names::step));
  Value one =
      updates ? a.cast(updates, a.b.getI64Type()) : a.number(numbers.step, 1);
  Value next = a.add(numbers.step, one);
  states.store(mn::names::step, next);
  numbers.step = a.sub(next, one);
}

/// With those of the batches before, since the last update.
Value Updates::sumOfBatches(StringRef name, Value gradient) {
  if (!updateRows)
    return gradient;
  a.loc = NameLoc::get(a.b.getStringAttr(name));
  Value sum = a.add(loadState(name, "sum", gradient), gradient);
  storeState(name, "sum", sum, a.number(sum, 0));
  return sum;
}

LogicalResult AddOptimizer::checkOptions() {
  auto check = [&](StringRef what, StringRef found,
                   ArrayRef<StringRef> known) -> LogicalResult {
    if (llvm::is_contained(known, found))
      return success();
    return getOperation().emitError("expected ")
           << what << " of " << llvm::join(known, ", ") << ", got '" << found
           << "'";
  };
  return success(
      succeeded(check("an optimizer", kind,
                      {"sgd", "momentum", "nesterov", "adam", "adamw",
                       "rmsprop", "adagrad"})) &&
      succeeded(check("a convention", convention, {"torch", "keras"})) &&
      succeeded(check("clipping", clipping, {"none", "norm", "value"})));
}

/// The program feeds one input and the targets: what it would refuse.
LogicalResult AddOptimizer::checkInputs(func::FuncOp train) {
  SmallVector<std::string> names;
  Type type;
  bool hasTargets = false;
  for (BlockArgument argument : train.getArguments()) {
    auto name = train.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                   "mnist.name");
    if (!name || name == mn::names::valid || name == mn::names::globalValid)
      continue;
    if (name == mn::names::labels) {
      hasTargets = true;
      continue;
    }
    names.push_back("'" + name.str() + "'");
    type = argument.getType();
  }
  if (!hasTargets) // None that mnist-add-loss made.
    return success();
  if (names.size() != 1)
    return train.emitError("expected a model of one input to train, got ")
           << names.size() << (names.empty() ? "" : ": ")
           << llvm::join(names, ", ")
           << (names.empty() ? "" : "; --bind=NAME=VALUE fixes one");
  auto input = cast<RankedTensorType>(type);
  if (!input.getElementType().isF32() || input.getRank() == 0)
    return train.emitError("expected an input of rows of floats to train, got ")
           << names.front() << " of "
           << (input.getRank() == 0 ? "one number"
                                    : "elements that are no floats");
  return success();
}

/// That the states are not called as tensors of the model are.
LogicalResult AddOptimizer::checkStates(ArrayRef<std::string> parameters) {
  SmallVector<StringRef> states;
  if (kind == "momentum" || kind == "nesterov")
    states.push_back(".momentum");
  if (kind == "adam" || kind == "adamw")
    states.push_back(".m");
  if (kind.find("adam") == 0 || kind == "rmsprop" || kind == "adagrad")
    states.push_back(".v");
  if (average > 0)
    states.push_back(mn::names::average);
  if (accumulate > 1)
    states.push_back(".sum");
  for (StringRef parameter : parameters)
    for (StringRef state : states) {
      auto global = getOperation().lookupSymbol<ml_program::GlobalOp>(
          (parameter + state).str());
      auto role = global ? global->getAttrOfType<StringAttr>("mnist.role")
                         : StringAttr();
      if (global && !(role && role == "state"))
        return getOperation().emitError("expected no tensor '")
               << parameter << state << "' beside '" << parameter
               << "', whose state of the optimizer has that name, got one";
    }
  return success();
}

/// The argument of that name, or null.
static Value argumentOf(func::FuncOp function, StringRef name) {
  for (BlockArgument argument : function.getArguments())
    if (function.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                              "mnist.name") == name)
      return argument;
  return {};
}

LogicalResult AddOptimizer::addTo(func::FuncOp train) {
  auto end = cast<func::ReturnOp>(train.getBody().front().getTerminator());
  SmallVector<Value> kept, gradients;
  SmallVector<std::string> names;
  SmallVector<DictionaryAttr> keptAttributes;
  for (auto [i, value] : llvm::enumerate(end.getOperands())) {
    auto name = train.getResultAttrOfType<StringAttr>(i, "mnist.gradient");
    if (name) {
      gradients.push_back(value);
      names.push_back(name.str());
      continue;
    }
    kept.push_back(value);
    keptAttributes.push_back(train.getResultAttrDict(i));
  }
  if (gradients.empty())
    return success();
  if (failed(checkInputs(train)) || failed(checkStates(names)))
    return failure();
  auto element = cast<FloatType>(getElementTypeOrSelf(gradients.front()));
  for (auto [name, gradient] : llvm::zip_equal(names, gradients))
    if (getElementTypeOrSelf(gradient) != element)
      return train.emitError("expected parameters of one type of float, but '")
             << name << "' has " << getElementTypeOrSelf(gradient)
             << " and another " << element;

  OpBuilder builder(end);
  Updates updates(kind, convention == "keras", clipping, average,
                  getOperation(), builder, end.getLoc());
  if (accumulate > 1)
    updates.accumulate(argumentOf(train, mn::names::globalValid),
                       typeOf(train.getArgument(0)).getDimSize(0));
  if (train.getOps<RandomUniformOp>().empty())
    updates.countStepFirst(train.getBody().front());
  updates.countBatch();
  updates.readNumbers(element);
  for (auto [name, gradient] : llvm::zip_equal(names, gradients))
    gradient = updates.sumOfBatches(name, gradient);
  updates.clip(gradients);
  for (auto [name, gradient] : llvm::zip_equal(names, gradients))
    updates.update(name, gradient);
  updates.countStep();
  end->setOperands(kept);
  train.setType(builder.getFunctionType(train.getArgumentTypes(),
                                        ValueRange(kept).getTypes()));
  train.setAllResultAttrs(keptAttributes);
  return success();
}

/// In the place of the parameters that have one.
void AddOptimizer::readAverages(func::FuncOp function) {
  function.walk([&](ml_program::GlobalLoadOp load) {
    std::string mean = averageOf(load.getGlobal().getLeafReference());
    if (getOperation().lookupSymbol(mean))
      load.setGlobalAttr(SymbolRefAttr::get(&getContext(), mean));
  });
}

/// Leaves the options to the code generator, for the trainer.
void AddOptimizer::rememberRecipe() {
  const Defaults &defaults =
      *llvm::find_if(defaultsOf, [&](const Defaults &row) {
        return kind == row.kind && convention == row.convention;
      });
  auto given = [](double option, double otherwise) {
    return option < 0 ? otherwise : option;
  };
  double b1 = given(beta1, defaults.beta1), b2 = given(beta2, defaults.beta2);
  double numbers[Column::count] = {};
  numbers[Column::lr] = given(lr, defaults.lr);
  numbers[Column::momentum] = given(momentum, defaults.momentum);
  numbers[Column::weightDecay] = given(weightDecay, defaults.weightDecay);
  numbers[Column::beta1] = b1;
  numbers[Column::beta2] = b2;
  numbers[Column::epsilon] = given(epsilon, defaults.epsilon);
  numbers[Column::dampening] = given(dampening, 0);
  numbers[Column::clip] = given(clip, 1);
  numbers[Column::correction1] = 1 - b1;
  numbers[Column::correction2] = 1 - b2;
  Builder b(&getContext());
  ModuleOp module = getOperation();
  auto known = [&](StringRef name, StringRef otherwise) -> Attribute {
    Attribute value = module->getAttr(name);
    return value ? value : b.getStringAttr(otherwise);
  };
  NamedAttribute recipe[] = {
      b.getNamedAttr("accumulate", b.getI64IntegerAttr(accumulate)),
      b.getNamedAttr("loss", known("mnist.loss", "unknown")),
      b.getNamedAttr("targets", known("mnist.targets", "class")),
      b.getNamedAttr("partial", known("mnist.partial", "masked")),
      b.getNamedAttr("optimizer", b.getStringAttr(kind)),
      b.getNamedAttr("convention", b.getStringAttr(convention)),
      b.getNamedAttr("clip", b.getStringAttr(clipping)),
      b.getNamedAttr("numbers", b.getDenseF64ArrayAttr(numbers))};
  module->setAttr("mnist.recipe", b.getDictionaryAttr(recipe));
}

void AddOptimizer::runOnOperation() {
  if (failed(checkOptions()))
    return signalPassFailure();
  rememberRecipe();
  for (auto function : getOperation().getOps<func::FuncOp>())
    if (!function.isExternal() && failed(addTo(function)))
      return signalPassFailure();
  for (auto function : getOperation().getOps<func::FuncOp>())
    if (average > 0 && !isOfKind(function, mn::kinds::train))
      readAverages(function);
}

} // namespace mlir::mnistc
