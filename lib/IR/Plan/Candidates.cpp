//===- Candidates.cpp - what a contraction may be computed by -------------===//

#include "lib/IR/Plan/Candidates.h"
#include "lib/IR/Plan/Contraction.h"
#include "lib/IR/Plan/StepBody.h"

using namespace mlir;
using namespace mlir::mnistc;

namespace {
struct Predicted {
  mn::ProductSchedule schedule;
  int64_t cycles;
};
} // namespace

/// Schedules that multiply with `mma`, by their models. Direct convolutions and
/// few weights have none: where one of these is possible, it is not compared.
static void addSchedules(Operation *root, mn::Mma mma,
                         std::vector<Predicted> &found) {
  Contraction c(root, {.mma = mma});
  auto add = [&](const mn::ProductSchedule &schedule, int64_t cycles) {
    found.push_back({schedule, cycles});
  };
  if (c.isConvolution())
    return mn::shape::eachSchedule(c.conv, c.work(), add);
  auto addGathered = [&](const mn::ProductSchedule &schedule, int64_t cycles) {
    add(schedule, mn::shape::gatherCycles(mma, cycles));
  };
  if (c.kind == Contraction::Kind::matmul)
    return mn::shape::eachSchedule(c.matmul, addGathered);
  mn::shape::eachSchedule(c.product(), addGathered);
  mn::shape::eachBandsSchedule(c.conv, add);
}

/// One without a model, which then stands where the best one does.
static std::optional<mn::ProductSchedule> unpredicted(Operation *root) {
  Contraction c(root, {});
  if (c.isConvolution() &&
      c.work().direct.products <= mn::shape::Direct::mostProducts)
    return mn::shape::directSchedule(c.conv, c.work().direct);
  if (c.kind == Contraction::Kind::filterGrad &&
      mn::shape::isForFewWeights(c.conv))
    return mn::shape::fewWeightsSchedule(c.conv);
  return std::nullopt;
}

/// The best of each kind, then the next ones.
static std::vector<Predicted> shortList(ArrayRef<Predicted> all) {
  // Of equal ones the first stays the first.
  std::vector<std::pair<int64_t, size_t>> order;
  for (auto [i, each] : llvm::enumerate(all))
    order.push_back({each.cycles, i});
  llvm::sort(order);
  std::vector<Predicted> first, rest;
  llvm::SmallDenseSet<std::pair<int, int>> kinds;
  for (auto [cycles, i] : order) {
    const Predicted &each = all[i];
    if (cycles > 2 * order.front().first)
      break;
    bool isNew = kinds
                     .insert({static_cast<int>(each.schedule.way),
                              static_cast<int>(each.schedule.mma)})
                     .second;
    (isNew ? first : rest).push_back(each);
  }
  first.insert(first.end(), rest.begin(), rest.end());
  return first;
}

std::vector<StepChoice> mlir::mnistc::candidatesFor(StepOp step,
                                                    const Target &target,
                                                    Libraries libraries,
                                                    Precision precision,
                                                    StepChoice untuned) {
  std::vector<StepChoice> choices = {untuned};
  auto add = [&](StepChoice choice) {
    if (!llvm::is_contained(choices, choice))
      choices.push_back(choice);
  };
  MLIRContext *context = step.getContext();
  Operation *root = rootOf(step);
  for (const LibraryCall &call : target.libraries)
    for (Mma mma : {Mma::bf16, Mma::tf32, Mma::ffma})
      if (call.op == rowNameOf(step) && libraries.allow(call.impl) &&
          call.objection(root).empty() && allows(precision, mma) &&
          (mma == Mma::ffma || llvm::is_contained(call.tensorCores, mma)))
        add({call.impl, scheduleAttribute(context, {.mma = ofKernels(mma)})});
  std::vector<Predicted> all;
  addSchedules(root, mn::Mma::ffma, all);
  for (Mma mma : target.tensorCores)
    if (allows(precision, mma))
      addSchedules(root, ofKernels(mma), all);
  if (std::optional<mn::ProductSchedule> other = unpredicted(root))
    add({Impl::kernel, scheduleAttribute(context, *other)});
  for (const Predicted &each : shortList(all))
    if (choices.size() < mostCandidates)
      add({Impl::kernel, scheduleAttribute(context, each.schedule)});
  if (choices.size() > mostCandidates)
    choices.resize(mostCandidates);
  return choices;
}
