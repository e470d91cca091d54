//===- signals.cpp - signals that ask training to stop --------------------===//

#include "train/signals.h"
#include <atomic>

namespace mn {

namespace {

/// Of any thread, and of handlers.
std::atomic<int> lastSignal = 0;
static_assert(std::atomic<int>::is_always_lock_free);

extern "C" void noteSignal(int number) { lastSignal = number; }

} // namespace

StopSignals::StopSignals() {
  lastSignal = 0;
  struct sigaction note = {};
  note.sa_handler = noteSignal;
  note.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
  ::sigaction(SIGINT, &note, &interrupt);
  ::sigaction(SIGTERM, &note, &terminate);
  struct sigaction ignore = {};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGXFSZ, &ignore, &fileSize);
}

StopSignals::~StopSignals() {
  ::sigaction(SIGINT, &interrupt, nullptr);
  ::sigaction(SIGTERM, &terminate, nullptr);
  ::sigaction(SIGXFSZ, &fileSize, nullptr);
}

int StopSignals::received() const { return lastSignal; }

void StopSignals::stop() const { lastSignal = SIGTERM; }

} // namespace mn
