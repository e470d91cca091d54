//===- completion.cpp - what completes a command line in a shell ----------===//

#include "commands/options.h"
#include "core/array.h"
#include "core/choices.h"
#include <cctype>
#include <cerrno>
#include <cstdio>

namespace mn {

namespace {

const Choices shells = {"bash", "zsh", "fish"};

/// What can be the first word, and what can follow it.
struct Part {
  std::string name, help;
  std::vector<Flag> flags;
  std::string argument; ///< what an argument is; empty: there is none
  Choices choices;      ///< the arguments; none: a file
};

/// The name that the program was called by, and the parts of its command line.
struct CommandLine {
  std::string program;
  std::vector<Part> parts;
};

CommandLine commandLineOf(const Model &model) {
  CommandLine line = {program_invocation_short_name, {}};
  Choices names;
  for (const Command &command : commandsOf(model)) {
    std::vector<Flag> flags = command.flags;
    flags.push_back({"help", nullptr, "print this help", {}});
    line.parts.push_back({command.name, command.help, flags,
                          command.argument ? command.argument : "",
                          command.run == completion ? shells : Choices()});
    names.push_back(command.name);
  }
  line.parts.push_back(
      {"help", "list the options of a command", {}, "COMMAND", names});
  return line;
}

std::string joined(const Choices &words) {
  std::string all;
  for (const std::string &word : words)
    all += (all.empty() ? "" : " ") + word;
  return all;
}

/// `text` with a backslash before each of `special`.
std::string escaped(std::string_view text, std::string_view special) {
  std::string result;
  for (const char c : text) {
    if (special.find(c) != std::string_view::npos)
      result += '\\';
    result += c;
  }
  return result;
}

/// A word of bash and zsh. A quote ends it, is one by itself, and begins it
/// again.
std::string shellQuoted(std::string_view text) {
  std::string result = "'";
  for (const char c : text)
    result += c == '\'' ? "'\\''" : std::string(1, c);
  return result + "'";
}

std::string quotedForFish(std::string_view text) {
  return "'" + escaped(text, "'\\") + "'";
}

/// A shell's function for a program; any of its names makes a valid one.
std::string functionOf(const CommandLine &line) {
  std::string name = "_";
  for (const unsigned char c : line.program)
    name += std::isalnum(c) ? static_cast<char>(c) : '_';
  return name;
}

bool takesFile(const Flag &flag) {
  const std::string_view value = flag.value ? flag.value : "";
  return value == "FILE" || value == "DIR";
}

//===----------------------------------------------------------------------===//
// bash
//===----------------------------------------------------------------------===//

std::string bashWords(const Part &part) {
  Choices words = part.choices;
  for (const Flag &flag : part.flags)
    words.push_back(text("--%s%s", flag.name, flag.value ? "=" : ""));
  return joined(words);
}

void writeBash(const CommandLine &line) {
  const std::string function = functionOf(line);
  std::string first, cases;
  for (const Part &part : line.parts) {
    first += part.name + " ";
    cases += "  " + part.name + ") words='" + bashWords(part) + "' ;;\n";
  }
  std::printf(
      "%s() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} words=\n"
      "  ((COMP_CWORD > 1)) || command=\n"
      "  case $command in\n"
      "  '') words='%s--help --version' ;;\n"
      "%s"
      "  esac\n"
      "  # An argument that is a file, or the value of an option, which bash\n"
      "  # takes for a word of its own.\n"
      "  if [[ $word != -* && ( $words == -* || $word == = || "
      "${COMP_WORDS[COMP_CWORD - 1]} == = ) ]]; then\n"
      "    compopt -o default\n"
      "    COMPREPLY=()\n"
      "    return\n"
      "  fi\n"
      "  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n"
      "  [[ ${COMPREPLY[0]-} != *= ]] || compopt -o nospace\n"
      "}\n"
      "complete -F %s -- %s\n",
      function.c_str(), first.c_str(), cases.c_str(), function.c_str(),
      shellQuoted(line.program).c_str());
}

//===----------------------------------------------------------------------===//
// zsh
//===----------------------------------------------------------------------===//

/// What one option or argument is to `_arguments`.
std::string zshFlag(const Flag &flag) {
  std::string word = text("--%s%s[", flag.name, flag.value ? "=" : "") +
                     escaped(flag.help, "[]:\\") + "]";
  if (flag.value)
    word +=
        std::string(":") + flag.value + ":" + (takesFile(flag) ? "_files" : "");
  return " \\\n      " + shellQuoted(word);
}

std::string zshCase(const Part &part) {
  std::string words;
  for (const Flag &flag : part.flags)
    words += zshFlag(flag);
  if (!part.argument.empty())
    words +=
        " \\\n      " +
        shellQuoted("*:" + part.argument + ":" +
                    (part.choices.empty() ? "_files"
                                          : "(" + joined(part.choices) + ")"));
  return "  " + part.name + ")\n    _arguments" + words + "\n    ;;\n";
}

void writeZsh(const CommandLine &line) {
  const std::string function = functionOf(line);
  std::string commands, cases;
  for (const Part &part : line.parts) {
    commands += "    " +
                shellQuoted(part.name + ":" + escaped(part.help, ":\\")) + "\n";
    cases += zshCase(part);
  }
  std::printf("%s() {\n"
              "  local -a commands=(\n%s  )\n"
              "  if (( CURRENT == 2 )); then\n"
              "    _describe command commands\n"
              "    return\n"
              "  fi\n"
              "  shift words\n"
              "  (( CURRENT-- ))\n"
              "  case $words[1] in\n%s  esac\n"
              "}\n"
              "compdef %s %s\n",
              function.c_str(), commands.c_str(), cases.c_str(),
              function.c_str(), shellQuoted(line.program).c_str());
}

//===----------------------------------------------------------------------===//
// fish
//===----------------------------------------------------------------------===//

void writeFish(const CommandLine &line) {
  const std::string program = quotedForFish(line.program);
  const auto say = [&](const std::string &condition, const std::string &rest) {
    std::printf("complete -c %s -n '%s' %s\n", program.c_str(),
                condition.c_str(), rest.c_str());
  };
  for (const Part &part : line.parts) {
    say("__fish_use_subcommand",
        "-f -a " + part.name + " -d " + quotedForFish(part.help));
    const std::string here = "__fish_seen_subcommand_from " + part.name;
    if (part.argument.empty() || !part.choices.empty())
      say(here, "-f -a '" + joined(part.choices) + "'");
    for (const Flag &flag : part.flags)
      say(here, std::string("-l ") + flag.name +
                    (!flag.value       ? ""
                     : takesFile(flag) ? " -r -F"
                                       : " -x") +
                    " -d " + quotedForFish(flag.help));
  }
}

} // namespace

Status completion(const Model &model, const Options &options) {
  const std::string &shell = options.arguments.front();
  const CommandLine line = commandLineOf(model);
  if (shell == "bash")
    writeBash(line);
  else if (shell == "zsh")
    writeZsh(line);
  else if (shell == "fish")
    writeFish(line);
  else
    return Status::error(Code::usage, "expected " + listOf(shells) + ", got '" +
                                          shell + "'" +
                                          didYouMean(shell, shells));
  return Status::success();
}

} // namespace mn
