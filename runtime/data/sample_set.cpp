//===- sample_set.cpp - labelled data of any kind -------------------------===//

#include "data/sample_set.h"
#include "core/choices.h"
#include "data/digits.h"
#include "data/image_folder.h"
#include "formats/files.h"
#include "mnistrt/shuffle.h"
#include <algorithm>
#include <cmath>
#include <sys/stat.h>

namespace mn {

namespace {

/// One data set for good: no other seed gives these images.
constexpr uint64_t digitSeed = 1;

enum class Kind {
  digits,
  idx,
  cifar,
  npyFolder,
  npyFiles,
  pictures,
  oneFolder
};

struct Source {
  Kind kind;
  std::vector<std::string> files; ///< npyFiles: inputs, targets, ...
};

bool isFolder(const std::string &path) {
  struct stat about;
  return ::stat(path.c_str(), &about) == 0 && S_ISDIR(about.st_mode);
}

bool exists(const std::string &path) {
  struct stat about;
  return ::stat(path.c_str(), &about) == 0;
}

std::vector<std::string> splitAtCommas(const std::string &text) {
  std::vector<std::string> parts(1);
  for (char c : text)
    if (c == ',')
      parts.emplace_back();
    else
      parts.back() += c;
  return parts;
}

Status findSource(const std::string &path, Source &source) {
  if (path == "digits") {
    source.kind = Kind::digits;
    return Status::success();
  }
  if (isFolder(path)) {
    if (hasIdxFiles(path, "train") || hasIdxFiles(path, "test"))
      source.kind = Kind::idx;
    else if (hasCifarFiles(path, "train") || hasCifarFiles(path, "test"))
      source.kind = Kind::cifar;
    else if (exists(path + "/train_x.npy") || exists(path + "/test_x.npy"))
      source.kind = Kind::npyFolder;
    else if (isFolder(path + "/train") || isFolder(path + "/test"))
      source.kind = Kind::pictures;
    else if (hasPictures(path))
      source.kind = Kind::oneFolder;
    else
      return badData("expected MNIST's or CIFAR's files, 'train_x.npy', or "
                     "folders of pictures in '%s', got none of them",
                     path.c_str());
    return Status::success();
  }
  source.kind = Kind::npyFiles;
  source.files = splitAtCommas(path);
  if (source.files.size() == 2 || source.files.size() == 4)
    return Status::success();
  if (!exists(path))
    return badData("expected 'digits', a folder, or X.npy,Y.npy for '--data', "
                   "got none at '%s'",
                   path.c_str());
  return badData("expected 'digits', a folder, or X.npy,Y.npy for '--data', "
                 "got the file '%s'",
                 path.c_str());
}

/// Keeps the first `limit` rows.
void cut(Array &array, int64_t limit) {
  if (limit <= 0 || array.shape.empty() || array.shape[0] <= limit)
    return;
  const size_t row = array.bytes.size() / static_cast<size_t>(array.shape[0]);
  array.bytes.cut(row * static_cast<size_t>(limit));
  array.shape[0] = limit;
}

/// Integers are classes, others are values.
Status convertTargets(const std::string &path, Array &targets) {
  const bool values = targets.type == Type::f32 || targets.type == Type::f64;
  const Type type = values ? Type::f32 : Type::i32;
  if (targets.type == type)
    return Status::success();
  const size_t count = targets.count();
  std::vector<char> bytes(count * 4);
  for (size_t i = 0; i < count; ++i) {
    const double number = numberAt(targets.type, targets.bytes.data(), i);
    if (!values && (number < INT32_MIN || number > INT32_MAX))
      return badData("'%s': expected classes of 32 bits, got %.0f in row %zu",
                     path.c_str(), number, i);
    const auto value = static_cast<float>(number);
    const auto whole = static_cast<int32_t>(values ? 0 : number);
    std::memcpy(bytes.data() + 4 * i,
                values ? static_cast<const void *>(&value) : &whole, 4);
  }
  targets.type = type;
  targets.bytes = std::move(bytes);
  return Status::success();
}

Status readNpyPair(const std::string &inputs, const std::string &targets,
                   SampleSet &set) {
  MN_TRY(mapArray(inputs, set.inputs));
  MN_TRY(readArray(targets, set.targets));
  for (const auto &[path, array] :
       {std::pair(&inputs, &set.inputs), {&targets, &set.targets}})
    if (array->shape.empty())
      return badData("expected rows in '%s', got a single number",
                     path->c_str());
  set.source = inputs;
  return convertTargets(targets, set.targets);
}

/// `training`: the folder whose classes number those of `path`; empty: none.
Status readPictures(const std::string &path, const std::string &training,
                    int64_t limit, Colors colors, SampleSet &set) {
  ImageFolder folder;
  set.numberedByTraining = !training.empty();
  if (set.numberedByTraining && training != path)
    MN_TRY(listClasses(training, set.classNames));
  MN_TRY(listImageFolder(path, set.classNames, folder));
  set.classNames = folder.classes;
  size_t count = folder.paths.size();
  if (limit > 0)
    count = std::min(count, static_cast<size_t>(limit));
  MN_TRY(readImageFolder(folder, 0, count, set.inputs, colors));
  set.files.assign(folder.paths.begin(),
                   folder.paths.begin() + static_cast<long>(count));
  set.targets.type = Type::i32;
  set.targets.shape = {static_cast<int64_t>(count)};
  set.targets.bytes.edit().resize(count * 4);
  std::memcpy(set.targets.bytes.edit().data(), folder.labels.data(), count * 4);
  set.source = path;
  return Status::success();
}

void makeDigits(Split split, int64_t limit, SampleSet &set) {
  const bool train = split == Split::train;
  int64_t count = train ? digitTrainCount : digitTestCount;
  if (limit > 0)
    count = std::min(count, limit);
  set.inputs.type = Type::u8;
  set.inputs.pixels = true;
  set.inputs.shape = {count, digitSide, digitSide};
  std::vector<char> &pixels = set.inputs.bytes.edit();
  pixels.resize(static_cast<size_t>(count) * digitPixels);
  std::vector<uint8_t> labels(static_cast<size_t>(count));
  drawDigits(digitSeed, train ? DigitPart::train : DigitPart::test, 0, count,
             reinterpret_cast<uint8_t *>(pixels.data()), labels.data());
  set.targets.type = Type::u8;
  set.targets.shape = {count};
  set.targets.bytes = std::vector<char>(labels.begin(), labels.end());
  set.source = "digits";
}

Status readKind(const std::string &path, const Source &source, Split split,
                int64_t limit, Colors colors, SampleSet &set) {
  const std::string name = split == Split::train ? "train" : "test";
  switch (source.kind) {
  case Kind::digits:
    makeDigits(split, limit, set);
    return convertTargets(path, set.targets);
  case Kind::idx:
    MN_TRY(readIdxPair(path, name, set.inputs, set.targets));
    set.source = path;
    return convertTargets(path, set.targets);
  case Kind::cifar:
    MN_TRY(
        readCifar(path, name, colors, set.inputs, set.targets, set.classNames));
    set.numberedByTraining = true;
    set.source = path;
    return convertTargets(path, set.targets);
  case Kind::npyFolder:
    return readNpyPair(path + "/" + name + "_x.npy",
                       path + "/" + name + "_y.npy", set);
  case Kind::npyFiles: {
    const bool second = split == Split::test && source.files.size() == 4;
    return readNpyPair(source.files[second ? 2 : 0],
                       source.files[second ? 3 : 1], set);
  }
  case Kind::pictures:
    return readPictures(path + "/" + name,
                        isFolder(path + "/train") ? path + "/train" : "", limit,
                        colors, set);
  case Kind::oneFolder:
    return readPictures(path, "", limit, colors, set);
  }
  return Status::success();
}

} // namespace

Status parseSplit(const std::string &name, Split &split) {
  size_t number;
  MN_TRY(choose("--split", name, {"test", "train"}, number));
  split = number == 0 ? Split::test : Split::train;
  return Status::success();
}

bool isSampleSource(const std::string &source) {
  return source == "digits" || isFolder(source);
}

std::string classesText(const std::vector<std::string> &classNames) {
  constexpr size_t max = 10;
  const size_t shown = std::min(classNames.size(), max);
  std::string result;
  for (size_t i = 0; i < shown; ++i)
    result += text("%s%zu '%s'", i ? ", " : "", i, classNames[i].c_str());
  if (shown < classNames.size())
    result += text(", ... %zu '%s'", classNames.size() - 1,
                   classNames.back().c_str());
  return result;
}

Status hasTestSet(const std::string &path, bool &has) {
  Source source;
  MN_TRY(findSource(path, source));
  has = source.kind == Kind::digits ||
        (source.kind == Kind::idx && hasIdxFiles(path, "test")) ||
        (source.kind == Kind::cifar && hasCifarFiles(path, "test")) ||
        (source.kind == Kind::npyFolder && exists(path + "/test_x.npy")) ||
        (source.kind == Kind::npyFiles && source.files.size() == 4) ||
        (source.kind == Kind::pictures && isFolder(path + "/test"));
  return Status::success();
}

/// The rows with this mark.
static Array chosenRows(const Array &from, const std::vector<bool> &marks,
                        bool mark) {
  Array result = from;
  std::vector<char> rows;
  const size_t row = from.bytes.size() / marks.size();
  for (size_t i = 0; i < marks.size(); ++i)
    if (marks[i] == mark)
      rows.insert(rows.end(), from.bytes.begin() + i * row,
                  from.bytes.begin() + (i + 1) * row);
  result.bytes = std::move(rows);
  result.shape[0] = std::count(marks.begin(), marks.end(), mark);
  return result;
}

Status splitSamples(double part, SampleSet &set, SampleSet &other) {
  const auto count = static_cast<uint64_t>(set.count());
  const auto moved =
      static_cast<uint64_t>(std::llround(part * static_cast<double>(count)));
  if (moved < 1 || moved >= count)
    return badData("expected rows to train on and to validate with in '%s', "
                   "got %lld rows in all",
                   set.source.c_str(), static_cast<long long>(count));
  const Shuffle shuffle(count, 0, 0);
  std::vector<bool> marks(count, false);
  for (uint64_t i = 0; i < moved; ++i)
    marks[shuffle(i)] = true;
  other = set;
  other.inputs = chosenRows(set.inputs, marks, true);
  other.targets = chosenRows(set.targets, marks, true);
  other.files.clear(), set.files.clear();
  set.inputs = chosenRows(set.inputs, marks, false);
  set.targets = chosenRows(set.targets, marks, false);
  return Status::success();
}

Status readSamples(const std::string &path, Split split, int64_t limit,
                   Colors colors, SampleSet &set) {
  Source source;
  MN_TRY(findSource(path, source));
  set = {};
  MN_TRY(readKind(path, source, split, limit, colors, set));
  if (set.inputs.shape[0] != set.targets.shape[0])
    return badData("'%s': expected as many labels as inputs (%lld), got %lld",
                   set.source.c_str(),
                   static_cast<long long>(set.inputs.shape[0]),
                   static_cast<long long>(set.targets.shape[0]));
  if (set.inputs.shape[0] == 0 || set.inputs.bytes.empty())
    return badData("expected rows in '%s', got none", set.source.c_str());
  cut(set.inputs, limit);
  cut(set.targets, limit);
  return Status::success();
}

} // namespace mn
