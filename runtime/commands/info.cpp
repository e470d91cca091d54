//===- info.cpp - app info ------------------------------------------------===//
//
// Needs no device: all of it is in the tables.
//
//===----------------------------------------------------------------------===//

#include "commands/options.h"
#include "core/array.h"
#include "core/executor.h"
#include "reports/report.h"
#include <cstdio>

namespace mn {

namespace {

void printTensors(const char *what, const Tensor *tensors, int count) {
  for (int i = 0; i < count; ++i)
    std::printf("  %s '%s': %s %s\n", what, tensors[i].name,
                nameOf(tensors[i].type), shapeText(tensors[i]).c_str());
}

void printPlan(const Plan &plan) {
  std::printf("\nplan %s: batch %lld, %d steps, arena %zu bytes, workspace %zu "
              "bytes",
              plan.name, static_cast<long long>(plan.batch), plan.stepCount,
              plan.arenaBytes, plan.workspaceBytes);
  const int streams = streamCount(plan);
  std::printf(streams > 1 ? " for each of %d streams that calls libraries\n"
                          : "\n",
              streams);
  printTensors("input", plan.inputs, plan.inputCount);
  printTensors("output", plan.outputs, plan.outputCount);
  std::vector<std::vector<std::string>> rows = {
      {">step", "name", "shape", "on", ">MFLOP", ">kB", "ops", "nodes"}};
  for (int i = 0; i < plan.stepCount; ++i) {
    const Step &step = plan.steps[i];
    rows.push_back({std::to_string(i + 1), step.name, step.shape,
                    step.implementation, text("%.3f", step.flops / 1e6),
                    text("%.1f", step.bytes / 1e3), step.ops, step.nodes});
  }
  std::printf("%s", table(rows).c_str());
}

std::string tensorsJson(const Tensor *tensors, int count) {
  std::string result = "[";
  for (int i = 0; i < count; ++i)
    result += text("%s{\"name\": %s, \"type\": \"%s\", \"shape\": %s}",
                   i ? ", " : "", quoted(tensors[i].name).c_str(),
                   nameOf(tensors[i].type), shapeText(tensors[i]).c_str());
  return result + "]";
}

void printPlanJson(const Plan &plan) {
  std::printf(
      "{\"name\": %s, \"batch\": %lld, \"arenaBytes\": %zu, "
      "\"workspaceBytes\": %zu,\n   \"inputs\": %s,\n   \"outputs\": %s,\n"
      "   \"steps\": [",
      quoted(plan.name).c_str(), static_cast<long long>(plan.batch),
      plan.arenaBytes, plan.workspaceBytes,
      tensorsJson(plan.inputs, plan.inputCount).c_str(),
      tensorsJson(plan.outputs, plan.outputCount).c_str());
  for (int i = 0; i < plan.stepCount; ++i) {
    const Step &step = plan.steps[i];
    std::printf("%s\n    {\"name\": %s, \"shape\": %s, \"implementation\": %s, "
                "\"ops\": %s, \"nodes\": %s, \"flops\": %s, \"bytes\": %s, "
                "\"stream\": %d}",
                i ? "," : "", quoted(step.name).c_str(),
                quoted(step.shape).c_str(), quoted(step.implementation).c_str(),
                quoted(step.ops).c_str(), quoted(step.nodes).c_str(),
                jsonNumber(step.flops).c_str(), jsonNumber(step.bytes).c_str(),
                step.stream);
  }
  std::printf("]}");
}

void printJson(const Model &model) {
  size_t codeBytes = 0;
  for (int i = 0; i < model.codeCount; ++i)
    codeBytes += model.codes[i].bytes;
  std::printf(
      "{\"name\": %s, \"compiler\": %s, \"command\": %s, \"target\": %s, "
      "\"arch\": %s,\n \"constantBytes\": %zu, \"codeBytes\": %zu, "
      "\"deviceBytes\": %zu,\n \"bound\": [",
      quoted(model.name).c_str(), quoted(model.compiler).c_str(),
      quoted(model.command).c_str(), quoted(model.target).c_str(),
      quoted(model.arch).c_str(), model.constantBytes, codeBytes,
      deviceBytes(model));
  for (int i = 0; i < model.boundCount; ++i)
    std::printf("%s%s", i ? ", " : "",
                quoted(model.bounds[i].tensor.name).c_str());
  std::printf("],\n \"plans\": [");
  for (int i = 0; i < model.planCount; ++i) {
    std::printf(i ? ",\n  " : "\n  ");
    printPlanJson(model.plans[i]);
  }
  std::printf("]}\n");
}

} // namespace

Status info(const Model &model, const Options &options) {
  if (options.json) {
    printJson(model);
    return Status::success();
  }
  const size_t bytes = deviceBytes(model);
  std::printf("model     %s\ncompiler  %s\ncommand   %s\ntarget    %s %s\n"
              "constants %zu bytes\ndevice    %zu bytes (%s)\n",
              model.name, model.compiler, model.command, model.target,
              model.arch, model.constantBytes, bytes,
              bytesText(static_cast<double>(bytes)).c_str());
  for (int i = 0; i < model.boundCount; ++i)
    std::printf("bound     '%s': %s %s\n", model.bounds[i].tensor.name,
                nameOf(model.bounds[i].tensor.type),
                shapeText(model.bounds[i].tensor).c_str());
  for (int i = 0; i < model.planCount; ++i)
    printPlan(model.plans[i]);
  return Status::success();
}

} // namespace mn
