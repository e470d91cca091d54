//===- on_device.h - checks of a caller's memory on a GPU -------*- C++ -*-===//

#ifndef MNISTRT_INFERENCE_ON_DEVICE_H
#define MNISTRT_INFERENCE_ON_DEVICE_H

#include "core/array.h"
#include "core/executor.h"

namespace mn {

/// An error (usage) where a tensor's bytes are not memory of the device.
inline Status checkOnDevice(Executor &executor, const Tensor &tensor,
                            const void *address, size_t bytes) {
  Status status = executor.checkOnDevice(address, bytes);
  if (!status.ok())
    status.message += text(" for '%s'", tensor.name);
  return status;
}

} // namespace mn

#endif // MNISTRT_INFERENCE_ON_DEVICE_H
