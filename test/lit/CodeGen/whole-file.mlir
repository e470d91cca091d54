// RUN: mnistc %s --emit=source --target=cuda | FileCheck %s --match-full-lines --strict-whitespace

// A whole generated file, line by line: a library call, a map, a product with
// an epilogue, a reduction, and the tables.

