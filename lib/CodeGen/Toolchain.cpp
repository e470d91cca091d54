//===- Toolchain.cpp - from C++ text to a program -------------------------===//

#include "lib/CodeGen/Toolchain.h"
#include "lib/CodeGen/CudaFolders.h"
#include "lib/CodeGen/HostCompiler.h"
#include "lib/CodeGen/LibraryHeader.h"
#include "lib/CodeGen/PartialFile.h"
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

const ToolchainTarget *ToolchainTarget::get(StringRef name) {
  // Integers wrap around; no trap and no errno keeps a loop from SIMD.
  static const ToolchainTarget targets[] = {
      {"cuda",
       "sm_90",
       "MN_TARGET_CUDA",
       "mnistrt_cuda",
       /*deviceCode=*/true,
       {"-O2"},
       "",
       {"-ldl", "-lpthread"}},
      {"cpu",
       "x86-64-v3",
       "MN_TARGET_CPU",
       "mnistrt_cpu",
       /*deviceCode=*/false,
       {"-O3", "-fopenmp", "-fno-math-errno", "-fno-trapping-math", "-fwrapv"},
       "-march=",
       {"-fopenmp"}},
  };
  for (const ToolchainTarget &target : targets)
    if (target.name == name)
      return &target;
  return nullptr;
}

namespace {
/// Where the pieces of a program are while it is made.
class Workplace {
public:
  llvm::Error open(StringRef saveTemps) {
    if (saveTemps.empty()) {
      std::error_code code = temporary.create();
      folder = temporary.path();
      return code ? toolchainError("cannot make a temporary folder: " +
                                   code.message())
                  : llvm::Error::success();
    }
    folder = saveTemps;
    std::error_code code = llvm::sys::fs::create_directories(saveTemps);
    if (!code)
      code = llvm::sys::fs::make_absolute(folder);
    return code ? toolchainError("cannot make folder " + folder + ": " +
                                 code.message())
                : llvm::Error::success();
  }
  std::string path(StringRef name) const { return (folder + "/" + name).str(); }
  /// The text and the logs of what failed can be looked at; weights are gone.
  void keepLogs() {
    if (temporary.path().empty())
      return;
    std::error_code code;
    for (llvm::sys::fs::directory_iterator it(folder, code), end;
         !code && it != end; it.increment(code)) {
      StringRef file = it->path();
      if (!file.ends_with(".log") && !file.ends_with(".cpp"))
        llvm::sys::fs::remove(file);
    }
    temporary.keep();
  }

private:
  llvm::SmallString<128> folder;
  TemporaryFolder temporary;
};
} // namespace

namespace {
/// What is compiled on its own.
struct DevicePart {
  std::string arch;
  unsigned number; ///< from 1 on

  /// "kernels.sm_90", or "kernels.sm_90.2": without an ending.
  std::string name(const Program &program) const {
    std::string part = "." + std::to_string(number);
    return "kernels." + arch + (program.parts == 1 ? "" : part);
  }
  std::vector<std::string> macros(const Program &program) const {
    if (program.parts == 1)
      return {};
    return {"-DMN_PART=" + std::to_string(number)};
  }
};
} // namespace

/// In the order of the program's table: of each architecture its parts.
static std::vector<DevicePart> deviceCodes(const Program &program) {
  std::vector<DevicePart> all;
  if (program.target->deviceCode)
    for (const std::string &arch : program.archs)
      for (unsigned part = 1; part <= program.parts; ++part)
        all.push_back({arch, part});
  return all;
}

