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
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::mnistc;

/// "mn::ReduceLink<mn::Sum, float, Mean, mean_shape>"
static std::string typeOfRoot(RootOpInterface root, StringRef functor,
                              StringRef shape) {
  KernelText text = root.getKernelText();
  std::string type = "mn::" + capitalized(text.function) + "Link<";
  if (!text.kind.empty())
    type += text.kind.str() + ", ";
  return type + elementName(computedBy(root)).str() + ", " + functor.str() +
         ", " + shape.str() + ">";
}

/// A map has a functor for each loop, which others may share, and no sizes.
LogicalResult FunctorEmitter::emitMapLinks(int64_t rows,
                                           SmallVectorImpl<LinkText> &links) {
  const Machine &machine = machineFor(step);
  for (const Segment &segment : segmentsOf(step)) {
    FailureOr<MapFunctorUse> use =
        functorFor(segment, machine.formOfLink(step, segment, rows));
    if (failed(use))
      return failure();
    FunctorTable functor = {use->functor->type, {std::move(use->members)}};
    std::string type = "mn::MapLink<" + functor.type.in(names.space()) + ", " +
                       std::to_string(segment.elements / rows) + ">";
    links.push_back({step, std::move(type), std::move(functor)});
  }
  return success();
}

LogicalResult FunctorEmitter::emitLinks(std::string &text, int64_t rows,
                                        SmallVectorImpl<LinkText> &links) {
  if (!root) {
    if (failed(emitMapLinks(rows, links)))
      return failure();
  } else {
    if (failed(emitKernel()))
      return failure();
    std::string functor = tables.front().type.in(names.space());
    links.push_back(
        {step,
         isRowStep(step)
             ? "mn::RowsLink<" + functor + ", " + shape + ">"
             : typeOfRoot(cast<RootOpInterface>(root), functor, shape),
         tables.front()});
  }
  text += declared + shapeText;
  return success();
}

/// Links that read nothing of what others made since threads waited for each
/// other last need not wait either.
static void placeBeside(MutableArrayRef<LinkText> links) {
  llvm::DenseSet<Value> made;
  for (LinkText &link : links) {
    auto reads = [&](Value member) {
      return made.contains(member) &&
             !llvm::is_contained(link.step.getResults(), member);
    };
    ArrayRef<Value> members = link.functor.rows.front();
    if (made.empty() || llvm::any_of(members, reads))
      made.clear();
    else
      link.type = "mn::Beside<" + link.type + ">";
    made.insert(link.step->result_begin(), link.step->result_end());
  }
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
  int64_t rows = rowsOfChain(linksOf(step));
  for (StepOp link : linksOf(step))
    if (failed(FunctorEmitter(link, names, kernels)
                   .emitLinks(text.device, rows, links)))
      return failure();
  placeBeside(links);
  for (const LinkText &link : links)
    types.push_back(link.type);
  std::string first = names[step.getResult(0)].str();
  std::string kernel = (names.space() + "_" + first).str();
  std::string type = names.scope.add(first + "_chain");
  types.insert(types.begin(), std::to_string(rows));
  text.device +=
      argumentLines("using " + type + " = mn::Chain", "<", types, ">;", 0) +
      "\n";
  text.kernel =
      argumentLines("MN_CHAIN_KERNEL", "(", {kernel, type}, ")", 0) + "\n";
  text.call = callText(type, kernel, links, names);
  text.writtenFor = step;
  return text;
}
