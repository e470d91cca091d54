//===- Widen.cpp - compute in double precision ----------------------------===//
//
// Finite differences need more digits than floats have.
//
//===----------------------------------------------------------------------===//

#include "lib/IR/Mnist/HostTensor.h"
#include "lib/Passes/Passes.h"
#include "mlir/IR/AttrTypeSubElements.h"

namespace mlir::mnistc {

#define GEN_PASS_DEF_WIDEN
#include "lib/Passes/Passes.h.inc"

/// The same numbers as doubles. Null where they are not at hand.
static ElementsAttr widened(ElementsAttr value) {
  std::optional<HostTensor> tensor = HostTensor::read(value);
  if (!tensor)
    return {};
  auto type = RankedTensorType::get(tensor->getShape(),
                                    Float64Type::get(value.getContext()));
  HostTensor wide(type, tensor->isSplat());
  int64_t count = tensor->isSplat() ? 1 : tensor->size();
  for (int64_t i = 0; i < count; ++i)
    wide.mutableData<double>()[i] = tensor->data<float>()[i];
  return wide.write();
}

namespace {
struct Widen : impl::WidenBase<Widen> {
  void runOnOperation() override {
    using Replaced = std::optional<std::pair<Attribute, WalkResult>>;
    AttrTypeReplacer replacer;
    replacer.addReplacement([](Float32Type type) -> std::optional<Type> {
      return Float64Type::get(type.getContext());
    });
    replacer.addReplacement([](FloatAttr number) -> Replaced {
      if (!number.getType().isF32())
        return std::pair(number, WalkResult::skip());
      return std::pair(FloatAttr::get(Float64Type::get(number.getContext()),
                                      number.getValueAsDouble()),
                       WalkResult::skip());
    });
    bool complete = true;
    replacer.addReplacement([&](ElementsAttr value) -> Replaced {
      if (!value.getElementType().isF32())
        return std::pair(value, WalkResult::skip());
      ElementsAttr wide = widened(value);
      complete &= bool(wide);
      return std::pair(wide ? wide : value, WalkResult::skip());
    });
    replacer.recursivelyReplaceElementsIn(getOperation(),
                                          /*replaceAttrs=*/true,
                                          /*replaceLocs=*/false,
                                          /*replaceTypes=*/true);
    if (complete)
      return;
    getOperation().emitError(
        "expected constants with values to make doubles of, but some have "
        "none");
    signalPassFailure();
  }
};
} // namespace

} // namespace mlir::mnistc
