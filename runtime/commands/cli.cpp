//===- cli.cpp - reads the command line -----------------------------------===//
//
// The only file that knows CLI11.
//
//===----------------------------------------------------------------------===//

#include "commands/options.h"
#include "core/array.h"
#include "core/choices.h"
#include "mnistrt/printable.h"
#include "reports/report.h"
#include "reports/terminal.h"
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <unistd.h>

namespace mn {

namespace {

/// Where help has its second column.
constexpr int helpColumn = 28;

/// "--data=DIR" and "INPUT...", where CLI11 has "--data DIR" and "INPUT(1x)".
class Help final : public CLI::Formatter {
public:
  std::string make_option_opts(const CLI::Option *option) const override {
    const std::string type = option->get_type_name();
    return type.empty() ? "" : "=" + type;
  }
  std::string make_option_usage(const CLI::Option *option) const override {
    return option->get_name(true) +
           (option->get_expected_max() > 1 ? "..." : "");
  }
};

template <typename Class, typename Member> constexpr bool isOf = false;
template <typename Class, typename Type>
constexpr bool isOf<Class, Type Class::*> = true;

template <typename Type> struct ValueOf;
template <typename Class, typename Type> struct ValueOf<Type Class::*> {
  using type = Type;
};

/// The options that `member` is a member of.
template <typename Member> auto &ownerOf(Options &options, Member) {
  if constexpr (isOf<Transform, Member>)
    return options.transform;
  else if constexpr (isOf<TrainOptions, Member>)
    return options.train;
  else if constexpr (isOf<SweepOptions, Member>)
    return options.sweep;
  else
    return options;
}

std::string wrappedHelp(const char *help) {
  const int columns = columnsOf(STDOUT_FILENO);
  return wrapped(help, (columns ? columns : 80) - helpColumn - 1);
}

void addFlag(CLI::App &app, const Flag &flag, Options &options) {
  const std::string name = std::string("--") + flag.name;
  const std::string help = wrappedHelp(flag.help);
  const auto visit = [&](auto member) {
    using Type = typename ValueOf<decltype(member)>::type;
    auto &value = ownerOf(options, member).*member;
    if constexpr (std::is_same_v<Type, bool>) {
      app.add_flag(name, value, help)->disable_flag_override();
    } else {
      CLI::Option *option = app.add_option(name, value, help);
      option->type_name(flag.value ? flag.value : "");
      if constexpr (!std::is_same_v<Type, std::string>)
        option->check(
            [flag](const std::string &given) {
              return checkNumber(flag, std::is_same_v<Type, int64_t>, given);
            },
            "");
    }
  };
  std::visit(visit, flag.to);
}

CLI::App *addCommand(CLI::App &app, const Command &command, Options &options) {
  CLI::App *sub = app.add_subcommand(command.name, command.help);
  sub->group("Commands");
  sub->fallthrough(false);
  sub->set_help_flag("-h,--help", "print this help");
  if (command.argument) {
    CLI::Option *argument = sub->add_option(command.argument, options.arguments,
                                            wrappedHelp(command.argumentHelp))
                                ->required()
                                ->type_name("");
    argument->expected(1, command.many ? 1 << 20 : 1);
  }
  for (const Flag &flag : command.flags)
    addFlag(*sub, flag, options);
  return sub;
}

Choices namesOf(const std::vector<Command> &commands) {
  Choices names;
  for (const Command &command : commands)
    names.push_back(command.name);
  names.push_back("help");
  return names;
}

std::string wordOf(const std::string &argument) {
  const size_t begin = argument.find_first_not_of('-');
  return begin == std::string::npos
             ? ""
             : argument.substr(begin, argument.find('=') - begin);
}

std::string seeHelp(const Command *command) {
  return "; see '" + (command ? std::string(command->name) + " " : "") +
         "--help'";
}

/// The first argument that no option of `command` takes.
Status unexpected(const std::string &given, const Command &command) {
  if (given.size() < 2 || given[0] != '-')
    return usageError((command.argument ? "expected one argument, got '"
                                        : "expected no argument, got '") +
                      given + "'" + seeHelp(&command));
  Choices names = {"help"};
  for (const Flag &flag : command.flags)
    names.push_back(flag.name);
  const std::string meant = didYouMean(wordOf(given), names, "--");
  return usageError("unknown option '" + given.substr(0, given.find('=')) +
                    "' of '" + command.name + "'" +
                    (meant.empty() ? seeHelp(&command) : meant));
}

/// CLI11's error as a message of ours.
Status statusOf(const CLI::ParseError &error, const Command *command) {
  std::string message = error.what();
  std::replace(message.begin(), message.end(), '\n', ' ');
  const size_t colon = message.find(": ");
  const std::string subject = message.substr(0, colon);
  if (dynamic_cast<const CLI::RequiredError *>(&error))
    return usageError(text("expected %s, got none",
                           command ? command->argument : "a command") +
                      seeHelp(command));
  // "--batch: expected ..." is what checkNumber said.
  if (dynamic_cast<const CLI::ValidationError *>(&error) &&
      colon != std::string::npos)
    return usageError(message.substr(colon + 2));
  if (dynamic_cast<const CLI::ArgumentMismatch *>(&error)) {
    if (message.find("received") != std::string::npos)
      return usageError("expected one '" + subject + "', got several");
    if (message.find("missing") != std::string::npos)
      return usageError("expected a value of '" + subject + "', got none");
  }
  // "--json was given a disallowed flag override"
  if (dynamic_cast<const CLI::ArgumentMismatch *>(&error))
    return usageError("expected '--" + message.substr(0, message.find(' ')) +
                      "' without a value, got one");
  return usageError(message + seeHelp(command));
}

int report(const Status &status) {
  if (!status.ok())
    sayError(status);
  else if (std::fflush(stdout) != 0 || std::ferror(stdout)) {
    std::fprintf(stderr, "error: cannot write the output: %s\n",
                 std::strerror(errno));
    return static_cast<int>(Code::badData);
  }
  return static_cast<int>(status.code);
}

std::string footerOf(const Model &model) {
  const bool gpu = std::string(model.target) == "cuda";
  return std::string("'help COMMAND' or 'COMMAND --help' lists the options of "
                     "a command.\nExit codes: 0 success, 2 wrong usage, ") +
         (gpu ? "10 no usable GPU or driver, 11 wrong GPU,\n12 library missing "
                "or of a wrong version, 13 out of memory, 14 bad data or "
                "I/O,\n15 numeric failure, 16 another rank was lost, 130 and "
                "143 training stopped by\na signal, after saving"
              : "11 wrong CPU, 12 library\nmissing or of a wrong version, 13 "
                "out of memory, 14 bad data or I/O, 15 numeric\nfailure, 16 "
                "another rank was lost, 130 and 143 training stopped by a "
                "signal,\nafter saving");
}

void describe(CLI::App &app, const Model &model) {
  app.description(std::string("Runs the model '") + model.name +
                  "', compiled by " + model.compiler + " for " + model.target +
                  " (" + model.arch + ").");
  app.set_version_flag("--version", modelText(model), "print the version");
  app.set_help_flag("-h,--help", "print this help");
  app.require_subcommand(1);
  const auto format = std::make_shared<Help>();
  format->column_width(helpColumn);
  format->label("SUBCOMMAND", "COMMAND");
  format->label("Positionals", "Arguments");
  app.formatter(format);
}

/// 'help COMMAND' is 'COMMAND --help', and 'help' is '--help'.
std::vector<std::string> wordsOf(int argc, char **argv) {
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  if (words.empty() || words[0] != "help")
    return words;
  words.erase(words.begin());
  words.push_back("--help");
  return words;
}

/// Whether the first word is a command, or asks for help or the version.
Status checkCommand(const std::vector<std::string> &words,
                    const std::vector<Command> &commands) {
  Choices names = namesOf(commands);
  if (words.empty())
    return usageError("expected a command (" +
                      listOf({names.begin(), names.end() - 1}) +
                      "), got none; see '--help'");
  const std::string &word = words[0];
  if (word == "-h" || word == "--help" || word == "--version" ||
      std::find(names.begin(), names.end(), word) != names.end())
    return Status::success();
  const bool option = word.starts_with("-");
  if (option) {
    for (const Command &command : commands)
      for (const Flag &flag : command.flags)
        if (wordOf(word) == flag.name)
          return usageError("expected a command before '" + word +
                            "', got none; see '--help'");
    names = {"help", "version"};
  }
  const std::string meant =
      didYouMean(option ? wordOf(word) : word, names, option ? "--" : "");
  return usageError((option ? "unknown option '" : "unknown command '") + word +
                    "'" + (meant.empty() ? "; see '--help'" : meant));
}

/// CLI11's parser of the whole command line.
struct Parser {
  Parser(const Model &model, const char *program, Options &options)
      : commands(commandsOf(model)), app("", program) {
    describe(app, model);
    for (const Command &command : commands)
      subs.push_back(addCommand(app, command, options));
    app.footer(footerOf(model)); // of this help, not of each command's
  }

