//===- Reader.cpp - bytes to a model --------------------------------------===//

#include "google/protobuf/stubs/logging.h"
#include "lib/IR/Mnist/TensorSize.h"
#include "lib/Import/Model.h"
#include "mnistrt/training.h"
#include "onnx/defs/schema.h"
#include "onnx/inliner/inliner.h"

using namespace mlir;
using namespace mlir::mnistc;
using namespace mlir::mnistc::importer;

static constexpr int oldestIrVersion = 3;
/// The limit of nodes after functions are inlined.
static constexpr int64_t maxNodes = 1 << 20;
static constexpr int maxDepth = 100;

static std::string normalDomain(const std::string &domain) {
  return domain == "ai.onnx" ? "" : domain;
}

static void checkVersions(Model &model, Report &report) {
  int64_t newestIr = onnx::Version_MAX;
  int64_t ir = model.proto.ir_version();
  if (ir < oldestIrVersion || ir > newestIr)
    report.problem(
        {ImportStatus::badModel, "expected an IR version from " +
                                     std::to_string(oldestIrVersion) + " to " +
                                     std::to_string(newestIr) + ", got " +
                                     std::to_string(ir)});
  const auto &known = onnx::OpSchemaRegistry::DomainToVersionRange::Instance();
  for (const auto &opset : model.proto.opset_import()) {
    std::string domain = normalDomain(opset.domain());
    auto range = known.Map().find(domain);
    if (opset.version() < 1 || opset.version() > INT32_MAX ||
        (domain.empty() && opset.version() > range->second.second)) {
      report.problem({ImportStatus::badModel,
                      "expected an opset from 1 to " +
                          std::to_string(range == known.Map().end()
                                             ? INT32_MAX
                                             : range->second.second) +
                          (domain.empty() ? "" : " of " + quoted(domain)) +
                          ", got " + std::to_string(opset.version())});
      continue;
    }
    int version = static_cast<int>(opset.version());
    auto [entry, isNew] = model.opsets.try_emplace(domain, version);
    if (!isNew && entry->second != version)
      report.problem({ImportStatus::badModel,
                      "expected one opset for the domain " + quoted(domain) +
                          ", got " + std::to_string(entry->second) + " and " +
                          std::to_string(version)});
  }
  if (model.proto.opset_import().empty())
    report.problem({ImportStatus::badModel,
                    "expected the model to import an opset, got none"});
}

//===----------------------------------------------------------------------===//
// Model-local functions
//===----------------------------------------------------------------------===//

namespace {
/// How many nodes each function becomes, so that calls which never end, or
/// which double from one function to the next, are found before inlining.
class FunctionSizes {
public:
  explicit FunctionSizes(const onnx::ModelProto &model) {
    for (const auto &function : model.functions())
      functions[key(function.domain(), function.name())] = &function;
  }

  template <typename Nodes> int64_t count(const Nodes &nodes, int depth = 0) {
    if (depth > maxDepth)
      unsupported("expected functions that call each other at most " +
                  Twine(maxDepth) + " deep, got more");
    int64_t total = 0;
    for (const onnx::NodeProto &node : nodes) {
      total += 1 + callee(key(node.domain(), node.op_type()), depth);
      for (const auto &attribute : node.attribute())
        if (attribute.has_g())
          total += count(attribute.g().node(), depth + 1);
      if (total > maxNodes)
        unsupported("expected functions of at most " + Twine(maxNodes) +
                    " nodes in total, got more");
    }
    return total;
  }

private:
  static std::string key(const std::string &domain, const std::string &name) {
    return normalDomain(domain) + '\0' + name;
  }

  int64_t callee(const std::string &name, int depth) {
    auto function = functions.find(name);
    if (function == functions.end())
      return 0;
    auto [size, isNew] = sizes.try_emplace(name, -1);
    if (isNew) {
      int64_t counted = count(function->second->node(), depth + 1);
      return sizes[name] = counted;
    }
    if (size->second < 0)
      fail("expected functions that do not call themselves, got " +
           quoted(function->second->name()));
    return size->second;
  }

  llvm::StringMap<const onnx::FunctionProto *> functions;
  llvm::StringMap<int64_t> sizes;
};
} // namespace

void importer::inlineFunctions(onnx::ModelProto &model) {
  if (model.functions().empty())
    return;
  FunctionSizes(model).count(model.graph().node());
  try {
    onnx::inliner::InlineLocalFunctions(model);
  } catch (const std::exception &error) {
    fail("cannot inline the model's functions: " + firstLine(error.what()));
  }
}

static void findConstants(Model &model) {
  for (const onnx::NodeProto &node : model.graph().node()) {
    if (node.op_type() != "Constant" || !normalDomain(node.domain()).empty() ||
        node.output_size() != 1)
      continue;
    const char *name = node.output(0).c_str();
    // The names of functions are taken.
    if (!mn::isOfKind(name, mn::kinds::infer) &&
        !mn::isOfKind(name, mn::kinds::eval) &&
        !mn::isOfKind(name, mn::kinds::train))
      model.constants.insert(name);
  }
}

/// Inputs with an initializer, which old files have, do not count.
static void checkInterface(const onnx::GraphProto &graph, Report &report) {
  const auto check = [&](const char *what, int64_t count, size_t limit) {
    if (count > int64_t(limit))
      report.problem({ImportStatus::unsupported,
                      "expected at most " + std::to_string(limit) + " " + what +
                          ", got " + std::to_string(count)});
  };
  llvm::StringSet<> initializers;
  for (const onnx::TensorProto &initializer : graph.initializer())
    initializers.insert(initializer.name());
  check("inputs",
        llvm::count_if(graph.input(),
                       [&](const auto &input) {
                         return !initializers.contains(input.name());
                       }),
        maxInputs);
  check("outputs", graph.output_size(), maxOutputs);
}

bool importer::parseModel(StringRef bytes, Model &model, Report &report) {
  if (bytes.size() > maxModelBytes) {
    report.problem({ImportStatus::badModel,
                    "expected at most " + std::to_string(INT32_MAX) +
                        " bytes, got " + std::to_string(bytes.size())});
    return false;
  }
  google::protobuf::LogSilencer silence;
  if (!model.proto.ParseFromArray(bytes.data(),
                                  static_cast<int>(bytes.size())) ||
      !model.proto.has_graph()) {
    report.problem(
        {ImportStatus::badModel,
         "expected an ONNX model, got " +
             std::string(bytes.empty() ? "an empty file" : "something else")});
    return false;
  }
  checkVersions(model, report);
  checkInterface(model.proto.graph(), report);
  if (report.hasProblems())
    return false;
  findConstants(model);
  try {
    inlineFunctions(model.proto);
  } catch (const Problem &problem) {
    report.problem(problem);
    return false;
  }
  return true;
}
