//===- Operators.cpp - what --list-operators prints -----------------------===//
//
// Two tables, both read off the compiler's own: the ONNX operators that are
// imported, and the ops that they become, with what computes them.
//
//===----------------------------------------------------------------------===//

#include "tools/mnistc/Operators.h"
#include "lib/IR/Mnist/MnistOps.h"
#include "lib/IR/Plan/Target.h"
#include "lib/Import/Import.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::mnistc;

static void printOperators(raw_ostream &os) {
  os << llvm::formatv("{0,-32}{1}\n", "ONNX operator",
                      "from opset, and where it changes");
  for (const ImportedOperator &op : importedOperators()) {
    std::string name = (op.domain.empty() ? "" : op.domain + ".") + op.name;
    os << llvm::formatv(
        "{0,-32}{1:$[, ]}\n", name,
        llvm::make_range(op.sinceVersions.begin(), op.sinceVersions.end()));
  }
}

/// "cudnn, kernel", the preferred one first.
static std::string implementationsOf(StringRef op, bool hasRow,
                                     const Target &target) {
  SmallVector<StringRef> names;
  for (const Implementation &row : target.implementations)
    if (row.op == (hasRow ? op : "map"))
      names.push_back(stringifyImpl(row.impl));
  return llvm::join(names, ", ");
}

static void printOps(MLIRContext &context, raw_ostream &os) {
  const Target &cuda = **Target::get("cuda"), &cpu = **Target::get("cpu");
  os << llvm::formatv("{0,-32}{1,-18}{2,-28}{3}\n", "op", "cuda", "cpu",
                      "differentiable");
  for (RegisteredOperationName name : context.getRegisteredOperations()) {
    if (name.getDialectNamespace() != MnistDialect::getDialectNamespace() ||
        name.hasTrait<OpTrait::ConstantLike>())
      continue;
    StringRef op = name.stripDialect();
    // What has no row of its own is part of generated code.
    bool hasRow =
        llvm::any_of(cpu.implementations,
                     [&](const Implementation &row) { return row.op == op; });
    os << llvm::formatv(
        "{0,-32}{1,-18}{2,-28}{3}\n", op, implementationsOf(op, hasRow, cuda),
        implementationsOf(op, hasRow, cpu),
        name.hasInterface<DifferentiableOpInterface>() ? "yes" : "no");
  }
}

void mlir::mnistc::printOperatorTables(raw_ostream &os) {
  printOperators(os);
  os << "\n";
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<MnistDialect>();
  printOps(context, os);
}
