//===- inputs.cpp - from the user's tensors to a plan's -------------------===//

#include "inference/inputs.h"
#include "core/pixels.h"
#include <algorithm>

namespace mn {

Rows::Rows(const Plan &plan, const Tensor &tensor)
    : tensor(&tensor), batched(plan.batch > 0 && tensor.rank > 0 &&
                               tensor.shape[0] == plan.batch),
      row(tensor.shape + batched, tensor.shape + tensor.rank), rowCount(1) {
  for (int64_t size : row)
    rowCount *= static_cast<size_t>(size);
}

namespace {

std::vector<int64_t> squeezed(std::vector<int64_t> shape) {
  shape.erase(std::remove(shape.begin(), shape.end(), 1), shape.end());
  return shape;
}

/// Whether elements of shape `a` are in memory as those of shape `b`.
bool sameRow(const std::vector<int64_t> &a, const std::vector<int64_t> &b,
             size_t count) {
  const std::vector<int64_t> x = squeezed(a), y = squeezed(b);
  const auto flat = [&](const std::vector<int64_t> &shape) {
    return shape.size() == 1 && static_cast<size_t>(shape[0]) == count;
  };
  size_t elements = 1;
  for (int64_t size : a)
    elements *= static_cast<size_t>(size);
  return elements == count && (x == y || flat(x) || flat(y));
}

bool canConvert(Type from, Type to) {
  const auto isFloat = [](Type t) { return t == Type::f32 || t == Type::f64; };
  if (from == to || isFloat(to))
    return true;
  if (isFloat(from) || to == Type::b8)
    return false;
  return bytesOf(from) <= bytesOf(to) && to != Type::u8;
}

template <typename To>
void convert(const Array &array, size_t first, size_t count, double scale,
             double shift, To *to) {
  for (size_t i = 0; i < count; ++i)
    to[i] = static_cast<To>(
        numberAt(array.type, array.bytes.data(), first + i) * scale + shift);
}

/// What becomes of a number.
Pixels factorsOf(const Array &array, const Transform &transform) {
  const double invert = array.pixels && transform.invert ? -1 : 1;
  double scale = transform.scale.value_or(array.pixels ? 1.0 / 255 : 1.0);
  double shift = invert < 0 ? 255 * scale : 0;
  const double deviation = transform.deviation.value_or(1);
  shift = (shift - transform.mean.value_or(0)) / deviation;
  scale = invert * scale / deviation;
  return {scale, shift};
}

void writeRows(const Array &array, const Rows &rows, const Transform &transform,
               size_t first, size_t count, void *to) {
  const auto [scale, shift] = factorsOf(array, transform);
  const Type type = rows.tensor->type;
  if (type == Type::f32 && array.type == Type::u8)
    return writeFloats({scale, shift},
                       reinterpret_cast<const uint8_t *>(array.bytes.data()) +
                           first,
                       count, static_cast<float *>(to));
  if (type == array.type && ((type != Type::f32 && type != Type::f64) ||
                             (scale == 1 && shift == 0))) {
    std::memcpy(to, array.bytes.data() + first * bytesOf(type),
                count * bytesOf(type));
    return;
  }
  switch (type) {
  case Type::f32:
    return convert(array, first, count, scale, shift, static_cast<float *>(to));
  case Type::f64:
    return convert(array, first, count, scale, shift,
                   static_cast<double *>(to));
  case Type::i32:
    return convert(array, first, count, 1, 0, static_cast<int32_t *>(to));
  default:
    return convert(array, first, count, 1, 0, static_cast<int64_t *>(to));
  }
}

} // namespace

Colors colorsOf(const Tensor &input) {
  const bool picture = input.rank == 4;
  return picture && input.shape[1] == 3   ? Colors::planes
         : picture && input.shape[3] == 3 ? Colors::interleaved
                                          : Colors::grey;
}

Status countRows(const Array &array, const Rows &rows, int64_t &count) {
  const Tensor &tensor = *rows.tensor;
  if (!canConvert(array.type, tensor.type))
    return badData("expected elements of type %s for input '%s', got %s",
                   nameOf(tensor.type), tensor.name, nameOf(array.type));
  const std::vector<int64_t> &shape = array.shape;
  if (sameRow(shape, rows.row, rows.rowCount)) {
    count = 1;
    return Status::success();
  }
  if (rows.batched && !shape.empty() &&
      sameRow({shape.begin() + 1, shape.end()}, rows.row, rows.rowCount)) {
    count = shape[0];
    return Status::success();
  }
  std::string expected = shapeText(rows.row);
  if (rows.batched)
    expected = "[N" + (rows.row.empty() ? "]" : ", " + expected.substr(1));
  return badData("expected shape %s for input '%s', got %s", expected.c_str(),
                 tensor.name, shapeText(shape).c_str());
}

/// Row `count - 1` again, up to `capacity`.
static void repeatLast(char *rows, size_t bytes, int64_t count,
                       int64_t capacity) {
  for (int64_t row = count; row < capacity; ++row)
    std::memcpy(rows + static_cast<size_t>(row) * bytes,
                rows + static_cast<size_t>(count - 1) * bytes, bytes);
}

Status fillRows(const Array &array, const Rows &rows,
                const Transform &transform, int64_t first, int64_t count,
                int64_t capacity, void *to) {
  writeRows(array, rows, transform, static_cast<size_t>(first) * rows.rowCount,
            static_cast<size_t>(count) * rows.rowCount, to);
  repeatLast(static_cast<char *>(to), rows.rowBytes(), count, capacity);
  return Status::success();
}

std::optional<Pixels> pixelsOf(const Array &array, const Rows &rows,
                               const Transform &transform) {
  if (array.type != Type::u8 || rows.tensor->type != Type::f32)
    return std::nullopt;
  return factorsOf(array, transform);
}

Status fillPixels(const Array &array, const Rows &rows, int64_t first,
                  int64_t count, int64_t capacity, void *to) {
  const size_t bytes = rows.rowCount;
  std::memcpy(to, array.bytes.data() + static_cast<size_t>(first) * bytes,
              static_cast<size_t>(count) * bytes);
  repeatLast(static_cast<char *>(to), bytes, count, capacity);
  return Status::success();
}

/// All but the elements.
static Status fitShape(const Array &array, const Rows &rows, int64_t &count,
                       Array &fitted) {
  MN_TRY(countRows(array, rows, count));
  fitted = {};
  fitted.type = rows.tensor->type;
  fitted.name = rows.tensor->name;
  fitted.shape = rows.row;
  if (rows.batched)
    fitted.shape.insert(fitted.shape.begin(), count);
  return Status::success();
}

Status fitPixels(Array array, const Rows &rows, Array &fitted) {
  int64_t count;
  MN_TRY(fitShape(array, rows, count, fitted));
  fitted.type = array.type;
  fitted.bytes = std::move(array.bytes);
  return Status::success();
}

Status fitArray(const Array &array, const Rows &rows,
                const Transform &transform, Array &fitted) {
  int64_t count;
  MN_TRY(fitShape(array, rows, count, fitted));
  fitted.bytes.edit().resize(static_cast<size_t>(count) * rows.rowBytes());
  if (count == 0)
    return Status::success();
  return fillRows(array, rows, transform, 0, count, count,
                  fitted.bytes.edit().data());
}

Status checkRange(const Tensor &input, const InputRange &range,
                  const void *data, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const int64_t number = input.type == Type::i32
                               ? static_cast<const int32_t *>(data)[i]
                               : static_cast<const int64_t *>(data)[i];
    if ((number < range.lowest || number > range.highest) &&
        number != range.ignored)
      return badData("expected numbers from %lld to %lld in '%s', got %lld in "
                     "element %zu",
                     static_cast<long long>(range.lowest),
                     static_cast<long long>(range.highest), input.name,
                     static_cast<long long>(number), i);
  }
  return Status::success();
}

bool mustBeAdmitted(const Plan &plan, int number) {
  bool ranged = false;
  for (int i = 0; i < plan.rangeCount; ++i)
    ranged |= plan.ranges[i].input == number;
  return ranged || plan.inputs[number].type == Type::b8;
}

Status admitInput(const Plan &plan, int number, void *data, size_t count) {
  const Tensor &input = plan.inputs[number];
  auto *bytes = static_cast<uint8_t *>(data);
  for (size_t k = 0; k < count && input.type == Type::b8; ++k)
    bytes[k] = bytes[k] != 0;
  for (int i = 0; i < plan.rangeCount; ++i)
    if (plan.ranges[i].input == number)
      MN_TRY(checkRange(input, plan.ranges[i], data, count));
  return Status::success();
}

Status admitInputs(Executor &executor, const Plan &tables, int plan, int slot) {
  for (int i = 0; i < tables.inputCount; ++i)
    if (mustBeAdmitted(tables, i))
      MN_TRY(admitInput(tables, i, executor.input(plan, i, slot),
                        countOf(tables.inputs[i])));
  return Status::success();
}

} // namespace mn
