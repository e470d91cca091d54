//===- sanitized.h - whether a sanitizer looks on ---------------*- C++ -*-===//
//
// AddressSanitizer maps terabytes for itself, and does not know fibers.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_TEST_SANITIZED_H
#define MNISTC_TEST_SANITIZED_H

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MN_SANITIZED
#endif
#endif

#endif // MNISTC_TEST_SANITIZED_H
