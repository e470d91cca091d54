//===- Options.h - the command line of mnistc -------------------*- C++ -*-===//
//
// The command line, checked; the only place in the compiler with global
// options.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_TOOLS_MNISTC_OPTIONS_H
#define MNISTC_TOOLS_MNISTC_OPTIONS_H

#include "lib/Import/Import.h"
#include "lib/Passes/Pipelines.h"
#include <string>

namespace mlir::mnistc {

/// Exit codes; those of compiled programs begin at 10.
enum ExitCode : int {
  exitOk = 0,
  exitBadModel = 1,
  exitUsage = 2,
  exitUnsupported = 3,
  exitToolchain = 4, ///< also: the output cannot be written
  exitNoGpu = 10,    ///< --tune
  exitBadData = 14,  ///< a file of choices
  exitNumeric = 15,  ///< gradcheck: a gradient is wrong
};

/// The kind of output.
enum class Emit { mnist, plan, source, executable, library };

enum class Explain { no, text, json };

struct Options {
  std::string input;
  std::string output; ///< empty: chosen by `emit`
  Emit emit = Emit::executable;
  Explain explain = Explain::no;
  std::string report;      ///< an HTML file; - is standard output
  bool onlyReport = false; ///< no program was asked for
  bool check = false;
  bool listOperators = false;
  bool verbose = false;
  bool quiet = false;
  std::string target;             ///< also in `passes`
  bool targetGiven = false;       ///< on the command line
  std::vector<std::string> archs; ///< none: the target's default
  std::string library; ///< what its model is called in C; empty: as the file
  bool timestamps = false; ///< kernels can write down when they run
  std::string runtime;
  std::string tune, tuned; ///< files of choices: to write, to read; or "none"
  std::string saveTemps, saveStages;
  bool cache = true;   ///< take what was compiled before
  std::string command; ///< the options that shape the program, after --target
  ImportOptions import;
  bool train = false;
  bool gradcheck = false; ///< check gradients, or make the program for it
  GradcheckOptions passes;
};

/// Fills `options`; prints what is wrong with the command line and returns
/// false. Prints and exits for --help and --version.
bool parseOptions(int argc, const char *const *argv, Options &options);

} // namespace mlir::mnistc

#endif // MNISTC_TOOLS_MNISTC_OPTIONS_H
