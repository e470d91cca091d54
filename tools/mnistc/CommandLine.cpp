//===- CommandLine.cpp - what is wrong with words of the command line -----===//

#include "tools/mnistc/CommandLine.h"
#include "tools/mnistc/Messages.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir;
using namespace mlir::mnistc;
namespace cl = llvm::cl;

/// A first word that is not a file, followed by another word, is a command.
static bool checkModel(ArrayRef<StringRef> words) {
  if (words.size() < 2 || llvm::sys::fs::exists(words[0]) || words[0] == "-")
    return true;
  return error("expected a model or the command gradcheck, got '" + words[0] +
               "'" + nearest(words[0], {"gradcheck"}));
}

bool mlir::mnistc::checkFlags(ArrayRef<const char *> arguments) {
  llvm::StringMap<cl::Option *> &known = cl::getRegisteredOptions();
  llvm::StringSet<> seen;
  SmallVector<StringRef> words;
  for (size_t i = 1; i < arguments.size() && arguments[i] != StringRef("--");
       ++i) {
    StringRef argument = arguments[i];
    if (!argument.starts_with("-") || argument == "-") {
      words.push_back(argument);
      continue;
    }
    bool hasValue = argument.contains('=');
    auto [name, value] = argument.ltrim('-').split('=');
    cl::Option *option = known.lookup(name);
    if (!option)
      continue;
    std::string flag = ((name.size() == 1 ? "-" : "--") + name).str();
    cl::ValueExpected expected = option->getValueExpectedFlag();
    if (hasValue && expected == cl::ValueDisallowed)
      return error("expected " + flag + " without a value, got '" + value +
                   "'");
    if (option->getNumOccurrencesFlag() == cl::Optional &&
        !seen.insert(name).second)
      return error("expected one " + flag + ", got two");
    if (!hasValue && expected == cl::ValueRequired && ++i == arguments.size())
      return error("expected a value of " + flag + ", got none");
  }
  return checkModel(words);
}
