//===- EmitStep.cpp - one step as text ------------------------------------===//
//
// A root says which kernel computes it and what its functor must say
// (RootOpInterface).
//
//===----------------------------------------------------------------------===//

#include "lib/CodeGen/EmitStep.h"
#include "lib/CodeGen/FunctorEmitter.h"
#include "lib/IR/Mnist/TensorShape.h"
#include "lib/IR/Plan/RowBody.h"
#include "lib/IR/Plan/StepBody.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::mnistc;

//===----------------------------------------------------------------------===//
// Shared by all steps
//===----------------------------------------------------------------------===//

ShapeText mlir::mnistc::shapeTextOf(StepOp step) {
  ShapeText text = cast<RootOpInterface>(rootOf(step)).getShapeText();
  if (Mma mma = mmaOf(step); mma != Mma::ffma)
    text.fields.push_back(
        (".schedule = {.mma = mn::Mma::" + stringifyMma(mma) + "}").str());
  return text;
}

std::string mlir::mnistc::declareShape(const ShapeText &shape, StringRef name) {
  std::string head = ("constexpr " + shape.type + " " + name).str();
  std::string text = head + "{" + llvm::join(shape.fields, ", ") + "};\n";
  if (text.size() <= 81)
    return text;
  text = head + "{\n";
  for (const std::string &field : shape.fields)
    text += "    " + field + ",\n";
  return text + "};\n";
}

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

std::string mlir::mnistc::declarePointers(ArrayRef<Value> results,
                                          ArrayRef<Value> inputs,
                                          const PlanNames &names) {
  std::string text;
  auto declare = [&](StringRef type, Value value) {
    text +=
        line(type + " *" + names[value] + " = " + names.address(value) + ";",
             2) +
        "\n";
  };
  for (Value value : results)
    declare("auto", value);
  for (Value value : inputs)
    declare("const auto", value);
  return text;
}

//===----------------------------------------------------------------------===//
// Steps on generated code
//===----------------------------------------------------------------------===//

/// Whether `name` is a word of `text`.
static bool mentions(StringRef text, StringRef name) {
  auto isWord = [](char c) { return llvm::isAlnum(c) || c == '_'; };
  for (size_t at = text.find(name); at != StringRef::npos;
       at = text.find(name, at + 1)) {
    size_t end = at + name.size();
    if ((at == 0 || !isWord(text[at - 1])) &&
        (end == text.size() || !isWord(text[end])))
      return true;
  }
  return false;
}

void FunctorEmitter::finishFunction(StringRef head,
                                    ArrayRef<Parameter> parameters,
                                    const Twine &last) {
  std::string statements = body.statements() + last.str();
  SmallVector<std::string> declared;
  for (const Parameter &parameter : parameters)
    declared.push_back(parameter.type +
                       (!mentions(statements, parameter.name) ? ""
                        : StringRef(parameter.type).ends_with("&")
                            ? parameter.name
                            : " " + parameter.name));
  std::string open =
      argumentLines(("  MN_FN " + head).str(), "(", declared, ") const {", 0);
  StringRef only = StringRef(statements).trim();
  if (!only.contains('\n') && open.size() + only.size() + 3 <= 80)
    functions += open + " " + only.str() + " }\n";
  else
    functions += open + "\n" + statements + "  }\n";
}

std::string mlir::mnistc::storeLine(StringRef pointer, StringRef index,
                                    const Expr &value, unsigned indent) {
  return line(pointer + "[" + index + "] = " + value.text + ";", indent) + "\n";
}

/// Whether a result shares the address of an input that the step may still
/// read.
static bool takesPlace(StepOp step, const PlanNames &names) {
  return llvm::any_of(step.getInputs(), [&](Value input) {
    return !input.getDefiningOp<ConstantOp>() &&
           llvm::any_of(step.getResults(), [&](Value result) {
             return names.offset(result) == names.offset(input);
           });
  });
}

/// The statements for element i of results that one loop makes. Where a result
/// takes an input's place, all values are there before the first store.
FailureOr<std::string> FunctorEmitter::emitSegment(const Segment &segment,
                                                   unsigned indent) {
  body.begin(indent);
  std::string stores;
  bool early = takesPlace(step, names);
  for (unsigned k = 0; k < segment.count; ++k) {
    Value value = yieldsOf(step)[segment.first + k];
    Position position = positionAt({"i"}, shapeOf(value));
    FailureOr<Expr> text = segment.count == 1
                               ? body.statementValue(value, position)
                           : early && k != 0 ? body.namedValue(value, position)
                                             : body.value(value, position);
    if (failed(text))
      return failure();
    stores +=
        storeLine(names[step.getResult(segment.first + k)], "i", *text, indent);
  }
  return body.statements() + stores;
}

