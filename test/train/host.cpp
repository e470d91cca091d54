//===- host.cpp - a program that uses OpenMP and a compiled model ---------===//
//
// usage: host LIBRARY.so INPUT OUTPUT ROWS HOW
//
// Infers twice, the second time another input, then once more the first one,
// whose result is written: what one call leaves does not reach the next.
//
//===----------------------------------------------------------------------===//

#include "../../runtime/include/mnist.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <functional>
#include <omp.h>
#include <string>
#include <thread>
#include <vector>

static void check(bool good, const char *what) {
  if (good)
    return;
  std::fprintf(stderr, "error: %s\n", what);
  std::exit(1);
}

static std::vector<char> read(const char *path) {
  std::FILE *file = std::fopen(path, "rb");
  check(file, path);
  std::vector<char> bytes(1 << 20);
  bytes.resize(std::fread(bytes.data(), 1, bytes.size(), file));
  std::fclose(file);
  return bytes;
}

/// Runs `call` as `how` says.
static void callAs(const std::string &how, const std::function<void()> &call) {
  if (how == "dynamic")
    omp_set_dynamic(1);
  if (how == "fewer")
    omp_set_num_threads(1);
  if (how == "more")
    omp_set_num_threads(7);
  if (how == "limit")
    omp_set_max_active_levels(0);
  if (how == "nested")
    omp_set_max_active_levels(3);
  if (how == "thread") {
    std::thread(call).join();
  } else if (how == "inside" || how == "nested") {
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == omp_get_num_threads() - 1)
      call();
  } else {
    call();
  }
}

int main(int argc, char **argv) {
  check(argc == 6, "expected five arguments");
  void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  check(library, argv[1]);
  using FindModel = const mn_compiled_model *(*)();
  const auto model = (FindModel)dlsym(library, "tested_model");
  const auto open = (decltype(&mn_open))dlsym(library, "mn_open");
  const auto infer = (decltype(&mn_infer))dlsym(library, "mn_infer");
  const auto close = (decltype(&mn_close))dlsym(library, "mn_close");
  const std::vector<char> input = read(argv[2]);
  std::vector<char> other(input.size());
  const int64_t rows = std::atoll(argv[4]);
  std::vector<float> result(size_t(rows) * 10);

  mn_session *session = nullptr;
  check(model && open(model(), nullptr, &session) == MN_OK, "mn_open");
  const auto inferFrom = [&](const std::vector<char> &from) {
    const mn_const_buffer in = {nullptr, from.data(), from.size()};
    const mn_buffer out = {nullptr, result.data(),
                           result.size() * sizeof(float)};
    check(infer(session, rows, &in, 1, &out, 1) == MN_OK, "mn_infer");
  };
  inferFrom(other);
  callAs(argv[5], [&] {
    inferFrom(other);
    inferFrom(input);
  });
  close(session);
  std::FILE *file = std::fopen(argv[3], "wb");
  check(file &&
            std::fwrite(result.data(), sizeof(float), result.size(), file) ==
                result.size() &&
            std::fclose(file) == 0,
        argv[3]);
}
