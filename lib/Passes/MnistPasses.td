//===- MnistPasses.td - passes on the model ----------------*- tablegen -*-===//

#ifndef MNISTC_PASSES_MNISTPASSES_TD
#define MNISTC_PASSES_MNISTPASSES_TD

include "mlir/Pass/PassBase.td"

def FreezeParameters : Pass<"mnist-freeze-parameters", "::mlir::ModuleOp"> {
  let summary = "Replace loads of parameters by constants";
  let description = [{
    Every `ml_program.global_load` becomes an `mnist.constant` of the global's
    value, and the global goes. One with a role (`mnist.role`), which training
    changes, stays.
  }];
  let dependentDialects = ["::mlir::mnistc::MnistDialect"];
}

def DropDropout : Pass<"mnist-drop-dropout", "::mlir::func::FuncOp"> {
  let summary = "Replace dropout by its input";
  let description = [{
    For inference, where dropout does nothing.
  }];
  let statistics = [Statistic<"numDropped", "num-dropped", "dropouts dropped">];
}

def FoldBatchNorm : Pass<"mnist-fold-batch-norm", "::mlir::func::FuncOp"> {
  let summary = "Fold scales and shifts by channel into constant weights";
  let description = [{
    After a `conv`, `conv_input_grad` or `matmul` with constant weights: a chain
    of `batch_norm` and of `add`, `sub`, `mul` and `div` with constants that
    depend only on the channel, each the only user of the one before. The
    weights are scaled, one shift remains. A single shift stays as it is.

    Rounding changes: the weights are rounded after the scale.
  }];
  let dependentDialects = ["::mlir::mnistc::MnistDialect"];
  let statistics = [Statistic<"numFolded", "num-folded", "ops folded">];
}

def ExpandBatchNorm : Pass<"mnist-expand-batch-norm", "::mlir::func::FuncOp"> {
  let summary = "Replace batch normalization by arithmetic";
  let description = [{
    y = x * s + t with s = scale / sqrt(variance + epsilon), t = bias - mean * s,
    one number for each channel, repeated along the other dimensions.
  }];
  let dependentDialects = ["::mlir::mnistc::MnistDialect"];
  let statistics = [Statistic<"numExpanded", "num-expanded",
                              "normalizations expanded">];
}

def ChooseLayout : Pass<"mnist-choose-layout", "::mlir::func::FuncOp"> {
  let summary = "Give all images one layout";
  let description = [{
    Flips the ops that have another layout, transposes their images and filters
    before and their results after. Transposes of constants become constants;
    the rest is left to `--mnist-push-transposes`.

    With `layout=auto` the layout is `prefer`, the one that the implementations
    to come like better, unless its transposes eat up what it gains. For each
    layout the function is tried: flipped, with its transposes pushed. A
    transpose that is left costs its bytes twice, once read and once written.
    The preferred layout is taken to save as much time as it takes to move half of
    the images, read and written once by each op that has a layout, but of
    convolutions and their gradients `gain` times as many bytes as they read and
    write. So the other layout is chosen if

        bytes(transposes, preferred) - bytes(transposes, other)
            > gain * bytes(images of convolutions) + bytes(other images) / 2
  }];
  let options = [
    Option<"layout", "layout", "std::string", /*default=*/"\"auto\"",
           "auto, nchw or nhwc">,
    Option<"prefer", "prefer", "std::string", /*default=*/"\"nhwc\"",
           "The layout that auto takes where transposes do not decide">,
    Option<"gain", "gain", "double", "0.5",
           "How many times the bytes of a convolution's images that layout saves">,
  ];
  let dependentDialects = ["::mlir::mnistc::MnistDialect"];
  let statistics = [Statistic<"numFlipped", "num-flipped", "ops flipped">];
}

