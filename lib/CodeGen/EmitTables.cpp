//===- EmitTables.cpp - the tables that the runtime walks -----------------===//
//
// The structs of mnistrt/model.h, a row a line.
//
//===----------------------------------------------------------------------===//

#include "lib/CodeGen/EmitTables.h"
#include "lib/CodeGen/EmitBody.h"
#include "lib/IR/Plan/Batches.h"
#include "lib/IR/Plan/Parameters.h"
#include "lib/IR/Plan/Schedule.h"
#include "lib/IR/Plan/StepBody.h"
#include "lib/IR/Plan/StepOrder.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::mnistc;

static StringRef typeText(Type element) {
  if (element.isF32())
    return "mn::Type::f32";
  if (element.isF64())
    return "mn::Type::f64";
  if (element.isBF16())
    return "mn::Type::bf16";
  if (element.isInteger(1))
    return "mn::Type::b8";
  if (element.isInteger(8))
    return "mn::Type::u8";
  return element.isInteger(32) ? "mn::Type::i32" : "mn::Type::i64";
}

std::string Shapes::name(ArrayRef<int64_t> shape) {
  if (shape.empty())
    return "nullptr";
  std::string sizes;
  llvm::raw_string_ostream os(sizes);
  llvm::interleave(shape, os, "x");
  if (known.insert(sizes).second) {
    declarations += "static const int64_t shape_" + sizes + "[] = {";
    llvm::raw_string_ostream all(declarations);
    llvm::interleaveComma(shape, all);
    all << "};\n";
  }
  return "shape_" + sizes;
}

std::string mlir::mnistc::tensorRow(StringRef name, Type tensor, int64_t offset,
                                    Shapes &shapes) {
  auto type = cast<RankedTensorType>(tensor);
  return ("{" + Twine(stringLiteral(name)) + ", " +
          typeText(type.getElementType()) + ", " + Twine(type.getRank()) +
          ", " + shapes.name(type.getShape()) + ", " + Twine(offset) + "}")
      .str();
}

/// "static const mn::Tensor inputs[] = {...};", or nothing.
static std::string table(StringRef type, StringRef name,
                         ArrayRef<std::string> rows) {
  if (rows.empty())
    return "";
  std::string text = ("static const " + type + " " + name + "[] = {\n").str();
  for (const std::string &row : rows)
    text += "    " + row + ",\n";
  return text + "};\n";
}

/// "inputs, 1" or "nullptr, 0".
static std::string reference(const Twine &name, size_t count) {
  return count == 0 ? "nullptr, 0" : (name + ", " + Twine(count)).str();
}

/// A number without digits that tell nothing.
static std::string countText(double value) {
  return llvm::formatv("{0:F0}.0", value);
}

/// "after + 3, 1", and the numbers join the others.
static std::string awaitedText(ArrayRef<int64_t> awaited,
                               SmallVectorImpl<int64_t> &after) {
  if (awaited.empty())
    return "nullptr, 0";
  std::string text = "after";
  if (!after.empty())
    text += " + " + std::to_string(after.size());
  llvm::append_range(after, awaited);
  return text + ", " + std::to_string(awaited.size());
}

/// ", 2, after + 3, 1, "tf32x3", "patches, width 32", true": stream, waits, how
/// it multiplies, whether it packs early, and whose packing it awaits; no more
/// than is not the usual.
static std::string orderText(StepOp step, std::optional<unsigned> packing,
                             SmallVectorImpl<int64_t> &after) {
  Mma mma = mmaOf(step);
  const std::pair<std::string, StringRef> fields[] = {
      {std::to_string(streamOf(step)), "0"},
      {awaitedText(stepsAwaitedBy(step), after), "nullptr, 0"},
      {stringLiteral(mma == Mma::ffma ? "" : stringifyMma(mma)), "\"\""},
      {stringLiteral(scheduleText(step)), "\"\""},
      {keepsFilter(step) ? "true" : "false", "false"},
      {packing ? std::to_string(*packing) : "-1", "-1"}};
  size_t count = std::size(fields);
  while (count != 0 && fields[count - 1].first == fields[count - 1].second)
    --count;
  std::string text;
  for (const auto &field : ArrayRef(fields).take_front(count))
    text += ", " + field.first;
  return text;
}

/// "static const int after[] = {0, 3};", or nothing.
static std::string afterTable(ArrayRef<int64_t> after) {
  if (after.empty())
    return "";
  std::string text = "static const int after[] = {";
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(after, os);
  os << "};\n";
  return text;
}

/// What a step's result is called in messages: as the step, if it is the first,
/// or as the link of a chain.
static StringRef resultLabel(StepOp step, unsigned index,
                             const PlanNames &names) {
  if (auto made = dyn_cast<OpResult>(yieldsOf(step)[index]))
    if (auto link = dyn_cast<StepOp>(made.getOwner()))
      return resultLabel(link, made.getResultNumber(), names);
  return index == 0 ? step.getName() : names[step.getResult(index)];
}

