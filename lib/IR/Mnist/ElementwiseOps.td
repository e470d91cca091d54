//===- ElementwiseOps.td - one element at a time -----------*- tablegen -*-===//
//
// Operands and result have one shape; nothing broadcasts but `broadcast`. The
// set is closed under differentiation: `compare` and `select` make a
// `relu_grad` and its like unnecessary.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_IR_MNIST_ELEMENTWISEOPS_TD
#define MNISTC_IR_MNIST_ELEMENTWISEOPS_TD

include "lib/IR/Mnist/MnistDialect.td"

class Mnist_UnaryOp<string mnemonic, TypeConstraint type = Mnist_FloatTensor,
                    list<Trait> traits = []>
    : Mnist_Op<mnemonic, traits # [SameOperandsAndResultType, ElementwiseTrait,
                                   Differentiable]> {
  let arguments = (ins type:$input);
  let results = (outs type:$output);
  let assemblyFormat = "$input attr-dict `:` type($output)";
}

class Mnist_BinaryOp<string mnemonic, TypeConstraint type = Mnist_NumberTensor,
                     list<Trait> traits = []>
    : Mnist_Op<mnemonic, traits # [SameOperandsAndResultType, ElementwiseTrait,
                                   Differentiable]> {
  let arguments = (ins type:$lhs, type:$rhs);
  let results = (outs type:$output);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($output)";
}

//===----------------------------------------------------------------------===//
// Unary
//===----------------------------------------------------------------------===//

def AbsOp : Mnist_UnaryOp<"abs", Mnist_NumberTensor, [Idempotent]> {
  let summary = "|x|; the lowest integer stays as it is";
  let description = [{
    ```mlir
    %y = mnist.abs %x : tensor<64x10xf32>
    ```
  }];
}

def EluOp : Mnist_UnaryOp<"elu"> {
  let summary = "x where x > 0, else alpha (exp(x) - 1)";
  let description = [{
    ```mlir
    %y = mnist.elu %x alpha 1.000000e+00 : tensor<64x10xf32>
    ```
  }];
  let arguments = (ins Mnist_FloatTensor:$input, F64Attr:$alpha);
  let assemblyFormat = "$input `alpha` $alpha attr-dict `:` type($output)";
}

def ErfOp : Mnist_UnaryOp<"erf"> {
  let summary = "the error function, 2/sqrt(pi) * integral of exp(-t^2) from 0 to x";
  let description = [{
    ```mlir
    %y = mnist.erf %x : tensor<64x10xf32>
    ```
  }];
}

def ExpOp : Mnist_UnaryOp<"exp"> {
  let summary = "e^x";
  let description = [{
    ```mlir
    %y = mnist.exp %x : tensor<64x10xf32>
    ```
  }];
}

def LeakyReluOp : Mnist_UnaryOp<"leaky_relu"> {
  let summary = "x where x >= 0, else slope * x";
  let description = [{
    ```mlir
    %y = mnist.leaky_relu %x slope 1.000000e-02 : tensor<64x128xf32>
    ```
  }];
  let arguments = (ins Mnist_FloatTensor:$input, F64Attr:$slope);
  let assemblyFormat = "$input `slope` $slope attr-dict `:` type($output)";
}

def LogOp : Mnist_UnaryOp<"log"> {
  let summary = "natural logarithm";
  let description = [{
    ```mlir
    %y = mnist.log %x : tensor<64x10xf32>
    ```
  }];
}

def NegOp : Mnist_UnaryOp<"neg", Mnist_NumberTensor, [Involution]> {
  let summary = "-x; integers wrap around";
  let description = [{
    ```mlir
    %y = mnist.neg %x : tensor<64x10xf32>
    ```
  }];
}

def NotOp : Mnist_UnaryOp<"not", Mnist_BoolTensor, [Involution]> {
  let summary = "logical negation";
  let description = [{
    ```mlir
    %y = mnist.not %x : tensor<64x10xi1>
    ```
  }];
}

