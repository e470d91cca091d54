//===- FormChains.cpp - small steps in one launch -------------------------===//
//
// Once it is known what computes each step, and before memory: a chain takes no
// operand's place.
//
//===----------------------------------------------------------------------===//

#include "lib/IR/Plan/ChainBody.h"
#include "lib/IR/Plan/Parameters.h"
#include "lib/IR/Plan/StepBuilder.h"
#include "lib/IR/Plan/StepOrder.h"
#include "lib/IR/Plan/Target.h"
#include "lib/Passes/Passes.h"
#include "mlir/Analysis/TopologicalSortUtils.h"

namespace mlir::mnistc {

#define GEN_PASS_DEF_FORMCHAINS
#include "lib/Passes/Passes.h.inc"

namespace {
struct FormChains : impl::FormChainsBase<FormChains> {
  void runOnOperation() override;
};

/// The steps of a function, and what each needs.
class Steps {
public:
  Steps(func::FuncOp function, const ChainLimits &limits)
      : function(function), limits(limits), steps(function.getOps<StepOp>()),
        dependencies(function) {
    for (auto [number, step] : llvm::enumerate(steps))
      numbers[step] = number;
    findWriters();
  }

  /// Numbers of the steps of a chain that begins with step `start`.
  SmallVector<unsigned> chainFrom(unsigned start) const;

  func::FuncOp function;
  const ChainLimits &limits;
  SmallVector<StepOp> steps;

private:
  void findWriters();
  bool mayBeLink(unsigned number) const;
  bool mayJoin(ArrayRef<unsigned> chain, unsigned number) const;
  bool needsUpdateOfInput(ArrayRef<unsigned> chain) const;

  StepDependencies dependencies;
  DenseMap<Operation *, unsigned> numbers;
  DenseMap<Value, unsigned> writerOf; ///< of a parameter's old value
};
} // namespace

/// Which step writes over which argument.
void Steps::findWriters() {
  DenseMap<StringAttr, Value> arguments;
  for (BlockArgument argument : function.getArguments())
    if (StringAttr name = parameterOf(argument))
      arguments[name] = argument;
  Operation *end = function.getBody().front().getTerminator();
  for (OpOperand &operand : end->getOpOperands()) {
    Value before =
        arguments.lookup(parameterOf(function, operand.getOperandNumber()));
    auto step = operand.get().getDefiningOp<StepOp>();
    if (before && step)
      writerOf[before] = numbers.lookup(step);
  }
}

/// Whether a step computes rows, has little to do, and updates no parameter:
/// other blocks may still read it.
bool Steps::mayBeLink(unsigned number) const {
  StepOp step = steps[number];
  if (!rowsOfLink(step) || !isSmallLink(step, limits))
    return false;
  return llvm::none_of(step->getUses(), [&](OpOperand &use) {
    return isa<func::ReturnOp>(use.getOwner()) &&
           parameterOf(function, use.getOperandNumber());
  });
}

/// Whether steps together need the new value of a parameter whose old one they
/// read.
bool Steps::needsUpdateOfInput(ArrayRef<unsigned> chain) const {
  return llvm::any_of(chain, [&](unsigned reader) {
    return llvm::any_of(StepOp(steps[reader]).getInputs(), [&](Value input) {
      auto writer = writerOf.find(input);
      return writer != writerOf.end() &&
             llvm::any_of(chain, [&](unsigned number) {
               return dependencies.needs(number, writer->second);
             });
    });
  });
}

/// Whether step `number` may be the next link: it reads what a link makes, by
/// rows, and needs the chain in no other way.
bool Steps::mayJoin(ArrayRef<unsigned> chain, unsigned number) const {
  StepOp step = steps[number], first = steps[chain.front()];
  if (!mayBeLink(number) || rowsOfLink(step) != rowsOfLink(first))
    return false;
  bool reads = false;
  for (auto [i, input] : llvm::enumerate(step.getInputs())) {
    auto producer = input.getDefiningOp<StepOp>();
    if (!producer)
      continue;
    unsigned made = numbers.lookup(producer);
    if (llvm::is_contained(chain, made)) {
      reads = true;
      if (!readsByRows(step, i))
        return false;
    } else if (llvm::any_of(chain, [&](unsigned link) {
                 return dependencies.needs(made, link);
               })) {
      return false;
    }
  }
  SmallVector<unsigned> together(chain);
  together.push_back(number);
  return reads && !needsUpdateOfInput(together);
}

SmallVector<unsigned> Steps::chainFrom(unsigned start) const {
  if (!mayBeLink(start))
    return {};
  SmallVector<unsigned> chain = {start};
  for (unsigned next = start + 1; next < steps.size(); ++next)
    if (mayJoin(chain, next))
      chain.push_back(next);
  return chain.size() > 1 ? chain : SmallVector<unsigned>();
}

void FormChains::runOnOperation() {
  func::FuncOp function = getOperation();
  const Machine &machine = machineFor(function);
  if (function.isExternal() || !machine.chains)
    return;
  Block &block = function.getBody().front();
  // A chain changes who needs whom.
  for (unsigned start = 0;; ++start) {
    Steps all(function, *machine.chains);
    if (start >= all.steps.size())
      return;
    SmallVector<unsigned> found = all.chainFrom(start);
    if (found.empty())
      continue;
    chain(llvm::map_to_vector(
        found, [&](unsigned number) { return all.steps[number]; }));
    sortTopologically(&block);
    numLinks += found.size();
  }
}

} // namespace mlir::mnistc
