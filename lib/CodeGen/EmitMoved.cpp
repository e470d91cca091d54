//===- EmitMoved.cpp - what a chain leaves elsewhere as text --------------===//
//
// A link that only moves elements, not within rows, is computed in the order of
// what it reads (lib/IR/Plan/MovedElements.h): a functor for each input.
//
//===----------------------------------------------------------------------===//

#include "lib/CodeGen/FunctorEmitter.h"
#include "lib/IR/Mnist/TensorShape.h"
#include "lib/IR/Plan/MovedElements.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::mnistc;

/// Where an op moves what is at `position` of its operand.
static Position movedBy(OpOperand &move, Position position, BodyEmitter &body) {
  return llvm::TypeSwitch<Operation *, Position>(move.getOwner())
      .Case([&](ReshapeOp op) {
        return reshaped(
            position, shapeOf(op.getInput()), shapeOf(op.getOutput()),
            [&](const Expr &index) { return body.nameIndex(index); });
      })
      .Case([&](TransposeOp op) {
        Position moved;
        for (int64_t from : op.getPerm())
          moved.push_back(position[from]);
        return moved;
      })
      .Case([&](ConcatOp op) {
        int64_t begin = 0;
        for (Value before : op.getInputs().take_front(move.getOperandNumber()))
          begin += shapeOf(before)[op.getDim()];
        position[op.getDim()] = position[op.getDim()].affine(1, begin);
        return position;
      })
      .Default([&](Operation *) { return position; });
}

/// An element, as what it becomes.
static std::string castBy(ArrayRef<OpOperand *> moves, std::string value) {
  for (OpOperand *move : moves)
    if (auto cast = dyn_cast<CastOp>(move->getOwner()))
      value = ("mn::cast<" + elementName(cast.getOutput()) + ">(" + value + ")")
                  .str();
  return value;
}

/// The functions that move elements number `place` of an input, one or four.
void FunctorEmitter::emitMovedElements(BlockArgument input) {
  SmallVector<OpOperand *> moves = movesOf(input);
  Value result = step.getResult(0);
  StringRef made = names[result];
  SmallVector<LoadedField> loaded;
  emitDirectLoads({input}, loaded);
  body.begin(/*indent=*/4);
  StoredField stored = {result, {castBy(moves, "e." + loaded.front().name)}};
  finishFunction(
      "StoredValues results",
      {{"const ElementValues &", "e"}, {"const mn::Neighbour &", "i"}},
      declareStored({stored}));
  body.begin(/*indent=*/4);
  Position position = positionAt({"place"}, shapeOf(input));
  for (OpOperand *move : moves)
    position = movedBy(*move, position, body);
  Expr start =
      body.declare(indexType, "start", linearIndex(position, shapeOf(result)));
  functions += "  template <int n>\n"
               "  MN_FN void store(const StoredValues (&v)[n], mn::Index "
               "place) const {\n" +
               body.statements() + "    for (int i = 0; i < n; ++i)\n" +
               storeLine(made, start.text + " + i", {("v[i]." + made).str()},
                         /*indent=*/6) +
               "  }\n";
}

/// The function that moves element i of an input.
void FunctorEmitter::emitMovedElement(BlockArgument input) {
  SmallVector<OpOperand *> moves = movesOf(input);
  body.begin(/*indent=*/4);
  std::string element = use(input) + "[i]";
  Position position = positionAt({"i"}, shapeOf(input));
  for (OpOperand *move : moves)
    position = movedBy(*move, position, body);
  Expr to = linearIndex(position, shapeOf(step.getResult(0)));
  finishFunction(
      "void operator()", {{"mn::Element", "i"}},
      storeLine(names[step.getResult(0)], to.text, {castBy(moves, element)}));
}

void FunctorEmitter::emitMovedLinks(const mn::ChainBlocks &blocks,
                                    SmallVectorImpl<LinkText> &links) {
  call = "mn::MapLink"; // Only these share functors.
  for (BlockArgument input : step.getBody().getArguments()) {
    inputs.clear();
    functions.clear();
    int64_t ofRow = countOf(input) / blocks.rows;
    bool inFours = runOfMoved(input) % 4 == 0 && ofRow % 4 == 0 &&
                   ofRow * blocks.ofBlock > blocks.threads;
    if (inFours)
      emitMovedElements(input);
    else
      emitMovedElement(input);
    StringRef made = names[step.getResult(0)];
    bool isFirst = input.getArgNumber() == 0;
    FunctorTable functor =
        declareFunctor(isFirst ? made.str() : names.scope.add(made),
                       membersFor(step.getResults()));
    std::string type = "mn::MapLink<" + functor.type.in(names.space()) + ", " +
                       std::to_string(ofRow) + ">";
    links.push_back({step.getResults(), std::move(type), std::move(functor)});
  }
}
