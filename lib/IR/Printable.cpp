//===- Printable.cpp - names as a terminal may be shown them --------------===//

#include "lib/IR/Printable.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"

using namespace mlir;

static std::string escaped(unsigned char byte) {
  switch (byte) {
  case '\n':
    return "\\n";
  case '\r':
    return "\\r";
  case '\t':
    return "\\t";
  default:
    return "\\x" + llvm::utohexstr(byte, /*LowerCase=*/true, /*Width=*/2);
  }
}

std::string mlir::mnistc::printable(llvm::StringRef text) {
  std::string result;
  while (!text.empty()) {
    auto *begin = reinterpret_cast<const llvm::UTF8 *>(text.begin());
    auto *end = reinterpret_cast<const llvm::UTF8 *>(text.end());
    size_t length =
        std::min<size_t>(llvm::getNumBytesForUTF8(*begin), text.size());
    bool legal = llvm::isLegalUTF8Sequence(begin, end);
    if (!legal)
      length = 1;
    unsigned char first = text.front();
    // U+0080 to U+009F are commands of terminals too.
    bool isControl = first < 0x20 || first == 0x7f ||
                     (first == 0xc2 && length == 2 &&
                      static_cast<unsigned char>(text[1]) < 0xa0);
    for (unsigned char byte : text.take_front(length))
      if (legal && !isControl)
        result += static_cast<char>(byte);
      else
        result += escaped(byte);
    text = text.drop_front(length);
  }
  return result;
}
