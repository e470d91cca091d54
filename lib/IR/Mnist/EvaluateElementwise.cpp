//===- EvaluateElementwise.cpp - elementwise ops on constants -------------===//
//
// No formulas: the functions of mnistrt/math.h, which compiled programs call.
//
//===----------------------------------------------------------------------===//

#include "lib/IR/Mnist/Evaluators.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::mnistc;

/// y[i] = f(x[0][i], ...), of operands of elements of the types T, as elements
/// of type R.
template <typename R, typename... T, typename F>
static HostTensor map(RankedTensorType type, ArrayRef<HostTensor> x, F f) {
  bool isSplat =
      llvm::all_of(x, [](const HostTensor &t) { return t.isSplat(); });
  HostTensor result(type, isSplat);
  R *y = result.mutableData<R>();
  [&]<size_t... n>(std::index_sequence<n...>) {
    for (int64_t i = 0, size = isSplat ? 1 : result.size(); i < size; ++i)
      y[i] = f(x[n].template data<T>()[i * x[n].step()]...);
  }(std::index_sequence_for<T...>());
  return result;
}

/// Applies a function of math.h to operands of the result's element type, if
/// it is one of that type and that number of operands.
template <typename F>
static MaybeTensor apply(RankedTensorType type, ArrayRef<HostTensor> x, F f) {
  return dispatch(type.getElementType(), [&](auto element) -> MaybeTensor {
    using T = decltype(element);
    if constexpr (std::is_invocable_v<F, T>) {
      if constexpr (std::is_same_v<std::invoke_result_t<F, T>, T>)
        if (x.size() == 1)
          return map<T, T>(type, x, f);
    } else if constexpr (std::is_invocable_v<F, T, T>) {
      if constexpr (std::is_same_v<std::invoke_result_t<F, T, T>, T>)
        if (x.size() == 2)
          return map<T, T, T>(type, x, f);
    }
    return std::nullopt;
  });
}

static HostTensor castElements(RankedTensorType type, ArrayRef<HostTensor> x) {
  return dispatch(x[0].getType().getElementType(), [&](auto from) {
    return dispatch(type.getElementType(), [&](auto to) {
      using T = decltype(from);
      using R = decltype(to);
      return map<R, T>(type, x, [](T a) { return mn::cast<R>(a); });
    });
  });
}

static HostTensor selectElements(RankedTensorType type,
                                 ArrayRef<HostTensor> x) {
  return dispatch(type.getElementType(), [&](auto element) {
    using T = decltype(element);
    return map<T, bool, T, T>(type, x,
                              [](bool c, T a, T b) { return c ? a : b; });
  });
}

static HostTensor compareElements(Predicate predicate, RankedTensorType type,
                                  ArrayRef<HostTensor> x) {
  return dispatch(x[0].getType().getElementType(), [&](auto element) {
    using T = decltype(element);
    switch (predicate) {
#define MNIST_PREDICATE(NAME, SIGN, PRECEDENCE)                                \
  case Predicate::NAME:                                                        \
    return map<bool, T, T>(type, x, [](T a, T b) { return a SIGN b; });
#include "lib/IR/Mnist/Elementwise.def"
    }
    llvm_unreachable("all predicates are above");
  });
}

MaybeTensor mlir::mnistc::evaluateElementwise(Operation *op,
                                              ArrayRef<HostTensor> x) {
  if (x.empty())
    return std::nullopt;
  RankedTensorType type = resultType(op);
  return llvm::TypeSwitch<Operation *, MaybeTensor>(op)
      .Case([&](CastOp) { return castElements(type, x); })
      .Case([&](CompareOp compare) {
        return compareElements(compare.getPredicate(), type, x);
      })
      .Case([&](SelectOp) { return selectElements(type, x); })
#define MNIST_FUNCTION(OP, COST, FUNCTION, NOUN)                               \
  .Case([&](OP) {                                                              \
    return apply(type, x, [](auto... v) -> decltype(mn::FUNCTION(v...)) {      \
      return mn::FUNCTION(v...);                                               \
    });                                                                        \
  })
#define MNIST_FUNCTION_OF(OP, COST, FUNCTION, GETTER, NOUN)                    \
  .Case([&](OP of) {                                                           \
    double number = of.GETTER().convertToDouble();                             \
    return apply(type, x, [number](auto v) -> decltype(mn::FUNCTION(v, v)) {   \
      return mn::FUNCTION(v, mn::cast<decltype(v)>(number));                   \
    });                                                                        \
  })
#define MNIST_INFIX(OP, COST, FUNCTION, SIGN, PRECEDENCE, NOUN)                \
  MNIST_FUNCTION(OP, COST, FUNCTION, NOUN)
#define MNIST_PREFIX(OP, COST, FUNCTION, SIGN, NOUN)                           \
  MNIST_FUNCTION(OP, COST, FUNCTION, NOUN)
#include "lib/IR/Mnist/Elementwise.def"
      .Default(MaybeTensor());
}
