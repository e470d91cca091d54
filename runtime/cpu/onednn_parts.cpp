//===- onednn_parts.cpp - what runs the parts of a step -------------------===//

#include "cpu/onednn_parts.h"
#include "core/status.h"
#include "mnistrt/cpu/parallel.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <mutex>

extern "C" int omp_get_max_threads(void);
extern "C" void omp_set_num_threads(int count);

namespace mn::onednn {

using dnnl::memory;

namespace {

dnnl::stream &stream() {
  static thread_local dnnl::stream one(engine());
  return one;
}

/// Memory of a thread: grown to what its largest part takes, and kept.
class Buffer {
public:
  char *ofBytes(size_t bytes) {
    if (bytes > size) {
      memory.reset();
      size = 0;
      const size_t whole = (bytes + alignment - 1) / alignment * alignment;
      memory.reset(static_cast<char *>(std::aligned_alloc(alignment, whole)));
      if (!memory)
        throw std::bad_alloc();
      size = whole;
    }
    return memory.get();
  }

private:
  static constexpr size_t alignment = 4096;
  struct Free {
    void operator()(char *memory) const { std::free(memory); }
  };
  std::unique_ptr<char, Free> memory;
  size_t size = 0;
};

thread_local Buffer partBuffer, summandBuffer;

size_t aligned(size_t bytes) { return (bytes + 63) / 64 * 64; }

void keep(Context &ctx, Code code, const char *message) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  CpuRuntime &runtime = *static_cast<CpuRuntime *>(ctx.runtime);
  if (runtime.failure != 0)
    return;
  runtime.failure = static_cast<int>(code);
  std::snprintf(runtime.message, sizeof(runtime.message), "step %d: %s",
                ctx.step + 1, message);
}

} // namespace

const dnnl::engine &engine() {
  static const dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
  return cpu;
}

dnnl::primitive_attr userScratchpad() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

OneThread::OneThread() : before(omp_get_max_threads()) {
  omp_set_num_threads(1);
}
OneThread::~OneThread() { omp_set_num_threads(before); }

static sigset_t signalsOfOthers() {
  sigset_t signals;
  sigfillset(&signals);
  for (const int fault : {SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP})
    sigdelset(&signals, fault);
  return signals;
}

NoSignals::NoSignals() {
  static const sigset_t others = signalsOfOthers();
  pthread_sigmask(SIG_BLOCK, &others, &before);
}
NoSignals::~NoSignals() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }

//===----------------------------------------------------------------------===//
// One part
//===----------------------------------------------------------------------===//

Reorder::Reorder(const memory &from, const memory &to, bool adds)
    : from(from), to(to) {
  dnnl::primitive_attr attributes = userScratchpad();
  dnnl::post_ops sum;
  if (adds)
    sum.append_sum(1.f);
  attributes.set_post_ops(sum);
  const dnnl::reorder::primitive_desc chosen(
      engine(), from.get_desc(), engine(), to.get_desc(), attributes);
  primitive = dnnl::reorder(chosen);
  scratchpad = chosen.scratchpad_desc();
}

void Reorder::run(char *buffer) {
  primitive.execute(
      stream(), {{DNNL_ARG_FROM, from},
                 {DNNL_ARG_TO, to},
                 {DNNL_ARG_SCRATCHPAD, memory(scratchpad, engine(), buffer)}});
}

namespace {

/// line[i] = f(i). Where f reads the line itself, it reads what it replaces.
template <typename F> void each(float *line, int64_t columns, const F &f) {
  MN_INDEPENDENT
  for (int64_t i = 0; i < columns; ++i)
    line[i] = f(i);
}

} // namespace

void Finish::run(const float *from) const {
  for (int64_t row = 0; row < rows; ++row) {
    float *line = to + row * stride;
    const float *values = from ? from + row * columns : line;
    const float *other = residual ? residual + row * stride : nullptr;
    // A NaN stays one.
    const auto act = [](float x) { return x < 0.f ? 0.f : x; };
    if (other && relu)
      each(line, columns, [=](int64_t i) { return act(values[i] + other[i]); });
    else if (other)
      each(line, columns, [=](int64_t i) { return values[i] + other[i]; });
    else if (relu)
      each(line, columns, [=](int64_t i) { return act(values[i]); });
    else if (values != line)
      std::copy_n(values, columns, line);
  }
}

void Part::add(int argument, const memory::desc &desc, const float *data) {
  arguments.emplace(argument,
                    memory(desc, engine(), const_cast<float *>(data)));
}

void Part::addBuffered(int argument, const memory::desc &desc) {
  arguments.emplace(argument, memory(desc, engine(), nullptr));
  buffered.push_back({argument, bufferedBytes});
  bufferedBytes += aligned(desc.get_size());
}

