//===- Options.cpp - the command line of mnistc ---------------------------===//

#include "tools/mnistc/Options.h"
#include "lib/CodeGen/LibraryHeader.h"
#include "lib/IR/Plan/PlanOps.h"
#include "lib/IR/Plan/Target.h"
#include "tools/mnistc/CommandLine.h"
#include "tools/mnistc/Config.h"
#include "tools/mnistc/Describe.h"
#include "tools/mnistc/Gradcheck.h"
#include "tools/mnistc/Messages.h"
#include "tools/mnistc/PassFlags.h"
#include "tools/mnistc/ProductFlags.h"
#include "tools/mnistc/TrainFlags.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace mlir::mnistc;
namespace cl = llvm::cl;

static cl::OptionCategory outputCategory("Output");
static cl::OptionCategory modelCategory("The model");
cl::OptionCategory mlir::mnistc::targetCategory("The program");
static cl::OptionCategory lookCategory("Inspection");

static cl::opt<std::string> input(cl::Positional,
                                  cl::desc("MODEL.onnx, FILE.mlir or -"),
                                  cl::init(""), cl::cat(modelCategory));

//===----------------------------------------------------------------------===//
// Output
//===----------------------------------------------------------------------===//

static cl::opt<std::string>
    output("o", cl::desc("Output file; - is standard output"),
           cl::value_desc("file"), cl::cat(outputCategory));
static cl::opt<std::string> emit(
    "emit", cl::init("exe"), cl::value_desc("stage"),
    cl::desc("Stop at a stage: mnist (the model), plan (steps and "
             "addresses), source (C++), exe (default), or library (with a C "
             "header; static for -o x.a)"),
    cl::cat(outputCategory));
static cl::opt<bool> check("check", cl::ValueDisallowed,
                           cl::desc("Only import, and list every problem"),
                           cl::cat(outputCategory));
static cl::opt<std::string>
    explain("explain", cl::ValueOptional, cl::value_desc("json"),
            cl::desc("Explain what became of each ONNX node, as text or JSON"),
            cl::cat(outputCategory));
static cl::opt<std::string>
    report("report", cl::value_desc("file"),
           cl::desc("Write a page (HTML) that shows what became of the model; "
                    "with -o also the program"),
           cl::cat(outputCategory));
static cl::opt<std::string>
    library("name", cl::value_desc("name"),
            cl::desc("Name of a library, whose header declares NAME_model() "
                     "(default: digits for libdigits.so)"),
            cl::cat(outputCategory));
static cl::opt<bool>
    listOperators("list-operators", cl::ValueDisallowed,
                  cl::desc("List the supported ONNX operators"),
                  cl::cat(outputCategory));

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

static cl::opt<std::string>
    batch("batch", cl::value_desc("n,..."),
          cl::desc("Batch sizes, one plan each (default: the model's, or 1)"),
          cl::cat(modelCategory));
static cl::list<std::string>
    dimensions("dim", cl::value_desc("name=n"),
               cl::desc("Size of a symbolic dimension of the inputs, or the "
                        "word batch; one for each dimension"),
               cl::cat(modelCategory));
static cl::list<std::string>
    bind("bind", cl::value_desc("input=value"),
         cl::desc("Bind an input to FILE.pb or to numbers such as 1,3,-1"),
         cl::cat(modelCategory));

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

static cl::opt<std::string> target("target", cl::init("cuda"),
                                   cl::desc("Target: cuda (default) or cpu"),
                                   cl::value_desc("name"),
                                   cl::cat(targetCategory));
static cl::opt<std::string>
    arch("arch", cl::value_desc("name,..."),
         cl::desc("Architecture (default: sm_90, x86-64-v3); several for "
                  "several GPUs"),
         cl::cat(targetCategory));
static cl::opt<std::string>
    layout("layout", cl::init("auto"),
           cl::desc("Layout of images: auto (default), nchw or nhwc"),
           cl::value_desc("name"), cl::cat(targetCategory));
static cl::opt<std::string>
    libraries("libraries", cl::init("all"), cl::value_desc("names"),
              cl::desc("Libraries that may be used: all, none, or a list such "
                       "as cudnn,cublas"),
              cl::cat(targetCategory));