  /// The command that was named, or null.
  const Command *chosen() const {
    for (size_t i = 0; i < subs.size(); ++i)
      if (subs[i]->parsed())
        return &commands[i];
    return nullptr;
  }

  std::vector<Command> commands;
  CLI::App app;
  std::vector<CLI::App *> subs;
};

int parseAndRun(const Model &model, int argc, char **argv) {
  Options options;
  Parser parser(model, argc > 0 ? argv[0] : model.name, options);
  std::vector<std::string> words = wordsOf(argc, argv);
  if (const Status status = checkCommand(words, parser.commands); !status.ok())
    return report(status);
  try {
    std::reverse(words.begin(), words.end()); // as CLI11 wants them
    parser.app.parse(words);
  } catch (const CLI::ParseError &error) {
    if (error.get_exit_code() == 0) { // --help, --version
      // Through stdio, whose errors are reported.
      std::ostringstream help;
      parser.app.exit(error, help, help);
      std::fputs(help.str().c_str(), stdout);
      return report(Status::success());
    }
    const Command *command = parser.chosen();
    const std::vector<std::string> rest = parser.app.remaining(true);
    return report(command && !rest.empty() &&
                          dynamic_cast<const CLI::ExtrasError *>(&error)
                      ? unexpected(rest.front(), *command)
                      : statusOf(error, command));
  }
  const Command *command = parser.chosen();
  const CLI::App &sub = *parser.app.get_subcommand(command->name);
  for (const Flag &flag : command->flags)
    if (sub.count(std::string("--") + flag.name))
      options.given.push_back(flag.name);
  return report(command->run(model, options));
}

} // namespace

void sayError(const Status &status) {
  // What several ranks know one of them says.
  if (!status.message.empty())
    std::fprintf(stderr, "error: %s\n", printable(status.message).c_str());
}

std::string checkNumber(const Flag &flag, bool integer,
                        const std::string &given) {
  const std::string expected = text("expected '--%s' to be ", flag.name);
  const std::string got = ", got '" + given + "'";
  const char *begin = given.c_str(), *limit = begin + given.size();
  char *end;
  const double value = std::strtod(begin, &end);
  if (end == begin || end != limit || !std::isfinite(value))
    return expected + (integer ? "an integer" : "a number") + got;
  if (value < flag.min)
    return expected + text("%g or more", flag.min) + got;
  int64_t whole;
  const auto read = std::from_chars(begin, limit, whole);
  if (integer && read.ec == std::errc::result_out_of_range)
    return expected + "an integer of at most 64 bits" + got;
  if (integer && (read.ec != std::errc() || read.ptr != limit))
    return expected + "an integer" + got;
  return "";
}

int runCommandLine(const Model &model, int argc, char **argv) {
  try {
    return parseAndRun(model, argc, argv);
  } catch (const std::bad_alloc &) {
    return report(Status::error(Code::outOfMemory, "out of memory"));
  } catch (const std::exception &error) {
    return report(Status::error(Code::badData, error.what()));
  }
}

} // namespace mn
