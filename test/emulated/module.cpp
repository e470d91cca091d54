//===- module.cpp - kernels that run on the CPU ---------------------------===//

#include "module.h"
#include "blocks.h"
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace emulated;

namespace {

/// Its section headers are the end of a file. 0: not for this machine.
size_t bytesOf(const void *image) {
  // Tests have code of a few bytes: no more is read than is alike.
  if (std::strncmp(static_cast<const char *>(image), ELFMAG, SELFMAG) != 0)
    return 0;
  Elf64_Ehdr header;
  std::memcpy(&header, image, sizeof header);
  if (header.e_type != ET_DYN || header.e_machine != EM_X86_64)
    return 0;
  return header.e_shoff + size_t(header.e_shnum) * header.e_shentsize;
}

/// Loaded as often as it is asked for: modules share no memory. `file` stays
/// open, for what is loaded by the name of another is that one.
void *open(const void *image, size_t bytes, int &file) {
  file = memfd_create("kernels", MFD_CLOEXEC);
  if (file < 0 || write(file, image, bytes) != ssize_t(bytes))
    return nullptr;
  return dlopen(("/proc/self/fd/" + std::to_string(file)).c_str(),
                RTLD_NOW | RTLD_LOCAL);
}

bool says(const char *name, const char *value) {
  const char *said = std::getenv(name);
  return said && std::strcmp(said, value) == 0;
}

} // namespace

bool emulated::runsBackward() { return says("FAKE_CUDA_ORDER", "backward"); }

std::unique_ptr<Module> Module::load(const void *image) {
  const size_t bytes = image ? bytesOf(image) : 0;
  if (bytes == 0)
    return nullptr;
  std::unique_ptr<Module> made(new Module);
  made->library = open(image, bytes, made->file);
  if (!made->library)
    return nullptr;
  using Get = Kernels (*)();
  const auto get =
      reinterpret_cast<Get>(dlsym(made->library, "emulated_kernels"));
  if (!get)
    return nullptr;
  made->kernels = get();
  return made;
}

Module::~Module() {
  if (library)
    dlclose(library);
  if (file >= 0)
    close(file);
}

const Kernel *Module::find(const std::string &name) const {
  for (size_t i = 0; i < kernels.count; ++i)
    if (name == kernels.first[i].name)
      return &kernels.first[i];
  return nullptr;
}

std::function<std::string()> Module::launch(const Kernel &kernel,
                                            unsigned blocks, unsigned threads,
                                            unsigned shared,
                                            void **arguments) const {
  std::vector<std::vector<std::max_align_t>> copies;
  for (const size_t *bytes = kernel.sizes; *bytes; ++bytes) {
    auto &copy = copies.emplace_back(*bytes / sizeof(std::max_align_t) + 1);
    std::memcpy(copy.data(), arguments[copies.size() - 1], *bytes);
  }
  return [this, &kernel, blocks, threads, shared,
          copies = std::move(copies)]() mutable -> std::string {
    if (threads > kernel.threads || blocks % kernel.cluster != 0)
      return std::string(kernel.name) + ": expected at most " +
             std::to_string(kernel.threads) + " threads and blocks in groups " +
             "of " + std::to_string(kernel.cluster) + ", got " +
             std::to_string(threads) + " and " + std::to_string(blocks);
    std::vector<void *> pointers;
    for (auto &copy : copies)
      pointers.push_back(copy.data());
    const Launch all = {&kernels, &kernel, blocks,
                        threads,  shared,  pointers.data()};
    return run(all, runsBackward() ? Order::backward : Order::forward,
               !says("FAKE_CUDA_ASYNC", "early"));
  };
}
