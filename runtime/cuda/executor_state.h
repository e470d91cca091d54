//===- executor_state.h - the CUDA executor and what it holds ---*- C++ -*-===//
//
// Its life is in open.cpp, its work in executor.cpp, the order of steps in
// streams.cpp, inputs and outputs in transfers.cpp, those that a caller has on
// the device in on_device.cpp, what training needs in train.cpp, and runs that
// are looked at in timeline.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_EXECUTOR_STATE_H
#define MNISTRT_CUDA_EXECUTOR_STATE_H

#include "core/batch_plan.h"
#include "core/executor.h"
#include "cuda/shared_device.h"
#include "cuda/state.h"
#include "mnistrt/cuda/kernels/transfer.cuh"
#include <functional>
#include <optional>

namespace mn::cuda {

/// Events with a time, for as long as the object lives.
class Events {
public:
  Events(const Driver &driver, int count) : driver(driver) {
    events.resize(size_t(count));
    for (CUevent &event : events)
      driver.cuEventCreate(&event, CU_EVENT_DEFAULT);
  }
  ~Events() {
    for (CUevent event : events)
      driver.cuEventDestroy(event);
  }
  Events(const Events &) = delete;
  Events &operator=(const Events &) = delete;
  CUevent operator[](int i) const { return events[size_t(i)]; }

private:
  const Driver &driver;
  std::vector<CUevent> events;
};

class StreamOrder;

/// A run of a plan among others on batches of a data set.
struct Turn {
  Moved inputs; ///< where its batch is
  /// Enqueues the copy of the next batch; empty: not during this run.
  std::function<Status()> copyNext;
};

/// Whether a step's filters are packed from the beginning of its plan on.
inline bool packsEarly(const Plan &plan, int step) {
  return streamCount(plan) > 1 && plan.steps[step].packsEarly;
}

class CudaExecutor final : public Executor {
public:
  CudaExecutor(const Model &model, const ExecutorOptions &options,
               std::shared_ptr<SharedDevice> shared)
      : model(model), options(options), shared(std::move(shared)) {}
  ~CudaExecutor() override;
  CudaExecutor(const CudaExecutor &) = delete;
  CudaExecutor &operator=(const CudaExecutor &) = delete;

  Status open();

  Status share(std::unique_ptr<Executor> &other) override;
  Status prepare(int plan) override;
  void *input(int plan, int number, int slot) override;
  const void *output(int plan, int number, int slot) override;
  Status givePixels(int plan, int number, const Pixels &pixels) override;
  Status submit(int plan, int slot) override;
  Status wait(int slot) override;
  Status time(int plan, int count, double &microseconds) override;
  Status profile(int plan, std::vector<StepTime> &times) override;
  Status timeline(int plan, TimedRuns &runs) override;
  Status trace(int plan, Status (*look)(void *user, int step),
               void *user) override;
  Status read(size_t offset, void *to, size_t bytes) override;
  Status load(int set, const Samples &samples) override;
  Status runBatches(int plan, int set, bool shuffle, int64_t count) override;
  Status writeParameters(size_t offset, const void *from,
                         size_t bytes) override;
  Status readParameters(size_t offset, void *to, size_t bytes) override;
  Status finish() override;
  Status join() override;
  Status checkOnDevice(const void *address, size_t bytes) override;
  Status beginAfter(void *stream) override;
  Status endBefore(void *stream) override;
  Status readOnDevice(const void *from, void *to, size_t bytes) override;
  Status runOnDevice(int plan, const std::vector<CallerRows> &inputs,
                     const std::vector<CallerRows> &outputs) override;
  std::string deviceName() const override;
  double peakFlops() const override;
  std::vector<std::pair<std::string, std::string>>
  libraryVersions() const override;
  size_t deviceBytes() const override;
  Status freeBytes(int64_t &bytes) override;

private:
  /// Batches and runs of a plan in turn: batchesPerGraph of them, or one.
  struct BatchGraphs {
    CUgraphExec many = nullptr, one = nullptr;
  };
  /// What a plan has once it was prepared.
  struct PlanState {
    bool prepared = false;
    bool staged = false;
    std::vector<State::Step> steps;
    CUgraphExec graph = nullptr; ///< only the steps
    CUgraphExec direct[2] = {};  ///< with the copies of a slot
    /// Pinned: inputs, then outputs, then words that say that these are there.
    char *host[2] = {nullptr, nullptr};
    std::vector<std::optional<Pixels>> pixels; ///< of inputs given as bytes
    BatchGraphs batches[dataSets][2]; ///< of a set; in order or shuffled
  };
  /// Pinned memory for what is written to parameters, used in turn.
  struct Writer {
    static constexpr size_t chunks = 4, bytes = 64 * 1024;
    char *memory = nullptr;
    CUevent copied[chunks] = {};
    size_t next = 0;
  };
  struct Slot {
    CUevent copied = nullptr;   ///< the inputs are on the device
    CUevent computed = nullptr; ///< the outputs are in the staging memory
    CUevent done = nullptr;     ///< the outputs are on the host
    /// Those that are not 0 when the outputs of the last submission are on the
    /// host; none where the event has to say it.
    uint32_t *words = nullptr;
    unsigned wordCount = 0;
  };

