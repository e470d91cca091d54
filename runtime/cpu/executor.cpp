//===- executor.cpp - runs plans on the CPU -------------------------------===//
//
// Steps run one after another on the calling thread, each on all cores. A
// submission is done when it returns: there are no cores left to overlap with.
//
//===----------------------------------------------------------------------===//

#include "core/executor.h"
#include "core/clock.h"
#include "core/parameter_order.h"
#include "core/pixels.h"
#include "core/tensor.h"
#include "cpu/batches.h"
#include "cpu/level.h"
#include "cpu/threads.h"
#include "mnistrt/cpu/libraries.h"
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>

extern "C" int omp_get_max_threads(void);
extern "C" void omp_set_num_threads(int count);

namespace mn {

namespace {

double microsecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double, std::micro>(Clock::now() - begin)
      .count();
}

constexpr size_t alignment = 256;

size_t alignUp(size_t bytes) {
  return (bytes + alignment - 1) / alignment * alignment;
}

struct FreeMemory {
  void operator()(void *memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<char, FreeMemory>;
using SharedMemory = std::shared_ptr<char>;

Memory allocate(size_t bytes) {
  return Memory(static_cast<char *>(
      std::aligned_alloc(alignment, alignUp(std::max<size_t>(bytes, 1)))));
}

/// The constants are used where they are, in the program, if they are aligned
/// as SIMD loads and libraries like it.
bool constantsAligned(const Model &model) {
  return reinterpret_cast<uintptr_t>(model.constants) % 64 == 0;
}

struct Sizes {
  size_t arena = 0, workspace = 0;
};

/// All plans share one arena, which the workspace follows.
Sizes sizesOf(const Model &model) {
  Sizes sizes;
  for (int i = 0; i < model.planCount; ++i) {
    sizes.arena = std::max(sizes.arena, alignUp(model.plans[i].arenaBytes));
    sizes.workspace =
        std::max(sizes.workspace, alignUp(model.plans[i].workspaceBytes));
  }
  return sizes;
}

/// While this lives OpenMP uses the executor's number of threads, afterwards
/// the calling thread's own again.
class Threads {
public:
  explicit Threads(int count) : before(omp_get_max_threads()) {
    omp_set_num_threads(count);
  }
  ~Threads() { omp_set_num_threads(before); }
  Threads(const Threads &) = delete;
  Threads &operator=(const Threads &) = delete;

private:
  const int before;
};

/// The ranks of a host share its cores; where OpenMP was told how many threads
/// to use, it was told so for each.
int threadsOf(const Ranks *ranks) {
  const int all = omp_get_max_threads();
  if (!ranks || std::getenv("OMP_NUM_THREADS"))
    return all;
  return std::max(all / ranks->place().localCount, 1);
}

class CpuExecutor final : public Executor {
public:
  CpuExecutor(const Model &model, const ExecutorOptions &options)
      : model(model), ranks(options.ranks),
        threads(options.threads ? options.threads : threadsOf(options.ranks)) {}
  ~CpuExecutor() override;

  Status allocateAll();
  Status copyConstants();
  Status share(std::unique_ptr<Executor> &other) override;
  Status prepare(int plan) override;
  void *input(int plan, int number, int slot) override;
  const void *output(int plan, int number, int slot) override;
  Status givePixels(int plan, int number, const Pixels &pixels) override;
  Status submit(int plan, int slot) override;
  Status wait(int) override { return Status::success(); }
  Status time(int plan, int count, double &microseconds) override;
  Status profile(int plan, std::vector<StepTime> &times) override;
  Status trace(int plan, Status (*look)(void *user, int step),
               void *user) override;
  Status read(size_t offset, void *to, size_t bytes) override;
  Status load(int set, const Samples &samples) override;
  bool usesHostMemory() const override { return true; }
  Status runBatches(int plan, int set, bool shuffle, int64_t count) override;
  Status writeParameters(size_t offset, const void *from,
                         size_t bytes) override;
  Status readParameters(size_t offset, void *to, size_t bytes) override;
  Status finish() override { return Status::success(); }
  Status join() override {
    runtime.ranks = ranks;
    return Status::success();
  }
  std::string deviceName() const override;
  size_t deviceBytes() const override;
  Status freeBytes(int64_t &bytes) override {
    bytes = -1;
    return Status::success();
  }

private:
  struct PlanState {
    bool open = false;
    std::vector<CpuRuntime::Prepared *> prepared;
    std::vector<Memory> inputs[2], outputs[2];
    std::map<int, Pixels> pixels; ///< of inputs given as bytes
  };

  /// Runs that only look leave the parameters as they were.
  class KeepParameters {
  public:
    explicit KeepParameters(CpuExecutor &executor)
        : executor(executor),
          kept(executor.arena.get(),
               executor.arena.get() + executor.model.parameterBytes) {}
    ~KeepParameters() {
      std::copy(kept.begin(), kept.end(), executor.arena.get());
    }
    KeepParameters(const KeepParameters &) = delete;
    KeepParameters &operator=(const KeepParameters &) = delete;

  private:
    CpuExecutor &executor;
    std::vector<char> kept;
  };

  Context contextOf(int plan);
  void copyInputs(int plan, int slot);
  Status runStep(Context &context, const Plan &tables);
  Status runSteps(int plan);

  const Model &model;
  Ranks *const ranks; ///< null: this process alone
  const int threads;  ///< the same in every run: libraries plan for it
  Memory arena;
  SharedMemory constants; ///< null where the program's are aligned
  std::vector<PlanState> plans;
  std::shared_ptr<const DataSet> sets[dataSets];
  CpuRuntime runtime = {};
};

CpuExecutor::~CpuExecutor() {
  for (PlanState &plan : plans)
    for (CpuRuntime::Prepared *prepared : plan.prepared)
      delete prepared;
}

Status noMemory(const Model &model) {
  return Status::error(Code::outOfMemory,
                       "expected " + std::to_string(mn::deviceBytes(model)) +
                           " bytes of memory, got less");
}

Status CpuExecutor::allocateAll() {
  const Sizes sizes = sizesOf(model);
  arena = allocate(sizes.arena + sizes.workspace);
  if (!arena)
    return noMemory(model);
  // No step may read what another program left in memory.
  std::memset(arena.get(), 0, sizes.arena + sizes.workspace);
  const std::vector<char> initial = initialInOrder(model);
  std::copy(initial.begin(), initial.end(), arena.get());
  plans.resize(model.planCount);
  return checkThreads(threads);
}

Status CpuExecutor::copyConstants() {
  if (constantsAligned(model))
    return Status::success();
  constants = allocate(model.constantBytes);
  if (!constants)
    return noMemory(model);
  std::memcpy(constants.get(), model.constants, model.constantBytes);
  return Status::success();
}

Status CpuExecutor::share(std::unique_ptr<Executor> &other) {
  auto opened =
      std::make_unique<CpuExecutor>(model, ExecutorOptions{.threads = threads});
  opened->constants = constants;
  for (int set = 0; set < dataSets; ++set)
    opened->sets[set] = sets[set];
  MN_TRY(opened->allocateAll());
  other = std::move(opened);
  return Status::success();
}

Context CpuExecutor::contextOf(int plan) {
  Context context;
  context.arena = arena.get();
  context.constants = constants
                          ? constants.get()
                          : reinterpret_cast<const char *>(model.constants);
  context.workspace = arena.get() + sizesOf(model).arena;
  context.workspaceBytes = model.plans[plan].workspaceBytes;
  runtime.failure = 0;
  runtime.prepared = plans[plan].prepared.data();
  runtime.constantsEnd = context.constants + model.constantBytes;
  context.runtime = &runtime;
  return context;
}

Status CpuExecutor::prepare(int plan) {
  PlanState &state = plans[plan];
  if (state.open)
    return Status::success();
  const Plan &tables = model.plans[plan];
  state.prepared.assign(tables.stepCount, nullptr);
  const auto allocateSlots = [](std::vector<Memory> &slots,
                                const Tensor *tensors, int count) {
    slots.clear(); // An earlier call may have failed.
    for (int i = 0; i < count; ++i) {
      slots.push_back(allocate(bytesOf(tensors[i])));
      if (!slots.back())
        return false;
      std::memset(slots.back().get(), 0, bytesOf(tensors[i]));
    }
    return true;
  };
  for (int slot = 0; slot < 2; ++slot)
    if (!allocateSlots(state.inputs[slot], tables.inputs, tables.inputCount) ||
        !allocateSlots(state.outputs[slot], tables.outputs, tables.outputCount))
      return Status::error(Code::outOfMemory,
                           "no memory for the inputs and outputs of plan '" +
                               std::string(tables.name) + "'");
  const KeepParameters kept(*this);
  Status status = runSteps(plan);
  state.open = status.ok();
  if (!status.ok())
    for (int slot = 0; slot < 2; ++slot)
      state.inputs[slot].clear(), state.outputs[slot].clear();
  return status;
}

void *CpuExecutor::input(int plan, int number, int slot) {
  return prepare(plan).ok() ? plans[plan].inputs[slot][number].get() : nullptr;
}

const void *CpuExecutor::output(int plan, int number, int slot) {
  return prepare(plan).ok() ? plans[plan].outputs[slot][number].get() : nullptr;
}

Status CpuExecutor::givePixels(int plan, int number, const Pixels &pixels) {
  if (plans[plan].open || model.plans[plan].inputs[number].type != Type::f32)
    return Status::error(Code::usage,
                         "expected pixels for an input of floats, before the "
                         "plan is prepared");
  plans[plan].pixels[number] = pixels;
  return Status::success();
}

void CpuExecutor::copyInputs(int plan, int slot) {
  const Plan &tables = model.plans[plan];
  const PlanState &state = plans[plan];
  for (int i = 0; i < tables.inputCount; ++i) {
    const Tensor &input = tables.inputs[i];
    const char *from = state.inputs[slot][i].get();
    char *to = arena.get() + input.offset;
    if (const auto pixels = state.pixels.find(i); pixels != state.pixels.end())
      writeFloats(pixels->second, reinterpret_cast<const uint8_t *>(from),
                  countOf(input), reinterpret_cast<float *>(to));
    else
      std::memcpy(to, from, bytesOf(input));
  }
}

Status CpuExecutor::runStep(Context &context, const Plan &tables) {
  tables.steps[context.step].run(context);
  return runtime.failure == 0
             ? Status::success()
             : Status::error(static_cast<Code>(runtime.failure),
                             runtime.message);
}

Status CpuExecutor::runSteps(int plan) {
  const Threads limited(threads);
  Context context = contextOf(plan);
  const Plan &tables = model.plans[plan];
  for (context.step = 0; context.step < tables.stepCount; ++context.step)
    MN_TRY(runStep(context, tables));
  return Status::success();
}

Status CpuExecutor::submit(int plan, int slot) {
  MN_TRY(prepare(plan));
  copyInputs(plan, slot);
  MN_TRY(runSteps(plan));
  const Plan &tables = model.plans[plan];
  for (int i = 0; i < tables.outputCount; ++i)
    std::memcpy(plans[plan].outputs[slot][i].get(),
                arena.get() + tables.outputs[i].offset,
                bytesOf(tables.outputs[i]));
  return Status::success();
}

Status CpuExecutor::time(int plan, int count, double &microseconds) {
  MN_TRY(prepare(plan));
  const KeepParameters kept(*this);
  copyInputs(plan, 0);
  const auto begin = Clock::now();
  for (int i = 0; i < count; ++i)
    MN_TRY(runSteps(plan));
  microseconds = microsecondsSince(begin);
  return Status::success();
}

Status CpuExecutor::profile(int plan, std::vector<StepTime> &times) {
  MN_TRY(prepare(plan));
  const KeepParameters kept(*this);
  copyInputs(plan, 0);
  const Threads limited(threads);
  Context context = contextOf(plan);
  const Plan &tables = model.plans[plan];
  times.resize(tables.stepCount);
  const auto begin = Clock::now();
  for (context.step = 0; context.step < tables.stepCount; ++context.step) {
    const double start = microsecondsSince(begin);
    MN_TRY(runStep(context, tables));
    times[context.step] = {microsecondsSince(begin) - start, start};
  }
  return Status::success();
}

Status CpuExecutor::trace(int plan, Status (*look)(void *user, int step),
                          void *user) {
  MN_TRY(prepare(plan));
  const KeepParameters kept(*this);
  copyInputs(plan, 0);
  const Threads limited(threads);
  Context context = contextOf(plan);
  const Plan &tables = model.plans[plan];
  for (context.step = 0; context.step < tables.stepCount; ++context.step) {
    MN_TRY(runStep(context, tables));
    MN_TRY(look(user, context.step));
  }
  return Status::success();
}

Status CpuExecutor::read(size_t offset, void *to, size_t bytes) {
  const Sizes sizes = sizesOf(model);
  if (offset > sizes.arena || bytes > sizes.arena - offset)
    return Status::error(Code::badData,
                         "expected a range inside of the arena of " +
                             std::to_string(sizes.arena) + " bytes, got " +
                             std::to_string(offset) + " + " +
                             std::to_string(bytes));
  std::memcpy(to, arena.get() + offset, bytes);
  return Status::success();
}

Status CpuExecutor::load(int set, const Samples &samples) {
  MN_TRY(checkSamples(set, samples));
  sets[set] = std::make_shared<DataSet>(samples);
  return Status::success();
}

Status CpuExecutor::runBatches(int plan, int set, bool shuffle, int64_t count) {
  BatchPlan found;
  MN_TRY(findBatchPlan(model, plan, found));
  if ((set < 0 || set >= dataSets) || !sets[set])
    return Status::error(Code::usage, "expected data set " +
                                          std::to_string(set) +
                                          " to be loaded, got none");
  MN_TRY(checkRows(found, sets[set]->samples()));
  MN_TRY(prepare(plan));
  const RankPlace place = ranks ? ranks->place() : RankPlace();
  for (int64_t i = 0; i < count; ++i) {
    sets[set]->nextBatch(found, arena.get(), shuffle, place);
    MN_TRY(runSteps(plan));
    if (ranks && (i + 1) % found.parts == 0)
      ++ranks->step;
  }
  return Status::success();
}

Status CpuExecutor::writeParameters(size_t offset, const void *from,
                                    size_t bytes) {
  MN_TRY(checkParameterRange(model, offset, bytes));
  return writeInOrder(model, offset, from, bytes,
                      [&](size_t at, const void *some, size_t count) {
                        std::memcpy(arena.get() + at, some, count);
                        return Status::success();
                      });
}

Status CpuExecutor::readParameters(size_t offset, void *to, size_t bytes) {
  MN_TRY(checkParameterRange(model, offset, bytes));
  return readInOrder(model, offset, to, bytes,
                     [&](size_t at, void *some, size_t count) {
                       std::memcpy(some, arena.get() + at, count);
                       return Status::success();
                     });
}

size_t CpuExecutor::deviceBytes() const {
  size_t bytes = mn::deviceBytes(model);
  for (const std::shared_ptr<const DataSet> &set : sets)
    bytes += set ? set->bytes() : 0;
  return bytes;
}

std::string CpuExecutor::deviceName() const {
  return "CPU, " + std::to_string(threads) +
         (threads == 1 ? " thread, " : " threads, ") + cpuLevel();
}

} // namespace

size_t deviceBytes(const Model &model) {
  const Sizes sizes = sizesOf(model);
  return sizes.arena + sizes.workspace + model.constantBytes;
}

std::string librarySearch() { return ""; }

bool opensSlowly() { return false; }

void setUpRanks() {}

int usefulExecutors() { return omp_get_max_threads(); }

Status countDevices(int &count) {
  count = 1;
  return Status::success();
}

Status Executor::open(const Model &model, const ExecutorOptions &options,
                      std::unique_ptr<Executor> &executor) {
  if (model.version != modelVersion)
    return Status::error(Code::noLibrary, "expected a model of version " +
                                              std::to_string(modelVersion) +
                                              ", got version " +
                                              std::to_string(model.version));
  if (std::strcmp(model.target, "cpu") != 0)
    return Status::error(Code::noLibrary,
                         std::string("expected a model for target 'cpu', got "
                                     "one for target '") +
                             model.target + "'");
  MN_TRY(checkArch(model));
  auto opened = std::make_unique<CpuExecutor>(model, options);
  MN_TRY(opened->copyConstants());
  MN_TRY(opened->allocateAll());
  executor = std::move(opened);
  return Status::success();
}

} // namespace mn
