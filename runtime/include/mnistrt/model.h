//===- model.h - a compiled model, as its generated text tells it -*-C++-*-===//
//
// The tables at the end of a generated file. The runtime walks them, captures
// them into graphs, profiles and checks them; it knows nothing of the compiler.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_MODEL_H
#define MNISTRT_MODEL_H

#include "mnistrt/training.h"
#include <cstddef>
#include <cstdint>

namespace mn {

/// Raised whenever a table below changes, or what else a file has to define. A
/// generated file and the runtime that it is linked with must have the same.
constexpr uint32_t modelVersion = 14;

enum class Type : uint8_t { f32, f64, i32, i64, b8, u8, bf16 };

/// Which kernels of a step are enqueued: all, the one that packs its filters,
/// or the others.
enum class StepPart : uint8_t { all, packing, others };

/// Bytes of the arena that are not where the plan says, but `distance` further
/// on: another copy of its inputs.
struct Moved {
  size_t begin = 0, bytes = 0, distance = 0;

  size_t placeOf(size_t offset) const {
    return offset - begin < bytes ? offset + distance : offset;
  }
};

/// What a step may use while it runs. Addresses are device addresses.
struct Context {
  char *arena = nullptr;
  Moved inputs;
  const char *constants = nullptr;
  void *workspace = nullptr; ///< after the arena; for libraries
  size_t workspaceBytes = 0;
  int step = 0;                  ///< the number of the step that runs, from 0
  StepPart part = StepPart::all; ///< of a step that packs early
  void *runtime = nullptr; ///< of the target: stream, handles, prepared calls

