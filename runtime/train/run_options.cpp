//===- run_options.cpp - the options that a checkpoint keeps --------------===//

#include "train/run_options.h"
#include "core/array.h"
#include <algorithm>
#include <charconv>
#include <cmath>

namespace mn {

namespace {

std::string textOf(bool value) { return value ? "yes" : "no"; }
std::string textOf(int64_t value) { return shortest(value); }
std::string textOf(double value) { return shortest(value); }
std::string textOf(const std::string &value) { return value; }
std::string textOf(const std::optional<double> &value) {
  return value ? shortest(*value) : "";
}

bool read(const std::string &text, bool &value) {
  value = text == "yes";
  return value || text == "no";
}
bool read(const std::string &text, std::string &value) {
  value = text;
  return true;
}
template <typename T> bool read(const std::string &text, T &value) {
  const char *end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  return result.ec == std::errc() && result.ptr == end;
}
bool read(const std::string &text, std::optional<double> &value) {
  if (text.empty())
    return value.reset(), true;
  return read(text, value.emplace());
}

/// Whether the command line would have accepted a number.
template <typename T> bool inRange(const T &, double) { return true; }
bool inRange(int64_t value, double min) {
  return static_cast<double>(value) >= min;
}
bool inRange(const std::optional<double> &value, double min) {
  return !value || (std::isfinite(*value) && *value >= min);
}

/// Calls `use` with the option that `flag` sets.
template <typename Use>
void withValue(const Flag &flag, Options &options, Use use) {
  std::visit(
      [&](auto member) {
        if constexpr (std::is_invocable_v<decltype(member), Options &>)
          use(options.*member);
        else if constexpr (std::is_invocable_v<decltype(member), Transform &>)
          use(options.transform.*member);
        else if constexpr (std::is_invocable_v<decltype(member),
                                               TrainOptions &>)
          use(options.train.*member);
        else
          use(options.sweep.*member);
      },
      flag.to);
}

} // namespace

OptionTexts textsOf(const Options &options) {
  OptionTexts texts;
  Options copy = options;
  for (const Flag &flag : runOptions())
    withValue(flag, copy,
              [&](auto &value) { texts[flag.name] = textOf(value); });
  return texts;
}

Status setOption(const Flag &flag, const std::string &text, Options &options) {
  std::string wrong;
  withValue(flag, options, [&](auto &value) {
    using Type = std::remove_reference_t<decltype(value)>;
    constexpr bool integer = std::is_same_v<Type, int64_t>;
    constexpr bool number = integer || std::is_same_v<Type, double> ||
                            std::is_same_v<Type, std::optional<double>>;
    if constexpr (number)
      wrong = checkNumber(flag, integer, text);
    if (wrong.empty() && !read(text, value))
      wrong = mn::text("expected '--%s' to be %s, got '%s'", flag.name,
                       number ? "a number" : "yes or no", text.c_str());
  });
  return wrong.empty() ? Status::success() : Status::error(Code::usage, wrong);
}

Status takeOptions(const OptionTexts &kept, Options &options,
                   std::vector<std::string> &overridden) {
  const OptionTexts own = textsOf(options);
  for (const Flag &flag : runOptions()) {
    const auto found = kept.find(flag.name);
    const std::string text = found == kept.end() ? "" : found->second;
    if (std::find(options.given.begin(), options.given.end(), flag.name) !=
        options.given.end()) {
      if (own.at(flag.name) != text)
        overridden.push_back(
            "--" + std::string(flag.name) + "=" + own.at(flag.name) + " (" +
            (text.empty() ? "none" : text) + " in the checkpoint)");
      continue;
    }
    bool good = found != kept.end();
    withValue(flag, options, [&](auto &value) {
      const auto before = value;
      // 0 is "all" where the command line takes 1 or more.
      good = good && read(text, value) &&
             (value == before || inRange(value, flag.min));
    });
    if (!good)
      return badData("expected a value of '--%s', got '%s'", flag.name,
                     text.c_str());
  }
  return Status::success();
}

std::string commandText(const OptionTexts &texts) {
  const OptionTexts defaults = textsOf({});
  std::string result;
  for (const Flag &flag : runOptions()) {
    const std::string &text = texts.at(flag.name);
    if (text != defaults.at(flag.name))
      result += (result.empty() ? "--" : " --") + std::string(flag.name) +
                (text == "yes" ? "" : "=" + text);
  }
  return result;
}

} // namespace mn
