//===- AssignMemory.cpp - an address for every value ----------------------===//
//
// Values become ranges of an arena, that starts with the parameters,
// constants ranges of a block that all functions share. Assumes steps in the
// order in which they run.
//
//===----------------------------------------------------------------------===//

#include "lib/IR/Plan/Batches.h"
#include "lib/IR/Plan/Lifetimes.h"
#include "lib/IR/Plan/Parameters.h"
#include "lib/IR/Plan/StepOrder.h"
#include "lib/IR/Plan/Target.h"
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
  int64_t bytes, first, last;      ///< alive from step `first` to step `last`
  SmallVector<int64_t> users = {}; ///< steps that write or read it
  /// What is adjacent to the values, and how many bytes after them.
  SmallVector<std::pair<Value, int64_t>> adjacent = {};
  bool isJoined = false; ///< one of several that a collective takes at once
  int64_t begin = 0;

  /// Puts another buffer at the end of this one.
  void append(Buffer &other) {
    for (Value value : other.values)
      adjacent.push_back({value, bytes});
    bytes += other.bytes;
    first = std::min(first, other.first), last = std::max(last, other.last);
    llvm::append_range(users, other.users);
    other = {{}, 0, 0, 0};
  }
};

/// Which buffers may share memory: those that are alive at different times, in
/// the order of the plan; or, where steps run concurrently, in any order
/// that dependencies allow, so that nothing waits for memory.
class Sharing {
public:
  Sharing(func::FuncOp function, bool concurrent) : lifetimes(function) {
    if (concurrent)
      dependencies.emplace(function);
  }

  const Lifetimes lifetimes;

  bool interferes(const Buffer &a, const Buffer &b) const {
    if (dependencies)
      return !isOver(a, b.first) && !isOver(b, a.first);
    return a.first <= b.last && b.first <= a.last;
  }

  /// Whether step `now`, which reads a value that no step reads later, is the
  /// last to use the value's buffer, however steps run.
  bool endsWith(const Buffer &buffer, int64_t now) const {
    return !dependencies || llvm::all_of(buffer.users, [&](int64_t user) {
      return user == now || isNeeded(user, now);
    });
  }

private:
  /// Whether all that use a buffer have ended when step `now` begins.
  bool isOver(const Buffer &buffer, int64_t now) const {
    return now >= 0 && buffer.last < now &&
           llvm::all_of(
               buffer.users, [&](int64_t user) { return isNeeded(user, now); });
  }
  bool isNeeded(int64_t user, int64_t now) const {
    return user < now && (user < 0 || dependencies->needs(now, user));
  }

  std::optional<StepDependencies> dependencies;
};
} // namespace

using BufferMap = llvm::MapVector<Value, size_t>;

/// The buffer that result number `result` of `step` takes over, or null: that
/// of an operand that dies here, and that the step may write over.
static Buffer *bufferToTakeOver(StepOp step, unsigned result, int64_t now,
                                const Sharing &sharing, BufferMap &bufferOf,
                                MutableArrayRef<Buffer> buffers) {
  for (auto [i, input] : llvm::enumerate(step.getInputs())) {
    auto it = bufferOf.find(input);
    if (it == bufferOf.end() || !input.getDefiningOp<StepOp>())
      continue;
    Buffer &buffer = buffers[it->second];
    // It may be adjacent to those of one collective only.
    if (buffer.last == now && buffer.values.back() == input &&
        !buffer.isJoined && sharing.endsWith(buffer, now) &&
        canUpdateInPlace(step, i, result))
      return &buffer;
  }
  return nullptr;
}

/// The buffer of the operand that a collective makes a result of in place; null
/// where it has none, which cannot be.
static Buffer *bufferReduced(OpResult result, BufferMap &bufferOf,
                             MutableArrayRef<Buffer> buffers) {
  auto step = cast<StepOp>(result.getOwner());
  auto it = bufferOf.find(step.getInputs()[result.getResultNumber()]);
  return it == bufferOf.end() ? nullptr : &buffers[it->second];
}

/// What a collective adds up at once is one buffer.
static void joinBuckets(func::FuncOp function, const BufferMap &bufferOf,
                        SmallVectorImpl<Buffer> &buffers) {
  for (StepOp step : function.getOps<StepOp>()) {
    if (!isCollectiveStep(step))
      continue;
    auto first = bufferOf.find(step.getResult(0));
    for (OpResult result : llvm::drop_begin(step->getResults()))
      if (auto it = bufferOf.find(result); it != bufferOf.end() &&
                                           first != bufferOf.end() &&
                                           it->second != first->second)
        buffers[first->second].append(buffers[it->second]);
  }
  llvm::erase_if(buffers,
                 [](const Buffer &buffer) { return buffer.values.empty(); });
}

