//===- ranks.cpp - what ranks agree upon ----------------------------------===//

#include "core/ranks.h"

namespace mn {

Status Ranks::agree(const Status &mine) {
  if (!several() || over)
    return mine;
  double failed = mine.ok() ? where.count : where.rank;
  MN_TRY(reduce(Reduction::min, &failed, 1));
  if (failed == where.count)
    return Status::success();
  const bool isMine = failed == where.rank;
  double code = isMine ? static_cast<int>(mine.code) : 0;
  MN_TRY(reduce(Reduction::max, &code, 1));
  std::string message;
  if (isMine)
    message = (isFirst() ? "" : "rank " + std::to_string(where.rank) + ": ") +
              mine.message;
  return end(Status::error(static_cast<Code>(static_cast<int>(code)), message));
}

Status Ranks::end(const Status &status) {
  over = true;
  return status;
}

void Ranks::fail(Code code) {
  if (!over)
    tell(code);
  over = true;
}

Status Ranks::addsElsewhere() const {
  return several() ? Status::error(Code::noLibrary,
                                   "expected ranks that add up in the host's "
                                   "memory, by MPI, got others")
                   : Status::success();
}

} // namespace mn
