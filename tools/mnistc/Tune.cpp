//===- Tune.cpp - measured choices: --tune and --tuned --------------------===//
//
// Candidate number k of each contraction is timed in its place: one program has
// candidate k of all of them, and says what each step takes. What the model is
// called, or its steps, does not matter: the table knows sizes.
//
//===----------------------------------------------------------------------===//

#include "tools/mnistc/Tune.h"
#include "lib/CodeGen/Processes.h"
#include "lib/IR/Plan/Candidates.h"
#include "lib/IR/Plan/Schedule.h"
#include "lib/IR/Plan/StepOrder.h"
#include "lib/Passes/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "tools/mnistc/Output.h"
#include "tools/mnistc/Program.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/DynamicLibrary.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include <thread>

using namespace mlir;
using namespace mlir::mnistc;
namespace json = llvm::json;

bool mlir::mnistc::runPasses(ModuleOp module, const Options &options,
                             StageFiles &stages) {
  PassManager pm(module.getContext(), ModuleOp::getOperationName());
  stages.watch(pm);
  if (options.gradcheck)
    buildGradcheckPipeline(pm, options.passes);
  else if (options.train)
    buildTrainPipeline(pm, options.passes);
  else
    buildInferPipeline(pm, options.passes);
  return succeeded(pm.run(module));
}

//===----------------------------------------------------------------------===//
// --tuned
//===----------------------------------------------------------------------===//

int mlir::mnistc::findChoices(ModuleOp module, Options &options) {
  if (options.tuned == "none" || options.target != "cuda")
    return exitOk;
  std::vector<std::string> archs = archsOf(options);
  std::string path = options.tuned;
  // A plan for several GPUs suits none more than the others.
  if (path.empty() && archs.size() == 1)
    path = installedChoices(archs.front());
  if (path.empty())
    return exitOk;
  llvm::Expected<TunedTable> table =
      TunedTable::read(path, module.getContext());
  if (!table) {
    error(llvm::toString(table.takeError()));
    return exitBadData;
  }
  if (!llvm::is_contained(archs, table->arch)) {
    error(path + ": expected choices for " + archs.front() +
          ", as the program is, got those measured on " + table->gpu + " of " +
          table->arch + "; measure others with --tune");
    return exitBadData;
  }
  options.passes.tuned = path;
  return exitOk;
}

//===----------------------------------------------------------------------===//
// --tune
//===----------------------------------------------------------------------===//

/// A candidate must be faster than the untuned choice by more than times vary.
static constexpr double margin = 0.97;
static constexpr int repeats = 25;

namespace {
/// The plans of a model with one candidate of each contraction.
struct Trial {
  OwningOpRef<ModuleOp> module;
  std::string program;
  std::string problem; ///< why it cannot be timed
  int code = exitOk;
};

/// What was measured of one contraction, by candidate.
struct Measured {
  std::map<int64_t, StepChoice> choices;
  std::map<int64_t, double> us;
};

class Tuner {
public:
  Tuner(const Input &input, Options &options)
      : module(*input.module), options(options) {}

  int run(Stopwatch &watch);

private:
  bool plan(int64_t candidate);
  void build();
  int measure();
  bool profile(Trial &trial, StringRef function);
  void addTimes(const json::Object &said, Trial &trial, StringRef function);
  std::vector<std::string> functionsToTime();
  int write();

  ModuleOp module;
  Options &options;
  TemporaryFolder folder;
  std::vector<Trial> trials;
  std::map<std::string, Measured> measured;
  TunedTable table;
};
} // namespace

static std::string keyOf(DictionaryAttr mark) {
  return mark.getAs<StringAttr>("key").getValue().str();
}
static int64_t numberOf(DictionaryAttr mark) {
  return mark.getAs<IntegerAttr>("number").getInt();
}
static DictionaryAttr markOf(StepOp step) {
  return step->getAttrOfType<DictionaryAttr>(candidateAttribute);
}

/// Makes the plans of a candidate; false where no contraction has so many.
bool Tuner::plan(int64_t candidate) {
  Trial trial;
  trial.module = OwningOpRef<ModuleOp>(module.clone());
  options.passes.candidate = candidate;
  StageFiles none("");
  if (!runPasses(*trial.module, options, none))
    return false;
  bool isNew = candidate == 0;
  trial.module->walk([&](StepOp step) {
    DictionaryAttr mark = markOf(step);
    if (!mark || numberOf(mark) != candidate)
      return;
    isNew = true;
    if (hasContraction(step))
      measured[keyOf(mark)].choices[candidate] = {
          step.getImpl(), step.getSchedule().value_or(Attribute())};
  });
  if (isNew)
    trials.push_back(std::move(trial));
  return isNew;
}