  Status check(CUresult result, const char *what) const;
  Status inStep(int plan, int step, Status status) const;
  Status makeCurrent() { return shared->makeCurrent(); }
  template <typename T> T *at(size_t offset) const {
    return reinterpret_cast<T *>(base + offset);
  }

  /// Waits for the stream that computes.
  Status synchronize(const char *what);
  /// Waits for an event of it, or of a stream that waits for it.
  Status waitFor(CUevent event, const char *what);
  Status waitUntil(const std::function<CUresult()> &query, const char *what);
  /// Copies device memory to the host, once all before that has ended.
  Status copyOutOf(CUdeviceptr from, void *to, size_t bytes, const char *what);
  Status loadLibraries(int plan);
  Status allocateArena();
  Status allocate();
  Status makeStreams();
  Status makeStepStreams();
  Status initializeParameters();
  Status makeWriter();
  Status writeArena(size_t offset, const void *from, size_t bytes);
  Status copyRows(const Tensor &input, const CallerRows &rows);
  void freeSet(int set);

  Status enqueueStep(int plan, int step, StepPart part = StepPart::all,
                     const Moved &inputs = {});
  Status enqueueSteps(int plan, const Turn &turn = {});
  Status useStream(int number);
  Status awaitEvent(CUevent event);
  Status awaitSteps(const Step &step, StreamOrder &order);
  Status enqueuePacking(int plan, StreamOrder &order);
  Status awaitPacking(int step, const Plan &plan, StreamOrder &order);
  Status enqueueNextBatch(const Turn &turn);
  Status enqueueOrdered(int plan, StreamOrder &order, const Turn &turn);
  Status joinStreams(StreamOrder &order, const Turn &turn);
  Status enqueueAlone(int plan);
  Status enqueuePlan(int plan);
  Status enqueueDirect(int plan, int slot);
  Status runEagerly(int plan);
  size_t givenBytes(int plan, int number) const;
  Status enqueueTransfer(const Transfer &transfer);
  std::vector<Transfer> outputTransfers(int plan, int slot);
  Status submitDirect(int plan, int slot);
  Status submitStaged(int plan, int slot);
  Status copyInputs(int plan, CUdeviceptr from, bool fromHost, int slot);
  Status stageOutputs(int plan, CUdeviceptr to);
  Batch batchFor(const BatchPlan &plan, const Samples &samples, bool shuffle,
                 const Moved &inputs) const;
  Status prepareBatches(int plan, int set, BatchPlan &found);
  Status enqueueBatch(const Batch &batch);
  Status enqueueBatches(int plan, int set, bool shuffle, int count);
  Status runAndTime(const std::function<Status()> &enqueue, int count,
                    double &microseconds);
  Status enqueueTimed(int plan, const TimedRuns &runs);
  Status timeRuns(int plan, const TimedRuns &runs,
                  const std::function<Status()> &launch, double &microseconds);
  Status recordRun(const TimedRuns &runs, int64_t number,
                   const BatchPlan &batches, CUdeviceptr memory,
                   const std::function<Status()> &launch,
                   std::vector<BlockTimes> &times);
  Status profileSteps(int plan, std::vector<StepTime> &times);
  Status capture(const std::function<Status()> &enqueue, CUgraphExec &graph);
  Status launchGraph(CUgraphExec graph);
  /// Runs what only looks at a plan: the parameters stay as they were.
  Status keepingParameters(const std::function<Status()> &run);

  const Model &model;
  const ExecutorOptions options;
  const std::shared_ptr<SharedDevice> shared;
  State state;
  const Driver &cu = state.driver;
  MemoryMap map;
  CUdeviceptr base = 0;
  CUstream copyIn = nullptr, copyOut = nullptr;
  /// That compute; the first is state.stream. One packs filters early, and one
  /// copies the next batch, where a plan does.
  std::vector<CUstream> streams;
  int packingStream = 0, batchStream = 0;
  std::vector<CUevent> stepEvents; ///< step i has ended; the last: all before
  std::vector<CUevent> packEvents; ///< of the steps that pack early
  CUevent batchEvent = nullptr;    ///< the next batch is there
  CUevent begin = nullptr, end = nullptr;
  CUevent callerBegin = nullptr, callerEnd = nullptr; ///< of a caller's stream
  Slot slots[2];
  std::vector<PlanState> plans;
  std::shared_ptr<DeviceSet> sets[dataSets];
  std::vector<State::Step> batchSteps;    ///< the kernel of batches
  std::vector<State::Step> transferSteps; ///< of inputs and outputs
  Writer writer;
};

} // namespace mn::cuda

#endif // MNISTRT_CUDA_EXECUTOR_STATE_H
