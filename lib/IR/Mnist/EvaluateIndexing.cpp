//===- EvaluateIndexing.cpp - index-renaming ops on constants -------------===//
//
// All but `concat`, `iota` and `reshape` are one thing: the source of a result
// element is a sum of one number for each of its indices.
//
//===----------------------------------------------------------------------===//

#include "lib/IR/Mnist/Evaluators.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cstring>

using namespace mlir;
using namespace mlir::mnistc;

namespace {
/// For each index along one dimension of the result, how much it adds to the
/// operand's element number; `outside` for an element of the padding.
using Offsets = SmallVector<int64_t>;
constexpr int64_t outside = INT64_MIN;
} // namespace

/// How far apart neighbours along each dimension are.
static SmallVector<int64_t> stridesOf(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (size_t dim = shape.size(); dim-- > 0; stride *= shape[dim])
    strides[dim] = stride;
  return strides;
}

/// `size` offsets, `offset` of each index.
template <typename F> static Offsets offsets(int64_t size, F offset) {
  Offsets result(size);
  for (int64_t i = 0; i < size; ++i)
    result[i] = offset(i);
  return result;
}

/// Copies the elements below dimension `dim`, whose first is at `source`.
template <typename T>
static T *copyElements(ArrayRef<Offsets> dims, size_t dim, int64_t source,
                       const T *from, T *to, T padding) {
  for (int64_t offset : dims[dim]) {
    int64_t at =
        source == outside || offset == outside ? outside : source + offset;
    if (dim + 1 != dims.size())
      to = copyElements(dims, dim + 1, at, from, to, padding);
    else
      *to++ = at == outside ? padding : from[at];
  }
  return to;
}

static HostTensor rename(Operation *op, const HostTensor &operand,
                         ArrayRef<Offsets> dims, double padding = 0) {
  RankedTensorType type = resultType(op);
  bool padded = llvm::any_of(dims, [](const Offsets &offsets) {
    return llvm::is_contained(offsets, outside);
  });
  if (operand.isSplat() && !padded)
    return operand.reshaped(type);
  HostTensor source = operand.expanded(), result(type);
  dispatch(type.getElementType(), [&](auto x) {
    using T = decltype(x);
    if (dims.empty())
      *result.mutableData<T>() = *source.data<T>();
    else
      copyElements(dims, 0, 0, source.data<T>(), result.mutableData<T>(),
                   mn::cast<T>(padding));
  });
  return result;
}

//===----------------------------------------------------------------------===//
// One op each
//===----------------------------------------------------------------------===//

static HostTensor evaluateOp(BroadcastOp op, const HostTensor &x) {
  SmallVector<int64_t> strides = stridesOf(x.getShape());
  SmallVector<Offsets> dims;
  for (int64_t size : op.getType().getShape())
    dims.push_back(Offsets(size, 0));
  for (auto [stride, dim] : llvm::zip_equal(strides, op.getDims()))
    dims[dim] = offsets(dims[dim].size(),
                        [stride = stride](int64_t i) { return i * stride; });
  return rename(op, x, dims);
}

static HostTensor evaluateOp(TransposeOp op, const HostTensor &x) {
  SmallVector<int64_t> strides = stridesOf(x.getShape());
  SmallVector<Offsets> dims;
  for (int64_t dim : op.getPerm())
    dims.push_back(offsets(x.getShape()[dim],
                           [&](int64_t i) { return i * strides[dim]; }));
  return rename(op, x, dims);
}

static HostTensor evaluateOp(SliceOp op, const HostTensor &x) {
  SmallVector<int64_t> strides = stridesOf(x.getShape());
  SmallVector<Offsets> dims;
  for (auto [dim, size] : llvm::enumerate(op.getType().getShape()))
    dims.push_back(offsets(size, [&, dim = dim](int64_t i) {
      return (op.getStarts()[dim] + i * op.getSteps()[dim]) * strides[dim];
    }));
  return rename(op, x, dims);
}

