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

/// Idle OpenMP threads spin for milliseconds, and where other processes want
/// the cores this slows both: a step of training takes ten times as long.
/// Unless the user chose otherwise, a program has them sleep: it executes
/// itself again, in the same process, and where that fails continues as it is.
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
  // A failed write returns an error, which is reported and leaves nothing
  // half-written, instead of ending the process.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  waitAsleep(argv);
  return mn::runCommandLine(mn_model, argc, argv);
}
