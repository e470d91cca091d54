//===- device.cpp - can this model run here? ------------------------------===//

#include "cuda/device.h"
#include "core/executor.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <utility>

namespace mn::cuda {

//===----------------------------------------------------------------------===//
// The device
//===----------------------------------------------------------------------===//

Status findDevice(const Driver &driver, int number, Device &device) {
  int count = 0;
  driver.cuDeviceGetCount(&count);
  if (count == 0)
    return Status::error(Code::noDevice,
                         "expected an NVIDIA GPU, got none; compile with "
                         "--target=cpu to run without");
  if (number < 0 || number >= count)
    return Status::error(Code::noDevice, "expected a GPU from 0 to " +
                                             std::to_string(count - 1) +
                                             ", got " + std::to_string(number));
  char name[256] = {};
  int major = 0, minor = 0, kilohertz = 0;
  CUresult result = driver.cuDeviceGet(&device.number, number);
  const auto read = [&](CUdevice_attribute attribute, int &value) {
    if (result == CUDA_SUCCESS)
      result = driver.cuDeviceGetAttribute(&value, attribute, device.number);
  };
  read(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device.multiprocessors);
  read(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, device.shared);
  read(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK,
       device.reservedShared);
  read(CU_DEVICE_ATTRIBUTE_CLOCK_RATE, kilohertz);
  read(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, major);
  read(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, minor);
  if (result == CUDA_SUCCESS)
    result = driver.cuDeviceGetName(name, sizeof(name) - 1, device.number);
  if (result != CUDA_SUCCESS)
    return Status::error(Code::noDevice,
                         "GPU " + std::to_string(number) +
                             " does not answer: " + describe(driver, result));
  device.name = name;
  device.capability = 10 * major + minor;
  // Two operations a unit and clock; units: CUDA C++ Programming Guide,
  // "Arithmetic Instructions".
  const int units = device.capability < 86 ? 64 : 128;
  device.peakFlops = 2e3 * units * device.multiprocessors * kilohertz;
  return Status::success();
}

namespace {

/// "sm_90a"
struct Arch {
  explicit Arch(const char *text)
      : capability(std::strncmp(text, "sm_", 3) == 0 ? std::atoi(text + 3) : 0),
        suffix(*text ? text[std::strlen(text) - 1] : 0) {}

  /// Code runs on later minor versions too, but with "a" only on that one.
  bool fits(const Device &device) const {
    return suffix == 'a' ? capability == device.capability
                         : capability / 10 == device.capability / 10 &&
                               capability <= device.capability;
  }
  /// The later has more of the device's instructions; so have "a" and "f".
  bool operator<(const Arch &other) const {
    return std::pair(capability, suffix > '9') <
           std::pair(other.capability, other.suffix > '9');
  }

  int capability;
  char suffix;
};

} // namespace

Status chooseCode(const Device &device, const Model &model,
                  const DeviceCode *&code) {
  code = nullptr;
  std::string all;
  for (int i = 0; i < model.codeCount; ++i) {
    const DeviceCode &each = model.codes[i];
    all += std::string(i ? ", " : "") + each.arch;
    if (Arch(each.arch).fits(device) &&
        (!code || Arch(code->arch) < Arch(each.arch)))
      code = &each;
  }
  if (code)
    return Status::success();
  const std::string own = "sm_" + std::to_string(device.capability);
  return Status::error(Code::wrongArch,
                       "expected a GPU of " + all +
                           ", as the program is built for, got GPU " +
                           std::to_string(device.number) + ", " + device.name +
                           ", of " + own + "; compile with --arch=" + own);
}

std::string driverVersion(const Driver &driver) {
  std::string version;
  if (std::ifstream file("/sys/module/nvidia/version"); file >> version)
    return version;
  int number = 0;
  driver.cuDriverGetVersion(&number);
  return "for CUDA " + std::to_string(number / 1000) + "." +
         std::to_string(number / 10 % 100);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

size_t packedBytes(const Tensor *tensors, int count) {
  size_t bytes = 0;
  for (int i = 0; i < count; ++i)
    bytes += aligned(bytesOf(tensors[i]));
  return bytes;
}

bool isStaged(const Plan &plan) {
  return packedBytes(plan.inputs, plan.inputCount) +
             packedBytes(plan.outputs, plan.outputCount) >
         directBytes;
}

int workspacesBefore(const Plan &plan, int stream) {
  std::vector<bool> callsLibraries(size_t(streamCount(plan)));
  for (int i = 0; i < plan.stepCount; ++i)
    if (std::strcmp(plan.steps[i].implementation, "kernel") != 0)
      callsLibraries[size_t(plan.steps[i].stream)] = true;
  return int(std::count(callsLibraries.begin(), callsLibraries.begin() + stream,
                        true));
}

Moved otherInputs(const Plan &plan, const MemoryMap &map) {
  if (!plan.prefetches || plan.inputCount == 0)
    return {};
  size_t begin = plan.inputs[0].offset, end = 0;
  for (int i = 0; i < plan.inputCount; ++i) {
    begin = std::min(begin, plan.inputs[i].offset);
    end = std::max(end, plan.inputs[i].offset + bytesOf(plan.inputs[i]));
  }
  return {begin, end - begin, map.inputs - map.arena - begin};
}

MemoryMap mapMemory(const Model &model) {
  size_t arena = 0, inputs = 0, workspace = 0, staging = 0;
  for (int i = 0; i < model.planCount; ++i) {
    const Plan &plan = model.plans[i];
    arena = std::max(arena, aligned(plan.arenaBytes));
    inputs = std::max(inputs, aligned(otherInputs(plan, {}).bytes));
    workspace = std::max(workspace,
                         aligned(plan.workspaceBytes) *
                             size_t(workspacesBefore(plan, streamCount(plan))));
    if (isStaged(plan))
      staging =
          std::max(staging, packedBytes(plan.inputs, plan.inputCount) +
                                packedBytes(plan.outputs, plan.outputCount));
  }
  MemoryMap map;
  map.inputs = map.arena + arena;
  map.number = map.inputs + inputs;
  map.workspace = map.number + (inputs != 0 ? aligned(sizeof(int64_t)) : 0);
  map.staging[0] = map.workspace + workspace;
  map.staging[1] = map.staging[0] + staging;
  map.bytes = std::max<size_t>(map.staging[1] + staging, 256);
  return map;
}

} // namespace mn::cuda

size_t mn::deviceBytes(const Model &model) {
  return mn::cuda::mapMemory(model).bytes +
         mn::cuda::aligned(model.constantBytes);
}
