//===- array.h - memory that a step has while it runs -----------*- C++ -*-===//
//
// A program's text includes no large header of the standard library: to read
// <vector> and <algorithm> would take longer than to compile a small model.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CPU_ARRAY_H
#define MNISTRT_CPU_ARRAY_H

#include <cstddef>

namespace mn::detail {

template <typename T, typename Count>
void fill(T *first, Count count, const T &value) {
  for (Count i = 0; i < count; ++i)
    first[i] = value;
}

/// `count` elements that begin as T() or as `value`.
template <typename T> class Array {
public:
  Array() = default;
  explicit Array(size_t count) { reset(count); }
  Array(size_t count, const T &value) : Array(count) {
    fill(first, count, value);
  }
  Array(const Array &) = delete;
  Array &operator=(const Array &) = delete;
  ~Array() { delete[] first; }

  /// Other elements, all T().
  void reset(size_t size) {
    delete[] first;
    first = new T[size]();
    count = size;
  }

  size_t size() const { return count; }
  T *data() { return first; }
  const T *data() const { return first; }
  T &operator[](size_t i) { return first[i]; }
  const T &operator[](size_t i) const { return first[i]; }

private:
  T *first = nullptr;
  size_t count = 0;
};

} // namespace mn::detail

#endif // MNISTRT_CPU_ARRAY_H
