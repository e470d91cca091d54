//===- MnistDialect.td - the model dialect -----------------*- tablegen -*-===//
//
// What a model computes: pure operations on statically shaped tensors.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_IR_MNIST_MNISTDIALECT_TD
#define MNISTC_IR_MNIST_MNISTDIALECT_TD

include "lib/IR/Mnist/MnistInterfaces.td"
include "lib/IR/Mnist/MnistTypes.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Mnist_Dialect : Dialect {
  let name = "mnist";
  let cppNamespace = "::mlir::mnistc";
  let summary = "What a model computes.";
  let description = [{
    Pure operations on statically shaped tensors, close to ONNX but smaller:
    no implicit broadcasting, no optional operands, no version history.
  }];
  let hasCanonicalizer = 1;
  let hasConstantMaterializer = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
}

class Mnist_Op<string mnemonic, list<Trait> traits = []>
    : Op<Mnist_Dialect, mnemonic, traits # [Pure, OperandUseOpInterface]>;

// Plain enum attributes, so that they print as bare keywords.
def Mnist_Layout : I32EnumAttr<"Layout", "order of the dimensions of an image",
                               [I32EnumAttrCase<"nchw", 0>,
                                I32EnumAttrCase<"nhwc", 1>]> {
  let cppNamespace = "::mlir::mnistc";
}

def Mnist_Predicate
    : I32EnumAttr<"Predicate", "how two numbers compare",
                  [I32EnumAttrCase<"eq", 0>, I32EnumAttrCase<"ne", 1>,
                   I32EnumAttrCase<"lt", 2>, I32EnumAttrCase<"le", 3>,
                   I32EnumAttrCase<"gt", 4>, I32EnumAttrCase<"ge", 5>]> {
  let cppNamespace = "::mlir::mnistc";
}

def Mnist_PadMode
    : I32EnumAttr<"PadMode", "where the elements around a tensor come from",
                  [I32EnumAttrCase<"constant", 0>, I32EnumAttrCase<"reflect", 1>,
                   I32EnumAttrCase<"edge", 2>, I32EnumAttrCase<"wrap", 3>]> {
  let cppNamespace = "::mlir::mnistc";
}

// Every result element depends on the operand elements of the same index only.
def ElementwiseTrait : NativeOpTrait<"Elementwise"> {
  let cppNamespace = "::mlir::mnistc";
}

// Every result element is an operand element of another index, or a constant:
// the op only renames the index, and so fuses like an elementwise one.
def IndexingTrait : NativeOpTrait<"Indexing"> {
  let cppNamespace = "::mlir::mnistc";
}

// What it computes depends on what the other ranks of a training compute: all of
// them run it, in one order.
def CollectiveTrait : NativeOpTrait<"Collective"> {
  let cppNamespace = "::mlir::mnistc";
}

// Other ops take its place before a plan is made.
def ExpandedTrait : NativeOpTrait<"Expanded"> {
  let cppNamespace = "::mlir::mnistc";
}

defvar Differentiable = DeclareOpInterfaceMethods<DifferentiableOpInterface>;
// Of an op that does not read its operands as OperandUseOpInterface assumes.
defvar SaysOperandUse = "OperandUse getOperandUse(unsigned operand);";
defvar LayoutSensitive = DeclareOpInterfaceMethods<LayoutOpInterface>;
defvar Root = DeclareOpInterfaceMethods<RootOpInterface>;
defvar PoolRoot = DeclareOpInterfaceMethods<PoolOpInterface>;
defvar Reduction = DeclareOpInterfaceMethods<ReductionOpInterface>;

#endif // MNISTC_IR_MNIST_MNISTDIALECT_TD
