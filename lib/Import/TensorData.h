//===- TensorData.h - ONNX tensors as attributes ----------------*- C++ -*-===//
//
// The one place that reads a TensorProto: its element type, its dimensions and
// its numbers, wherever they are stored. Throws what is wrong with them.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_IMPORT_TENSORDATA_H
#define MNISTC_IMPORT_TENSORDATA_H

#include "lib/Import/Problem.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "onnx/onnx_pb.h"
#include "llvm/Support/MemoryBuffer.h"
#include <map>
#include <memory>

namespace mlir::mnistc::importer {

/// Files next to the model that hold the numbers of its tensors. Only files
/// inside the model's folder are opened, whatever names and links say.
class ExternalData {
public:
  explicit ExternalData(std::string folder) : folder(std::move(folder)) {}

  /// The `expected` bytes of a tensor with external data.
  StringRef read(const onnx::TensorProto &tensor, int64_t expected);

private:
  const llvm::MemoryBuffer &open(StringRef location);

  std::string folder;
  std::map<std::string, std::unique_ptr<llvm::MemoryBuffer>> files;
};

/// "float", "int64", as ONNX says.
std::string typeName(int onnxType);
std::string typeName(Type element);

/// The dialect's element type for one of ONNX's. Wider and narrower floats
/// become f32. Null where there is none.
Type elementType(MLIRContext *context, int onnxType);

/// Whether elementType() changes the precision of numbers of this type.
bool changesPrecision(int onnxType);

/// A tensor type of static dimensions within the limits.
RankedTensorType tensorType(ArrayRef<int64_t> shape, Type element);

/// The numbers of a tensor, for a type that we have.
DenseElementsAttr decodeTensor(MLIRContext *context,
                               const onnx::TensorProto &tensor,
                               ExternalData &external);

/// A value that was given for a graph input: the path of an ONNX tensor, or
/// numbers such as "1,3,-1", which take `type` where it is known.
DenseElementsAttr decodeBinding(MLIRContext *context, StringRef text,
                                Type element,
                                std::optional<ArrayRef<int64_t>> shape);

/// Integers or booleans of a constant.
SmallVector<int64_t> integersOf(DenseElementsAttr value);

/// A constant of integers or booleans.
DenseElementsAttr integersAttr(RankedTensorType type, ArrayRef<int64_t> values);

/// A constant of one repeated number, of any element type.
DenseElementsAttr splatAttr(RankedTensorType type, double number);

} // namespace mlir::mnistc::importer

#endif // MNISTC_IMPORT_TENSORDATA_H
