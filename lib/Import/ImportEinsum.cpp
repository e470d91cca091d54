//===- ImportEinsum.cpp - sums of products, by an equation ----------------===//
//
// Each letter is a dimension. Two operands become one by a matrix product:
// what both have and is not summed is a stack of matrices, what only one has is
// its rows, what is summed is between them. More are taken two by two, from the
// left.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Operators.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::mnistc;
using namespace mlir::mnistc::importer;

/// Of a dimension: a letter, or a digit for one that an ellipsis stands for,
/// counted from the last.
using Labels = std::string;

namespace {
struct Operand {
  Value value;
  Labels labels;

  bool has(char label) const { return labels.find(label) != Labels::npos; }
  int64_t sizeOf(char label) const {
    return shapeOf(value)[labels.find(label)];
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// The equation
//===----------------------------------------------------------------------===//

static constexpr StringRef ellipsis = "...";

/// `text` with a digit for each of `count` dimensions instead of an ellipsis.
static Labels labelsOf(StringRef equation, StringRef text, int64_t count) {
  Labels labels;
  bool hadEllipsis = false;
  while (!text.empty()) {
    if (!hadEllipsis && text.consume_front(ellipsis)) {
      for (int64_t i = count; i-- > 0;)
        labels += char('0' + i);
      hadEllipsis = true;
      continue;
    }
    if (!llvm::isAlpha(text.front()))
      fail("expected letters and at most one '...' for each operand in the "
           "equation, got " +
           quoted(equation));
    labels += text.front();
    text = text.drop_front();
  }
  return labels;
}

/// How many dimensions the ellipsis of an operand stands for.
static int64_t ellipsisOf(StringRef equation, StringRef text, int64_t rank) {
  bool has = text.contains(ellipsis);
  int64_t letters = int64_t(text.size()) - (has ? int64_t(ellipsis.size()) : 0);
  if (has ? letters > rank : letters != rank)
    fail("expected as many letters as dimensions, got " + quoted(equation) +
         " for an operand of " + Twine(rank));
  if (rank - letters > 10)
    unsupported("an ellipsis of more than 10 dimensions is not supported, "
                "got " +
                Twine(rank - letters));
  return rank - letters;
}

/// Where the equation does not say: the ellipsis, then letters that are there
/// once, in alphabetical order.
static Labels impliedResult(StringRef operands, int64_t dims) {
  Labels result;
  for (int64_t i = dims; i-- > 0;)
    result += char('0' + i);
  Labels letters;
  for (char c : operands)
    if (llvm::isAlpha(c) && operands.count(c) == 1)
      letters += c;
  llvm::sort(letters);
  return result + letters;
}

//===----------------------------------------------------------------------===//
// One operand
//===----------------------------------------------------------------------===//

static Value transposed(Node &n, const Operand &x, const Labels &to) {
  Shape order, shape;
  for (char label : to) {
    order.push_back(x.labels.find(label));
    shape.push_back(shapeOf(x.value)[order.back()]);
  }
  if (llvm::equal(order, llvm::seq<int64_t>(order.size())))
    return x.value;
  return n.create<TransposeOp>(tensorType(shape, elementOf(x.value)), x.value,
                               ArrayRef(order));
}

/// A letter that an operand has twice is its diagonal: in a matrix one element
/// of each row, and one more column each time.
static void takeDiagonals(Node &n, Operand &x) {
  for (size_t i = 0; i < x.labels.size(); ++i) {
    char label = x.labels[i];
    size_t second = x.labels.find(label, i + 1);
    if (second == Labels::npos)
      continue;
    int64_t size = shapeOf(x.value)[i];
    if (shapeOf(x.value)[second] != size)
      fail("expected one size for each letter, got " + Twine(size) + " and " +
           Twine(shapeOf(x.value)[second]) + " for '" + Twine(label) + "'");
    // The two last.
    Shape order, shape;
    Labels labels;
    for (size_t dim = 0; dim < x.labels.size(); ++dim)
      if (dim != i && dim != second) {
        order.push_back(dim);
        shape.push_back(shapeOf(x.value)[dim]);
        labels += x.labels[dim];
      }
    order.append({int64_t(i), int64_t(second)});
    Shape square(shape), flat(shape);
    square.append({size, size});
    flat.push_back(size * size);
    shape.push_back(size);
    Value y = n.create<TransposeOp>(tensorType(square, elementOf(x.value)),
                                    x.value, ArrayRef(order));
    Shape starts(shape.size(), 0), steps(shape.size(), 1);
    steps.back() = size + 1;
    x.value = n.create<SliceOp>(tensorType(shape, elementOf(y)),
                                n.reshape(y, flat), starts, steps);
    x.labels = labels + label;
    i = size_t(-1); // from the beginning
  }
}

/// Sums over what neither another operand nor the result has.
static void sumOver(Node &n, Operand &x,
                    llvm::function_ref<bool(char)> isKept) {
  Shape dims;
  Labels labels;
  for (auto [dim, label] : llvm::enumerate(x.labels))
    if (isKept(label))
      labels += label;
    else
      dims.push_back(dim);
  if (!dims.empty())
    x = {n.create<ReduceSumOp>(x.value, dims), labels};
}

//===----------------------------------------------------------------------===//
// Two operands
//===----------------------------------------------------------------------===//

/// A dimension of one element is repeated where the other operand has more.
static void matchSizes(Node &n, Operand &x, const Operand &other) {
  Shape shape(shapeOf(x.value));
  for (auto [dim, label] : llvm::enumerate(x.labels)) {
    if (!other.has(label) || other.sizeOf(label) == shape[dim])
      continue;
    if (shape[dim] == 1)
      shape[dim] = other.sizeOf(label);
    else if (other.sizeOf(label) != 1)
      fail("expected one size for each letter, got " + Twine(shape[dim]) +
           " and " + Twine(other.sizeOf(label)) + " for '" + Twine(label) +
           "'");
  }
  x.value = n.broadcast(x.value, shape);
}

static int64_t sizeOf(const Operand &x, const Labels &labels) {
  int64_t size = 1;
  for (char label : labels)
    size *= x.sizeOf(label);
  return size;
}

static Operand multiply(Node &n, Operand a, Operand b,
                        llvm::function_ref<bool(char)> isKept) {
  sumOver(n, a, [&](char c) { return b.has(c) || isKept(c); });
  sumOver(n, b, [&](char c) { return a.has(c) || isKept(c); });
  matchSizes(n, a, b);
  matchSizes(n, b, a);
  Labels stack, summed, rows, columns;
  for (char label : a.labels)
    (!b.has(label) ? rows : isKept(label) ? stack : summed) += label;
  for (char label : b.labels)
    if (!a.has(label))
      columns += label;
  Labels labels = stack + rows + columns;
  Shape shape;
  for (char label : labels)
    shape.push_back(a.has(label) ? a.sizeOf(label) : b.sizeOf(label));
  tensorType(shape, elementOf(a.value)); // not too large
  int64_t count = sizeOf(a, stack), k = sizeOf(a, summed);
  int64_t m = sizeOf(a, rows), columnCount = sizeOf(b, columns);
  auto matrices = [&](const Operand &x, const Labels &order, int64_t height,
                      int64_t width) {
    Shape sizes = {height, width};
    if (!stack.empty())
      sizes.insert(sizes.begin(), count);
    return n.reshape(transposed(n, x, order), sizes);
  };
  Value left = matrices(a, stack + rows + summed, m, k);
  Value right = matrices(b, stack + summed + columns, k, columnCount);
  return {n.reshape(n.create<MatmulOp>(left, right), shape), labels};
}

//===----------------------------------------------------------------------===//
// Einsum
//===----------------------------------------------------------------------===//

static SmallVector<Operand> operandsOf(Node &n, StringRef equation,
                                       ArrayRef<StringRef> texts,
                                       int64_t &dims) {
  if (int64_t(texts.size()) != n.numInputs())
    fail("expected " + Twine(n.numInputs()) +
         " operands in the equation, got " + quoted(equation));
  SmallVector<Operand> operands;
  dims = 0;
  for (auto [i, text] : llvm::enumerate(texts)) {
    Value value = n.input(static_cast<int>(i));
    int64_t count = ellipsisOf(equation, text, rankOf(value));
    operands.push_back({value, labelsOf(equation, text, count)});
    takeDiagonals(n, operands.back());
    dims = std::max(dims, count);
  }
  return operands;
}

static Labels resultOf(StringRef equation, StringRef inputs,
                       std::optional<StringRef> output,
                       ArrayRef<Operand> operands, int64_t dims) {
  if (output && dims != 0 && !output->contains(ellipsis))
    fail("expected '...' in the result, as an operand has it, got " +
         quoted(equation));
  Labels result =
      output ? labelsOf(equation, *output, dims) : impliedResult(inputs, dims);
  for (char label : result)
    if (StringRef(result).count(label) != 1 ||
        llvm::none_of(operands, [&](const Operand &x) { return x.has(label); }))
      fail("expected each letter of the result once, and in an operand, got " +
           quoted(equation));
  return result;
}

static Value einsum(Node &n) {
  std::string equation = n.attribute("equation", "").str();
  llvm::erase(equation, ' ');
  auto [inputs, output] = StringRef(equation).split("->");
  bool saysResult = StringRef(equation).contains("->");
  SmallVector<StringRef> texts;
  inputs.split(texts, ',');
  int64_t dims = 0;
  SmallVector<Operand> operands = operandsOf(n, equation, texts, dims);
  Labels result = resultOf(equation, inputs,
                           saysResult ? std::optional(output) : std::nullopt,
                           operands, dims);
  Operand all = operands.front();
  for (size_t i = 1; i < operands.size(); ++i)
    all = multiply(n, all, operands[i], [&](char label) {
      return result.find(label) != Labels::npos ||
             llvm::any_of(ArrayRef(operands).drop_front(i + 1),
                          [&](const Operand &x) { return x.has(label); });
    });
  sumOver(n, all,
          [&](char label) { return result.find(label) != Labels::npos; });
  return transposed(n, all, result);
}

ArrayRef<Operator> importer::einsumOperators() {
  static const Operator rows[] = {
      {"Einsum", 12, einsum},
  };
  return rows;
}
