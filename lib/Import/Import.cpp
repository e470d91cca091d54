//===- Import.cpp - ONNX to the mnist dialect -----------------------------===//
//
// Walks the ordered nodes once for each batch; everything else is in the other
// files of this folder.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Import.h"
#include "lib/IR/Names.h"
#include "lib/Import/Dimensions.h"
#include "lib/Import/Metadata.h"
#include "lib/Import/Operators.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/IR/Verifier.h"
#include "mnistrt/training.h"
#include "onnx/defs/schema.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace mlir::mnistc;
using namespace mlir::mnistc::importer;

/// Its product with the elements of a tensor must not overflow.
static constexpr int64_t maxBatch = int64_t(1) << 22;

namespace {
class Importer {
public:
  Importer(MLIRContext &context, const ImportOptions &options,
           std::string directory, Report &report)
      : context(context), options(options), external(std::move(directory)),
        report(report), dimensions(options) {}

  OwningOpRef<ModuleOp> run(StringRef bytes);
  void explainBatch(StringRef bytes, const std::string &directory,
                    Imported &imported) const;
  std::vector<OnnxNode> listNodes() const;

private:
  void checkOperator(const GraphNode &node);
  void decodeInitializers();
  void decodeBindings();
  void recordBindings();
  void checkResults();

  func::FuncOp importFunction(StringRef name, Batch batch);
  RankedTensorType inputType(const onnx::ValueInfoProto &input, Batch batch);
  void defineInputs(func::FuncOp function, Tensors &tensors, Batch batch);
  /// The value of a Constant node that may be trained, as initializers may.
  DenseElementsAttr trainableConstant(const GraphNode &node, Value value);
  void importNode(const GraphNode &node, Node::Scope scope, OpBuilder &builder);
  void returnOutputs(func::FuncOp function, Tensors &tensors, Batch batch);
  Value outputValue(const onnx::ValueInfoProto &output, Tensors &tensors,
                    Batch batch);

  MLIRContext &context;
  const ImportOptions &options;
  ExternalData external;
  Report &report;
  Model model;
  OwningOpRef<ModuleOp> module;
  Globals globals;
  llvm::StringMap<DenseElementsAttr> initializers, bound;
  Dimensions dimensions;
  /// Nodes that are not what their operator wants.
  llvm::SmallPtrSet<const onnx::NodeProto *, 8> rejected;
};
} // namespace

//===----------------------------------------------------------------------===//
// Before any function
//===----------------------------------------------------------------------===//

/// Runs `body`, whose problems are of `place`.
template <typename Body>
static void guarded(Report &report, const Twine &place, Body body) {
  try {
    body();
  } catch (const Problem &problem) {
    report.problem(problem, place);
  } catch (const std::exception &error) {
    report.problem({ImportStatus::badModel, firstLine(error.what())}, place);
  }
}

void Importer::checkOperator(const GraphNode &node) {
  const onnx::NodeProto &proto = *node.proto;
  std::string domain =
      node.domain.empty() ? "" : " of the domain " + quoted(node.domain);
  if (!knowsOperator(node.domain, proto.op_type()))
    unsupported("operator " + quoted(proto.op_type()) + domain +
                " is not supported");
  if (!node.opset)
    fail("expected the model to import an opset" +
         (domain.empty() ? " of the standard operators" : domain) +
         ", got none");
  const onnx::OpSchema *schema =
      onnx::OpSchemaRegistry::Schema(proto.op_type(), node.opset, node.domain);
  const Operator *row = findOperator(node.domain, proto.op_type(), node.opset);
  // GroupNormalization was deprecated afterwards, at the opset that defined it.
  bool isDeprecated = schema && schema->Deprecated();
  if (!schema ||
      (isDeprecated && !(row && row->since == schema->SinceVersion())))
    fail("opset " + Twine(node.opset) + " has no operator " +
         quoted(proto.op_type()));
  try {
    if (!isDeprecated)
      schema->Verify(proto);
  } catch (const std::exception &error) {
    fail(firstLine(error.what()));
  }
  if (!row)
    unsupported("operator " + quoted(proto.op_type()) +
                " is not supported before a later opset");
}

void Importer::decodeInitializers() {
  for (const onnx::TensorProto &tensor : model.graph().initializer()) {
    std::string place = "initializer " + quoted(tensor.name());
    guarded(report, place, [&] {
      if (changesPrecision(tensor.data_type()))
        report.note(place + " of " + typeName(tensor.data_type()) +
                    " becomes float");
      initializers[tensor.name()] = decodeTensor(&context, tensor, external);
    });
  }
}

