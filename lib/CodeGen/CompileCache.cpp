//===- CompileCache.cpp - what compilers made before ----------------------===//
//
// A file is the SHA-256 of the bytes and the bytes.
//
//===----------------------------------------------------------------------===//

#include "lib/CodeGen/CompileCache.h"
#include "lib/CodeGen/PartialFile.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CachePruning.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::mnistc;

/// Of all files, which are some hundred programs.
static constexpr uint64_t maxBytes = uint64_t(256) << 20;
static constexpr std::chrono::hours maxAge{24 * 30};

//===----------------------------------------------------------------------===//
// CacheKey
//===----------------------------------------------------------------------===//

CacheKey &CacheKey::add(StringRef part) {
  // With its length: no two lists of parts read alike.
  hash.update((Twine(part.size()) + ":").str());
  hash.update(part);
  return *this;
}

CacheKey &CacheKey::addIdentity(StringRef path) {
  llvm::sys::fs::file_status status;
  add(path);
  if (!llvm::sys::fs::status(path, status))
    add(std::to_string(status.getSize()))
        .add(std::to_string(
            status.getLastModificationTime().time_since_epoch().count()));
  return *this;
}

bool CacheKey::addFolder(StringRef folder) {
  SmallVector<std::string> files;
  std::error_code code;
  for (llvm::sys::fs::recursive_directory_iterator it(folder, code), end;
       !code && it != end; it.increment(code))
    if (it->type() == llvm::sys::fs::file_type::regular_file)
      files.push_back(it->path());
  llvm::sort(files);
  for (const std::string &file : files) {
    auto text = llvm::MemoryBuffer::getFile(file);
    if (!text)
      return false;
    add(StringRef(file).drop_front(folder.size())).add((*text)->getBuffer());
  }
  return !code;
}

std::string CacheKey::text() const {
  llvm::SHA256 copy = hash;
  return llvm::toHex(copy.final(), /*LowerCase=*/true);
}

//===----------------------------------------------------------------------===//
// CompileCache
//===----------------------------------------------------------------------===//

static std::string hashOf(StringRef bytes) {
  auto hash = llvm::SHA256::hash(llvm::arrayRefFromStringRef(bytes));
  return std::string(hash.begin(), hash.end());
}

std::string CompileCache::userFolder() {
  SmallString<128> folder;
  if (!llvm::sys::path::cache_directory(folder))
    return "";
  llvm::sys::path::append(folder, "mnistc", "compiled");
  return folder.str().str();
}

/// With the prefix of the files that llvm::pruneCache may remove.
std::string CompileCache::fileOf(const CacheKey &key) const {
  return folder + "/llvmcache-" + key.text();
}

std::optional<std::string> CompileCache::find(const CacheKey &key) const {
  if (!isOn())
    return std::nullopt;
  int file;
  std::string path = fileOf(key);
  if (llvm::sys::fs::openFileForRead(path, file))
    return std::nullopt;
  auto buffer = llvm::MemoryBuffer::getOpenFile(file, path, /*FileSize=*/-1);
  std::optional<std::string> bytes;
  if (buffer) {
    StringRef text = (*buffer)->getBuffer();
    size_t size = hashOf("").size();
    if (text.size() >= size &&
        hashOf(text.drop_front(size)) == text.take_front(size))
      bytes = text.drop_front(size).str();
  }
  // It was used now, whether or not the disk keeps times of access.
  if (bytes)
    llvm::sys::fs::setLastAccessAndModificationTime(
        file, std::chrono::system_clock::now());
  llvm::sys::fs::file_t handle = file;
  llvm::sys::fs::closeFile(handle);
  return bytes;
}

void CompileCache::add(const CacheKey &key, StringRef bytes) const {
  if (!isOn() || llvm::sys::fs::create_directories(folder))
    return;
  PartialFile partial;
  int file;
  if (partial.create(fileOf(key), file))
    return;
  llvm::raw_fd_ostream os(file, /*shouldClose=*/true);
  os << hashOf(bytes) << bytes;
  os.close();
  bool failed = os.has_error();
  os.clear_error();
  if (failed || partial.commit())
    return;
  llvm::CachePruningPolicy policy;
  policy.Expiration = maxAge;
  policy.MaxSizeBytes = maxBytes;
  llvm::pruneCache(folder, policy);
}
