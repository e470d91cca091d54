//===- safetensors_header.cpp - reads and checks a header -----------------===//

#include "core/array.h"
#include "formats/safetensors.h"
#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

namespace mn {

namespace {

struct TypeRow {
  const char *name;
  size_t bytes;
};
constexpr TypeRow typeRows[] = {{"F64", 8}, {"I64", 8}, {"F32", 4},
                                {"I32", 4}, {"U8", 1},  {"BOOL", 1}};

std::optional<DType> typeNamed(const std::string &name) {
  for (size_t i = 0; i < std::size(typeRows); ++i)
    if (name == typeRows[i].name)
      return static_cast<DType>(i);
  return std::nullopt;
}

/// `json` as text for a message, not too long.
std::string shown(const nlohmann::json &json) {
  std::string text =
      json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  if (text.size() > 60)
    text = text.substr(0, 57) + "...";
  return text;
}

bool isCount(const nlohmann::json &json) {
  return json.is_number_unsigned() &&
         json.get<uint64_t>() <= uint64_t(std::numeric_limits<int64_t>::max());
}

Status parseJson(std::string_view header, nlohmann::json &json) {
  if (header.empty() || header[0] != '{')
    return badData("expected a header that begins with '{', got %s",
                   header.empty() ? "an empty one"
                                  : shown(std::string(header, 0, 1)).c_str());
  // The library keeps the last of equal keys; two readers of one file must not
  // see different tensors. Only the outer two levels have keys that matter,
  // and a deeper header is refused below.
  std::vector<std::set<std::string>> keys;
  std::string repeated;
  bool deep = false;
  const auto look = [&](int depth, nlohmann::json::parse_event_t event,
                        nlohmann::json &value) {
    using Event = nlohmann::json::parse_event_t;
    deep |= depth > 4;
    if (event == Event::object_start)
      keys.emplace_back();
    else if (event == Event::object_end)
      keys.pop_back();
    else if (event == Event::key && !keys.back().insert(value).second)
      repeated = value.get<std::string>();
    return !deep;
  };
  json = nlohmann::json::parse(header, look, /*allow_exceptions=*/false);
  if (deep)
    return badData("expected a header of at most 4 levels, got more");
  if (json.is_discarded())
    return badData("expected a header that is JSON, got text that is not");
  if (!repeated.empty())
    return badData("expected one '%s' in the header, got two",
                   repeated.c_str());
  if (!json.is_object())
    return badData("expected a header that is a JSON object, got %s",
                   json.type_name());
  return Status::success();
}

Status parseMetadata(const nlohmann::json &json,
                     SafetensorsMetadata &metadata) {
  if (!json.is_object())
    return badData("expected strings in '__metadata__', got %s",
                   shown(json).c_str());
  for (const auto &[key, value] : json.items()) {
    if (!value.is_string())
      return badData("expected a string for '%s' in '__metadata__', got %s",
                     key.c_str(), shown(value).c_str());
    metadata[key] = value.get<std::string>();
  }
  return Status::success();
}

Status parseShape(const std::string &name, const nlohmann::json &json,
                  SafetensorsEntry &entry, uint64_t &bytes) {
  bytes = bytesOf(entry.type);
  bool good = json.is_array();
  for (size_t i = 0; good && i < json.size(); ++i)
    good = isCount(json[i]);
  if (!good)
    return badData("tensor '%s': expected a 'shape' of integers, got %s",
                   name.c_str(), shown(json).c_str());
  bool empty = false;
  for (const nlohmann::json &size : json) {
    entry.shape.push_back(size.get<int64_t>());
    empty |= entry.shape.back() == 0;
  }
  for (const int64_t size : entry.shape)
    if (!empty && __builtin_mul_overflow(bytes, uint64_t(size), &bytes))
      return badData("tensor '%s': expected fewer than 2^64 bytes, got shape "
                     "%s",
                     name.c_str(), shown(json).c_str());
  if (empty)
    bytes = 0;
  return Status::success();
}

Status parseOffsets(const std::string &name, const nlohmann::json &json,
                    uint64_t dataBytes, SafetensorsEntry &entry) {
  if (!json.is_array() || json.size() != 2 || !isCount(json[0]) ||
      !isCount(json[1]) || json[0] > json[1])
    return badData("tensor '%s': expected a beginning and an end in "
                   "'data_offsets', got %s",
                   name.c_str(), shown(json).c_str());
  entry.begin = json[0].get<uint64_t>();
  entry.end = json[1].get<uint64_t>();
  if (entry.end > dataBytes)
    return badData(
        "tensor '%s' ends at byte %llu of the data, but the file has "
        "only %llu: it is cut off",
        name.c_str(), static_cast<unsigned long long>(entry.end),
        static_cast<unsigned long long>(dataBytes));
  return Status::success();
}

Status parseEntry(const std::string &name, const nlohmann::json &json,
                  uint64_t dataBytes, SafetensorsEntry &entry) {
  entry.name = name;
  for (const char *key : {"dtype", "shape", "data_offsets"})
    if (!json.is_object() || !json.contains(key))
      return badData("tensor '%s': expected a '%s', got %s", name.c_str(), key,
                     shown(json).c_str());
  if (json.size() != 3)
    return badData("tensor '%s': expected 'dtype', 'shape' and 'data_offsets' "
                   "only, got %s",
                   name.c_str(), shown(json).c_str());
  const nlohmann::json &type = json["dtype"];
  const std::optional<DType> known =
      type.is_string() ? typeNamed(type.get<std::string>()) : std::nullopt;
  if (!known)
    return badData(
        "tensor '%s': expected dtype F64, I64, F32, I32, U8 or BOOL, "
        "got %s",
        name.c_str(), shown(type).c_str());
  entry.type = *known;
  uint64_t bytes = 0;
  MN_TRY(parseShape(name, json["shape"], entry, bytes));
  MN_TRY(parseOffsets(name, json["data_offsets"], dataBytes, entry));
  if (entry.end - entry.begin != bytes)
    return badData("tensor '%s': expected %llu bytes for %s of shape %s, got "
                   "%llu",
                   name.c_str(), static_cast<unsigned long long>(bytes),
                   nameOf(entry.type), shown(json["shape"]).c_str(),
                   static_cast<unsigned long long>(entry.end - entry.begin));
  return Status::success();
}

/// That the tensors, in the order of their data, leave no byte out and share
/// none.
Status checkCover(const std::vector<SafetensorsEntry> &entries,
                  uint64_t dataBytes) {
  uint64_t end = 0;
  const std::string *previous = nullptr;
  for (const SafetensorsEntry &entry : entries) {
    if (entry.begin < end)
      return badData("tensors '%s' and '%s' overlap", previous->c_str(),
                     entry.name.c_str());
    if (entry.begin > end)
      return badData("expected tensor '%s' at byte %llu of the data, got it at "
                     "%llu: nothing describes the bytes between",
                     entry.name.c_str(), static_cast<unsigned long long>(end),
                     static_cast<unsigned long long>(entry.begin));
    end = entry.end;
    previous = &entry.name;
  }
  if (end != dataBytes)
    return badData("expected %llu bytes of tensors, got %llu",
                   static_cast<unsigned long long>(end),
                   static_cast<unsigned long long>(dataBytes));
  return Status::success();
}

} // namespace

const char *nameOf(DType type) {
  return typeRows[static_cast<size_t>(type)].name;
}

size_t bytesOf(DType type) { return typeRows[static_cast<size_t>(type)].bytes; }

Status parseSafetensorsHeader(std::string_view header, uint64_t dataBytes,
                              std::vector<SafetensorsEntry> &entries,
                              SafetensorsMetadata &metadata) {
  nlohmann::json json;
  MN_TRY(parseJson(header, json));
  std::vector<SafetensorsEntry> found;
  SafetensorsMetadata strings;
  for (const auto &[name, value] : json.items()) {
    if (name == "__metadata__") {
      MN_TRY(parseMetadata(value, strings));
      continue;
    }
    MN_TRY(parseEntry(name, value, dataBytes, found.emplace_back()));
  }
  std::sort(found.begin(), found.end(),
            [](const SafetensorsEntry &a, const SafetensorsEntry &b) {
              return std::tie(a.begin, a.end, a.name) <
                     std::tie(b.begin, b.end, b.name);
            });
  MN_TRY(checkCover(found, dataBytes));
  entries = std::move(found);
  metadata = std::move(strings);
  return Status::success();
}

} // namespace mn
