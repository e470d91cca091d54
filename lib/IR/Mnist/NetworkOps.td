//===- NetworkOps.td - contractions, windows, normalization --*- tablegen -===//
//
// The ops that have their own kernel or library call.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_IR_MNIST_NETWORKOPS_TD
#define MNISTC_IR_MNIST_NETWORKOPS_TD

include "lib/IR/Mnist/MnistDialect.td"

//===----------------------------------------------------------------------===//
// Contractions
//===----------------------------------------------------------------------===//

// What all contractions answer alike: every element is read many times.
defvar Mnist_ContractionAnswers = [{
  double $cppClass::getReads(unsigned) { return getMultiplyAdds()->count(); }
  bool $cppClass::takesPrologue() { return false; }
  double $cppClass::getFlops() { return 2.0 * getMultiplyAdds()->count(); }
}];

def MatmulOp : Mnist_Op<"matmul", [Differentiable, Root]> {
  let summary = "matrix product, of two matrices or of two equal stacks of them";
  let description = [{
    Rank 2 or 3 on both sides; in rank 3 the first dimension numbers the
    matrices. `transposed` says which operand is stored with its last two
    dimensions exchanged. The product of operands in bf16 is in f32, or rounded
    once it is summed.

    ```mlir
    %y = mnist.matmul %x, %w transposed [false, true]
        : (tensor<64x784xf32>, tensor<128x784xf32>) -> tensor<64x128xf32>
    ```
  }];
  let arguments = (ins Mnist_FactorTensor:$lhs, Mnist_FactorTensor:$rhs,
                       DefaultValuedAttr<DenseBoolArrayAttr, "{false, false}">:$transposed);
  let results = (outs Mnist_FactorTensor:$output);
  let assemblyFormat = [{
    $lhs `,` $rhs (`transposed` $transposed^)? attr-dict `:`
    functional-type(operands, results)
  }];
  let builders = [OpBuilder<(ins "Value":$lhs, "Value":$rhs,
                                 CArg<"bool", "false">:$lhsT,
                                 CArg<"bool", "false">:$rhsT)>];
  let hasVerifier = 1;
  let extraClassDeclaration = SaysOperandUse;
  let extraClassDefinition = [{
    KernelText $cppClass::getKernelText() {
      return {"matmul", {"loadA", "loadB"}};
    }
    ShapeText $cppClass::getShapeText() { return matmulShape(*this); }
    std::optional<MultiplyAdds> $cppClass::getMultiplyAdds() {
      return matmulMultiplyAdds(*this);
    }
    std::optional<Channels> $cppClass::getBiasChannels() {
      return Channels{getType().getShape().back(), 1};
    }
    bool $cppClass::mayGiveLogits() { return true; }
    SmallVector<unsigned> $cppClass::getRowOperands() {
      if (getType().getRank() == 3)
        return {0, 1};
      return getTransposed()[0] ? SmallVector<unsigned>() : SmallVector<unsigned>{0};
    }
  }] # !cast<string>(Mnist_ContractionAnswers);
}

// Convolutions over 1 to 3 spatial dimensions.
//
// | layout | input, output      | filter                  |
// |--------|--------------------|-------------------------|
// | nchw   | N x C x D...       | O x C/groups x K...     |
// | nhwc   | N x D... x C       | O x K... x C/groups     |
//
// `strides` and `dilations` have one number for each spatial dimension, `pads`
// the numbers before each and then those after each, as in ONNX. All tensors are
// of one type, but operands in bf16 may have a result in f32. Sums of bf16 are in
// f32, and rounded where the result is bf16.
defvar Mnist_ConvGeometry = (ins
    Mnist_Layout:$layout, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads,
    DenseI64ArrayAttr:$dilations, I64Attr:$groups);

