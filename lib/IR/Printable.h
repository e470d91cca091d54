//===- Printable.h - names as a terminal may be shown them ------*- C++ -*-===//

#ifndef MNISTC_IR_PRINTABLE_H
#define MNISTC_IR_PRINTABLE_H

#include "mnistrt/printable.h"

namespace mlir::mnistc {

using mn::printable;

} // namespace mlir::mnistc

#endif // MNISTC_IR_PRINTABLE_H
