//===- EmitMap.cpp - a step without a root as text ------------------------===//
//
// A functor for each segment of a map; segments that are computed alike share
// one.
//
//===----------------------------------------------------------------------===//

#include "lib/CodeGen/FunctorEmitter.h"
#include "lib/IR/Mnist/TensorShape.h"
#include "lib/IR/Plan/Target.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::mnistc;

/// "64 * 128"
static std::string countText(Value value) {
  auto type = cast<ShapedType>(value.getType());
  SmallVector<std::string> sizes;
  for (int64_t size : type.getShape())
    if (size != 1)
      sizes.push_back(std::to_string(size));
  if (sizes.empty())
    return "1";
  if (type.getNumElements() > INT32_MAX)
    return std::to_string(type.getNumElements());
  return llvm::join(sizes, " * ");
}

static SmallVector<Value> resultsOf(StepOp step, const Segment &segment) {
  return llvm::map_to_vector(segment.results, [&](unsigned result) -> Value {
    return step.getResult(result);
  });
}

/// The function for element i of results that one loop makes, once a body has
/// begun. Where a result takes an input's place, all values are there before
/// the first store.
LogicalResult FunctorEmitter::emitElement(const Segment &segment, bool inPlace,
                                          SmallVector<Parameter> more) {
  std::string stores;
  Divisors divisors;
  for (auto [k, result] : llvm::enumerate(segment.results)) {
    Value value = yieldsOf(step)[result];
    Position position =
        positionAt({"i", Precedence::primary, &divisors}, shapeOf(value));
    FailureOr<Expr> text =
        segment.results.size() == 1 ? body.statementValue(value, position)
        : inPlace && k != 0         ? body.namedValue(value, position)
                                    : body.value(value, position);
    if (failed(text))
      return failure();
    stores += storeLine(names[step.getResult(result)], "i", *text);
  }
  StringRef type = takeRun(divisors, segment.elements, "mn::Element");
  SmallVector<Parameter> parameters = {{type, "i"}};
  llvm::append_range(parameters, more);
  finishFunction("void operator()", parameters, stores);
  return success();
}

LogicalResult FunctorEmitter::emitSegment(const Segment &segment,
                                          bool inPlace) {
  body.begin(/*indent=*/4);
  return emitElement(segment, inPlace, {});
}

/// The same of random numbers, which the function is given; and which they are.
LogicalResult FunctorEmitter::emitDrawn(const Segment &segment, bool inPlace) {
  SmallVector<std::string> draws;
  SmallVector<LoadedField> drawn;
  body.begin(/*indent=*/4);
  for (RandomUniformOp op : drawsOf(step, segment)) {
    FailureOr<SmallVector<Expr>> sequence = sequenceOf(body, op);
    if (failed(sequence))
      return failure();
    auto texts = llvm::map_to_vector(
        *sequence, [](const Expr &expr) { return expr.text; });
    draws.push_back("{" + llvm::join(texts, ", ") + "}");
    drawn.push_back({op.getOutput(), locals.add("uniform")});
  }
  finishFunction("mn::Draws<" + std::to_string(draws.size()) + "> draws", {},
                 argumentLines("    return ", "{{", draws, "}};", 0) + "\n");
  body.begin(/*indent=*/4);
  SmallVector<Parameter> numbers;
  for (const LoadedField &field : drawn) {
    Type type = getElementTypeOrSelf(field.tensor);
    Expr number{field.name};
    numbers.push_back({"float", field.name});
    body.bind(field.tensor,
              type.isF32()
                  ? number
                  : mlir::mnistc::call("static_cast<double>", {number}),
              Expr{"i"});
  }
  return emitElement(segment, inPlace, numbers);
}

/// The function that loads what is read in the order of the results, and the
/// fields that it fills.
void FunctorEmitter::emitDirectLoads(ArrayRef<BlockArgument> arguments,
                                     SmallVectorImpl<LoadedField> &loaded) {
  NameScope fieldNames;
  SmallVector<std::string> values;
  functions += "  struct ElementValues {\n";
  for (BlockArgument argument : arguments) {
    std::string name = use(argument);
    loaded.push_back({argument, fieldNames.add(name)});
    values.push_back(name + "[place]");
    functions +=
        ("    " + elementName(argument) + " " + loaded.back().name + ";\n")
            .str();
  }
  functions += "  };\n";
  body.begin(/*indent=*/4);
  finishElementLoad(values);
}

/// The same of what moves or repeats what it reads: four neighbours share a
/// place but for their numbers, so that what is adjacent in memory is seen to
/// be. `loaded` has what fields are called if they can be.
LogicalResult
FunctorEmitter::emitFourLoads(SmallVectorImpl<LoadedField> &loaded) {
  NameScope fieldNames;
  SmallVector<std::string> values;
  functions += "  struct ElementValues {\n";
  body.begin(/*indent=*/4);
  for (auto &[value, name] : loaded) {
    FailureOr<Expr> text = body.value(value, placeInFour(shapeOf(value)));
    if (failed(text))
      return failure();
    values.push_back(text->text);
    name = fieldNames.add(name);
    functions += ("    " + elementName(value) + " " + name + ";\n").str();
  }
  functions += "  };\n";
  finishFourLoad(values);
  return success();
}

