//===- Position.cpp - which element of a tensor ---------------------------===//

#include "lib/CodeGen/Position.h"
#include "llvm/ADT/STLExtras.h"
#include <numeric>

using namespace mlir;
using namespace mlir::mnistc;

// Of shorter ones a SIMD loop is hardly faster than no loop, and in longer ones
// a lane of a sum would add up too many.
static constexpr int64_t shortestRun = 16, longestRun = 1024;

std::optional<int64_t> Divisors::runOf(int64_t elements) const {
  int64_t run = 0;
  for (int64_t divisor : all)
    if (divisor >= shortestRun)
      run = std::gcd(run, divisor);
  if (run == 0)
    return std::nullopt;
  run = std::gcd(run, elements);
  while (run > longestRun && run % 2 == 0)
    run /= 2;
  if (run < shortestRun || run > longestRun || run == elements)
    return std::nullopt;
  return run;
}

/// Whether a digit is that of an element's place in a run of fours.
static bool isInFour(const Coordinate &c) {
  return c.base.four && c.div == 1 && c.size % 4 == 0 && c.size < c.range;
}

/// The four in which such a digit is.
static Expr fourOf(const Coordinate &c) {
  if (c.size == 4)
    return number(0);
  return infix({c.base.four->first + " / 4"}, "%", number(c.size / 4),
               Precedence::multiplicative);
}

/// Such a digit as a multiple of 4, which a compiler sees to be one, and the
/// place in that.
static Expr printInFour(const Coordinate &c) {
  const std::string &place = c.base.four->number;
  if (c.size == 4)
    return {place};
  return infix(fourOf(c), "* 4 +", {place}, Precedence::additive);
}

/// base / div % size
static Expr printDigit(const Coordinate &c) {
  if (c.size <= 1 || c.div == 0 || c.div >= c.range)
    return number(0);
  if (isInFour(c))
    return printInFour(c);
  Expr result = c.base;
  const NamesInFour *four = c.base.four;
  const bool hasRest = c.size < (c.range + c.div - 1) / c.div;
  if (four && (c.div > 1 || hasRest))
    result = {c.div % 4 == 0 ? four->first : four->divided};
  auto divide = [&](StringRef sign, int64_t by, int64_t digit) {
    result = infix(result, sign, number(by), Precedence::multiplicative);
    if (c.base.divisors)
      c.base.divisors->add(digit);
  };
  if (c.div > 1)
    divide("/", c.div, c.div);
  // Not by division: the product may overflow.
  if (hasRest)
    divide("%", c.size, c.div * c.size);
  return result;
}

/// A sum of digits, each times a number, and an offset.
static Expr printSum(ArrayRef<Coordinate> terms, int64_t offset) {
  Expr sum;
  auto add = [&](const Expr &term, bool negative) {
    if (sum.text.empty())
      sum = negative ? Expr{"-" + term.as(Precedence::unary), Precedence::unary}
                     : term;
    else
      sum = infix(sum, negative ? "-" : "+", term, Precedence::additive);
  };
  bool leading = !terms.empty() && terms.front().scale < 0 && offset > 0;
  if (leading)
    add(number(offset), false);
  for (const Coordinate &term : terms) {
    Expr digit = printDigit(term);
    int64_t by = std::abs(term.scale);
    if (digit.text == "0" || by == 0)
      continue;
    if (by != 1)
      digit = infix(digit, "*", number(by), Precedence::multiplicative);
    add(digit, term.scale < 0);
  }
  if (sum.text.empty())
    return number(offset);
  if (offset != 0 && !leading)
    add(number(std::abs(offset)), offset < 0);
  return sum;
}

Expr Coordinate::print() const { return printSum({*this}, offset); }

Expr Coordinate::isBelow(int64_t bound) const {
  // So that a compiler sees that it is the same for all of a four.
  if (isInFour(*this) && scale == 1 && (bound - offset) % 4 == 0)
    return infix(fourOf(*this), "<", number((bound - offset) / 4),
                 Precedence::relational);
  return infix(print(), "<", number(bound), Precedence::relational);
}

Position mlir::mnistc::positionAt(const Expr &base, ArrayRef<int64_t> shape) {
  int64_t range = 1;
  for (int64_t size : shape)
    range *= size;
  Position result(shape.size());
  int64_t div = 1;
  for (size_t dim = shape.size(); dim-- > 0;) {
    result[dim] = {base, range, div, shape[dim], 1, 0};
    div *= shape[dim];
  }
  return result;
}

/// Whether `outer` and `inner` are neighbouring digits of one index.
static bool areNeighbours(const Coordinate &outer, const Coordinate &inner) {
  return outer.base.text == inner.base.text && inner.div != 0 &&
         outer.div == inner.div * inner.size &&
         outer.scale == inner.scale * inner.size;
}