/// The declared sizes, where all are numbers.
static std::optional<Shape> fixedShape(const onnx::TypeProto_Tensor &type) {
  Shape shape;
  for (const auto &dim : type.shape().dim()) {
    if (!dim.has_dim_value() || dim.dim_value() < 0)
      return std::nullopt;
    shape.push_back(dim.dim_value());
  }
  return type.has_shape() ? std::optional(shape) : std::nullopt;
}

void Importer::decodeBindings() {
  llvm::StringSet<> known;
  for (const onnx::ValueInfoProto &input : model.graph().input()) {
    known.insert(input.name());
    auto binding = options.bindings.find(input.name());
    if (binding == options.bindings.end())
      continue;
    std::string place = "binding of " + quoted(input.name());
    guarded(report, place, [&] {
      const auto &declared = input.type().tensor_type();
      Type element = elementType(&context, declared.elem_type());
      if (!element)
        unsupported("element type " + typeName(declared.elem_type()) +
                    " is not supported");
      std::optional<Shape> shape = fixedShape(declared);
      bound[input.name()] = decodeBinding(
          &context, binding->second, element,
          shape ? std::optional<ArrayRef<int64_t>>(*shape) : std::nullopt);
    });
  }
  for (const auto &binding : options.bindings)
    if (!known.contains(binding.first()))
      report.problem(
          {ImportStatus::badModel,
           "expected a graph input to bind, got " + quoted(binding.first())});
}

/// Tells later stages what was bound, in the order of the graph's inputs: the
/// program says so, and checks it against test data.
void Importer::recordBindings() {
  Builder b(&context);
  SmallVector<Attribute> entries;
  for (const onnx::ValueInfoProto &input : model.graph().input())
    if (auto value = bound.find(input.name()); value != bound.end())
      entries.push_back(b.getDictionaryAttr(
          {b.getNamedAttr("name", b.getStringAttr(input.name())),
           b.getNamedAttr("value", value->second)}));
  if (!entries.empty())
    module.get()->setAttr("mnist.bound", b.getArrayAttr(entries));
}

OwningOpRef<ModuleOp> Importer::run(StringRef bytes) {
  if (!parseModel(bytes, model, report))
    return {};
  orderGraph(model, report);
  for (const GraphNode &node : model.nodes)
    guarded(report, node.place(), [&] {
      rejected.insert(node.proto);
      checkOperator(node);
      rejected.erase(node.proto);
    });
  decodeInitializers();
  decodeBindings();
  dimensions.find(model.inputs);
  dimensions.check(model.inputs, report);

  module = ModuleOp::create(UnknownLoc::get(&context));
  recordBindings();
  recordClassNames(model.proto, *module);
  if (options.train)
    warnOfFoldedNorms(model, report);
  int64_t inFile = dimensions.batchInFile().value_or(1);
  llvm::SmallSetVector<int64_t, 4> batches(options.batches.begin(),
                                           options.batches.end());
  if (std::optional<int64_t> usual = dimensions.usualBatch()) {
    batches.insert(*usual);
    report.warn("the model's batch is " +
                (dimensions.batchInFile() ? Twine(inFile) : Twine("open")) +
                " and there is no --batch: " + Twine(*usual) + " is used");
  }
  if (batches.empty())
    importFunction(mn::kinds::infer, {inFile, inFile});
  for (int64_t batch : batches) {
    if (batch < 1 || batch > maxBatch) {
      report.problem({ImportStatus::badModel,
                      "expected a batch from 1 to " + std::to_string(maxBatch) +
                          ", got " + std::to_string(batch)});
      continue;
    }
    importFunction(mn::kinds::infer + ("_" + std::to_string(batch)),
                   {inFile, batch});
  }
  checkResults();
  return report.hasProblems() ? OwningOpRef<ModuleOp>() : std::move(module);
}

/// If a model is valid only with its own batch, the requested one is what is
/// wrong: the first problem with it says where.
void Importer::explainBatch(StringRef bytes, const std::string &directory,
                            Imported &imported) const {
  std::optional<int64_t> inFile = dimensions.batchInFile();
  if (!inFile || llvm::is_contained(options.batches, *inFile))
    return;
  ImportOptions asInFile = options;
  asInFile.batches.clear();
  Imported whole, ours;
  Report silent(whole, ""), loud(ours, report.fileName());
  Importer again(context, asInFile, directory, silent);
  if (!again.run(bytes))
    return;
  StringRef first = imported.problems.front();
  first.consume_front(report.fileName() + ": ");
  loud.problem({ImportStatus::badModel,
                "expected --batch=" + std::to_string(*inFile) +
                    ", as the model's shapes are fixed to it, got --batch=" +
                    std::to_string(options.batches.front()) +
                    "; leave out --batch, or export the model with a symbolic "
                    "batch (" +
                    first.str() + ")"});
  imported.problems = std::move(ours.problems);
  imported.status = ours.status;
}