// `tensors` are input, filter and output, or their gradients.
class Mnist_ConvOp<string mnemonic, string tensors, list<Trait> traits = []>
    : Mnist_Op<mnemonic, traits # [LayoutSensitive, Root]> {
  let hasVerifier = 1;
  code answers = [{
    ShapeText $cppClass::getShapeText() { return convShape(*this, }] # tensors # [{); }
  }] # !cast<string>(Mnist_ContractionAnswers);
  // Of one whose result is an image, made from an image and a filter.
  code imageAnswers = [{
    SmallVector<unsigned> $cppClass::getImageOperands() { return {0}; }
    SmallVector<unsigned> $cppClass::getFilterOperands() { return {1}; }
    bool $cppClass::isFilterResult() { return false; }
    std::optional<Channels> $cppClass::getBiasChannels() {
      return imageChannels(*this);
    }
    bool $cppClass::mayGiveLogits() { return true; }
    SmallVector<unsigned> $cppClass::getRowOperands() { return {}; }
  }] # answers;
}

def ConvOp : Mnist_ConvOp<"conv",
    "getInput(), getFilter(), getOutput()", [Differentiable]> {
  let summary = "convolution";
  let description = [{
    ```mlir
    %y = mnist.conv nchw %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1
        : (tensor<64x1x28x28xf32>, tensor<8x1x5x5xf32>)
       -> tensor<64x8x24x24xf32>
    ```
  }];
  let arguments = !con((ins Mnist_ConvTensor:$input,
                            Mnist_ConvTensor:$filter), Mnist_ConvGeometry);
  let results = (outs Mnist_ConvTensor:$output);
  let assemblyFormat = [{
    $layout $input `,` $filter `strides` $strides `pads` $pads `dilations`
    $dilations `groups` $groups attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = SaysOperandUse;
  let extraClassDefinition = [{
    KernelText $cppClass::getKernelText() {
      return {"conv", {"loadInput", "loadFilter"}};
    }
    std::optional<MultiplyAdds> $cppClass::getMultiplyAdds() {
      return convMultiplyAdds(*this, getFilter(), getOutput());
    }
  }] # imageAnswers;
}

def ConvFilterGradOp : Mnist_ConvOp<"conv_filter_grad",
    "getInput(), getFilterGrad(), getOutputGrad()"> {
  let summary = "the gradient of a convolution with respect to its filter";
  let description = [{
    The attributes are those of the convolution.

    ```mlir
    %dw = mnist.conv_filter_grad nchw %x, %dy strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1
        : (tensor<64x1x28x28xf32>, tensor<64x8x24x24xf32>)
       -> tensor<8x1x5x5xf32>
    ```
  }];
  let arguments = !con((ins Mnist_ConvTensor:$input,
                            Mnist_ConvTensor:$outputGrad), Mnist_ConvGeometry);
  let results = (outs Mnist_ConvTensor:$filterGrad);
  let assemblyFormat = [{
    $layout $input `,` $outputGrad `strides` $strides `pads` $pads `dilations`
    $dilations `groups` $groups attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDefinition = [{
    KernelText $cppClass::getKernelText() {
      return {"convFilterGrad", {"loadInput", "loadOutputGrad"}};
    }
    std::optional<MultiplyAdds> $cppClass::getMultiplyAdds() {
      // A channel's gradients with each weight, summed over all pixels.
      MultiplyAdds work =
          convMultiplyAdds(*this, getFilterGrad(), getOutputGrad());
      std::tie(work.m, work.n, work.k) = std::tuple(work.n, work.k, work.m);
      return work;
    }
    SmallVector<unsigned> $cppClass::getImageOperands() { return {0, 1}; }
    SmallVector<unsigned> $cppClass::getFilterOperands() { return {}; }
    bool $cppClass::isFilterResult() { return true; }
    std::optional<Channels> $cppClass::getBiasChannels() {
      return std::nullopt;
    }
    bool $cppClass::mayGiveLogits() { return false; }
    SmallVector<unsigned> $cppClass::getRowOperands() { return {}; }
  }] # answers;
}

def ConvInputGradOp : Mnist_ConvOp<"conv_input_grad",
    "getInputGrad(), getFilter(), getOutputGrad()", [Differentiable]> {
  let summary = "the gradient of a convolution with respect to its input";
  let description = [{
    The attributes are those of the convolution. ONNX's ConvTranspose is this
    op too.

    ```mlir
    %dx = mnist.conv_input_grad nchw %dy, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1
        : (tensor<64x8x24x24xf32>, tensor<8x1x5x5xf32>)
       -> tensor<64x1x28x28xf32>
    ```
  }];
  let arguments = !con((ins Mnist_ConvTensor:$outputGrad,
                            Mnist_ConvTensor:$filter), Mnist_ConvGeometry);
  let results = (outs Mnist_ConvTensor:$inputGrad);
  let assemblyFormat = [{
    $layout $outputGrad `,` $filter `strides` $strides `pads` $pads `dilations`
    $dilations `groups` $groups attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = SaysOperandUse;
  let extraClassDefinition = [{
    KernelText $cppClass::getKernelText() {
      return {"convInputGrad", {"loadOutputGrad", "loadFilter"}};
    }
    std::optional<MultiplyAdds> $cppClass::getMultiplyAdds() {
      // A pixel's gradients go to the window that it was computed from.
      MultiplyAdds work =
          convMultiplyAdds(*this, getFilter(), getOutputGrad());
      std::swap(work.n, work.k);
      return work;
    }
  }] # imageAnswers;
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

// Pools over 1 to 3 dimensions. The result may have one more element along one
// than the padding allows (ONNX's ceil_mode): what hangs over never counts.
defvar Mnist_PoolGeometry = (ins
    Mnist_Layout:$layout, DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$strides,
    DenseI64ArrayAttr:$pads, DenseI64ArrayAttr:$dilations);

// What all pools answer alike.
defvar Mnist_PoolAnswers = [{
  double $cppClass::getFlops() { return getReads(0); }
  std::optional<MultiplyAdds> $cppClass::getMultiplyAdds() {
    return std::nullopt;
  }
  std::optional<Channels> $cppClass::getBiasChannels() { return std::nullopt; }
  SmallVector<unsigned> $cppClass::getFilterOperands() { return {}; }
  bool $cppClass::isFilterResult() { return false; }
}];

// A pool reads windows of its input; `logits`: whether it may give some.
class Mnist_PoolOp<string mnemonic, string kernel, string result,
                   bit logits = 0, list<Trait> traits = [], string shape = "",
                   bit index = 0>
    : Mnist_Op<mnemonic, traits # [LayoutSensitive, Root, PoolRoot]> {
  let hasVerifier = 1;
  let extraClassDefinition = [{
    KernelText $cppClass::getKernelText() {
      return {"}] # kernel # [{", {"load"}, "", }] # !if(index, "true", "false") # [{};
    }
    ShapeText $cppClass::getShapeText() {
      return poolShape(*this, getInput(), getOutput()}] # shape # [{);
    }
    double $cppClass::getReads(unsigned) {
      return windowReads(*this, getOutput());
    }
    bool $cppClass::takesPrologue() { return true; }
    PoolResult $cppClass::getPoolResult() { return PoolResult::}] # result # [{; }
    ArrayRef<int64_t> $cppClass::getWindow() { return getKernel(); }
    bool $cppClass::isTiled() { return areWindowsAdjacent(*this)}] # !if(index,
      " && getInWindow()", "") # [{; }
    bool $cppClass::mayGiveLogits() { return }] # !if(logits, "true", "false") # [{; }
    SmallVector<unsigned> $cppClass::getRowOperands() { return {}; }
    SmallVector<unsigned> $cppClass::getImageOperands() { return {0}; }
  }] # !cast<string>(Mnist_PoolAnswers);
}