/// The buffers of a function, in the order in which they come to life. What has
/// a place among the parameters needs none.
static SmallVector<Buffer> findBuffers(func::FuncOp function,
                                       const DenseMap<Value, int64_t> &placed,
                                       const Sharing &sharing,
                                       int64_t alignment, bool reuse) {
  const Lifetimes &lifetimes = sharing.lifetimes;
  SmallVector<Buffer> buffers;
  BufferMap bufferOf;
  auto add = [&](Value value) {
    auto [first, last] = lifetimes.of(value);
    bufferOf[value] = buffers.size();
    buffers.push_back(
        {{value},
         int64_t(llvm::alignTo(sizeInBytes(value.getType()), alignment)),
         reuse ? first : 0,
         reuse ? last : lifetimes.end(),
         lifetimes.users(value)});
  };
  for (Value argument : function.getArguments())
    if (!placed.contains(argument))
      add(argument);
  for (auto [now, step] : llvm::enumerate(function.getOps<StepOp>()))
    for (OpResult result : step->getResults()) {
      if (placed.contains(result))
        continue;
      Buffer *taken =
          isCollectiveStep(step) ? bufferReduced(result, bufferOf, buffers)
          : reuse ? bufferToTakeOver(step, result.getResultNumber(), now,
                                     sharing, bufferOf, buffers)
                  : nullptr;
      if (!taken) {
        add(result);
        continue;
      }
      taken->isJoined |= isCollectiveStep(step) && step.getNumResults() > 1;
      taken->values.push_back(result);
      taken->last = lifetimes.of(result).second;
      llvm::append_range(taken->users, lifetimes.users(result));
      bufferOf[result] = taken - buffers.begin();
    }
  joinBuckets(function, bufferOf, buffers);
  return buffers;
}

/// Puts each buffer, in this order, at the lowest place where it meets no
/// other. Returns the size of the arena.
static int64_t place(MutableArrayRef<Buffer *> order, const Sharing &sharing) {
  int64_t arenaBytes = 0;
  SmallVector<Buffer *> placed; // by begin
  for (Buffer *buffer : order) {
    buffer->begin = 0;
    for (Buffer *other : placed)
      if (sharing.interferes(*buffer, *other) &&
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
static int64_t placeAll(MutableArrayRef<Buffer> buffers,
                        const Sharing &sharing) {
  SmallVector<Buffer *> planOrder =
      llvm::map_to_vector(buffers, [](Buffer &buffer) { return &buffer; });
  SmallVector<Buffer *> bySize = planOrder;
  // Of equal ones the first first: pointers into one array.
  llvm::sort(bySize, [](Buffer *a, Buffer *b) {
    return std::pair(-a->bytes, a) < std::pair(-b->bytes, b);
  });
  int64_t sizeBySize = place(bySize, sharing);
  int64_t size = place(planOrder, sharing);
  return size <= sizeBySize ? size : place(bySize, sharing);
}

namespace {
struct AssignMemory : impl::AssignMemoryBase<AssignMemory> {
  using AssignMemoryBase::AssignMemoryBase;

  void runOnOperation() override {
    if (alignment <= 0 || !llvm::isPowerOf2_64(alignment)) {
      getOperation().emitError("expected an alignment that is a power of two, "
                               "got ")
          << int64_t(alignment);
      return signalPassFailure();
    }
    if (workspace < 0) {
      getOperation().emitError("expected a workspace of 0 bytes or more, "
                               "got ")
          << int64_t(workspace);
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

  /// The addresses of arguments and results that are parameters.
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

  /// Places the inputs, where the next batch is copied to them while the plan
  /// runs. Returns where the rest may begin.
  int64_t placeOwnInputs(func::FuncOp function,
                         DenseMap<Value, int64_t> &offsetOf) {
    function->removeAttr(prefetchesAttribute);
    if (!machineFor(function).prefetchesBatches || !takesBatches(function) ||
        !countsBatches(function))
      return parameterBytes;
    function->setAttr(prefetchesAttribute, UnitAttr::get(&getContext()));
    int64_t end = parameterBytes;
    for (BlockArgument argument : function.getArguments())
      if (offsetOf.try_emplace(argument, end).second)
        end += llvm::alignTo(sizeInBytes(argument.getType()), alignment);
    return end;
  }

  void assignArena(func::FuncOp function) {
    DenseMap<Value, int64_t> offsetOf = placesOf(function);
    int64_t first = placeOwnInputs(function, offsetOf);
    Sharing sharing(function, reuse && concurrent);
    SmallVector<Buffer> buffers =
        findBuffers(function, offsetOf, sharing, alignment, reuse);
    int64_t arenaBytes = first + placeAll(buffers, sharing);
    for (const Buffer &buffer : buffers) {
      int64_t begin = first + buffer.begin;
      for (Value value : buffer.values)
        offsetOf[value] = begin;
      for (auto [value, bytes] : buffer.adjacent)
        offsetOf[value] = begin + bytes;
    }

    Builder builder(&getContext());
    for (BlockArgument argument : function.getArguments())
      function.setArgAttr(argument.getArgNumber(), "plan.offset",
                          builder.getI64IntegerAttr(offsetOf[argument]));
    int64_t wanted = 0;
    for (StepOp step : function.getOps<StepOp>()) {
      step.setOffsets(llvm::map_to_vector(
          step.getResults(), [&](Value result) { return offsetOf[result]; }));
      wanted = std::max(wanted, scratchFor(step));
    }
    function->setAttr("plan.arena_bytes",
                      builder.getI64IntegerAttr(arenaBytes));
    function->setAttr(
        "plan.workspace_bytes",
        builder.getI64IntegerAttr(std::min<int64_t>(wanted, workspace)));
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
