//===- CompileCache.h - what compilers made before --------------*- C++ -*-===//
//
// Cubins and objects by what they were made from: text, options, compilers.
// Whoever finds one has the bytes that the compiler would write again. Any
// number of processes may use a folder; what is damaged is not found.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_CODEGEN_COMPILECACHE_H
#define MNISTC_CODEGEN_COMPILECACHE_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/SHA256.h"
#include <optional>
#include <string>

namespace mlir::mnistc {

/// All that bytes depend on, one after another.
class CacheKey {
public:
  /// `kind` tells keys of different compilers apart.
  explicit CacheKey(StringRef kind) { add(kind); }
  CacheKey &add(StringRef part);
  /// A file as it is on disk, without reading it: a compiler, a library.
  CacheKey &addIdentity(StringRef path);
  /// The names and contents of all files of a folder; false if one cannot be
  /// read.
  bool addFolder(StringRef folder);
  std::string text() const;

private:
  llvm::SHA256 hash;
};

class CompileCache {
public:
  /// Finds and keeps nothing where `folder` is empty.
  explicit CompileCache(std::string folder) : folder(std::move(folder)) {}
  /// That of the user: mnistc/compiled in $XDG_CACHE_HOME or ~/.cache; empty
  /// where there is no such folder.
  static std::string userFolder();

  bool isOn() const { return !folder.empty(); }
  std::optional<std::string> find(const CacheKey &key) const;
  /// Keeps bytes if it can: who cannot write compiles again. What was not used
  /// for long goes, and what was used least where all are too large.
  void add(const CacheKey &key, StringRef bytes) const;

private:
  std::string fileOf(const CacheKey &key) const;
  std::string folder;
};

} // namespace mlir::mnistc

#endif // MNISTC_CODEGEN_COMPILECACHE_H
