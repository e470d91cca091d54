//===- LibraryHeader.h - the C header of a compiled library -----*- C++ -*-===//
//
// A library libdigits.so or .a comes with libdigits.h: all of mnist.h, and the
// function digits_model() that stands for the model.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_CODEGEN_LIBRARYHEADER_H
#define MNISTC_CODEGEN_LIBRARYHEADER_H

#include "lib/CodeGen/Toolchain.h"

namespace mlir::mnistc {

/// "digits" for libdigits.so; empty where a path has no letter or digit.
std::string libraryName(StringRef path);

/// Whether a name is an identifier of C, and none of mnist.h's own.
bool isLibraryName(StringRef name);

/// "digits_model"
std::string modelFunction(const Program &program);

/// What a program links with an archive: "-lstdc++ -lm".
std::string archiveNeeds(const Program &program);

/// Where the header goes. An error where another file is in the way.
llvm::Expected<std::string> headerPath(const Program &program);

llvm::Expected<std::string> headerText(const Program &program);

} // namespace mlir::mnistc

#endif // MNISTC_CODEGEN_LIBRARYHEADER_H
