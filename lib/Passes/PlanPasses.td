//===- PlanPasses.td - passes that make and shape the plan -*- tablegen -*-===//

#ifndef MNISTC_PASSES_PLANPASSES_TD
#define MNISTC_PASSES_PLANPASSES_TD

include "mlir/Pass/PassBase.td"

def InlineReductions : Pass<"plan-inline-reductions", "::mlir::func::FuncOp"> {
  let summary = "Compute small reductions where they are read";
  let description = [{
    Marks reductions of few elements (softmax and arg-max too) as `plan.inline`:
    each thread that needs a result computes it, again if need be, which costs
    less than a launch. Not one that reads another through elementwise ops, since
    the work would multiply, nor one of many results or with a contraction to
    wait for in the same step.
  }];
  let options = [
    Option<"most", "most", "int64_t", "16", "Elements of one result, at most">,
    Option<"mostResults", "most-results", "int64_t", "65536",
           "Elements of the result, at most">];
  let statistics = [Statistic<"numInlined", "inlined", "Reductions marked">];
  let dependentDialects = ["::mlir::mnistc::MnistDialect"];
}

def FormSteps : Pass<"plan-form-steps", "::mlir::func::FuncOp"> {
  let summary = "Cut a function into steps";
  let description = [{
    Fusion: what belongs together becomes one step. An elementwise op joins the
    step that computes its operand when nothing else needs that result
    (epilogue), and a step is joined by the elementwise and indexing ops that
    feed it alone (prologue), unless they would be computed over and over: a
    convolution reads its operands many times, an overlapping pool too. Reshapes
    cost nothing and never make a step of their own.

    Every result of the function becomes the result of its own step.
  }];
  let options = [
    Option<"fuse", "fuse", "bool", "true",
           "Join ops; otherwise each is a step of its own">,
    Option<"epilogues", "epilogues", "std::string", "\"any\"",
           "What may follow an op with loops of its own: any or none">];
  let statistics = [
    Statistic<"numSteps", "steps", "Steps made">,
    Statistic<"numJoined", "joined", "Ops that joined the step of another">];
  let dependentDialects = ["::mlir::mnistc::MnistDialect",
                           "::mlir::mnistc::PlanDialect"];
}

def SelectImplementations
    : Pass<"plan-select-implementations", "::mlir::ModuleOp"> {
  let summary = "Decide what computes each step";
  let description = [{
    Goes through the rows of the target (lib/IR/Plan/Target.cpp) for each step
    and takes the first that fits. What the implementation does not take along
    becomes a step of its own. The module remembers the choice: `plan.target`
    and `plan.libraries`.
  }];
  let options = [
    Option<"target", "target", "std::string", "\"cuda\"", "cuda or cpu">,
    Option<"libraries", "libraries", "std::string", "\"all\"",
           "Libraries that may be used: all, none or a list such as "
           "cudnn+cublas">];
  let statistics = [
    Statistic<"numLibrary", "library", "Steps computed by a library">,
    Statistic<"numSplit", "split", "Steps made by splitting another">];
  let dependentDialects = ["::mlir::mnistc::MnistDialect",
                           "::mlir::mnistc::PlanDialect"];
}

def JoinMaps : Pass<"plan-join-maps", "::mlir::func::FuncOp"> {
  let summary = "Launch maps together";
  let description = [{
    A map that reads another's results only element for element, or that has
    nothing to do with it, may run in the same launch: all updates of an optimizer
    are one step. A joined step goes to the place of its last member, where no
    step between them needs a member's result, and no parameter is written that
    the member still reads. Results with equally many elements share a loop;
    others are segments, one behind the other.

    A member reads a parameter that another one updates element for element or
    not at all: threads have no order. Where steps will run side by side, none
    joins that others need, if it would wait for more than it needs itself.
  }];
  let options = [
    Option<"sideBySide", "side-by-side", "bool", "false",
           "Steps will run side by side">,
    Option<"most", "most", "int64_t", "256",
           "A joined step has at most this many inputs and results">];
  let statistics = [Statistic<"numJoined", "joined", "Steps joined to others">];
  let dependentDialects = ["::mlir::mnistc::PlanDialect"];
}

def AssignMemory : Pass<"plan-assign-memory", "::mlir::ModuleOp"> {
  let summary = "Give every value an address";
  let description = [{
    Values that are never alive at the same time may share memory. An input is
    alive from the start to its last use, a result of the function to the end. A
    step may write over an operand that dies with it, where it reads of that only
    the element that it writes. Where steps will run side by side, alive means:
    in any order that the values allow, so that no step waits for memory. Two orders are tried, plan order and by size, each
    value at the lowest place that is free; the smaller arena wins.

    Parameters lie at the start of the arena, at the same place for all functions,
    those that begin as zeros behind the others. A step that computes the new
    value of one writes it there.

    Constants are shared by all functions of the module; equal ones are stored
    once. Libraries of the GPU get scratch memory: a convolution five times the
    bytes of its tensors, with which it may be a product of transforms.
  }];
  let options = [
    Option<"alignment", "alignment", "int64_t", "256",
           "Every address is a multiple of this many bytes">,
    Option<"reuse", "reuse", "bool", "true",
           "Give a dead value's memory to a later one">,
    Option<"sideBySide", "side-by-side", "bool", "false",
           "Steps will run side by side">,
    Option<"workspace", "workspace", "int64_t", "1073741824",
           "Scratch memory for libraries of the GPU: at most so many bytes">];
  let dependentDialects = ["::mlir::mnistc::PlanDialect"];
}

def AssignStreams : Pass<"plan-assign-streams", "::mlir::func::FuncOp"> {
  let summary = "Run steps side by side";
  let description = [{
    Small steps leave most of a GPU idle. Those that share no bytes, but to read
    them, may run on streams of their own: each step says its stream, and for
    which steps of others it waits. The longest way through the plan, by a guess
    of what each step takes, stays on one stream; what is not on it goes to the
    stream that is free first.

    Assumes addresses: two values that have a place in turn are not written side
    by side.
  }];
  let options = [Option<"most", "most", "int64_t", "4", "Streams, at most">];
  let statistics = [Statistic<"numStreams", "streams", "Streams in use">];
}

def CheckSteps : Pass<"plan-check-steps", "::mlir::ModuleOp"> {
  let summary = "Prove that a plan may be run";
  let description = [{
    Once addresses exist, order is memory. Checks that everything is in a step,
    decided, placed, and what the target can compute; that no two values that are
    alive together share a byte, nor two constants or parameters; that parameters
    lie where their globals do, apart from all else, and that no step reads an old
    value after another has written the new one; that of two steps where one
    writes bytes that the other uses, one waits for the other. Code generation
    relies on all of it. Runs last, always, and on a plan that is read from a
    text.
  }];
  let options = [Option<"alignment", "alignment", "int64_t", "256",
                        "What every address must be a multiple of">];
}

#endif // MNISTC_PASSES_PLANPASSES_TD
