//===- import.cpp - any bytes as a model ----------------------------------===//
//
// The importer must end every file in problems or in a module that verifies.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Import.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>

using namespace mlir;
using namespace mlir::mnistc;

static void importBytes(llvm::StringRef bytes, const ImportOptions &options) {
  // A new context: attributes live as long as their context.
  MLIRContext context(MLIRContext::Threading::DISABLED);
  Imported imported =
      importOnnx(context, bytes, "fuzz.onnx", "/nowhere", options);
  bool succeeded = imported.status == ImportStatus::success;
  if (succeeded != bool(imported.module) ||
      succeeded != imported.problems.empty())
    std::abort();
  if (!succeeded)
    return;
  if (failed(verify(*imported.module)))
    std::abort();
  std::string text;
  llvm::raw_string_ostream os(text);
  imported.module->print(os);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef bytes(reinterpret_cast<const char *>(data), size);
  importBytes(bytes, {});
  ImportOptions options;
  options.batches = {1, 7};
  importBytes(bytes, options);
  return 0;
}
