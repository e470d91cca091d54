//===- EvaluateElementwise.cpp - elementwise ops on constants -------------===//
//
// Formulas for all element types; integers wrap around. An op that no model has
// on its weights or shapes needs none: it is computed at run time.
//
//===----------------------------------------------------------------------===//

#include "lib/IR/Mnist/Evaluators.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;
using namespace mlir::mnistc;

/// y[i] = f(x[i]) or f(a[i], b[i]), of elements of type T, as elements of
/// type R.
template <typename T, typename R, typename F>
static HostTensor map(RankedTensorType type, ArrayRef<HostTensor> x, F f) {
  bool isSplat =
      llvm::all_of(x, [](const HostTensor &t) { return t.isSplat(); });
  HostTensor result(type, isSplat);
  int64_t size = isSplat ? 1 : result.size();
  R *y = result.mutableData<R>();
  const T *a = x[0].data<T>();
  if constexpr (std::is_invocable_v<F, T>) {
    for (int64_t i = 0; i < size; ++i)
      y[i] = f(a[i]);
  } else {
    const T *b = x[1].data<T>();
    for (int64_t i = 0, p = x[0].step(), q = x[1].step(); i < size; ++i)
      y[i] = f(a[i * p], b[i * q]);
  }
  return result;
}

namespace {
/// Applies formulas to the operands of one op.
struct Mapper {
  RankedTensorType type;
  ArrayRef<HostTensor> operands;

  /// A formula on floats only.
  template <typename F> HostTensor floats(F f) const {
    if (type.getElementType().isF64())
      return map<double, double>(type, operands, f);
    return map<float, float>(type, operands, f);
  }

  /// A formula on numbers, which yields numbers of the same type.
  template <typename F> HostTensor numbers(F f) const {
    return dispatch(type.getElementType(), [&](auto x) {
      using T = decltype(x);
      return map<T, T>(type, operands, f);
    });
  }

  template <typename F> HostTensor booleans(F f) const {
    return map<bool, bool>(type, operands, f);
  }

  /// A formula on anything, which yields a boolean.
  template <typename F> HostTensor predicate(F f) const {
    return dispatch(operands[0].getType().getElementType(), [&](auto x) {
      return map<decltype(x), bool>(type, operands, f);
    });
  }
};
} // namespace

/// `f` on integers as unsigned ones, which may overflow.
template <typename T, typename F> static T wrap(T a, T b, F f) {
  if constexpr (std::is_floating_point_v<T>)
    return f(a, b);
  else
    return T(f(uint64_t(a), uint64_t(b)));
}

template <typename T> static T divide(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return a / b;
  else if (b == T(0))
    return T(0);
  else if (std::is_signed_v<T> && b == T(-1))
    return T(0 - uint64_t(a)); // the lowest number has no negative
  else
    return T(a / b);
}

template <typename T> static T power(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::pow(a, b);
  } else if (b < T(0)) {
    return a == T(1) ? a : T(-1) == a ? (b % T(2) != T(0) ? a : T(1)) : T(0);
  } else {
    uint64_t result = 1, base = uint64_t(a);
    for (uint64_t n = uint64_t(b); n; n >>= 1, base *= base)
      if (n & 1)
        result *= base;
    return T(result);
  }
}

static HostTensor castElements(RankedTensorType type, ArrayRef<HostTensor> x) {
  return dispatch(x[0].getType().getElementType(), [&](auto from) {
    return dispatch(type.getElementType(), [&](auto to) {
      using T = decltype(from);
      using R = decltype(to);
      return map<T, R>(type, x, [](T a) { return convertNumber<R>(a); });
    });
  });
}

static HostTensor selectElements(RankedTensorType type,
                                 ArrayRef<HostTensor> x) {
  bool isSplat =
      llvm::all_of(x, [](const HostTensor &t) { return t.isSplat(); });
  HostTensor result(type, isSplat);
  int64_t size = isSplat ? 1 : result.size();
  const bool *condition = x[0].data<bool>();
  dispatch(type.getElementType(), [&](auto element) {
    using T = decltype(element);
    const T *a = x[1].data<T>(), *b = x[2].data<T>();
    for (int64_t i = 0; i < size; ++i)
      result.mutableData<T>()[i] =
          condition[i * x[0].step()] ? a[i * x[1].step()] : b[i * x[2].step()];
  });
  return result;
}

