//===- executor.h - runs the plans of a model on one device -----*- C++ -*-===//
//
// One class, two implementations: runtime/cpu/executor.cpp and
// runtime/cuda/executor.cpp; a program is linked with one of them. Not for many
// threads at a time: one executor, one thread.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CORE_EXECUTOR_H
#define MNISTRT_CORE_EXECUTOR_H

#include "core/ranks.h"
#include "core/status.h"
#include "core/timed_runs.h"
#include "mnistrt/augment.h"
#include "mnistrt/model.h"
#include "mnistrt/pixels.h"
#include <memory>
#include <string>
#include <vector>

namespace mn {

struct ExecutorOptions {
  int device = 0;
  int threads = 0;   ///< CPU: 0 for as many as OpenMP gives
  bool graph = true; ///< CUDA: replay a captured graph; off for debugging
  /// With whom a data-parallel program trains; outlives the executor.
  Ranks *ranks = nullptr;
  /// CUDA: many executors will share the device. A thread that waits for it
  /// sleeps, which leaves its core to others, and streams get more of the GPU's
  /// queues, which the environment says: no other thread may read that now. No
  /// kernel keeps others off its multiprocessors.
  bool shared = false;
};

/// What a step took, in one profiled run.
struct StepTime {
  double microseconds;
  double startMicroseconds; ///< since the start of the run
};

/// A data set in host memory: `count` rows of inputs and of targets.
struct Samples {
  const void *inputs = nullptr; ///< uint8 or float
  Type inputType = Type::u8;
  const void *targets = nullptr; ///< classes as int32, or values as float
  Type targetType = Type::i32;
  int64_t count = 0, inputElements = 0, targetElements = 0;
  /// A plan sees (scale x - mean) / deviation, of 255 - x where inverted.
  float scale = 1, mean = 0, deviation = 1;
  bool invert = false;
  Augment augment; ///< of a set that is trained on
};

/// What `load` calls the data sets.
enum DataSetNumber : int { trainSet, testSet, validationSet, dataSets };
inline constexpr DataSetNumber allSets[] = {trainSet, testSet, validationSet};

constexpr const char *nameOf(DataSetNumber set) {
  constexpr const char *names[dataSets] = {"train", "test", "validation"};
  return names[set];
}

/// Rows of an input or output where a caller has them.
struct CallerRows {
  const void *address = nullptr;
  size_t bytes = 0;    ///< of all rows
  size_t rowBytes = 0; ///< the last row fills a batch; 0: zeros do
  bool onHost = false; ///< and not on the device
};

/// On a GPU that many batches are one graph; the trainer's segments are
/// multiples.
inline constexpr int64_t batchesPerGraph = 16;

class Executor {
public:
  /// Checks that the model can run here (driver, GPU, architecture, memory:
  /// exit codes 10, 11 and 13), allocates all memory and uploads the constants.
  /// Nothing runs yet.
  static Status open(const Model &model, const ExecutorOptions &options,
                     std::unique_ptr<Executor> &executor);
  virtual ~Executor() = default;

  /// Another executor on this device, which another thread may use: with an
  /// arena, streams and graphs of its own, it shares the constants, the code,
  /// and the data sets that are loaded. To `load` another set replaces only
  /// that of one executor. Results do not depend on what runs beside.
  virtual Status share(std::unique_ptr<Executor> &other) = 0;

  /// Opens the libraries that a plan calls (exit code 12), runs every step
  /// once, which prepares these calls, and captures the graph. Called by the
  /// first use of a plan; may be called earlier.
  virtual Status prepare(int plan) = 0;

  /// Host memory (pinned) for input or output `number` of a plan. Two slots, so
  /// that one batch is filled or read while another computes.
  virtual void *input(int plan, int number, int slot) = 0;
  virtual const void *output(int plan, int number, int slot) = 0;

  /// Before a plan is prepared: `input` of an input of floats takes bytes, one
  /// for each element, and the plan sees what `pixels` makes of them.
  virtual Status givePixels(int plan, int number, const Pixels &pixels) = 0;

  /// Copies the inputs of `slot` in, runs the plan, copies its outputs out,
  /// without waiting. At most one submission of a slot is under way.
  virtual Status submit(int plan, int slot) = 0;
  /// Waits for the submission of `slot`.
  virtual Status wait(int slot) = 0;

  /// Only the plan: `count` runs back to back, and the time of all. The first
  /// one has the inputs of slot 0, others what it left in their place.
  virtual Status time(int plan, int count, double &microseconds) = 0;

  /// One run on the inputs of slot 0, step by step, each timed.
  virtual Status profile(int plan, std::vector<StepTime> &times) = 0;

