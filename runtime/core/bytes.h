//===- bytes.h - the bytes of a tensor --------------------------*- C++ -*-===//

#ifndef MNISTRT_CORE_BYTES_H
#define MNISTRT_CORE_BYTES_H

#include "core/mapped_file.h"
#include <algorithm>
#include <utility>
#include <vector>

namespace mn {

/// Memory of its own, or a part of a mapped file, which copies share.
class Bytes {
public:
  Bytes() = default;
  Bytes(std::vector<char> bytes) : own(std::move(bytes)) {}
  Bytes(std::shared_ptr<const MappedFile> mapped, size_t first, size_t count)
      : file(std::move(mapped)), begins(file->data() + first), count(count) {}

  const char *data() const { return file ? begins : own.data(); }
  size_t size() const { return file ? count : own.size(); }
  bool empty() const { return size() == 0; }
  const char *begin() const { return data(); }
  const char *end() const { return data() + size(); }
  const char &operator[](size_t i) const { return data()[i]; }
  bool operator==(const Bytes &other) const {
    return std::equal(begin(), end(), other.begin(), other.end());
  }

  bool isMapped() const { return file != nullptr; }
  /// An error where a file that is mapped has changed.
  Status check() const { return file ? file->check() : Status::success(); }

  /// To be changed: what is mapped becomes memory of its own.
  std::vector<char> &edit() {
    if (file)
      *this = std::vector<char>(begin(), end());
    return own;
  }
  /// Keeps the first `kept` bytes.
  void cut(size_t kept) {
    count = kept;
    if (file)
      return;
    own.resize(kept);
    own.shrink_to_fit();
  }

private:
  std::vector<char> own;
  std::shared_ptr<const MappedFile> file;
  const char *begins = nullptr;
  size_t count = 0;
};

} // namespace mn

#endif // MNISTRT_CORE_BYTES_H
