//===- OrderUpdates.cpp - old values are read before new ones are written -===//
//
// A step that computes the new value of a parameter writes over the old one.
// By values only it may come before a step that still reads that. Steps move
// where that is enough; in a circle (dA needs B, dB needs A) a new value waits
// in a buffer and is copied at the end.
//
//===----------------------------------------------------------------------===//

#include "lib/IR/Plan/Parameters.h"
#include "lib/IR/Plan/StepBuilder.h"
#include "lib/Passes/Passes.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::mnistc {

#define GEN_PASS_DEF_ORDERUPDATES
#include "lib/Passes/Passes.h.inc"

namespace {
/// A parameter that a step writes over.
struct OrderedUpdate {
  BlockArgument before;
  OpOperand *after; ///< of the function's return
  bool copied = false;

  StepOp writer() const { return after->get().getDefiningOp<StepOp>(); }
  unsigned result() const {
    return cast<OpResult>(after->get()).getResultNumber();
  }
};

struct OrderUpdates : impl::OrderUpdatesBase<OrderUpdates> {
  void runOnOperation() override;
  void findUpdates();
  void copyWhereReadOutOfOrder();
  void order();
  bool isReady(StepOp step, const DenseSet<Operation *> &done) const;
  StepOp takeFromCircle(ArrayRef<StepOp> waiting,
                        const DenseSet<Operation *> &done);
  void addCopies();

  SmallVector<OrderedUpdate> updates;
  llvm::MapVector<Operation *, SmallVector<unsigned>> updatesOf; ///< by writer
};
} // namespace

void OrderUpdates::findUpdates() {
  updates.clear();
  updatesOf.clear();
  func::FuncOp function = getOperation();
  DenseMap<StringAttr, BlockArgument> arguments;
  for (BlockArgument argument : function.getArguments())
    if (StringAttr name = parameterOf(argument))
      arguments[name] = argument;
  Operation *end = function.getBody().front().getTerminator();
  for (OpOperand &operand : end->getOpOperands()) {
    StringAttr name = parameterOf(function, operand.getOperandNumber());
    BlockArgument before = name ? arguments.lookup(name) : BlockArgument();
    if (!before || !operand.get().getDefiningOp<StepOp>())
      continue;
    updatesOf[operand.get().getDefiningOp()].push_back(updates.size());
    updates.push_back({before, &operand});
  }
}

/// A step must not write over what it reads at other elements too.
void OrderUpdates::copyWhereReadOutOfOrder() {
  for (OrderedUpdate &update : updates)
    for (OpOperand &use : update.before.getUses())
      update.copied |=
          use.getOwner() == update.writer() &&
          !canUpdateInPlace(update.writer(), use.getOperandNumber(),
                            update.result());
}

static bool hasItsInputs(StepOp step, const DenseSet<Operation *> &done) {
  return llvm::all_of(step.getInputs(), [&](Value input) {
    auto made = input.getDefiningOp<StepOp>();
    return !made || done.contains(made);
  });
}

/// Whether nothing but the step itself still reads what it writes over.
static bool wasRead(const OrderedUpdate &update,
                    const DenseSet<Operation *> &done) {
  return llvm::all_of(update.before.getUsers(), [&](Operation *reader) {
    return !isa<StepOp>(reader) || reader == update.writer() ||
           done.contains(reader);
  });
}

bool OrderUpdates::isReady(StepOp step,
                           const DenseSet<Operation *> &done) const {
  if (!hasItsInputs(step, done))
    return false;
  auto found = updatesOf.find(step);
  return found == updatesOf.end() ||
         llvm::all_of(found->second, [&](unsigned number) {
           return updates[number].copied || wasRead(updates[number], done);
         });
}

/// All that wait have their inputs to come, or write what others still read:
/// the first of these gets buffers. There is one, as values have no circles.
StepOp OrderUpdates::takeFromCircle(ArrayRef<StepOp> waiting,
                                    const DenseSet<Operation *> &done) {
  StepOp step = *llvm::find_if(
      waiting, [&](StepOp step) { return hasItsInputs(step, done); });
  for (unsigned number : updatesOf[step])
    updates[number].copied |= !wasRead(updates[number], done);
  return step;
}

/// Of the steps that may come next, always the first of the old order.
void OrderUpdates::order() {
  Operation *end = getOperation().getBody().front().getTerminator();
  SmallVector<StepOp> waiting(getOperation().getOps<StepOp>());
  DenseSet<Operation *> done;
  while (!waiting.empty()) {
    auto next = llvm::find_if(waiting,
                              [&](StepOp step) { return isReady(step, done); });
    if (next == waiting.end())
      next = llvm::find(waiting, takeFromCircle(waiting, done));
    numMoved += next != waiting.begin();
    (*next)->moveBefore(end);
    done.insert(*next);
    waiting.erase(next);
  }
}

void OrderUpdates::addCopies() {
  Block &body = getOperation().getBody().front();
  StepNames names(body);
  OpBuilder builder(body.getTerminator());
  for (OrderedUpdate &update : updates) {
    if (!update.copied)
      continue;
    Value value = update.after->get();
    StringRef parameter = parameterOf(update.before).getValue();
    auto copy = builder.create<ReshapeOp>(
        NameLoc::get(builder.getStringAttr(parameter)), value.getType(), value);
    update.after->set(copy);
    StepOp step = outline({copy}, names.take(parameter, "copy"),
                          [](Operation *) { return false; });
    step.setImpl(Impl::kernel);
    ++numCopied;
  }
}

void OrderUpdates::runOnOperation() {
  if (getOperation().isExternal())
    return;
  findUpdates();
  if (updates.empty())
    return;
  copyWhereReadOutOfOrder();
  order();
  addCopies();
}

} // namespace mlir::mnistc
