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
    Option<"maxElements", "max-elements", "int64_t", "-1",
           "Most elements of one result (-1: as the machine likes it)">,
    Option<"maxResults", "max-results", "int64_t", "-1",
           "Elements of the result, at most (-1: as the machine likes it)">];
  let statistics = [Statistic<"numInlined", "inlined", "Reductions marked">];
  let dependentDialects = ["::mlir::mnistc::MnistDialect"];
}

def DrawNumbers : Pass<"plan-draw-numbers", "::mlir::func::FuncOp"> {
  let summary = "Draw random numbers in steps of their own";
  let description = [{
    Without it, a random number is computed again by each step that reads it. A
    CPU computes those of neighbours in a fraction of the time, but only by
    themselves: all numbers of a tensor become a step, and are stored.
  }];
  let statistics = [Statistic<"numSteps", "steps", "Steps made">];
  let dependentDialects = ["::mlir::mnistc::MnistDialect",
                           "::mlir::mnistc::PlanDialect"];
}

def FormRows : Pass<"plan-form-rows", "::mlir::func::FuncOp"> {
  let summary = "Put reductions of the same rows into one step";
  let description = [{
    Several reductions over the same dimensions of tensors of one shape, and the
    elementwise ops and broadcasts between, before and after them, become one
    step, which has a row at a time from its inputs to its results: forward and
    backward passes of batch and layer normalization, a bias gradient together
    with what it sums. Nothing asks for the name of an op: a group grows from a
    reduction for as long as no path leads out of it and back. What could join if
    it were written otherwise is: a softmax as its maximum, its sum and maps, a
    reduction of all elements as one of each row and a total over all rows, an
    inlined reduction as one with a loop. So a loss, its gradient and the count of
    right rows are one step. Where steps run side by side and others wait for the
    rows, totals are another step, for which those do not wait.

    Only where it saves a step, where the rows are enough for the machine or a
    launch for each phase pays, and on a CPU where a row is contiguous.
  }];
  let options = [Option<"target", "target", "std::string", /*default=*/"\"cuda\"",
                        "For whose machine: cuda, cpu">];
  let statistics = [Statistic<"numSteps", "steps", "Steps made">];
  let dependentDialects = ["::mlir::mnistc::MnistDialect",
                           "::mlir::mnistc::PlanDialect"];
}

def JoinPools : Pass<"plan-join-pools", "::mlir::func::FuncOp"> {
  let summary = "Pool what a step computes before it is stored";
  let description = [{
    Pools of one value with the same windows, a maximum and the indices of the
    maxima, become one step. Where a kernel computes a convolution, and what follows element
    by element, so that whole windows are in a block's registers or shared
    memory, the pools join that step too: its result goes to memory only if
    other steps read it. Only windows next to each other, without padding, and
    only where a separate step is expected to take longer.
  }];
  let statistics = [Statistic<"numJoined", "joined", "Steps joined with others">];
  let dependentDialects = ["::mlir::mnistc::PlanDialect"];
}

def JoinUnpools : Pass<"plan-join-unpools", "::mlir::func::FuncOp"> {
  let summary = "Read the gradient of a pool where it is needed";
  let description = [{
    A `max_unpool` joins the steps that read its result, where all are gradients of
    convolutions whose kernels can: they load a value and an
    index for each window of the pool instead of a gradient for each element,
    and none of these is stored. It is marked `plan.inline`. Of a filter's gradient with few weights
    only where the windows have few enough rows for a thread's columns.
  }];
  let statistics = [Statistic<"numJoined", "joined", "Steps joined with others">];
  let dependentDialects = ["::mlir::mnistc::PlanDialect"];
}

def JoinMaps : Pass<"plan-join-maps", "::mlir::func::FuncOp"> {
  let summary = "Compute maps where gradients of filters read them";
  let description = [{
    A map that only the gradient of a filter with few weights reads, as the
    gradient of the output, is computed in that step: its kernel loads each
    element once. So is the gradient of an average pool whose windows are next to
    each other, which becomes a map. The bias's gradient, if it is of the same step,
    reads the same.
  }];
  let statistics = [Statistic<"numJoined", "joined", "Maps joined by gradients">];
  let dependentDialects = ["::mlir::mnistc::PlanDialect"];
}

