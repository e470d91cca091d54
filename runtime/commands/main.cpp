//===- main.cpp - a compiled model as a program ---------------------------===//
//
// Before anything else: how threads wait, which OpenMP asks of the environment,
// once, before main.
//
//===----------------------------------------------------------------------===//

#include "commands/options.h"
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

/// Threads that have nothing to do spin for milliseconds, and where others want
/// the cores they keep each other from working: a step of training takes ten
/// times as long. A program has them sleep, unless the user chose; it begins
/// anew, in the same process, and where that fails goes on as it is.
static void waitAsleep(char **argv) {
  constexpr const char *policy = "OMP_WAIT_POLICY";
  if (std::strcmp(mn_model.target, "cpu") != 0 || std::getenv(policy) ||
      std::getenv("GOMP_SPINCOUNT"))
    return;
  char program[4096];
  const ssize_t size = readlink("/proc/self/exe", program, sizeof(program) - 1);
  if (size <= 0 || setenv(policy, "passive", /*replace=*/0) != 0)
    return;
  program[size] = 0;
  execv(program, argv);
}

int main(int argc, char **argv) {
  // What cannot be written is an error of the write, which is told and leaves
  // nothing half-written, not the end of the process.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  waitAsleep(argv);
  return mn::runCommandLine(mn_model, argc, argv);
}