def ReluOp : Mnist_UnaryOp<"relu", Mnist_NumberTensor, [Idempotent]> {
  let summary = "max(x, 0); NaN where x is NaN";
  let description = [{
    ```mlir
    %y = mnist.relu %x : tensor<64x128xf32>
    ```
  }];
}

def SigmoidOp : Mnist_UnaryOp<"sigmoid"> {
  let summary = "1 / (1 + exp(-x))";
  let description = [{
    ```mlir
    %y = mnist.sigmoid %x : tensor<64x10xf32>
    ```
  }];
}

def SoftplusOp : Mnist_UnaryOp<"softplus"> {
  let summary = "log(1 + exp(x)), without overflow";
  let description = [{
    ```mlir
    %y = mnist.softplus %x : tensor<64x10xf32>
    ```
  }];
}

def SqrtOp : Mnist_UnaryOp<"sqrt"> {
  let summary = "square root";
  let description = [{
    ```mlir
    %y = mnist.sqrt %x : tensor<64x10xf32>
    ```
  }];
  let extraClassDeclaration = SaysOperandUse;
}

def TanhOp : Mnist_UnaryOp<"tanh"> {
  let summary = "hyperbolic tangent";
  let description = [{
    ```mlir
    %y = mnist.tanh %x : tensor<64x10xf32>
    ```
  }];
}

//===----------------------------------------------------------------------===//
// Binary
//===----------------------------------------------------------------------===//

def AddOp : Mnist_BinaryOp<"add", Mnist_NumberTensor, [Commutative]> {
  let summary = "a + b; integers wrap around";
  let description = [{
    ```mlir
    %y = mnist.add %a, %b : tensor<64x10xf32>
    ```
  }];
  let hasFolder = 1;
  let hasCanonicalizer = 1;
  let extraClassDeclaration = SaysOperandUse;
}

def AndOp : Mnist_BinaryOp<"and", Mnist_BoolTensor, [Commutative, Idempotent]> {
  let summary = "logical and";
  let description = [{
    ```mlir
    %y = mnist.and %a, %b : tensor<64x10xi1>
    ```
  }];
}

def DivOp : Mnist_BinaryOp<"div"> {
  let summary = "a / b; for integers rounded towards zero, 0 where b is 0";
  let description = [{
    ONNX leaves open what an integer divided by 0 is; a GPU cannot stop for it,
    so it is 0 everywhere, as in NumPy. The lowest integer divided by -1 is
    itself.

    ```mlir
    %y = mnist.div %a, %b : tensor<64x10xf32>
    ```
  }];
  let hasFolder = 1;
  let extraClassDeclaration = SaysOperandUse;
}

def MaxOp : Mnist_BinaryOp<"max", Mnist_NumberTensor, [Commutative, Idempotent]> {
  let summary = "the larger of a and b; NaN where either is NaN";
  let description = [{
    ```mlir
    %y = mnist.max %a, %b : tensor<64x10xf32>
    ```
  }];
}

def MinOp : Mnist_BinaryOp<"min", Mnist_NumberTensor, [Commutative, Idempotent]> {
  let summary = "the smaller of a and b; NaN where either is NaN";
  let description = [{
    ```mlir
    %y = mnist.min %a, %b : tensor<64x10xf32>
    ```
  }];
}

def MulOp : Mnist_BinaryOp<"mul", Mnist_NumberTensor, [Commutative]> {
  let summary = "a b; integers wrap around";
  let description = [{
    ```mlir
    %y = mnist.mul %a, %b : tensor<64x10xf32>
    ```
  }];
  let hasFolder = 1;
  let extraClassDeclaration = SaysOperandUse;
}

def OrOp : Mnist_BinaryOp<"or", Mnist_BoolTensor, [Commutative, Idempotent]> {
  let summary = "logical or";
  let description = [{
    ```mlir
    %y = mnist.or %a, %b : tensor<64x10xi1>
    ```
  }];
}

