//===- train.cpp - batches and parameters on a GPU ------------------------===//
//
// A plan that writes down what it was given, among its parameters, and again
// once it has counted the batch: compared with what the host says of the same
// batches.
//
//===----------------------------------------------------------------------===//

#include "core/executor.h"
#include "hand-written.h"
#include "kernels.h"
#include "mnistrt/batch.h"
#include "tables.h"
#include <cmath>
#include <cstdio>
#include <cstring>

namespace test {

namespace {

constexpr int64_t rows = 3, batches = 40, samples = 100;
constexpr int64_t longest = 9000;
/// Batches that are written down: those, and what time() and profile() run.
constexpr int64_t logged = batches + 9;
constexpr float scale = 1.0f / 255, mean = 0.25f, deviation = 0.5f;

// The parameters, and after them what a run needs.
enum : size_t {
  weight = 0,
  seed = 256,
  epoch = 512,
  batch = 768,
  labelLog = 1024,
  lateLabelLog = 2048,
  log = 4096,
  lateLog = aligned(log + logged * rows * longest * 4),
  parameterBytes = aligned(lateLog + logged * rows * longest * 4),
  labels = parameterBytes,
  valid = labels + 256,
  inputs = valid + 256,
  arenaBytes = inputs + rows * longest * 4
};

template <int64_t Elements> void record(mn::Context &ctx) {
  mn::pointwise(ctx, "train_record", rows * Elements,
                Record{ctx.at<float>(log), ctx.at<int32_t>(labelLog),
                       ctx.at<float>(inputs), ctx.at<int32_t>(labels),
                       ctx.at<int64_t>(batch), rows * Elements, rows});
}
/// Once the batch was counted.
template <int64_t Elements> void recordLate(mn::Context &ctx) {
  mn::pointwise(ctx, "train_record", rows * Elements,
                Record{ctx.at<float>(lateLog), ctx.at<int32_t>(lateLabelLog),
                       ctx.at<float>(inputs), ctx.at<int32_t>(labels),
                       ctx.at<int64_t>(batch), rows * Elements, rows});
}
void advance(mn::Context &ctx) {
  mn::pointwise(ctx, "train_advance", 1,
                Advance{ctx.at<int64_t>(batch), ctx.at<float>(weight),
                        ctx.at<int32_t>(valid)});
}

constexpr int64_t one[] = {1};
const mn::Parameter parameters[] = {
    {{"w", mn::Type::f32, 1, one, weight}, mn::Role::parameter},
    byhand::state("mn.seed", mn::Type::i64, seed),
    byhand::state("mn.epoch", mn::Type::i64, epoch),
    byhand::state("mn.batch", mn::Type::i64, batch)};
constexpr float initial[] = {0.5f};

/// How a plan may be run.
struct Order {
  bool prefetches;
  int streams;
};

/// The tables of a plan whose rows have so many elements.
template <int64_t Elements> struct TrainTables {
  explicit TrainTables(const Order &order)
      : stream(order.streams - 1), waits(order.streams - 1),
        prefetches(order.prefetches) {}

  const int stream, waits;
  const bool prefetches;
  const int first = 0, second = 1;
  static constexpr int64_t shape[] = {rows, Elements};
  const mn::Tensor inputTable[3] = {
      {"x", mn::Type::f32, 2, shape, inputs},
      {"mn.labels", mn::Type::i32, 1, shape, labels},
      {"mn.valid", mn::Type::i32, 0, nullptr, valid}};
  const mn::Step steps[3] = {
      {"record", "copy", "", "kernel", "", 0, 0, record<Elements>},
      {"advance", "add", "", "kernel", "", 0, 0, advance, nullptr, 0, stream,
       &first, waits},
      {"late", "copy", "", "kernel", "", 0, 0, recordLate<Elements>, nullptr, 0,
       0, &second, waits}};
  const mn::Plan plan = {"train", rows,    arenaBytes, 0,     inputTable,
                         3,       nullptr, 0,          steps, 3,
                         nullptr, 0,       prefetches};
};

mn::Model modelOf(const mn::DeviceCode &code, const mn::Plan &plan) {
  mn::Model model = byhand::model("train-test", {&plan, 1}, parameters,
                                  parameterBytes, initial);
  model.arch = code.arch;
  model.codes = &code;
  model.codeCount = 1;
  return model;
}

/// One way to go through the data.
struct Way {
  mn::Type type;
  bool shuffle, invert, graph;
};

template <int64_t Elements> class TrainTest {
public:
  TrainTest(const mn::DeviceCode &code, const Order &order, int &passed,
            int &failed)
      : tables(order), model(modelOf(code, tables.plan)), passed(passed),
        failed(failed) {
    for (int64_t i = 0; i < samples * Elements; ++i)
      bytes.push_back(uint8_t(i * 7919 >> 3));
    floats.assign(bytes.begin(), bytes.end());
    for (int64_t i = 0; i < samples; ++i)
      classes.push_back(int32_t(1000 + i));
  }

  void run(const Way &way) {
    std::unique_ptr<mn::Executor> executor;
    mn::Status status =
        mn::Executor::open(model, {.graph = way.graph}, executor);
    if (status.ok())
      status = compare(*executor, way);
    ++(status.ok() ? passed : failed);
    if (!status.ok())
      std::printf("FAIL train %d, type %d, %s, graph %d, streams %d, "
                  "prefetches %d: %s\n",
                  int(Elements), int(way.type),
                  way.shuffle ? "shuffled" : "in order", way.graph,
                  1 + tables.stream, tables.prefetches, status.message.c_str());
  }

private:
  mn::Status write(mn::Executor &executor, size_t offset, int64_t value) {
    return executor.writeParameters(offset, &value, sizeof value);
  }

  mn::Status compare(mn::Executor &executor, const Way &way) {
    mn::Samples data;
    data.inputs = way.type == mn::Type::u8
                      ? static_cast<const void *>(bytes.data())
                      : floats.data();
    data.inputType = way.type;
    data.targets = classes.data();
    data.count = samples;
    data.inputElements = Elements;
    data.targetElements = 1;
    data.scale = scale;
    data.mean = mean;
    data.deviation = deviation;
    data.invert = way.invert;
    int64_t room = 0;
    MN_TRY(executor.freeBytes(room));
    if (room <= 0)
      return wrong("expected free memory, got " + std::to_string(room));
    // Twice: graphs of the first must not be used again.
    for (int load = 0; load < 2; ++load) {
      MN_TRY(executor.load(0, data));
      MN_TRY(write(executor, seed, 11));
      MN_TRY(write(executor, epoch, 3));
      MN_TRY(write(executor, batch, 0));
      MN_TRY(executor.runBatches(0, 0, way.shuffle, batches));
      MN_TRY(executor.finish());
    }
    double microseconds;
    std::vector<mn::StepTime> times;
    MN_TRY(executor.time(0, 3, microseconds));
    MN_TRY(executor.profile(0, times));
    std::vector<char> found(parameterBytes);
    MN_TRY(executor.readParameters(0, found.data(), found.size()));
    MN_TRY(compareLogs(found, log, labelLog, way));
    // There, batches are counted from 1.
    MN_TRY(compareLogs(found, lateLog + rows * Elements * 4,
                       lateLabelLog + rows * 4, way));
    float sum;
    std::memcpy(&sum, &found[weight], 4);
    if (sum != initial[0] + 2 * samples)
      return wrong("expected 200.5 rows, got " + std::to_string(sum));
    return mn::Status::success();
  }

  mn::Status wrong(const std::string &what) {
    return mn::Status::error(mn::Code::numeric, what);
  }

  mn::Status compareLogs(const std::vector<char> &found, size_t atInputs,
                         size_t atLabels, const Way &way) {
    const float *x = reinterpret_cast<const float *>(&found[atInputs]);
    const int32_t *label = reinterpret_cast<const int32_t *>(&found[atLabels]);
    mn::Batch same;
    same.scale = scale, same.mean = mean, same.deviation = deviation;
    same.invert = way.invert;
    for (int64_t place = 0; place < batches * rows; ++place) {
      const int64_t sample = place >= samples ? -1
                             : way.shuffle
                                 ? int64_t(mn::shuffled(place, samples, 11, 3))
                                 : place;
      const int32_t expected = sample < 0 ? 0 : classes[size_t(sample)];
      if (label[place] != expected)
        return wrong("expected label " + std::to_string(expected) +
                     " at place " + std::to_string(place) + ", got " +
                     std::to_string(label[place]));
      for (int64_t i = 0; i < Elements; ++i) {
        const float wanted =
            sample < 0 ? 0
                       : same.normalized(floats[size_t(sample * Elements + i)]);
        if (!(std::fabs(x[place * Elements + i] - wanted) < 1e-5f))
          return wrong("expected " + std::to_string(wanted) + " in place " +
                       std::to_string(place) + ", element " +
                       std::to_string(i) + ", got " +
                       std::to_string(x[place * Elements + i]));
      }
    }
    return mn::Status::success();
  }

  TrainTables<Elements> tables;
  mn::Model model;
  std::vector<uint8_t> bytes;
  std::vector<float> floats;
  std::vector<int32_t> classes;
  int &passed, &failed;
};

template <int64_t Elements>
void testRows(const mn::DeviceCode &code, int &passed, int &failed) {
  for (const Order &order : {Order{false, 1}, Order{true, 1}, Order{true, 2}}) {
    TrainTest<Elements> test(code, order, passed, failed);
    for (const Way &way : {Way{mn::Type::u8, true, false, true},
                           Way{mn::Type::u8, false, true, true},
                           Way{mn::Type::f32, true, true, true},
                           Way{mn::Type::f32, false, false, false}})
      test.run(way);
  }
}

} // namespace

void testTraining(const mn::DeviceCode &code, int &passed, int &failed) {
  testRows<784>(code, passed, failed);     // four at a time
  testRows<7>(code, passed, failed);       // one at a time
  testRows<longest>(code, passed, failed); // several blocks a row
}

} // namespace test
