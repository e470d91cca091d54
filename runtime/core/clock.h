//===- clock.h - how long something takes -----------------------*- C++ -*-===//

#ifndef MNISTRT_CORE_CLOCK_H
#define MNISTRT_CORE_CLOCK_H

#include <chrono>

namespace mn {

using Clock = std::chrono::steady_clock;

inline double secondsBetween(Clock::time_point begin, Clock::time_point end) {
  return std::chrono::duration<double>(end - begin).count();
}
inline double secondsSince(Clock::time_point begin) {
  return secondsBetween(begin, Clock::now());
}

} // namespace mn

#endif // MNISTRT_CORE_CLOCK_H