def JoinUpdates : Pass<"plan-join-updates", "::mlir::func::FuncOp"> {
  let summary = "Compute new values of parameters with their gradients";
  let description = [{
    Steps that compute new values of parameters, element by element, from the
    result of a gradient that a kernel of ours computes join its step, which
    then has several results: of momentum the velocity and the parameter, of Adam
    both moments and the parameter. The gradient is only stored if others read it. Steps
    of single numbers that updates need, such as the learning rate, move before it.
    Only the last gradients of a plan: an update in the middle runs beside other
    steps. And only where the gradient need not wait for another step that reads the
    parameter, and no update would be left to run alone at the end. On a GPU, of
    parameters of up to 262,144 elements; on a CPU of none.
  }];
  let statistics = [Statistic<"numJoined", "joined", "Gradients joined by updates">];
  let dependentDialects = ["::mlir::mnistc::PlanDialect"];
}

def JoinReaders : Pass<"plan-join-readers", "::mlir::func::FuncOp"> {
  let summary = "Compute maps with the contractions whose results they read";
  let description = [{
    A step without loops of its own that reads the result of a product, a
    convolution or a gradient of one, which a kernel of ours computes and others
    read too, joins its step, which then has several results: what a linear layer
    gives to gelu, and what gelu makes of it. Not a step that draws random numbers,
    gives a new value of a parameter, or waits for what is computed later. On a GPU,
    where it saves a launch.
  }];
  let statistics = [Statistic<"numJoined", "joined", "Maps computed with a contraction">];
  let dependentDialects = ["::mlir::mnistc::PlanDialect"];
}

def JoinBiases : Pass<"plan-join-biases", "::mlir::func::FuncOp"> {
  let summary = "Compute a bias's gradient with that of its filter";
  let description = [{
    The sum over all but the channels of a tensor joins the step of a gradient of a
    filter that reads the same tensor, where its weights are few: that kernel
    reads each element once, and sums it on the way. The step then has two
    results, and what follows each of the two. Where the filter's gradient reads the
    windows of a pool, so does the sum. Not where the filter has one weight a
    channel.
  }];
  let statistics = [Statistic<"numJoined", "joined", "Steps joined with others">];
  let dependentDialects = ["::mlir::mnistc::PlanDialect"];
}

def RoundResults : Pass<"plan-round-results", "::mlir::func::FuncOp"> {
  let summary = "Store large results in bf16 where generated steps read them";
  let description = [{
    In bf16, what steps of large tensors take is the time to move them. A result of so
    many elements that only generated steps read is stored in two bytes an element: by
    a map, a row step, or a product or convolution, with its pools, for maps,
    reductions, pools, row steps, what comes after a product or convolution, images
    that a convolution or a gradient of one reads, and operands of products in bf16.
    Kernels load the last two as they are; the others cast what they read: everything is
    computed in f32. A library's product of rounded operands is stored so, too, and a
    bias that it would add is added by all that read it. A step that rounded such a
    result for a library is not needed any more, and a step that gives it to a library
    and to others stores it once. What is summed, what an update reads, and what the
    function returns is as it was.
  }];
  let options = [
    Option<"from", "from", "int64_t", "0",
           "The elements of a tensor from which on it pays">];
  let dependentDialects = ["::mlir::mnistc::MnistDialect"];
  let statistics = [Statistic<"numRounded", "rounded", "Results stored in bf16">];
}

