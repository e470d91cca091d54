//===- HostTensor.h - a constant as plain bytes -----------------*- C++ -*-===//
//
// What the evaluator computes on: the elements of a tensor in row-major order,
// read from an attribute without a copy where possible.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_IR_MNIST_HOSTTENSOR_H
#define MNISTC_IR_MNIST_HOSTTENSOR_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include <memory>
#include <optional>

namespace mlir::mnistc {

/// Calls `f` with a value of the C++ type that holds `element`.
template <typename F> auto dispatch(Type element, F &&f) {
  if (element.isF32())
    return f(float());
  if (element.isF64())
    return f(double());
  if (element.isInteger(1))
    return f(bool());
  if (element.isInteger(8))
    return f(uint8_t());
  if (element.isInteger(32))
    return f(int32_t());
  return f(int64_t());
}

/// A tensor of a type that the model dialect allows. A splat, all elements
/// equal, stores one.
class HostTensor {
public:
  /// A tensor with elements yet to be written.
  explicit HostTensor(RankedTensorType type, bool isSplat = false);

  /// The elements of `value`, or none where they are not available.
  static std::optional<HostTensor> read(ElementsAttr value);

  /// As an attribute, a splat where all elements are equal.
  DenseElementsAttr write() const;

  /// The same elements under another shape.
  HostTensor reshaped(RankedTensorType newType) const;

  /// The same elements, also those of a splat one by one.
  HostTensor expanded() const;

  RankedTensorType getType() const { return type; }
  ArrayRef<int64_t> getShape() const { return type.getShape(); }
  int64_t size() const { return type.getNumElements(); }
  bool isSplat() const { return splat; }

  /// How far apart in memory two neighbours are: of a splat, 0.
  int64_t step() const { return splat ? 0 : 1; }

  template <typename T> const T *data() const {
    return reinterpret_cast<const T *>(bytes);
  }
  /// Only of a tensor that was made to be written.
  template <typename T> T *mutableData() {
    return reinterpret_cast<T *>(owned.get());
  }

private:
  HostTensor(RankedTensorType type, bool isSplat, const char *bytes)
      : type(type), splat(isSplat), bytes(bytes) {}

  RankedTensorType type;
  bool splat;
  std::shared_ptr<char[]> owned; ///< null where an attribute has the elements
  const char *bytes;
};

} // namespace mlir::mnistc

#endif // MNISTC_IR_MNIST_HOSTTENSOR_H
