//===- EmitChain.cpp - a chain as text ------------------------------------===//
//
// A functor for each link, as if it were a step, and one kernel for all of
// them: mnistrt/cuda/kernels/chain.cuh.
//
//===----------------------------------------------------------------------===//

#include "lib/CodeGen/FunctorEmitter.h"
#include "lib/IR/Mnist/TensorShape.h"
#include "lib/IR/Plan/ChainBody.h"
#include "lib/IR/Plan/RowBody.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::mnistc;

/// A map has a functor that others may share, and no sizes.
static std::string typeOfMap(const FunctorTable &functor, StringRef space,
                             StepOp link) {
  int64_t each = countOf(link.getResult(0)) / *rowsOfLink(link);
  return "mn::MapLink<" + functor.type.in(space) + ", " + std::to_string(each) +
         ">";
}

/// "mn::ReduceLink<mn::Sum, float, Mean, mean_shape>"
static std::string typeOfRoot(RootOpInterface root, StringRef functor,
                              StringRef shape) {
  KernelText text = root.getKernelText();
  std::string type = "mn::" + capitalized(text.function) + "Link<";
  if (!text.kind.empty())
    type += text.kind.str() + ", ";
  return type + elementName(root->getOperand(0)).str() + ", " + functor.str() +
         ", " + shape.str() + ">";
}

FailureOr<LinkText> FunctorEmitter::emitLink(std::string &text) {
  LinkText link;
  if (!root) {
    FailureOr<MapFunctorUse> use =
        functorFor(segmentsOf(step).front(), MapForm::each);
    if (failed(use))
      return failure();
    link.functor = {use->functor->type, {std::move(use->members)}};
    link.type = typeOfMap(link.functor, names.space(), step);
  } else {
    if (failed(emitKernel()))
      return failure();
    link.functor = tables.front();
    std::string functor = link.functor.type.in(names.space());
    link.type = isRowStep(step)
                    ? "mn::RowsLink<" + functor + ", " + shape + ">"
                    : typeOfRoot(cast<RootOpInterface>(root), functor, shape);
  }
  text += declared + shapeText;
  return link;
}

/// Pointers to all that the links are given, each once: what one of them makes
/// is written.
static std::string declareMembers(ArrayRef<LinkText> links,
                                  const PlanNames &names) {
  llvm::MapVector<StringRef, Value> results, inputs;
  for (const LinkText &link : links)
    for (Value member : link.functor.rows.front())
      (member.getDefiningOp() ? results : inputs)
          .insert({names[member], member});
  auto values = [](const llvm::MapVector<StringRef, Value> &of) {
    return llvm::map_to_vector(of, [](auto &pair) { return pair.second; });
  };
  return declarePointers(values(results), values(inputs), names);
}

/// The statements of the chain's function.
static std::string callText(StringRef type, StringRef kernel,
                            ArrayRef<LinkText> links, const PlanNames &names) {
  std::string text = declareMembers(links, names);
  NameScope locals(&names.scope);
  SmallVector<std::string> arguments = {"ctx", ("\"" + kernel + "\"").str()};
  for (const LinkText &link : links) {
    arguments.push_back(locals.add("link"));
    SmallVector<std::string> members =
        llvm::map_to_vector(link.functor.rows.front(),
                            [&](Value member) { return names[member].str(); });
    text += argumentLines("const " + link.functor.type.in(names.space()) + " " +
                              arguments.back(),
                          "{", members, "};", 2) +
            "\n";
  }
  return text +
         argumentLines(("mn::chain<" + type + ">").str(), "(", arguments, ");",
                       2) +
         "\n";
}

FailureOr<StepText> mlir::mnistc::emitChain(StepOp step, PlanNames &names,
                                            KernelTable &kernels) {
  StepText text;
  SmallVector<LinkText> links;
  SmallVector<std::string> types;
  for (StepOp link : linksOf(step)) {
    FailureOr<LinkText> made =
        FunctorEmitter(link, names, kernels).emitLink(text.device);
    if (failed(made))
      return failure();
    types.push_back(made->type);
    links.push_back(std::move(*made));
  }
  std::string first = names[step.getResult(0)].str();
  std::string kernel = (names.space() + "_" + first).str();
  std::string type = names.scope.add(first + "_chain");
  types.insert(types.begin(),
               std::to_string(*rowsOfLink(linksOf(step).front())));
  text.device +=
      argumentLines("using " + type + " = mn::Chain", "<", types, ">;", 0) +
      "\n" + argumentLines("MN_CHAIN_KERNEL", "(", {kernel, type}, ")", 0) +
      "\n";
  text.call = callText(type, kernel, links, names);
  text.writtenFor = step;
  return text;
}
