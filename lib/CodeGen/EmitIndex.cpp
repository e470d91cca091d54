//===- EmitIndex.cpp - ops that only rename the index ---------------------===//
//
// Each reads an element of an operand at another position; concat and pad
// choose, and compute only what they choose.
//
//===----------------------------------------------------------------------===//

#include "lib/CodeGen/EmitBody.h"
#include "lib/IR/Mnist/HostTensor.h"
#include "lib/IR/Mnist/TensorShape.h"
#include "mnistrt/math.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::mnistc;

using Text = FailureOr<Expr>;

static Text emitBroadcast(BodyEmitter &body, BroadcastOp op,
                          const Position &position) {
  Position source;
  for (int64_t dim : op.getDims())
    source.push_back(position[dim]);
  return body.value(op.getInput(), source);
}

/// One of the inputs from number `first` to before `last`, which begin at the
/// coordinates `begins`: by halves, so that many inputs are not as many nested
/// branches.
static Text emitPart(BodyEmitter &body, ConcatOp op, const Position &position,
                     ArrayRef<int64_t> begins, size_t first, size_t last) {
  int64_t dim = op.getDim();
  if (last - first == 1) {
    Position source = position;
    source[dim] = source[dim].affine(1, -begins[first]);
    return body.value(op.getInputs()[first], source);
  }
  // One without elements is never read.
  if (begins[first] == begins[first + 1])
    return emitPart(body, op, position, begins, first + 1, last);

  size_t middle = first + (last - first) / 2;
  if (begins[middle] == begins[last])
    return emitPart(body, op, position, begins, first, middle);
  return body.choose(
      op, position[dim].isBelow(begins[middle]),
      [&] { return emitPart(body, op, position, begins, first, middle); },
      [&] { return emitPart(body, op, position, begins, middle, last); });
}

static Text emitConcat(BodyEmitter &body, ConcatOp op,
                       const Position &position) {
  SmallVector<int64_t> begins = {0};
  for (Value input : op.getInputs())
    begins.push_back(begins.back() + shapeOf(input)[op.getDim()]);
  return emitPart(body, op, position, begins, 0, op.getInputs().size());
}

static Text emitGather(BodyEmitter &body, GatherOp op,
                       const Position &position) {
  int64_t dim = op.getDim(), rank = shapeOf(op.getIndices()).size();
  int64_t size = shapeOf(op.getInput())[dim];
  Position where(position.begin() + dim, position.begin() + dim + rank);
  Text index = body.value(op.getIndices(), where);
  if (failed(index))
    return failure();
  // Names, since each is read twice.
  Expr given = body.declare("int64_t", "index", *index);
  std::string limit = std::to_string(size);
  Expr counted = body.declare(
      "int64_t", "counted",
      conditional({given.text + " < 0", Precedence::relational},
                  {given.text + " + " + limit, Precedence::additive}, given));
  Expr chosen = body.declare(
      "mn::Index", "chosen",
      call("mn::max<int64_t>",
           {number(0), call("mn::min<int64_t>", {counted, number(size - 1)})}));
  Position source(position.begin(), position.begin() + dim);
  source.push_back(Coordinate::opaque(chosen, size));
  source.append(position.begin() + dim + rank, position.end());
  return body.value(op.getInput(), source);
}

static Text emitIota(IotaOp op, const Position &position) {
  std::string type =
      elementTypeName(op.getOutput().getType().getElementType()).str();
  return call("static_cast<" + type + ">", {position[op.getDim()].print()});
}

/// The coordinate inside the operand that a coordinate of a padded tensor
/// shows: `from` is the coordinate relative to the operand's beginning.
static Coordinate reflected(BodyEmitter &body, PadMode mode, Expr from,
                            int64_t size) {
  std::string n = std::to_string(size), last = std::to_string(size - 1);
  if (mode == PadMode::edge)
    return Coordinate::opaque(
        body.nameIndex(
            call("mn::max<mn::Index>",
                 {number(0), call("mn::min<mn::Index>", {from, Expr{last}})})),
        size);
  if (mode == PadMode::wrap)
    return Coordinate::opaque(Expr{"(" + from.as(Precedence::multiplicative) +
                                       " % " + n + " + " + n + ") % " + n,
                                   Precedence::multiplicative},
                              size);
  if (size == 1)
    return Coordinate::opaque(number(0), 1);
  // The padding is smaller than the operand: mirrored once at either end.
  Expr away = body.nameIndex(call("mn::abs", {from}));
  Expr mirrored{away.text + " < " + n + " ? " + away.text + " : " +
                    std::to_string(2 * (size - 1)) + " - " + away.text,
                Precedence::conditional};
  return Coordinate::opaque(body.nameIndex(mirrored), size);
}