/// Where the element `i`, counted from the operand's first, comes from, or
/// `outside`.
static int64_t paddedIndex(PadMode mode, int64_t i, int64_t size) {
  if (i >= 0 && i < size)
    return i;
  switch (mode) {
  case PadMode::constant:
    return outside;
  case PadMode::reflect:
    return i < 0 ? -i : 2 * (size - 1) - i;
  case PadMode::edge:
    return i < 0 ? 0 : size - 1;
  case PadMode::wrap:
    return (i % size + size) % size;
  }
  llvm_unreachable("all modes are above");
}

static HostTensor evaluateOp(PadOp op, const HostTensor &x) {
  SmallVector<int64_t> strides = stridesOf(x.getShape());
  SmallVector<Offsets> dims;
  for (auto [dim, size] : llvm::enumerate(op.getType().getShape()))
    dims.push_back(offsets(size, [&, dim = dim](int64_t i) {
      int64_t at =
          paddedIndex(op.getMode(), i - op.getLow()[dim], x.getShape()[dim]);
      return at == outside ? outside : at * strides[dim];
    }));
  return rename(op, x, dims, op.getValue().convertToDouble());
}

/// The operand is read as three dimensions: before, along and after `dim`.
static MaybeTensor evaluateOp(GatherOp op, const HostTensor &x,
                              const HostTensor &indices) {
  ArrayRef<int64_t> shape = x.getShape();
  int64_t size = shape[op.getDim()], inner = 1, outer = 1;
  for (int64_t before : shape.take_front(op.getDim()))
    outer *= before;
  for (int64_t after : shape.drop_front(op.getDim() + 1))
    inner *= after;
  if (size == 0 && indices.size() != 0)
    return std::nullopt; // nothing to clamp an index into
  Offsets along = offsets(indices.size(), [&](int64_t i) {
    int64_t index =
        dispatch(indices.getType().getElementType(), [&](auto element) {
          return int64_t(indices.data<decltype(element)>()[i * indices.step()]);
        });
    return std::clamp<int64_t>(index < 0 ? index + size : index, 0, size - 1) *
           inner;
  });
  return rename(op, x,
                {offsets(outer, [&](int64_t i) { return i * size * inner; }),
                 along, offsets(inner, [](int64_t i) { return i; })});
}

static HostTensor evaluateConcat(ConcatOp op, ArrayRef<HostTensor> operands) {
  HostTensor result(op.getType());
  int64_t outer = 1;
  for (int64_t size : result.getShape().take_front(op.getDim()))
    outer *= size;
  dispatch(op.getType().getElementType(), [&](auto x) {
    using T = decltype(x);
    T *to = result.mutableData<T>();
    for (int64_t i = 0; i < outer; ++i)
      for (const HostTensor &operand : operands) {
        int64_t block = operand.size() / outer;
        if (operand.isSplat())
          std::fill_n(to, block, *operand.data<T>());
        else
          std::copy_n(operand.data<T>() + i * block, block, to);
        to += block;
      }
  });
  return result;
}

static HostTensor evaluateIota(IotaOp op) {
  HostTensor result(op.getType());
  ArrayRef<int64_t> shape = result.getShape();
  int64_t stride = stridesOf(shape)[op.getDim()], size = shape[op.getDim()];
  dispatch(op.getType().getElementType(), [&](auto x) {
    using T = decltype(x);
    for (int64_t i = 0, n = result.size(); i < n; ++i)
      result.mutableData<T>()[i] = T(i / stride % size);
  });
  return result;
}

MaybeTensor mlir::mnistc::evaluateIndexing(Operation *op,
                                           ArrayRef<HostTensor> operands) {
  return llvm::TypeSwitch<Operation *, MaybeTensor>(op)
      .Case<BroadcastOp, TransposeOp, SliceOp, PadOp>(
          [&](auto renaming) { return evaluateOp(renaming, operands[0]); })
      .Case([&](ConcatOp concat) { return evaluateConcat(concat, operands); })
      .Case([&](GatherOp gather) {
        return evaluateOp(gather, operands[0], operands[1]);
      })
      .Case([&](IotaOp iota) { return evaluateIota(iota); })
      .Case([&](ReshapeOp reshape) {
        return operands[0].reshaped(reshape.getType());
      })
      .Default(MaybeTensor());
}