/// An assembly file that holds other files: compilers take seconds for a large
/// array, assemblers none.
static std::string embeddingText(const Program &program,
                                 const Workplace &place) {
  std::string text = "\t.section .rodata\n";
  auto symbol = [&](StringRef name) {
    text += ("\t.globl " + name + "\n\t.hidden " + name + "\n" + name + ":\n")
                .str();
  };
  auto file = [&](StringRef name) {
    text += "\t.incbin \"";
    for (unsigned char c : place.path(name)) {
      if (c == '"' || c == '\\' || c < 0x20)
        text += {'\\', static_cast<char>('0' + (c >> 6)),
                 static_cast<char>('0' + (c >> 3 & 7)),
                 static_cast<char>('0' + (c & 7))};
      else
        text += static_cast<char>(c);
    }
    text += "\"\n";
  };
  text += "\t.balign 256\n";
  symbol("mn_constants");
  file("constants.bin");
  for (auto [name, bytes] : {std::pair("parameters", &program.initial),
                             std::pair("onnx", &program.onnx)}) {
    if (bytes->empty())
      continue;
    text += "\t.balign 256\n";
    symbol(("mn_" + Twine(name)).str());
    file((name + Twine(".bin")).str());
  }
  if (!program.report.empty()) {
    symbol("mn_report");
    file("report.bin");
    symbol("mn_report_end");
  }
  for (auto [i, code] : llvm::enumerate(deviceCodes(program))) {
    std::string name = "mn_code_" + std::to_string(i + 1);
    text += "\t.balign 256\n";
    symbol(name);
    file(code.name(program) + ".cubin");
    symbol(name + "_end");
  }
  return text + "\t.byte 0\n\t.section .note.GNU-stack,\"\",@progbits\n";
}

std::string mlir::mnistc::machineArch(StringRef arch) {
  return arch == "sm_90" ? "sm_90a" : arch.str();
}

/// Where NVRTC is not: slower, and needs a host compiler that nvcc takes.
static llvm::Error compileWithNvcc(const std::string &nvcc,
                                   const Program &program,
                                   const DevicePart &code,
                                   const Workplace &place,
                                   const std::string &stem) {
  std::vector<std::string> command = {nvcc,
                                      "-x",
                                      "cu",
                                      "-cubin",
                                      "-std=c++20",
                                      "--expt-relaxed-constexpr",
                                      "-arch=" + machineArch(code.arch),
                                      "-I" + program.include,
                                      place.path("model.cpp"),
                                      "-o",
                                      stem + ".cubin"};
  llvm::append_range(command, code.macros(program));
  return execute(command, stem + ".log");
}

static llvm::Error compileDevice(const Program &program, const DevicePart &code,
                                 const Workplace &place) {
  std::string log, stem = place.path(code.name(program));
  if (!hasNvrtc())
    if (std::string nvcc = findNvcc(); !nvcc.empty())
      return compileWithNvcc(nvcc, program, code, place, stem);
  llvm::Expected<std::string> cubin =
      compileDeviceText(program.source, code.arch, program.include,
                        code.macros(program), program.cache, log);
  if (cubin)
    return writeFile(stem + ".cubin", *cubin);
  if (log.empty())
    return cubin.takeError();
  std::string path = stem + ".log";
  llvm::consumeError(writeFile(path, log));
  return toolchainError(llvm::toString(cubin.takeError()) + ": " +
                        firstErrorLine(log) + "; see " + path);
}

/// The runtime's archives, and what an installed compiler brings with them.
static void addRuntime(const Program &program,
                       std::vector<std::string> &command) {
  auto add = [&](const Twine &flag) { command.push_back(flag.str()); };
  auto archive = [&](const Twine &name) {
    add(program.lib + "/lib" + name + ".a");
  };
  add("-Wl,--start-group");
  if (program.shared)
    archive("mnistrt_api");
  if (!program.shared && !program.archive)
    archive("mnistrt_main");
  // What is asked for weakly.
  for (const std::string &name : program.commands) {
    add("-Wl,-u,mn_" + name + "_command");
    archive("mnistrt_" + name);
  }
  if (program.trains && (program.shared || program.archive)) {
    add("-Wl,-u,mn_training_table");
    archive("mnistrt_train");
  }
  archive("mnistrt_core");
  archive("mnistrt_page");
  archive(program.target->runtime);
  for (const std::string &library : program.libraries)
    archive("mnistrt_" + library);
  add("-Wl,--end-group");
  add("-L" + program.lib + "/mnistrt");
  for (const std::string &library : program.libraries)
    if (library != "onednn")
      add("-l:lib" + library + ".a");
  add("-l:libpng16.a");
  add("-l:libz.a");
}