// The gradient of a pool goes from windows to the input: it reads from memory.
class Mnist_PoolGradOp<string mnemonic, string kernel, string loads,
                       string images, string shape,
                       string windows = "getOutputGrad()">
    : Mnist_Op<mnemonic, [LayoutSensitive, Root]> {
  let hasVerifier = 1;
  let extraClassDefinition = [{
    KernelText $cppClass::getKernelText() {
      return {"}] # kernel # [{", {}] # loads # [{}};
    }
    ShapeText $cppClass::getShapeText() {
      return poolShape(*this, }] # shape # [{);
    }
    double $cppClass::getReads(unsigned) {
      return windowReads(*this, }] # windows # [{);
    }
    bool $cppClass::takesPrologue() { return false; }
    bool $cppClass::mayGiveLogits() { return false; }
    SmallVector<unsigned> $cppClass::getRowOperands() { return {}; }
    SmallVector<unsigned> $cppClass::getImageOperands() { return }] # images # [{; }
  }] # !cast<string>(Mnist_PoolAnswers);
}

def ArgMaxPoolOp
    : Mnist_PoolOp<"arg_max_pool", "argMaxPool", "indexOfMaximum",
                   /*logits=*/0, [],
                   ", false, getColumnMajor(), getInWindow()", /*index=*/1> {
  let summary = "where in the input each result of max_pool comes from";
  let description = [{
    The row-major index into the whole input tensor read as nchw, or with the
    spatial dimensions in reverse order where `column_major` is said. Where
    `in_window` is said, it is the row-major index into the window: of windows
    next to each other, without padding or dilations.

    ```mlir
    %i = mnist.arg_max_pool nchw %x kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1]
        : tensor<64x8x24x24xf32> -> tensor<64x8x12x12xi64>
    ```
  }];
  let arguments = !con((ins Mnist_FloatTensor:$input), Mnist_PoolGeometry,
                       (ins UnitAttr:$columnMajor, UnitAttr:$inWindow));
  let results = (outs Mnist_NumberTensor:$output);
  let assemblyFormat = [{
    $layout $input `kernel` $kernel `strides` $strides `pads` $pads `dilations`
    $dilations (`column_major` $columnMajor^)? (`in_window` $inWindow^)? attr-dict `:` type($input) `->`
    type($output)
  }];
}