def FormSteps : Pass<"plan-form-steps", "::mlir::func::FuncOp"> {
  let summary = "Cut a function into steps";
  let description = [{
    Fusion: what belongs together becomes one step. An elementwise op joins the
    step that computes its operand when nothing else needs that result
    (epilogue), and a step is joined by the elementwise and indexing ops that
    feed only it (prologue), unless they would be recomputed many times: a
    convolution reads its operands many times, an overlapping pool too. Reshapes
    cost nothing and never make a separate step. Numbers on their own, such as
    a learning rate, are computed where they are read; but where random numbers
    are drawn the place in a table that they all are read at is computed once,
    so that the step's number, which it is made of, may change before the last
    of them is read.

    Every result of the function becomes the result of its own step.
  }];
  let options = [
    Option<"fuse", "fuse", "bool", "true",
           "Join ops; otherwise each op is a step">,
    Option<"epilogues", "epilogues", "std::string", "\"any\"",
           "What may follow an op with its own loops: any or none">,
    Option<"maxRecompute", "max-recompute", "double", "-1",
           "How often an expensive element may be computed for one use (-1: as "
           "the machine likes it)">];
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
    For each step, goes through what the target's machine prefers
    (lib/IR/Plan/Machine.cpp), takes the first way that can compute the step
    and is profitable: a library, or generated code, on the tensor cores that
    the precision allows; generated code without them otherwise. What a library
    cannot fuse becomes a separate step. With `prefer` the first way of that
    kind is taken wherever it can compute the step, profitable or not, which is
    how choices are measured. Before all that come the choices of
    a file that `mnistc --tune` wrote, for contractions of the sizes in it. The
    module remembers the options: `plan.target`, `plan.libraries`,
    `plan.precision`, `plan.prefer` where there is one, and the GPU of a file
    that decided something.
  }];
  let options = [
    Option<"target", "target", "std::string", "\"cuda\"", "cuda or cpu">,
    Option<"libraries", "libraries", "std::string", "\"all\"",
           "Libraries that may be used: all, none or a list such as "
           "cudnn+cublas">,
    Option<"precision", "precision", "std::string", "\"fp32\"",
           "How exact products of f32 are: strict (FMA units only), fp32 (FMA "
           "units, or tensor cores as exact), tf32 or bf16">,
    Option<"prefer", "prefer", "std::string", "",
           "What is chosen wherever it can compute a product, profitable or "
           "not: libraries, tensor-cores or fma">,
    Option<"tuned", "tuned", "std::string", "",
           "A file of choices that were measured, which come first">,
    Option<"candidate", "candidate", "int64_t", "-1",
           "Which candidate each contraction takes, to be measured (-1: what "
           "should be fastest)">];
  let statistics = [
    Statistic<"numTuned", "tuned-steps", "Steps that a file decides">,
    Statistic<"numTensorCores", "tensor-cores",
              "Steps computed on tensor cores">,
    Statistic<"numLibrary", "library", "Steps computed by a library">,
    Statistic<"numSplit", "split", "Steps made by splitting another">];
  let dependentDialects = ["::mlir::mnistc::MnistDialect",
                           "::mlir::mnistc::PlanDialect"];
}

def ChooseSchedules : Pass<"plan-choose-schedules", "::mlir::ModuleOp"> {
  let summary = "Decide how each contraction's kernel computes it";
  let description = [{
    Gives each generated kernel around a contraction the schedule that is fastest
    by the kernels' models of the machine
    (runtime/include/mnistrt/cuda/kernels/schedule_choice.cuh): a way, such as a
    product in tiles or columns, and its sizes. What multiplies is decided
    before; on FMA units some convolutions are faster all the same. A schedule
    that a step has already is left as it is. Only for targets whose kernels obey
    schedules: cuda.
  }];
  let statistics = [Statistic<"numChosen", "chosen", "Schedules chosen">];
  let dependentDialects = ["::mlir::mnistc::PlanDialect"];
}

def FuseHorizontally : Pass<"plan-fuse-horizontally", "::mlir::func::FuncOp"> {
  let summary = "Launch pointwise steps together (horizontal fusion)";
  let description = [{
    Two pointwise steps that are independent, or of which one reads the other's
    results element for element, may run in one launch: all updates of an
    optimizer are one step. The fused step replaces the last of its group, where
    no step in between needs a result of the group or updates a parameter that
    the group still reads. Results with equally many elements that have an
    operand or value of as many in common share a loop; the others are segments,
    of which neither needs another.

    A step with results of one element may move up to a group that it needs
    nothing after: what steps share of an optimizer's numbers is computed where
    the count of steps is. Such steps also join a row step that has totals or one
    row: metrics are computed where the loss is summed.

    A step of the group reads a parameter that another one updates element for
    element or not at all: threads have no order. Where steps will run
    concurrently, a step that others depend on is not fused if it would then
    wait for more than its own operands, and none if it would then wait for more
    sums over ranks than it needs. Nor are two if the plan would end later then
    by more than a launch: the update of a large matrix runs beside the rest of
    the backward pass, not after it.
  }];
  let options = [
    Option<"concurrent", "concurrent", "bool", "false",
           "Steps will run concurrently">,
    Option<"maxOperands", "max-operands", "int64_t", "500",
           "Most inputs and results of the steps of a launch, in all: they are "
           "pointers in a kernel's 4096 bytes of arguments">];
  let statistics = [Statistic<"numFused", "fused", "Steps fused into others">];
  let dependentDialects = ["::mlir::mnistc::PlanDialect"];
}