void Part::reserve(const Reorder &reorder) {
  scratchpadBytes = std::max(scratchpadBytes, reorder.scratchpad.get_size());
}

void Part::addInput(int argument, const memory::desc &plain,
                    const memory::desc &wanted, const float *data) {
  if (plain == wanted)
    return add(argument, plain, data);
  addBuffered(argument, wanted);
  before.emplace_back(memory(plain, engine(), const_cast<float *>(data)),
                      arguments.at(argument));
  reserve(before.back());
}

void Part::addResult(int argument, const memory::desc &form, const memory &to,
                     bool adds) {
  if (form == to.get_desc() && !adds) {
    arguments.emplace(argument, to);
    return;
  }
  addBuffered(argument, form);
  after = Reorder(arguments.at(argument), to, adds);
  reserve(after);
}

void Part::run() {
  const size_t first = aligned(scratchpadBytes);
  char *const buffer = partBuffer.ofBytes(first + bufferedBytes);
  arguments.at(DNNL_ARG_SCRATCHPAD).set_data_handle(buffer);
  for (const Buffered &one : buffered)
    arguments.at(one.argument).set_data_handle(buffer + first + one.offset);
  for (Reorder &reorder : before)
    reorder.run(buffer);
  primitive.execute(stream(), arguments);
  if (after.primitive)
    after.run(buffer);
  if (finish.to)
    finish.run(finishesBuffer ? reinterpret_cast<float *>(buffer + first)
                              : nullptr);
  stream().wait();
}

//===----------------------------------------------------------------------===//
// All parts
//===----------------------------------------------------------------------===//

Part &Call::addPart(dnnl::primitive primitive, const memory::desc &scratchpad) {
  Part &part = parts.emplace_back();
  part.primitive = std::move(primitive);
  part.scratchpadBytes = scratchpad.get_size();
  part.arguments.emplace(DNNL_ARG_SCRATCHPAD,
                         memory(scratchpad, engine(), nullptr));
  return part;
}

bool Call::isConstant(const float *data) const {
  const auto *bytes = reinterpret_cast<const char *>(data);
  return bytes >= constants && bytes < constantsEnd;
}

memory Call::weights(const memory::desc &plain, const memory::desc &wanted,
                     const float *data) {
  if (plain == wanted)
    return memory(plain, engine(), const_cast<float *>(data));
  for (const Known &one : known)
    if (one.data == data && one.wanted == wanted)
      return one.memory;
  memory own(wanted, engine());
  Reorder reorder(memory(plain, engine(), const_cast<float *>(data)), own);
  known.push_back({data, wanted, own});
  if (isConstant(data))
    reorder.run(partBuffer.ofBytes(reorder.scratchpad.get_size()));
  else
    reorders.push_back(std::move(reorder));
  return own;
}

void Call::begin() {
  for (Reorder &reorder : reorders)
    reorder.run(partBuffer.ofBytes(reorder.scratchpad.get_size()));
  if (summandSize > 0)
    summands = reinterpret_cast<float *>(summandBuffer.ofBytes(
        parts.size() * static_cast<size_t>(summandSize) * sizeof(float)));
  for (size_t i = 0; summandSize > 0 && i < parts.size(); ++i)
    parts[i].summand.set_data_handle(summands +
                                     static_cast<int64_t>(i) * summandSize);
}

void fail(Context &ctx, const char *what, const dnnl::error &error) {
  if (error.status == dnnl_out_of_memory)
    return failOutOfMemory(ctx);
  char text[160];
  std::snprintf(text, sizeof(text), "onednn %s failed: %s", what,
                error.message);
  keep(ctx, Code::noLibrary, text);
}

void failOutOfMemory(Context &ctx) {
  keep(ctx, Code::outOfMemory, "expected memory for onednn, got none");
}

static Call &callOf(Context &ctx) {
  return *static_cast<Call *>(
      static_cast<CpuRuntime *>(ctx.runtime)->prepared[ctx.step]);
}

void runPart(Context &ctx, int64_t part) {
  const OneThread one;
  const NoSignals none;
  try {
    callOf(ctx).parts[static_cast<size_t>(part)].run();
  } catch (const dnnl::error &error) {
    fail(ctx, "call", error);
  } catch (const std::bad_alloc &) {
    failOutOfMemory(ctx);
  }
}

void addSummands(Context &ctx, float *sums, int64_t begin, int64_t end) {
  const Call &call = callOf(ctx);
  std::copy(call.summands + begin, call.summands + end, sums + begin);
  for (size_t part = 1; part < call.parts.size(); ++part) {
    const float *from =
        call.summands + static_cast<int64_t>(part) * call.summandSize;
    for (int64_t i = begin; i < end; ++i)
      sums[i] += from[i];
  }
}

} // namespace mn::onednn