  /// Runs of a plan as it always runs, whose kernels write down when they do:
  /// on a GPU, of a program that was compiled to (Model::timestamps).
  virtual Status timeline(int /*plan*/, TimedRuns & /*runs*/) {
    return Status::error(Code::usage, "expected kernels that write down their "
                                      "times, got a program without");
  }

  /// One run on the inputs of slot 0, step by step; after each step calls
  /// `look` with the step's number. `read` below may be used in it. For
  /// checking for NaN and for debugging.
  virtual Status trace(int plan, Status (*look)(void *user, int step),
                       void *user) = 0;

  /// Copies `bytes` bytes of the arena to the host.
  virtual Status read(size_t offset, void *to, size_t bytes) = 0;

  // Training. Parameters are the first bytes of the arena (Model::parameters).
  // They begin as the model says, and only `submit`, `runBatches` and
  // `writeParameters` change them: all else that runs a plan leaves them as
  // they were.

  /// Copies a data set to the device. One that was there is replaced. Where
  /// the device computes in the host's memory, it is used where it is, and must
  /// live as long as this executor and those that share it.
  virtual Status load(int set, const Samples &samples) = 0;
  /// Whether data sets are used where they are.
  virtual bool usesHostMemory() const { return false; }
  /// Enqueues, `count` times, the next batch of a set and then the plan,
  /// without waiting. Which batch of which epoch is next, the states
  /// `mn.batch`, `mn.epoch` and `mn.seed` say. Rows beyond the data are zeros,
  /// and `mn.valid` counts the others.
  /// On a GPU, batchesPerGraph of them are one launch.
  virtual Status runBatches(int plan, int set, bool shuffle, int64_t count) = 0;
  /// In order with what is enqueued; `from` may be written again at once.
  virtual Status writeParameters(size_t offset, const void *from,
                                 size_t bytes) = 0;
  /// After all that is enqueued.
  virtual Status readParameters(size_t offset, void *to, size_t bytes) = 0;
  /// Waits for all that is enqueued.
  virtual Status finish() = 0;
  /// From now on steps add up over the ranks of the options; each rank calls
  /// it. Plans are prepared before, when a rank likes.
  virtual Status join() = 0;

  // Memory of a caller on the device, and streams of a caller (CUstream).
  // Nothing waits but readOnDevice.

  /// An error (usage) where that is no memory of the device.
  virtual Status checkOnDevice(const void *, size_t) { return noDevice(); }
  /// What is enqueued next begins after what `stream` has.
  virtual Status beginAfter(void * /*stream*/) { return noDevice(); }
  /// What `stream` gets next begins after what is enqueued.
  virtual Status endBefore(void * /*stream*/) { return noDevice(); }
  virtual Status readOnDevice(const void *, void *, size_t) {
    return noDevice();
  }
  /// A plan on all its inputs, and then the rows of all its outputs, which are
  /// on the device.
  virtual Status runOnDevice(int /*plan*/, const std::vector<CallerRows> &,
                             const std::vector<CallerRows> &) {
    return noDevice();
  }

  /// "NVIDIA H200, 132 SMs, driver 580.159" or "CPU, 2 threads, avx512".
  virtual std::string deviceName() const = 0;
  /// Names and versions of the libraries that its steps have called.
  virtual std::vector<std::pair<std::string, std::string>>
  libraryVersions() const {
    return {};
  }
  /// Multiplications and additions that the device's units of fp32 can do in a
  /// second, without tensor cores; 0: not known.
  virtual double peakFlops() const { return 0; }
  /// Bytes allocated on the device, exactly: what mn::deviceBytes says before
  /// anything runs, and the data sets that were loaded since.
  virtual size_t deviceBytes() const = 0;
  /// Bytes that are free on the device; -1 where that is the host's memory,
  /// which a program is not to fill.
  virtual Status freeBytes(int64_t &bytes) = 0;

private:
  static Status noDevice() {
    return Status::error(Code::usage,
                         "expected a model compiled for a GPU, to use memory "
                         "on it, got one for a CPU");
  }
};

/// What Executor::open allocates on the device for a model.
size_t deviceBytes(const Model &model);

/// Whether Executor::open mostly waits for the device, so that a program had
/// better do something else meanwhile.
bool opensSlowly();

/// How many executors a device certainly gains from: on the CPU one for each
/// thread. 0: that depends on the model.
int usefulExecutors();

/// How many devices there are.
Status countDevices(int &count);

/// To be called before executors of ranks are opened, while no other thread
/// reads the environment: what the library that adds up takes from there.
void setUpRanks();

/// Where the target looks for libraries when a program starts, in this order;
/// empty where it opens none.
std::string librarySearch();

} // namespace mn

#endif // MNISTRT_CORE_EXECUTOR_H
