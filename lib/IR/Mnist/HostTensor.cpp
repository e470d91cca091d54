//===- HostTensor.cpp - a constant as plain bytes -------------------------===//

#include "lib/IR/Mnist/HostTensor.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include <cstring>

using namespace mlir;
using namespace mlir::mnistc;

static size_t elementBytes(Type element) {
  return dispatch(element, [](auto x) { return sizeof(x); });
}

HostTensor::HostTensor(RankedTensorType type, bool isSplat)
    : type(type), splat(isSplat) {
  size_t count = isSplat ? 1 : type.getNumElements();
  owned.reset(new char[count * elementBytes(type.getElementType())]);
  bytes = owned.get();
}

std::optional<HostTensor> HostTensor::read(ElementsAttr value) {
  auto type = dyn_cast<RankedTensorType>(value.getShapedType());
  if (!type)
    return std::nullopt;
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    size_t size = type.getNumElements() * elementBytes(type.getElementType());
    if (!blob || blob->getData().size() != size)
      return std::nullopt;
    return HostTensor(type, /*isSplat=*/false, blob->getData().data());
  }
  auto dense = dyn_cast<DenseElementsAttr>(value);
  if (!dense)
    return std::nullopt;
  if (!type.getElementType().isInteger(1))
    return HostTensor(type, dense.isSplat(), dense.getRawData().data());
  // Attributes pack booleans into bits.
  HostTensor result(type, dense.isSplat());
  if (dense.isSplat())
    *result.mutableData<bool>() = dense.getSplatValue<bool>();
  else
    llvm::copy(dense.getValues<bool>(), result.mutableData<bool>());
  return result;
}

DenseElementsAttr HostTensor::write() const {
  size_t width = elementBytes(type.getElementType());
  size_t count = splat ? 1 : size();
  // All elements are equal if each equals its neighbour.
  if (count > 1 && std::memcmp(bytes, bytes + width, (count - 1) * width) == 0)
    count = 1;
  if (type.getElementType().isInteger(1))
    return DenseElementsAttr::get(type, ArrayRef(data<bool>(), count));
  return DenseElementsAttr::getFromRawBuffer(type,
                                             ArrayRef(bytes, count * width));
}

HostTensor HostTensor::reshaped(RankedTensorType newType) const {
  HostTensor result(*this);
  result.type = newType;
  return result;
}

HostTensor HostTensor::expanded() const {
  if (!splat)
    return *this;
  HostTensor result(type);
  dispatch(type.getElementType(), [&](auto x) {
    using T = decltype(x);
    std::fill_n(result.mutableData<T>(), size(), *data<T>());
  });
  return result;
}
