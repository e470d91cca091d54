//===- EmitTraining.cpp - parameters and how they are trained -------------===//
//
// The rest of a model's tables, where it is to be trained.
//
//===----------------------------------------------------------------------===//

#include "lib/CodeGen/EmitBody.h"
#include "lib/CodeGen/EmitTables.h"
#include "lib/IR/Plan/Parameters.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::mnistc;

static LogicalResult parameterRows(ModuleOp module, Shapes &shapes,
                                   SmallVectorImpl<std::string> &rows) {
  for (auto global : module.getOps<ml_program::GlobalOp>()) {
    if (failed(checkParameter(global)))
      return failure();
    auto role = global->getAttrOfType<StringAttr>("mnist.role");
    if (!role ||
        !llvm::is_contained({"parameter", "buffer", "state"}, role.getValue()))
      return global.emitOpError(
          "expected 'mnist.role' to be parameter, buffer or state");
    if (!global->hasAttr("plan.offset"))
      return global.emitOpError(
          "has no offset; run --plan-assign-memory first");
    rows.push_back("{" +
                   tensorRow(global.getSymName(), global.getType(),
                             integerAttribute(global, "plan.offset"), shapes) +
                   ", mn::Role::" + role.getValue().str() + "}");
  }
  return success();
}

/// The numbers of mn::RecipeColumn.
static constexpr int64_t recipeNumbers = 10;

/// "static const mn::Recipe recipe = {...};" of the module's `mnist.recipe`.
static FailureOr<std::string> recipeText(ModuleOp module,
                                         DictionaryAttr recipe) {
  std::string text = "static const mn::Recipe recipe = {";
  for (StringRef word :
       {"loss", "optimizer", "form", "clip", "targets", "partial"}) {
    auto value = recipe.getAs<StringAttr>(word);
    if (!value)
      return module.emitError("expected 'mnist.recipe' to have '")
             << word << "', a string";
    text += stringLiteral(value.getValue()) + ", ";
  }
  auto numbers = recipe.getAs<DenseF64ArrayAttr>("numbers");
  if (!numbers || numbers.size() != recipeNumbers)
    return module.emitError("expected 'mnist.recipe' to have 'numbers', ")
           << recipeNumbers << " of f64";
  Type f64 = Float64Type::get(module.getContext());
  SmallVector<std::string> each;
  for (double number : numbers.asArrayRef())
    each.push_back(literal(f64, APFloat(number)).text);
  return text + "{" + llvm::join(each, ", ") + "}};\n";
}

FailureOr<TrainingText> mlir::mnistc::emitTraining(ModuleOp module,
                                                   const EmitOptions &options,
                                                   Shapes &shapes) {
  TrainingText text;
  if (failed(parameterRows(module, shapes, text.parameters)))
    return failure();
  auto recipe = module->getAttrOfType<DictionaryAttr>("mnist.recipe");
  if (text.parameters.empty() && !recipe)
    return text;
  auto field = [&](StringRef name, const Twine &value) {
    text.fields.emplace_back(name, value.str());
  };
  // What is linked as a file, and how long it is.
  auto file = [&](StringRef name, StringRef count, StringRef symbol,
                  uint64_t bytes) {
    if (bytes != 0)
      text.files +=
          ("extern \"C\" const unsigned char " + symbol + "[];\n").str();
    field(name, bytes != 0 ? symbol : "nullptr");
    field(count, Twine(bytes));
  };
  field("parameters", text.parameters.empty() ? "nullptr" : "parameters");
  field("parameterCount", Twine(text.parameters.size()));
  field("parameterBytes",
        Twine(integerAttribute(module, "plan.parameter_bytes")));
  file("initial", "initialBytes", "mn_parameters",
       integerAttribute(module, "plan.initial_bytes"));
  if (recipe) {
    FailureOr<std::string> row = recipeText(module, recipe);
    if (failed(row))
      return failure();
    text.recipe = *row;
  }
  field("recipe", recipe ? "&recipe" : "nullptr");
  file("onnx", "onnxBytes", "mn_onnx", options.onnxBytes);
  return text;
}
