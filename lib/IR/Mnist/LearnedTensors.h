//===- LearnedTensors.h - which tensors of a model are learned --*- C++ -*-===//
//
// A file does not say which tensors are learned. The ops that read them do:
// they know what their operands are (OperandUseOpInterface), and this follows a
// tensor from op to op. The rules are in TrainPasses.td,
// mnist-choose-parameters.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_IR_MNIST_LEARNEDTENSORS_H
#define MNISTC_IR_MNIST_LEARNEDTENSORS_H

#include "lib/IR/Mnist/MnistOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"

namespace mlir::mnistc {

/// How PyTorch's exporters keep the tensors of a model as they are.
constexpr StringLiteral exportAgain =
    "export again with torch.onnx.export(optimize=False), or without dynamo in "
    "training mode";

class LearnedTensors {
public:
  explicit LearnedTensors(func::FuncOp function);

  /// What makes a tensor learned, or else what it is instead.
  struct Verdict {
    bool learned = false;
    std::string reason; ///< for --explain
  };
  Verdict of(ml_program::GlobalLoadOp load, ml_program::GlobalOp global) const;

  /// How many ops combine a tensor with data, through what only transforms it.
  int64_t countReaders(Value value) const;

private:
  Verdict follow(Value value, bool isNumber) const;
  Verdict ofUse(OpOperand &use, bool isNumber) const;
  Verdict ofShift(OpOperand &use, Value other, bool isNumber) const;
  Verdict ofScale(OpOperand &use, Value other, bool isNumber) const;
  Value otherFromData(OpOperand &use) const;
  bool isScaledAgain(Value value, bool isOfData, bool isReshaped) const;
  bool isFromData(Value value) const { return fromData.contains(value); }

  DenseSet<Value> fromData; ///< depends on an argument
  /// Such values that are more than an argument, element by element: summed,
  /// multiplied with weights, looked up.
  DenseSet<Value> computed;
  /// Of what does not depend on data: of a number, and of more.
  DenseMap<Value, Verdict> known[2];
};

} // namespace mlir::mnistc

#endif // MNISTC_IR_MNIST_LEARNEDTENSORS_H
