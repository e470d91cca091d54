//===- CheckBlocks.cpp - where a plan keeps what outlives a run -----------===//

#include "lib/IR/Plan/CheckBlocks.h"
#include "lib/IR/Mnist/HostTensor.h"
#include "lib/IR/Mnist/Permutation.h"
#include "lib/IR/Plan/StepBody.h"
#include "mnistrt/training.h"

using namespace mlir;
using namespace mlir::mnistc;

LogicalResult mlir::mnistc::checkPlace(Location loc, const Twine &what,
                                       int64_t begin, int64_t bytes,
                                       int64_t alignment, StringRef block,
                                       int64_t blockBytes) {
  if (begin % alignment != 0)
    return emitError(loc, "expected ")
           << what << " at a multiple of " << alignment << ", got " << begin;
  if (begin < 0 || begin + bytes > blockBytes)
    return emitError(loc, "expected ")
           << what << " inside the " << block << " of " << blockBytes
           << " bytes, got " << begin << " to " << begin + bytes;
  return success();
}

namespace {
/// A constant or parameter in its block.
struct Resident {
  int64_t begin, bytes;
  Operation *op;
  std::string name;
  Attribute value; ///< of a constant; equal ones may share a place
};
} // namespace

/// Where the last of them ends; they must not share bytes.
static FailureOr<int64_t> checkApart(SmallVectorImpl<Resident> &residents) {
  // What has no bytes comes before what has the same address.
  llvm::sort(residents, [](const Resident &a, const Resident &b) {
    return std::pair(a.begin, a.bytes) < std::pair(b.begin, b.bytes);
  });
  const Resident *last = nullptr;
  for (const Resident &next : residents) {
    if (last && last->begin + last->bytes > next.begin &&
        !(next.value && next.value == last->value && next.begin == last->begin))
      return next.op->emitOpError("expected ")
             << next.name << " apart from " << last->name << ", bytes "
             << last->begin << " to " << last->begin + last->bytes
             << ", got bytes " << next.begin << " to "
             << next.begin + next.bytes;
    last = &next;
  }
  return last ? last->begin + last->bytes : 0;
}

/// A block is no larger than its tensors: a program contains its bytes.
static LogicalResult checkSize(ModuleOp module, StringRef attribute,
                               int64_t bytes, int64_t end, int64_t alignment) {
  int64_t limit = llvm::alignTo(end, alignment);
  if (bytes <= limit)
    return success();
  return module.emitError("expected '") << attribute << "' of at most " << limit
                                        << ", where the last one ends, "
                                        << "got " << bytes;
}

static LogicalResult read(ModuleOp module, StringRef attribute,
                          int64_t &bytes) {
  if (auto number = module->getAttrOfType<IntegerAttr>(attribute)) {
    bytes = number.getInt();
    return success();
  }
  return module.emitError("expected '")
         << attribute << "' on the module, got none";
}

static LogicalResult checkConstants(ModuleOp module, Blocks &blocks) {
  if (failed(read(module, "plan.constant_bytes", blocks.constantBytes)))
    return failure();
  SmallVector<Resident> residents;
  for (auto function : module.getOps<func::FuncOp>())
    for (ConstantOp constant : function.getOps<ConstantOp>()) {
      auto offset = constant->getAttrOfType<IntegerAttr>("plan.offset");
      if (!offset)
        return constant.emitOpError("expected a 'plan.offset', got none");
      if (!HostTensor::read(constant.getValue()))
        return constant.emitOpError(
            "expected a constant with its elements, got none");
      residents.push_back({offset.getInt(), sizeInBytes(constant.getType()),
                           constant, "a constant", constant.getValue()});
      if (failed(checkPlace(constant.getLoc(), "a constant", offset.getInt(),
                            residents.back().bytes, blocks.alignment,
                            "constants", blocks.constantBytes)))
        return failure();
    }
  FailureOr<int64_t> end = checkApart(residents);
  if (failed(end))
    return failure();
  return checkSize(module, "plan.constant_bytes", blocks.constantBytes, *end,
                   blocks.alignment);
}

/// The type that the trainer expects of one of its states, or null.
static Type typeOfState(StringRef name, Builder builder) {
  if (name == mn::names::recipe)
    return RankedTensorType::get({mn::recipeRows, mn::RecipeColumn::count},
                                 builder.getF32Type());
  if (name == mn::names::lossSum)
    return RankedTensorType::get({}, builder.getF64Type());
  if (llvm::is_contained(mn::names::integers, name))
    return RankedTensorType::get({}, builder.getI64Type());
  return {};
}