/// The same text for any number of results.
static std::string stepRow(StepOp step, unsigned number, const PlanNames &names,
                           std::optional<unsigned> packing,
                           SmallVectorImpl<std::string> &results,
                           SmallVectorImpl<int64_t> &after, Shapes &shapes) {
  size_t first = results.size();
  for (auto [index, result] : llvm::enumerate(step.getResults()))
    results.push_back(tensorRow(resultLabel(step, index, names),
                                result.getType(), names.offset(result),
                                shapes));
  std::string row = "{" + stringLiteral(step.getName()) + ", " +
                    stringLiteral(opsOf(step)) + ", " +
                    stringLiteral(nodesOf(step)) + ", " +
                    stringLiteral(stringifyImpl(step.getImpl())) + ", " +
                    stringLiteral(resultShape(step)) + ", " +
                    countText(flopsOf(step)) + ", " + countText(bytesOf(step)) +
                    ", step_" + std::to_string(number) + ", results";
  if (first != 0)
    row += " + " + std::to_string(first);
  return row + ", " + std::to_string(step.getNumResults()) +
         orderText(step, packing, after) + "}";
}

/// Which numbers an input may hold; null where any.
static DenseI64ArrayAttr rangeOf(BlockArgument argument) {
  auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
  return function.getArgAttrOfType<DenseI64ArrayAttr>(argument.getArgNumber(),
                                                      "mnist.range");
}

/// Where nothing is ignored, a number that may be there anyway.
static std::string rangeRow(size_t input, ArrayRef<int64_t> range) {
  std::string row = "{" + std::to_string(input);
  for (int64_t number :
       {range[0], range[1], range.size() < 3 ? range[0] : range[2]})
    row += number == INT64_MIN ? ", INT64_MIN" : ", " + std::to_string(number);
  return row + "}";
}

void mlir::mnistc::emitPlanTables(func::FuncOp function, const PlanNames &names,
                                  raw_ostream &os) {
  Shapes shapes;
  SmallVector<std::string> inputs, outputs, steps, results, ranges;
  for (BlockArgument argument : function.getArguments()) {
    if (parameterOf(argument))
      continue;
    auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                      "mnist.name");
    if (auto range = rangeOf(argument))
      ranges.push_back(rangeRow(inputs.size(), range.asArrayRef()));
    inputs.push_back(tensorRow(name ? name.getValue() : names[argument],
                               argument.getType(), names.offset(argument),
                               shapes));
  }
  Operation *end = function.getBody().front().getTerminator();
  for (auto [number, value] : llvm::enumerate(end->getOperands())) {
    if (parameterOf(function, number))
      continue;
    auto name = function.getResultAttrOfType<StringAttr>(number, "mnist.name");
    outputs.push_back(tensorRow(name ? name.getValue() : names[value],
                                value.getType(), names.offset(value), shapes));
  }
  SmallVector<int64_t> after;
  SmallVector<std::optional<unsigned>> packing = findPacking(function);
  for (auto [number, step] : llvm::enumerate(function.getOps<StepOp>()))
    steps.push_back(stepRow(step, number + 1, names, packing[number], results,
                            after, shapes));

  os << "\n// clang-format off\n"
     << shapes.declarations << table("mn::Tensor", "inputs", inputs)
     << table("mn::InputRange", "ranges", ranges)
     << table("mn::Tensor", "outputs", outputs)
     << table("mn::Tensor", "results", results) << afterTable(after)
     << table("mn::Step", "steps", steps) << "// clang-format on\n";
}

static std::string planRow(const PlanRow &plan) {
  func::FuncOp function = plan.function;
  int64_t batch = 0;
  size_t inputs = 0, outputs = 0, ranges = 0;
  for (BlockArgument argument : function.getArguments()) {
    if (parameterOf(argument))
      continue;
    ranges += rangeOf(argument) != nullptr;
    if (inputs++ != 0)
      continue;
    auto type = cast<RankedTensorType>(argument.getType());
    batch = type.getRank() == 0 ? 0 : type.getDimSize(0);
  }
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    outputs += !parameterOf(function, i);
  bool prefetches = function->hasAttr(prefetchesAttribute);
  return "{" + stringLiteral(function.getName()) + ", " +
         std::to_string(batch) + ", " +
         std::to_string(integerAttribute(function, "plan.arena_bytes")) + ", " +
         std::to_string(integerAttribute(function, "plan.workspace_bytes")) +
         ", " + reference(plan.space + "::inputs", inputs) + ", " +
         reference(plan.space + "::outputs", outputs) + ", " +
         reference(plan.space + "::steps",
                   llvm::range_size(function.getOps<StepOp>())) +
         (ranges || prefetches
              ? ", " + reference(plan.space + "::ranges", ranges)
              : "") +
         (prefetches ? ", true}" : "}");
}

