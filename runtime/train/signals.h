//===- signals.h - signals that ask training to stop ------------*- C++ -*-===//
//
// SIGINT and SIGTERM set a flag while an object of this class lives, so that
// training ends where it can be taken up again; the second one kills, as ever.
// SIGXFSZ is an error of writing, like a full disk.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_TRAIN_SIGNALS_H
#define MNISTRT_TRAIN_SIGNALS_H

#include <csignal>

namespace mn {

class StopSignals {
public:
  StopSignals();
  StopSignals(const StopSignals &) = delete;
  StopSignals &operator=(const StopSignals &) = delete;
  ~StopSignals();

  /// SIGINT, SIGTERM, or 0.
  int received() const;
  /// As if SIGTERM were received; from any thread.
  void stop() const;

private:
  struct sigaction interrupt, terminate, fileSize;
};

} // namespace mn

#endif // MNISTRT_TRAIN_SIGNALS_H
