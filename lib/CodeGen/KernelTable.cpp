//===- KernelTable.cpp - the generated kernels of a file ------------------===//

#include "lib/CodeGen/KernelTable.h"
#include "lib/IR/Plan/StepOrder.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::mnistc;

/// Equal for steps that compute the same, whatever the order of their ops.
static size_t hashOf(StepOp step) {
  size_t hash =
      llvm::hash_combine(step.getScheduleAttr(),
                         llvm::hash_combine_range(step->result_type_begin(),
                                                  step->result_type_end()));
  for (Operation &op : step.getBody().front())
    hash += OperationEquivalence::computeHash(
        &op, OperationEquivalence::ignoreHashValue,
        OperationEquivalence::ignoreHashValue,
        OperationEquivalence::IgnoreLocations);
  return hash;
}

namespace {
/// Whether two steps compute the same, and from which inputs.
class Comparison {
public:
  Comparison(StepOp a, StepOp b) : a(a), b(b) {}

  bool areEqual() {
    return a.getScheduleAttr() == b.getScheduleAttr() &&
           a->getResultTypes() == b->getResultTypes() &&
           haveEqualOperands(a.getBody().front().getTerminator(),
                             b.getBody().front().getTerminator());
  }
  /// The input of `b` that takes the place of one of `a`.
  Value counterpart(Value input) const { return inputs.lookup(input); }

private:
  bool haveEqualOperands(Operation *x, Operation *y) {
    return x->getNumOperands() == y->getNumOperands() &&
           llvm::all_of_zip(x->getOperands(), y->getOperands(),
                            [&](Value v, Value w) { return areEqual(v, w); });
  }
  bool areEqual(Value x, Value y) {
    if (x.getType() != y.getType())
      return false;
    auto argument = dyn_cast<BlockArgument>(x);
    auto other = dyn_cast<BlockArgument>(y);
    if (argument && other)
      return matchInputs(a.getInputs()[argument.getArgNumber()],
                         b.getInputs()[other.getArgNumber()]);
    if (argument || other)
      return false;
    auto [known, isNew] = values.try_emplace(x, y);
    return isNew ? haveEqualOps(x, y) : known->second == y;
  }
  bool haveEqualOps(Value x, Value y) {
    Operation *op = x.getDefiningOp(), *other = y.getDefiningOp();
    return op->getName() == other->getName() && op->getNumRegions() == 0 &&
           cast<OpResult>(x).getResultNumber() ==
               cast<OpResult>(y).getResultNumber() &&
           op->getAttrDictionary() == other->getAttrDictionary() &&
           haveEqualOperands(op, other);
  }
  /// Each input has one counterpart, and is one's.
  bool matchInputs(Value input, Value other) {
    return inputs.try_emplace(input, other).first->second == other &&
           owners.try_emplace(other, input).first->second == input;
  }

  StepOp a, b;
  DenseMap<Value, Value> values; ///< of `b` that were found equal
  DenseMap<Value, Value> inputs, owners;
};
} // namespace

/// Whether no other stream of the step's plan has calls of the kernel; from now
/// on the step's has.
static bool takeStream(Kernel &kernel, StepOp step) {
  int64_t stream = streamOf(step);
  return kernel.streams.try_emplace(step->getParentOp(), stream)
             .first->second == stream;
}

std::optional<KernelUse> KernelTable::find(StepOp step, bool inPlace) {
  auto known = byHash.find(hashOf(step));
  if (known == byHash.end())
    return std::nullopt;
  for (Kernel *kernel : known->second) {
    Comparison comparison(kernel->step, step);
    if (kernel->inPlace != inPlace || !comparison.areEqual() ||
        !takeStream(*kernel, step))
      continue;
    KernelUse use{kernel, {}};
    for (Value input : kernel->inputs)
      use.inputs.push_back(comparison.counterpart(input));
    return use;
  }
  return std::nullopt;
}

KernelUse KernelTable::add(Kernel made) {
  kernels.push_back(std::move(made));
  Kernel &kernel = kernels.back();
  takeStream(kernel, kernel.step);
  byHash[hashOf(kernel.step)].push_back(&kernel);
  return {&kernel, kernel.inputs};
}

/// The text without comments and line breaks, and with numbers for `names`.
static std::string anonymous(StringRef text, ArrayRef<std::string> names) {
  llvm::StringMap<size_t> numbers;
  for (auto [number, name] : llvm::enumerate(names))
    numbers.try_emplace(name, number);
  auto isWord = [](char c) { return llvm::isAlnum(c) || c == '_'; };
  std::string result;
  while (!text.empty()) {
    if (text.starts_with("//")) {
      text = text.drop_until([](char c) { return c == '\n'; });
    } else if (llvm::isSpace(text.front())) {
      text = text.ltrim();
      result += ' ';
    } else if (isWord(text.front())) {
      StringRef word = text.take_while(isWord);
      text = text.drop_front(word.size());
      auto known = numbers.find(word);
      result += known == numbers.end() ? word.str()
                                       : "$" + std::to_string(known->second);
    } else {
      result += text.front();
      text = text.drop_front();
    }
  }
  return result;
}

const Functor &KernelTable::shareFunctor(StringRef call, StringRef text,
                                         ArrayRef<std::string> names,
                                         const Functor &own) {
  std::string key = (call + "\n" + anonymous(text, names)).str();
  return functors.try_emplace(key, own).first->second;
}
