//===- executor.cpp - what the executor promises --------------------------===//
//
// Errors before anything runs, two slots under way at once, the same bits with
// and without a graph, profiles and traces.
//
//===----------------------------------------------------------------------===//

#include "core/executor.h"
#include "kernels.h"
#include "tables.h"
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>

namespace test {

namespace {

struct Checks {
  int &passed, &failed;
  void expect(bool good, const char *what, const std::string &found) {
    ++(good ? passed : failed);
    if (!good)
      std::printf("FAIL executor: %s, found: %s\n", what, found.c_str());
  }
  void expect(const mn::Status &status) {
    expect(status.ok(), "no error", status.message);
  }
};

/// Plan 0 is small (copies in its graph), plan 1 large (copies outside of it).
std::vector<Case> addition() {
  std::vector<Case> cases;
  for (Case &c : otherCases())
    if (c.name.starts_with("pointwise "))
      cases.push_back(c);
  return cases;
}

void fill(mn::Executor &executor, const Case &c, int plan, int slot,
          float value) {
  for (size_t n = 0; n < c.operands.size(); ++n) {
    auto *to = static_cast<float *>(executor.input(plan, int(n), slot));
    for (int64_t i = 0; i < c.operands[n].count; ++i)
      to[i] = value;
  }
}

/// a + b with both `value`, relu'd.
bool isTwice(const mn::Executor &, const void *memory, int64_t count,
             float value) {
  const auto *y = static_cast<const float *>(memory);
  for (int64_t i = 0; i < count; ++i)
    if (y[i] != 2 * value)
      return false;
  return true;
}

void testErrors(const mn::DeviceCode &code, Checks &checks) {
  std::vector<Case> cases = addition();
  const auto open = [&](const mn::Model &model, int device) {
    std::unique_ptr<mn::Executor> executor;
    return mn::Executor::open(model, {.device = device}, executor);
  };
  const auto is = [&](const mn::Status &status, mn::Code expected,
                      const char *words) {
    checks.expect(status.code == expected &&
                      status.message.find(words) != std::string::npos,
                  words, status.message);
  };
  Tables tables(cases);
  const mn::DeviceCode others[] = {
      {"sm_20", {code.parts[0]}}, {"sm_30a", {code.parts[0]}}, code};
  mn::Model model = tables.model(others[0]);
  model.codeCount = 2;
  is(open(model, 0), mn::Code::wrongArch,
     "expected a GPU of sm_20, sm_30a, as the program is built for, got GPU "
     "0, ");
  model.codeCount = 3;
  checks.expect(open(model, 0));
  is(open(tables.model(code), 99), mn::Code::noDevice,
     "expected a GPU from 0 to ");
  tables.plans[0].arenaBytes = size_t(1) << 50;
  is(open(tables.model(code), 0), mn::Code::outOfMemory,
     "bytes of free memory on GPU 0, got ");
  tables.plans[0].arenaBytes = tables.plans[1].arenaBytes;
  tables.steps[0].run = [](mn::Context &ctx) {
    mn::pointwise(ctx, "no_such_kernel", 1, Hidden{});
  };
  std::unique_ptr<mn::Executor> executor;
  checks.expect(mn::Executor::open(tables.model(code), {}, executor));
  if (executor)
    is(executor->prepare(0), mn::Code::wrongArch,
       "step 1 'pointwise map_small 64 * 128' (): kernel 'no_such_kernel' is "
       "not in");
}

void testSlots(mn::Executor &executor, const std::vector<Case> &cases,
               Checks &checks) {
  for (int plan = 0; plan < 2; ++plan) {
    const Case &c = cases[size_t(plan)];
    fill(executor, c, plan, 0, 1);
    fill(executor, c, plan, 1, 5);
    for (int slot : {0, 1})
      checks.expect(executor.submit(plan, slot));
    for (int slot : {0, 1}) {
      checks.expect(executor.wait(slot));
      checks.expect(isTwice(executor, executor.output(plan, 0, slot),
                            c.operands[0].count, slot ? 5 : 1),
                    "each slot has its own result", c.name);
    }
    const int count = plan == 0 ? 1000 : 20;
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < count; ++i) {
      checks.passed -= 2;
      checks.expect(executor.submit(plan, i % 2));
      checks.expect(executor.wait(i % 2));
    }
    const std::chrono::duration<double, std::micro> took =
        std::chrono::steady_clock::now() - start;
    std::printf("time submit and wait, %-32s %9.2f us\n", c.name.c_str(),
                took.count() / count);
    const auto again = std::chrono::steady_clock::now();
    for (int i = 0; i < count; ++i) {
      if (i >= 2)
        (void)!executor.wait(i % 2).ok();
      (void)!executor.submit(plan, i % 2).ok();
    }
    for (int slot : {0, 1})
      checks.expect(executor.wait(slot));
    const std::chrono::duration<double, std::micro> overlapped =
        std::chrono::steady_clock::now() - again;
    std::printf("time two slots in turn,  %-32s %9.2f us\n", c.name.c_str(),
                overlapped.count() / count);
  }
}

/// Of bytes, on the device as on the host.
void testPixels(const mn::Model &model, bool graph,
                const std::vector<Case> &cases, Checks &checks) {
  std::unique_ptr<mn::Executor> executor;
  checks.expect(mn::Executor::open(model, {.graph = graph}, executor));
  const mn::Pixels pixels = {1 / 76.5, -0.4242};
  // Input 0 is where the result will be.
  for (int plan = 0; executor && plan < 2; ++plan) {
    const int64_t count = cases[size_t(plan)].operands[1].count;
    checks.expect(executor->givePixels(plan, 1, pixels));
    checks.expect(executor->prepare(plan));
    for (int slot : {0, 1}) {
      fill(*executor, cases[size_t(plan)], plan, slot, 0);
      auto *bytes = static_cast<uint8_t *>(executor->input(plan, 1, slot));
      for (int64_t i = 0; i < count; ++i)
        bytes[i] = uint8_t(i * 31 + slot);
      checks.expect(executor->submit(plan, slot));
    }
    for (int slot : {0, 1}) {
      checks.expect(executor->wait(slot));
      const auto *y =
          static_cast<const float *>(executor->output(plan, 0, slot));
      int64_t same = 0;
      for (int64_t i = 0; i < count; ++i)
        same += y[i] == std::max(0.0f, pixels(uint8_t(i * 31 + slot)));
      checks.expect(same == count, "floats of bytes", std::to_string(same));
    }
  }
}

void testLooking(mn::Executor &executor, Checks &checks) {
  std::vector<mn::StepTime> times;
  checks.expect(executor.profile(1, times));
  checks.expect(times.size() == 1 && times[0].microseconds > 10 &&
                    times[0].microseconds < 10000,
                "a profile of one step",
                times.empty() ? "none" : std::to_string(times[0].microseconds));
  struct Seen {
    mn::Executor &executor;
    int steps = 0;
    float first = 0;
  } seen{executor};
  checks.expect(executor.trace(
      0,
      [](void *user, int) {
        auto &s = *static_cast<Seen *>(user);
        ++s.steps;
        return s.executor.read(0, &s.first, sizeof(s.first));
      },
      &seen));
  checks.expect(seen.steps == 1, "a trace of one step",
                std::to_string(seen.steps));
}

} // namespace

void testExecutor(const mn::DeviceCode &code, int &passed, int &failed) {
  Checks checks{passed, failed};
  testErrors(code, checks);
  const std::vector<Case> cases = addition();
  const Tables tables(cases);
  const mn::Model model = tables.model(code);
  for (bool graph : {true, false}) {
    std::unique_ptr<mn::Executor> executor;
    checks.expect(mn::Executor::open(model, {.graph = graph}, executor));
    if (!executor)
      continue;
    checks.expect(executor->deviceBytes() == mn::deviceBytes(model),
                  "the bytes that were foretold",
                  std::to_string(executor->deviceBytes()));
    testSlots(*executor, cases, checks);
    testLooking(*executor, checks);
    testPixels(model, graph, cases, checks);
  }
}

} // namespace test
