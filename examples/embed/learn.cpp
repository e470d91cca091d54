//===- learn.cpp - a device that goes on learning -------------------------===//
//
// usage: learn STEPS TRAINED.onnx
//
// Each step trains on the rows that came meanwhile: here shifted bars, the
// class of which is their place. What is learned is used at once, and saved at
// the end.
//
//===----------------------------------------------------------------------===//

#include <libtrainable.h>

#include <cstdio>
#include <cstdlib>
#include <mnist.hpp>

namespace {

/// Stands for a sensor: always the same numbers.
class Sensor {
public:
  /// A bar on a noisy ground, at one of `classes` places.
  int read(float *pixels, size_t count, int classes) {
    const int place = static_cast<int>(next() % static_cast<unsigned>(classes));
    const size_t width = count / static_cast<size_t>(classes);
    for (size_t i = 0; i < count; ++i)
      pixels[i] = static_cast<float>(next() % 1000) / 4000 +
                  (i / width == static_cast<size_t>(place) ? 0.75f : 0);
    return place;
  }

private:
  unsigned next() { return (state = state * 1664525 + 1013904223) >> 8; }
  unsigned state = 1;
};

struct Rows {
  std::vector<float> inputs;
  std::vector<int32_t> classes;

  Rows(Sensor &sensor, int64_t rows, size_t elements, int classCount)
      : inputs(static_cast<size_t>(rows) * elements) {
    for (size_t row = 0; row < static_cast<size_t>(rows); ++row)
      classes.push_back(
          sensor.read(inputs.data() + row * elements, elements, classCount));
  }
};

} // namespace

int main(int argc, char **argv) try {
  if (argc != 3)
    throw std::runtime_error("expected a number of steps and a file to write");
  mnist::Session session(trainable_model());
  mnist::Training training(session, {.seed = 1});
  const size_t elements = session.inputs()[0].rowBytes / sizeof(float);
  const int classes =
      static_cast<int>(session.outputs()[0].rowBytes / sizeof(float));
  Sensor sensor;
  const Rows test(sensor, 200, elements, classes);
  const auto score = [&](const char *when) {
    const mn_metrics found = training.evaluate(200, test.inputs, test.classes);
    std::printf("%s: %lld of 200 right, loss %.4f\n", when,
                static_cast<long long>(found.correct), found.loss);
  };
  score("before");
  const int steps = std::atoi(argv[1]);
  for (int step = 0; step < steps; ++step) {
    training.set("lr", step < steps / 2 ? 0.001 : 0.0003);
    const Rows rows(sensor, training.batch(), elements, classes);
    training.enqueue(training.batch(), rows.inputs, rows.classes);
  }
  std::printf("%d steps: mean loss %.4f\n", steps, training.metrics().loss);
  score("after");
  training.save(argv[2]);
} catch (const std::exception &error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return 1;
}
