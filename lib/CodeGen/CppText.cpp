//===- CppText.cpp - expressions and lines of C++ -------------------------===//

#include "lib/CodeGen/CppText.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::mnistc;

static constexpr size_t width = 80;

Expr mlir::mnistc::infix(const Expr &lhs, StringRef op, const Expr &rhs,
                         Precedence precedence) {
  auto next = static_cast<Precedence>(static_cast<int>(precedence) + 1);
  // Compilers warn of `a && b || c` and of `a < b == c`.
  bool arithmetic = precedence >= Precedence::additive;
  Precedence left = arithmetic                            ? precedence
                    : precedence == Precedence::logicalOr ? Precedence::equality
                    : precedence == Precedence::logicalAnd
                        ? precedence
                        : Precedence::additive;
  Precedence right = arithmetic ? next
                     : precedence >= Precedence::equality
                         ? Precedence::additive
                         : Precedence::equality;
  return {lhs.as(left) + " " + op.str() + " " + rhs.as(right), precedence};
}

Expr mlir::mnistc::call(const Twine &function, ArrayRef<Expr> arguments) {
  std::string text = function.str() + "(";
  for (auto [number, argument] : llvm::enumerate(arguments))
    text += (number == 0 ? "" : ", ") + argument.text;
  return {text + ")", Precedence::primary};
}

Expr mlir::mnistc::conditional(const Expr &condition, const Expr &then,
                               const Expr &otherwise) {
  return {condition.as(Precedence::logicalOr) + " ? " +
              then.as(Precedence::logicalOr) + " : " +
              otherwise.as(Precedence::conditional),
          Precedence::conditional};
}

Expr mlir::mnistc::number(int64_t value) {
  return {std::to_string(value),
          value < 0 ? Precedence::unary : Precedence::primary};
}

/// The parts of a text between ` ? ` and ` : ` outside of parentheses: one, or
/// an odd number, where it is a conditional or a chain of them.
static SmallVector<StringRef> conditionalParts(StringRef text) {
  SmallVector<StringRef> parts;
  int depth = 0;
  size_t begin = 0;
  for (size_t at = 0; at + 2 < text.size(); ++at) {
    char c = text[at];
    depth += StringRef("([{").contains(c) - StringRef(")]}").contains(c);
    StringRef sign = text.substr(at, 3);
    if (depth != 0 || (sign != " ? " && sign != " : "))
      continue;
    parts.push_back(text.slice(begin, at));
    begin = at + 3;
  }
  parts.push_back(text.drop_front(begin));
  return parts;
}

/// A chain of conditionals as a table: conditions and values in columns.
static std::string conditionalLines(StringRef head, ArrayRef<StringRef> parts) {
  size_t column = parts[0].size();
  for (size_t part = 2; part + 1 < parts.size(); part += 2)
    column = std::max(column, parts[part].size() + 2);
  std::string result, indent(head.size(), ' ');
  for (size_t part = 0; part + 1 < parts.size(); part += 2) {
    std::string condition = (part == 0 ? "" : ": ") + parts[part].str();
    condition.resize(column, ' ');
    result += (part == 0 ? head.str() : "\n" + indent) + condition + " ? " +
              parts[part + 1].str();
  }
  return result + "\n" + indent + std::string(column + 1, ' ') + ": " +
         parts.back().str();
}

/// The last place before `end` at which `text` may be broken: a space after
/// an operator or comma with the fewest parentheses around, or npos.
static size_t breakingPlace(StringRef text, size_t begin, size_t end) {
  size_t best = StringRef::npos;
  int depth = 0, bestDepth = 1000;
  bool quoted = false;
  for (size_t at = 0; at < std::min(end, text.size()); ++at) {
    char c = text[at];
    if (c == '"' && (at == 0 || text[at - 1] != '\\'))
      quoted = !quoted;
    if (quoted)
      continue;
    depth +=
        (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
    bool after = c == ' ' && at > 0 &&
                 StringRef(",+-*/%=&|<>!?:").contains(text[at - 1]);
    if (after && at > begin && depth <= bestDepth) {
      best = at;
      bestDepth = depth;
    }
  }
  return best;
}

std::string mlir::mnistc::line(const Twine &statement, unsigned indent) {
  std::string result(indent, ' '), rest = statement.str();
  size_t room = width - indent;
  size_t assign = StringRef(rest).find(" = ");
  if (rest.size() > room && assign != StringRef::npos) {
    StringRef head = StringRef(rest).take_front(assign + 3);
    SmallVector<StringRef> parts =
        conditionalParts(StringRef(rest).drop_front(assign + 3));
    if (parts.size() >= 3)
      return conditionalLines(result + head.str(), parts);
  }
  // After the sign of an assignment first.
  if (rest.size() > room && assign != StringRef::npos && assign < room) {
    result += rest.substr(0, assign + 2) + "\n" + std::string(indent + 4, ' ');
    rest = rest.substr(assign + 3);
    room = width - indent - 4;
  }
  while (rest.size() > room) {
    size_t at = breakingPlace(rest, 0, room + 1);
    if (at == StringRef::npos)
      break;
    result += rest.substr(0, at) + "\n" + std::string(indent + 4, ' ');
    rest = rest.substr(at + 1);
    room = width - indent - 4;
  }
  return result + rest;
}

std::string mlir::mnistc::argumentLines(StringRef head, StringRef open,
                                        ArrayRef<std::string> arguments,
                                        StringRef close, unsigned indent) {
  std::string result = std::string(indent, ' ') + head.str() + open.str();
  size_t column = result.size(), hang = column;
  for (auto [number, argument] : llvm::enumerate(arguments)) {
    bool last = number + 1 == arguments.size();
    size_t needed = argument.size() + (last ? close.size() : 1);
    if (number != 0 && column + 1 + needed > width) {
      result += "\n" + std::string(hang, ' ');
      column = hang;
    } else if (number != 0) {
      result += ' ';
      ++column;
    }
    result += argument + (last ? "" : ",");
    column += argument.size() + 1;
  }
  return result + close.str();
}

std::string mlir::mnistc::comment(StringRef words, unsigned hang) {
  std::string result = "//";
  size_t column = 2;
  SmallVector<StringRef> parts;
  words.split(parts, ' ');
  for (auto [number, word] : llvm::enumerate(parts)) {
    if (number != 0 && column + 1 + word.size() > width && !word.empty()) {
      result += "\n//" + std::string(hang, ' ');
      column = 2 + hang;
    }
    result += " " + word.str();
    column += 1 + word.size();
  }
  // Spaces may not end a line.
  SmallVector<StringRef> lines;
  StringRef(result).split(lines, '\n');
  std::string trimmed;
  for (StringRef each : lines)
    trimmed += (trimmed.empty() ? "" : "\n") + each.rtrim().str();
  return trimmed + "\n";
}
