//===- ExternalData.cpp - numbers in files next to the model --------------===//

#include "lib/Import/TensorData.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace mlir::mnistc;
using namespace mlir::mnistc::importer;

namespace {
struct Entry {
  std::string location;
  int64_t offset = 0;
  std::optional<int64_t> length;
};
} // namespace

static int64_t parseNumber(StringRef key, StringRef text) {
  int64_t number;
  if (text.getAsInteger(10, number) || number < 0)
    fail("expected a number of bytes as the external data's " + key + ", got " +
         quoted(text));
  return number;
}

static Entry parseEntry(const onnx::TensorProto &tensor) {
  Entry entry;
  for (const auto &pair : tensor.external_data()) {
    if (pair.key() == "location")
      entry.location = pair.value();
    else if (pair.key() == "offset")
      entry.offset = parseNumber(pair.key(), pair.value());
    else if (pair.key() == "length")
      entry.length = parseNumber(pair.key(), pair.value());
  }
  if (entry.location.empty())
    fail("expected the location of external data, got none");
  return entry;
}

/// The location must be inside the model's folder.
static void checkLocation(StringRef location) {
  namespace path = llvm::sys::path;
  std::string place = "expected external data inside the model's folder, "
                      "got the location " +
                      quoted(location);
  if (path::is_absolute(location) || location.contains('\0'))
    fail(place);
  for (StringRef part :
       llvm::make_range(path::begin(location), path::end(location)))
    if (part == "..")
      fail(place);
}

const llvm::MemoryBuffer &ExternalData::open(StringRef location) {
  auto known = files.find(location.str());
  if (known != files.end())
    return *known->second;

  namespace fs = llvm::sys::fs;
  namespace path = llvm::sys::path;
  checkLocation(location);
  SmallString<128> root, file, target(folder.empty() ? "." : folder);
  std::error_code error = fs::real_path(target, root);
  path::append(target, location);
  if (!error)
    error = fs::real_path(target, file);
  if (error)
    fail("cannot read the external data " + quoted(location) + ": " +
         error.message());
  // Links have been followed by now.
  StringRef inside = file.str();
  bool isInside =
      root == "/" || (inside.consume_front(root) && inside.starts_with("/"));
  if (!isInside)
    fail("expected external data inside the model's folder, got a link to " +
         quoted(file) + " at " + quoted(location));
  if (!fs::is_regular_file(file))
    fail("expected a file at the location " + quoted(location) +
         " of external data");
  auto buffer = llvm::MemoryBuffer::getFile(file, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    fail("cannot read the external data " + quoted(location) + ": " +
         buffer.getError().message());
  return *(files[location.str()] = std::move(*buffer));
}

StringRef ExternalData::read(const onnx::TensorProto &tensor,
                             int64_t expected) {
  Entry entry = parseEntry(tensor);
  const llvm::MemoryBuffer &file = open(entry.location);
  int64_t size = static_cast<int64_t>(file.getBufferSize());
  if (entry.length && *entry.length != expected)
    fail("expected " + Twine(expected) +
         " bytes of external data, got a length of " + Twine(*entry.length));
  if (entry.offset > size || expected > size - entry.offset)
    fail("expected " + Twine(expected) + " bytes at offset " +
         Twine(entry.offset) + " of " + importer::quoted(entry.location) +
         ", got a file of " + Twine(size));
  return StringRef(file.getBufferStart() + entry.offset, expected);
}
