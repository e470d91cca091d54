//===- AssignMemory.cpp - an address for every value ----------------------===//
//
// Values become ranges of an arena, at whose start the parameters lie,
// constants ranges of a block that all functions share. Assumes steps in the
// order in which they run.
//
//===----------------------------------------------------------------------===//

#include "lib/IR/Plan/Lifetimes.h"
#include "lib/IR/Plan/Parameters.h"
#include "lib/IR/Plan/StepBody.h"
#include "lib/Passes/Passes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::mnistc {

#define GEN_PASS_DEF_ASSIGNMEMORY
#include "lib/Passes/Passes.h.inc"

namespace {
/// Memory for one value, or for several of which each takes the place of the
/// one before.
struct Buffer {
  SmallVector<Value, 1> values;
  int64_t bytes, first, last; ///< alive from step `first` to step `last`
  int64_t begin = 0;

  bool meets(const Buffer &other) const {
    return first <= other.last && other.first <= last;
  }
};
} // namespace

using BufferMap = llvm::MapVector<Value, size_t>;

/// The buffer that result number `result` of `step` takes over, or null: that
/// of an operand that dies here, and that the step may write over.
static Buffer *bufferToTakeOver(StepOp step, unsigned result, int64_t now,
                                BufferMap &bufferOf,
                                MutableArrayRef<Buffer> buffers) {
  for (auto [i, input] : llvm::enumerate(step.getInputs())) {
    auto it = bufferOf.find(input);
    if (it == bufferOf.end() || !input.getDefiningOp<StepOp>())
      continue;
    Buffer &buffer = buffers[it->second];
    if (buffer.last == now && buffer.values.back() == input &&
        mayTakePlaceOf(step, i, result))
      return &buffer;
  }
  return nullptr;
}

/// The buffers of a function, in the order in which they come to life. What has
/// a place among the parameters needs none.
static SmallVector<Buffer> findBuffers(func::FuncOp function,
                                       const DenseMap<Value, int64_t> &placed,
                                       int64_t alignment, bool reuse) {
  Lifetimes lifetimes(function);
  SmallVector<Buffer> buffers;
  BufferMap bufferOf;
  auto add = [&](Value value) {
    auto [first, last] = lifetimes.of(value);
    bufferOf[value] = buffers.size();
    buffers.push_back(
        {{value},
         int64_t(llvm::alignTo(sizeInBytes(value.getType()), alignment)),
         reuse ? first : 0,
         reuse ? last : lifetimes.end()});
  };
  for (Value argument : function.getArguments())
    if (!placed.contains(argument))
      add(argument);
  for (auto [now, step] : llvm::enumerate(function.getOps<StepOp>()))
    for (OpResult result : step->getResults()) {
      if (placed.contains(result))
        continue;
      Buffer *taken = reuse ? bufferToTakeOver(step, result.getResultNumber(),
                                               now, bufferOf, buffers)
                            : nullptr;
      if (!taken) {
        add(result);
        continue;
      }
      taken->values.push_back(result);
      taken->last = lifetimes.of(result).second;
      bufferOf[result] = taken - buffers.begin();
    }
  return buffers;
}

/// Puts each buffer, in this order, at the lowest place where it meets no
/// other. Returns the size of the arena.
static int64_t place(MutableArrayRef<Buffer *> order) {
  int64_t arenaBytes = 0;
  SmallVector<Buffer *> placed; // by begin
  for (Buffer *buffer : order) {
    buffer->begin = 0;
    for (Buffer *other : placed)
      if (buffer->meets(*other) &&
          other->begin < buffer->begin + buffer->bytes &&
          buffer->begin < other->begin + other->bytes)
        buffer->begin = other->begin + other->bytes;
    placed.insert(llvm::upper_bound(
                      placed, buffer,
                      [](Buffer *a, Buffer *b) { return a->begin < b->begin; }),
                  buffer);
    arenaBytes = std::max(arenaBytes, buffer->begin + buffer->bytes);
  }
  return arenaBytes;
}

/// Places all buffers, in the better of two orders.
static int64_t placeAll(MutableArrayRef<Buffer> buffers) {
  SmallVector<Buffer *> planOrder =
      llvm::map_to_vector(buffers, [](Buffer &buffer) { return &buffer; });
  SmallVector<Buffer *> bySize = planOrder;
  // Of equal ones the first first: pointers into one array.
  llvm::sort(bySize, [](Buffer *a, Buffer *b) {
    return std::pair(-a->bytes, a) < std::pair(-b->bytes, b);
  });
  int64_t sizeBySize = place(bySize);
  int64_t size = place(planOrder);
  return size <= sizeBySize ? size : place(bySize);
}

static bool usesWorkspace(StepOp step) {
  return step.getImpl() == Impl::cudnn || step.getImpl() == Impl::cublas;
}

