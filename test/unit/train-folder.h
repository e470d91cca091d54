//===- train-folder.h - a folder for one test -------------------*- C++ -*-===//

#ifndef TRAIN_FOLDER_H
#define TRAIN_FOLDER_H

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace test {

/// Empty at first, gone at the end.
class Folder {
public:
  Folder() {
    path = std::filesystem::temp_directory_path() / "mn-train-XXXXXX";
    mkdtemp(path.data());
  }
  ~Folder() { std::filesystem::remove_all(path); }

  std::string operator/(const std::string &name) const {
    return path + "/" + name;
  }
  size_t size() const {
    return static_cast<size_t>(
        std::distance(std::filesystem::directory_iterator(path), {}));
  }

  std::string path;
};

inline std::string contentOf(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void write(const std::string &path, const std::string &content) {
  std::ofstream(path, std::ios::binary) << content;
}

} // namespace test

#endif // TRAIN_FOLDER_H
