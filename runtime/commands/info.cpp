//===- info.cpp - app info ------------------------------------------------===//
//
// Needs no device: all of it is in the tables.
//
//===----------------------------------------------------------------------===//

#include "commands/options.h"
#include "core/array.h"
#include "core/executor.h"
#include "data/sample_set.h"
#include "formats/json.h"
#include "mnistrt/printable.h"
#include "reports/report.h"
#include "reports/terminal.h"
#include <algorithm>
#include <cstdio>
#include <link.h>
#include <unistd.h>
#include <vector>

namespace mn {

namespace {

void printTensors(const char *what, const Tensor *tensors, int count) {
  for (int i = 0; i < count; ++i)
    std::printf("  %s '%s': %s %s\n", what, printable(tensors[i].name).c_str(),
                nameOf(tensors[i].type), shapeText(tensors[i]).c_str());
}

void printPlan(const Plan &plan) {
  const int columns = columnsOf(STDOUT_FILENO), streams = streamCount(plan);
  std::string title = text(
      "plan %s: batch %lld, %d steps, arena %zu bytes, workspace %zu bytes",
      plan.name, static_cast<long long>(plan.batch), plan.stepCount,
      plan.arenaBytes, plan.workspaceBytes);
  if (streams > 1)
    title += text(" for each of %d streams that calls libraries", streams);
  std::printf("\n%s\n", wrapped(title, columns, 4).c_str());
  printTensors("input", plan.inputs, plan.inputCount);
  printTensors("output", plan.outputs, plan.outputCount);
  std::vector<std::vector<std::string>> rows = {
      {">step", "name", "shape", "on", ">MFLOP", ">kB", "ops", "nodes"}};
  for (int i = 0; i < plan.stepCount; ++i) {
    const Step &step = plan.steps[i];
    rows.push_back({std::to_string(i + 1), step.name, step.shape, wayOf(step),
                    text("%.3f", step.flops / 1e6),
                    text("%.1f", step.bytes / 1e3), step.ops, step.nodes});
  }
  if (std::any_of(plan.steps, plan.steps + plan.stepCount,
                  [](const Step &step) { return *step.schedule; })) {
    rows[0].insert(rows[0].begin() + 4, "schedule");
    for (int i = 0; i < plan.stepCount; ++i)
      rows[i + 1].insert(rows[i + 1].begin() + 4, plan.steps[i].schedule);
  }
  std::printf("%s", table(rows, columns).c_str());
}

Json tensorsJson(const Tensor *tensors, int count) {
  Json all = Json::array();
  for (int i = 0; i < count; ++i)
    all.push_back({{"name", tensors[i].name},
                   {"type", nameOf(tensors[i].type)},
                   {"shape", std::vector(tensors[i].shape,
                                         tensors[i].shape + tensors[i].rank)}});
  return all;
}

Json planJson(const Plan &plan) {
  Json steps = Json::array();
  for (int i = 0; i < plan.stepCount; ++i) {
    const Step &step = plan.steps[i];
    steps.push_back({{"name", step.name},
                     {"shape", step.shape},
                     {"implementation", step.implementation},
                     {"mma", step.mma},
                     {"schedule", step.schedule},
                     {"ops", step.ops},
                     {"nodes", step.nodes},
                     {"flops", step.flops},
                     {"bytes", step.bytes},
                     {"stream", step.stream}});
  }
  return {{"name", plan.name},
          {"batch", plan.batch},
          {"arena_bytes", plan.arenaBytes},
          {"workspace_bytes", plan.workspaceBytes},
          {"inputs", tensorsJson(plan.inputs, plan.inputCount)},
          {"outputs", tensorsJson(plan.outputs, plan.outputCount)},
          {"steps", steps}};
}

/// The shared libraries that the program asks the loader for, by name, but for
/// the loader itself, which comes with the C library.
int addNeeded(dl_phdr_info *program, size_t, void *user) {
  const ElfW(Dyn) *dynamic = nullptr;
  for (int i = 0; i < program->dlpi_phnum; ++i)
    if (program->dlpi_phdr[i].p_type == PT_DYNAMIC)
      dynamic = reinterpret_cast<const ElfW(Dyn) *>(
          program->dlpi_addr + program->dlpi_phdr[i].p_vaddr);
  const char *names = nullptr;
  for (const ElfW(Dyn) *entry = dynamic; entry && entry->d_tag; ++entry)
    if (entry->d_tag == DT_STRTAB)
      names = reinterpret_cast<const char *>(entry->d_un.d_ptr);
  for (const ElfW(Dyn) *entry = dynamic; names && entry->d_tag; ++entry)
    if (entry->d_tag == DT_NEEDED &&
        std::string_view(names + entry->d_un.d_val).substr(0, 3) != "ld-")
      static_cast<std::vector<std::string> *>(user)->emplace_back(
          names + entry->d_un.d_val);
  return 1; // The first is the program.
}

std::vector<std::string> neededLibraries() {
  std::vector<std::string> names;
  dl_iterate_phdr(addNeeded, &names);
  std::sort(names.begin(), names.end());
  return names;
}

Json modelJson(const Model &model) {
  size_t codeBytes = 0;
  for (int i = 0; i < model.codeCount; ++i)
    for (const Cubin &part : model.codes[i].parts)
      codeBytes += part.bytes;
  Json bound = Json::array(), plans = Json::array();
  for (int i = 0; i < model.boundCount; ++i)
    bound.push_back(model.bounds[i].tensor.name);
  for (int i = 0; i < model.planCount; ++i)
    plans.push_back(planJson(model.plans[i]));
  return {{"name", model.name},
          {"compiler", model.compiler},
          {"command", model.command},
          {"target", model.target},
          {"arch", model.arch},
          {"constant_bytes", model.constantBytes},
          {"code_bytes", codeBytes},
          {"device_bytes", deviceBytes(model)},
          {"libraries", librarySearch()},
          {"needs", neededLibraries()},
          {"bound", bound},
          {"plans", plans}};
}

} // namespace

Status info(const Model &model, const Options &options) {
  if (options.json) {
    printJson(modelJson(model));
    return Status::success();
  }
  const size_t bytes = deviceBytes(model);
  std::printf("model     %s\ncompiler  %s\ncommand   %s\ntarget    %s %s\n"
              "constants %zu bytes\ndevice    %zu bytes (%s)\n",
              printable(model.name).c_str(), model.compiler,
              printable(model.command).c_str(), model.target, model.arch,
              model.constantBytes, bytes,
              bytesText(static_cast<double>(bytes)).c_str());
  std::printf("needs    ");
  for (const std::string &name : neededLibraries())
    std::printf(" %s", printable(name.c_str()).c_str());
  std::printf("\n");
  if (const std::string places = librarySearch(); !places.empty())
    std::printf("libraries %s\n", printable(places).c_str());
  if (model.classCount > 0)
    std::printf("classes   %s\n",
                printable(classesText({model.classNames,
                                       model.classNames + model.classCount}))
                    .c_str());
  for (int i = 0; i < model.boundCount; ++i)
    std::printf("bound     '%s': %s %s\n",
                printable(model.bounds[i].tensor.name).c_str(),
                nameOf(model.bounds[i].tensor.type),
                shapeText(model.bounds[i].tensor).c_str());
  for (int i = 0; i < model.planCount; ++i)
    printPlan(model.plans[i]);
  return Status::success();
}

} // namespace mn