static llvm::Error link(const Program &program, const Workplace &place,
                        std::vector<std::string> command,
                        const std::string &output) {
  auto add = [&](const Twine &flag) { command.push_back(flag.str()); };
  for (const std::string &object : hostObjects(program))
    add(place.path(object));
  add(place.path("embed.s"));
  if (program.shared) {
    // Nothing asks for the C interface but those who load it.
    add("-shared");
    add("-Wl,-u,mn_open");
    // Templates of the standard library would show otherwise.
    add("-Wl,--version-script=" + place.path("exports.map"));
  } else {
    // Nor may a shared library that brings its own libstdc++, as oneDNN does,
    // find templates of the program's.
    add("-Wl,--exclude-libs,ALL");
  }
  addRuntime(program, command);
  if (llvm::is_contained(program.libraries, "onednn"))
    add("-ldnnl");
  for (const char *flag : {"-lm", "-static-libstdc++", "-static-libgcc",
                           "-Wl,--gc-sections", "-Wl,--as-needed", "-pthread"})
    add(flag);
  for (const std::string &flag : program.target->linkerFlags)
    add(flag);
  add("-o");
  add(output);
  llvm::Error failed = execute(command, place.path("link.log"));
  if (!failed)
    return failed;
  std::string message = llvm::toString(std::move(failed));
  if (StringRef(message).contains("-ldnnl"))
    return toolchainError(
        "expected oneDNN where the linker looks (libdnnl-dev), got "
        "none; install it, or compile with --libraries=none");
  return toolchainError(message);
}

/// Links objects into one, of whose symbols only those named by `shown` can be
/// seen from outside.
static llvm::Error linkObject(const Workplace &place,
                              std::vector<std::string> command,
                              const std::string &shown,
                              const std::string &object) {
  llvm::ErrorOr<std::string> objcopy = llvm::sys::findProgramByName("objcopy");
  if (!objcopy)
    return toolchainError(
        "expected objcopy on PATH for a static library, got none; "
        "install binutils");
  // Functions that other objects have too would be dropped at the final link.
  for (const char *flag :
       {"-r", "-nostdlib", "-Wl,--force-group-allocation", "-o"})
    command.push_back(flag);
  command.push_back(object);
  if (llvm::Error failed = execute(command, place.path("link.log")))
    return failed;
  return execute(
      {*objcopy, "--wildcard", "--keep-global-symbol=" + shown, object},
      place.path("objcopy.log"));
}

/// A static library of two objects. The model's has its own runtime, which no
/// other library sees; that with the functions of mnist.h is the same in each,
/// and the linker takes one.
static llvm::Error archive(const Program &program, const Workplace &place,
                           const std::vector<std::string> &compiler,
                           const std::string &output) {
  llvm::ErrorOr<std::string> ar = llvm::sys::findProgramByName("ar");
  if (!ar)
    return toolchainError("expected ar on PATH for a static library, got none; "
                          "install binutils");
  std::string model = place.path("library.o"), api = place.path("mnist.o");
  std::vector<std::string> command = compiler;
  for (const std::string &object : hostObjects(program))
    command.push_back(place.path(object));
  for (const std::string &flag :
       {place.path("embed.s"), std::string("-Wl,--gc-sections"),
        "-Wl,-u," + modelFunction(program)})
    command.push_back(flag);
  addRuntime(program, command);
  if (llvm::Error failed =
          linkObject(place, command, modelFunction(program), model))
    return failed;
  command = compiler;
  command.push_back("-Wl,--whole-archive");
  command.push_back(program.lib + "/libmnistrt_api.a");
  command.push_back("-Wl,--no-whole-archive");
  if (llvm::Error failed = linkObject(place, command, "mn_*", api))
    return failed;
  llvm::sys::fs::remove(output); // ar would add to it.
  return execute({*ar, "rcsD", output, model, api}, place.path("ar.log"));
}

/// The runtime of an executable or library: a file that is missing is a broken
/// installation, and said so before anything is compiled.
static llvm::Error checkRuntime(const Program &program) {
  std::vector<std::string> files = {
      program.include + "/mnistrt/generated.h",
      program.lib + "/libmnistrt_core.a", program.lib + "/libmnistrt_page.a",
      program.lib + "/lib" + program.target->runtime.str() + ".a"};
  for (const std::string &library : program.libraries)
    files.push_back(program.lib + "/libmnistrt_" + library + ".a");
  if (program.shared || program.archive)
    files.push_back(program.lib + "/libmnistrt_api.a");
  if (program.trains)
    files.push_back(program.lib + "/libmnistrt_train.a");
  for (const std::string &name : program.commands)
    files.push_back(program.lib + "/libmnistrt_" + name + ".a");
  for (const std::string &file : files)
    if (!llvm::sys::fs::exists(file))
      return toolchainError("expected the runtime's file " + file +
                            ", got none; see --runtime");
  return llvm::Error::success();
}