static Text emitPad(BodyEmitter &body, PadOp op, const Position &position) {
  ArrayRef<int64_t> in = shapeOf(op.getInput()), out = shapeOf(op.getOutput());
  Position source = position;
  Expr inside;
  for (size_t dim = 0; dim < in.size(); ++dim) {
    int64_t low = op.getLow()[dim], high = out[dim] - in[dim] - low;
    source[dim] = source[dim].affine(1, -low);
    if (low <= 0 && high <= 0)
      continue;
    if (op.getMode() != PadMode::constant) {
      source[dim] = reflected(body, op.getMode(), source[dim].print(), in[dim]);
      continue;
    }
    auto add = [&](StringRef sign, int64_t bound) {
      Expr test = infix(position[dim].print(), sign, number(bound),
                        Precedence::relational);
      inside = inside.text.empty()
                   ? test
                   : infix(inside, "&&", test, Precedence::logicalAnd);
    };
    if (low > 0)
      add(">=", low);
    if (high > 0)
      add("<", low + in[dim]);
  }
  auto element = [&] { return body.value(op.getInput(), source); };
  if (inside.text.empty())
    return element();

  Type type = op.getOutput().getType().getElementType();
  auto padding = [&]() -> Text {
    APFloat value = op.getValue();
    if (isa<FloatType>(type)) {
      bool inexact;
      value.convert(cast<FloatType>(type).getFloatSemantics(),
                    APFloat::rmNearestTiesToEven, &inexact);
      return literal(type, value);
    }
    return dispatch(type, [&](auto zero) {
      using T = decltype(zero);
      T number = mn::cast<T>(value.convertToDouble());
      return literal(type, APInt(type.getIntOrFloatBitWidth(), number,
                                 /*isSigned=*/std::is_signed_v<T>));
    });
  };
  return body.choose(op, inside, element, padding);
}

FailureOr<SmallVector<Expr>> mlir::mnistc::sequenceOf(BodyEmitter &body,
                                                      RandomUniformOp op) {
  SmallVector<Value> scalars = {op.getSeed(), op.getStep()};
  if (op.getRows())
    scalars.append({op.getRank(), op.getRanks()});
  SmallVector<Expr> fields;
  for (Value scalar : scalars) {
    Text text = body.value(scalar, {});
    if (failed(text))
      return failure();
    fields.push_back(*text);
  }
  fields.insert(fields.begin() + 1, number(op.getStream()));
  if (op.getRows())
    fields.insert(fields.begin() + 3,
                  number(countOf(op.getOutput()) / int64_t(*op.getRows())));
  return fields;
}

static Text emitRandomUniform(BodyEmitter &body, RandomUniformOp op,
                              const Position &position) {
  FailureOr<SmallVector<Expr>> sequence = sequenceOf(body, op);
  if (failed(sequence))
    return failure();
  ArrayRef<Expr> fields = *sequence;
  SmallVector<Expr> element = {
      body.knownIndex(linearIndex(position, shapeOf(op)))};
  if (op.getRows()) {
    llvm::append_range(element, fields.drop_front(3));
    element = {call("mn::elementOfRank", element)};
  }
  SmallVector<Expr> arguments(fields.take_front(3));
  llvm::append_range(arguments, element);
  Expr number = call("mn::randomUniform", arguments);
  return op.getOutput().getType().getElementType().isF32()
             ? number
             : call("static_cast<double>", {number});
}

static Text emitReshape(BodyEmitter &body, ReshapeOp op,
                        const Position &position) {
  return body.value(
      op.getInput(),
      reshaped(position, shapeOf(op.getOutput()), shapeOf(op.getInput()),
               [&](const Expr &index) { return body.nameIndex(index); }));
}

static Text emitSlice(BodyEmitter &body, SliceOp op, const Position &position) {
  Position source;
  for (auto [coordinate, start, step] :
       llvm::zip(position, op.getStarts(), op.getSteps()))
    source.push_back(coordinate.affine(step, start));
  return body.value(op.getInput(), source);
}

static Text emitTranspose(BodyEmitter &body, TransposeOp op,
                          const Position &position) {
  Position source(position.size());
  for (auto [to, from] : llvm::enumerate(op.getPerm()))
    source[from] = position[to];
  return body.value(op.getInput(), source);
}

Text mlir::mnistc::emitIndexing(BodyEmitter &body, Operation *op,
                                const Position &position) {
  return llvm::TypeSwitch<Operation *, Text>(op)
      .Case([&](BroadcastOp op) { return emitBroadcast(body, op, position); })
      .Case([&](ConcatOp op) { return emitConcat(body, op, position); })
      .Case([&](GatherOp op) { return emitGather(body, op, position); })
      .Case([&](IotaOp op) { return emitIota(op, position); })
      .Case([&](PadOp op) { return emitPad(body, op, position); })
      .Case([&](RandomUniformOp op) {
        return emitRandomUniform(body, op, position);
      })
      .Case([&](ReshapeOp op) { return emitReshape(body, op, position); })
      .Case([&](SliceOp op) { return emitSlice(body, op, position); })
      .Case([&](TransposeOp op) { return emitTranspose(body, op, position); })
      .Default([](Operation *op) -> Text {
        return op->emitOpError("has no C++ index");
      });
}
