//===- MnistAttributes.cpp - the attributes of the model dialect ----------===//

#include "lib/IR/KnownAttributes.h"
#include "lib/IR/Mnist/HostTensor.h"
#include "lib/IR/Mnist/MnistOps.h"
#include "lib/IR/Mnist/TensorSize.h"
#include "mnistrt/training.h"

using namespace mlir;
using namespace mlir::mnistc;

/// The text of a program says each element of what was bound.
static constexpr int64_t maxBoundElements = 1 << 24;

static bool isBoundValue(Attribute value) {
  auto elements = dyn_cast<ElementsAttr>(value);
  return elements && isModelTensor(elements.getShapedType()) &&
         elements.getNumElements() <= maxBoundElements &&
         HostTensor::read(elements);
}

static bool areRecipeNumbers(Attribute value) {
  auto numbers = dyn_cast<DenseF64ArrayAttr>(value);
  return numbers && numbers.size() == mn::RecipeColumn::count;
}

static bool isCountOfBatches(Attribute value) {
  auto count = dyn_cast<IntegerAttr>(value);
  return count && count.getType().isSignlessInteger(64) &&
         count.getInt() >= 1 && count.getInt() <= 1 << 20;
}

static AttributeKind aDictionary() {
  return {"a dictionary",
          [](Attribute value) { return isa<DictionaryAttr>(value); }};
}

static AttributeKind allOf(AttributeKind kind, StringRef text) {
  return {text.str(), [kind](Attribute value) {
            auto array = dyn_cast<ArrayAttr>(value);
            return array && llvm::all_of(array, kind.holds);
          }};
}

static ArrayRef<KnownAttribute> mnistAttributes() {
  static const KnownAttribute known[] = {
      {"mnist.downstream", onGlobal, allOf(aString(), "an array of strings")},
      {"mnist.bound", onModule,
       allOf(aDictionary(), "an array of dictionaries")},
      {"mnist.class_names", onModule, allOf(aString(), "an array of strings")},
      {"mnist.gradcheck", onModule, aUnit()},
      {"mnist.gradient", onResult, aString()},
      {"mnist.learned", onGlobal, aUnit()},
      {"mnist.loss", onModule | onResult, aString()},
      {"mnist.name", onArgument | onResult | onOp, aString()},
      {"mnist.number", onOp, anI64()},
      {"mnist.of_node", onGlobal, aUnit()},
      {"mnist.order", onGlobal, manyI64()},
      {"mnist.order_shape", onGlobal, manyI64()},
      {"mnist.parameter", onArgument | onResult, aString()},
      {"mnist.partial", onModule, oneOf({"masked", "dropped"})},
      {"mnist.range",
       onArgument,
       {"two or three of i64",
        [](Attribute value) {
          auto range = dyn_cast<DenseI64ArrayAttr>(value);
          return range && (range.size() == 2 || range.size() == 3);
        }}},
      {"mnist.reader", onGlobal, aString()},
      {"mnist.recipe", onModule, aDictionary()},
      {"mnist.role", onGlobal, oneOf({"parameter", "buffer", "state"})},
      {"mnist.targets", onModule, oneOf({"class", "values"})},
      {"mnist.tensors", onModule,
       allOf(aDictionary(), "an array of dictionaries")},
  };
  return known;
}

static ArrayRef<KnownEntry> recipeEntries() {
  static const KnownEntry known[] = {
      {"accumulate", {"an i64 of 1 to 1048576", isCountOfBatches}},
      {"clip", oneOf({"none", "norm", "value"})},
      {"convention", oneOf({"torch", "keras"})},
      {"loss", aString()},
      {"numbers",
       {std::to_string(mn::RecipeColumn::count) + " of f64", areRecipeNumbers}},
      {"optimizer", oneOf({"sgd", "momentum", "nesterov", "adam", "adamw",
                           "rmsprop", "adagrad"})},
      {"partial", oneOf({"masked", "dropped"})},
      {"targets", oneOf({"class", "values"})}};
  return known;
}

static ArrayRef<KnownEntry> tensorEntries() {
  static const KnownEntry known[] = {
      {"name", aString()},
      {"reason", aString()},
      {"role", oneOf({"parameter", "buffer", "constant"})},
      {"type", {"the type of a tensor", [](Attribute value) {
                  auto type = dyn_cast<TypeAttr>(value);
                  return type && isa<RankedTensorType>(type.getValue());
                }}}};
  return known;
}

static ArrayRef<KnownEntry> boundEntries() {
  static const KnownEntry known[] = {
      {"name", aString()},
      {"value",
       {"a tensor of at most " + std::to_string(maxBoundElements) + " elements",
        isBoundValue}}};
  return known;
}

LogicalResult MnistDialect::verifyOperationAttribute(Operation *op,
                                                     NamedAttribute attribute) {
  if (failed(verifyKnown(op, placesOf(op), attribute, mnistAttributes())))
    return failure();
  StringRef name = attribute.getName();
  if (name == "mnist.recipe")
    return verifyEntries(op, name, cast<DictionaryAttr>(attribute.getValue()),
                         recipeEntries());
  if (name == "mnist.bound" || name == "mnist.tensors")
    for (Attribute each : cast<ArrayAttr>(attribute.getValue()))
      if (failed(verifyEntries(op, name, cast<DictionaryAttr>(each),
                               name == "mnist.bound" ? boundEntries()
                                                     : tensorEntries())))
        return failure();
  return success();
}

LogicalResult MnistDialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                     unsigned,
                                                     NamedAttribute attribute) {
  return verifyKnown(op, onArgument, attribute, mnistAttributes());
}

LogicalResult
MnistDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned,
                                          NamedAttribute attribute) {
  return verifyKnown(op, onResult, attribute, mnistAttributes());
}
