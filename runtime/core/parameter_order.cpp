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
      : order(parameter.order), element(bytesOf(parameter.tensor.type)),
        begin(parameter.tensor.offset) {
    for (int d = 0; d < order.rank; ++d)
      count *= size_t(order.shape[d]);
  }

  size_t elementBytes() const { return element; }
  size_t first() const { return begin; }
  Bytes all() const { return {begin, begin + count * element}; }

  /// Where the device has element number `number` of the file.
  size_t placeOf(size_t number) const {
    std::vector<size_t> at(size_t(order.rank));
    for (int d = order.rank - 1; d >= 0; --d) {
      at[size_t(d)] = number % size_t(order.shape[d]);
      number /= size_t(order.shape[d]);
    }
    size_t place = 0;
    for (int d = 0; d < order.rank; ++d) {
      const auto from = size_t(order.perm[d]);
      place = place * size_t(order.shape[from]) + at[from];
    }
    return place;
  }

  /// All elements: from the file's order to the device's, or back.
  void toDevice(char *block) const {
    rearrange(block, [&](size_t number, size_t place) {
      return std::pair(place, number);
    });
  }
  void toFile(char *block) const {
    rearrange(block, [&](size_t number, size_t place) {
      return std::pair(number, place);
    });
  }

private:
  /// `pick(number, place)`: to which element, from which.
  template <typename Pick> void rearrange(char *block, const Pick &pick) const {
    const std::vector<char> before(block, block + count * element);
    for (size_t number = 0; number < count; ++number) {
      const auto [to, from] = pick(number, placeOf(number));
      std::memcpy(block + to * element, before.data() + from * element,
                  element);
    }
  }

  Order order;
  size_t element, begin, count = 1;
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
