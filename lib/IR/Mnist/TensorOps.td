//===- TensorOps.td - constants, indexing, reductions ------*- tablegen -*-===//
//
// Where elements come from, where they go, and what is summed over.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_IR_MNIST_TENSOROPS_TD
#define MNISTC_IR_MNIST_TENSOROPS_TD

include "lib/IR/Mnist/MnistDialect.td"

//===----------------------------------------------------------------------===//
// Sources
//===----------------------------------------------------------------------===//

def ConstantOp : Mnist_Op<"constant", [ConstantLike,
                                       AllTypesMatch<["value", "output"]>]> {
  let summary = "a tensor known at compile time";
  let description = [{
    ```mlir
    %one = mnist.constant dense<1.000000e+00> : tensor<64x10xf32>
    ```
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Mnist_Tensor:$output);
  let assemblyFormat = "$value attr-dict";
  let hasFolder = 1;
}

def IotaOp : Mnist_Op<"iota", [IndexingTrait]> {
  let summary = "the index along one dimension";
  let description = [{
    ```mlir
    %i = mnist.iota dim 1 : tensor<64x10xi64>
    ```
  }];
  let arguments = (ins I64Attr:$dim);
  let results = (outs Mnist_NumberTensor:$output);
  let assemblyFormat = "`dim` $dim attr-dict `:` type($output)";
  let hasVerifier = 1;
}

def RandomUniformOp
    : Mnist_Op<"random_uniform", [IndexingTrait, AttrSizedOperandSegments]> {
  let summary = "random numbers in [0, 1), a function of what they are for";
  let description = [{
    Element i is `mn::Random{seed, stream}.uniform(step, i)` of
    `mnistrt/philox.h`: the same wherever and however often it is computed.

    Of a data-parallel training, where the tensor is `rows` rows of n elements,
    row r of a rank is row r ranks + rank of all: element i is that of
    (i / n ranks + rank) n + i mod n.

    ```mlir
    %u = mnist.random_uniform %seed, %step stream 1 : (tensor<i64>, tensor<i64>) -> tensor<64x128xf32>
    %v = mnist.random_uniform %seed, %step rank %rank of %ranks rows 64 stream 1
        : (tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<64x128xf32>
    ```
  }];
  let arguments = (ins 0DTensorOf<[I64]>:$seed, 0DTensorOf<[I64]>:$step,
                       Optional<0DTensorOf<[I64]>>:$rank,
                       Optional<0DTensorOf<[I64]>>:$ranks,
                       OptionalAttr<I64Attr>:$rows, I64Attr:$stream);
  let results = (outs Mnist_FloatTensor:$output);
  let assemblyFormat = [{
    $seed `,` $step (`rank` $rank^ `of` $ranks `rows` $rows)? `stream` $stream
    attr-dict `:` functional-type(operands, $output)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Indexing
//===----------------------------------------------------------------------===//

class Mnist_IndexingOp<string mnemonic, list<Trait> traits = []>
    : Mnist_Op<mnemonic, traits # [IndexingTrait, Differentiable]> {
  let hasVerifier = 1;
}

def BroadcastOp : Mnist_IndexingOp<"broadcast"> {
  let summary = "repeat a tensor along new dimensions";
  let description = [{
    Operand dimension `i` becomes result dimension `dims[i]`, which are
    ascending and of the same size; every other result dimension is new. This is
    the only op that repeats data: all elementwise ops take operands of one
    shape.

    ```mlir
    %y = mnist.broadcast %bias along [1] : tensor<10xf32> -> tensor<64x10xf32>
    ```
  }];
  let arguments = (ins Mnist_Tensor:$input, DenseI64ArrayAttr:$dims);
  let results = (outs Mnist_Tensor:$output);
  let assemblyFormat = [{
    $input `along` $dims attr-dict `:` type($input) `->` type($output)
  }];
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def ConcatOp : Mnist_IndexingOp<"concat"> {
  let summary = "tensors one after another along a dimension";
  let description = [{
    ```mlir
    %y = mnist.concat %a, %b dim 1
        : (tensor<2x3xf32>, tensor<2x5xf32>) -> tensor<2x8xf32>
    ```
  }];
  let arguments = (ins Variadic<Mnist_Tensor>:$inputs, I64Attr:$dim);
  let results = (outs Mnist_Tensor:$output);
  let assemblyFormat = [{
    $inputs `dim` $dim attr-dict `:` functional-type(operands, results)
  }];
  let hasFolder = 1;
  let hasCanonicalizer = 1;
  let extraClassDeclaration = SaysOperandUse;
}

def GatherOp : Mnist_IndexingOp<"gather"> {
  let summary = "slices of a tensor, chosen by an index along one dimension";
  let description = [{
    With `dim` = d the result has the shape of `input` with dimension d replaced
    by the dimensions of `indices`: y[a, i, b] = x[a, indices[i], b]. A negative
    index counts from the end. A program refuses indices outside the tensor
    that it is given (`mnist.range` of an argument); one that it computes is
    clamped into the tensor.

    ```mlir
    %y = mnist.gather %x, %i dim 0
        : (tensor<9x3xf32>, tensor<4xi64>) -> tensor<4x3xf32>
    ```
  }];
  let arguments = (ins Mnist_Tensor:$input, Mnist_IndexTensor:$indices,
                       I64Attr:$dim);
  let results = (outs Mnist_Tensor:$output);
  let assemblyFormat = [{
    $input `,` $indices `dim` $dim attr-dict `:`
    functional-type(operands, results)
  }];
  let hasCanonicalizer = 1;
  let extraClassDeclaration = SaysOperandUse;
}

def PadOp : Mnist_IndexingOp<"pad"> {
  let summary = "elements before and after a tensor along each dimension";
  let description = [{
    `low` elements are put before and the rest of the result after the operand,
    negative numbers take away. `mode` says what they are: `constant` (`value`),
    `reflect` (mirrored at the border, the border itself not repeated), `edge`
    (the border repeated) or `wrap` (the tensor repeated).

    ```mlir
    %y = mnist.pad constant %x low [0, 1] value 0.000000e+00
        : tensor<2x3xf32> -> tensor<2x5xf32>
    ```
  }];
  let arguments = (ins Mnist_PadMode:$mode, Mnist_Tensor:$input,
                       DenseI64ArrayAttr:$low,
                       DefaultValuedAttr<F64Attr, "0.0">:$value);
  let results = (outs Mnist_Tensor:$output);
  let assemblyFormat = [{
    $mode $input `low` $low (`value` $value^)? attr-dict `:` type($input) `->`
    type($output)
  }];
  let hasFolder = 1;
}

def ReshapeOp : Mnist_IndexingOp<"reshape"> {
  let summary = "the same elements, in the same order, under another shape";
  let description = [{
    ```mlir
    %y = mnist.reshape %x : tensor<64x1x28x28xf32> -> tensor<64x784xf32>
    ```
  }];
  let arguments = (ins Mnist_StoredTensor:$input);
  let results = (outs Mnist_StoredTensor:$output);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($output)";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def SliceOp : Mnist_IndexingOp<"slice"> {
  let summary = "a regular part of a tensor";
  let description = [{
    y[i, ...] = x[starts[0] + i * steps[0], ...]; a step may be negative. All
    indices are inside the operand.

    ```mlir
    %y = mnist.slice %x starts [0, 9] steps [1, -2]
        : tensor<4x10xf32> -> tensor<4x5xf32>
    ```
  }];
  let arguments = (ins Mnist_StoredTensor:$input, DenseI64ArrayAttr:$starts,
                       DenseI64ArrayAttr:$steps);
  let results = (outs Mnist_StoredTensor:$output);
  let assemblyFormat = [{
    $input `starts` $starts `steps` $steps attr-dict `:` type($input) `->`
    type($output)
  }];
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def TransposeOp : Mnist_IndexingOp<"transpose"> {
  let summary = "permute dimensions";
  let description = [{
    Result dimension `i` is operand dimension `perm[i]`.

    ```mlir
    %y = mnist.transpose %x perm [1, 0] : tensor<64x10xf32> -> tensor<10x64xf32>
    ```
  }];
  let arguments = (ins Mnist_StoredTensor:$input, DenseI64ArrayAttr:$perm);
  let results = (outs Mnist_StoredTensor:$output);
  let assemblyFormat = [{
    $input `perm` $perm attr-dict `:` type($input) `->` type($output)
  }];
  let builders = [OpBuilder<(ins "Value":$input, "ArrayRef<int64_t>":$perm)>];
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

// What all reductions answer alike.
defvar Mnist_ReductionAnswers = [{
  ShapeText $cppClass::getShapeText() {
    return reduceShape(getInput(), getReducedDims());
  }
  double $cppClass::getReads(unsigned) {
    return getInput().getType().getNumElements();
  }
  bool $cppClass::takesPrologue() { return true; }
  double $cppClass::getFlops() { return getReads(0); }
  std::optional<MultiplyAdds> $cppClass::getMultiplyAdds() {
    return std::nullopt;
  }
  std::optional<Channels> $cppClass::getBiasChannels() { return std::nullopt; }
  bool $cppClass::keepsDims() { return false; }
  SmallVector<unsigned> $cppClass::getRowOperands() {
    return llvm::is_contained(getReducedDims(), 0) ? SmallVector<unsigned>()
                                                   : SmallVector<unsigned>{0};
  }
}];

// `kind` is a struct of mnistrt/reductions.h, `noun` a name for its result;
// `logits`: whether it may give some.
class Mnist_ReduceOp<string mnemonic, string kind, string noun, bit logits,
                     TypeConstraint type>
    : Mnist_Op<mnemonic, [Differentiable, Root, Reduction]> {
  let arguments = (ins type:$input, DenseI64ArrayAttr:$dims);
  let results = (outs type:$output);
  let assemblyFormat = [{
    $input `over` $dims attr-dict `:` type($input) `->` type($output)
  }];
  let builders = [OpBuilder<(ins "Value":$input, "ArrayRef<int64_t>":$dims)>];
  let hasVerifier = 1;
  let extraClassDefinition = [{
    KernelText $cppClass::getKernelText() {
      return {"reduce", {"load"}, "mn::}] # kind # [{"};
    }
    bool $cppClass::mayGiveLogits() { return }] # !if(logits, "true", "false") # [{; }
    SmallVector<int64_t> $cppClass::getReducedDims() {
      return SmallVector<int64_t>(getDims());
    }
    ReductionForm $cppClass::getForm() { return ReductionForm::fold; }
    StringRef $cppClass::getNoun() { return "}] # noun # [{"; }
  }] # !cast<string>(Mnist_ReductionAnswers);
}

def ArgMaxOp : Mnist_Op<"arg_max", [Root, Reduction]> {
  let summary = "the index of the largest element along a dimension";
  let description = [{
    Of several equal ones the first, or the last where `last` is said. NaN is
    larger than any number, and equal to NaN, as in NumPy and PyTorch: the
    arg_max of [1, NaN, 3] is 1. The dimension is gone from the result.

    ```mlir
    %y = mnist.arg_max %x over 1 : tensor<64x10xf32> -> tensor<64xi64>
    ```
  }];
  let arguments = (ins Mnist_NumberTensor:$input, I64Attr:$dim,
                       UnitAttr:$last);
  let results = (outs Mnist_IndexTensor:$output);
  let assemblyFormat = [{
    $input `over` $dim (`last` $last^)? attr-dict `:` type($input) `->`
    type($output)
  }];
  let hasVerifier = 1;
  let extraClassDefinition = [{
    KernelText $cppClass::getKernelText() {
      return {"reduce", {"load"},
              getLast() ? "mn::ArgMaxLast" : "mn::ArgMaxFirst",
              /*givesIndex=*/true};
    }
    bool $cppClass::mayGiveLogits() { return false; }
    SmallVector<int64_t> $cppClass::getReducedDims() {
      return {int64_t(getDim())};
    }
    ReductionForm $cppClass::getForm() { return ReductionForm::index; }
    StringRef $cppClass::getNoun() { return "best"; }
  }] # !cast<string>(Mnist_ReductionAnswers);
}

def ReduceMaxOp : Mnist_ReduceOp<"reduce_max", "Max", "top", /*logits=*/1,
                                 Mnist_Tensor> {
  let summary = "maximum over some dimensions; the lowest number of the type over none";
  let description = [{
    NaN where one is. The dimensions, in ascending order, are gone from the
    result.

    ```mlir
    %y = mnist.reduce_max %x over [1] : tensor<64x10xf32> -> tensor<64xf32>
    ```
  }];
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def ReduceMinOp : Mnist_ReduceOp<"reduce_min", "Min", "least", /*logits=*/0,
                                 Mnist_Tensor> {
  let summary = "minimum over some dimensions; the highest number of the type over none";
  let description = [{
    NaN where one is.

    ```mlir
    %y = mnist.reduce_min %x over [1] : tensor<64x10xf32> -> tensor<64xf32>
    ```
  }];
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def ReduceSumOp : Mnist_ReduceOp<"reduce_sum", "Sum", "sum", /*logits=*/1,
                                 Mnist_NumberTensor> {
  let summary = "sum over some dimensions; integers wrap around";
  let description = [{
    In a fixed order, which a kernel, a loop inside of an element and the
    constant folder choose each for themselves: they agree within rounding, and
    where no partial sum overflows.

    ```mlir
    %y = mnist.reduce_sum %x over [0] : tensor<64x10xf32> -> tensor<10xf32>
    ```
  }];
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

class Mnist_SoftmaxOp<string mnemonic, bit log>
    : Mnist_Op<mnemonic, [SameOperandsAndResultType, Differentiable, Root,
                          Reduction]> {
  let arguments = (ins Mnist_FloatTensor:$input, I64Attr:$dim);
  let results = (outs Mnist_FloatTensor:$output);
  let assemblyFormat = "$input `dim` $dim attr-dict `:` type($output)";
  let hasVerifier = 1;
  let extraClassDefinition = [{
    KernelText $cppClass::getKernelText() { return {"softmax", {"load"}}; }
    ShapeText $cppClass::getShapeText() {
      return softmaxShape(getInput(), getDim(), }] # !if(log, "true", "false") # [{);
    }
    // For the maximum, for the sum, for the result.
    double $cppClass::getReads(unsigned) {
      return 3.0 * getType().getNumElements();
    }
    bool $cppClass::takesPrologue() { return true; }
    // Maximum, difference, exponential, sum, quotient.
    double $cppClass::getFlops() { return 5.0 * getType().getNumElements(); }
    std::optional<MultiplyAdds> $cppClass::getMultiplyAdds() {
      return std::nullopt;
    }
    std::optional<Channels> $cppClass::getBiasChannels() {
      return std::nullopt;
    }
    bool $cppClass::mayGiveLogits() { return false; }
    // Along neighbours: a warp has each of them.
    SmallVector<unsigned> $cppClass::getRowOperands() {
      int64_t dim = getDim();
      return dim > 0 && dim + 1 == getType().getRank()
                 ? SmallVector<unsigned>{0}
                 : SmallVector<unsigned>();
    }
    SmallVector<int64_t> $cppClass::getReducedDims() {
      return {int64_t(getDim())};
    }
    bool $cppClass::keepsDims() { return true; }
    ReductionForm $cppClass::getForm() { return ReductionForm::softmax; }
    StringRef $cppClass::getNoun() { return "total"; }
  }];
}

def LogSoftmaxOp : Mnist_SoftmaxOp<"log_softmax", /*log=*/1> {
  let summary = "x - log(sum(exp(x))) along a dimension, without overflow";
  let description = [{
    ```mlir
    %y = mnist.log_softmax %x dim 1 : tensor<64x10xf32>
    ```
  }];
}

def SoftmaxOp : Mnist_SoftmaxOp<"softmax", /*log=*/0> {
  let summary = "exp(x) / sum(exp(x)) along a dimension, without overflow";
  let description = [{
    ```mlir
    %y = mnist.softmax %x dim 1 : tensor<64x10xf32>
    ```
  }];
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

def AllReduceOp : Mnist_Op<"all_reduce", [Differentiable, Root, CollectiveTrait,
                                          AllTypesMatch<["input", "output"]>]> {
  let summary = "the sum over all ranks of a data-parallel training, on each";
  let description = [{
    A rank is one of the processes that train a model together, each on its
    share of the rows. With one rank it is its operand.

    ```mlir
    %y = mnist.all_reduce %x : tensor<784x128xf32>
    ```
  }];
  let arguments = (ins Mnist_FloatTensor:$input);
  let results = (outs Mnist_FloatTensor:$output);
  let assemblyFormat = "$input attr-dict `:` type($output)";
  // The library's call takes a number of elements, of one tensor or several.
  let extraClassDefinition = [{
    KernelText $cppClass::getKernelText() {
      return {.function = "allReduce", .isGenerated = false};
    }
    ShapeText $cppClass::getShapeText() {
      return {"int64_t", {std::to_string(getType().getNumElements())}};
    }
    double $cppClass::getReads(unsigned) { return getType().getNumElements(); }
    bool $cppClass::takesPrologue() { return false; }
    double $cppClass::getFlops() { return getReads(0); }
    std::optional<MultiplyAdds> $cppClass::getMultiplyAdds() {
      return std::nullopt;
    }
    std::optional<Channels> $cppClass::getBiasChannels() { return std::nullopt; }
    bool $cppClass::mayGiveLogits() { return false; }
    SmallVector<unsigned> $cppClass::getRowOperands() { return {}; }
  }];
}

#endif // MNISTC_IR_MNIST_TENSOROPS_TD
