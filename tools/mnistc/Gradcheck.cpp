//===- Gradcheck.cpp - mnistc gradcheck -----------------------------------===//
//
// Compares gradients with finite differences: compiles the model with probes,
// runs the program that compares them, and reports the operators whose
// derivative is wrong.
//
//===----------------------------------------------------------------------===//

#include "tools/mnistc/Gradcheck.h"
#include "lib/CodeGen/Processes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "tools/mnistc/NumberParser.h"
#include "tools/mnistc/Output.h"
#include "tools/mnistc/Program.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include <cmath>

using namespace mlir;
using namespace mlir::mnistc;
namespace cl = llvm::cl;

cl::OptionCategory mlir::mnistc::gradcheckCategory(
    "Checking gradients: mnistc gradcheck MODEL.onnx");

static NumberOption<unsigned>
    samples("samples", cl::init(8), cl::value_desc("n"),
            cl::desc("Elements to check of each tensor (default 8)"),
            cl::cat(gradcheckCategory));
static NumberOption<unsigned>
    seed("seed", cl::init(1), cl::value_desc("n"),
         cl::desc("Seed of inputs, samples and dropout (default 1)"),
         cl::cat(gradcheckCategory));
static NumberOption<double>
    tolerance("tolerance", cl::init(1e-5), cl::value_desc("x"),
              cl::desc("Relative error allowed (default "
                       "1e-5)"),
              cl::cat(gradcheckCategory));
static cl::opt<bool> single("f32", cl::ValueDisallowed,
                            cl::desc("With -o: a program in single precision "
                                     "and without probes, whose gradients "
                                     "--dump writes"),
                            cl::cat(gradcheckCategory));
static cl::Option *const flags[] = {&samples, &seed, &tolerance, &single};

static std::string numberText(const char *format, double number) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format(format, number);
  return text;
}

bool mlir::mnistc::takeGradcheckWord(SmallVectorImpl<const char *> &arguments) {
  if (arguments.size() < 2 || arguments[1] != StringRef("gradcheck"))
    return false;
  arguments[1] = "--train";
  auto given = [&](StringRef flag) {
    return llvm::any_of(arguments, [&](StringRef argument) {
      return argument.ltrim('-').split('=').first == flag;
    });
  };
  if (!given("target"))
    arguments.push_back("--target=cpu");
  return true;
}

bool mlir::mnistc::readGradcheckFlags(Options &options, bool asked) {
  options.gradcheck = asked;
  if (!asked) {
    for (cl::Option *flag : flags)
      if (flag->getNumOccurrences() != 0)
        return error("expected gradcheck before --" + flag->ArgStr +
                     ", got none");
    return true;
  }
  if (samples == 0)
    return error("expected --samples of 1 or more, got 0");
  if (!(tolerance > 0) || !std::isfinite(tolerance))
    return error("expected a --tolerance above 0, got " +
                 numberText("%g", tolerance));
  if (single && options.output.empty() && options.emit == Emit::executable)
    return error("expected -o with --f32, got none; differences need double "
                 "precision");
  if (options.target != "cpu" && options.output.empty() &&
      options.emit == Emit::executable)
    return error("expected -o with --target=" + options.target +
                 ", got none; gradients are checked on the CPU");
  options.passes.widen = !single;
  options.passes.probes = !single;
  return true;
}

int64_t mlir::mnistc::classesOf(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>())
    if (function.getNumResults() != 0)
      if (auto type = dyn_cast<RankedTensorType>(function.getResultTypes()[0]))
        if (type.getRank() > 1 && type.getDimSize(1) > 1)
          return type.getDimSize(1);
  return 2;
}

namespace {
/// What the program says of one tensor.
struct Row {
  std::string tensor, reader;
  std::vector<std::string> downstream;
  int64_t checked = 0, kinks = 0, element = 0;
  double error = 0, found = 0, expected = 0;

  bool wrong() const { return !(error <= tolerance); }
};
} // namespace

