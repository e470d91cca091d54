//===- TunedTable.cpp - choices that were measured ------------------------===//

#include "lib/IR/Plan/TunedTable.h"
#include "lib/IR/Plan/Schedule.h"
#include "lib/IR/Plan/StepBody.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace mlir::mnistc;
namespace json = llvm::json;

/// Of the file; another one is refused.
static constexpr int64_t tableVersion = 1;

bool mlir::mnistc::isTunable(StepOp step) {
  return hasContraction(step) && !readsRounded(rootOf(step)) &&
         getElementTypeOrSelf(rootOf(step)->getResult(0).getType()).isF32();
}

std::string mlir::mnistc::tuningKey(StepOp step) {
  auto root = cast<RootOpInterface>(rootOf(step));
  std::string key = root->getName().stripDialect().str() + " " +
                    llvm::join(root.getShapeText().fields, ", ");
  if (!rootReadsMemory(step))
    key += ", with a prologue";
  if (!matchLibraryEpilogue(step))
    key += ", with an epilogue";
  return key;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

template <typename... Args>
static llvm::Error wrong(const char *format, Args &&...args) {
  return llvm::createStringError(
      llvm::formatv(format, std::forward<Args>(args)...));
}

/// A schedule without "#plan.", or null.
static Attribute parseSchedule(StringRef text, MLIRContext *context) {
  // What is wrong with it is said by the caller.
  ScopedDiagnosticHandler quiet(context,
                                [](Diagnostic &) { return success(); });
  size_t read = 0;
  std::string whole = ("#plan." + text).str();
  Attribute schedule = parseAttribute(whole, context, Type(), &read);
  return schedule && read == whole.size() && isSchedule(schedule) ? schedule
                                                                  : Attribute();
}

static llvm::Expected<TunedTable::Entry>
parseEntry(StringRef key, const json::Value &value, MLIRContext *context) {
  const json::Object *object = value.getAsObject();
  std::optional<StringRef> on = object ? object->getString("on") : std::nullopt;
  std::optional<Impl> impl = on ? symbolizeImpl(*on) : std::nullopt;
  if (!impl || *impl == Impl::undecided)
    return wrong("expected what computes '{0}' under \"on\", got {1}", key,
                 on ? ("'" + *on + "'").str() : "none");
  TunedTable::Entry entry;
  entry.choice.impl = *impl;
  if (const json::Value *schedule = object->get("schedule")) {
    std::optional<StringRef> text = schedule->getAsString();
    if (text)
      entry.choice.schedule = parseSchedule(*text, context);
    if (!entry.choice.schedule)
      return wrong("expected a schedule for '{0}', got '{1}'", key,
                   text ? *text : "no string");
  }
  entry.us = object->getNumber("us").value_or(0);
  entry.untunedUs = object->getNumber("untuned_us").value_or(0);
  return entry;
}

static llvm::Error parseEntries(const json::Object &precisions,
                                TunedTable &table, MLIRContext *context) {
  for (const auto &[name, value] : precisions) {
    const json::Object *keys = value.getAsObject();
    if (!symbolizePrecision(StringRef(name)) || !keys)
      return wrong("expected choices for a precision of strict, fp32, tf32 or "
                   "bf16, got '{0}'",
                   StringRef(name));
    for (const auto &[key, choice] : *keys) {
      llvm::Expected<TunedTable::Entry> entry =
          parseEntry(key, choice, context);
      if (!entry)
        return entry.takeError();
      table.entries[StringRef(name).str()][StringRef(key).str()] = *entry;
    }
  }
  return llvm::Error::success();
}

llvm::Expected<TunedTable> TunedTable::parse(StringRef text,
                                             MLIRContext *context) {
  llvm::Expected<json::Value> value = json::parse(text);
  if (!value) {
    std::string message = llvm::toString(value.takeError());
    return wrong("expected choices in JSON, got text that is none: {0}",
                 StringRef(message).split('\n').first);
  }
  const json::Object *object = value->getAsObject();
  std::optional<int64_t> version =
      object ? object->getInteger("mnistc_choices") : std::nullopt;
  if (version != tableVersion)
    return wrong("expected choices of version {0}, as --tune writes them, got "
                 "{1}",
                 tableVersion, version ? std::to_string(*version) : "none");
  TunedTable table;
  std::optional<StringRef> gpu = object->getString("gpu"),
                           arch = object->getString("arch");
  const json::Object *precisions = object->getObject("choices");
  if (!gpu || !arch || !precisions)
    return wrong("expected \"gpu\", \"arch\" and \"choices\", got {0}",
                 gpu ? arch ? "no choices" : "no arch" : "no gpu");
  table.gpu = gpu->str(), table.arch = arch->str();
  if (const json::Object *libraries = object->getObject("libraries"))
    for (const auto &[name, versionOf] : *libraries)
      table.libraries[StringRef(name).str()] =
          versionOf.getAsString().value_or("").str();
  if (llvm::Error error = parseEntries(*precisions, table, context))
    return error;
  return table;
}

llvm::Expected<TunedTable> TunedTable::read(StringRef path,
                                            MLIRContext *context) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return wrong("{0}: expected a readable file, got '{1}'", path,
                 buffer.getError().message());
  llvm::Expected<TunedTable> table = parse((*buffer)->getBuffer(), context);
  if (!table)
    return wrong("{0}: {1}", path, llvm::toString(table.takeError()));
  return table;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static std::string quoted(StringRef text) {
  std::string result;
  llvm::raw_string_ostream(result) << json::Value(text);
  return result;
}

static std::string entryText(const TunedTable::Entry &entry) {
  std::string text = "{\"on\": " + quoted(stringifyImpl(entry.choice.impl));
  if (entry.choice.schedule) {
    std::string schedule;
    llvm::raw_string_ostream(schedule) << entry.choice.schedule;
    text += ", \"schedule\": " +
            quoted(StringRef(schedule).substr(StringRef("#plan.").size()));
  }
  llvm::raw_string_ostream(text) << llvm::format(
      ", \"us\": %.2f, \"untuned_us\": %.2f}", entry.us, entry.untunedUs);
  return text;
}

/// One entry a line, so that tables can be compared.
std::string TunedTable::text() const {
  std::string text =
      "{\n  \"mnistc_choices\": " + std::to_string(tableVersion) +
      ",\n  \"gpu\": " + quoted(gpu) + ",\n  \"arch\": " + quoted(arch) +
      ",\n  \"libraries\": {";
  StringRef separator = "";
  for (const auto &[name, version] : libraries) {
    text += (separator + quoted(name) + ": " + quoted(version)).str();
    separator = ", ";
  }
  text += "},\n  \"choices\": {";
  separator = "\n";
  for (const auto &[precision, keys] : entries) {
    text += (separator + "    " + quoted(precision) + ": {").str();
    StringRef comma = "\n";
    for (const auto &[key, entry] : keys) {
      text += (comma + "      " + quoted(key) + ": " + entryText(entry)).str();
      comma = ",\n";
    }
    text += "\n    }";
    separator = ",\n";
  }
  return text + "\n  }\n}\n";
}

const TunedTable::Entry *TunedTable::find(StringRef precision,
                                          StringRef key) const {
  auto keys = entries.find(precision.str());
  if (keys == entries.end())
    return nullptr;
  auto entry = keys->second.find(key.str());
  return entry == keys->second.end() ? nullptr : &entry->second;
}
