//===- status.h - whether it worked, and if not, why ------------*- C++ -*-===//

#ifndef MNISTRT_CORE_STATUS_H
#define MNISTRT_CORE_STATUS_H

#include <string>

namespace mn {

/// Exit codes of a compiled program, and what the C API returns.
enum class Code : int {
  ok = 0,
  usage = 2,
  noDevice = 10,  ///< no usable GPU or driver
  wrongArch = 11, ///< built for another GPU or CPU
  noLibrary = 12, ///< a library is missing or has the wrong version
  outOfMemory = 13,
  badData = 14,      ///< unreadable, malformed or mismatched data; failed I/O
  numeric = 15,      ///< NaN or infinity, or a result that is wrong
  rankLost = 16,     ///< another rank of the training has failed
  interrupted = 130, ///< SIGINT, after training was saved
  terminated = 143,  ///< SIGTERM, likewise
};

/// A message is one line, lower case, without a full stop: "expected X, got Y".
struct [[nodiscard]] Status {
  Code code = Code::ok;
  std::string message;

  static Status success() { return {}; }
  static Status error(Code code, std::string message) {
    return {code, static_cast<std::string &&>(message)};
  }
  bool ok() const { return code == Code::ok; }
};

/// Of an option or an argument.
inline Status usageError(std::string message) {
  return Status::error(Code::usage, static_cast<std::string &&>(message));
}

#define MN_TRY(EXPRESSION)                                                     \
  do {                                                                         \
    if (::mn::Status mnStatus = (EXPRESSION); !mnStatus.ok())                  \
      return mnStatus;                                                         \
  } while (false)

} // namespace mn

#endif // MNISTRT_CORE_STATUS_H