/// The inputs that were bound to a value: `mnist.bound` of the module.
static void boundRows(ModuleOp module, Shapes &shapes, std::string &values,
                      SmallVectorImpl<std::string> &rows) {
  auto all = module->getAttrOfType<ArrayAttr>("mnist.bound");
  if (!all)
    return;
  for (auto entry : all.getAsRange<DictionaryAttr>()) {
    auto name = entry.getAs<StringAttr>("name");
    auto value = entry.getAs<ElementsAttr>("value");
    auto type = cast<RankedTensorType>(value.getShapedType());
    std::string array = "bound_" + std::to_string(rows.size() + 1);
    std::string address = "nullptr";
    if (type.getNumElements() != 0) {
      // One element where all are equal.
      SmallVector<std::string> elements = *constantElements(value);
      elements.resize(type.getNumElements(), elements.front());
      values += "static const " + elementTypeName(type.getElementType()).str() +
                " " + array + "[] = {" + llvm::join(elements, ", ") + "};\n";
      address = array;
    }
    rows.push_back("{" + tensorRow(name.getValue(), type, 0, shapes) + ", " +
                   address + "}");
  }
}

/// Where the linker puts the cubins: of each architecture its parts.
static SmallVector<std::string> codeRows(ArrayRef<std::string> archs,
                                         unsigned parts) {
  SmallVector<std::string> rows;
  for (auto [i, arch] : llvm::enumerate(archs)) {
    SmallVector<std::string> cubins;
    for (unsigned part = 1; part <= parts; ++part)
      cubins.push_back(llvm::formatv("{{mn_code_{0}, static_cast<size_t>("
                                     "mn_code_{0}_end - mn_code_{0})}",
                                     i * parts + part));
    rows.push_back("{" + stringLiteral(arch) + ", {" +
                   llvm::join(cubins, ", ") + "}}");
  }
  return rows;
}

void mlir::mnistc::emitModelTable(ModuleOp module, const EmitOptions &options,
                                  ArrayRef<PlanRow> plans, unsigned codeParts,
                                  raw_ostream &os) {
  Shapes shapes;
  std::string values;
  SmallVector<std::string> bounds, codes, rows, classes;
  boundRows(module, shapes, values, bounds);
  TrainingText training = emitTraining(module, options, shapes);
  for (const PlanRow &plan : plans)
    rows.push_back(planRow(plan));
  if (auto names = module->getAttrOfType<ArrayAttr>("mnist.class_names"))
    for (auto name : names.getAsRange<StringAttr>())
      classes.push_back(stringLiteral(name));

  if (options.embedsKernels)
    codes = codeRows(options.archs, codeParts);

  os << "\n// The constants" << (options.embedsKernels ? " and kernels" : "")
     << ", files linked to this one.\n"
     << "extern \"C\" const unsigned char mn_constants[];\n";
  for (size_t i = 0; i < codes.size() * codeParts; ++i)
    os << llvm::formatv("extern \"C\" const unsigned char mn_code_{0}[], "
                        "mn_code_{0}_end[];\n",
                        i + 1);
  if (options.embedsReport)
    os << "extern \"C\" const unsigned char mn_report[], mn_report_end[];\n";
  os << training.files << "\n// clang-format off\n"
     << shapes.declarations << values << table("mn::Plan", "plans", rows)
     << table("mn::Bound", "bounds", bounds)
     << table("mn::Parameter", "parameters", training.parameters)
     << training.recipe << table("mn::DeviceCode", "codes", codes)
     << table("char *const", "class_names", classes)
     << "// clang-format on\n\n";

  int64_t constants = integerAttribute(module, "plan.constant_bytes");
  os << "const mn::Model mn_model = {\n";
  auto field = [&](StringRef name, const Twine &value) {
    os << "    ." << name << " = " << value << ",\n";
  };
  field("version", "mn::modelVersion");
  field("name", stringLiteral(options.model));
  field("compiler", stringLiteral(options.compiler));
  field("command", stringLiteral(options.command));
  field("target", stringLiteral(options.target));
  field("arch", stringLiteral(llvm::join(options.archs, ",")));
  field("constants", "mn_constants");
  field("constantBytes", Twine(constants));
  auto pair = [&](StringRef name, StringRef count, StringRef array,
                  size_t size) {
    field(name, size == 0 ? "nullptr" : array);
    field(count, Twine(size));
  };
  pair("codes", "codeCount", "codes", codes.size());
  pair("plans", "planCount", "plans", rows.size());
  pair("bounds", "boundCount", "bounds", bounds.size());
  for (auto &[name, value] : training.fields)
    field(name, value);
  if (!classes.empty())
    pair("classNames", "classCount", "class_names", classes.size());
  if (options.embedsReport) {
    field("report", "mn_report");
    field("reportEnd", "mn_report_end");
  }
  if (options.timestamps)
    field("timestamps", "true");
  os << "};\n";
}
