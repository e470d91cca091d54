//===- opening.h - opens a device while data is read ------------*- C++ -*-===//

#ifndef MNISTRT_CORE_OPENING_H
#define MNISTRT_CORE_OPENING_H

#include "core/executor.h"
#include <future>
#include <utility>

namespace mn {

/// Does `open` in another thread where the target is slow to open, else when
/// the result is asked for; also where no thread can be made. So what fails is
/// reported where the caller asks. The future's destructor waits for the
/// thread: what `open` uses must live longer.
template <typename F> std::future<Status> startOpening(F open) {
  const std::launch otherwise = std::launch::deferred;
  return std::async(opensSlowly() ? std::launch::async | otherwise : otherwise,
                    std::move(open));
}

} // namespace mn

#endif // MNISTRT_CORE_OPENING_H
