//===- MnistInterfaces.td - what passes may ask of an op ---*- tablegen -*-===//

#ifndef MNISTC_IR_MNIST_MNISTINTERFACES_TD
#define MNISTC_IR_MNIST_MNISTINTERFACES_TD

include "mlir/IR/OpBase.td"

def DifferentiableOpInterface : OpInterface<"DifferentiableOpInterface"> {
  let cppNamespace = "::mlir::mnistc";
  let description = [{
    An op that knows its own reverse-mode derivative.
  }];
  let methods = [InterfaceMethod<[{
      Builds the vector-Jacobian product: given `dy`, the gradient of the loss
      with respect to each result, returns the gradient with respect to each
      operand. A null value means "no gradient flows to this operand".
    }], "SmallVector<Value>", "buildGradient",
    (ins "OpBuilder &":$builder, "ValueRange":$dy)>];
}

def OperandUseOpInterface : OpInterface<"OperandUseOpInterface"> {
  let cppNamespace = "::mlir::mnistc";
  let description = [{
    What an op does with an operand: training asks it of tensors that the
    model's file holds, to tell what is learned from what is a number of a
    formula.
  }];
  let methods = [InterfaceMethod<[{
      What operand number `operand` is. By default an op with one operand, or
      one that only renames the index, hands it on; others take a number.
    }], "OperandUse", "getOperandUse", (ins "unsigned":$operand), [{}], [{
      return usualOperandUse($_op);
    }]>];
}

def LayoutOpInterface : OpInterface<"LayoutOpInterface"> {
  let cppNamespace = "::mlir::mnistc";
  let description = [{
    An op whose `layout` attribute says how to read the shapes of some of its
    operands and results. It never hides a transpose.
  }];
  let methods = [
    InterfaceMethod<"How the shapes are read.", "Layout", "getLayout", (ins),
                    "return $_op.getLayout();">,
    InterfaceMethod<"Reads the shapes the other way; the caller changes the "
                    "types.", "void", "setLayout", (ins "Layout":$layout),
                    "$_op.setLayout(layout);">,
    InterfaceMethod<"The operands laid out as images, by number.",
                    "SmallVector<unsigned>", "getImageOperands", (ins)>,
    InterfaceMethod<"The operands laid out as filters, by number.",
                    "SmallVector<unsigned>", "getFilterOperands", (ins)>,
    InterfaceMethod<"Whether the result is laid out as a filter, not as an "
                    "image.", "bool", "isFilterResult", (ins)>,
  ];
}

def RootOpInterface : OpInterface<"RootOpInterface"> {
  let cppNamespace = "::mlir::mnistc";
  let description = [{
    An op with its own loops: a step is made around at most one. It says here
    all that the plan and code generation ask of it. No answer has a default: an
    op that forgets one does not link.
  }];
  let methods = [
    InterfaceMethod<"The kernel that computes it, on every target.",
                    "KernelText", "getKernelText", (ins)>,
    InterfaceMethod<"Its sizes, as the kernel and libraries are told them.",
                    "ShapeText", "getShapeText", (ins)>,
    InterfaceMethod<"How many elements of operand number `operand` it reads "
                    "while it runs, each as often as it is read.", "double",
                    "getReads", (ins "unsigned":$operand)>,
    InterfaceMethod<"Whether operands may be computed where it reads them, "
                    "instead of being stored before.", "bool", "takesPrologue",
                    (ins)>,
    InterfaceMethod<"Its floating-point operations; a multiply-add is two.",
                    "double", "getFlops", (ins)>,
    InterfaceMethod<"Its multiply-adds, of a contraction: an op that libraries "
                    "compute.", "std::optional<MultiplyAdds>",
                    "getMultiplyAdds", (ins)>,
    InterfaceMethod<"The channels that a contraction's result has one bias "
                    "each for.", "std::optional<Channels>", "getBiasChannels",
                    (ins)>,
    InterfaceMethod<"Whether its results, of a classifier, may be logits: not "
                    "shares of a whole, indices or gradients.", "bool",
                    "mayGiveLogits", (ins)>,
    InterfaceMethod<"The operands of which row i of the result, along its first "
                    "dimension, needs row i only; of the others it may need "
                    "all. Empty where kernels cannot compute some rows "
                    "(ChainBody.h).",
                    "SmallVector<unsigned>", "getRowOperands", (ins)>,
  ];
}

def ReductionOpInterface : OpInterface<"ReductionOpInterface"> {
  let cppNamespace = "::mlir::mnistc";
  let description = [{
    A root of one operand that makes one element, or one row, of all elements
    along some dimensions. A small one may be computed where its result is read.
  }];
  let methods = [
    InterfaceMethod<"The dimensions that it goes over, in ascending order.",
                    "SmallVector<int64_t>", "getReducedDims", (ins)>,
    InterfaceMethod<"Whether the result has these dimensions still.", "bool",
                    "keepsDims", (ins)>,
    InterfaceMethod<"How an element is computed where it is read.",
                    "ReductionForm", "getForm", (ins)>,
    InterfaceMethod<"What its result is called where the model has no name.",
                    "StringRef", "getNoun", (ins)>,
  ];
}

def PoolOpInterface : OpInterface<"PoolOpInterface"> {
  let cppNamespace = "::mlir::mnistc";
  let description = [{
    A root of one operand whose results are one for each window of an image.
  }];
  let methods = [
    InterfaceMethod<"What it makes of a window.", "PoolResult", "getPoolResult",
                    (ins)>,
    InterfaceMethod<"The sizes of a window.", "ArrayRef<int64_t>", "getWindow",
                    (ins)>,
    InterfaceMethod<"Whether windows are next to each other, without padding or "
                    "dilations, and an index is into a window.", "bool",
                    "isTiled", (ins)>,
  ];
}

#endif // MNISTC_IR_MNIST_MNISTINTERFACES_TD