def PowOp : Mnist_BinaryOp<"pow"> {
  let summary = "a^b; for integers exact, truncated towards zero where b < 0";
  let description = [{
    ```mlir
    %y = mnist.pow %a, %b : tensor<64x10xf32>
    ```
  }];
}

def SubOp : Mnist_BinaryOp<"sub"> {
  let summary = "a - b; integers wrap around";
  let description = [{
    ```mlir
    %y = mnist.sub %a, %b : tensor<64x10xf32>
    ```
  }];
  let hasFolder = 1;
  let extraClassDeclaration = SaysOperandUse;
}

//===----------------------------------------------------------------------===//
// Conditions and conversions
//===----------------------------------------------------------------------===//

def CastOp : Mnist_Op<"cast", [SameOperandsAndResultShape, ElementwiseTrait,
                               Differentiable]> {
  let summary = "convert the element type; floats saturate, integers wrap around";
  let description = [{
    A float becomes an integer by truncation towards zero; where that is beyond
    the integer's range, the end of the range, and of NaN 0, as Rust's `as` and
    LLVM's `fptosi.sat` do (ONNX leaves both open): -2.5 is -2 as i32 and 0 as
    ui8, 3e9 as i32 is 2147483647. An integer becomes a narrower one modulo 2^n,
    as in NumPy: 300 is 44 as ui8. Anything but 0, NaN included, becomes true. A
    float becomes the nearest bf16, of two the even one.

    ```mlir
    %y = mnist.cast %x : tensor<64xi64> -> tensor<64xf32>
    ```
  }];
  let arguments = (ins Mnist_StoredTensor:$input);
  let results = (outs Mnist_StoredTensor:$output);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($output)";
  let hasFolder = 1;
}

def CompareOp : Mnist_Op<"compare", [SameTypeOperands,
                                     SameOperandsAndResultShape, ElementwiseTrait]> {
  let summary = "whether two numbers stand in a relation";
  let description = [{
    The predicates are `eq`, `ne`, `lt`, `le`, `gt` and `ge`. With a NaN all but
    `ne` are false.

    ```mlir
    %c = mnist.compare gt %a, %b : tensor<64x10xf32> -> tensor<64x10xi1>
    ```
  }];
  let arguments = (ins Mnist_Predicate:$predicate, Mnist_Tensor:$lhs,
                       Mnist_Tensor:$rhs);
  let results = (outs Mnist_BoolTensor:$output);
  let assemblyFormat = [{
    $predicate $lhs `,` $rhs attr-dict `:` type($lhs) `->` type($output)
  }];
  let builders = [OpBuilder<(ins "Predicate":$predicate, "Value":$lhs,
                                 "Value":$rhs)>];
  let extraClassDeclaration = [{
    /// Whether it asks if numbers are equal that may have been rounded: what
    /// each step computes anew, or reads in fewer bits, is not.
    bool needsSameBits();
  }];
  let hasCanonicalizer = 1;
}

def SelectOp : Mnist_Op<"select", [AllTypesMatch<["then", "otherwise", "output"]>,
                                   SameOperandsAndResultShape, ElementwiseTrait,
                                   Differentiable]> {
  let summary = "c ? a : b";
  let description = [{
    ```mlir
    %y = mnist.select %c, %a, %b : tensor<64x10xi1>, tensor<64x10xf32>
    ```
  }];
  let arguments = (ins Mnist_BoolTensor:$condition, Mnist_Tensor:$then,
                       Mnist_Tensor:$otherwise);
  let results = (outs Mnist_Tensor:$output);
  let assemblyFormat = [{
    $condition `,` $then `,` $otherwise attr-dict `:` type($condition) `,`
    type($output)
  }];
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

#endif // MNISTC_IR_MNIST_ELEMENTWISEOPS_TD
