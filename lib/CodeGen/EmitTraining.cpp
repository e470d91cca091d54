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

static SmallVector<std::string> parameterRows(ModuleOp module, Shapes &shapes) {
  SmallVector<std::string> rows;
  for (auto global : module.getOps<ml_program::GlobalOp>()) {
    auto role = global->getAttrOfType<StringAttr>("mnist.role");
    std::string row =
        tensorRow(global.getSymName(), global.getType(),
                  integerAttribute(global, "plan.offset"), shapes);
    row += ", mn::Role::" + role.getValue().str();
    if (auto perm = global->getAttrOfType<DenseI64ArrayAttr>("mnist.order")) {
      auto shape =
          global->getAttrOfType<DenseI64ArrayAttr>("mnist.order_shape");
      row += ", {" + std::to_string(perm.size()) + ", " +
             shapes.name(shape.asArrayRef()) + ", " +
             shapes.name(perm.asArrayRef()) + "}";
    }
    rows.push_back("{" + row + "}");
  }
  return rows;
}

/// "static const mn::Recipe recipe = {...};" of the module's `mnist.recipe`.
static std::string recipeText(DictionaryAttr recipe, size_t tensors) {
  std::string text = "static const mn::Recipe recipe = {";
  for (StringRef word :
       {"loss", "optimizer", "convention", "clip", "targets", "partial"})
    text += stringLiteral(recipe.getAs<StringAttr>(word).getValue()) + ", ";
  Type f64 = Float64Type::get(recipe.getContext());
  SmallVector<std::string> each;
  for (double number : recipe.getAs<DenseF64ArrayAttr>("numbers").asArrayRef())
    each.push_back(literal(f64, APFloat(number)).text);
  text += "{" + llvm::join(each, ", ") + "}";
  int64_t accumulate = recipe.getAs<IntegerAttr>("accumulate").getInt();
  if (tensors || accumulate != 1)
    text += ", " + std::to_string(tensors);
  if (accumulate != 1)
    text += ", " + std::to_string(accumulate);
  return text + "};\n";
}

TrainingText mlir::mnistc::emitTraining(ModuleOp module,
                                        const EmitOptions &options,
                                        Shapes &shapes) {
  TrainingText text;
  text.parameters = parameterRows(module, shapes);
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
  auto tensors = module->getAttrOfType<ArrayAttr>("mnist.tensors");
  if (recipe)
    text.recipe = recipeText(recipe, tensors ? tensors.size() : 0);
  field("recipe", recipe ? "&recipe" : "nullptr");
  file("onnx", "onnxBytes", "mn_onnx", options.onnxBytes);
  return text;
}
