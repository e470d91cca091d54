//===- library_search.cpp - finding NVIDIA's libraries --------------------===//
//
// See library_search.h.
//
//===----------------------------------------------------------------------===//

#include "cuda/library_search.h"
#include "core/executor.h"
#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace fs = std::filesystem;

namespace mn::cuda {

namespace {

using Folders = std::vector<std::string>;

Folders splitAtColons(const char *text) {
  Folders parts;
  std::istringstream stream(text ? text : "");
  for (std::string part; std::getline(stream, part, ':');)
    if (!part.empty())
      parts.push_back(part);
  return parts;
}

/// PREFIX/lib/python3*/{site,dist}-packages/nvidia/*/lib
void addPythonFolders(const fs::path &prefix, Folders &folders) {
  std::error_code error;
  for (const auto &python : fs::directory_iterator(prefix / "lib", error)) {
    if (!python.path().filename().string().starts_with("python3"))
      continue;
    for (const char *packages : {"site-packages", "dist-packages"})
      for (const auto &package :
           fs::directory_iterator(python.path() / packages / "nvidia", error))
        if (fs::is_directory(package.path() / "lib", error))
          folders.push_back(package.path() / "lib");
  }
}

/// A script that starts another Python, as version managers put on PATH.
bool isScript(const fs::path &file) {
  char start[2] = {};
  return std::ifstream(file, std::ios::binary).read(start, 2) &&
         start[0] == '#' && start[1] == '!';
}

/// Of the active environment, and of every python3 on PATH. None is executed.
void addPythons(Folders &folders) {
  if (const char *environment = std::getenv("VIRTUAL_ENV"))
    addPythonFolders(environment, folders);
  std::error_code error;
  for (const std::string &folder : splitAtColons(std::getenv("PATH"))) {
    const fs::path python = fs::path(folder) / "python3";
    if (!fs::exists(python, error))
      continue;
    if (isScript(python)) {
      // pyenv: ROOT/shims/python3 starts one of ROOT/versions/*/bin/python3.
      const fs::path root = fs::path(folder).parent_path();
      for (const auto &version :
           fs::directory_iterator(root / "versions", error))
        addPythonFolders(version.path(), folders);
      continue;
    }
    // A virtual environment's python3 links to the one it was made from, and
    // either may have the packages.
    addPythonFolders(fs::path(folder).parent_path(), folders);
    const fs::path real = fs::canonical(python, error);
    if (!error && real.parent_path() != fs::path(folder))
      addPythonFolders(real.parent_path().parent_path(), folders);
  }
}

/// An empty folder stands for the loader's own places.
Folders searchFolders() {
  Folders folders;
  // A library's folder, or a toolkit's.
  for (const std::string &root : splitAtColons(std::getenv("MNISTC_CUDA_PATH")))
    for (const char *sub : {"", "/lib64", "/lib"})
      folders.push_back(root + sub);
  folders.emplace_back();
  folders.emplace_back("/usr/local/cuda/lib64");
  folders.emplace_back("/usr/local/cuda/lib");
  addPythons(folders);
  Folders once;
  for (std::string &folder : folders)
    if (std::find(once.begin(), once.end(), folder) == once.end())
      once.push_back(std::move(folder));
  return once;
}

void *openIn(const std::string &folder, const char *file, std::string &why) {
  const std::string path = folder.empty() ? file : folder + "/" + file;
  std::error_code error;
  if (!folder.empty() && !fs::exists(path, error))
    return nullptr;
  // Global: cuDNN opens parts of itself and others by name.
  if (void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL))
    return library;
  if (!folder.empty())
    why = dlerror();
  return nullptr;
}

std::string textOf(const Folders &folders) {
  std::string places;
  for (const std::string &folder : folders)
    places += (places.empty() ? "" : ", ") +
              (folder.empty() ? "the loader's path" : folder);
  return places;
}

} // namespace

Status openLibrary(const char *file, void *&library) {
  const Folders folders = searchFolders();
  std::string why;
  for (const std::string &folder : folders)
    if ((library = openIn(folder, file, why)))
      return Status::success();
  if (!why.empty())
    return Status::error(Code::noLibrary, std::string("'") + file +
                                              "' cannot be loaded: " + why);
  return Status::error(
      Code::noLibrary,
      std::string("expected '") + file + "', which the plan calls, in one of " +
          textOf(folders) + ", got none; MNISTC_CUDA_PATH names more folders");
}

void openOptionalLibrary(const char *file) {
  std::string why;
  for (const std::string &folder : searchFolders())
    if (openIn(folder, file, why))
      return;
}

} // namespace mn::cuda

std::string mn::librarySearch() { return cuda::textOf(cuda::searchFolders()); }

namespace mn::cuda {

Status findFunction(void *library, const char *file, const char *function,
                    void *&address) {
  address = dlsym(library, function);
  if (address)
    return Status::success();
  return Status::error(Code::noLibrary, std::string("'") + file +
                                            "' is too old: it lacks '" +
                                            function + "'");
}

} // namespace mn::cuda
