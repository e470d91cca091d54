//===- PlanOps.td - how a model runs -----------------------*- tablegen -*-===//
//
// A plan is the same SSA program, cut into steps that have an implementation
// and addresses.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_IR_PLAN_PLANOPS_TD
#define MNISTC_IR_PLAN_PLANOPS_TD

include "lib/IR/Mnist/MnistTypes.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Plan_Dialect : Dialect {
  let name = "plan";
  let cppNamespace = "::mlir::mnistc";
  let summary = "How a model runs.";
  let description = [{
    Two operations, a step and its yield, and addresses. Nothing of the model is
    restated. A planned function is a sequence of steps in the order in which
    they run; outside of them there are only constants. Addresses are bytes:

    - `plan.offset` on an argument of the function: the input's address in
      the arena;
    - `at [...]` on a step: the addresses of its results in the arena. What
      the function returns is a result of a step or an argument;
    - `plan.offset` on an `mnist.constant` outside of steps: its address
      in the constants, which all functions of a module share;
    - `plan.arena_bytes` and `plan.workspace_bytes` on the function: the size of
      the arena, and of the scratch memory for libraries that follows it,
      once for each stream; `plan.constant_bytes` on the module.

    - `plan.prefetches` on a function that takes batches: while it runs, the next
      batch may be copied. Nothing but its inputs is in their memory, which the
      runtime has twice, and it counts batches: `mn.batch` becomes one more.

    Steps may run concurrently. Those of a stream run one after another:

    - `plan.stream` on a step: the number of its stream, 0 by default;
    - `plan.after` on a step: numbers, from 0 and ascending, of steps before it,
      on other streams, for which it waits;
    - `plan.beside` on a step: steps of other streams run beside it. Blocks of a
      kernel may be there before the one that they wait for has ended, and have
      registers and shared memory then, which these steps could have. So most
      kernels of such a step let the next one of their stream start only when the
      last that they load is on its way, where others do so from the beginning;
      and a row step's blocks begin where there is room, where otherwise each has
      a multiprocessor if there are as many.

    Filters of `#plan.patches` that are parameters, or made of these, are packed on
    a stream of their own from the beginning of the plan on. A step that writes
    over such a parameter waits for its packing, which no attribute says, and not
    for a step that reads nothing but what is packed.

    A plan that trains has parameters, which outlive a run. An argument with
    `mnist.parameter = "w"` is the value that the `ml_program.global` of that
    name has before, a result with this attribute the one that it has after. They
    are at the start of the arena, which the plans of a module share:

    - `plan.offset` on a global: its address, which is that of the arguments
      and results that stand for it; a step that computes its new value writes it in place;
    - `plan.parameter_bytes` on the module: the size of that block, which
      everything else follows. It is part of every `plan.arena_bytes`;
    - `plan.initial_bytes` on the module: globals that do not begin as zeros
      take this many bytes at the start.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
}

def Plan_Impl
    : I32EnumAttr<"Impl", "what computes a step",
                  [I32EnumAttrCase<"undecided", 0>, I32EnumAttrCase<"kernel", 1>,
                   I32EnumAttrCase<"cublas", 2>, I32EnumAttrCase<"cudnn", 3>,
                   I32EnumAttrCase<"onednn", 4>,
                   I32EnumAttrCase<"openblas", 5>, I32EnumAttrCase<"nccl", 6>,
                   I32EnumAttrCase<"mpi", 7>]> {
  let cppNamespace = "::mlir::mnistc";
}

def Plan_Mma
    : I32EnumAttr<"Mma", "what multiplies f32 and adds up in f32",
                  [I32EnumAttrCase<"ffma", 0>, I32EnumAttrCase<"tf32x3", 1>,
                   I32EnumAttrCase<"tf32", 2>, I32EnumAttrCase<"bf16", 3>]> {
  let cppNamespace = "::mlir::mnistc";
}

def Plan_Precision
    : I32EnumAttr<"Precision", "how exact products of f32 are",
                  [I32EnumAttrCase<"strict", 0>, I32EnumAttrCase<"fp32", 1>,
                   I32EnumAttrCase<"tf32", 2>, I32EnumAttrCase<"bf16", 3>]> {
  let cppNamespace = "::mlir::mnistc";
}

def Plan_Way
    : I32EnumAttr<"Way", "a kind of what computes a product",
                  [I32EnumAttrCase<"libraries", 0>,
                   I32EnumAttrCase<"tensorCores", 1, "tensor-cores">,
                   I32EnumAttrCase<"fma", 2>]> {
  let cppNamespace = "::mlir::mnistc";
}

class Plan_ScheduleAttr<string name, string attrMnemonic> : AttrDef<Plan_Dialect, name> {
  let cppNamespace = "::mlir::mnistc";
  let mnemonic = attrMnemonic;
  let assemblyFormat = "`<` struct(params) `>`";
}
class Plan_Number<string what> : DefaultValuedParameter<"int64_t", "1", what>;
def Plan_MmaParameter : EnumParameter<Plan_Mma> {
  let defaultValue = "::mlir::mnistc::Mma::ffma";
}

def Plan_ProductAttr : Plan_ScheduleAttr<"Product", "product"> {
  let summary = "a contraction computed as a product in tiles";
  let description = [{
    `mma` says what multiplies:

    - `ffma`: FMA units, the default;
    - `tf32x3`: tensor cores, each number as the sum of two of tf32, of whose
      four products the smallest is left out: as accurate as f32;
    - `tf32`: tensor cores, numbers rounded to tf32 (11 bits);
    - `bf16`: tensor cores, numbers rounded to bf16 (8 bits).

    Tensors in memory, sums, and all that follows the root are f32 in each case.

    A block computes `tile` results, of m and of n, with so many terms of k at a
    time; it has `warps` along m and n. `split` blocks share the sums of a tile,
    and on tensor cores `slices` of a block, each with as many warps. A
    convolution gathers its windows. Libraries choose these. A kernel has none
    until `plan-choose-schedules`, which may then take another way.
  }];
  let parameters = (ins Plan_MmaParameter:$mma,
                        OptionalParameter<"::mlir::DenseI64ArrayAttr">:$tile,
                        OptionalParameter<"::mlir::DenseI64ArrayAttr">:$warps,
                        Plan_Number<"">:$split, Plan_Number<"">:$slices);
}

def Plan_DotsAttr : Plan_ScheduleAttr<"Dots", "dots"> {
  let summary = "a matrix product of few rows computed as dot products";
  let description = [{
    All threads of a block, of so many `warps`, add up parts of the sums of all
    rows and of `width` columns, on the FMA units; `split` blocks share these
    sums. Of at most four rows.
  }];
  let parameters = (ins Plan_Number<"">:$width, Plan_Number<"">:$warps,
                        Plan_Number<"">:$split);
}

def Plan_DirectAttr : Plan_ScheduleAttr<"Direct", "direct"> {
  let summary = "a convolution computed by threads that have a result each";
  let description = [{
    A thread adds up one result of each of `images`, on the FMA units.
  }];
  let parameters = (ins Plan_Number<"">:$images);
}

def Plan_ColumnsAttr : Plan_ScheduleAttr<"Columns", "columns"> {
  let summary = "a convolution computed by threads that have a column each";
  let description = [{
    A thread has the windows of `height` results below each other, and `width`
    channels of these, on the FMA units; `split` threads of a block share a sum.
    Of few input channels with a pool a thread has the columns of a whole window
    of it, and keeps all pixels that they need.
  }];
  let parameters = (ins Plan_Number<"">:$height, Plan_Number<"">:$width,
                        Plan_Number<"">:$split);
}

def Plan_PatchesAttr : Plan_ScheduleAttr<"Patches", "patches"> {
  let summary = "a convolution computed from shifted patches";
  let description = [{
    A block loads the pixels of 128 windows once for all taps, and computes
    `width` channels of their results on tensor cores; `mma` as in a product.
    `split` blocks share the channels that a sum is made of. The windows follow
    each other, or are two squares of 8 x 8 where that takes fewer blocks. A
    convolution with strides is computed from folded images (space to depth), in
    which strides x strides pixels are one with so many times the channels: where
    strides divide the image, and windows are no shorter and have no gaps.

    With a `height` a block has a strip instead, eight windows wide and so many
    rows high, or all strips of an image side by side where these have no more
    than 32 rows together, and a warpgroup for each 64 of the `width` channels:
    windows are columns of its products, and results leave from registers. In
    tf32 and bf16.

    The gradient of an input reads the operands of a `max_unpool` in the step, a
    value and an index for each window, unless it has a `height`.
  }];
  let parameters = (ins Plan_MmaParameter:$mma, Plan_Number<"">:$height,
                        Plan_Number<"">:$width, Plan_Number<"">:$split);
}

def Plan_WeightsAttr : Plan_ScheduleAttr<"Weights", "weights"> {
  let summary = "the gradient of a filter of few weights, in registers";
  let description = [{
    A thread has the sums of all weights of `channels` output channels, on the
    FMA units; `split` blocks share the pixels. Of a `max_unpool` in the step it
    reads the operands: a value and an index for each window. A step may also
    give the sum over all but the channels of what it reads, of a bias.
  }];
  let parameters = (ins Plan_Number<"">:$channels, Plan_Number<"">:$split);
}

def Plan_BandsAttr : Plan_ScheduleAttr<"Bands", "bands"> {
  let summary = "the gradient of a filter, from bands of rows";
  let description = [{
    A block loads some rows of images once for all taps, and computes the
    gradients of filters between `height` output channels and `width` input
    channels on tensor cores; `mma` as in a product. `split` blocks share the
    rows. With two to four `warpgroups` these multiply a row of some images, both
    operands in shared memory; with none each warp multiplies for itself. Of a
    `max_unpool` in the step it reads the operands.
  }];
  let parameters = (ins Plan_MmaParameter:$mma, Plan_Number<"">:$height,
                        Plan_Number<"">:$width, Plan_Number<"">:$split,
                        DefaultValuedParameter<"int64_t", "0">:$warpgroups);
}

def Plan_Schedule : Attr<CPred<"::mlir::mnistc::isSchedule($_self)">,
                         "a schedule"> {
  let storageType = "::mlir::Attribute";
  let returnType = "::mlir::Attribute";
  let convertFromStorage = "$_self";
}

def StepOp : Op<Plan_Dialect, "step",
                [Pure, IsolatedFromAbove, SingleBlock,
                 DeclareOpInterfaceMethods<OpAsmOpInterface,
                                           ["getAsmResultNames"]>]> {
  let summary = "one entry of the plan";
  let description = [{
    The region says *what* is computed, on tensors; `on` says *by what*; `at`
    says *where* each result lives, as a byte offset into the arena; `schedule`
    says *how* a contraction is computed, as
    `schedule(#plan.patches<mma = tf32x3, width = 32>)`; the kernel obeys. Numbers
    that are 1 need not be said.

    ```mlir
    %h = plan.step "hidden" on kernel at [8192] (%x) {
    ^bb0(%a: tensor<64x128xf32>):
      %0 = mnist.relu %a : tensor<64x128xf32>
      plan.yield %0 : tensor<64x128xf32>
    } : (tensor<64x128xf32>) -> tensor<64x128xf32>
    ```

    A step whose region has steps is a chain, one launch (`plan-form-chains`):
    each of these, its links, computes a row of its results from the same row of
    what the links before it made. The results of all links are the chain's, and
    it alone says where they live.
  }];
  let arguments = (ins StrAttr:$name, Plan_Impl:$impl,
                       OptionalAttr<DenseI64ArrayAttr>:$offsets,
                       OptionalAttr<Plan_Schedule>:$schedule,
                       Variadic<Mnist_StoredTensor>:$inputs);
  let results = (outs Variadic<Mnist_StoredTensor>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $name `on` $impl (`at` $offsets^)? (`schedule` `(` $schedule^ `)`)? `` `(` $inputs `)` $body attr-dict `:`
    functional-type($inputs, $outputs)
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def YieldOp : Op<Plan_Dialect, "yield", [Pure, Terminator, HasParent<"StepOp">]> {
  let summary = "results of a step";
  let arguments = (ins Variadic<Mnist_StoredTensor>:$values);
  let assemblyFormat = "$values attr-dict `:` type($values)";
}

#endif // MNISTC_IR_PLAN_PLANOPS_TD
