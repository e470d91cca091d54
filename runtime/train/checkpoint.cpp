//===- checkpoint.cpp - all that continues a run --------------------------===//

#include "train/checkpoint.h"
#include "core/array.h"
#include "core/digest.h"
#include "formats/atomic_file.h"
#include <charconv>
#include <filesystem>

namespace mn {

namespace {

constexpr const char *format = "mnistc checkpoint, version 2";
/// Beyond the tensors: the header.
constexpr size_t headerBytes = size_t(1) << 20;

DType dtypeOf(Type type) {
  switch (type) {
  case Type::f32:
    return DType::f32;
  case Type::f64:
    return DType::f64;
  case Type::i32:
    return DType::i32;
  case Type::i64:
    return DType::i64;
  case Type::b8:
    return DType::boolean;
  case Type::u8:
    return DType::u8;
  case Type::bf16: // No parameter is one.
    break;
  }
  return DType::u8;
}

/// The rows of the recipe are computed again.
bool isKept(const Parameter &parameter) {
  return std::string_view(parameter.tensor.name) != names::recipe;
}

std::vector<int64_t> shapeOf(const Tensor &tensor) {
  return {tensor.shape, tensor.shape + tensor.rank};
}

std::string valueOf(const SafetensorsMetadata &metadata,
                    const std::string &key) {
  const auto found = metadata.find(key);
  return found == metadata.end() ? "" : found->second;
}

/// A path may be any bytes; metadata is UTF-8. As in a URL.
std::string percentEncoded(const std::string &value) {
  std::string result;
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    result += byte < 0x20 || byte >= 0x7f || c == '%' ? text("%%%02X", byte)
                                                      : std::string(1, c);
  }
  return result;
}

std::string percentDecoded(const std::string &value) {
  std::string result;
  for (size_t i = 0; i < value.size(); ++i) {
    unsigned byte;
    const char *digits = value.data() + i + 1;
    if (value[i] == '%' && i + 2 < value.size() &&
        std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2) {
      result += static_cast<char>(byte);
      i += 2;
    } else {
      result += value[i];
    }
  }
  return result;
}

} // namespace

RunFact recipeFact(const Recipe &recipe) {
  return {"recipe", "the recipe",
          text("'%s, %s (%s), clip %s", recipe.loss, recipe.optimizer,
               recipe.convention, recipe.clip) +
              (recipe.accumulate == 1
                   ? "'"
                   : text(", %lld batches per step'",
                          static_cast<long long>(recipe.accumulate)))};
}

Status CheckpointFile::prefixed(Status status) const {
  if (!status.ok())
    status.message = "'" + path + "': " + status.message;
  return status;
}