def PushTransposes : Pass<"mnist-push-transposes", "::mlir::func::FuncOp"> {
  let summary = "Move transposes into weights and cancel them";
  let description = [{
    Elementwise ops, `concat`, `pad`, `slice`, `softmax` and their like that are
    connected form a region. A region is computed in another order of its
    dimensions where that leaves fewer bytes to transpose at its border, in no
    more transposes. Transposes go into constants, into broadcasts, after
    reductions, into the flags of `matmul`, also what one of several dimensions
    does to the matrices if elements that are adjacent in memory stay so, and,
    through the reshape that flattens an image, into the rows of a constant
    matrix.

    A transpose goes past reshapes, slices, elementwise ops with a bias, and
    products of flat rows with a matrix, to the transposes that follow, where
    that leaves fewer. So the projections of an attention have their rows in
    the order of what is around it.

    A gradient of a filter whose image has one channel, and so both layouts, takes
    the layout that its other image was transposed from.
  }];
  let dependentDialects = ["::mlir::mnistc::MnistDialect"];
  let statistics = [Statistic<"numRemoved", "num-removed",
                              "transposes removed">];
}

def ConvToMatmul : Pass<"mnist-conv-to-matmul", "::mlir::func::FuncOp"> {
  let summary = "Compute windows of whole images as matrix products";
  let description = [{
    A `conv` of one group and without padding whose windows are the whole image,
    and a `conv_input_grad` that gives such an image (a transposed convolution),
    become a `matmul` of flat images and flat filters, so that their gradients
    are products, too.
  }];
  let dependentDialects = ["::mlir::mnistc::MnistDialect"];
  let statistics = [Statistic<"numReplaced", "num-replaced",
                              "convolutions replaced">];
}

def JoinInputs : Pass<"mnist-join-inputs", "::mlir::func::FuncOp"> {
  let summary = "Multiply several matrices with the same weights at once";
  let description = [{
    Products of matrices with one parameter or constant, such as those of a
    recurrent cell with the elements of a sequence, become one product of these
    matrices one below another, of which each is a part; if all add the same bias,
    so does the one. Only where there are `fewest` of them or more, and none needs
    what another one gives.

    Large inputs stay as they are: they are copied below each other, while their
    products leave little idle.
  }];
  let options = [
    Option<"fewest", "fewest", "int64_t", /*default=*/"2",
           "Products with the same weights">,
    Option<"inputs", "inputs", "int64_t",
           /*default=*/"std::numeric_limits<int64_t>::max()",
           "Elements of the joined inputs, at most">,
  ];
  let dependentDialects = ["::mlir::mnistc::MnistDialect"];
  let statistics = [Statistic<"numJoined", "num-joined", "products joined">];
}

def JoinProducts : Pass<"mnist-join-products", "::mlir::func::FuncOp"> {
  let summary = "Multiply a matrix with several weights at once";
  let description = [{
    Products of one matrix with parameters or constants, such as queries, keys
    and values of one sequence, become one product with all of their columns, of
    which each is a part. If all of them add a bias, so does the one. In the
    backward pass the gradients of what they read are one product, too.

    Weights whose columns are no multiple of four stay, since parts would begin
    between those that kernels read at once; and large ones, which are copied
    side by side, while their products leave little idle.
  }];
  let options = [
    Option<"weights", "weights", "int64_t",
           /*default=*/"std::numeric_limits<int64_t>::max()",
           "Elements of the joined weights, at most">,
  ];
  let dependentDialects = ["::mlir::mnistc::MnistDialect"];
  let statistics = [Statistic<"numJoined", "num-joined", "products joined">];
}

def FoldConstants : Pass<"mnist-fold-constants", "::mlir::func::FuncOp"> {
  let summary = "Compute what depends only on constants";
  let description = [{
    Elementwise and indexing ops, reductions and products; ops with windows
    stay. `broadcast` and `iota` stay too where something else needs them, for
    they cost nothing at run time and space here; for the same reason a result
    larger than its sources must be small.
  }];
  let options = [
    Option<"maxElements", "max-elements", "int64_t", /*default=*/"16777216",
           "The most elements that a result may have; 64 times as many may be "
           "multiplied or read for it">,
  ];
  let dependentDialects = ["::mlir::mnistc::MnistDialect"];
  let statistics = [Statistic<"numFolded", "num-folded", "ops computed">];
}