static llvm::Error compileAll(const Program &program, const Workplace &place,
                              const std::string &output) {
  llvm::Expected<std::vector<std::string>> compiler = findCompiler();
  if (!compiler)
    return compiler.takeError();
  if (llvm::Error failed = writeFile(place.path("model.cpp"), program.source))
    return failed;
  for (auto [name, bytes] : {std::pair("constants.bin", &program.constants),
                             std::pair("parameters.bin", &program.initial),
                             std::pair("onnx.bin", &program.onnx),
                             std::pair("report.bin", &program.report)})
    if (!bytes->empty() || bytes == &program.constants)
      if (llvm::Error failed = writeFile(place.path(name), *bytes))
        return failed;
  if (llvm::Error failed =
          writeFile(place.path("embed.s"), embeddingText(program, place)))
    return failed;

  if (llvm::Error failed = writeFile(
          place.path("exports.map"),
          "{ global: mn_*; " + modelFunction(program) + "; local: *; };\n"))
    return failed;

  std::vector<std::future<llvm::Error>> devices;
  const std::vector<DevicePart> codes = deviceCodes(program);
  for (const DevicePart &code : codes)
    devices.push_back(std::async(std::launch::async, [&] {
      return compileDevice(program, code, place);
    }));
  llvm::Error host = compileHost(program, place.path("."), *compiler);
  program.lap("host compiler");
  // Of several failures the first arch's is told.
  llvm::Error failed = llvm::Error::success();
  for (std::future<llvm::Error> &device : devices)
    keepFirst(failed, device.get());
  program.lap("device compiler, beyond that");
  keepFirst(failed, std::move(host));
  if (failed)
    return failed;
  llvm::Error linked = program.archive
                           ? archive(program, place, *compiler, output)
                           : link(program, place, *compiler, output);
  program.lap("linker");
  return linked;
}

static llvm::Error writeHeader(const Program &program,
                               const std::string &path) {
  llvm::Expected<std::string> text = headerText(program);
  if (!text)
    return text.takeError();
  PartialFile partial;
  int descriptor;
  if (std::error_code code = partial.create(path, descriptor))
    return toolchainError("cannot write " + path + ": " + code.message());
  llvm::sys::fs::file_t file = descriptor;
  llvm::sys::fs::closeFile(file);
  if (llvm::Error failed = writeFile(partial.path(), *text))
    return failed;
  if (std::error_code code = partial.commit())
    return toolchainError("cannot write " + path + ": " + code.message());
  return llvm::Error::success();
}

llvm::Error mlir::mnistc::buildProgram(const Program &program) {
  if (llvm::Error failed = checkRuntime(program))
    return failed;
  bool library = program.shared || program.archive;
  llvm::Expected<std::string> header = library ? headerPath(program) : "";
  if (!header)
    return header.takeError();
  Workplace place;
  if (llvm::Error failed = place.open(program.saveTemps))
    return failed;

  if (llvm::sys::fs::exists(program.output) &&
      !llvm::sys::fs::is_regular_file(program.output))
    return toolchainError("cannot write " + program.output +
                          ": expected a file, got something else");

  PartialFile partial;
  int descriptor;
  if (std::error_code code = partial.create(program.output, descriptor))
    return toolchainError("cannot write " + program.output + ": " +
                          code.message());
  llvm::sys::fs::file_t file = descriptor;
  llvm::sys::fs::closeFile(file); // the linker opens it again

  if (llvm::Error failed = compileAll(program, place, partial.path())) {
    place.keepLogs();
    return failed;
  }
  if (library)
    if (llvm::Error failed = writeHeader(program, *header))
      return failed;
  if (std::error_code code = partial.commit())
    return toolchainError("cannot write " + program.output + ": " +
                          code.message());
  return llvm::Error::success();
}