/// What the coordinates add to the number of an element, as far as they are no
/// constants; from the first dimension on.
static SmallVector<Coordinate>
termsOf(const Position &position, ArrayRef<int64_t> shape, int64_t &offset) {
  SmallVector<Coordinate> terms;
  int64_t stride = 1;
  offset = 0;
  for (size_t dim = shape.size(); dim-- > 0;) {
    Coordinate term = position[dim];
    offset += term.offset * stride;
    term.scale *= stride;
    stride *= shape[dim];
    if (term.terms && term.div == 1 && term.size == term.range)
      for (Coordinate part : llvm::reverse(*term.terms)) {
        part.scale *= term.scale;
        terms.push_back(part);
      }
    else if (term.size > 1)
      terms.push_back(term);
  }
  std::reverse(terms.begin(), terms.end());
  return terms;
}

/// The same sum, of which neighbouring digits are one.
static SmallVector<Coordinate> joined(ArrayRef<Coordinate> terms) {
  SmallVector<Coordinate> result;
  for (const Coordinate &term : terms)
    if (!result.empty() && areNeighbours(result.back(), term)) {
      int64_t size = result.back().size;
      result.back() = term;
      result.back().size *= size;
    } else {
      result.push_back(term);
    }
  return result;
}

Expr mlir::mnistc::linearIndex(const Position &position,
                               ArrayRef<int64_t> shape) {
  int64_t offset;
  SmallVector<Coordinate> terms = termsOf(position, shape, offset);
  return printSum(joined(terms), offset);
}

/// Splits the coordinates anew without going through a linear index, which
/// works where groups of dimensions have equal sizes.
static bool regroup(const Position &position, ArrayRef<int64_t> from,
                    ArrayRef<int64_t> to, Position &result) {
  SmallVector<Coordinate> digits; // from the last dimension on
  for (size_t dim = from.size(); dim-- > 0;) {
    Coordinate digit = position[dim];
    if (from[dim] == 1)
      continue;
    if (digit.size != from[dim])
      return false;
    if (!digits.empty() && digit.isPlain() && digits.back().isPlain() &&
        digit.base.text == digits.back().base.text &&
        digit.div == digits.back().div * digits.back().size)
      digits.back().size *= digit.size;
    else
      digits.push_back(digit);
  }
  result.assign(to.size(), Coordinate::opaque(number(0), 1));
  size_t current = 0;
  int64_t used = 1;
  for (size_t dim = to.size(); dim-- > 0;) {
    if (to[dim] == 1)
      continue;
    if (current == digits.size())
      return false;
    const Coordinate &digit = digits[current];
    if (to[dim] == 0 || digit.size % (used * to[dim]) != 0)
      return false;
    if (!digit.isPlain() && to[dim] != digit.size)
      return false;
    result[dim] = digit;
    result[dim].div = digit.div * used;
    result[dim].size = to[dim];
    used *= to[dim];
    if (used == digit.size) {
      ++current;
      used = 1;
    }
  }
  return true;
}

/// (terms + offset) / div % size, where each term is a multiple of div * size,
/// or adds to this digit alone, or all that are less than `div` stay so.
static std::optional<Coordinate>
digitOf(ArrayRef<Coordinate> terms, int64_t offset, int64_t div, int64_t size) {
  SmallVector<Coordinate> mine;
  const int64_t own = offset / div % size;
  int64_t most = own, mostBelow = offset % div;
  for (Coordinate term : terms) {
    if (term.scale < 0)
      return std::nullopt;
    if (term.scale % (div * size) == 0)
      continue;
    if (term.scale % div != 0) {
      mostBelow += term.scale * (term.size - 1);
      continue;
    }
    term.scale /= div;
    most += term.scale * (term.size - 1);
    mine.push_back(term);
  }
  if (mostBelow >= div || most >= size)
    return std::nullopt;
  for (Coordinate &term : mine)
    term.offset = 0;
  mine = joined(mine);
  if (mine.size() == 1 && mine.front().scale == 1 &&
      mine.front().size == size) {
    mine.front().offset = own;
    return mine.front();
  }
  Coordinate digit = Coordinate::opaque(printSum(mine, 0), size);
  digit.offset = own;
  digit.terms =
      std::make_shared<SmallVector<Coordinate, 0>>(mine.begin(), mine.end());
  return digit;
}

/// Coordinate by coordinate, where none needs the whole linear index.
static bool redigit(const Position &position, ArrayRef<int64_t> from,
                    ArrayRef<int64_t> to, Position &result) {
  int64_t offset, div = 1;
  SmallVector<Coordinate> terms = termsOf(position, from, offset);
  result.assign(to.size(), Coordinate::opaque(number(0), 1));
  for (size_t dim = to.size(); dim-- > 0;) {
    if (to[dim] == 0 || offset < 0)
      return false;
    std::optional<Coordinate> digit = digitOf(terms, offset, div, to[dim]);
    if (!digit)
      return false;
    result[dim] = *digit;
    div *= to[dim];
  }
  return true;
}

Position mlir::mnistc::reshaped(const Position &position,
                                ArrayRef<int64_t> from, ArrayRef<int64_t> to,
                                llvm::function_ref<Expr(const Expr &)> name) {
  Position result;
  if (regroup(position, from, to, result) ||
      redigit(position, from, to, result))
    return result;
  return positionAt(name(linearIndex(position, from)), to);
}
