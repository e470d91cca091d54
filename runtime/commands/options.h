//===- options.h - the options of a program ---------------------*- C++ -*-===//

#ifndef MNISTRT_COMMANDS_OPTIONS_H
#define MNISTRT_COMMANDS_OPTIONS_H

#include "inference/inputs.h"
#include "sweep/sweep_options.h"
#include "train/train_options.h"
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace mn {

/// The options of all commands; each reads those that it declares.
struct Options {
  std::vector<std::string> arguments;
  std::vector<std::string> given; ///< names of options on the command line
  std::string data, split = "test", output, trace, timeline, report,
                    plan = kinds::infer, scores = "auto";
  Transform transform;
  int64_t batch = 0, top = 3, repeat = 0, warmup = 10, device = 0, limit = 0;
  double seconds = 1, rtol = 1e-3, atol = 1e-7;
  int64_t samples = 8, classes = 2; // of gradcheck
  double tolerance = 1e-5;
  std::string dump;
  bool json = false, checkNan = false, noGraph = false;
  bool details = false; ///< of eval
  std::string wrong;    ///< of eval: a folder for pictures
  int64_t wrongLimit = 25;
  TrainOptions train;
  SweepOptions sweep;
  std::string targets = "auto"; ///< of eval
};

/// `--name=value`, where `to` says which option it sets; bool ones take none.
struct Flag {
  const char *name, *value, *help;
  std::variant<bool Options::*, int64_t Options::*, double Options::*,
               std::string Options::*, bool Transform::*,
               std::optional<double> Transform::*, bool TrainOptions::*,
               int64_t TrainOptions::*, std::string TrainOptions::*,
               std::optional<double> TrainOptions::*, int64_t SweepOptions::*,
               std::string SweepOptions::*>
      to;
  double min = 0;               ///< of a number; NaN and infinity never do
  const char *target = nullptr; ///< only programs for it have the option
};

struct Command {
  const char *name, *help;
  const char *argument; ///< what an argument is, or null for none
  const char *argumentHelp;
  bool many; ///< whether there may be several
  std::vector<Flag> flags;
  Status (*run)(const Model &model, const Options &options);
};

/// Of a program, in the order in which help lists them.
std::vector<Command> commandsOf(const Model &model);

/// Runs the command line and returns the exit code. Messages go to stderr.
int runCommandLine(const Model &model, int argc, char **argv);

/// "error: expected X, got Y" on standard error; nothing where there is no
/// message.
void sayError(const Status &status);

/// What is wrong with a number on the command line; empty if nothing is.
std::string checkNumber(const Flag &flag, bool integer,
                        const std::string &given);

/// Opens the device for a command.
class Executor;
class Ranks;
Status openExecutor(const Model &model, const Options &options,
                    std::unique_ptr<Executor> &executor,
                    Ranks *ranks = nullptr);

// The commands, one file each.
Status infer(const Model &model, const Options &options);
Status eval(const Model &model, const Options &options);
Status verify(const Model &model, const Options &options);
Status bench(const Model &model, const Options &options);
Status profile(const Model &model, const Options &options);
Status info(const Model &model, const Options &options);
Status completion(const Model &model, const Options &options);

/// Of the table of commands and of 'train'.
std::vector<Flag> with(std::vector<Flag> flags, const std::vector<Flag> &more);
extern const std::vector<Flag> deviceFlags, transformFlags, rankFlags;
/// What '--devices' says: "0,2" or "all". Errors: no such GPUs, one twice.
Status readDevices(const std::string &list, std::vector<int64_t> &devices);
/// An option of 'train'; null: none of that name.
const Flag *trainFlag(std::string_view name);

} // namespace mn

#endif // MNISTRT_COMMANDS_OPTIONS_H