def RecomputeElements : Pass<"plan-recompute-elements", "::mlir::func::FuncOp"> {
  let summary = "Compute elements again instead of keeping them for the backward pass";
  let description = [{
    What an activation or a normalization makes of each element on its way, its
    gradient needs again. Where all of that is computed from one tensor that is kept
    anyway, or several such values are, masks among them, the backward pass computes
    them from that tensor: arithmetic that hides behind one load instead of a store
    and a load each. The mask of a relu whose result a product reads is computed
    from what the relu is made of, where a number is that is read with it.
    Only of large tensors (`recomputedFrom` of the machine), and larger ones
    where functions such as exp or erf are computed again of what is normalized
    (`functionsFrom`): its gradient has several sums, and computes them for each.
    Values are those of before.
  }];
  let options = [
    Option<"from", "from", "int64_t", "0",
           "The elements of a tensor from which on it pays">,
    Option<"functionsFrom", "functions-from", "int64_t", "0",
           "The same where exp, erf and the like of what is normalized are">];
  let statistics = [
    Statistic<"numRecomputed", "recomputed", "Values that are computed again">];
  let dependentDialects = ["::mlir::mnistc::MnistDialect"];
}

def FormChains : Pass<"plan-form-chains", "::mlir::func::FuncOp"> {
  let summary = "Run small steps row by row in one launch";
  let description = [{
    Steps of which each computes row i of its results from row i of what the ones
    before it made become the links of one step, a chain: the last layers of a
    network, its loss, and the gradients of both, or an attention of few tokens. A
    row is one of equal parts of a tensor: as many as its first dimension has, or
    as a product in the chain has matrices, such as the heads of all images. Of the
    numbers of rows that the links have alone, the chain has the one with which it
    is longest, of several the largest. A block has some rows and runs all links on
    them; each reads the weights of products whole, which pays where these are
    small. A map that a link reads by rows, such as a transpose of the values of
    an attention, is a link, too, if the chain reads all that it reads and who
    else reads its result waits for the chain; with the chain's first map it is
    one. Links that do not wait for each other follow each other, what has a root
    as late as what reads it lets it: threads wait for the first of them only.
    Only where launches cost as much as small steps do, and only on generated
    code. What multiplies in a link of more than four rows, or of several products,
    is the tensor cores where the plan's precision allows these, whatever was
    chosen before; else the FMA units.

    Where rows are matrices that tensor cores multiply, a block has one, and holds
    in shared memory what links make for each other and what products read, if
    that is at most 67 KiB; what only links read then is no result of the chain. A
    link that reshapes, transposes and concatenates what others make, and no more,
    need not do so within rows: it is computed in the order of what it reads. No
    link reads its result.

    A link updates no parameter, which other blocks may still read, and what a
    chain makes takes no operand's place in memory.
  }];
  let statistics = [Statistic<"numLinks", "links", "Steps that became links">];
  let dependentDialects = ["::mlir::mnistc::PlanDialect"];
}

def OrderSteps : Pass<"plan-order-steps", "::mlir::func::FuncOp"> {
  let summary = "Put steps in the order in which they could begin";
  let description = [{
    The steps of a stream run in the order of the plan: one that could have begun
    long ago would wait for one that could not. This puts steps in the order in
    which they could begin, by the machine's times, if each waited only for what
    it reads; without times they stay.

    Collectives have one order on all ranks, that in which they could begin. What
    the first one needs comes first, then what the next one needs besides, and so
    on, of what could begin together the critical step first. What no collective
    needs, and needs none, comes before the collectives that could begin later; what
    needs one comes last.
  }];
  let options = [
    Option<"early", "early", "bool", "true",
           "What no collective needs, and needs none, does not come last">];
  let statistics = [
    Statistic<"numMoved", "moved", "Steps in another place than before">];
}

def FormBuckets : Pass<"plan-form-buckets", "::mlir::func::FuncOp"> {
  let summary = "Add up several tensors over the ranks in one call";
  let description = [{
    A collective takes long to start, and no longer for many small tensors than
    for a large one, but it has to wait for all of them. Steps that are one
    `mnist.all_reduce` each are joined, neighbours in the order of the plan, so
    that the last one ends as early as possible by the machine's times: what comes
    after a bucket begins when its operands are there (`plan-assign-streams`), and
    takes as long as the longest chain of its steps, or as all of them one after the
    other, and a part of the largest one longer, whose blocks wait while a collective
    has some multiprocessors; one collective runs at a time, and all but the last one
    beside other steps. A machine without times runs them one after the other, and
    has one bucket.

    A bucket is a step with several results. Its operands are copied where others
    read them too, since it works in place (`plan-assign-memory`).
  }];
  let statistics = [
    Statistic<"numBuckets", "buckets", "Buckets of several tensors">,
    Statistic<"numCopied", "copied", "Operands that are copied">];
  let dependentDialects = ["::mlir::mnistc::MnistDialect",
                           "::mlir::mnistc::PlanDialect"];
}

