//===- results.cpp - what the runs of a sweep have given ------------------===//

#include "sweep/results.h"
#include "formats/files.h"
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <map>
#include <sys/file.h>
#include <unistd.h>

namespace mn {

namespace {

/// A text that is a number becomes one.
Json valueOf(const std::string &text) {
  const Json parsed = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  return parsed.is_number() ? parsed : Json(text);
}

bool readNumber(const Json &json, const std::string &key, double &number) {
  const auto found = json.find(key);
  if (found == json.end())
    return false;
  if (found->is_number()) {
    number = found->get<double>();
    return true;
  }
  if (*found != "nan" && *found != "inf" && *found != "-inf")
    return false;
  number = std::strtod(found->get<std::string>().c_str(), nullptr);
  return true;
}

bool readText(const Json &json, const char *key, std::string &text) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_string())
    return false;
  text = found->get<std::string>();
  return true;
}

Json epochJson(const EpochResult &result) {
  Json json = {{"epoch", result.epoch}, {"train_loss", result.trainLoss}};
  if (result.trainAccuracy >= 0)
    json["train_accuracy"] = result.trainAccuracy;
  const Evaluation &evaluation = result.evaluation;
  const std::string set = nameOf(evaluation.set);
  if (evaluation.done())
    json[set + "_loss"] = evaluation.loss;
  if (evaluation.done() && evaluation.accuracy >= 0)
    json[set + "_accuracy"] = evaluation.accuracy;
  return json;
}

bool readEpoch(const Json &json, size_t number, EpochResult &result) {
  if (!json.is_object() || json.value("epoch", Json()) != number ||
      !readNumber(json, "train_loss", result.trainLoss))
    return false;
  result.epoch = static_cast<int64_t>(number);
  readNumber(json, "train_accuracy", result.trainAccuracy);
  for (const DataSetNumber set : {testSet, validationSet})
    if (const std::string name = nameOf(set);
        readNumber(json, name + "_loss", result.evaluation.loss)) {
      result.evaluation.set = set;
      readNumber(json, name + "_accuracy", result.evaluation.accuracy);
    }
  return true;
}

const char *stateOf(const SweepRun &run) {
  return run.failed()         ? "failed"
         : run.finished()     ? "finished"
         : run.result.dropped ? "dropped"
                              : "paused";
}

} // namespace

Json jsonOf(const SweepRun &run) {
  const RunResult &result = run.result;
  Json options = Json::object(), epochs = Json::array();
  for (const Flag *flag : axisFlags())
    if (const auto found = run.chosen.find(flag->name);
        found != run.chosen.end())
      options[keyOf(*flag)] = valueOf(found->second);
  for (const EpochResult &epoch : result.epochs)
    epochs.push_back(epochJson(epoch));
  Json json = {{"event", "run"},
               {"run", run.number},
               {"id", run.id},
               {"options", options},
               {"command", trainCommand(run.options)},
               {"state", stateOf(run)},
               {"epochs", epochs},
               {"digest", result.digest},
               {"seconds", result.seconds},
               {"device", result.device}};
  if (run.failed())
    json["message"] = result.failure;
  return json;
}

bool readResult(const Json &json, RunResult &result) {
  std::string state;
  const auto epochs = json.find("epochs");
  if (!readText(json, "state", state) || epochs == json.end() ||
      !epochs->is_array() || !readText(json, "digest", result.digest) ||
      !readText(json, "device", result.device) ||
      !readNumber(json, "seconds", result.seconds))
    return false;
  for (const Json &epoch : *epochs) {
    EpochResult read;
    if (!readEpoch(epoch, result.epochs.size() + 1, read))
      return false;
    result.epochs.push_back(read);
  }
  result.dropped = state == "dropped";
  return state != "failed" ||
         (readText(json, "message", result.failure) && !result.failure.empty());
}

ResultsFile::~ResultsFile() {
  if (locked >= 0)
    ::close(locked);
}

/// Two sweeps in one folder would train the same runs.
Status ResultsFile::lock() {
  locked = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (locked < 0)
    return badData("cannot write '%s': %s", path.c_str(), std::strerror(errno));
  if (::flock(locked, LOCK_EX | LOCK_NB) == 0)
    return Status::success();
  return badData("expected no other sweep to write '%s', got one that runs",
                 path.c_str());
}

Status ResultsFile::open(const Json &about,
                         const std::vector<std::string> &same,
                         std::vector<SweepRun> &runs) {
  const std::filesystem::path folder =
      std::filesystem::path(path).parent_path();
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    return badData("cannot make the folder '%s': %s", folder.c_str(),
                   error.message().c_str());
  MN_TRY(lock());
  MN_TRY(log.open(path, /*append=*/true));
  bool any = false;
  MN_TRY(readLines(about, same, runs, any));
  return any ? Status::success() : log.write(about);
}

Status ResultsFile::readLines(const Json &about,
                              const std::vector<std::string> &same,
                              std::vector<SweepRun> &runs, bool &any) const {
  std::vector<char> bytes;
  MN_TRY(readFile(path, bytes));
  std::map<std::string, SweepRun *> byId;
  for (SweepRun &run : runs)
    byId[run.id] = &run;
  const std::string_view all(bytes.data(), bytes.size());
  int number = 0;
  for (size_t begin = 0; begin < all.size(); ++number) {
    const size_t end = std::min(all.find('\n', begin), all.size());
    const Json json = Json::parse(all.substr(begin, end - begin), nullptr,
                                  /*allow_exceptions=*/false);
    begin = end + 1;
    const Json event = json.is_object() ? json.value("event", Json()) : Json();
    if (event != (number == 0 ? "sweep" : "run"))
      return badData("'%s', line %d: expected a result of a sweep, got "
                     "something else; another '--out' keeps it",
                     path.c_str(), number + 1);
    if (number == 0) {
      any = true;
      for (const std::string &key : same)
        if (json.value(key, Json()) != about.at(key))
          return badData("'%s': expected a sweep with '%s' %s, got one with "
                         "%s; another '--out' keeps it",
                         path.c_str(), key.c_str(),
                         jsonText(about.at(key)).c_str(),
                         jsonText(json.value(key, Json())).c_str());
      continue;
    }
    std::string id;
    RunResult result;
    if (!readText(json, "id", id) || !readResult(json, result))
      return badData("'%s', line %d: expected the result of a run, got '%s'",
                     path.c_str(), number + 1,
                     jsonText(json).substr(0, 60).c_str());
    if (const auto found = byId.find(id); found != byId.end())
      found->second->result = std::move(result);
  }
  return Status::success();
}

Status ResultsFile::write(const SweepRun &run) {
  return log.write(jsonOf(run));
}

} // namespace mn