static cl::opt<std::string>
    workspace("workspace", cl::init("1024"), cl::value_desc("MiB"),
              cl::desc("Maximum scratch memory for cuDNN and cuBLASLt, for "
                       "each stream (default: 1024)"),
              cl::cat(targetCategory));
static cl::opt<bool> timestamps(
    "timestamps", cl::ValueDisallowed,
    cl::desc("Kernels that can write down when their blocks run, for 'app "
             "profile --timeline'"),
    cl::cat(targetCategory));
static cl::opt<std::string>
    runtime("runtime", cl::value_desc("folder"),
            cl::desc("Folder of include/mnistrt and lib (default: next to "
                     "mnistc)"),
            cl::cat(targetCategory));

//===----------------------------------------------------------------------===//
// Inspection
//===----------------------------------------------------------------------===//

static cl::opt<bool> verbose("v", cl::ValueDisallowed,
                             cl::desc("Print notes and times"),
                             cl::cat(lookCategory));
static cl::opt<bool> quiet("quiet", cl::ValueDisallowed,
                           cl::desc("Do not print what was written"),
                           cl::cat(lookCategory));
static cl::opt<std::string>
    saveTemps("save-temps", cl::value_desc("folder"),
              cl::desc("Keep the source, the cubins and the objects"),
              cl::cat(lookCategory));
static cl::opt<bool> noCache("no-cache", cl::cat(lookCategory),
                             cl::desc("Keep no cubins or objects, find none"));
static cl::opt<std::string>
    saveStages("save-stages", cl::value_desc("folder"),
               cl::desc("Write the module after each pass, numbered"),
               cl::cat(lookCategory));

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// Whether an option's value is one of some words.
static bool checkWord(StringRef flag, StringRef value,
                      ArrayRef<StringRef> words) {
  if (llvm::is_contained(words, value))
    return true;
  std::string list = llvm::join(words.drop_back(), ", ");
  return error("expected --" + flag + "=" + list + " or " + words.back() +
               ", got '" + value + "'" + nearest(value, words));
}

/// The kind of output.
static bool checkOutput(Options &options) {
  std::optional<Emit> stage = llvm::StringSwitch<std::optional<Emit>>(emit)
                                  .Case("mnist", Emit::mnist)
                                  .Case("plan", Emit::plan)
                                  .Case("source", Emit::source)
                                  .Case("exe", Emit::executable)
                                  .Case("library", Emit::library)
                                  .Default(std::nullopt);
  if (!stage)
    return checkWord("emit", emit,
                     {"mnist", "plan", "source", "exe", "library"});
  options.emit = *stage;
  if (explain.getNumOccurrences() == 0)
    return true;
  if (explain != "" && explain != "text" && explain != "json")
    return error("expected --explain or --explain=json, got '" + explain + "'");
  options.explain = explain == "json" ? Explain::json : Explain::text;
  return true;
}

static bool checkBatches(Options &options) {
  if (batch.getNumOccurrences() == 0)
    return true;
  for (StringRef text : llvm::split(batch, ',')) {
    int64_t size;
    if (text.getAsInteger(10, size) || size < 1)
      return error("expected --batch of 1 or more, got " +
                   (text.empty() ? "nothing" : text));
    if (llvm::is_contained(options.import.batches, size))
      return error("expected each --batch once, got " + Twine(size) + " twice");
    options.import.batches.push_back(size);
  }
  return true;
}

static bool checkLibraries() {
  if (libraries == "all" || libraries == "none")
    return true;
  for (StringRef name : llvm::split(libraries, ',')) {
    std::optional<Impl> impl = symbolizeImpl(name);
    if (!impl || *impl == Impl::kernel)
      return error("expected --libraries=all, none or some of cublas, cudnn, "
                   "onednn, openblas, got '" +
                   name + "'" +
                   nearest(name, {"cublas", "cudnn", "onednn", "openblas"}));
  }
  return true;
}

static bool checkDimensions(Options &options) {
  for (StringRef binding : dimensions) {
    auto [name, value] = binding.rsplit('=');
    int64_t size = ImportOptions::isBatch;
    if (name.empty() || (value != "batch" && value.getAsInteger(10, size)) ||
        (value != "batch" && (size < 1 || size > INT32_MAX)))
      return error("expected --dim=NAME=N, N from 1 to 2147483647 or the word "
                   "batch, got '" +
                   binding + "'");
    if (!options.import.dimensions.try_emplace(name, size).second)
      return error("expected one --dim for '" + name + "', got two");
  }
  return true;
}

