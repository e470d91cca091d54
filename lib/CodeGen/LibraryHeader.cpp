//===- LibraryHeader.cpp - the C header of a compiled library -------------===//

#include "lib/CodeGen/LibraryHeader.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace mlir::mnistc;

/// In the first line: a header with it may be written over.
static constexpr StringLiteral mark = "written by mnistc";

static bool isIdentifierLetter(char c) { return llvm::isAlnum(c) || c == '_'; }

std::string mlir::mnistc::libraryName(StringRef path) {
  StringRef stem = llvm::sys::path::stem(path);
  if (stem.size() > 3)
    stem.consume_front("lib");
  std::string name = stem.str();
  for (char &c : name)
    c = isIdentifierLetter(c) ? c : '_';
  if (llvm::none_of(name, llvm::isAlnum))
    return "";
  if (llvm::isDigit(name.front()))
    name.insert(0, "_");
  return name;
}

bool mlir::mnistc::isLibraryName(StringRef name) {
  return !name.empty() && !llvm::isDigit(name.front()) &&
         llvm::all_of(name, isIdentifierLetter) && name != "mn" &&
         !name.starts_with("mn_");
}

std::string mlir::mnistc::modelFunction(const Program &program) {
  return program.libraryName + "_model";
}

std::string mlir::mnistc::archiveNeeds(const Program &program) {
  std::vector<std::string> flags = {"-lstdc++"};
  for (const std::string &library : program.libraries)
    if (library == "onednn")
      flags.push_back("-ldnnl");
  for (const std::string &flag : program.target->linkerFlags)
    flags.push_back(flag == "-fopenmp" ? "-lgomp" : flag);
  flags.insert(flags.end(), {"-lm", "-lpthread"});
  flags.erase(llvm::unique(flags), flags.end());
  return llvm::join(flags, " ");
}

llvm::Expected<std::string> mlir::mnistc::headerPath(const Program &program) {
  llvm::SmallString<128> path(program.output);
  llvm::sys::path::replace_extension(path, "h");
  if (path == program.output)
    return toolchainError("expected another name than " + path +
                          " for the library, as its header has this one");
  if (!llvm::sys::fs::exists(path))
    return path.str().str();
  auto found = llvm::MemoryBuffer::getFile(path);
  if (!llvm::sys::fs::is_regular_file(path) || !found ||
      !(*found)->getBuffer().split('\n').first.contains(mark))
    return toolchainError(
        "cannot write " + path + ", the library's header: expected " +
        "no such file or one written by mnistc, got another; move "
        "it or choose another -o");
  return path.str().str();
}

llvm::Expected<std::string> mlir::mnistc::headerText(const Program &program) {
  auto interface = llvm::MemoryBuffer::getFile(program.include + "/mnist.h");
  if (!interface)
    return toolchainError("expected the C interface " + program.include +
                          "/mnist.h: " + interface.getError().message());
  std::string function = modelFunction(program);
  std::string guard = StringRef(function).upper() + "_H";
  std::string text = ("/* " + Twine(mark) + ": the model " + function +
                      "() in a library, and the functions that run it.\n")
                         .str();
  if (program.archive)
    text += "   Link what uses it with: " + archiveNeeds(program) + "\n";
  text += "   mnist.h follows; then the model. */\n\n";
  text += (*interface)->getBuffer();
  return text + "\n#ifndef " + guard + "\n#define " + guard +
         "\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n"
         "/* For mn_open. Never NULL. */\n"
         "MN_API const mn_compiled_model *" +
         function + "(void);\n\n#ifdef __cplusplus\n}\n#endif\n\n#endif /* " +
         guard + " */\n";
}
