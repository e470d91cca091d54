//===- cli.cpp - reads the command line -----------------------------------===//
//
// The only file that knows CLI11.
//
//===----------------------------------------------------------------------===//

#include "commands/options.h"
#include "core/printable.h"
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>

namespace mn {

namespace {

/// Nothing, or what is wrong with a number.
std::string checkNumber(const std::string &found, double least) {
  char *end;
  const double value = std::strtod(found.c_str(), &end);
  if (end == found.c_str() || *end || !std::isfinite(value))
    return "expected a number, got '" + found + "'";
  if (value < least)
    return text("expected %g or more, got '%s'", least, found.c_str());
  return "";
}

template <typename Class, typename Member> constexpr bool isOf = false;
template <typename Class, typename Type>
constexpr bool isOf<Class, Type Class::*> = true;

void addFlag(CLI::App &app, const Flag &flag, Options &options) {
  const std::string name = std::string("--") + flag.name;
  const auto visit = [&](auto member) {
    using Member = decltype(member);
    const auto describe = [&](CLI::Option *option) {
      if (flag.value)
        option->type_name(flag.value);
      if constexpr (!std::is_same_v<Member, std::string Options::*> &&
                    !std::is_same_v<Member, std::string TrainOptions::*>)
        option->check(
            [least = flag.least](const std::string &found) {
              return checkNumber(found, least);
            },
            "");
    };
    if constexpr (std::is_same_v<Member, bool Options::*>)
      app.add_flag(name, options.*member, flag.help);
    else if constexpr (std::is_same_v<Member, bool Transform::*>)
      app.add_flag(name, options.transform.*member, flag.help);
    else if constexpr (std::is_same_v<Member, bool TrainOptions::*>)
      app.add_flag(name, options.train.*member, flag.help);
    else if constexpr (std::is_same_v<Member,
                                      std::optional<double> Transform::*>)
      describe(app.add_option(name, options.transform.*member, flag.help));
    else if constexpr (isOf<TrainOptions, Member>)
      describe(app.add_option(name, options.train.*member, flag.help));
    else
      describe(app.add_option(name, options.*member, flag.help));
  };
  std::visit(visit, flag.to);
}

CLI::App *addCommand(CLI::App &app, const Command &command, Options &options) {
  CLI::App *sub = app.add_subcommand(command.name, command.help);
  sub->fallthrough(false);
  if (command.argument) {
    CLI::Option *argument = sub->add_option(command.argument, options.arguments,
                                            command.argumentHelp)
                                ->required()
                                ->type_name("");
    argument->expected(1, command.many ? 1 << 20 : 1);
  }
  for (const Flag &flag : command.flags)
    addFlag(*sub, flag, options);
  return sub;
}

/// One line, lower case, as all messages.
std::string messageOf(const CLI::ParseError &error) {
  std::string message = error.what();
  std::replace(message.begin(), message.end(), '\n', ' ');
  // Not of a name: "INPUT is required".
  if (message.size() > 1 && !std::isupper(message[1]))
    message[0] = static_cast<char>(std::tolower(message[0]));
  while (!message.empty() && (message.back() == '.' || message.back() == ' '))
    message.pop_back();
  return message;
}

int report(const Status &status) {
  if (!status.ok())
    std::fprintf(stderr, "error: %s\n", printable(status.message).c_str());
  else if (std::fflush(stdout) != 0 || std::ferror(stdout)) {
    std::fprintf(stderr, "error: cannot write the output: %s\n",
                 std::strerror(errno));
    return static_cast<int>(Code::badData);
  }
  return static_cast<int>(status.code);
}

int parseAndRun(const Model &model, int argc, char **argv) {
  Options options;
  CLI::App app(std::string("runs the model '") + printable(model.name) +
               "', compiled by " + model.compiler + " for " + model.target +
               " (" + model.arch + ")");
  app.set_version_flag("--version",
                       printable(model.name) + ", " + model.compiler);
  app.require_subcommand(1);
  app.footer(
      "'COMMAND --help' says more. Exit codes: 0 success, 2 usage, 10 no "
      "usable GPU,\n11 wrong GPU or CPU, 12 library missing, 13 out of "
      "memory, 14 bad data or I/O,\n15 wrong or not finite numbers, 130 and "
      "143 "
      "stopped by a signal, after saving");
  std::vector<CLI::App *> subcommands;
  for (const Command &command : commands())
    subcommands.push_back(addCommand(app, command, options));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    if (error.get_exit_code() == 0) { // --help, --version
      std::ostringstream help;
      app.exit(error, help, help);
      std::fputs(help.str().c_str(), stdout);
      return report(Status::success());
    }
    return report(
        Status::error(Code::usage, messageOf(error) + "; see '--help'"));
  }
  for (size_t i = 0; i < subcommands.size(); ++i)
    if (subcommands[i]->parsed())
      return report(commands()[i].run(model, options));
  return report(Status::error(Code::usage, "expected a command, got none"));
}

} // namespace

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
