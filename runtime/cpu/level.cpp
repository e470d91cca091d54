//===- level.cpp - which instructions a CPU has ---------------------------===//

#include "cpu/level.h"

namespace mn {

#if defined(__x86_64__)
const char *cpuLevel() {
  __builtin_cpu_init();
  if (__builtin_cpu_supports("x86-64-v4"))
    return "x86-64-v4";
  if (__builtin_cpu_supports("x86-64-v3"))
    return "x86-64-v3";
  if (__builtin_cpu_supports("x86-64-v2"))
    return "x86-64-v2";
  return "x86-64";
}
#else
const char *cpuLevel() { return "no x86-64"; }
#endif

/// Levels are named so that a better one compares greater. What is not a level,
/// as "native", was the choice of whoever compiled the model.
Status checkArch(const Model &model) {
  const std::string wanted = model.arch ? model.arch : "";
  const std::string found = cpuLevel();
  if (wanted.rfind("x86-64", 0) != 0 || wanted <= found)
    return Status::success();
  return Status::error(Code::wrongArch, "expected a CPU of level '" + wanted +
                                            "', got one of level '" + found +
                                            "'; compile with '--arch=" + found +
                                            "'");
}

} // namespace mn