static HostTensor compareElements(Predicate predicate, const Mapper &m) {
  switch (predicate) {
  case Predicate::eq:
    return m.predicate([](auto a, decltype(a) b) { return a == b; });
  case Predicate::ne:
    return m.predicate([](auto a, decltype(a) b) { return a != b; });
  case Predicate::lt:
    return m.predicate([](auto a, decltype(a) b) { return a < b; });
  case Predicate::le:
    return m.predicate([](auto a, decltype(a) b) { return a <= b; });
  case Predicate::gt:
    return m.predicate([](auto a, decltype(a) b) { return a > b; });
  case Predicate::ge:
    return m.predicate([](auto a, decltype(a) b) { return a >= b; });
  }
  llvm_unreachable("all predicates are above");
}

static MaybeTensor evaluateUnary(Operation *op, const Mapper &m) {
  return llvm::TypeSwitch<Operation *, MaybeTensor>(op)
      .Case([&](AbsOp) {
        return m.numbers([](auto x) {
          using T = decltype(x);
          return std::is_floating_point_v<T> ? T(std::abs(double(x)))
                 : x < T(0)                  ? T(0 - uint64_t(x))
                                             : x;
        });
      })
      .Case([&](EluOp elu) {
        double alpha = elu.getAlpha().convertToDouble();
        return m.floats([alpha](auto x) {
          return x > 0 ? x : decltype(x)(alpha) * std::expm1(x);
        });
      })
      .Case([&](ErfOp) { return m.floats([](auto x) { return std::erf(x); }); })
      .Case([&](ExpOp) { return m.floats([](auto x) { return std::exp(x); }); })
      .Case([&](LogOp) { return m.floats([](auto x) { return std::log(x); }); })
      .Case([&](NegOp) {
        return m.numbers([](auto x) {
          using T = decltype(x);
          if constexpr (std::is_floating_point_v<T>)
            return -x;
          else
            return T(0 - uint64_t(x));
        });
      })
      .Case([&](NotOp) { return m.booleans([](bool x) { return !x; }); })
      .Case([&](ReluOp) {
        return m.numbers(
            [](auto x) { return x < decltype(x)(0) ? decltype(x)(0) : x; });
      })
      .Case([&](SigmoidOp) {
        return m.floats([](auto x) { return 1 / (1 + std::exp(-x)); });
      })
      .Case([&](SoftplusOp) {
        return m.floats([](auto x) {
          return (x > 0 ? x : 0) + std::log1p(std::exp(-std::abs(x)));
        });
      })
      .Case(
          [&](SqrtOp) { return m.floats([](auto x) { return std::sqrt(x); }); })
      .Case(
          [&](TanhOp) { return m.floats([](auto x) { return std::tanh(x); }); })
      .Default(MaybeTensor());
}

static MaybeTensor evaluateBinary(Operation *op, const Mapper &m) {
  return llvm::TypeSwitch<Operation *, MaybeTensor>(op)
      .Case([&](AddOp) {
        return m.numbers([](auto a, decltype(a) b) {
          return wrap(a, b, [](auto p, auto q) { return p + q; });
        });
      })
      .Case([&](AndOp) {
        return m.booleans([](bool a, bool b) { return a && b; });
      })
      .Case([&](DivOp) {
        return m.numbers([](auto a, decltype(a) b) { return divide(a, b); });
      })
      // A comparison with NaN is false; an operand unequal to itself is one.
      .Case([&](MaxOp) {
        return m.numbers(
            [](auto a, decltype(a) b) { return a > b || a != a ? a : b; });
      })
      .Case([&](MinOp) {
        return m.numbers(
            [](auto a, decltype(a) b) { return a < b || a != a ? a : b; });
      })
      .Case([&](MulOp) {
        return m.numbers([](auto a, decltype(a) b) {
          return wrap(a, b, [](auto p, auto q) { return p * q; });
        });
      })
      .Case([&](OrOp) {
        return m.booleans([](bool a, bool b) { return a || b; });
      })
      .Case([&](PowOp) {
        return m.numbers([](auto a, decltype(a) b) { return power(a, b); });
      })
      .Case([&](SubOp) {
        return m.numbers([](auto a, decltype(a) b) {
          return wrap(a, b, [](auto p, auto q) { return p - q; });
        });
      })
      .Default(MaybeTensor());
}

MaybeTensor mlir::mnistc::evaluateElementwise(Operation *op,
                                              ArrayRef<HostTensor> operands) {
  if (operands.empty())
    return std::nullopt;
  Mapper m{resultType(op), operands};
  if (isa<CastOp>(op))
    return castElements(m.type, operands);
  if (isa<SelectOp>(op))
    return selectElements(m.type, operands);
  if (auto comparison = dyn_cast<CompareOp>(op))
    return compareElements(comparison.getPredicate(), m);
  return operands.size() == 1 ? evaluateUnary(op, m) : evaluateBinary(op, m);
}