/// The functions that compute and store the results, once what they are
/// computed from is bound.
LogicalResult
FunctorEmitter::emitSegmentResults(const Segment &segment,
                                   ArrayRef<Parameter> parameters) {
  SmallVector<StoredField> stored;
  const NamesInFour four = {"i.first", "i.number", "i"}; // of a mn::Neighbour
  for (unsigned result : segment.results) {
    Value value = yieldsOf(step)[result];
    FailureOr<Expr> text = body.value(
        value, positionAt({.text = "i", .four = &four}, shapeOf(value)));
    if (failed(text))
      return failure();
    stored.push_back({step.getResult(result), *text});
  }
  emitResults(stored, parameters);
  return success();
}

/// The same, once these are computed from what was loaded.
LogicalResult FunctorEmitter::emitLoadedResults(const Segment &segment,
                                                ArrayRef<LoadedField> loaded) {
  body.begin(/*indent=*/4);
  for (const LoadedField &field : loaded)
    body.bind(field.tensor, {"e." + field.name}, Expr{"i"});
  return emitSegmentResults(segment, {{"const ElementValues &", "e"},
                                      {"const mn::Neighbour &", "i"}});
}

/// The same as functions that load, compute and store, so that neighbours are
/// loaded and stored at once: else each store might change what the next
/// element loads.
LogicalResult FunctorEmitter::emitSegmentByFours(const Segment &segment) {
  SmallVector<LoadedField> loaded;
  functions.clear();
  SmallVector<BlockArgument> arguments = neighboursRead(step, segment);
  SmallVector<BroadcastOp> repeated = broadcastsRead(step, segment);
  if (repeated.empty()) {
    emitDirectLoads(arguments, loaded);
  } else {
    auto add = [&](Value value, Value read) {
      auto argument = dyn_cast<BlockArgument>(skipReshapes(read));
      loaded.push_back(
          {value, argument
                      ? names[step.getInputs()[argument.getArgNumber()]].str()
                      : "repeated"});
    };
    for (BlockArgument argument : arguments)
      add(argument, argument);
    for (BroadcastOp op : repeated)
      add(op, op.getInput());
    if (failed(emitFourLoads(loaded)))
      return failure();
  }
  return emitLoadedResults(segment, loaded);
}

/// The same of what moves: it is computed where it is loaded, all but the last
/// cast: NVRTC makes no load of four out of such as are between roundings.
LogicalResult FunctorEmitter::emitMovedFours(const Segment &segment) {
  SmallVector<LoadedField> loaded;
  functions.clear();
  for (unsigned result : segment.results) {
    Value value = yieldsOf(step)[result];
    auto cast = value.getDefiningOp<CastOp>();
    loaded.push_back(
        {cast ? cast.getInput() : value, names[step.getResult(result)].str()});
  }
  if (failed(emitFourLoads(loaded)))
    return failure();
  return emitLoadedResults(segment, loaded);
}

/// Element `column` of a row of a matrix, of all that `shape` has.
static Position matrixPosition(ArrayRef<int64_t> shape, RowDims rows) {
  Position position = positionAt({"matrix"}, shape.take_front(rows.first));
  llvm::append_range(
      position,
      positionAt({"row"}, shape.slice(rows.first, rows.end - rows.first)));
  llvm::append_range(position,
                     positionAt({"column"}, shape.drop_front(rows.end)));
  return position;
}

/// The same of what is transposed: it is computed in the order in which it is
/// in memory, and what follows it in that of the result.
LogicalResult FunctorEmitter::emitTransposed(const Segment &segment) {
  TransposedMap map = *transposedMap(step, segment);
  NameScope fieldNames;
  SmallVector<std::string> values;
  functions =
      ("  static constexpr mn::MatrixSides matrices{" + Twine(map.sides.rows) +
       ", " + Twine(map.sides.columns) + "};\n  struct TransposedValues {\n")
          .str();
  SmallVector<LoadedField> transposed, direct;
  body.begin(/*indent=*/4);
  for (auto [op, rows] : map.transposed) {
    FailureOr<Expr> text =
        body.value(op, matrixPosition(shapeOf(op.getOutput()), rows));
    if (failed(text))
      return failure();
    values.push_back(text->text);
    auto argument = dyn_cast<BlockArgument>(op.getInput());
    transposed.push_back(
        {op, fieldNames.add(argument ? use(argument) : "transposed")});
    functions +=
        ("    " + elementName(op) + " " + transposed.back().name + ";\n").str();
  }
  functions += "  };\n";
  finishFunction(
      "TransposedValues transposed",
      {{indexType, "matrix"}, {offsetType, "row"}, {indexType, "column"}},
      argumentLines("    return ", "{", values, "};", 0) + "\n");
  emitDirectLoads(map.direct, direct);
  body.begin(/*indent=*/4);
  for (const LoadedField &field : transposed)
    body.bind(field.tensor, {"t." + field.name}, Expr{"i"});
  for (const LoadedField &field : direct)
    body.bind(field.tensor, {"e." + field.name}, Expr{"i"});
  return emitSegmentResults(segment, {{"const TransposedValues &", "t"},
                                      {"const ElementValues &", "e"},
                                      {"const mn::Neighbour &", "i"}});
}