def OrderUpdates : Pass<"plan-order-updates", "::mlir::func::FuncOp"> {
  let summary = "Read old values of parameters before new ones are written";
  let description = [{
    A step that computes the new value of a parameter writes it in place. Steps
    move, as little as possible, so that each reads the old value before. Where
    they need each other's parameters (the gradient of a product of two), or a
    step reads a parameter at other elements than it writes, the new value gets
    separate memory and is copied at the end.
  }];
  let statistics = [
    Statistic<"numMoved", "moved", "Steps that another waited for">,
    Statistic<"numCopied", "copied", "New values that are copied">];
  let dependentDialects = ["::mlir::mnistc::MnistDialect",
                           "::mlir::mnistc::PlanDialect"];
}

def AssignMemory : Pass<"plan-assign-memory", "::mlir::ModuleOp"> {
  let summary = "Give every value an address";
  let description = [{
    Values that are never alive at the same time may share memory. An input is
    alive from the start to its last use, a result of the function to the end. A
    step may overwrite an operand that is not read later, if the thread that writes an
    element is the only one that reads it: of a row step not what all threads of
    a row read, though they begin to load it before the result is known: a load
    may still be under way then. Where steps will run concurrently, lifetimes overlap
    if they do so in any order that the dependencies allow, so that no step waits
    for memory. Two orders are tried, plan order and by size, each value at the
    lowest free address; the smaller arena wins.

    Parameters are at the start of the arena, at the same address for all
    functions; those that are initialized with zeros come last. A step that
    computes the new value of a parameter writes it there.

    What a bucket adds up over ranks is adjacent, and its sums take its place.

    On a machine where the next batch is copied while a plan runs, the inputs of
    a plan that takes labels and counts batches follow the parameters, and share
    memory with nothing: `plan.prefetches`.

    Constants are shared by all functions of the module; equal ones are stored
    once. GPU libraries get scratch memory: for a convolution five times the
    bytes of its tensors, enough for FFT algorithms.
  }];
  let options = [
    Option<"alignment", "alignment", "int64_t", "256",
           "Every address is a multiple of this many bytes">,
    Option<"reuse", "reuse", "bool", "true",
           "Give a dead value's memory to a later one">,
    Option<"concurrent", "concurrent", "bool", "false",
           "Steps will run concurrently">,
    Option<"workspace", "workspace", "int64_t", "1073741824",
           "Scratch memory for libraries of the GPU: at most so many bytes">];
  let dependentDialects = ["::mlir::mnistc::PlanDialect"];
}

def AssignStreams : Pass<"plan-assign-streams", "::mlir::func::FuncOp"> {
  let summary = "Run steps concurrently";
  let description = [{
    Small steps leave most of a GPU idle. Steps without a data dependency may run
    on separate streams: each step says its stream, and for which steps of other
    streams it waits. The critical path, by an estimate of what each step takes,
    stays on one stream; other steps go to the stream that is free first.
    Collectives have a stream of their own: how long one waits for other ranks is
    not known, and what follows it on a stream waits as long. What comes after one in
    the plan waits for the steps whose results it adds up, unless it could begin
    together with the last of these: so the collective begins early, and runs beside
    the rest. A step says that others run beside it where those of other streams that
    neither wait for it nor it for them take longer than it does.

    Requires addresses: two values that use the same memory in turn are not
    written concurrently. Only a parameter that a step packs, and reads for nothing
    else, may be written while that step runs: the runtime sees to it that the
    packing has ended.
  }];
  let options = [Option<"maxStreams", "max-streams", "int64_t", "4",
                        "Most streams">];
  let statistics = [Statistic<"numStreams", "streams", "Streams in use">];
}

def CheckSteps : Pass<"plan-check-steps", "::mlir::ModuleOp"> {
  let summary = "Prove that a plan may be run";
  let description = [{
    Once addresses exist, order is memory. Checks that everything is in a step,
    decided, placed, and what the target can compute; that no two values that are
    alive together share a byte, nor two constants or parameters; that parameters
    lie where their globals do, apart from all else, and that no step reads an old
    value after another has written the new one; that where the next batch is
    copied meanwhile, it is known which one that is, and no step writes to the
    inputs' memory; that of two steps where one writes bytes that the other uses,
    unless to pack a filter, one waits for the other. Code generation relies on
    all of it. Runs last, always, and on a plan that is read from a text.
  }];
  let options = [Option<"alignment", "alignment", "int64_t", "256",
                        "What every address must be a multiple of">];
}

#endif // MNISTC_PASSES_PLANPASSES_TD
