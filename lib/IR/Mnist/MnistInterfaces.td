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

#endif // MNISTC_IR_MNIST_MNISTINTERFACES_TD
