//===- Node.h - an ONNX node, as its importer sees it -----------*- C++ -*-===//
//
// Inputs, attributes and outputs of one ONNX node, and the creation of ops with
// its names. It remembers what was read: an attribute or output that the
// import of an operator never looked at is reported, not ignored.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_IMPORT_NODE_H
#define MNISTC_IMPORT_NODE_H

#include "lib/IR/Mnist/Arithmetic.h"
#include "lib/Import/Model.h"
#include "lib/Import/TensorData.h"
#include "lib/Import/Tensors.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::mnistc::importer {

/// The batch that a function is built for, where that is not the file's.
struct Batch {
  int64_t inFile = 0, bound = 0;
  bool isRebound() const { return inFile != bound; }
};

using Shape = SmallVector<int64_t>;
using Numbers = SmallVector<double>;

class Node {
public:
  struct Scope {
    Tensors &tensors;
    ExternalData &external;
    Report &report;
    const llvm::StringSet<> &used;
    Batch batch;
    bool trains;
  };
  Node(const GraphNode &node, Scope scope, OpBuilder &builder);

  /// The opset that the node is of.
  int opset() const { return node.opset; }
  /// Its number in the file, in whose order frameworks run nodes.
  int number() const { return node.number; }
  MLIRContext *context() const { return builder.getContext(); }
  const Batch &batch() const { return scope.batch; }
  /// Whether what is imported will be trained.
  bool trains() const { return scope.trains; }
  void note(const Twine &text);
  void warn(const Twine &text);

  //===--------------------------------------------------------------------===//
  // Inputs
  //===--------------------------------------------------------------------===//

  int numInputs() const { return node.proto->input_size(); }
  bool hasInput(int i) const;
  Value input(int i);
  /// A float input; other types are reported as unsupported.
  Value floatInput(int i);
  /// One that the operator learns. What reads a tensor tells, but not of one
  /// number or of what is reshaped first: so the tensor gets a mark.
  Value learnedInput(int i);
  /// The type of an input that need not be computed.
  RankedTensorType inputType(int i) const;
  bool isBatched(int i) const;
  /// An input that is a sequence, which no other function takes.
  Value sequence(int i);
  /// Of which the tensor sequence(i) is a sequence.
  const Parts &parts(int i) const;

  /// Has a program refuse numbers outside of [lowest, highest], but for
  /// `ignored`, where `value` is a graph input of integers, moved or converted
  /// at most. What is computed cannot be refused before it is read.
  void limitInput(Value value, int64_t lowest, int64_t highest,
                  std::optional<int64_t> ignored = {});

  /// An input that must be known at compile time; `what` is the operator's
  /// word for it.
  DenseElementsAttr constant(int i, StringRef what);
  Shape constantInts(int i, StringRef what);
  double constantNumber(int i, StringRef what);
  Numbers constantNumbers(int i, StringRef what);
  /// Null where it is known at run time only.
  DenseElementsAttr knownConstant(int i) const;

  //===--------------------------------------------------------------------===//
  // Attributes
  //===--------------------------------------------------------------------===//

  bool hasAttribute(StringRef name) const { return find(name) != nullptr; }
  int64_t attribute(StringRef name, int64_t otherwise);
  int64_t attribute(StringRef name, int otherwise) {
    return attribute(name, int64_t(otherwise));
  }
  double attribute(StringRef name, double otherwise);
  StringRef attribute(StringRef name, const char *otherwise);
  Shape attribute(StringRef name, const Shape &otherwise);
  Numbers attribute(StringRef name, const Numbers &otherwise);
  bool flag(StringRef name, bool otherwise = false);
  /// Null where there is none.
  const onnx::AttributeProto *rawAttribute(StringRef name);
  /// Accepts an attribute without looking at it.
  void ignore(StringRef name) { asked.insert(name); }
  DenseElementsAttr decode(const onnx::TensorProto &tensor);

  /// A dimension of a tensor of some rank, counted from the end where it is
  /// negative. `rank` itself is one more where `endIncluded` is said.
  int64_t axis(int64_t axis, int64_t rank, bool endIncluded = false) const;
  /// Distinct ones, ascending.
  Shape axes(ArrayRef<int64_t> axes, int64_t rank) const;

  //===--------------------------------------------------------------------===//
  // Outputs
  //===--------------------------------------------------------------------===//

  int numOutputs() const { return node.proto->output_size(); }
  bool hasOutput(int i) const;
  /// Many exporters name outputs that nothing reads.
  bool isUsed(int i) const;
  void setOutput(int i, Value value);
  /// The outputs are sequences.
  void giveSequences(Parts parts) { sequences = std::move(parts); }

  //===--------------------------------------------------------------------===//
  // Creating ops
  //===--------------------------------------------------------------------===//

  template <typename Op, typename... Args> Value create(Args &&...args) {
    return checked(builder.create<Op>(location, std::forward<Args>(args)...));
  }
  FloatAttr f64(double number) { return builder.getF64FloatAttr(number); }
  IntegerAttr i64(int64_t number) { return builder.getI64IntegerAttr(number); }
  /// For formulas of tensors whose shapes were looked at.
  Arithmetic arithmetic() { return {builder, location}; }

  Value constantOf(DenseElementsAttr value);
  /// One number repeated, in the type of `like`.
  Value splat(Value like, double number);
  Value cast(Value value, Type element);
  Value reshape(Value value, ArrayRef<int64_t> shape);
  /// ONNX's broadcasting, of one value or of all to one shape.
  Value broadcast(Value value, ArrayRef<int64_t> shape);
  void broadcastTogether(MutableArrayRef<Value> values);

  //===--------------------------------------------------------------------===//
  // For the importer
  //===--------------------------------------------------------------------===//

  /// Takes the value of the first output, and complains about what is not
  /// asked for.
  void finish(Value first);
  ArrayRef<Value> results() const { return outputs; }
  bool anyBatched() const;
  const std::optional<Parts> &givenSequence() const { return sequences; }

private:
  const onnx::AttributeProto *find(StringRef name) const;
  const onnx::AttributeProto *typed(StringRef name,
                                    onnx::AttributeProto::AttributeType type);
  const Tensor &anyInput(int i) const;
  /// One that is no sequence.
  const Tensor &tensor(int i) const;
  Value checked(Operation *op);
  /// "'x' [2, 3] and 'w' [4, 5]"
  std::string inputsText() const;
  Value evaluated(Operation *op);

  const GraphNode &node;
  Scope scope;
  OpBuilder &builder;
  Location location;
  llvm::StringSet<> asked;
  SmallVector<Value> outputs;
  std::optional<Parts> sequences;
};

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

ArrayRef<int64_t> shapeOf(Value value);
int64_t rankOf(Value value);
Type elementOf(Value value);
bool isFloat(Value value);
int64_t product(ArrayRef<int64_t> sizes);
/// The shape that two shapes broadcast to.
Shape broadcastShape(ArrayRef<int64_t> a, ArrayRef<int64_t> b);

} // namespace mlir::mnistc::importer

#endif // MNISTC_IMPORT_NODE_H
