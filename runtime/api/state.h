//===- state.h - an open session, inside of its library ---------*- C++ -*-===//

#ifndef MNISTRT_API_STATE_H
#define MNISTRT_API_STATE_H

#include "api/compiled_model.h"
#include "core/array.h"
#include "core/executor.h"
#include <cstdio>
#include <exception>
#include <new>

namespace mn {

class TrainSession;

struct State {
  std::unique_ptr<Executor> executor;
  std::vector<int> plans; ///< those that infer, in the model's order
  std::string device;
  int submitted[2] = {-1, -1}; ///< the plan under way in a slot
  /// Null before mn_train_start. Knows how to delete what only libraries that
  /// train are linked with.
  std::shared_ptr<TrainSession> training;
};

inline State &of(void *state) { return *static_cast<State *>(state); }

/// That no slot is under way.
inline Status checkNothingSubmitted(const State &state) {
  for (int slot = 0; slot < 2; ++slot)
    if (state.submitted[slot] >= 0)
      return usageError(text("expected mn_wait for slot %d first", slot));
  return Status::success();
}

/// Calls `body`, which gives a Status, and keeps why it failed.
template <typename Body>
mn_status guarded(Message &message, const Body &body) noexcept {
  const auto say = [&](mn_status status, const char *text) {
    std::snprintf(message.text, sizeof(message.text), "%s", text);
    return status;
  };
  try {
    const Status status = body();
    return status.ok() ? MN_OK
                       : say(static_cast<mn_status>(status.code),
                             status.message.c_str());
  } catch (const std::bad_alloc &) {
    return say(MN_OUT_OF_MEMORY, "out of memory");
  } catch (const std::length_error &) {
    return say(MN_OUT_OF_MEMORY, "out of memory");
  } catch (const std::exception &exception) {
    return say(MN_BAD_DATA, exception.what());
  } catch (...) {
    return say(MN_BAD_DATA, "unknown failure");
  }
}

/// mn_infer_on_device.
Status inferOnDevice(State &state, int64_t rows, const mn_const_buffer *inputs,
                     int inputCount, const mn_buffer *outputs, int outputCount,
                     void *stream);

} // namespace mn

/// Of libraries that train, which are linked with it.
extern "C" __attribute__((weak)) const mn_training_functions *
mn_training_table();

#endif // MNISTRT_API_STATE_H