/// In bytes, once it was checked.
static int64_t workspaceBytes;

static bool checkWorkspace() {
  constexpr int64_t most = 1 << 20;
  int64_t size;
  if (workspace.getValue().empty() ||
      StringRef(workspace).getAsInteger(10, size) || size < 0 || size > most)
    return error("expected --workspace from 0 to " + Twine(most) +
                 " MiB, got '" + workspace + "'");
  workspaceBytes = size << 20;
  return true;
}

static bool checkArchs(Options &options) {
  if (arch.empty())
    return true;
  auto belongs = [](char c) {
    return llvm::isAlnum(c) || c == '_' || c == '-' || c == '.';
  };
  for (StringRef name : llvm::split(arch, ',')) {
    if (name.empty() || !llvm::all_of(name, belongs))
      return error("expected --arch such as sm_90 or x86-64-v3, got '" + name +
                   "'");
    if (llvm::is_contained(options.archs, name))
      return error("expected each --arch once, got " + name + " twice");
    options.archs.push_back(name.str());
  }
  return true;
}

/// Whether two paths, which need not exist, are the same file.
static bool isSamePlace(StringRef a, StringRef b) {
  auto absolute = [](StringRef path) {
    llvm::SmallString<128> result(path), real;
    if (!llvm::sys::fs::real_path(path, real))
      return real;
    (void)llvm::sys::fs::make_absolute(result);
    llvm::sys::path::remove_dots(result, /*remove_dot_dot=*/true);
    return result;
  };
  return absolute(a) == absolute(b);
}

/// A report shows what a program is made of, so there must be one to make.
static bool checkReport(Options &options) {
  if (report.getNumOccurrences() == 0)
    return true;
  if (report.empty())
    return error("expected a file for --report, got none");
  if (check ||
      (options.emit != Emit::executable && options.emit != Emit::library))
    return error("expected --report alone or with a program, got " +
                 (check ? Twine("--check") : "--emit=" + emit));
  if (report == "-" && options.explain != Explain::no && output.empty())
    return error("expected one output on standard output, got --explain and "
                 "--report=-");
  for (StringRef other : {input.getValue(), output.getValue()})
    if (report != "-" && !other.empty() && other != "-" &&
        isSamePlace(report, other))
      return error("expected another file for --report than the model and the "
                   "output, got '" +
                   report + "'");
  options.report = report;
  options.onlyReport = output.empty() && emit.getNumOccurrences() == 0;
  return true;
}

/// The output's path, for output that is not text.
static bool checkPaths(Options &options) {
  // The extension decides, as for a linker's output.
  if (emit.getNumOccurrences() == 0 &&
      (StringRef(output).ends_with(".so") || StringRef(output).ends_with(".a")))
    options.emit = Emit::library;
  if (library.getNumOccurrences() != 0 &&
      (options.emit != Emit::library || !isLibraryName(library)))
    return error(options.emit == Emit::library
                     ? "expected --name=NAME, an identifier of C that does not "
                       "begin with mn_, got '" +
                           library + "'"
                     : "expected -o x.so, -o x.a or --emit=library with "
                       "--name, got none");
  bool program =
      options.emit == Emit::executable || options.emit == Emit::library;
  if (program && output == "-" && options.explain == Explain::no &&
      !options.check)
    return error("expected a file for the program, got -o -");
  if (!output.empty() && output != "-" && input != "-" &&
      llvm::sys::fs::equivalent(input.getValue(), output.getValue()))
    return error("expected another file than the model as output, got '" +
                 output + "'");
  StringRef folder = llvm::sys::path::parent_path(output);
  for (StringRef other : {saveTemps.getValue(), saveStages.getValue()})
    if (!other.empty() && !output.empty() && output != "-" &&
        isSamePlace(folder.empty() ? "." : folder, other))
      return error("expected the output outside of the folder for temporary "
                   "files or stages, got '" +
                   output + "'");
  return true;
}