  template <typename T> T *at(size_t offset) const {
    return reinterpret_cast<T *>(arena + inputs.placeOf(offset));
  }
  template <typename T> const T *constant(size_t offset) const {
    return reinterpret_cast<const T *>(constants + offset);
  }
};

/// A tensor with an address: an input or output in the arena, or a constant.
struct Tensor {
  const char *name; ///< the ONNX tensor's, as the model spells it
  Type type;
  int rank;
  const int64_t *shape;
  size_t offset;
};

/// One unit of execution. `run` enqueues it (CUDA) or does it (CPU). The first
/// run of each step, when a plan is opened, may prepare and allocate; later
/// ones may not.
struct Step {
  const char *name;           ///< of the tensor that it computes
  const char *ops;            ///< "conv broadcast add relu"
  const char *nodes;          ///< ONNX nodes, separated by ", "
  const char *implementation; ///< kernel, cublas, cudnn, onednn, openblas
  const char *shape;          ///< of the result: "[64, 128]"
  double flops;               ///< floating-point operations
  double bytes;               ///< read once and written once, at least
  void (*run)(Context &);
  /// What it writes, for checking for NaN; the arena keeps it until a later
  /// step overwrites it.
  const Tensor *results = nullptr;
  int resultCount = 0;
  int stream = 0;             ///< steps of different ones run concurrently
  const int *after = nullptr; ///< steps of other streams that it waits for
  int afterCount = 0;
  const char *mma = ""; ///< what its tensor cores multiply: tf32x3, tf32, bf16
  const char *schedule = ""; ///< how it is computed: "patches, width 32"
  /// Whether its filters are parameters that a kernel of their own packs: it
  /// may run before all other steps.
  bool packsEarly = false;
  /// The last step before it whose filter it overwrites, or -1: where filters
  /// are packed early, that one is packed first.
  int packing = -1;
};

/// What the integers of an input may be: indices, or labels. Others are refused
/// before a run, since a kernel cannot refuse them.
struct InputRange {
  int input;
  int64_t lowest, highest, ignored; ///< `ignored` is allowed too
};

/// One function of the model for one batch size.
struct Plan {
  const char *name; ///< infer, infer_64
  int64_t batch; ///< the first dimension of the first input; 0 if it has none
  size_t arenaBytes;
  size_t workspaceBytes; ///< of each stream
  const Tensor *inputs;
  int inputCount;
  const Tensor *outputs;
  int outputCount;
  const Step *steps;
  int stepCount;
  const InputRange *ranges = nullptr;
  int rangeCount = 0;
  /// Whether the next batch may be copied while it runs: nothing else is in its
  /// inputs' memory, from the first to the last, and it counts batches by 1.
  bool prefetches = false;
};

/// The streams of a plan.
inline int streamCount(const Plan &plan) {
  int count = 1;
  for (int i = 0; i < plan.stepCount; ++i)
    if (plan.steps[i].stream >= count)
      count = plan.steps[i].stream + 1;
  return count;
}

/// A graph input that was bound to a value when the model was compiled.
struct Bound {
  Tensor tensor;     ///< `offset` is unused
  const void *value; ///< row-major
};

struct Cubin {
  const unsigned char *code;
  size_t bytes;
};

/// All kernels, compiled for one GPU architecture.
struct DeviceCode {
  const char *arch; ///< sm_90
  Cubin parts[2];   ///< compiled on their own; of one part the other is empty
};

/// What a tensor of the parameter block is.
enum class Role : uint8_t {
  parameter, ///< trained
  buffer,    ///< of the file, but not trained: running statistics, frozen ones
  state,     ///< of the optimizer or the trainer: `fc.weight.m`, `mn.step`
};

/// How the device keeps a tensor whose elements it has in another order than
/// the file: reshaped to `shape`, then transposed by `perm`.
struct Order {
  int rank = 0; ///< 0: in the file's order
  const int64_t *shape = nullptr, *perm = nullptr;
};

/// A tensor that outlives a run. Its offset is one into the arena, at whose
/// start all of them are, in every plan.
struct Parameter {
  Tensor tensor;
  Role role;
  Order order = {};
};

/// How a model was compiled to train.
struct Recipe {
  const char *loss;       ///< "cross-entropy on the logits, input of softmax"
  const char *optimizer;  ///< sgd, momentum, nesterov, adam, adamw, rmsprop,
                          ///< adagrad
  const char *convention; ///< torch, keras: where the two differ
  const char *clip;       ///< none, norm, value
  const char *targets;    ///< class, values
  const char *partial;    ///< what a batch that is not full is: masked, dropped
  double numbers[RecipeColumn::count]; ///< defaults of the trainer's options
  int tensors = 0; ///< of floats in the file, trained or not; 0: not known
  int64_t accumulate = 1; ///< batches that an update has
};

struct Model {
  uint32_t version;     ///< modelVersion
  const char *name;     ///< the file's, without its ending
  const char *compiler; ///< "mnistc 0.1.0"
  const char *command;  ///< the options that it was compiled with
  const char *target;   ///< cuda, cpu
  const char *arch;     ///< sm_90; sm_80,sm_90; x86-64-v3
  const unsigned char *constants;
  size_t constantBytes;
  const DeviceCode *codes; ///< CUDA: one for each architecture; else null
  int codeCount;
  const Plan *plans;
  int planCount;
  const Bound *bounds;
  int boundCount;
  const Parameter *parameters = nullptr;
  int parameterCount = 0;
  size_t parameterBytes = 0;              ///< of all, at the start of the arena
  const unsigned char *initial = nullptr; ///< their first bytes, to begin
  size_t initialBytes = 0;                ///< the rest begins as zeros
  const Recipe *recipe = nullptr;         ///< null: the model only infers
  const unsigned char *onnx = nullptr; ///< the file it was made from, to save
  size_t onnxBytes = 0;
  const char *const *classNames = nullptr; ///< null: not known
  int classCount = 0;
  /// What a report shows of it, packed (mnistrt/report_page.h); null: nothing.
  const unsigned char *report = nullptr, *reportEnd = nullptr;
  /// CUDA: whether kernels can write down when their blocks run
  /// (mnistrt/timestamps.h).
  bool timestamps = false;
};

} // namespace mn

/// Defined by the generated file. Hidden: a process may hold several models, a
/// shared library each.
extern "C" __attribute__((visibility("hidden"))) const mn::Model mn_model;

#endif // MNISTRT_MODEL_H