/// Compiles all programs side by side, each from the text of its plans.
void Tuner::build() {
  std::vector<std::thread> threads;
  for (auto [i, trial] : llvm::enumerate(trials)) {
    std::string stem = folder.path() + "/" + std::to_string(i);
    trial.program = stem;
    if (!writeOutput(stem + ".mlir", printModule(*trial.module, Detail::whole)))
      trial.code = exitToolchain;
    threads.emplace_back([this, &trial = trial, stem] {
      std::string message;
      std::vector<std::string> command = {
          programPath(), stem + ".mlir", "--quiet",
          "-o",          stem,           "--arch=" + archsOf(options).front()};
      if (!options.runtime.empty())
        command.push_back("--runtime=" + options.runtime);
      if (trial.code == exitOk)
        trial.code = runProgram(command, stem + ".out", stem + ".err", message);
      if (trial.code != exitOk)
        trial.problem = message + contentsOf(stem + ".err");
    });
  }
  for (std::thread &thread : threads)
    thread.join();
}

/// Functions whose contractions are not all in one before.
std::vector<std::string> Tuner::functionsToTime() {
  std::vector<std::pair<func::FuncOp, llvm::StringSet<>>> keys;
  for (auto function : trials.front().module->getOps<func::FuncOp>()) {
    keys.push_back({function, {}});
    for (StepOp step : function.getOps<StepOp>())
      if (DictionaryAttr mark = markOf(step))
        keys.back().second.insert(keyOf(mark));
  }
  SmallVector<std::pair<int64_t, size_t>> order;
  for (auto [i, entry] : llvm::enumerate(keys))
    order.push_back({-int64_t(entry.second.size()), i});
  llvm::sort(order);
  llvm::StringSet<> known;
  std::vector<std::string> functions;
  for (auto [size, i] : order) {
    auto &[function, all] = keys[i];
    size_t before = known.size();
    for (StringRef key : all.keys())
      known.insert(key);
    if (known.size() != before)
      functions.push_back(function.getName().str());
  }
  return functions;
}

/// Adds what the steps of a function take, each to its contraction.
void Tuner::addTimes(const json::Object &said, Trial &trial,
                     StringRef function) {
  llvm::StringMap<DictionaryAttr> marks;
  auto planned = trial.module->lookupSymbol<func::FuncOp>(function);
  for (StepOp step : planned.getOps<StepOp>())
    if (DictionaryAttr mark = markOf(step))
      marks[step.getName()] = mark;
  const int64_t candidate = &trial - trials.data();
  if (const json::Array *steps = said.getArray("steps"))
    for (const json::Value &step : *steps) {
      const json::Object *object = step.getAsObject();
      std::optional<StringRef> name =
          object ? object->getString("name") : std::nullopt;
      auto mark = name ? marks.find(*name) : marks.end();
      if (mark != marks.end() && numberOf(mark->second) == candidate)
        measured[keyOf(mark->second)].us[candidate] +=
            object->getNumber("us").value_or(0);
    }
  if (std::optional<StringRef> device = said.getString("device"))
    table.gpu = device->split(", ").first.str();
  if (const json::Object *libraries = said.getObject("libraries"))
    for (const auto &[name, version] : *libraries)
      table.libraries[StringRef(name).str()] =
          version.getAsString().value_or("").str();
}

bool Tuner::profile(Trial &trial, StringRef function) {
  auto [kind, batch] = function.split('_');
  std::vector<std::string> command = {trial.program, "profile", "--json",
                                      ("--plan=" + kind).str(),
                                      "--repeat=" + std::to_string(repeats)};
  if (!batch.empty())
    command.push_back(("--batch=" + batch).str());
  std::string message;
  trial.code = runProgram(command, trial.program + ".out",
                          trial.program + ".err", message);
  std::string printed = contentsOf(trial.program + ".out");
  llvm::Expected<json::Value> said = json::parse(printed);
  if (trial.code == exitOk && said && said->getAsObject()) {
    addTimes(*said->getAsObject(), trial, function);
    return true;
  }
  if (!said)
    llvm::consumeError(said.takeError());
  trial.problem = message + contentsOf(trial.program + ".err");
  trial.code = trial.code > 0 ? trial.code : int(exitToolchain);
  return false;
}

