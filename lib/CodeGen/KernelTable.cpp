//===- KernelTable.cpp - the generated kernels of a file ------------------===//

#include "lib/CodeGen/KernelTable.h"
#include "lib/CodeGen/StepComparison.h"
#include "lib/IR/Plan/Schedule.h"
#include "lib/IR/Plan/StepOrder.h"
#include "mlir/IR/TypeUtilities.h"
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

/// Whether no other stream of the step's plan has calls of the kernel; from now
/// on the step's has.
static bool takeStream(Kernel &kernel, StepOp step) {
  int64_t stream = streamOf(step);
  return kernel.streams.try_emplace(step->getParentOp(), stream)
             .first->second == stream;
}

/// What a step that computes the same gives to a functor with these members.
static SmallVector<Value> counterparts(ArrayRef<Value> members,
                                       const StepComparison &comparison) {
  return llvm::map_to_vector(
      members, [&](Value member) { return comparison.counterpart(member); });
}

std::optional<KernelUse> KernelTable::find(StepOp step, bool inPlace) {
  auto known = byHash.find(hashOf(step));
  if (known == byHash.end())
    return std::nullopt;
  for (Kernel *kernel : known->second) {
    StepComparison comparison(kernel->step, step);
    if (kernel->inPlace != inPlace ||
        keepsFilter(kernel->step) != keepsFilter(step) ||
        loadsEarly(kernel->step) != loadsEarly(step) ||
        runsBeside(kernel->step) != runsBeside(step) ||
        !comparison.areEqual() || !takeStream(*kernel, step))
      continue;
    KernelUse use{kernel, {}};
    for (const FunctorTable &table : kernel->tables) {
      use.tables.push_back({table.type, {}});
      for (ArrayRef<Value> row : table.rows)
        use.tables.back().rows.push_back(counterparts(row, comparison));
    }
    return use;
  }
  return std::nullopt;
}

KernelUse KernelTable::add(Kernel made) {
  kernels.push_back(std::move(made));
  Kernel &kernel = kernels.back();
  takeStream(kernel, kernel.step);
  byHash[hashOf(kernel.step)].push_back(&kernel);
  return {&kernel, kernel.tables};
}

/// Equal for segments that compute the same, of any number of elements: it
/// follows the first operands, which tell most apart.
static size_t hashOf(StepOp step, const Segment &segment) {
  size_t hash = segment.results.size();
  for (unsigned result : segment.results) {
    Value value = skipReshapes(yieldsOf(step)[result]);
    while (Operation *op = value.getDefiningOp()) {
      hash =
          llvm::hash_combine(hash, op->getName(), getElementTypeOrSelf(value));
      if (op->getNumOperands() == 0)
        break;
      value = skipReshapes(op->getOperand(0));
    }
  }
  return hash;
}

std::optional<MapFunctorUse> KernelTable::findMap(StepOp step,
                                                  const Segment &segment,
                                                  bool inPlace, MapForm form) {
  for (MapFunctor *map : mapsByHash[hashOf(step, segment)]) {
    StepComparison comparison(map->step, step);
    if (map->inPlace == inPlace && map->form == form &&
        comparison.areEqual(map->segment, segment))
      return MapFunctorUse{&map->functor,
                           counterparts(map->members, comparison)};
  }
  return std::nullopt;
}

MapFunctorUse KernelTable::addMap(MapFunctor made) {
  maps.push_back(std::move(made));
  MapFunctor &map = maps.back();
  mapsByHash[hashOf(map.step, map.segment)].push_back(&map);
  return {&map.functor, map.members};
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
