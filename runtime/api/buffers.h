//===- buffers.h - the caller's memory for tensors --------------*- C++ -*-===//

#ifndef MNISTRT_API_BUFFERS_H
#define MNISTRT_API_BUFFERS_H

#include "api/state.h"
#include "inference/inputs.h"
#include <cstring>

namespace mn {

/// Tensors that a caller has a buffer for each.
struct Wanted {
  const Plan &plan;
  const char *what; ///< input, output, target
  const Tensor *tensors;
  int count;

  static Wanted inputs(const Plan &plan) {
    return {plan, "input", plan.inputs, plan.inputCount};
  }
  static Wanted outputs(const Plan &plan) {
    return {plan, "output", plan.outputs, plan.outputCount};
  }
};

/// What mnist.h tells of a tensor.
inline mn_tensor describe(const Plan &plan, const Tensor &tensor) {
  const Rows rows(plan, tensor);
  return {tensor.name,     static_cast<mn_type>(tensor.type),
          tensor.rank,     tensor.shape,
          rows.rowBytes(), rows.batched};
}

/// The bytes of `count` rows, from the first one's.
struct Part {
  Part(const Rows &rows, int64_t first, int64_t count)
      : offset(rows.batched ? static_cast<size_t>(first) * rows.rowBytes() : 0),
        bytes(rows.rowBytes() * static_cast<size_t>(rows.batched ? count : 1)) {
  }
  size_t offset, bytes;
};

/// Finds the tensor that a buffer is for: by its name, or by its place where
/// no buffer has one.
template <typename Buffer>
Status findTensor(const Wanted &wanted, const Buffer *buffers, int i,
                  int &number) {
  if ((buffers[i].name == nullptr) != (buffers[0].name == nullptr))
    return usageError(
        text("expected names of all %ss or of none, got some", wanted.what));
  if (!buffers[i].name) {
    number = i;
    return Status::success();
  }
  std::string known;
  for (number = 0; number < wanted.count; ++number) {
    if (std::strcmp(wanted.tensors[number].name, buffers[i].name) == 0)
      return Status::success();
    known += text("%s'%s'", number ? ", " : "", wanted.tensors[number].name);
  }
  const char *article = std::strchr("aeiou", wanted.what[0]) ? "an" : "a";
  return usageError(text("expected %s %s of the model (%s), got '%s'", article,
                         wanted.what, known.c_str(), buffers[i].name));
}

/// That a buffer has memory of the size of its rows.
template <typename Buffer>
Status checkBuffer(const Wanted &wanted, const Tensor &tensor, int64_t rows,
                   const Buffer &buffer) {
  const Rows row(wanted.plan, tensor);
  size_t bytes = row.rowBytes();
  if (row.batched &&
      __builtin_mul_overflow(bytes, static_cast<size_t>(rows), &bytes))
    return usageError(text("expected rows that fit in memory, got %lld",
                           static_cast<long long>(rows)));
  if (buffer.bytes != bytes)
    return usageError(text("expected %zu bytes for %s '%s', got %zu", bytes,
                           wanted.what, tensor.name, buffer.bytes));
  if (!buffer.data && bytes != 0)
    return usageError(text("expected memory for %s '%s', got NULL", wanted.what,
                           tensor.name));
  return Status::success();
}

/// The addresses of the tensors, in their order.
template <typename Buffer, typename Address>
Status orderBuffers(const Wanted &wanted, int64_t rows, const Buffer *buffers,
                    int count, std::vector<Address> &ordered) {
  if (count != wanted.count)
    return usageError(text("expected %d %s buffers, got %d", wanted.count,
                           wanted.what, count));
  if (count > 0 && !buffers)
    return usageError(text("expected %s buffers, got NULL", wanted.what));
  std::vector<bool> seen(static_cast<size_t>(count));
  ordered.resize(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) {
    int number;
    MN_TRY(findTensor(wanted, buffers, i, number));
    const Tensor &tensor = wanted.tensors[number];
    if (seen[number])
      return usageError(text("expected one buffer for %s '%s', got two",
                             wanted.what, tensor.name));
    seen[number] = true;
    MN_TRY(checkBuffer(wanted, tensor, rows, buffers[i]));
    ordered[number] = static_cast<Address>(buffers[i].data);
  }
  return Status::success();
}

} // namespace mn

#endif // MNISTRT_API_BUFFERS_H