/// A program's only line of error.
static std::string lineOf(const Trial &trial) {
  StringRef line = StringRef(trial.problem).trim().split('\n').first;
  line.consume_front("error: ");
  return line.empty() ? "a program to be measured failed" : line.str();
}

/// The untuned program first: without it there is nothing to compare with.
int Tuner::measure() {
  std::vector<std::string> functions = functionsToTime();
  for (Trial &trial : trials) {
    for (const std::string &function : functions)
      if (trial.code != exitOk || !profile(trial, function))
        break;
    if (trial.code == exitOk)
      continue;
    if (&trial == &trials.front()) {
      error(lineOf(trial));
      return trial.code > 0 ? trial.code : int(exitToolchain);
    }
    // Of a program that failed no time counts.
    for (auto &[key, each] : measured)
      each.us.erase(&trial - trials.data());
    warning("candidates " + Twine(&trial - trials.data()) +
            " are left out: " + lineOf(trial));
  }
  return exitOk;
}

/// Adds what was measured to a file of the same GPU, or makes one.
int Tuner::write() {
  const std::string &path = options.tune;
  table.arch = archsOf(options).front();
  if (llvm::sys::fs::exists(path)) {
    llvm::Expected<TunedTable> old =
        TunedTable::read(path, module.getContext());
    if (!old) {
      error(llvm::toString(old.takeError()));
      return exitBadData;
    }
    std::string was = old->gpu + " of " + old->arch,
                is = table.gpu + " of " + table.arch;
    for (const auto &[name, version] : old->libraries) {
      std::string &now = table.libraries[name];
      if (now.empty())
        now = version;
      if (now != version)
        was += ", " + name + " " + version, is += ", " + name + " " + now;
    }
    if (was != is) {
      error(path + ": expected choices measured on " + is + ", got those of " +
            was + "; choose another file");
      return exitBadData;
    }
    table.entries = std::move(old->entries);
  }
  int64_t changed = 0;
  double before = 0, after = 0;
  auto &entries = table.entries[options.passes.precision];
  for (const auto &[key, each] : measured) {
    auto untuned = each.us.find(0);
    if (untuned == each.us.end())
      continue;
    int64_t best = 0;
    for (const auto &[number, us] : each.us)
      if (us < untuned->second * margin && us < each.us.at(best))
        best = number;
    entries[key] = {each.choices.at(best), each.us.at(best), untuned->second};
    changed += best != 0;
    before += untuned->second, after += each.us.at(best);
  }
  if (!writeOutput(path, table.text()))
    return exitToolchain;
  if (!options.quiet)
    llvm::outs() << "measured " << measured.size() << " contractions on "
                 << table.gpu << ", " << changed << " of them changed: "
                 << llvm::format("%.1f us to %.1f us", before, after) << "\n";
  return exitOk;
}

int Tuner::run(Stopwatch &watch) {
  if (std::error_code code = folder.create()) {
    error("cannot make a temporary folder: " + code.message());
    return exitToolchain;
  }
  for (int64_t candidate = 0; candidate < mostCandidates; ++candidate)
    if (!plan(candidate))
      break;
  options.passes.candidate = -1;
  if (trials.empty())
    return exitBadModel;
  if (measured.empty()) {
    error(options.input + ": expected a product or convolution of f32 to "
                          "measure, got none");
    return exitBadModel;
  }
  build();
  watch.lap("candidates");
  if (int code = measure(); code != exitOk)
    return code;
  watch.lap("measurements");
  return write();
}

int mlir::mnistc::tune(const Input &input, Options &options, Stopwatch &watch) {
  if (archsOf(options).size() != 1) {
    error("expected one --arch with --tune, that of this machine's GPU, got "
          "several");
    return exitUsage;
  }
  // Before minutes of compiling. The programs check the rest.
  const char *driver = "libcuda.so.1";
  if (llvm::sys::DynamicLibrary::LoadLibraryPermanently(driver)) {
    error(Twine("expected a GPU to measure on, got no '") + driver +
          "'; run --tune where the program will run, and --tuned with its file "
          "elsewhere");
    return exitNoGpu;
  }
  if (int code = Tuner(input, options).run(watch); code != exitOk)
    return code;
  options.passes.tuned = options.tune;
  return exitOk;
}
