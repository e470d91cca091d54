//===- signals.cpp - signals that ask training to stop --------------------===//

#include "train/signals.h"

namespace mn {

namespace {

volatile std::sig_atomic_t lastSignal = 0;

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

} // namespace mn
