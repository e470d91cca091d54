//===- HostCompiler.cpp - C++ text to an object ---------------------------===//

#include "lib/CodeGen/HostCompiler.h"
#include "lib/CodeGen/LibraryHeader.h"
#include "lib/CodeGen/Processes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"
#include <future>

using namespace mlir;
using namespace mlir::mnistc;

void mlir::mnistc::keepFirst(llvm::Error &first, llvm::Error next) {
  if (first)
    llvm::consumeError(std::move(next));
  else
    first = std::move(next);
}

llvm::Error mlir::mnistc::writeFile(const Twine &path, StringRef text) {
  std::error_code code;
  llvm::raw_fd_ostream os(path.str(), code);
  if (!code) {
    os << text;
    os.close();
    code = os.error();
    os.clear_error();
  }
  return code ? toolchainError("cannot write " + path + ": " + code.message())
              : llvm::Error::success();
}

llvm::Expected<std::vector<std::string>> mlir::mnistc::findCompiler() {
  SmallVector<StringRef> names;
  const char *wanted = std::getenv("CXX");
  if (wanted)
    llvm::SplitString(wanted, names);
  std::vector<std::string> command;
  if (!names.empty()) {
    llvm::ErrorOr<std::string> path = llvm::sys::findProgramByName(names[0]);
    if (!path)
      return toolchainError("expected a C++ compiler as CXX says, got no '" +
                            names[0] + "'");
    command.push_back(*path);
    for (StringRef argument : llvm::drop_begin(names))
      command.push_back(argument.str());
    return command;
  }
  for (StringRef name : {"c++", "g++", "clang++"})
    if (llvm::ErrorOr<std::string> path = llvm::sys::findProgramByName(name)) {
      command.push_back(*path);
      return command;
    }
  return toolchainError(
      "expected a C++ compiler (c++, g++ or clang++) on PATH, got "
      "none; install g++ or set CXX");
}

std::string mlir::mnistc::firstErrorLine(StringRef log) {
  StringRef best;
  while (!log.empty()) {
    auto [line, rest] = log.split('\n');
    log = rest;
    if (line.starts_with("collect2:"))
      continue;
    if (line.contains("error") || line.contains("undefined reference") ||
        line.contains("cannot find"))
      return line.trim().take_front(300).str();
    if (best.empty())
      best = line.trim();
  }
  return best.take_front(300).str();
}

llvm::Error mlir::mnistc::execute(ArrayRef<std::string> command,
                                  StringRef log) {
  std::string message;
  int code = runProgram(command, log.str(), log.str(), message);
  if (code == 0)
    return llvm::Error::success();
  auto text = llvm::MemoryBuffer::getFile(log);
  if (text && !(*text)->getBuffer().empty())
    message = firstErrorLine((*text)->getBuffer());
  return toolchainError(
      llvm::sys::path::filename(command[0]) + " failed with code " +
      Twine(code) + (message.empty() ? "" : ": " + message) + "; see " + log);
}

/// The compiler with all that it is told but what to do.
static std::vector<std::string> hostCommand(const Program &program,
                                            std::vector<std::string> command) {
  const ToolchainTarget &target = *program.target;
  for (const std::string &flag : target.compilerFlags)
    command.push_back(flag);
  if (program.quick)
    command.push_back("-O1"); // The last one counts.
  if (!target.archFlag.empty())
    command.push_back(target.archFlag.str() + program.archs.front());
  if (program.shared || program.archive)
    command.push_back("-DMN_LIBRARY=" + modelFunction(program));
  for (std::string flag :
       {std::string("-std=c++20"), "-D" + target.macro.str(),
        std::string("-fPIC"), std::string("-fvisibility=hidden"),
        std::string("-ffunction-sections")})
    command.push_back(flag);
  return command;
}

/// What an object depends on: the text with all headers in it, as `text` names
/// it, and the compiler.
static std::optional<CacheKey> keyFor(ArrayRef<std::string> command,
                                      const std::string &text) {
  auto preprocessed = llvm::MemoryBuffer::getFile(text);
  if (!preprocessed)
    return std::nullopt;
  CacheKey key("host");
  key.addIdentity(command.front());
  for (const std::string &argument : command)
    key.add(argument);
  key.add((*preprocessed)->getBuffer());
  return key;
}

/// Of a program for a GPU the kernels are divided instead.
static unsigned partsOf(const Program &program) {
  return program.target->deviceCode ? 1 : program.parts;
}

/// "model", or "model.2": without an ending, what is made of a part.
static std::string partName(const Program &program, unsigned part) {
  return partsOf(program) == 1 ? "model" : "model." + std::to_string(part);
}

std::vector<std::string> mlir::mnistc::hostObjects(const Program &program) {
  std::vector<std::string> names;
  for (unsigned part = 1; part <= partsOf(program); ++part)
    names.push_back(partName(program, part) + ".o");
  return names;
}

static llvm::Error compilePart(const Program &program, StringRef folder,
                               ArrayRef<std::string> command, unsigned part) {
  auto place = [&](const Twine &name) { return (folder + "/" + name).str(); };
  std::string name = partName(program, part);
  auto run = [&](ArrayRef<std::string> more) {
    std::vector<std::string> whole = command;
    llvm::append_range(whole, more);
    return execute(
        whole, place(name == "model" ? "compile.log" : name + ".compile.log"));
  };
  std::string object = place(name + ".o"), text = place(name + ".ii");
  std::vector<std::string> preprocess = {"-I" + program.include, "-E", "-P"};
  if (partsOf(program) != 1)
    preprocess.push_back("-DMN_PART=" + std::to_string(part));
  // Without the names of files, which are temporary.
  llvm::append_range(preprocess,
                     std::vector<std::string>{place("model.cpp"), "-o", text});
  if (llvm::Error failed = run(preprocess))
    return failed;
  std::optional<CacheKey> key;
  if (program.cache.isOn())
    key = keyFor(command, text);
  if (key)
    if (std::optional<std::string> known = program.cache.find(*key))
      return writeFile(object, *known);
  if (llvm::Error failed = run({"-c", text, "-o", object}))
    return failed;
  if (auto bytes = llvm::MemoryBuffer::getFile(object); key && bytes)
    program.cache.add(*key, (*bytes)->getBuffer());
  return llvm::Error::success();
}

llvm::Error
mlir::mnistc::compileHost(const Program &program, StringRef folder,
                          const std::vector<std::string> &compiler) {
  std::vector<std::string> command = hostCommand(program, compiler);
  std::vector<std::future<llvm::Error>> others;
  for (unsigned part = 2; part <= partsOf(program); ++part)
    others.push_back(std::async(std::launch::async, [&, part] {
      return compilePart(program, folder, command, part);
    }));
  llvm::Error failed = compilePart(program, folder, command, 1);
  for (std::future<llvm::Error> &other : others)
    keepFirst(failed, other.get());
  return failed;
}
