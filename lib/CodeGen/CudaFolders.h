//===- CudaFolders.h - where CUDA's libraries may be ------------*- C++ -*-===//
//
// A toolkit's folders, and those of Python's packages of CUDA. Python is not
// run: it may be a shim that does who knows what.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_CODEGEN_CUDAFOLDERS_H
#define MNISTC_CODEGEN_CUDAFOLDERS_H

#include <string>
#include <vector>

namespace mlir::mnistc {

/// In the order in which to look. An empty folder stands for the loader's own
/// places.
std::vector<std::string> cudaLibraryFolders();

/// A toolkit's compiler, or an empty path.
std::string findNvcc();

} // namespace mlir::mnistc

#endif // MNISTC_CODEGEN_CUDAFOLDERS_H