/// Of the program's lines, with what the globals say of probes.
static bool readRows(ModuleOp module, StringRef text, std::vector<Row> &rows) {
  SymbolTable symbols(module);
  SmallVector<StringRef> lines;
  text.split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef line : lines) {
    llvm::Expected<llvm::json::Value> value = llvm::json::parse(line);
    const llvm::json::Object *object = value ? value->getAsObject() : nullptr;
    if (!object) {
      if (!value)
        llvm::consumeError(value.takeError());
      return error("expected the program's results, got '" + line + "'");
    }
    auto number = [&](StringRef key) {
      return object->getNumber(key).value_or(HUGE_VAL); // JSON has no infinity
    };
    auto whole = [&](StringRef key) {
      return object->getInteger(key).value_or(0);
    };
    Row row;
    row.tensor = object->getString("tensor").value_or("").str();
    row.checked = whole("checked"), row.kinks = whole("kinks");
    row.element = whole("element");
    row.error = number("error"), row.found = number("found");
    row.expected = number("expected");
    if (Operation *global = symbols.lookup(row.tensor)) {
      if (auto reader = global->getAttrOfType<StringAttr>("mnist.reader"))
        row.reader = reader.str();
      if (auto downstream =
              global->getAttrOfType<ArrayAttr>("mnist.downstream"))
        for (auto name : downstream.getAsRange<StringAttr>())
          row.downstream.push_back(name.str());
    }
    rows.push_back(std::move(row));
  }
  return true;
}

static void printTable(ArrayRef<Row> rows) {
  size_t width = 6, readerWidth = 7;
  for (const Row &row : rows) {
    width = std::max(width, row.tensor.size());
    readerWidth = std::max(readerWidth, row.reader.size());
  }
  raw_ostream &os = llvm::outs();
  auto line = [&](StringRef tensor, StringRef reader, StringRef checked,
                  StringRef worst, StringRef verdict) {
    os << llvm::left_justify(tensor, width) << "  "
       << llvm::left_justify(reader, readerWidth) << "  "
       << llvm::right_justify(checked, 7) << "  "
       << llvm::right_justify(worst, 11) << "  " << verdict << '\n';
  };
  line("tensor", "read by", "checked", "worst error", "");
  for (const Row &row : rows)
    line(row.tensor, row.reader, std::to_string(row.checked),
         numberText("%.1e", row.error), row.wrong() ? "WRONG" : "ok");
}

/// Says which derivatives are wrong: gradients after them are right.
static void printCulprits(ArrayRef<Row> rows) {
  llvm::StringMap<bool> wrong;
  for (const Row &row : rows)
    wrong[row.tensor] = row.wrong();
  for (const Row &row : rows) {
    if (!row.wrong() || row.reader.empty() ||
        llvm::any_of(row.downstream,
                     [&](StringRef name) { return wrong.lookup(name); }))
      continue;
    error("wrong derivative of " + row.reader + ": element " +
          Twine(row.element) + " of '" + row.tensor + "' is " +
          numberText("%.10g", row.found) + ", expected " +
          numberText("%.10g", row.expected));
  }
}

int mlir::mnistc::checkGradients(const Input &input, Options &options,
                                 int64_t classes, StageFiles &stages,
                                 Stopwatch &watch) {
  TemporaryFolder folder;
  if (std::error_code code = folder.create()) {
    error("cannot make a temporary folder: " + code.message());
    return exitToolchain;
  }
  auto path = [&](StringRef name) {
    return (folder.path() + "/" + name).str();
  };
  options.output = path("program");
  options.quiet = true;

  if (int code = emitProgram(input, options, stages, watch); code != exitOk)
    return code;
  std::string message;
  int code = runProgram({options.output, "gradcheck", "--json",
                         "--samples=" + std::to_string(samples),
                         "--seed=" + std::to_string(seed),
                         "--tolerance=" + numberText("%g", tolerance),
                         "--classes=" + std::to_string(classes)},
                        path("out"), path("err"), message);
  watch.lap("differences");
  std::vector<Row> rows;
  std::string printed = contentsOf(path("out"));
  // Without rows it failed before it compared anything.
  if ((code != 0 && printed.empty()) || code < 0) {
    std::string text = contentsOf(path("err"));
    StringRef line = StringRef(text).trim();
    line.consume_front("error: ");
    error(line.empty() ? Twine("the program failed: ") + message : Twine(line));
    return code > 0 ? code : int(exitToolchain);
  }
  if (!readRows(*input.module, printed, rows))
    return exitToolchain;
  printTable(rows);
  if (code == exitNumeric)
    printCulprits(rows);
  return code;
}