static bool checkValues(Options &options) {
  if (!checkOutput(options) || !checkWord("target", target, {"cuda", "cpu"}) ||
      !checkWord("layout", layout, {"auto", "nchw", "nhwc"}))
    return false;
  if (!checkPassFlags() || !checkBatches(options) ||
      !checkDimensions(options) || !checkLibraries() || !checkWorkspace() ||
      !checkArchs(options) || !readProductFlags(options.archs) ||
      !checkTuneFlags(target))
    return false;
  for (StringRef binding : bind) {
    auto [name, value] = binding.split('=');
    if (name.empty() || value.empty())
      return error("expected --bind=INPUT=VALUE, got '" + binding + "'");
    if (!options.import.bindings.try_emplace(name, value.str()).second)
      return error("expected one --bind for '" + name + "', got two");
  }
  return true;
}

static void fillInferOptions(InferOptions &infer) {
  infer.target = target.getValue();
  infer.layout = layout.getValue();
  infer.libraries = llvm::join(llvm::split(libraries, ','), "+");
  infer.precision = precisionFlag().str();
  infer.prefer = preferFlag().str();
  infer.workspace = workspaceBytes;
  setPasses(infer);
}

/// The options that shape the program; paths and the like would make two equal
/// builds differ.
static std::string commandText() {
  std::string text;
  auto add = [&](const Twine &flag) { text += (" " + flag).str(); };
  if (!arch.empty())
    add("--arch=" + arch);
  if (!batch.empty())
    add("--batch=" + batch);
  for (StringRef binding : dimensions)
    add("--dim=" + binding);
  for (StringRef binding : bind)
    add("--bind=" + binding);
  if (layout != "auto")
    add("--layout=" + layout);
  if (libraries != "all")
    add("--libraries=" + libraries);
  text += productFlagsText();
  if (workspace != "1024")
    add("--workspace=" + workspace);
  if (timestamps)
    add("--timestamps");
  text += trainFlagsText();
  return text + passFlagsText();
}

static void printVersion(llvm::raw_ostream &os) {
  os << "mnistc " MNISTC_VERSION "\n";
}

bool mlir::mnistc::parseOptions(int argc, const char *const *argv,
                                Options &options) {
  cl::HideUnrelatedOptions({&outputCategory, &modelCategory, &targetCategory,
                            &trainCategory, &passCategory, &lookCategory,
                            &gradcheckCategory});
  cl::SetVersionPrinter(printVersion);
  // Errors of the command line begin with the program's name.
  SmallVector<const char *> names(argv, argv + argc);
  names[0] = "mnistc";
  bool gradcheck = takeGradcheckWord(names);
  if (!checkFlags(names))
    return false;
  std::string text;
  llvm::raw_string_ostream messages(text);
  if (!cl::ParseCommandLineOptions(
          static_cast<int>(names.size()), names.data(),
          "mnistc - compiles ONNX models into native programs\n", &messages)) {
    if (text.empty())
      return false; // NumberParser printed it
    // "mnistc: Unknown command line argument '--x'.  Try: 'mnistc --help'" and
    // perhaps "mnistc: Did you mean '--y'?"
    auto [line, rest] = StringRef(text).ltrim().split('\n');
    line.consume_front("mnistc: ");
    rest.consume_front("mnistc: Did");
    size_t end = line.find(".  Try");
    error(line.take_front(1).lower() +
          line.drop_front().take_front(end == StringRef::npos ? end : end - 1) +
          (rest.starts_with(" you mean") ? "; did" + rest.split('\n').first
                                         : Twine("; see mnistc --help")));
    return false;
  }
  if (!checkValues(options))
    return false;
  if (input.empty() && !listOperators && describeFlag().empty())
    return error("expected a model; see mnistc --help");
  if (!checkPaths(options) || !checkReport(options))
    return false;

  options.input = input;
  options.output = output;
  options.check = check;
  options.listOperators = listOperators;
  options.verbose = verbose;
  options.quiet = quiet;
  options.target = target;
  options.targetGiven = target.getNumOccurrences() != 0;
  options.library = library;
  options.timestamps = timestamps;
  options.runtime = runtime;
  options.tuned = tunedFlag();
  options.tune = tuneFlag();
  options.saveTemps = saveTemps;
  options.cache = !noCache;
  options.saveStages = saveStages;
  options.command = commandText();
  fillInferOptions(options.passes);
  return readTrainFlags(options.passes, options.train) &&
         readGradcheckFlags(options, gradcheck);
}