bool CheckpointFile::exists() const {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

Status CheckpointFile::makeFolder() const {
  const std::string folder = std::filesystem::path(path).parent_path();
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  return error ? badData("cannot make the folder '%s': %s", folder.c_str(),
                         error.message().c_str())
               : Status::success();
}

Status CheckpointFile::checkWritable() const {
  MN_TRY(makeFolder());
  return mn::checkWritable(path, model.model->parameterBytes + headerBytes);
}

/// Of the names, types and shapes of all tensors.
/// Types have the names that a file of safetensors gives them, in lower case:
/// what programs print may be reworded, a digest may not.
std::string CheckpointFile::modelDigest() const {
  Digest digest;
  for (int i = 0; i < model.model->parameterCount; ++i) {
    const auto &[tensor, role, order] = model.model->parameters[i];
    std::string about = nameOf(dtypeOf(tensor.type));
    for (char &letter : about)
      letter = static_cast<char>(std::tolower(letter));
    about += shapeText(tensor) + std::to_string(static_cast<int>(role));
    digest.addTensor(tensor.name, about.data(), about.size());
  }
  return digest.text();
}

Status CheckpointFile::write(const std::vector<char> &block,
                             const std::vector<RunFact> &run,
                             const Checkpoint &checkpoint) const {
  MN_TRY(makeFolder());
  std::vector<SafetensorsView> views;
  for (int i = 0; i < model.model->parameterCount; ++i) {
    const Parameter &parameter = model.model->parameters[i];
    const Tensor &tensor = parameter.tensor;
    if (isKept(parameter))
      views.push_back({tensor.name, dtypeOf(tensor.type), shapeOf(tensor),
                       block.data() + tensor.offset});
  }
  SafetensorsMetadata metadata = {{"format", format},
                                  {"model", model.model->name},
                                  {"tensors", modelDigest()},
                                  {"step", std::to_string(checkpoint.step)},
                                  {"best", checkpoint.best},
                                  {"history", checkpoint.history},
                                  {"ranks", std::to_string(checkpoint.ranks)}};
  for (const RunFact &fact : run)
    metadata["run." + fact.key] = fact.value;
  for (const auto &[name, value] : checkpoint.options)
    metadata["option." + name] = percentEncoded(value);
  return writeSafetensors(path, std::move(views), metadata);
}

Status CheckpointFile::checkFormat(const SafetensorsFile &file,
                                   const char *name) const {
  const std::string found = valueOf(file.metadata(), "format");
  if (found != format)
    return badData("expected a file of format '%s', got '%s'", format,
                   found.c_str());
  const std::string model = valueOf(file.metadata(), "model");
  if (model != name)
    return badData("expected a checkpoint of model '%s', got one of '%s'", name,
                   model.c_str());
  return Status::success();
}

Status CheckpointFile::checkFacts(const SafetensorsFile &file,
                                  const std::vector<RunFact> &facts) const {
  for (const RunFact &fact : facts) {
    const std::string kept = valueOf(file.metadata(), "run." + fact.key);
    if (kept != fact.value)
      return badData("expected %s %s, as in the checkpoint, got %s",
                     fact.name.c_str(), kept.c_str(), fact.value.c_str());
  }
  return Status::success();
}

Status CheckpointFile::readOptions(const char *modelName,
                                   const std::vector<RunFact> &facts,
                                   OptionTexts &options) const {
  SafetensorsFile file;
  MN_TRY(file.open(path));
  MN_TRY(prefixed(checkFormat(file, modelName)));
  MN_TRY(prefixed(checkFacts(file, facts)));
  const std::string prefix = "option.";
  for (const auto &[key, value] : file.metadata())
    if (key.starts_with(prefix))
      options[key.substr(prefix.size())] = percentDecoded(value);
  return Status::success();
}

Status CheckpointFile::checkModel(const SafetensorsFile &file) const {
  const SafetensorsMetadata &metadata = file.metadata();
  MN_TRY(checkFormat(file, model.model->name));
  if (valueOf(metadata, "tensors") == modelDigest())
    return Status::success();
  // The first difference, where there is one by name.
  for (int i = 0; i < model.model->parameterCount; ++i) {
    const Parameter &parameter = model.model->parameters[i];
    const Tensor &tensor = parameter.tensor;
    const SafetensorsEntry *entry = file.find(tensor.name);
    if (isKept(parameter) && (!entry || entry->shape != shapeOf(tensor) ||
                              entry->type != dtypeOf(tensor.type)))
      return badData(
          "expected a checkpoint of model '%s' with '%s' of shape %s, got "
          "%s",
          model.model->name, tensor.name, shapeText(tensor).c_str(),
          entry ? ("shape " + shapeText(entry->shape)).c_str() : "none");
  }
  return badData("expected a checkpoint of model '%s' with tensors of digest "
                 "%s, got %s",
                 model.model->name, modelDigest().c_str(),
                 valueOf(metadata, "tensors").c_str());
}

Status CheckpointFile::read(const std::vector<RunFact> &run,
                            std::vector<char> &block,
                            Checkpoint &checkpoint) const {
  SafetensorsFile file;
  MN_TRY(file.open(path));
  MN_TRY(prefixed(checkModel(file)));
  if (!file.hadChecksum())
    return badData("'%s': expected a checksum in the metadata, got none",
                   path.c_str());
  const SafetensorsMetadata &metadata = file.metadata();
  MN_TRY(prefixed(checkFacts(file, run)));
  const std::string step = valueOf(metadata, "step");
  const auto [end, error] =
      std::from_chars(step.data(), step.data() + step.size(), checkpoint.step);
  if (error != std::errc() || *end || checkpoint.step < 0)
    return badData("'%s': expected a number of steps, got '%s'", path.c_str(),
                   step.c_str());
  const std::string ranks = valueOf(metadata, "ranks");
  if (!ranks.empty() &&
      (std::from_chars(ranks.data(), ranks.data() + ranks.size(),
                       checkpoint.ranks)
               .ec != std::errc() ||
       checkpoint.ranks < 1 || checkpoint.ranks > maxRanks))
    return badData("'%s': expected a number of ranks, got '%s'", path.c_str(),
                   ranks.c_str());
  checkpoint.best = valueOf(metadata, "best");
  checkpoint.history = valueOf(metadata, "history");
  for (int i = 0; i < model.model->parameterCount; ++i) {
    const Parameter &parameter = model.model->parameters[i];
    const Tensor &tensor = parameter.tensor;
    if (isKept(parameter))
      MN_TRY(file.read(tensor.name, dtypeOf(tensor.type), shapeOf(tensor),
                       block.data() + tensor.offset));
  }
  if (model.whole(block, names::step) != checkpoint.step)
    return badData("'%s': expected step %lld, as the metadata says, got %lld",
                   path.c_str(), static_cast<long long>(checkpoint.step),
                   static_cast<long long>(model.whole(block, names::step)));
  return Status::success();
}

} // namespace mn
