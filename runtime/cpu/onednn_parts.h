//===- onednn_parts.h - what runs the parts of a step -----------*- C++ -*-===//

#ifndef MNISTRT_CPU_ONEDNN_PARTS_H
#define MNISTRT_CPU_ONEDNN_PARTS_H

#include "cpu/onednn_describe.h"
#include "mnistrt/cpu/libraries.h"
#include <csignal>
#include <memory>
#include <new>
#include <unordered_map>
#include <vector>

namespace mn::onednn {

const dnnl::engine &engine();

/// For primitives that several threads run.
dnnl::primitive_attr userScratchpad();

/// While this lives the calling thread asks OpenMP for no others: so plans
/// oneDNN, and so it runs, also outside of parallel regions.
class OneThread {
public:
  OneThread();
  ~OneThread();
  OneThread(const OneThread &) = delete;
  OneThread &operator=(const OneThread &) = delete;

private:
  const int before;
};

/// While this lives the calling thread takes no signals but those of its own
/// faults. Products of oneDNN (2.6, jit_avx512_common_gemm_f32) let the stack
/// pointer point into a buffer of the heap, and the frame of a handler would
/// overwrite what is before it.
class NoSignals {
public:
  NoSignals();
  ~NoSignals();
  NoSignals(const NoSignals &) = delete;
  NoSignals &operator=(const NoSignals &) = delete;

private:
  sigset_t before;
};

/// Memory from one form into another, by the calling thread.
struct Reorder {
  dnnl::memory from, to;
  dnnl::reorder primitive;
  dnnl::memory::desc scratchpad;

  Reorder() = default;
  /// `adds`: to what is there.
  Reorder(const dnnl::memory &from, const dnnl::memory &to, bool adds = false);
  void run(char *buffer);
};

/// What is left to do with rows of results: y = act(x + residual).
struct Finish {
  float *to = nullptr;
  const float *residual = nullptr;
  int64_t rows = 1, columns = 0, stride = 0; ///< of `to` and `residual`
  bool relu = false;

  /// `from`: dense rows; null: what is there already.
  void run(const float *from) const;
};

struct Part {
  dnnl::primitive primitive;
  std::unordered_map<int, dnnl::memory> arguments;
  size_t scratchpadBytes = 0; ///< of the primitive, and of reorders

  /// Operands in other forms than the step's: they are in the buffer of the
  /// thread, come there by `before`, and results go from there to where they
  /// belong by `after` or by `finish`.
  struct Buffered {
    int argument = 0;
    size_t offset = 0; ///< behind the scratchpad
  };
  std::vector<Buffered> buffered;
  size_t bufferedBytes = 0;
  std::vector<Reorder> before;
  Reorder after;
  Finish finish;
  bool finishesBuffer = false; ///< the first buffered operand; or what is there

  /// Of a sum of parts: which memory takes this part's summand.
  dnnl::memory summand;

  void add(int argument, const dnnl::memory::desc &desc, const float *data);
  void addBuffered(int argument, const dnnl::memory::desc &desc);
  /// An operand that the primitive wants in the form that is `wanted`.
  void addInput(int argument, const dnnl::memory::desc &plain,
                const dnnl::memory::desc &wanted, const float *data);
  /// A result of the primitive's form that goes to `to`, or is added to it.
  void addResult(int argument, const dnnl::memory::desc &form,
                 const dnnl::memory &to, bool adds = false);
  void run();

private:
  void reserve(const Reorder &reorder);
};

/// The parts of one step: its addresses never change.
struct Call : CpuRuntime::Prepared {
  Call(const char *constants, const char *constantsEnd)
      : constants(constants), constantsEnd(constantsEnd) {}

  std::vector<Part> parts;
  double work = 0; ///< of all parts, in multiplications

  /// Where there are several summands, elements of each; they are in memory of
  /// the calling thread.
  int64_t summandSize = 0;
  float *summands = nullptr;

  Part &addPart(dnnl::primitive primitive,
                const dnnl::memory::desc &scratchpad);
  /// A filter or right operand in the form that is `wanted`.
  dnnl::memory weights(const dnnl::memory::desc &plain,
                       const dnnl::memory::desc &wanted, const float *data);
  bool isConstant(const float *data) const;
  /// Before the parts run.
  void begin();

private:
  const char *constants, *constantsEnd;
  std::vector<Reorder> reorders; ///< of weights that change
  struct Known {
    const float *data;
    dnnl::memory::desc wanted;
    dnnl::memory memory;
  };
  std::vector<Known> known;
};

/// Keeps what went wrong for the executor.
void fail(Context &ctx, const char *what, const dnnl::error &error);
void failOutOfMemory(Context &ctx);

/// The parts of the step, which `make` makes on the first run.
template <typename Make>
Parts prepare(Context &ctx, const char *what, const Make &make) {
  const OneThread one;
  CpuRuntime &runtime = *static_cast<CpuRuntime *>(ctx.runtime);
  CpuRuntime::Prepared *&slot = runtime.prepared[ctx.step];
  try {
    if (!slot) {
      auto call = std::make_unique<Call>(ctx.constants, runtime.constantsEnd);
      make(*call);
      slot = call.release();
    }
    Call &call = *static_cast<Call *>(slot);
    call.begin();
    const auto count = static_cast<int64_t>(call.parts.size());
    return {count, static_cast<int64_t>(call.work / 8) / count};
  } catch (const dnnl::error &error) {
    fail(ctx, what, error);
  } catch (const std::bad_alloc &) {
    failOutOfMemory(ctx);
  }
  return {0, 0};
}

} // namespace mn::onednn

#endif // MNISTRT_CPU_ONEDNN_PARTS_H