namespace {
struct AssignMemory : impl::AssignMemoryBase<AssignMemory> {
  using AssignMemoryBase::AssignMemoryBase;

  void runOnOperation() override {
    if (alignment <= 0 || !llvm::isPowerOf2_64(alignment)) {
      getOperation().emitError("expected an alignment that is a power of two, "
                               "but got ")
          << int64_t(alignment);
      return signalPassFailure();
    }
    if (failed(assignParameters()))
      return signalPassFailure();
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal())
        continue;
      for (Operation &op : function.getBody().front().without_terminator())
        if (!isa<StepOp, ConstantOp>(op)) {
          op.emitOpError("expected to be inside a step");
          return signalPassFailure();
        }
      assignArena(function);
    }
    assignConstants();
  }

private:
  /// Places the globals: first those whose bytes the program has to carry.
  LogicalResult assignParameters() {
    auto globals = getOperation().getOps<ml_program::GlobalOp>();
    if (globals.empty())
      return success();
    SmallVector<ml_program::GlobalOp> carried, zeros;
    for (ml_program::GlobalOp global : globals) {
      if (failed(checkParameter(global)))
        return failure();
      (beginsAsZeros(global) ? zeros : carried).push_back(global);
    }
    Builder builder(&getContext());
    int64_t bytes = 0;
    auto place = [&](ml_program::GlobalOp global) {
      global->setAttr("plan.offset", builder.getI64IntegerAttr(bytes));
      bytes += llvm::alignTo(sizeInBytes(global.getType()), alignment);
    };
    llvm::for_each(carried, place);
    int64_t initialBytes = bytes;
    llvm::for_each(zeros, place);
    parameterBytes = bytes;
    getOperation()->setAttr("plan.parameter_bytes",
                            builder.getI64IntegerAttr(bytes));
    getOperation()->setAttr("plan.initial_bytes",
                            builder.getI64IntegerAttr(initialBytes));
    return success();
  }

  /// Where arguments and results lie that are parameters.
  DenseMap<Value, int64_t> placesOf(func::FuncOp function) {
    SymbolTable symbols(getOperation());
    DenseMap<Value, int64_t> places;
    auto place = [&](Value value, StringAttr parameter) {
      auto global = parameter ? symbols.lookup<ml_program::GlobalOp>(parameter)
                              : ml_program::GlobalOp();
      if (global)
        places.try_emplace(
            value, global->getAttrOfType<IntegerAttr>("plan.offset").getInt());
    };
    for (BlockArgument argument : function.getArguments())
      place(argument, parameterOf(argument));
    Operation *end = function.getBody().front().getTerminator();
    for (OpOperand &operand : end->getOpOperands())
      place(operand.get(), parameterOf(function, operand.getOperandNumber()));
    return places;
  }

  void assignArena(func::FuncOp function) {
    DenseMap<Value, int64_t> offsetOf = placesOf(function);
    SmallVector<Buffer> buffers =
        findBuffers(function, offsetOf, alignment, reuse);
    int64_t arenaBytes = parameterBytes + placeAll(buffers);
    for (const Buffer &buffer : buffers)
      for (Value value : buffer.values)
        offsetOf[value] = parameterBytes + buffer.begin;

    Builder builder(&getContext());
    for (BlockArgument argument : function.getArguments())
      function.setArgAttr(argument.getArgNumber(), "plan.offset",
                          builder.getI64IntegerAttr(offsetOf[argument]));
    bool workspaceNeeded = false;
    for (StepOp step : function.getOps<StepOp>()) {
      step.setOffsets(llvm::map_to_vector(
          step.getResults(), [&](Value result) { return offsetOf[result]; }));
      workspaceNeeded |= usesWorkspace(step);
    }
    function->setAttr("plan.arena_bytes",
                      builder.getI64IntegerAttr(arenaBytes));
    function->setAttr(
        "plan.workspace_bytes",
        builder.getI64IntegerAttr(workspaceNeeded ? workspace : 0));
  }

  void assignConstants() {
    Builder builder(&getContext());
    DenseMap<Attribute, int64_t> offsetOf;
    int64_t bytes = 0;
    for (auto function : getOperation().getOps<func::FuncOp>())
      for (ConstantOp constant : function.getOps<ConstantOp>()) {
        auto [it, isNew] = offsetOf.try_emplace(constant.getValue(), bytes);
        if (isNew)
          bytes += llvm::alignTo(sizeInBytes(constant.getType()), alignment);
        constant->setAttr("plan.offset", builder.getI64IntegerAttr(it->second));
      }
    getOperation()->setAttr("plan.constant_bytes",
                            builder.getI64IntegerAttr(bytes));
  }

  int64_t parameterBytes = 0;
};
} // namespace

} // namespace mlir::mnistc