def JoinTerms : Pass<"mnist-join-terms", "::mlir::func::FuncOp"> {
  let summary = "Compute sums of products as one product";
  let description = [{
    A sum of `fewest` products of matrices or more, with the same flags, becomes
    one product of their operands one after another, if these have at most `most`
    elements. The gradient of weights that are used many times, as those of a
    recurrent cell are, is such a sum. Of few terms each is there before the next,
    and is added while others are computed.
  }];
  let options = [
    Option<"fewest", "fewest", "int64_t", /*default=*/"2", "Products of a sum">,
    Option<"most", "most", "int64_t",
           /*default=*/"std::numeric_limits<int64_t>::max()",
           "Elements of the operands of a sum's products, at most">,
  ];
  let dependentDialects = ["::mlir::mnistc::MnistDialect"];
  let statistics = [Statistic<"numJoined", "num-joined", "products joined">];
}

def SplitSums : Pass<"mnist-split-sums", "::mlir::func::FuncOp"> {
  let summary = "Sum the terms of a sum that is scaled by other sums";
  let description = [{
    `reduce_sum(a * s + b)`, where `s` is repeated along what is summed and
    takes a sum over the same dimensions itself, becomes
    `s * reduce_sum(a) + reduce_sum(b)`: all sums can be computed in one loop. The
    backward pass of a normalization has such sums.
  }];
  let dependentDialects = ["::mlir::mnistc::MnistDialect"];
  let statistics = [Statistic<"numSplit", "num-split", "sums split">];
}

def RoundOperands : Pass<"mnist-round-operands", "::mlir::func::FuncOp"> {
  let summary = "Have large products and convolutions read bf16 from memory";
  let description = [{
    In bf16, tensor cores may round what they multiply to bf16. Where the machine
    prefers a library for operands that are rounded in memory already
    (lib/IR/Plan/Machine.h: `rounded`), each operand is cast once, whoever reads it:
    the step that makes it stores two bytes instead of four, or besides. Sums are
    in f32. Constants stay as they are, and what reads them.

    Convolutions and their gradients get the layout nhwc, between transposes, and
    round their results: libraries compute all of bf16, channels last. Transposes
    are pushed then, if they may be, so that what is between two of them stays in
    that layout.
  }];
  let options = [
    Option<"target", "target", "std::string", "\"cuda\"", "cuda or cpu">,
    Option<"libraries", "libraries", "std::string", "\"all\"",
           "Libraries that may be used: all, none or a list such as "
           "cudnn+cublas">,
    Option<"push", "push-transposes", "bool", "true", "Push transposes">];
  let dependentDialects = ["::mlir::mnistc::MnistDialect"];
  let statistics = [Statistic<"numRounded", "rounded", "products and convolutions of rounded operands">];
}

def IndexPools : Pass<"mnist-index-pools", "::mlir::func::FuncOp"> {
  let summary = "Keep where a pool's maxima are, for its gradient";
  let description = [{
    The gradient of a `max_pool` whose windows are next to each other reads its
    operand again to find the maxima. It becomes a `max_unpool`, which reads the
    indices that `arg_max_pool` gives in the forward pass, a byte for each window. What follows and is 0 wherever
    the gradient is (the gradient of a relu before the pool) is computed for the
    maxima only, where the pool's operand is its result. So the operand need not
    be kept.
  }];
  let dependentDialects = ["::mlir::mnistc::MnistDialect"];
  let statistics = [Statistic<"numIndexed", "num-indexed", "gradients that read indices">];
}

def MaskByDropout : Pass<"mnist-mask-by-dropout", "::mlir::func::FuncOp"> {
  let summary = "Compare a dropout's result for the gradient of a relu before it";
  let description = [{
    `y > 0 ? (keep ? g * s : 0) : 0`, the gradient of a relu with a dropout
    behind it, becomes `d > 0 ? g * s : 0`, where `d = (keep ? y : 0) * s` is
    what the dropout gave: of the same bits, since `s` is 1 or more. The gradient
    draws no random numbers, and `y` need not be kept for it. A pool may be
    between (`mnist-index-pools`), or another shape.
  }];
  let dependentDialects = ["::mlir::mnistc::MnistDialect"];
  let statistics = [Statistic<"numMasked", "num-masked", "gradients masked by a dropout's result">];
}

#endif // MNISTC_PASSES_MNISTPASSES_TD
