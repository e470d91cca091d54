//===- mnist.hpp - mnist.h for C++20 ----------------------------*- C++ -*-===//
//
// The same functions with owners and exceptions; nothing else to link:
//
//     mnist::Session session(digits_model());
//     std::vector<float> scores = session.infer<float>(rows, images);
//
//     mnist::Training training(session, {.seed = 1}); // compiled with --train
//     training.set("lr", 0.01);
//     double loss = training.step(rows, images, labels);
//     training.save("trained.onnx");
//
// A call that fails throws mnist::Error, with the status and the reason. What
// mnist.h says of threads, forks and memory holds here: a session for each
// thread.
//
//===----------------------------------------------------------------------===//

#ifndef MNIST_HPP
#define MNIST_HPP

#include "mnist.h"
#include <initializer_list>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#if MN_VERSION_MAJOR != 2 || MN_VERSION_MINOR < 1
#error "mnist.hpp: expected mnist.h of version 2.1, got another; compile the \
model again"
#endif

namespace mnist {

class Error : public std::runtime_error {
public:
  Error(mn_status status, const char *reason)
      : std::runtime_error(reason), code(status) {}
  mn_status status() const noexcept { return code; }

private:
  mn_status code;
};

inline void check(mn_status status) {
  if (status != MN_OK)
    throw Error(status, mn_error());
}

/// An input, output or target.
struct Tensor {
  std::string name;
  mn_type type = MN_F32;
  std::vector<int64_t> shape; ///< in the plan that was asked for
  size_t rowBytes = 0;        ///< of one row, or of all where not batched
  bool batched = false;

  Tensor() = default;
  explicit Tensor(const mn_tensor &from)
      : name(from.name), type(from.type),
        shape(from.shape, from.shape + from.rank), rowBytes(from.row_bytes),
        batched(from.batched != 0) {}
};

/// Memory of the caller for an input: any contiguous range. With a name, or by
/// position.
struct Input : mn_const_buffer {
  template <std::ranges::contiguous_range Range>
  Input(const Range &range) : Input(nullptr, range) {}
  template <std::ranges::contiguous_range Range>
  Input(const char *name, const Range &range)
      : mn_const_buffer{name, std::ranges::data(range),
                        std::ranges::size(range) *
                            sizeof(std::ranges::range_value_t<Range>)} {}
  /// For memory of a GPU.
  Input(const char *name, const void *data, size_t bytes)
      : mn_const_buffer{name, data, bytes} {}
};

/// Likewise, to be written.
struct Output : mn_buffer {
  template <std::ranges::contiguous_range Range>
  Output(Range &&range) : Output(nullptr, range) {}
  template <std::ranges::contiguous_range Range>
  Output(const char *name, Range &&range)
      : mn_buffer{name, std::ranges::data(range),
                  std::ranges::size(range) *
                      sizeof(std::ranges::range_value_t<Range>)} {}
  Output(const char *name, void *data, size_t bytes)
      : mn_buffer{name, data, bytes} {}
};

namespace detail {
template <typename To, typename From>
std::vector<To> buffers(std::initializer_list<From> from) {
  return {from.begin(), from.end()};
}
} // namespace detail

/// Owns an mn_session.
class Session {
public:
  struct Options {
    int device = 0;
    bool graph = true;
    int threads = 0;
  };

  explicit Session(const mn_compiled_model *model)
      : Session(model, Options()) {}
  Session(const mn_compiled_model *model, const Options &options) {
    const mn_options given = {sizeof(mn_options), options.device,
                              !options.graph, options.threads};
    check(mn_open(model, &given, &session));
  }
  ~Session() { mn_close(session); }
  Session(Session &&other) noexcept
      : session(std::exchange(other.session, nullptr)) {}
  Session &operator=(Session &&other) noexcept {
    std::swap(session, other.session);
    return *this;
  }

  /// For the functions of mnist.h.
  mn_session *get() const noexcept { return session; }

  std::string modelName() const { return textOf(mn_model_name(session)); }
  std::string deviceName() const { return textOf(mn_device_name(session)); }
  size_t deviceBytes() const { return mn_device_bytes(session); }

  /// The batch size of each plan.
  std::vector<int64_t> batches() const {
    std::vector<int64_t> sizes(size_t(counted(mn_plan_count(session))));
    for (size_t i = 0; i < sizes.size(); ++i)
      sizes[i] = mn_plan_batch(session, int(i));
    return sizes;
  }
  std::vector<Tensor> inputs(int plan = 0) const {
    return describe(mn_input, mn_input_count(session), plan);
  }
  std::vector<Tensor> outputs(int plan = 0) const {
    return describe(mn_output, mn_output_count(session), plan);
  }

  void infer(int64_t rows, std::initializer_list<Input> inputs,
             std::initializer_list<Output> outputs) {
    const auto from = detail::buffers<mn_const_buffer>(inputs);
    const auto to = detail::buffers<mn_buffer>(outputs);
    check(mn_infer(session, rows, from.data(), int(from.size()), to.data(),
                   int(to.size())));
  }

