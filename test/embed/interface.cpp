//===- interface.cpp - mnist.hpp on a model that trains -------------------===//
//
// usage: interface SAVED.onnx CHECKPOINTS, of a model of 12 features, 4 classes
// and a batch of 16
//
//===----------------------------------------------------------------------===//

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mnist.hpp>
#include <type_traits>

extern "C" const mn_compiled_model *net_model(void);

namespace {

static_assert(std::is_nothrow_move_constructible_v<mnist::Session> &&
              std::is_nothrow_move_assignable_v<mnist::Session> &&
              !std::is_copy_constructible_v<mnist::Session> &&
              !std::is_copy_assignable_v<mnist::Session>);

void expect(bool good, const char *what) {
  if (good)
    return;
  std::fprintf(stderr, "error: expected %s\n", what);
  std::exit(1);
}

template <typename Call>
void refuses(mn_status status, const char *part, const Call &call) {
  try {
    call();
  } catch (const mnist::Error &error) {
    expect(error.status() == status && std::strstr(error.what(), part), part);
    return;
  }
  expect(false, part);
}

std::vector<float> inputs(size_t rows) {
  std::vector<float> x(rows * 12);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<float>(i * 7 % 23) / 23;
  return x;
}

std::vector<int32_t> classes(size_t rows) {
  std::vector<int32_t> y(rows);
  for (size_t i = 0; i < rows; ++i)
    y[i] = static_cast<int32_t>(i % 4);
  return y;
}

void infers() {
  mnist::Session first(net_model(), {.threads = 1});
  mnist::Session session = std::move(first);
  refuses(MN_USAGE, "a session, got NULL", [&] { first.modelName(); });
  expect(session.batches() == std::vector<int64_t>{16}, "one plan");
  const mnist::Tensor input = session.inputs().front();
  expect(input.name == "x" && input.rowBytes == 48 && input.batched,
         "an input");
  expect(input.shape == std::vector<int64_t>({16, 12}), "a shape");
  const std::vector<float> x = inputs(5), y = session.infer<float>(5, x);
  expect(y.size() == 20, "scores of five rows");
  // By name, into a span; and a part of the memory.
  std::vector<float> z(100);
  session.infer(5, {{"x", x}}, {{"y", std::span(z).first(20)}});
  expect(std::equal(y.begin(), y.end(), z.begin()), "the same scores");
  refuses(MN_USAGE, "80 bytes for output 'y', got 400",
          [&] { session.infer(5, {x}, {z}); });
  refuses(MN_USAGE, "compiled for a GPU", [&] {
    session.inferOnDevice(5, {x}, {std::span(z).first(20)}, nullptr);
  });
  mnist::Session third(net_model());
  third = std::move(session);
  expect(third.infer<float>(5, x) == y, "the session that was moved");
  refuses(MN_USAGE, "device 0",
          [] { const mnist::Session none(net_model(), {.device = 3}); });
}

void trains(const char *path, const char *folder) {
  mnist::Session session(net_model()), other(net_model());
  mnist::Training training(session, {.seed = 3, .init = "xavier"});
  expect(training.batch() == 16 && training.target().type == MN_I32, "classes");
  expect(training.numbers() == std::vector<std::string>({"lr", "weight-decay"}),
         "the numbers of sgd");
  training.set("lr", 0.5);
  expect(training.get("lr") == 0.5, "what was set");
  refuses(MN_USAGE, "got 'beta1'", [&] { training.set("beta1", 0.5); });
  const std::vector<float> x = inputs(16);
  const std::vector<int32_t> y = classes(16);
  const double first = training.step(16, x, y);
  training.checkpoint(folder);
  mnist::Training resumed = mnist::Training::resume(other, folder);
  for (int i = 0; i < 20; ++i) {
    training.enqueue(16, x, y);
    resumed.step(16, x, y);
  }
  expect(training.digest() == resumed.digest(), "the same weights");
  const mn_metrics all = training.metrics(), now = training.evaluate(16, x, y);
  expect(all.rows == 21 * 16 && all.loss < first && now.loss < all.loss,
         "a loss that falls");
  refuses(MN_USAGE, "1 to 16 rows",
          [&] { training.step(17, inputs(17), classes(17)); });
  training.save(path);
}

} // namespace

int main(int, char **argv) {
  infers();
  trains(argv[1], argv[2]);
  std::puts("fine");
}
