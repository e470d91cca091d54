//===- sessions.h - the open sessions of a process --------------*- C++ -*-===//
//
// An mn_session is a number, not an address: it tells the place of a session in
// a table that is never freed, and how often the place was used before. So a
// session that was closed is detected, and nothing is read that may be gone.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_API_SESSIONS_H
#define MNISTRT_API_SESSIONS_H

#include "api/compiled_model.h"

namespace mn {

/// Whether the process has called `watchForks` before a fork, and is the child.
bool isForked();
/// Called before anything that a child could not use.
bool watchForks();

/// A session that no other call uses while this lives.
class Acquired {
public:
  explicit Acquired(mn_session *session);
  ~Acquired();
  Acquired(const Acquired &) = delete;
  Acquired &operator=(const Acquired &) = delete;

  /// Where `status` is not MN_OK.
  const char *reason = "";
  const mn_compiled_model *model = nullptr;
  void *state = nullptr;

  /// The session is open no longer.
  void retire();

private:
  mn_status acquire(mn_session *session);

  struct Place *place = nullptr;
  uint64_t next = 0; ///< the place's word, when this is over

public:
  const mn_status status; ///< last, as it sets the others
};

/// A place for an open session; null where there are too many.
mn_session *addSession(const mn_compiled_model *model, void *state);

} // namespace mn

#endif // MNISTRT_API_SESSIONS_H