  /// The output of a model that has one, and one input.
  template <typename T>
  std::vector<T> infer(int64_t rows, const Input &input) {
    const std::vector<Tensor> all = outputs();
    if (all.size() != 1)
      throw Error(MN_USAGE, "expected a model of one output, got several");
    const size_t bytes =
        all[0].rowBytes * (all[0].batched ? size_t(rows) : size_t(1));
    if (all[0].rowBytes % sizeof(T) != 0)
      throw Error(MN_USAGE, "expected elements of the output's size");
    std::vector<T> result(bytes / sizeof(T));
    infer(rows, {input}, {Output(result)});
    return result;
  }

  /// Of memory on the GPU, in the order of the caller's stream.
  void inferOnDevice(int64_t rows, std::initializer_list<Input> inputs,
                     std::initializer_list<Output> outputs, void *stream) {
    const auto from = detail::buffers<mn_const_buffer>(inputs);
    const auto to = detail::buffers<mn_buffer>(outputs);
    check(mn_infer_on_device(session, rows, from.data(), int(from.size()),
                             to.data(), int(to.size()), stream));
  }

private:
  static std::string textOf(const char *text) {
    if (!text)
      throw Error(MN_USAGE, mn_error());
    return text;
  }
  static int counted(int count) {
    if (count < 0)
      throw Error(MN_USAGE, mn_error());
    return count;
  }
  std::vector<Tensor> describe(decltype(mn_input) *function, int count,
                               int plan) const {
    std::vector<Tensor> all;
    for (int i = 0; i < counted(count); ++i) {
      mn_tensor tensor;
      check(function(session, plan, i, &tensor));
      all.emplace_back(tensor);
    }
    return all;
  }

  mn_session *session = nullptr;
};

/// The training of a session, which lives longer. It has one at a time.
class Training {
public:
  struct Options {
    int64_t seed = 0;
    int64_t batch = 0;
    std::string init = "file";
  };

  explicit Training(Session &session) : Training(session, Options()) {}
  Training(Session &session, const Options &options) : session(session.get()) {
    const mn_train_options given = of(options);
    check(mn_train_start(this->session, &given));
  }
  /// Continues where a checkpoint was written.
  static Training resume(Session &session, const std::string &folder,
                         const Options &options) {
    const mn_train_options given = of(options);
    check(mn_train_resume(session.get(), &given, folder.c_str()));
    return Training(session.get());
  }
  static Training resume(Session &session, const std::string &folder) {
    return resume(session, folder, Options());
  }

  int64_t batch() const { return mn_train_batch(session); }
  Tensor target() const {
    mn_tensor tensor;
    check(mn_train_target(session, &tensor));
    return Tensor(tensor);
  }

  std::vector<std::string> numbers() const {
    std::vector<std::string> names;
    while (const char *name = mn_train_number(session, int(names.size())))
      names.emplace_back(name);
    return names;
  }
  double get(const std::string &name) const {
    double value = 0;
    check(mn_train_get(session, name.c_str(), &value));
    return value;
  }
  void set(const std::string &name, double value) {
    check(mn_train_set(session, name.c_str(), value));
  }

  /// The loss of a step.
  double step(int64_t rows, const Input &input, const Input &target) {
    double loss = 0;
    check(mn_train_step(session, rows, &input, 1, &target, &loss));
    return loss;
  }
  /// Does not wait for a GPU.
  void enqueue(int64_t rows, const Input &input, const Input &target) {
    check(mn_train_step(session, rows, &input, 1, &target, nullptr));
  }
  /// Of memory on the GPU, in the order of the caller's stream.
  void enqueueOnDevice(int64_t rows, const Input &input, const Input &target,
                       void *stream) {
    check(mn_train_step_on_device(session, rows, &input, 1, &target, stream,
                                  nullptr));
  }

  /// Of the steps since this was last called.
  mn_metrics metrics() {
    mn_metrics metrics;
    check(mn_train_metrics(session, &metrics));
    return metrics;
  }
  mn_metrics evaluate(int64_t rows, const Input &input, const Input &target) {
    mn_metrics metrics;
    check(mn_evaluate(session, rows, &input, 1, &target, &metrics));
    return metrics;
  }

  std::string digest() const {
    char text[17];
    check(mn_train_digest(session, text));
    return text;
  }
  void save(const std::string &path) const {
    check(mn_save(session, path.c_str()));
  }
  void checkpoint(const std::string &folder) const {
    check(mn_train_checkpoint(session, folder.c_str()));
  }

private:
  explicit Training(mn_session *session) : session(session) {}
  static mn_train_options of(const Options &options) {
    return {sizeof(mn_train_options), options.seed, options.batch,
            options.init.c_str()};
  }

  mn_session *session;
};

} // namespace mnist

#endif // MNIST_HPP
