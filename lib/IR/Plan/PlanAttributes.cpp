//===- PlanAttributes.cpp - the attributes of the plan dialect ------------===//

#include "lib/IR/KnownAttributes.h"
#include "lib/IR/Plan/Batches.h"
#include "lib/IR/Plan/PlanOps.h"
#include "lib/IR/Plan/StepOrder.h"
#include "lib/IR/Plan/Target.h"

using namespace mlir;
using namespace mlir::mnistc;

/// Whether `parse` understands a string.
template <typename T>
static bool parses(Attribute value, llvm::Expected<T> (*parse)(StringRef)) {
  auto text = dyn_cast<StringAttr>(value);
  if (!text)
    return false;
  llvm::Expected<T> parsed = parse(text);
  if (!parsed)
    llvm::consumeError(parsed.takeError());
  return bool(parsed);
}

static AttributeKind aStream() {
  return {"an i64 from 0 to " + std::to_string(maxStreams - 1),
          [](Attribute value) {
            auto number = dyn_cast<IntegerAttr>(value);
            return number && number.getType().isSignlessInteger(64) &&
                   number.getInt() >= 0 && number.getInt() < maxStreams;
          }};
}

static ArrayRef<KnownAttribute> planAttributes() {
  static const KnownAttribute known[] = {
      {afterAttribute, onStep, manyI64()},
      {"plan.arena_bytes", onFunction, aNumberOfBytes()},
      {besideAttribute, onStep, aUnit()},
      {candidateAttribute,
       onStep,
       {"a dictionary",
        [](Attribute value) { return isa<DictionaryAttr>(value); }}},
      {"plan.constant_bytes", onModule, aNumberOfBytes()},
      {"plan.initial_bytes", onModule, aNumberOfBytes()},
      {"plan.inline", onInlined, aUnit()},
      {againAttribute, onOp, aUnit()},
      {"plan.layout_reason", onFunction, aString()},
      {"plan.libraries",
       onModule,
       {"all, none or names of libraries joined by '+'",
        [](Attribute value) { return parses(value, Libraries::parse); }}},
      {"plan.offset", onArgument | onGlobal | onConstant, aNumberOfBytes()},
      {"plan.parameter_bytes", onModule, aNumberOfBytes()},
      {streamAttribute, onStep, aStream()},
      {"plan.precision",
       onModule,
       {"strict, fp32, tf32 or bf16",
        [](Attribute value) {
          auto text = dyn_cast<StringAttr>(value);
          return text && symbolizePrecision(text);
        }}},
      {"plan.prefer",
       onModule,
       {"libraries, tensor-cores or fma",
        [](Attribute value) {
          auto text = dyn_cast<StringAttr>(value);
          return text && symbolizeWay(text);
        }}},
      {prefetchesAttribute, onFunction, aUnit()},
      {"plan.target",
       onModule,
       {"the name of a target",
        [](Attribute value) { return parses(value, Target::get); }}},
      {tunedAttribute, onStep, aUnit()},
      {"plan.tuned_on", onModule, aString()},
      {"plan.workspace_bytes", onFunction, aNumberOfBytes()},
  };
  return known;
}

LogicalResult PlanDialect::verifyOperationAttribute(Operation *op,
                                                    NamedAttribute attribute) {
  return verifyKnown(op, placesOf(op), attribute, planAttributes());
}

LogicalResult PlanDialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                    unsigned,
                                                    NamedAttribute attribute) {
  return verifyKnown(op, onArgument, attribute, planAttributes());
}

LogicalResult
PlanDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned,
                                         NamedAttribute attribute) {
  return verifyKnown(op, onResult, attribute, planAttributes());
}
