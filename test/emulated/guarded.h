//===- guarded.h - memory between pages that nobody has ---------*- C++ -*-===//
//
// What reads or writes beside it, up to 64 MiB away, ends the program, as it
// ends a kernel on a GPU.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_TEST_EMULATED_GUARDED_H
#define MNISTC_TEST_EMULATED_GUARDED_H

#include <cstring>
#include <memory>
#include <new>
#include <sys/mman.h>

namespace emulated {

/// Gives pages back.
struct Unmap {
  size_t bytes = 0;
  void operator()(char *mapped) const { munmap(mapped, bytes); }
};

class GuardedMemory {
public:
  /// So many bytes, all of this value, at a multiple of `alignment`, which
  /// divides pages.
  void assign(size_t count, size_t alignment, char value) {
    bytes = (count + alignment - 1) / alignment * alignment;
    if (const size_t needed = (bytes + page) / page * page; needed > pages)
      map(needed);
    std::memset(memory.get() + beside, value, pages);
  }
  /// The last bytes before the pages that nobody has.
  char *data() { return memory.get() + beside + pages - bytes; }

private:
  static constexpr size_t page = 4096, beside = size_t(64) << 20;

  void map(size_t needed) {
    const size_t all = 2 * beside + needed;
    void *mapped = mmap(nullptr, all, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED)
      throw std::bad_alloc();
    memory = {static_cast<char *>(mapped), Unmap{all}};
    if (mprotect(memory.get() + beside, needed, PROT_READ | PROT_WRITE) != 0)
      throw std::bad_alloc();
    pages = needed;
  }

  std::unique_ptr<char, Unmap> memory;
  size_t pages = 0, bytes = 0;
};

} // namespace emulated

#endif // MNISTC_TEST_EMULATED_GUARDED_H
