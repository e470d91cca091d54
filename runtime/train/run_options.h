//===- run_options.h - the options that a checkpoint keeps ------*- C++ -*-===//

#ifndef MNISTRT_TRAIN_RUN_OPTIONS_H
#define MNISTRT_TRAIN_RUN_OPTIONS_H

#include "commands/options.h"
#include <map>

namespace mn {

/// Values of options by name. What was not given is empty.
using OptionTexts = std::map<std::string, std::string>;

/// What makes a run what it is: data, epochs, seed, transforms, the recipe's
/// numbers. Not where it writes to: a checkpoint from elsewhere must not choose
/// files.
const std::vector<Flag> &runOptions();

/// The values of `runOptions`.
OptionTexts textsOf(const Options &options);

/// Sets one as the command line would. Errors (Code::usage): what it would not
/// accept.
Status setOption(const Flag &flag, const std::string &text, Options &options);

/// Sets what the command line does not. `overridden` is what it does:
/// "--lr=0.2 (0.1 in the checkpoint)". Errors: an invalid value.
Status takeOptions(const OptionTexts &kept, Options &options,
                   std::vector<std::string> &overridden);

/// "--data=digits --epochs=5": those that differ from the defaults.
std::string commandText(const OptionTexts &texts);

} // namespace mn

#endif // MNISTRT_TRAIN_RUN_OPTIONS_H