LogicalResult FunctorEmitter::emitMap() {
  SmallVector<Segment> segments = segmentsOf(step);
  if (segments.size() > 1)
    llvm::erase_if(segments, [](const Segment &s) { return s.elements == 0; });
  if (segments.empty())
    segments.push_back(segmentsOf(step).front());
  std::string statements;
  int64_t elements = 0;
  for (const Segment &segment : segments) {
    bool isLast = &segment == &segments.back();
    FailureOr<std::string> text = emitSegment(segment, isLast ? 4 : 6);
    if (failed(text))
      return failure();
    elements += segment.elements;
    std::string count = std::to_string(segment.elements);
    statements += isLast
                      ? *text
                      : "    if (i < " + count + ") {\n" + *text +
                            "      return;\n    }\n    i -= " + count + ";\n";
  }
  body.begin(/*indent=*/4);
  finishFunction("void operator()", {{"mn::Element", "i"}}, statements);
  call = "mn::pointwise";
  std::string type = takeFunctor();
  if (!declared.empty())
    macro =
        argumentLines("MN_POINTWISE_KERNEL", "(", {name, type}, ")", 0) + "\n";
  count = segments.size() == 1 ? countText(step.getResult(segments[0].first))
                               : std::to_string(elements);
  return success();
}

LogicalResult FunctorEmitter::emitLoad(StringRef name, Value operand,
                                       ArrayRef<Parameter> parameters,
                                       const Position &position) {
  body.begin(/*indent=*/4);
  FailureOr<Expr> text = body.statementValue(operand, position);
  if (failed(text))
    return failure();
  finishFunction((elementName(operand) + " " + name).str(), parameters,
                 line("return " + text->text + ";", 4) + "\n");
  return success();
}

LogicalResult FunctorEmitter::emitStore(bool givesIndex, bool reduces) {
  Value result = root->getResult(0), yielded = yieldsOf(step)[0];
  StringRef index = reduces ? "o" : "i";
  StringRef type = givesIndex ? "int64_t" : elementName(result);
  // An index comes as int64_t for every type of the model.
  Expr stored{"v"};
  if (givesIndex && elementName(result) != type)
    stored = mlir::mnistc::call("static_cast<" + elementName(result) + ">",
                                {stored});
  body.begin(/*indent=*/4);
  body.bind(
      result, stored,
      linearIndex(positionAt({index.str()}, shapeOf(result)), shapeOf(result)));
  FailureOr<Expr> text =
      body.statementValue(yielded, positionAt({index.str()}, shapeOf(yielded)));
  if (failed(text))
    return failure();
  finishFunction("void store", {{indexType, index}, {type, "v"}},
                 storeLine(names[step.getResult(0)], index, *text));
  return success();
}

Position mlir::mnistc::rowPosition(ArrayRef<int64_t> shape,
                                   ArrayRef<int64_t> dims) {
  SmallVector<int64_t> kept, gone;
  auto isGone = [&](size_t dim) {
    return llvm::is_contained(dims, static_cast<int64_t>(dim));
  };
  for (auto [dim, size] : llvm::enumerate(shape))
    (isGone(dim) ? gone : kept).push_back(size);
  Position o = positionAt({"o"}, kept), r = positionAt({"r"}, gone), result;
  for (size_t dim = 0, k = 0, g = 0; dim < shape.size(); ++dim)
    result.push_back(isGone(dim) ? r[g++] : o[k++]);
  return result;
}

/// "MN_CONV_FILTER_GRAD_KERNEL" for convFilterGrad: what makes its functor a
/// kernel.
static std::string macroFor(StringRef function) {
  std::string name;
  for (char c : function)
    name += (llvm::isUpper(c) ? "_" : "") + std::string(1, llvm::toUpper(c));
  return "MN_" + name + "_KERNEL";
}

