//===- run_list.cpp - runs that a file lists ------------------------------===//

#include "core/choices.h"
#include "formats/files.h"
#include "formats/json.h"
#include "sweep/space.h"

namespace mn {

namespace {

/// As the command line would have it; false for what is no value.
bool textOf(const Json &value, std::string &text) {
  if (value.is_boolean())
    text = value.get<bool>() ? "yes" : "no";
  else if (value.is_string())
    text = value.get<std::string>();
  else if (value.is_number())
    text = jsonText(value);
  else
    return false;
  return true;
}

/// Of one run, by JSON's keys.
Status readRun(const Json &json, OptionTexts &run) {
  if (!json.is_object())
    return badData(
        "expected an object, as {\"lr\": 0.1, \"seed\": 1}, got '%s'",
        jsonText(json).substr(0, 60).c_str());
  Choices keys;
  for (const Flag *flag : axisFlags())
    keys.push_back(keyOf(*flag));
  for (const auto &[key, value] : json.items()) {
    const Flag *found = nullptr;
    for (const Flag *flag : axisFlags())
      if (keyOf(*flag) == key)
        found = flag;
    if (!found)
      return badData("expected an option that may differ between runs, got "
                     "'%s'%s",
                     key.c_str(), didYouMean(key, keys).c_str());
    Options scratch;
    std::string text;
    if (!textOf(value, text))
      return badData("expected a value of '%s', got '%s'", key.c_str(),
                     jsonText(value).substr(0, 60).c_str());
    if (Status status = setOption(*found, text, scratch); !status.ok())
      return badData("%s", status.message.c_str());
    run[found->name] = text;
  }
  return Status::success();
}

} // namespace

Status readRunList(const std::string &path, std::vector<OptionTexts> &runs) {
  std::vector<char> bytes;
  MN_TRY(readFile(path, bytes));
  const std::string_view all(bytes.data(), bytes.size());
  int number = 0;
  for (size_t begin = 0; begin < all.size();) {
    const size_t end = std::min(all.find('\n', begin), all.size());
    const std::string_view line = all.substr(begin, end - begin);
    begin = end + 1;
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos)
      continue;
    const Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    OptionTexts run;
    const Status status = json.is_discarded()
                              ? badData("expected JSON, got '%s'",
                                        std::string(line.substr(0, 60)).c_str())
                              : readRun(json, run);
    if (!status.ok())
      return badData("'%s', line %d: %s", path.c_str(), number,
                     status.message.c_str());
    runs.push_back(std::move(run));
    if (runs.size() > static_cast<size_t>(maxRuns))
      return badData("'%s': expected at most %lld runs, got more", path.c_str(),
                     static_cast<long long>(maxRuns));
  }
  return runs.empty() ? badData("'%s': expected a run in each line, got none",
                                path.c_str())
                      : Status::success();
}

} // namespace mn
