//===- CudaFolders.cpp - where CUDA's libraries may be --------------------===//

#include "lib/CodeGen/CudaFolders.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include <cstdlib>

using namespace mlir;
using namespace mlir::mnistc;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

using Folders = std::vector<std::string>;

static void addNew(Folders &folders, const Twine &folder) {
  std::string text = folder.str();
  if (!llvm::is_contained(folders, text))
    folders.push_back(std::move(text));
}

/// The entries of a folder, in order; none if it cannot be read.
static Folders entriesOf(const Twine &folder) {
  Folders entries;
  std::error_code code;
  for (fs::directory_iterator it(folder, code), end; !code && it != end;
       it.increment(code))
    entries.push_back(it->path());
  llvm::sort(entries);
  return entries;
}

/// PREFIX/lib/python3*/{site,dist}-packages/nvidia/*/lib
static void addPackages(StringRef prefix, Folders &folders) {
  for (const std::string &python : entriesOf(prefix + "/lib")) {
    if (!path::filename(python).starts_with("python3"))
      continue;
    for (StringRef packages : {"site-packages", "dist-packages"})
      for (const std::string &package :
           entriesOf(python + "/" + packages + "/nvidia"))
        if (fs::is_directory(package + "/lib"))
          addNew(folders, package + "/lib");
  }
}

/// A script that starts another Python, as version managers put on PATH.
static bool isScript(StringRef file) {
  auto bytes = llvm::MemoryBuffer::getFileSlice(file, 2, 0);
  return bytes && (*bytes)->getBuffer() == "#!";
}

static void addPython(StringRef bin, Folders &folders) {
  std::string python = (bin + "/python3").str();
  if (!fs::can_execute(python))
    return;
  if (isScript(python)) {
    // pyenv: ROOT/shims/python3 starts one of ROOT/versions/*/bin/python3.
    for (const std::string &version :
         entriesOf(path::parent_path(bin) + "/versions"))
      addPackages(version, folders);
    return;
  }
  // A virtual environment's python3 links to the one it was made from; either
  // may have the packages.
  addPackages(path::parent_path(bin), folders);
  llvm::SmallString<256> real;
  if (!fs::real_path(python, real))
    addPackages(path::parent_path(path::parent_path(real)), folders);
}

/// Of the environment that is on, and of every python3 on PATH.
static void addPythons(Folders &folders) {
  if (const char *environment = std::getenv("VIRTUAL_ENV"))
    addPackages(environment, folders);
  const char *all = std::getenv("PATH");
  SmallVector<StringRef> bins;
  StringRef(all ? all : "").split(bins, ':', -1, /*KeepEmpty=*/false);
  for (StringRef bin : bins)
    addPython(bin.size() > 1 ? bin.rtrim('/') : bin, folders);
}

Folders mlir::mnistc::cudaLibraryFolders() {
  Folders folders;
  const char *wanted = std::getenv("MNISTC_CUDA_PATH");
  SmallVector<StringRef> roots;
  StringRef(wanted ? wanted : "").split(roots, ':', -1, /*KeepEmpty=*/false);
  for (StringRef root : roots)
    for (StringRef sub : {"", "/lib64", "/lib"})
      addNew(folders, root + sub);
  addNew(folders, "");
  for (StringRef sub : {"lib64", "lib"})
    addNew(folders, "/usr/local/cuda/" + sub);
  addPythons(folders);
  if (const char *home = std::getenv("HOME"))
    for (StringRef sub : {"lib64", "lib"})
      addNew(folders, Twine(home) + "/.cache/mnistc/cuda/" + sub);
  return folders;
}

std::string mlir::mnistc::findNvcc() {
  const char *wanted = std::getenv("MNISTC_CUDA_PATH");
  SmallVector<StringRef> roots;
  StringRef(wanted ? wanted : "").split(roots, ':', -1, /*KeepEmpty=*/false);
  for (StringRef root : roots)
    if (std::string file = (root + "/bin/nvcc").str(); fs::can_execute(file))
      return file;
  if (llvm::ErrorOr<std::string> file = llvm::sys::findProgramByName("nvcc"))
    return *file;
  std::string usual = "/usr/local/cuda/bin/nvcc";
  return fs::can_execute(usual) ? usual : "";
}
