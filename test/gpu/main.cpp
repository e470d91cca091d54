//===- main.cpp - tests of the CUDA kernels, libraries and executor -------===//
//
//   mn-gpu-tests KERNELS.cubin ARCH [PREFIX] [--part=K/N] [--emulated=FLOPS]
//
// Runs every case (whose name begins so) against its reference, or of them the
// K-th (from 0) of every N, so that N processes run all of them; times those
// whose names end in _big, and says how far they are from the floor: the larger
// of bytes over bandwidth and operations over fp32 rate of an H200. Skips all
// where there is no GPU. On an emulated one it skips what has more operations
// than are given, or needs a library, and the executor's tests, and times none.
//
//===----------------------------------------------------------------------===//

#include "case.h"
#include "core/executor.h"
#include "options.h"
#include "tables.h"
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <future>
#include <iterator>
#include <random>
#include <semaphore>
#include <thread>

using namespace test;

namespace {

/// Calls use() with something of the C++ type.
template <typename Use> double as(mn::Type type, const Use &use) {
  switch (type) {
  case mn::Type::f32:
    return use(float());
  case mn::Type::f64:
    return use(double());
  case mn::Type::i32:
    return use(int32_t());
  case mn::Type::i64:
    return use(int64_t());
  case mn::Type::bf16:
    return use(mn::Bf16());
  default:
    return use(bool());
  }
}

double get(mn::Type type, const void *memory, size_t i) {
  return as(type, [&](auto t) {
    return double(static_cast<const decltype(t) *>(memory)[i]);
  });
}

/// Rounds to the type.
double put(mn::Type type, void *memory, size_t i, double value) {
  return as(type, [&](auto t) {
    using T = decltype(t);
    static_cast<T *>(memory)[i] = T(value);
    return double(static_cast<T *>(memory)[i]);
  });
}

/// The number, or what some inputs are instead.
double specialOf(const Case &c, size_t operand, double value,
                 std::mt19937 &random) {
  if (c.special != 0 && c.special != operand)
    return c.largest != 0 ? value * 1e-4 : value;
  if (c.hasNan && random() % 97 == 0)
    value = NAN;
  if (c.hasInfinity && random() % 1601 == 0)
    value = value < 0 ? -INFINITY : INFINITY;
  if (c.largest != 0 && random() % 401 == 0)
    value = std::copysign(c.largest, value);
  return value;
}

void fill(const Case &c, mn::Executor &executor, int plan,
          std::vector<Numbers> &inputs) {
  // Of its own, so that another case in the table changes nothing here.
  std::seed_seq seed(c.name.begin(), c.name.end());
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> real(-1, 1);
  std::uniform_int_distribution<int> few(-3, 3), many(-1000, 1000);
  for (size_t n = 0; n < c.operands.size(); ++n) {
    const Operand &o = c.operands[n];
    void *memory = executor.input(plan, int(n), 0);
    Numbers values(n == 0 ? 0 : size_t(o.count));
    const bool isFloat = o.type == mn::Type::f32 || o.type == mn::Type::f64 ||
                         o.type == mn::Type::bf16;
    for (size_t i = 0; i < size_t(o.count); ++i) {
      double value = c.fewValues || o.type == mn::Type::b8 ? few(random)
                     : isFloat                             ? real(random)
                                                           : many(random);
      if (o.type == mn::Type::b8)
        value = few(random) == 3 && i % 5 == 0;
      if (isFloat)
        value = specialOf(c, n, value, random);
      if (n == 0) // what is not written shows
        put(o.type, memory, i, isFloat ? NAN : o.type == mn::Type::b8 ? 1 : -1);
      else
        values[i] = put(o.type, memory, i, value);
    }
    if (n != 0)
      inputs.push_back(std::move(values));
  }
}

/// The relative error; infinite where NaNs or infinities differ, whose numbers
/// are printed then.
double errorOf(const Case &c, const void *memory, const Numbers &expected) {
  double difference = 0, size = 0;
  size_t lost = 0, made = 0, infinities = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    const double v = get(c.operands[0].type, memory, i), e = expected[i];
    if (std::isnan(v) || std::isnan(e)) {
      lost += !std::isnan(v);
      made += !std::isnan(e);
    } else if (std::isinf(v) || std::isinf(e)) {
      infinities += v != e;
    } else {
      difference += (v - e) * (v - e);
      size += e * e;
    }
  }
  if (lost || (made && !c.nanSpreads) || infinities) {
    std::printf("%s: of %zu results, %zu lost a NaN, %zu became one, %zu "
                "differ in an infinity\n",
                c.name.c_str(), expected.size(), lost, made, infinities);
    return std::numeric_limits<double>::infinity();
  }
  return difference == 0 ? 0 : std::sqrt(difference / std::max(size, 1e-30));
}

mn::Status timeCase(const Case &c, mn::Executor &executor, int plan) {
  constexpr double bandwidth = 4.3e12, rate = 67e12;
  std::vector<double> took(9);
  for (double &t : took) {
    MN_TRY(executor.time(plan, 100, t));
    t /= 100;
  }
  std::nth_element(took.begin(), took.begin() + 4, took.end());
  double bytes = 0;
  for (const Operand &o : c.operands)
    bytes += double(o.bytes());
  const double floor = 1e6 * std::max(bytes / bandwidth, c.flops / rate);
  std::printf("time %-44s %9.2f us, floor %8.2f us\n", c.name.c_str(), took[4],
              floor);
  return mn::Status::success();
}