std::vector<OnnxNode> Importer::listNodes() const {
  llvm::DenseMap<const onnx::NodeProto *, StringRef> needed;
  for (const GraphNode &node : model.nodes)
    needed[node.proto] = node.name;
  std::vector<OnnxNode> nodes;
  for (const onnx::NodeProto &proto : model.graph().node()) {
    auto entry = needed.find(&proto);
    bool isNeeded = entry != needed.end();
    nodes.push_back({isNeeded ? entry->second.str() : proto.name(),
                     proto.op_type(),
                     {proto.input().begin(), proto.input().end()},
                     {proto.output().begin(), proto.output().end()},
                     isNeeded});
  }
  return nodes;
}

/// What the dialect verifies of a whole module.
void Importer::checkResults() {
  if (report.hasProblems())
    return;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    SmallVector<OnnxName> names = namesIn(diagnostic.getLocation());
    std::string place =
        names.empty() ? "" : "node " + quoted(names.front().node);
    report.problem({ImportStatus::badModel, plainMessage(diagnostic.str())},
                   place);
    return success();
  });
  if (failed(verify(*module)) && !report.hasProblems())
    report.problem({ImportStatus::badModel, "the module is not valid"});
}

//===----------------------------------------------------------------------===//
// One function
//===----------------------------------------------------------------------===//

RankedTensorType Importer::inputType(const onnx::ValueInfoProto &input,
                                     Batch batch) {
  if (!input.type().has_tensor_type())
    unsupported("expected a tensor, got another type");
  const auto &declared = input.type().tensor_type();
  Type element = elementType(&context, declared.elem_type());
  if (!element || changesPrecision(declared.elem_type()))
    unsupported("element type " + typeName(declared.elem_type()) +
                " is not supported, only float, int32, int64, bool and uint8");
  if (!declared.has_shape())
    unsupported("expected a declared shape, got none");
  Shape shape;
  for (int number = 0; number < declared.shape().dim_size(); ++number)
    shape.push_back(dimensions.sizeOf(input, number, batch));
  return tensorType(shape, element);
}

void Importer::defineInputs(func::FuncOp function, Tensors &tensors,
                            Batch batch) {
  for (const auto &[name, value] : initializers) {
    bool isParameter =
        isa<FloatType>(value.getElementType()) && value.getNumElements() > 0;
    tensors.define(name, {{}, {}, value, isParameter});
  }
  for (const auto &[name, value] : bound)
    tensors.define(name, {{}, {}, value});

  for (const onnx::ValueInfoProto *input : model.inputs) {
    if (bound.count(input->name()))
      continue;
    guarded(report, "graph input " + quoted(input->name()), [&] {
      RankedTensorType type = inputType(*input, batch);
      unsigned number = function.getNumArguments();
      Location location = nameLocation(&context, input->name(), "", "");
      function.insertArgument(number, type, {}, location);
      function.setArgAttr(number, "mnist.name",
                          StringAttr::get(&context, input->name()));
      bool isBatched =
          type.getRank() > 0 && dimensions.isBatch(*input, 0, batch);
      tensors.define(input->name(), {{},
                                     function.getArgument(number),
                                     {},
                                     /*isParameter=*/false,
                                     /*isGraphInput=*/true,
                                     isBatched});
    });
  }
}

DenseElementsAttr Importer::trainableConstant(const GraphNode &node,
                                              Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  if (!constant || node.proto->op_type() != "Constant" ||
      !model.constants.contains(node.proto->output(0)))
    return {};
  auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
  bool trains = elements && isa<FloatType>(elements.getElementType()) &&
                elements.getNumElements() > 0;
  return trains ? elements : DenseElementsAttr();
}

void Importer::importNode(const GraphNode &node, Node::Scope scope,
                          OpBuilder &builder) {
  const onnx::NodeProto &proto = *node.proto;
  const Operator *row = findOperator(node.domain, proto.op_type(), node.opset);
  if (rejected.contains(&proto))
    return;
  // What depends on a problem is not reported as another one.
  for (const std::string &input : proto.input())
    if (!input.empty() && !scope.tensors.find(input))
      return;
  guarded(report, node.place(), [&] {
    Node view(node, scope, builder);
    view.finish(row->import(view));
    bool isBatched = view.anyBatched();
    for (auto [name, value] : llvm::zip(proto.output(), view.results())) {
      if (name.empty() || !value)
        continue;
      if (DenseElementsAttr weight = trainableConstant(node, value)) {
        Tensor tensor = {{}, {}, weight, /*isParameter=*/true};
        tensor.isOfNode = true;
        scope.tensors.define(name, tensor);
        continue;
      }
      if (auto constant = value.getDefiningOp<ConstantOp>();
          constant && !constant->hasAttr("mnist.name"))
        constant->setDiscardableAttr("mnist.name", builder.getStringAttr(name));
      Tensor tensor = {{}, value, {}, false, false, isBatched};
      tensor.sequence = view.givenSequence();
      scope.tensors.define(name, tensor);
    }
  });
}

