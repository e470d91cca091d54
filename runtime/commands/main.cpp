//===- main.cpp - a compiled model as a program ---------------------------===//
//
// Before anything else: how threads wait, which OpenMP asks of the environment,
// once, before main.
//
//===----------------------------------------------------------------------===//

#include "commands/options.h"
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unistd.h>

/// What a processor does in a loop that waits.
static void pauseOnce() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// How often a thread looks, pauses and looks again in about as much time as
/// it takes to wake one that sleeps (docs/results/2026-11-27-cpu-waits.md).
static std::string spinsBeforeSleep() {
  using Clock = std::chrono::steady_clock;
  using Nanoseconds = std::chrono::duration<double, std::nano>;
  constexpr int pauses = 1000, fewest = 100, most = 300'000;
  constexpr double toWake = 40'000; // nanoseconds
  double least = toWake;
  for (int run = 0; run < 3; ++run) {
    const Clock::time_point begin = Clock::now();
    for (int i = 0; i < pauses; ++i)
      pauseOnce();
    least = std::min(least, Nanoseconds(Clock::now() - begin).count() / pauses);
  }
  return std::to_string(
      std::clamp(int(toWake / std::max(least, 0.1)), fewest, most));
}

/// Idle OpenMP threads spin for milliseconds, and where other processes want
/// the cores this slows both: a step of training takes ten times as long. Those
/// that sleep at once take as long to wake as a small step to compute. Unless
/// the user chose otherwise, a program has them spin for about that time, and
/// then sleep: it executes itself again, in the same process, and where that
/// fails continues as it is. GNU's OpenMP counts spins, others know the policy.
static void waitBriefly(char **argv) {
  constexpr const char *policy = "OMP_WAIT_POLICY", *spins = "GOMP_SPINCOUNT";
  if (std::strcmp(mn_model.target, "cpu") != 0 || std::getenv(policy) ||
      std::getenv(spins))
    return;
  char program[4096];
  const ssize_t size = readlink("/proc/self/exe", program, sizeof(program) - 1);
  if (size <= 0 || setenv(policy, "passive", /*replace=*/0) != 0 ||
      setenv(spins, spinsBeforeSleep().c_str(), /*replace=*/0) != 0)
    return;
  program[size] = 0;
  execv(program, argv);
}

int main(int argc, char **argv) {
  // A failed write returns an error, which is reported and leaves nothing
  // half-written, instead of ending the process.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  waitBriefly(argv);
  return mn::runCommandLine(mn_model, argc, argv);
}