def AvgPoolOp : Mnist_PoolOp<"avg_pool", "avgPool", "mean", /*logits=*/1,
                             [Differentiable], ", getCountPads()"> {
  let summary = "the mean of each window";
  let description = [{
    The mean is over the elements of the window inside the input, or, where
    `count_pads` is said, also over those in the padding, which are 0.

    ```mlir
    %y = mnist.avg_pool nchw %x kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1]
        : tensor<64x8x24x24xf32> -> tensor<64x8x12x12xf32>
    ```
  }];
  let arguments = !con((ins Mnist_FloatTensor:$input), Mnist_PoolGeometry,
                       (ins UnitAttr:$countPads));
  let results = (outs Mnist_FloatTensor:$output);
  let assemblyFormat = [{
    $layout $input `kernel` $kernel `strides` $strides `pads` $pads `dilations`
    $dilations (`count_pads` $countPads^)? attr-dict `:` type($input) `->`
    type($output)
  }];
  let hasFolder = 1;
}

def AvgPoolGradOp
    : Mnist_PoolGradOp<"avg_pool_grad", "avgPoolGrad", "\"load\"", "{0}",
                       "getInputGrad(), getOutputGrad(), getCountPads()"> {
  let summary = "the gradient of avg_pool";
  let description = [{
    ```mlir
    %dx = mnist.avg_pool_grad nchw %dy kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1]
        : tensor<64x8x12x12xf32> -> tensor<64x8x24x24xf32>
    ```
  }];
  let arguments = !con((ins Mnist_FloatTensor:$outputGrad), Mnist_PoolGeometry,
                       (ins UnitAttr:$countPads));
  let results = (outs Mnist_FloatTensor:$inputGrad);
  let assemblyFormat = [{
    $layout $outputGrad `kernel` $kernel `strides` $strides `pads` $pads
    `dilations` $dilations (`count_pads` $countPads^)? attr-dict `:`
    type($outputGrad) `->` type($inputGrad)
  }];
}

def MaxPoolOp : Mnist_PoolOp<"max_pool", "maxPool", "maximum", /*logits=*/1,
                             [Differentiable]> {
  let summary = "the largest element of each window; the padding never counts";
  let description = [{
    ```mlir
    %y = mnist.max_pool nchw %x kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1]
        : tensor<64x8x24x24xf32> -> tensor<64x8x12x12xf32>
    ```
  }];
  let arguments = !con((ins Mnist_NumberTensor:$input), Mnist_PoolGeometry);
  let results = (outs Mnist_NumberTensor:$output);
  let assemblyFormat = [{
    $layout $input `kernel` $kernel `strides` $strides `pads` $pads `dilations`
    $dilations attr-dict `:` type($input) `->` type($output)
  }];
  let hasFolder = 1;
}

