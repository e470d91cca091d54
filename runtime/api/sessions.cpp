//===- sessions.cpp - the open sessions of a process ----------------------===//
//
// A place has one word: how often it was used (its generation), and whether it
// is free, open or in use. All changes of it are compare-and-swap, so that of
// two threads one is refused; no call waits for another.
//
//===----------------------------------------------------------------------===//

#include "api/sessions.h"
#include <atomic>
#include <pthread.h>

namespace mn {

enum : uint64_t { isFree, isOpen, inUse, stateMask = 3, oneGeneration = 4 };

struct Place {
  std::atomic<uint64_t> word;
  const mn_compiled_model *model;
  void *state;
};

namespace {

// The number: 12 bits of the place, 20 that differ from table to table, as two
// libraries that dlopen keeps apart have one each, and 32 of the generation.
constexpr uint64_t placeCount = 1 << 12, tableMask = (1 << 20) - 1;
Place places[placeCount];

uint64_t tableNumber() {
  return reinterpret_cast<uintptr_t>(&places) / 4096 & tableMask;
}

mn_session *sessionOf(uint64_t place, uint64_t word) {
  const uint64_t generation = word / oneGeneration & 0xffffffff;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): nothing is read through it.
  return reinterpret_cast<mn_session *>(generation << 32 | tableNumber() << 12 |
                                        place);
}

std::atomic<bool> opened, forked;

} // namespace

bool isForked() { return forked.load(std::memory_order_relaxed); }

bool watchForks() {
  static const bool watched =
      pthread_atfork(nullptr, nullptr, [] { forked = forked || opened; }) == 0;
  opened = true;
  return watched;
}

mn_session *addSession(const mn_compiled_model *model, void *state) {
  for (uint64_t i = 0; i < placeCount; ++i) {
    uint64_t word = places[i].word;
    if ((word & stateMask) != isFree ||
        !places[i].word.compare_exchange_strong(
            word, (word & ~uint64_t(stateMask)) + oneGeneration + inUse))
      continue;
    places[i].model = model;
    places[i].state = state;
    word = ((word & ~uint64_t(stateMask)) + oneGeneration) | isOpen;
    places[i].word = word;
    return sessionOf(i, word);
  }
  return nullptr;
}

Acquired::Acquired(mn_session *session) : status(acquire(session)) {}

mn_status Acquired::acquire(mn_session *session) {
  const auto refuse = [&](mn_status why, const char *text) {
    reason = text;
    return why;
  };
  if (!session)
    return refuse(MN_USAGE, "expected a session, got NULL");
  if (isForked())
    return refuse(MN_USAGE, "expected a process that opened its sessions "
                            "itself, got one forked after mn_open; open "
                            "sessions in the child, none in its parent");
  const uint64_t index = reinterpret_cast<uintptr_t>(session) % placeCount;
  Place &wanted = places[index];
  uint64_t word = wanted.word;
  do {
    if ((word & stateMask) == isFree || sessionOf(index, word) != session)
      return refuse(MN_USAGE, "expected an open session, got one that was "
                              "closed or never opened");
    if ((word & stateMask) == inUse)
      return refuse(MN_BUSY, "expected one thread at a time in a session, got "
                             "another; open a session for each thread");
  } while (!wanted.word.compare_exchange_weak(
      word, (word & ~uint64_t(stateMask)) | inUse));
  place = &wanted;
  next = (word & ~uint64_t(stateMask)) | isOpen;
  model = place->model;
  state = place->state;
  return MN_OK;
}

void Acquired::retire() { next = (next & ~uint64_t(stateMask)) | isFree; }

Acquired::~Acquired() {
  if (place)
    place->word = next;
}

} // namespace mn
