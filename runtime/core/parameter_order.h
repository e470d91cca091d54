//===- parameter_order.h - elements as the file and the device have them --===//
//
// The device keeps some parameters in an order of its own (Parameter::order).
// Executors alone know: what they are given, and what they give, has the file's
// order.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CORE_PARAMETER_ORDER_H
#define MNISTRT_CORE_PARAMETER_ORDER_H

#include "core/status.h"
#include "mnistrt/model.h"
#include <functional>
#include <vector>

namespace mn {

/// `bytes` bytes of the device's block of parameters, `offset` bytes from its
/// start, are to be written from `from`, or read to `to`.
using PutBytes =
    std::function<Status(size_t offset, const void *from, size_t bytes)>;
using GetBytes = std::function<Status(size_t offset, void *to, size_t bytes)>;

/// What Executor::writeParameters and readParameters do, with `put` and `get`
/// for bytes as the device has them. A parameter in another order is written
/// whole, or element by element where the range has a part of it.
Status writeInOrder(const Model &model, size_t offset, const void *from,
                    size_t bytes, const PutBytes &put);
Status readInOrder(const Model &model, size_t offset, void *to, size_t bytes,
                   const GetBytes &get);

/// The initial bytes, as the device has them.
std::vector<char> initialInOrder(const Model &model);

} // namespace mn

#endif // MNISTRT_CORE_PARAMETER_ORDER_H
