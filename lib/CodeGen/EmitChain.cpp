//===- EmitChain.cpp - a chain as text ------------------------------------===//
//
// A functor for each link, as if it were a step, and one kernel for all of
// them: mnistrt/cuda/kernels/chain.cuh.
//
//===----------------------------------------------------------------------===//

#include "lib/CodeGen/FunctorEmitter.h"
#include "lib/IR/Mnist/TensorShape.h"
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
LogicalResult FunctorEmitter::emitMapLinks(const mn::ChainBlocks &blocks,
                                           SmallVectorImpl<LinkText> &links) {
  for (const Segment &segment : segmentsOf(step)) {
    FailureOr<MapFunctorUse> use =
        functorFor(segment, formOfLink(step, segment, blocks));
    if (failed(use))
      return failure();
    FunctorTable functor = {use->functor->type, {std::move(use->members)}};
    std::string type = "mn::MapLink<" + functor.type.in(names.space()) + ", " +
                       std::to_string(segment.elements / blocks.rows) + ">";
    links.push_back({step.getResults(), std::move(type), std::move(functor)});
  }
  return success();
}

/// "128, 3072": what a block holds of a tensor, and where.
static std::string heldText(const HeldTensor &tensor) {
  return (Twine(tensor.bytesOfRow) + ", " + Twine(tensor.offset)).str();
}

/// "mn::HeldLink<LINK, mn::Held<0, 128, 3072>>" of a link that is given what a
/// block holds.
static void holdTensors(LinkText &link, StepOp step, const ChainShape &chain) {
  std::string held;
  for (auto [number, member] : llvm::enumerate(link.functor.rows.front()))
    if (const HeldTensor *tensor = chain.heldBy(step, member))
      held += ", mn::Held<" + std::to_string(number) + ", " +
              heldText(*tensor) + ">";
  if (!held.empty())
    link.type = "mn::HeldLink<" + link.type + held + ">";
}

LogicalResult FunctorEmitter::emitLinks(std::string &text,
                                        const ChainShape &chain,
                                        SmallVectorImpl<LinkText> &links) {
  size_t before = links.size();
  if (scattersRows(step, linksOf(step->getParentOfType<StepOp>()),
                   chain.blocks.rows)) {
    emitMovedLinks(chain.blocks, links);
  } else if (!root) {
    if (failed(emitMapLinks(chain.blocks, links)))
      return failure();
  } else {
    if (failed(emitKernel()))
      return failure();
    std::string functor = tables.front().type.in(names.space());
    links.push_back(
        {step.getResults(),
         isRowStep(step)
             ? "mn::RowsLink<" + functor + ", " + shape + ">"
             : typeOfRoot(cast<RootOpInterface>(root), functor, shape),
         tables.front()});
  }
  for (LinkText &link : MutableArrayRef(links).drop_front(before))
    holdTensors(link, step, chain);
  text += declared + shapeText;
  return success();
}

/// Copies what a block holds from memory, or to memory, by links of a type with
/// such functors.
static void copyTensors(const ChainShape &chain, StringRef link,
                        StringRef functor, bool HeldTensor::*isCopied,
                        SmallVectorImpl<LinkText> &links) {
  for (const HeldTensor &tensor : chain.held)
    if (tensor.*isCopied) {
      SmallVector<Value> made;
      if (tensor.isBrought)
        made.push_back(tensor.value);
      links.push_back({std::move(made),
                       ("mn::" + link + "<" + heldText(tensor) + ">").str(),
                       {{"mn", functor.str()}, {{tensor.value}}}});
    }
}

/// Links that read nothing of what others made since threads waited for each
/// other last need not wait either.
static void placeBeside(MutableArrayRef<LinkText> links) {
  llvm::DenseSet<Value> made;
  for (LinkText &link : links) {
    auto reads = [&](Value member) {
      return made.contains(member) && !llvm::is_contained(link.made, member);
    };
    ArrayRef<Value> members = link.functor.rows.front();
    if (made.empty() || llvm::any_of(members, reads))
      made.clear();
    else
      link.type = "mn::Beside<" + link.type + ">";
    made.insert(link.made.begin(), link.made.end());
  }
}

/// Pointers to all that the links are given and memory has, each once: what one
/// of them makes is written.
static std::string declareMembers(ArrayRef<LinkText> links,
                                  const PlanNames &names) {
  llvm::MapVector<StringRef, Value> results, inputs;
  for (const LinkText &link : links)
    for (Value member : link.functor.rows.front())
      if (names.isInMemory(member))
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
        llvm::map_to_vector(link.functor.rows.front(), [&](Value member) {
          return names.isInMemory(member) ? names[member].str() : "nullptr";
        });
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

/// "constexpr mn::ChainBlocks x_blocks{.rows = 64, .ofBlock = 1, ...};"
static std::string blocksText(StringRef name, const mn::ChainBlocks &blocks) {
  SmallVector<std::string> fields = {
      ".rows = " + std::to_string(blocks.rows),
      ".ofBlock = " + std::to_string(blocks.ofBlock),
      ".threads = " + std::to_string(blocks.threads)};
  if (blocks.held != 0)
    fields.push_back(".held = " + std::to_string(blocks.held));
  return argumentLines(("constexpr mn::ChainBlocks " + name).str(), "{", fields,
                       "};", 0) +
         "\n";
}

FailureOr<StepText> mlir::mnistc::emitChain(StepOp step, PlanNames &names,
                                            KernelTable &kernels) {
  StepText text;
  SmallVector<LinkText> links;
  SmallVector<std::string> types;
  ChainShape shape = shapeOfChain(linksOf(step));
  copyTensors(shape, "BringLink", "BroughtRows", &HeldTensor::isBrought, links);
  for (StepOp link : linksOf(step))
    if (failed(FunctorEmitter(link, names, kernels)
                   .emitLinks(text.device, shape, links)))
      return failure();
  copyTensors(shape, "TakeLink", "TakenRows", &HeldTensor::isTaken, links);
  placeBeside(links);
  for (const LinkText &link : links)
    types.push_back(link.type);
  std::string first = names[linksOf(step).front().getResult(0)].str();
  std::string kernel = (names.space() + "_" + first).str();
  std::string blocks = names.scope.add(first + "_blocks");
  std::string type = names.scope.add(first + "_chain");
  types.insert(types.begin(), blocks);
  text.device += blocksText(blocks, shape.blocks);
  text.device +=
      argumentLines("using " + type + " = mn::Chain", "<", types, ">;", 0) +
      "\n";
  text.kernel =
      argumentLines("MN_CHAIN_KERNEL", "(", {kernel, type}, ")", 0) + "\n";
  text.call = callText(type, kernel, links, names);
  text.writtenFor = step;
  return text;
}
