//===- options.h - which cases are run --------------------------*- C++ -*-===//

#ifndef MNISTC_TEST_GPU_OPTIONS_H
#define MNISTC_TEST_GPU_OPTIONS_H

#include <optional>
#include <string>

namespace test {

/// Every `count`-th case, from number `index`.
struct Part {
  size_t index = 0, count = 1;
};

struct Options {
  std::string prefix;
  Part part;
  std::optional<double> most; ///< operations, where the GPU is emulated
};

/// What follows the two files' names; false if it is nothing that we know.
bool parse(int count, char **arguments, Options &options);

} // namespace test

#endif // MNISTC_TEST_GPU_OPTIONS_H