Value Importer::outputValue(const onnx::ValueInfoProto &output,
                            Tensors &tensors, Batch batch) {
  Value value = tensors.value(output.name());
  if (tensors.find(output.name())->sequence)
    unsupported("a sequence as output of the graph is not supported");
  const auto &declared = output.type().tensor_type();
  if (declared.elem_type()) {
    Type element = elementType(&context, declared.elem_type());
    if (!element || changesPrecision(declared.elem_type()))
      unsupported("element type " + typeName(declared.elem_type()) +
                  " is not supported, only float, int32, int64, bool and "
                  "uint8");
    if (element != elementOf(value))
      fail("expected elements of " + typeName(declared.elem_type()) +
           " as declared, got " + typeName(elementOf(value)));
  }
  std::optional<Shape> shape = fixedShape(declared);
  if (shape && !batch.isRebound() && ArrayRef(*shape) != shapeOf(value))
    report.note("graph output " + quoted(output.name()) +
                " is declared with the shape " + shapeText(*shape) +
                ", but has " + shapeText(shapeOf(value)));
  return value;
}

void Importer::returnOutputs(func::FuncOp function, Tensors &tensors,
                             Batch batch) {
  SmallVector<Value> values;
  SmallVector<DictionaryAttr> attributes;
  Builder builder(&context);
  for (const onnx::ValueInfoProto &output : model.graph().output()) {
    if (!tensors.find(output.name()))
      continue;
    guarded(report, "graph output " + quoted(output.name()), [&] {
      values.push_back(outputValue(output, tensors, batch));
      attributes.push_back(builder.getDictionaryAttr(builder.getNamedAttr(
          "mnist.name", builder.getStringAttr(output.name()))));
    });
  }
  OpBuilder::atBlockEnd(&function.getBody().front())
      .create<func::ReturnOp>(function.getLoc(), values);
  function.setFunctionType(builder.getFunctionType(
      function.getArgumentTypes(), ValueRange(values).getTypes()));
  function.setAllResultAttrs(attributes);
}

func::FuncOp Importer::importFunction(StringRef name, Batch batch) {
  OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
  auto function = builder.create<func::FuncOp>(UnknownLoc::get(&context), name,
                                               builder.getFunctionType({}, {}));
  if (initializers.count(name))
    report.problem({ImportStatus::unsupported,
                    "the name " + quoted(name) +
                        " of an initializer is taken by a function"});
  Block *body = function.addEntryBlock();
  builder.setInsertionPointToEnd(body);
  Tensors tensors(*module, globals, body);
  defineInputs(function, tensors, batch);
  for (const GraphNode &node : model.nodes)
    importNode(node,
               {tensors, external, report, model.used, batch, options.train},
               builder);
  returnOutputs(function, tensors, batch);
  // What was needed at compile time only.
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*body)))
    if (isa<ConstantOp>(op) && op.use_empty())
      op.erase();
  return function;
}

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

static Imported importOnce(MLIRContext &context, StringRef bytes,
                           const std::string &name,
                           const std::string &directory,
                           const ImportOptions &options) {
  Imported imported;
  Report report(imported, name == "-" ? "<stdin>" : name);
  guarded(report, "", [&] {
    Importer importer(context, options, directory, report);
    imported.module = importer.run(bytes);
    imported.nodes = importer.listNodes();
    if (!imported.module && !options.batches.empty())
      importer.explainBatch(bytes, directory, imported);
  });
  if (imported.module)
    imported.status = ImportStatus::success;
  return imported;
}

Imported mlir::mnistc::importOnnx(MLIRContext &context, StringRef bytes,
                                  const std::string &name,
                                  const std::string &directory,
                                  const ImportOptions &options) {
  context.loadDialect<MnistDialect, func::FuncDialect,
                      ml_program::MLProgramDialect>();
  Imported imported = importOnce(context, bytes, name, directory, options);
  if (imported.module || !options.usualBatch || !options.batches.empty())
    return imported;
  // Shapes inside the model may be fixed to its own batch.
  ImportOptions asInFile = options;
  asInFile.usualBatch.reset();
  imported = importOnce(context, bytes, name, directory, asInFile);
  if (imported.module)
    Report(imported, name == "-" ? "<stdin>" : name)
        .warn("the model's shapes are fixed to its batch, which is used; "
              "export it with a symbolic batch to train with --batch=" +
              Twine(*options.usualBatch));
  return imported;
}