LogicalResult FunctorEmitter::emitForm(const Segment &segment, MapForm form,
                                       bool inPlace) {
  switch (form) {
  case MapForm::each:
    return emitSegment(segment, inPlace);
  case MapForm::neighbours:
    return emitSegmentByFours(segment);
  case MapForm::movedFours:
    return emitMovedFours(segment);
  case MapForm::drawn:
    return emitDrawn(segment, inPlace);
  case MapForm::transposed:
    return emitTransposed(segment);
  }
  llvm_unreachable("all forms are listed");
}

/// Declares a functor for a segment, or finds one that computes the same.
FailureOr<MapFunctorUse> FunctorEmitter::functorFor(const Segment &segment,
                                                    MapForm form) {
  SmallVector<Value> results = resultsOf(step, segment);
  bool inPlace = results.size() > 1 && takesPlace(step, results, names);
  if (std::optional<MapFunctorUse> known =
          kernels.findMap(step, segment, inPlace, form))
    return *known;
  inputs.clear();
  functions.clear();
  run.reset();
  if (failed(emitForm(segment, form, inPlace)))
    return failure();
  ScopedName type{names.space().str(), capitalized(names[results.front()])};
  SmallVector<Value> members = membersFor(results);
  declared += structText(type.name, members);
  return kernels.addMap({step, segment, inPlace, form, {type, ""}, members});
}

LogicalResult FunctorEmitter::emitOneSegment(const Segment &segment) {
  const Machine &machine = machineFor(step);
  FailureOr<MapFunctorUse> use =
      functorFor(segment, machine.formOf(step, segment));
  if (failed(use))
    return failure();
  Functor &functor = *use->functor;
  call = "mn::pointwise";
  // The number of elements is an argument.
  if (functor.kernel.empty()) {
    functor.kernel = name;
    macro = argumentLines("MN_POINTWISE_KERNEL", "(",
                          {name, functor.type.in(names.space())}, ")", 0) +
            "\n";
  }
  name = functor.kernel;
  count = countText(step.getResult(segment.results.front()));
  tables.push_back({functor.type, {std::move(use->members)}});
  return success();
}

LogicalResult FunctorEmitter::emitSegments(ArrayRef<Segment> segments) {
  const Machine &machine = machineFor(step);
  // Those of one functor next to each other.
  llvm::MapVector<Functor *, SmallVector<std::string>> elementsOf;
  llvm::MapVector<Functor *, FunctorTable> tableOf;
  for (const Segment &segment : segments) {
    FailureOr<MapFunctorUse> use =
        functorFor(segment, machine.formOf(step, segment));
    if (failed(use))
      return failure();
    elementsOf[use->functor].push_back(std::to_string(segment.elements));
    FunctorTable &table = tableOf[use->functor];
    table.type = use->functor->type;
    table.rows.push_back(std::move(use->members));
  }
  SmallVector<std::string> elements, types;
  for (auto &[functor, counts] : elementsOf)
    llvm::append_range(elements, counts);
  shape = names.scope.add((names[step.getResult(0)] + "_elements").str());
  shapeText = argumentLines("constexpr mn::Elements<" +
                                std::to_string(elements.size()) + "> " + shape,
                            "{{", elements, "}};", 0) +
              "\n";
  for (auto &[functor, table] : tableOf) {
    types.push_back("mn::Table<" + table.type.in(names.space()) + ", " +
                    std::to_string(table.rows.size()) + ">");
    tables.push_back(std::move(table));
  }
  call = "mn::segments";
  SmallVector<std::string> arguments = {name, shape};
  llvm::append_range(arguments, types);
  macro = argumentLines("MN_SEGMENTS_KERNEL", "(", arguments, ")", 0) + "\n";
  return success();
}

LogicalResult FunctorEmitter::emitMap() {
  SmallVector<Segment> segments = segmentsOf(step);
  if (segments.size() > 1)
    llvm::erase_if(segments, [](const Segment &s) { return s.elements == 0; });
  if (segments.empty())
    segments.push_back(segmentsOf(step).front());
  return segments.size() == 1 ? emitOneSegment(segments.front())
                              : emitSegments(segments);
}
