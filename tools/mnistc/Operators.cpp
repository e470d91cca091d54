//===- Operators.cpp - what --list-operators prints -----------------------===//
//
// Two tables, both generated from the compiler's own: the ONNX operators that
// are imported, and the ops that they become, with what computes them.
//
//===----------------------------------------------------------------------===//

#include "tools/mnistc/Operators.h"
#include "lib/IR/Mnist/MnistOps.h"
#include "lib/IR/Plan/Target.h"
#include "lib/Import/Import.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::mnistc;

static void printOperators(raw_ostream &os) {
  auto line = [&](StringRef name, StringRef opsets, StringRef targets,
                  StringRef gradient) {
    os << llvm::formatv("{0,-44}{1,-14}{2,-12}{3}\n", name, opsets, targets,
                        gradient);
  };
  line("ONNX operator", "since opset", "targets", "differentiable");
  for (const ImportedOperator &op : importedOperators()) {
    std::string name = (op.domain.empty() ? "" : op.domain + ".") + op.name;
    std::string opsets =
        llvm::formatv("{0:$[, ]}", llvm::make_range(op.sinceVersions.begin(),
                                                    op.sinceVersions.end()));
    // Every op of the second table has an implementation on each target.
    line(name, opsets, "cuda, cpu", op.differentiable ? "yes" : "no");
  }
}

/// "cudnn, kernel", the preferred one first.
static std::string implementationsOf(RegisteredOperationName op,
                                     const Target &target) {
  llvm::SmallSetVector<StringRef, 4> names;
  for (const Preference &preference : target.machine->preferences)
    if (preference.op == op.stripDialect())
      names.insert(stringifyImpl(preference.impl));
  // A root, or part of generated code in any step.
  if (op.hasInterface<RootOpInterface>() || op.hasTrait<Elementwise>() ||
      op.hasTrait<Indexing>())
    names.insert(stringifyImpl(Impl::kernel));
  return names.empty() ? "by other ops" : llvm::join(names, ", ");
}

static void printOps(MLIRContext &context, raw_ostream &os) {
  llvm::Expected<const Target *> cuda = Target::get("cuda"),
                                 cpu = Target::get("cpu");
  if (!cuda || !cpu)
    llvm_unreachable("both targets are known");
  auto line = [&](StringRef op, StringRef onCuda, StringRef onCpu,
                  StringRef gradient) {
    os << llvm::formatv("{0,-20}{1,-18}{2,-28}{3}\n", op, onCuda, onCpu,
                        gradient);
  };
  line("op", "cuda", "cpu", "differentiable");
  std::vector<RegisteredOperationName> ops =
      context.getRegisteredOperations().vec();
  llvm::sort(ops, [](RegisteredOperationName a, RegisteredOperationName b) {
    return a.getStringRef() < b.getStringRef();
  });
  for (RegisteredOperationName op : ops)
    if (op.getDialectNamespace() == MnistDialect::getDialectNamespace() &&
        !op.hasTrait<OpTrait::ConstantLike>())
      line(op.stripDialect(), implementationsOf(op, **cuda),
           implementationsOf(op, **cpu),
           op.hasInterface<DifferentiableOpInterface>() ? "yes" : "no");
}

void mlir::mnistc::printOperatorTables(raw_ostream &os) {
  printOperators(os);
  os << "\n";
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<MnistDialect>();
  printOps(context, os);
}
