//===- Describe.cpp - the options, for manuals and shells -----------------===//

#include "tools/mnistc/Describe.h"
#include "tools/mnistc/Config.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include <map>

using namespace mlir;
namespace cl = llvm::cl;

static cl::opt<std::string>
    describe("describe-options", cl::Hidden, cl::value_desc("format"),
             cl::desc("Print the options for: man, bash, zsh or fish"));

StringRef mlir::mnistc::describeFlag() { return describe.getValue(); }

namespace {
struct Flag {
  std::string name, value, help;
  bool isLong() const { return name.size() > 1; }
  bool takesFile() const { return value == "file"; }
  bool takesFolder() const { return value == "folder"; }
  /// "--batch=", or "--check".
  std::string text() const {
    return (isLong() ? "--" : "-") + name +
           (value.empty() || !isLong() ? "" : "=");
  }
};
/// By category, both in the order of --help.
using Flags = std::map<std::string, std::map<std::string, Flag>>;
} // namespace

static Flags visibleFlags() {
  Flags flags;
  for (auto &entry : cl::getRegisteredOptions()) {
    const cl::Option &option = *entry.second;
    if (option.getOptionHiddenFlag() != cl::NotHidden ||
        option.isPositional() || option.Categories.empty())
      continue;
    std::string name = entry.first().str();
    flags[option.Categories.front()->getName().str()][name] = {
        name, option.ValueStr.str(), option.HelpStr.str()};
  }
  return flags;
}

/// Every visible option, by name.
template <typename F> static void forEach(const Flags &flags, F call) {
  for (auto &[category, all] : flags)
    for (auto &[name, flag] : all)
      call(flag);
}

static std::string escaped(StringRef text, StringRef special) {
  std::string result;
  for (char c : text) {
    if (special.contains(c))
      result += '\\';
    result += c;
  }
  return result;
}

//===----------------------------------------------------------------------===//
// A manual page
//===----------------------------------------------------------------------===//

/// Text of roff: a hyphen that is to be copied, and no request by accident.
static std::string roff(StringRef text) {
  std::string result = escaped(text, "\\-");
  return result.find_first_of(".'") == 0 ? "\\&" + result : result;
}

static void writeMan(const Flags &flags, raw_ostream &os) {
  os << ".TH MNISTC 1 \"\" \"mnistc " MNISTC_VERSION "\" \"User Commands\"\n"
     << ".SH NAME\nmnistc \\- compiles ONNX models into native programs\n"
     << ".SH SYNOPSIS\n.B mnistc\n[\\fIOPTION\\fR]... "
        "\\fIMODEL.onnx\\fR|\\fIFILE.mlir\\fR|\\fB\\-\\fR\n.br\n"
     << ".B mnistc gradcheck\n[\\fIOPTION\\fR]... \\fIMODEL.onnx\\fR\n"
     << ".SH DESCRIPTION\nTurns a model into one program for an NVIDIA GPU or "
        "the CPU, which infers and trains, or into a library.\nThe program "
        "explains itself: \\fIPROGRAM\\fR \\fBhelp\\fR.\n.SH OPTIONS\n";
  for (auto &[category, all] : flags) {
    os << ".SS " << roff(category) << "\n";
    for (auto &[name, flag] : all) {
      os << ".TP\n\\fB" << roff(flag.text()) << "\\fR";
      if (!flag.value.empty())
        os << (flag.isLong() ? "" : " ") << "\\fI" << roff(flag.value)
           << "\\fR";
      os << "\n" << roff(flag.help) << "\n";
    }
  }
  os << ".SH SEE ALSO\nThe documents of the package, of which README.md is the "
        "first; it has the exit codes.\n";
}

//===----------------------------------------------------------------------===//
// Shells
//===----------------------------------------------------------------------===//

static void writeBash(const Flags &flags, raw_ostream &os) {
  os << "# bash completion for mnistc\n_mnistc() {\n"
     << "  local word=${COMP_WORDS[COMP_CWORD]}\n"
     << "  # After --flag=, which bash takes for words of their own, and -o: a "
        "file.\n"
     << "  if [[ $word != -* ]]; then\n"
     << "    compopt -o default\n    COMPREPLY=()\n    return\n  fi\n"
     << "  mapfile -t COMPREPLY < <(compgen -W '";
  llvm::ListSeparator space(" ");
  forEach(flags, [&](const Flag &flag) { os << space << flag.text(); });
  os << "' -- \"$word\")\n"
     << "  [[ ${COMPREPLY[0]-} != *= ]] || compopt -o nospace\n}\n"
     << "complete -F _mnistc mnistc\n";
}

static void writeZsh(const Flags &flags, raw_ostream &os) {
  auto quoted = [](StringRef text) {
    // A quote ends the word, is one by itself, and begins it again.
    std::string result;
    for (char c : escaped(text, "[]:\\"))
      result += c == '\'' ? "'\\''" : std::string(1, c);
    return result;
  };
  os << "#compdef mnistc\n_arguments \\\n";
  forEach(flags, [&](const Flag &flag) {
    os << "  '" << flag.text() << "[" << quoted(flag.help) << "]";
    if (!flag.value.empty())
      os << ":" << quoted(flag.value) << ":"
         << (flag.takesFile()     ? "_files"
             : flag.takesFolder() ? "_files -/"
                                  : "");
    os << "' \\\n";
  });
  os << "  '*:model:_files -g \"*.(onnx|mlir)\"'\n";
}

static void writeFish(const Flags &flags, raw_ostream &os) {
  os << "# fish completion for mnistc\n";
  forEach(flags, [&](const Flag &flag) {
    os << "complete -c mnistc " << (flag.isLong() ? "-l " : "-s ") << flag.name
       << (flag.value.empty()                       ? ""
           : flag.takesFile() || flag.takesFolder() ? " -r"
                                                    : " -x")
       << " -d '" << escaped(flag.help, "'\\") << "'\n";
  });
}

bool mlir::mnistc::describeOptions(StringRef format, raw_ostream &os) {
  Flags flags = visibleFlags();
  if (format == "man")
    writeMan(flags, os);
  else if (format == "bash")
    writeBash(flags, os);
  else if (format == "zsh")
    writeZsh(flags, os);
  else if (format == "fish")
    writeFish(flags, os);
  else
    return false;
  return true;
}
