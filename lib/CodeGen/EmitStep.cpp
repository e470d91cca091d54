//===- EmitStep.cpp - one step as text ------------------------------------===//
//
// A root says which kernel computes it and what its functor must say
// (RootOpInterface).
//
//===----------------------------------------------------------------------===//

#include "lib/CodeGen/EmitStep.h"
#include "lib/CodeGen/FunctorEmitter.h"
#include "lib/IR/Mnist/TensorShape.h"
#include "lib/IR/Plan/PoolBody.h"
#include "lib/IR/Plan/RowBody.h"
#include "lib/IR/Plan/Schedule.h"
#include "lib/IR/Plan/StepBody.h"
#include "lib/IR/Plan/StepOrder.h"
#include "lib/IR/Plan/Target.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::mnistc;

//===----------------------------------------------------------------------===//
// Shared by all steps
//===----------------------------------------------------------------------===//

ShapeText mlir::mnistc::shapeTextOf(StepOp step) {
  ShapeText text = cast<RootOpInterface>(rootOf(step)).getShapeText();
  if (SmallVector<std::string> how = scheduleFields(scheduleOf(step));
      !how.empty())
    text.fields.push_back(
        StringRef(argumentLines(".schedule = ", "{", how, "}", 4))
            .ltrim()
            .str());
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

bool mlir::mnistc::takesPlace(StepOp step, ValueRange results,
                              const PlanNames &names) {
  return llvm::any_of(step.getInputs(), [&](Value input) {
    return !input.getDefiningOp<ConstantOp>() &&
           llvm::any_of(results, [&](Value result) {
             return names.offset(result) == names.offset(input);
           });
  });
}

LogicalResult FunctorEmitter::emitLoad(StringRef name, Value operand,
                                       ArrayRef<Parameter> parameters,
                                       const Position &position) {
  body.begin(/*indent=*/4);
  FailureOr<Expr> text = body.statementValue(operand, position);
  if (failed(text))
    return failure();
  bool reads = isContraction(root) && isa<BlockArgument>(skipReshapes(operand));
  std::string type = elementName(operand).str() + (reads ? " &" : " ");
  finishFunction((reads ? "const " : "") + type + name.str(), parameters,
                 line("return " + text->text + ";", 4) + "\n");
  return success();
}

std::string FunctorEmitter::declareStored(ArrayRef<StoredField> fields,
                                          StringRef head) {
  SmallVector<std::string> values;
  functions += "  struct StoredValues {\n";
  for (const StoredField &field : fields) {
    values.push_back(field.value.text);
    functions +=
        ("    " + elementName(field.result) + " " + names[field.result] + ";\n")
            .str();
  }
  functions += "  };\n";
  return argumentLines(("    " + head).str(), "{", values, "};", 0) + "\n";
}

/// What a function calls the first of a four whose place it gets, and the place
/// where it divides it: declared where they are needed.
static constexpr StringLiteral firstName = "first", dividedName = "i";

Position FunctorEmitter::placeInFour(ArrayRef<int64_t> shape) {
  static const NamesInFour four = {firstName.str(), "place.number",
                                   dividedName.str()};
  return positionAt({.text = "place", .four = &four}, shape);
}

void FunctorEmitter::finishFourLoad(ArrayRef<std::string> values) {
  std::string load = body.statements() +
                     argumentLines("    return ", "{", values, "};", 0) + "\n";
  std::string declared;
  auto declare = [&](StringRef name, StringRef value) {
    if (mentions(load, name))
      declared +=
          line("const mn::Index " + name + " = mn::Index(" + value + ");", 4) +
          "\n";
  };
  declare(firstName, "place.first");
  declare(dividedName, "place");
  body.begin(/*indent=*/4);
  finishFunction("ElementValues load",
                 {{"const mn::NeighbourOf<mn::Offset> &", "place"}},
                 declared + load);
}

void FunctorEmitter::finishElementLoad(ArrayRef<std::string> values) {
  finishFunction("ElementValues load", {{offsetType, "place"}},
                 argumentLines("    return ", "{", values, "};", 0) + "\n");
}

void FunctorEmitter::emitStoreOfNeighbours(ArrayRef<StoredField> fields) {
  std::string stores;
  for (const StoredField &field : fields) {
    StringRef name = names[field.result];
    stores += "    for (int i = 0; i < n; ++i)\n" +
              storeLine(name, "place + i", {("v[i]." + name).str()},
                        /*indent=*/6);
  }
  functions += "  template <int n>\n"
               "  MN_FN void store(const StoredValues (&v)[n], mn::Offset "
               "place) const {\n" +
               stores + "  }\n";
}

void FunctorEmitter::emitResults(ArrayRef<StoredField> fields,
                                 ArrayRef<Parameter> parameters) {
  std::string returned = declareStored(fields);
  finishFunction("StoredValues results", parameters, returned);
  emitStoreOfNeighbours(fields);
}

Position mlir::mnistc::rowPosition(ArrayRef<int64_t> shape,
                                   ArrayRef<int64_t> dims, Divisors *ofElement,
                                   Divisors *ofResult) {
  SmallVector<int64_t> kept, gone;
  auto isGone = [&](size_t dim) {
    return llvm::is_contained(dims, static_cast<int64_t>(dim));
  };
  for (auto [dim, size] : llvm::enumerate(shape))
    (isGone(dim) ? gone : kept).push_back(size);
  Position o = positionAt({"o", Precedence::primary, ofResult}, kept), result;
  Position r = positionAt({"r", Precedence::primary, ofElement}, gone);
  for (size_t dim = 0, k = 0, g = 0; dim < shape.size(); ++dim)
    result.push_back(isGone(dim) ? r[g++] : o[k++]);
  return result;
}

StringRef FunctorEmitter::takeRun(const Divisors &divisors, int64_t elements,
                                  StringRef type) {
  if (machineFor(step).countsInRuns)
    run = divisors.runOf(elements);
  return run ? "auto" : type;
}

SmallVector<Value> FunctorEmitter::membersFor(ValueRange results) const {
  SmallVector<Value> members(results);
  llvm::append_range(members, inputs);
  return members;
}

std::string FunctorEmitter::structText(StringRef type,
                                       ArrayRef<Value> members) const {
  SmallVector<std::string> lines;
  size_t width = 0;
  for (Value member : members) {
    bool isResult = member.getDefiningOp() == step;
    lines.push_back(((isResult ? "" : "const ") + elementName(member) + " *" +
                     names[member] + ";")
                        .str());
    width = std::max(width, lines.back().size());
  }
  std::string text = ("struct " + type + " {\n").str();
  for (auto [line, member] : llvm::zip_equal(lines, members))
    text += "  " + line + std::string(width - line.size(), ' ') + " // " +
            mlir::mnistc::shapeText(member.getType()) + "\n";
  if (keepsFilter(step))
    text += "  static constexpr bool keepsFilter = true;\n";
  if (loadsEarly(step))
    text += "  static constexpr bool loadsEarly = true;\n";
  if (runsBeside(step))
    text += "  static constexpr bool runsBeside = true;\n";
  if (run)
    text +=
        "  static constexpr mn::Index run = " + std::to_string(*run) + ";\n";
  if (resultRun)
    text += "  static constexpr mn::Index resultRun = " +
            std::to_string(*resultRun) + ";\n";
  return text + functions + "};\n";
}

FunctorTable FunctorEmitter::declareFunctor(StringRef identifier,
                                            ArrayRef<Value> members) {
  ScopedName type{names.space().str(), capitalized(identifier)};
  std::string text = structText(type.name, members);
  std::string kernel = (names.space() + "_" + identifier).str();
  SmallVector<std::string> own = {type.name};
  for (Value member : members)
    own.push_back(names[member].str());
  const Functor &shared = kernels.shareFunctor(call, text, own, {type, kernel});
  if (shared.kernel == kernel)
    declared += text;
  return {shared.type, {SmallVector<Value>(members)}};
}

std::string FunctorEmitter::takeFunctor() {
  tables.push_back(
      declareFunctor(names[step.getResult(0)], membersFor(step.getResults())));
  return tables.back().type.in(names.space());
}

LogicalResult FunctorEmitter::emitKernel() {
  auto withLoops = dyn_cast_or_null<RootOpInterface>(root);
  if (root && !withLoops)
    return root->emitOpError("has no kernel");
  return isRowStep(step)    ? emitRows()
         : isPoolStep(step) ? emitPools()
         : root             ? emitRoot(withLoops)
                            : emitMap();
}

FailureOr<Kernel> FunctorEmitter::emit(StepText &text) {
  if (failed(emitKernel()))
    return failure();
  text.device = declared + shapeText;
  text.kernel = macro;
  std::optional<ScopedName> sizes;
  if (!shape.empty())
    sizes = {names.space().str(), shape};
  return Kernel{step,  takesPlace(step, step.getResults(), names),
                name,  call,
                sizes, count,
                tables};
}

static SmallVector<std::string> namesOf(ArrayRef<Value> members,
                                        const PlanNames &names) {
  return llvm::map_to_vector(members,
                             [&](Value member) { return names[member].str(); });
}

/// Pointers to all that the functors are given.
static std::string declareMembers(ArrayRef<FunctorTable> tables, StepOp step,
                                  const PlanNames &names) {
  llvm::SetVector<Value> members;
  for (const FunctorTable &table : tables)
    for (ArrayRef<Value> row : table.rows)
      members.insert(row.begin(), row.end());
  SmallVector<Value> results, inputs;
  for (Value member : members)
    (member.getDefiningOp() == step ? results : inputs).push_back(member);
  return declarePointers(results, inputs, names);
}

/// Declares the functors of each table as an array; the arrays' names.
static SmallVector<std::string> declareTables(ArrayRef<FunctorTable> tables,
                                              const PlanNames &names,
                                              std::string &text) {
  NameScope locals(&names.scope);
  SmallVector<std::string> arrays;
  for (const FunctorTable &table : tables) {
    arrays.push_back(locals.add("segments"));
    text += "  const " + table.type.in(names.space()) + " " + arrays.back() +
            "[] = {\n";
    for (ArrayRef<Value> row : table.rows)
      text += argumentLines("", "{", namesOf(row, names), "},", 6) + "\n";
    text += "  };\n";
  }
  return arrays;
}

/// The statements of a step's function.
static std::string callText(const KernelUse &use, StepOp step,
                            const PlanNames &names) {
  const Kernel &kernel = *use.kernel;
  std::string text = declareMembers(use.tables, step, names);
  SmallVector<std::string> arguments = {
      "ctx", "\"" + kernel.name + "\"",
      kernel.shape ? kernel.shape->in(names.space()) : kernel.count};
  const FunctorTable &first = use.tables.front();
  if (use.tables.size() > 1 || first.rows.size() > 1) {
    llvm::append_range(arguments, declareTables(use.tables, names, text));
  } else {
    std::string type = first.type.in(names.space());
    SmallVector<std::string> members = namesOf(first.rows.front(), names);
    std::string made = type + "{" + llvm::join(members, ", ") + "}";
    // What does not fit in a line of the call gets a separate line.
    if (kernel.call.size() + made.size() + 5 > 80) {
      text +=
          argumentLines("const " + type + " functor", "{", members, "};", 2) +
          "\n";
      made = "functor";
    }
    arguments.push_back(made);
  }
  return text + argumentLines(kernel.call, "(", arguments, ");", 2) + "\n";
}

FailureOr<StepText> mlir::mnistc::emitStep(StepOp step, PlanNames &names,
                                           KernelTable &kernels) {
  if (step.getImpl() != Impl::kernel)
    return emitLibraryStep(step, names);
  if (!linksOf(step).empty())
    return emitChain(step, names, kernels);
  StepText text;
  std::optional<KernelUse> use =
      kernels.find(step, takesPlace(step, step.getResults(), names));
  if (!use) {
    FailureOr<Kernel> made = FunctorEmitter(step, names, kernels).emit(text);
    if (failed(made))
      return failure();
    use = kernels.add(*made);
  }
  for (const FunctorTable &table : use->tables)
    text.functors.push_back(table.type.in(""));
  text.call = callText(*use, step, names);
  text.writtenFor = use->kernel->step;
  return text;
}
