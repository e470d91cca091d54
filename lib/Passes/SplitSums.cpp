//===- SplitSums.cpp - sums of what other sums scale ----------------------===//
//
// sum(a * s + b) along some dimensions, where s is one number for all that is
// summed and takes a sum itself, is s * sum(a) + sum(b): all of it can be
// summed at once, before s is known.
//
//===----------------------------------------------------------------------===//

#include "lib/IR/Mnist/TensorShape.h"
#include "lib/IR/Plan/RowBody.h"
#include "lib/Passes/Passes.h"
#include "mlir/IR/TypeUtilities.h"

namespace mlir::mnistc {

#define GEN_PASS_DEF_SPLITSUMS
#include "lib/Passes/Passes.h.inc"

/// A longer sum is rather computed once more.
static constexpr size_t maxTerms = 8;

namespace {
/// +-(factors...) * value
struct Term {
  Value value;
  SmallVector<Value> factors; ///< one number for each row
  bool isNegative = false;
};

class Sum {
public:
  explicit Sum(ReduceSumOp op) : op(op), space(*RowSpace::of(op)) {}

  /// Whether its terms can be summed earlier than the whole.
  bool readTerms();
  void split();

private:
  bool addTerms(Term term);
  void countSums();
  Value sumOf(Value value, OpBuilder &builder);

  ReduceSumOp op;
  RowSpace space;
  SmallVector<Term> terms;
  DenseMap<Operation *, unsigned> sumsBefore;
  DenseMap<Value, Value> sums;
};
} // namespace

/// How many sums over these rows each value takes, one after another.
void Sum::countSums() {
  for (Operation &each : *op->getBlock()) {
    unsigned &sums = sumsBefore[&each];
    for (Value operand : each.getOperands())
      if (Operation *producer = operand.getDefiningOp())
        sums = std::max(sums, sumsBefore.lookup(producer) +
                                  space.isReduction(producer));
    if (&each == op)
      return;
  }
}

bool Sum::addTerms(Term term) {
  Operation *producer = term.value.getDefiningOp();
  auto addWith = [&](Value value, bool isNegative) {
    Term part = term;
    part.value = value;
    part.isNegative ^= isNegative;
    return addTerms(std::move(part));
  };
  if (auto neg = dyn_cast_or_null<NegOp>(producer))
    return addWith(neg->getOperand(0), true);
  if (isa_and_present<AddOp, SubOp>(producer))
    return addWith(producer->getOperand(0), false) &&
           addWith(producer->getOperand(1), isa<SubOp>(producer));
  if (isa_and_present<MulOp>(producer))
    for (unsigned i : {0, 1})
      if (Operation *factor = producer->getOperand(i).getDefiningOp();
          factor && space.isRepeat(factor)) {
        term.factors.push_back(factor->getOperand(0));
        return addWith(producer->getOperand(1 - i), false);
      }
  terms.push_back(std::move(term));
  return terms.size() <= maxTerms;
}

bool Sum::readTerms() {
  Value whole = op->getOperand(0);
  if (!isa<FloatType>(getElementTypeOrSelf(whole.getType())) ||
      !addTerms({whole, {}, false}) ||
      llvm::none_of(terms,
                    [](const Term &term) { return !term.factors.empty(); }))
    return false;
  countSums();
  return llvm::all_of(terms, [&](const Term &term) {
    Operation *producer = term.value.getDefiningOp();
    return !producer ||
           sumsBefore.lookup(producer) + space.isReduction(producer) <
               sumsBefore.lookup(op);
  });
}

Value Sum::sumOf(Value value, OpBuilder &builder) {
  Value &sum = sums[value];
  if (!sum)
    sum = builder.create<ReduceSumOp>(op.getLoc(), op.getType(), value,
                                      op.getDims());
  return sum;
}

void Sum::split() {
  OpBuilder builder(op);
  Value result;
  for (const Term &term : terms) {
    Value part = sumOf(term.value, builder);
    for (Value factor : term.factors)
      part = builder.create<MulOp>(op.getLoc(), part, factor);
    if (!result)
      result =
          term.isNegative ? builder.create<NegOp>(op.getLoc(), part) : part;
    else if (term.isNegative)
      result = builder.create<SubOp>(op.getLoc(), result, part);
    else
      result = builder.create<AddOp>(op.getLoc(), result, part);
  }
  op.replaceAllUsesWith(result);
  op.erase();
}

namespace {
struct SplitSums : impl::SplitSumsBase<SplitSums> {
  void runOnOperation() override {
    SmallVector<ReduceSumOp> ops;
    getOperation().walk([&](ReduceSumOp op) { ops.push_back(op); });
    for (ReduceSumOp op : ops) {
      if (!RowSpace::of(op))
        continue;
      Sum sum(op);
      if (!sum.readTerms())
        continue;
      sum.split();
      ++numSplit;
    }
  }
};
} // namespace

} // namespace mlir::mnistc
