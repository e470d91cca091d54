//===- HostCompiler.h - C++ text to an object -------------------*- C++ -*-===//

#ifndef MNISTC_CODEGEN_HOSTCOMPILER_H
#define MNISTC_CODEGEN_HOSTCOMPILER_H

#include "lib/CodeGen/Toolchain.h"

namespace mlir::mnistc {

/// Of two failures the first one counts.
void keepFirst(llvm::Error &first, llvm::Error next);

llvm::Error writeFile(const Twine &path, StringRef text);

/// The system's C++ compiler, with the arguments that CXX may hold.
llvm::Expected<std::vector<std::string>> findCompiler();

/// The first line that tells an error, or any line.
std::string firstErrorLine(StringRef log);

/// Runs a program with its output in a file.
llvm::Error execute(ArrayRef<std::string> command, StringRef log);

/// The objects that become of model.cpp: a name for each part.
std::vector<std::string> hostObjects(const Program &program);

/// Makes them in a folder, where model.cpp is: compiled, side by side, or
/// found.
llvm::Error compileHost(const Program &program, StringRef folder,
                        const std::vector<std::string> &compiler);

} // namespace mlir::mnistc

#endif // MNISTC_CODEGEN_HOSTCOMPILER_H