def MaxPoolGradOp
    : Mnist_PoolGradOp<"max_pool_grad", "maxPoolGrad",
                       "\"loadInput\", \"loadOutputGrad\"", "{0, 1}",
                       "getInput(), getOutputGrad()"> {
  let summary = "the gradient of max_pool";
  let description = [{
    It goes to the first largest element of each window.

    ```mlir
    %dx = mnist.max_pool_grad nchw %x, %dy kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1]
        : (tensor<64x8x24x24xf32>, tensor<64x8x12x12xf32>)
       -> tensor<64x8x24x24xf32>
    ```
  }];
  let arguments = !con((ins Mnist_FloatTensor:$input,
                            Mnist_FloatTensor:$outputGrad), Mnist_PoolGeometry);
  let results = (outs Mnist_FloatTensor:$inputGrad);
  let assemblyFormat = [{
    $layout $input `,` $outputGrad `kernel` $kernel `strides` $strides `pads`
    $pads `dilations` $dilations attr-dict `:`
    functional-type(operands, results)
  }];
}

def MaxUnpoolOp
    : Mnist_PoolGradOp<"max_unpool", "maxUnpool", "\"load\", \"loadIndex\"",
                       "{0, 1}", "getOutput(), getInput(), false, false, true",
                       "getInput()"> {
  let summary = "each value where the index into its window says; else 0";
  let description = [{
    The indices are those that `arg_max_pool` gives with `in_window`.

    ```mlir
    %y = mnist.max_unpool nchw %x, %i kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1]
        : (tensor<64x8x12x12xf32>, tensor<64x8x12x12xui8>)
       -> tensor<64x8x24x24xf32>
    ```
  }];
  let arguments = !con((ins Mnist_ConvTensor:$input,
                            Mnist_NumberTensor:$indices), Mnist_PoolGeometry);
  let results = (outs Mnist_ConvTensor:$output);
  let assemblyFormat = [{
    $layout $input `,` $indices `kernel` $kernel `strides` $strides `pads`
    $pads `dilations` $dilations attr-dict `:`
    functional-type(operands, results)
  }];
}

//===----------------------------------------------------------------------===//
// Normalization
//===----------------------------------------------------------------------===//

def BatchNormOp : Mnist_Op<"batch_norm", [
    AllTypesMatch<["input", "output"]>,
    AllTypesMatch<["scale", "bias", "mean", "variance"]>, Differentiable,
    ExpandedTrait]> {
  let summary = "scale (x - mean) / sqrt(variance + epsilon) + bias, by channel";
  let description = [{
    `dim` numbers the channels. Mean and variance are the running statistics;
    `momentum` is how much of them one training step keeps.

    ```mlir
    %y = mnist.batch_norm %x, %scale, %bias, %mean, %variance dim 1 epsilon 1.000000e-05 momentum 9.000000e-01
        : tensor<64x8x24x24xf32>, tensor<8xf32>
    ```
  }];
  let arguments = (ins Mnist_FloatTensor:$input, Mnist_FloatTensor:$scale,
                       Mnist_FloatTensor:$bias, Mnist_FloatTensor:$mean,
                       Mnist_FloatTensor:$variance, I64Attr:$dim,
                       F64Attr:$epsilon, F64Attr:$momentum);
  let results = (outs Mnist_FloatTensor:$output);
  let assemblyFormat = [{
    $input `,` $scale `,` $bias `,` $mean `,` $variance `dim` $dim `epsilon`
    $epsilon `momentum` $momentum attr-dict `:` type($input) `,` type($scale)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = SaysOperandUse;
}

def DropoutOp : Mnist_Op<"dropout", [SameOperandsAndResultType, Differentiable,
                                     ExpandedTrait]> {
  let summary = "x in inference; in training 0 with probability ratio, else x / (1 - ratio)";
  let description = [{
    Inference drops the op; training expands it.

    ```mlir
    %y = mnist.dropout %x ratio 5.000000e-01 : tensor<64x128xf32>
    ```
  }];
  let arguments = (ins Mnist_FloatTensor:$input, F64Attr:$ratio);
  let results = (outs Mnist_FloatTensor:$output);
  let assemblyFormat = "$input `ratio` $ratio attr-dict `:` type($output)";
}

#endif // MNISTC_IR_MNIST_NETWORKOPS_TD