/// Whether another order has each element once.
static LogicalResult checkOrder(ml_program::GlobalOp global) {
  auto shape = global->getAttrOfType<DenseI64ArrayAttr>("mnist.order_shape");
  auto perm = global->getAttrOfType<DenseI64ArrayAttr>("mnist.order");
  if (!shape && !perm)
    return success();
  auto type = cast<RankedTensorType>(global.getType());
  int64_t rest = type.getNumElements();
  if (shape)
    for (int64_t size : shape.asArrayRef())
      rest = size > 0 && rest % size == 0 ? rest / size : 0;
  if (shape && perm && isPermutation(perm.asArrayRef()) &&
      shape.size() == perm.size() && rest == 1)
    return success();
  return global.emitOpError("expected 'mnist.order' to permute a "
                            "'mnist.order_shape' of ")
         << type.getNumElements() << " elements";
}

static LogicalResult checkGlobal(ml_program::GlobalOp global,
                                 const Blocks &blocks) {
  StringRef name = global.getSymName();
  Type expected = typeOfState(name, Builder(global.getContext()));
  if (expected && global.getType() != expected)
    return global.emitOpError("expected the trainer's state '")
           << name << "' to be " << expected << ", got " << global.getType();
  if (!global->hasAttr("mnist.role"))
    return global.emitOpError("expected a 'mnist.role', got none");
  if (failed(checkOrder(global)))
    return failure();
  auto offset = global->getAttrOfType<IntegerAttr>("plan.offset");
  if (!offset)
    return global.emitOpError("expected a 'plan.offset', got none");
  int64_t begin = offset.getInt(), bytes = sizeInBytes(global.getType());
  if (failed(checkPlace(global.getLoc(), "parameter '" + name + "'", begin,
                        bytes, blocks.alignment, "parameters",
                        blocks.parameterBytes)))
    return failure();
  bool carried = begin < blocks.initialBytes;
  if (carried ? begin + bytes > blocks.initialBytes : !beginsAsZeros(global))
    return global.emitOpError("expected parameter '")
           << name << "', with its initial value, inside the first "
           << blocks.initialBytes << " bytes, got " << begin << " to "
           << begin + bytes;
  return success();
}

/// Parameters do not overlap in their block; those with a value come first.
static LogicalResult checkGlobals(ModuleOp module, Blocks &blocks) {
  auto globals = module.getOps<ml_program::GlobalOp>();
  if (globals.empty()) {
    for (StringRef name : {"plan.parameter_bytes", "plan.initial_bytes"})
      if (module->hasAttr(name))
        return module.emitError("expected '")
               << name << "' on a module with globals, got none";
    return success();
  }
  if (failed(read(module, "plan.parameter_bytes", blocks.parameterBytes)) ||
      failed(read(module, "plan.initial_bytes", blocks.initialBytes)))
    return failure();
  if (blocks.initialBytes > blocks.parameterBytes)
    return module.emitError("expected 'plan.initial_bytes' of at most ")
           << blocks.parameterBytes << ", as many as all parameters have, "
           << "got " << blocks.initialBytes;
  SmallVector<Resident> residents;
  for (ml_program::GlobalOp global : globals) {
    if (failed(checkGlobal(global, blocks)))
      return failure();
    residents.push_back(
        {global->getAttrOfType<IntegerAttr>("plan.offset").getInt(),
         sizeInBytes(global.getType()), global,
         "parameter '" + global.getSymName().str() + "'", Attribute()});
  }
  FailureOr<int64_t> end = checkApart(residents);
  if (failed(end))
    return failure();
  return checkSize(module, "plan.parameter_bytes", blocks.parameterBytes, *end,
                   blocks.alignment);
}

/// Linkers place no more in a program.
static constexpr int64_t maxCarried = INT32_MAX;

LogicalResult mlir::mnistc::checkBlocks(ModuleOp module, Blocks &blocks) {
  if (failed(checkConstants(module, blocks)) ||
      failed(checkGlobals(module, blocks)))
    return failure();
  if (blocks.constantBytes + blocks.initialBytes <= maxCarried)
    return success();
  return module.emitError("expected at most ")
         << maxCarried << " bytes of constants and initial values in a "
         << "program, got " << blocks.constantBytes + blocks.initialBytes;
}
