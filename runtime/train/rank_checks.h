//===- rank_checks.h - what must be equal on all ranks ----------*- C++ -*-===//

#ifndef MNISTRT_TRAIN_RANK_CHECKS_H
#define MNISTRT_TRAIN_RANK_CHECKS_H

#include "core/ranks.h"
#include <string>
#include <vector>

namespace mn {

/// A part of a training: its name in messages, and a digest or number.
struct RunPart {
  std::string name, value;
};

/// Compares what each rank has with what rank 0 has, in the same order. The
/// error, on all ranks and with a message on the first one, names the first
/// part that differs: "expected 'fc1.weight' to be as on rank 0, got another on
/// rank 2".
Status checkEqual(Ranks &ranks, const std::vector<RunPart> &parts, Code code,
                  const std::string &when);

} // namespace mn

#endif // MNISTRT_TRAIN_RANK_CHECKS_H
