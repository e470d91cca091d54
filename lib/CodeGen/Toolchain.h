//===- Toolchain.h - from C++ text to a program -----------------*- C++ -*-===//
//
// Device text goes through NVRTC, opened at run time; host text through the
// system's C++ compiler; both at once. Nothing here goes through a shell.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_CODEGEN_TOOLCHAIN_H
#define MNISTC_CODEGEN_TOOLCHAIN_H

#include "lib/CodeGen/CompileCache.h"
#include "mlir/Support/LLVM.h"
#include "llvm/Support/Error.h"
#include <functional>
#include <string>
#include <vector>

namespace mlir::mnistc {

/// What a target means to the compilers.
struct ToolchainTarget {
  StringRef name;
  StringRef arch;    ///< where none is asked for
  StringRef macro;   ///< tells the text what it is compiled for
  StringRef runtime; ///< the library with the target's executor
  bool deviceCode;   ///< the text is compiled for a GPU too
  std::vector<std::string> compilerFlags; ///< of the host part
  StringRef archFlag; ///< gives the host compiler the arch, or empty
  std::vector<std::string> linkerFlags;

  /// Null for an unknown name.
  static const ToolchainTarget *get(StringRef name);
};

struct Program {
  const ToolchainTarget *target = nullptr;
  std::vector<std::string> archs; ///< one, unless there is device code
  std::string source, constants;
  unsigned parts = 1;  ///< that kernels, or without them steps, are compiled in
  std::string initial; ///< of the parameters, if the program trains
  std::string onnx;    ///< the model's file, if the program is to write it
  std::string report;  ///< what `--report` of its commands shows, packed
  bool trains = false;
  std::vector<std::string> commands;  ///< beyond every program's: "train"
  std::string include, lib;           ///< of the runtime
  std::vector<std::string> libraries; ///< "onednn", "openblas": used by steps
  bool shared = false;                ///< a library with a C interface
  bool archive = false;               ///< the same, static
  std::string libraryName;            ///< of either
  bool quick = false;                 ///< compile fast rather than run fast
  std::string output;
  std::string saveTemps; ///< a folder, or empty
  CompileCache cache{""};
  /// Called with what has been done, for -v.
  std::function<void(StringRef)> lap = [](StringRef) {};
};

inline llvm::Error toolchainError(const Twine &text) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), text);
}

/// Compiles, links and writes `output`, whole or not at all. The error is one
/// line; where a compiler has more to say it names a log.
llvm::Error buildProgram(const Program &program);

/// Whether device text can be compiled in this process.
bool hasNvrtc();

/// What compilers of device code are told of an architecture: with what only
/// GPUs of just this kind have, where its code runs on no other anyway.
std::string machineArch(StringRef arch);

/// Compiles device text into a cubin, in this process, or finds it; `macros` as
/// in "-DMN_PART=2".
llvm::Expected<std::string> compileDeviceText(StringRef source, StringRef arch,
                                              StringRef include,
                                              ArrayRef<std::string> macros,
                                              const CompileCache &cache,
                                              std::string &log);

} // namespace mlir::mnistc

#endif // MNISTC_CODEGEN_TOOLCHAIN_H