LogicalResult FunctorEmitter::emitRoot(RootOpInterface root) {
  KernelText text = root.getKernelText();
  auto reduction = dyn_cast<ReductionOpInterface>(*root);
  bool reduces = reduction && !reduction.keepsDims();
  for (auto [name, operand] :
       llvm::zip_equal(text.loads, root->getOperands())) {
    LogicalResult loaded =
        reduces ? emitLoad(
                      name, operand, {{indexType, "o"}, {indexType, "r"}},
                      rowPosition(shapeOf(operand), reduction.getReducedDims()))
                : emitLoad(name, operand, {{indexType, "i"}},
                           positionAt({"i"}, shapeOf(operand)));
    if (failed(loaded))
      return failure();
  }
  if (failed(emitStore(text.givesIndex, reduces)))
    return failure();

  shape = names.scope.add((names[step.getResult(0)] + "_shape").str());
  std::string element = elementName(root->getOperand(0)).str();
  SmallVector<std::string> arguments = {name}, types;
  if (!text.kind.empty())
    types.push_back(text.kind.str());
  types.push_back(element);
  llvm::append_range(arguments, types);
  call = ("mn::" + text.function + "<" + llvm::join(types, ", ") + ">").str();
  arguments.append({takeFunctor(), shape});
  shapeText = declareShape(shapeTextOf(step), shape);
  macro = argumentLines(macroFor(text.function), "(", arguments, ")", 0) + "\n";
  return success();
}

std::string FunctorEmitter::structText() {
  SmallVector<std::pair<std::string, std::string>> members;
  auto add = [&](StringRef type, Value value) {
    members.emplace_back((type + " *" + names[value] + ";").str(),
                         mlir::mnistc::shapeText(value.getType()));
  };
  for (Value result : step.getResults())
    add(elementName(result), result);
  for (Value input : inputs)
    add(("const " + elementName(input)).str(), input);
  size_t width = 0;
  for (auto &[member, comment] : members)
    width = std::max(width, member.size());
  std::string text = "struct " + functor.name + " {\n";
  for (auto &[member, comment] : members)
    text += "  " + member + std::string(width - member.size(), ' ') + " // " +
            comment + "\n";
  return text + functions + "};\n";
}

std::string FunctorEmitter::takeFunctor() {
  std::string text = structText();
  SmallVector<std::string> own = {functor.name};
  for (Value result : step.getResults())
    own.push_back(names[result].str());
  for (Value input : inputs)
    own.push_back(names[input].str());
  const Functor &shared =
      kernels.shareFunctor(call, text, own, {functor, name});
  if (shared.kernel == name)
    declared = text;
  else if (shape.empty()) // Nothing else tells its kernels apart.
    name = shared.kernel;
  functor = shared.type;
  return functor.in(names.space());
}

FailureOr<Kernel> FunctorEmitter::emit(std::string &text) {
  auto withLoops = dyn_cast_or_null<RootOpInterface>(root);
  if (root && !withLoops)
    return root->emitOpError("has no kernel");
  if (failed(isRowStep(step) ? emitRows()
             : root          ? emitRoot(withLoops)
                             : emitMap()))
    return failure();
  text = declared + shapeText + macro;
  std::optional<ScopedName> sizes;
  if (!shape.empty())
    sizes = {names.space().str(), shape};
  return Kernel{step,  takesPlace(step, names), functor, name, call, sizes,
                count, inputs.takeVector()};
}

/// The statements of a step's function.
static std::string callText(const KernelUse &use, StepOp step,
                            const PlanNames &names) {
  const Kernel &kernel = *use.kernel;
  SmallVector<Value> results = llvm::to_vector_of<Value>(step.getResults());
  SmallVector<std::string> members;
  for (Value value : llvm::concat<const Value>(results, use.inputs))
    members.push_back(names[value].str());
  std::string text = declarePointers(results, use.inputs, names);
  std::string functor = kernel.functor.in(names.space());
  std::string made = functor + "{" + llvm::join(members, ", ") + "}";
  // What does not fit in a line of the call gets a separate line.
  if (kernel.call.size() + made.size() + 5 > 80) {
    text +=
        argumentLines("const " + functor + " functor", "{", members, "};", 2) +
        "\n";
    made = "functor";
  }
  std::string size =
      kernel.shape ? kernel.shape->in(names.space()) : kernel.count;
  return text +
         argumentLines(kernel.call, "(",
                       {"ctx", "\"" + kernel.name + "\"", size, made}, ");",
                       2) +
         "\n";
}

FailureOr<StepText> mlir::mnistc::emitStep(StepOp step, PlanNames &names,
                                           KernelTable &kernels) {
  if (step.getImpl() != Impl::kernel)
    return emitLibraryStep(step, names);
  StepText text;
  std::optional<KernelUse> use = kernels.find(step, takesPlace(step, names));
  if (!use) {
    FailureOr<Kernel> made =
        FunctorEmitter(step, names, kernels).emit(text.device);
    if (failed(made))
      return failure();
    use = kernels.add(*made);
  }
  text.call = callText(*use, step, names);
  return text;
}
