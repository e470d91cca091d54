//===- parameter_order.cpp - elements as file and device have them --------===//

#include "core/parameter_order.h"
#include "core/tensor.h"
#include <algorithm>
#include <cstring>

using namespace mn;

namespace {
/// A range of bytes of the block.
struct Bytes {
  size_t begin, end;
  bool isEmpty() const { return begin >= end; }
};

/// A parameter that the device has in another order.
class Reordered {
public:
  explicit Reordered(const Parameter &parameter)
      : element(bytesOf(parameter.tensor.type)),
        begin(parameter.tensor.offset) {
    const Order &order = parameter.order;
    const auto rank = size_t(order.rank);
    sizes.assign(order.shape, order.shape + rank);
    steps.resize(rank);
    for (size_t d = rank; d-- > 0;) {
      const auto from = size_t(order.perm[d]);
      steps[from] = count;
      count *= size_t(sizes[from]);
    }
  }

  size_t elementBytes() const { return element; }
  size_t first() const { return begin; }
  Bytes all() const { return {begin, begin + count * element}; }

  /// Where the device has element number `number` of the file.
  size_t placeOf(size_t number) const {
    size_t place = 0;
    for (size_t d = sizes.size(); d-- > 0;) {
      place += number % size_t(sizes[d]) * steps[d];
      number /= size_t(sizes[d]);
    }
    return place;
  }

  /// All elements: from the file's order to the device's, or back.
  void toDevice(char *block) const { rearrange<true>(block); }
  void toFile(char *block) const { rearrange<false>(block); }

private:
  template <bool toDevice> void rearrange(char *block) const {
    switch (element) {
    case 8:
      return rearrangeAll<toDevice, 8>(block);
    case 4:
      return rearrangeAll<toDevice, 4>(block);
    case 2:
      return rearrangeAll<toDevice, 2>(block);
    default:
      return rearrangeAll<toDevice, 1>(block);
    }
  }
  /// Elements of `bytes` bytes: copies of a size that the compiler knows.
  template <bool toDevice, size_t bytes> void rearrangeAll(char *block) const {
    const std::vector<char> before(block, block + count * bytes);
    const size_t row = size_t(sizes.back()), step = steps.back();
    for (size_t number = 0; number < count; number += row) {
      size_t place = placeOf(number);
      for (size_t i = 0; i < row; ++i, place += step) {
        const size_t to = toDevice ? place : number + i;
        const size_t from = toDevice ? number + i : place;
        std::memcpy(block + to * bytes, before.data() + from * bytes, bytes);
      }
    }
  }

  size_t element, begin, count = 1;
  /// Of each dimension of the file's elements, and how far from one to the next
  /// on the device.
  std::vector<int64_t> sizes;
  std::vector<size_t> steps;
};

/// Some bytes of the block, and the reordered parameters that have some of
/// them: all of theirs, or a part.
struct Pieces {
  Pieces(const Model &model, size_t offset, size_t bytes)
      : range{offset, offset + bytes} {
    for (int i = 0; i < model.parameterCount; ++i) {
      if (model.parameters[i].order.rank == 0)
        continue;
      const Reordered each(model.parameters[i]);
      if (partOf(each).isEmpty())
        continue;
      const bool isWhole =
          each.all().begin >= range.begin && each.all().end <= range.end;
      (isWhole ? whole : parts).push_back(each);
    }
    std::sort(parts.begin(), parts.end(), [](const auto &a, const auto &b) {
      return a.first() < b.first();
    });
  }

  Bytes partOf(const Reordered &each) const {
    return {std::max(range.begin, each.all().begin),
            std::min(range.end, each.all().end)};
  }
  bool isPlain() const { return whole.empty() && parts.empty(); }

  /// visit(place in the device's block, bytes from the start of the range, how
  /// many) for bytes that the device has next to each other.
  template <typename Visit> Status eachRun(const Visit &visit) const {
    size_t next = range.begin;
    for (const Reordered &each : parts) {
      const Bytes part = partOf(each);
      if (next != part.begin)
        MN_TRY(visit(next, next - range.begin, part.begin - next));
      MN_TRY(eachElement(each, part, visit));
      next = part.end;
    }
    return next != range.end ? visit(next, next - range.begin, range.end - next)
                             : Status::success();
  }

  Bytes range;
  std::vector<Reordered> whole, parts;

private:
  template <typename Visit>
  Status eachElement(const Reordered &each, const Bytes &part,
                     const Visit &visit) const {
    const size_t size = each.elementBytes();
    if ((part.begin - each.first()) % size != 0 ||
        (part.end - each.first()) % size != 0)
      return Status::error(Code::badData,
                           "expected whole numbers of a parameter, got bytes " +
                               std::to_string(part.begin) + " to " +
                               std::to_string(part.end));
    for (size_t at = part.begin; at != part.end; at += size)
      MN_TRY(
          visit(each.first() + each.placeOf((at - each.first()) / size) * size,
                at - range.begin, size));
    return Status::success();
  }
};
} // namespace

Status mn::writeInOrder(const Model &model, size_t offset, const void *from,
                        size_t bytes, const PutBytes &put) {
  const Pieces pieces(model, offset, bytes);
  if (pieces.isPlain())
    return put(offset, from, bytes);
  const char *first = static_cast<const char *>(from);
  std::vector<char> block(first, first + bytes);
  for (const Reordered &each : pieces.whole)
    each.toDevice(block.data() + (each.first() - offset));
  return pieces.eachRun([&](size_t place, size_t at, size_t count) {
    return put(place, block.data() + at, count);
  });
}

Status mn::readInOrder(const Model &model, size_t offset, void *to,
                       size_t bytes, const GetBytes &get) {
  const Pieces pieces(model, offset, bytes);
  char *first = static_cast<char *>(to);
  MN_TRY(pieces.eachRun([&](size_t place, size_t at, size_t count) {
    return get(place, first + at, count);
  }));
  for (const Reordered &each : pieces.whole)
    each.toFile(first + (each.first() - offset));
  return Status::success();
}

std::vector<char> mn::initialInOrder(const Model &model) {
  std::vector<char> block(model.initial, model.initial + model.initialBytes);
  for (const Reordered &each : Pieces(model, 0, block.size()).whole)
    each.toDevice(block.data() + each.first());
  return block;
}
