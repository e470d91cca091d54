//===- tensor.cpp - any bytes as a TensorProto ----------------------------===//
//
// A tensor must end in a problem, or in an attribute of its type and size. Its
// external data is looked for in a folder with one file of 64 bytes, `data`.
//
//===----------------------------------------------------------------------===//

#include "lib/IR/Mnist/MnistOps.h"
#include "lib/Import/TensorData.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include <cstdlib>
#include <fstream>

using namespace mlir;
using namespace mlir::mnistc;
using namespace mlir::mnistc::importer;

static const std::string &folder() {
  static const std::string made = [] {
    llvm::SmallString<128> path;
    if (llvm::sys::fs::createUniqueDirectory("fuzz-tensor", path))
      std::abort();
    std::ofstream((path + "/data").str()) << std::string(64, '\1');
    return path.str().str();
  }();
  return made;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  onnx::TensorProto tensor;
  if (!tensor.ParseFromArray(data, static_cast<int>(size)))
    return 0;
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<MnistDialect>();
  ExternalData external(folder());
  try {
    DenseElementsAttr value = decodeTensor(&context, tensor, external);
    if (value.getType().getRank() != tensor.dims_size())
      std::abort();
    for (auto [size, dim] :
         llvm::zip(value.getType().getShape(), tensor.dims()))
      if (size != dim)
        std::abort();
  } catch (const Problem &problem) {
    if (problem.text.empty())
      std::abort();
  }
  return 0;
}