/// Whether results are those of the reference.
bool isRight(const Case &c, const std::vector<Numbers> &inputs,
             const std::vector<char> &results) {
  Numbers expected(size_t(c.operands[0].count));
  c.reference(inputs, expected);
  const double error = errorOf(c, results.data(), expected);
  if (!(error <= c.tolerance))
    std::printf("FAIL %s: relative error %.2e, at most %.0e expected\n",
                c.name.c_str(), error, c.tolerance);
  return error <= c.tolerance;
}

/// References are computed on all cores, as many at a time, while the GPU goes
/// on: their loops take longer than anything else.
class Checks {
public:
  void add(const Case &c, std::vector<Numbers> inputs,
           const std::vector<char> &results) {
    running.acquire();
    found.emplace_back(
        &c, std::async(std::launch::async,
                       [this, &c, inputs = std::move(inputs), results] {
                         const bool right = isRight(c, inputs, results);
                         running.release();
                         return right;
                       }));
  }
  /// Waits for all: false for the cases that are wrong.
  void finish(const std::vector<Case> &cases, std::vector<char> &good) {
    for (auto &[c, right] : found)
      if (!right.get())
        good[size_t(c - cases.data())] = false;
  }

private:
  std::counting_semaphore<> running{
      std::max<ptrdiff_t>(1, std::thread::hardware_concurrency())};
  std::vector<std::pair<const Case *, std::future<bool>>> found;
};

mn::Status runCase(const Case &c, mn::Executor &executor, int plan,
                   Checks &checks, char &good) {
  std::vector<Numbers> inputs;
  fill(c, executor, plan, inputs);
  const bool isBig = c.name.ends_with("_big") || c.name.ends_with("_large");
  const bool isHuge = c.flops > 5e9; // not on the CPU
  MN_TRY(executor.submit(plan, 0));
  MN_TRY(executor.wait(0));
  const size_t bytes = c.operands[0].bytes();
  std::vector<char> first(bytes);
  std::memcpy(first.data(), executor.output(plan, 0, 0), bytes);
  if (!isHuge)
    checks.add(c, std::move(inputs), first);
  // The same bits again.
  MN_TRY(executor.submit(plan, 0));
  MN_TRY(executor.wait(0));
  if (std::memcmp(first.data(), executor.output(plan, 0, 0), bytes) != 0) {
    good = false;
    std::printf("FAIL %s: two runs, two results\n", c.name.c_str());
  }
  return isBig ? timeCase(c, executor, plan) : mn::Status::success();
}

bool isForEmulation(const Case &c, double most) {
  size_t bytes = 0;
  for (const Operand &operand : c.operands)
    bytes += operand.bytes();
  return c.flops <= most && bytes <= 8 << 20 && !c.name.ends_with("_big") &&
         !c.name.ends_with("_large") &&
         std::strcmp(c.implementation, "kernel") == 0;
}

/// Of all cases those that are asked for; counts those that are too large.
std::vector<Case> casesOf(const Options &options, int &skipped) {
  std::vector<Case> cases;
  size_t number = 0;
  for (auto add :
       {otherCases, poolCases, rowCases, segmentCases, chainCases,
        contractionCases, libraryCases, tensorCoreCases, pooledCases})
    for (Case &c : add())
      if (c.name.starts_with(options.prefix) &&
          number++ % options.part.count == options.part.index) {
        if (options.most && !isForEmulation(c, *options.most))
          ++skipped;
        else
          cases.push_back(std::move(c));
      }
  return cases;
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  if (argc < 3 || !parse(argc - 3, argv + 3, options)) {
    std::fprintf(stderr, "usage: mn-gpu-tests KERNELS.cubin ARCH [PREFIX] "
                         "[--part=K/N] [--emulated=FLOPS]\n");
    return 2;
  }
  int skipped = 0;
  const std::vector<Case> cases = casesOf(options, skipped);
  std::ifstream file(argv[1], std::ios::binary);
  const std::string cubin((std::istreambuf_iterator<char>(file)), {});
  const mn::DeviceCode code = {
      argv[2],
      {{reinterpret_cast<const unsigned char *>(cubin.data()), cubin.size()}}};
  const Tables tables(cases);
  const mn::Model model = tables.model(code);

  std::unique_ptr<mn::Executor> executor;
  const mn::Status opened = mn::Executor::open(model, {}, executor);
  if (!opened.ok()) {
    std::printf("%s\n0 passed, 0 failed, %zu skipped\n", opened.message.c_str(),
                cases.size());
    return opened.code == mn::Code::noDevice ? 0 : int(opened.code);
  }
  std::printf("%s, %zu bytes\n", executor->deviceName().c_str(),
              executor->deviceBytes());
  int passed = 0, failed = 0;
  const auto isAskedFor = [&](const char *name) {
    return options.part.index == 0 &&
           (options.prefix.empty() || options.prefix == name);
  };
  if (!options.most && isAskedFor("executor"))
    testExecutor(code, passed, failed);
  if (isAskedFor("train"))
    testTraining(code, passed, failed);
  Checks checks;
  std::vector<char> good(cases.size(), true);
  for (size_t i = 0; i < cases.size(); ++i) {
    const mn::Status status =
        runCase(cases[i], *executor, int(i), checks, good[i]);
    if (!status.ok()) {
      std::printf("FAIL %s\n", status.message.c_str());
      good[i] = false;
    }
    std::fflush(stdout);
  }
  checks.finish(cases, good);
  for (const char each : good)
    ++(each ? passed : failed);
  std::printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped);
  return failed == 0 ? 0 : 1;
}
