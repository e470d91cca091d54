//===- launch.cpp - how a process was started -----------------------------===//

#include "ranks/launch.h"
#include <charconv>
#include <cstdlib>
#include <cstring>

namespace mn {

namespace {

/// The variables of a launcher. Where one does not tell ranks of a host apart,
/// they are null.
struct Variables {
  const char *launcher, *rank, *count, *localRank, *localCount;
  bool hasMpi;
};

constexpr Variables known[] = {
    {"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", false},
    {"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
     "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE", true},
    {"MPICH", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS",
     true},
    // Of a step, which srun starts: in a batch script SLURM_NTASKS is there
    // too, for one process.
    {"srun", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID",
     "SLURM_STEP_TASKS_PER_NODE", true},
};

Status unexpected(const char *name, const std::string &wanted,
                  const char *found) {
  return Status::error(Code::usage, std::string("expected the variable ") +
                                        name + " to be " + wanted + ", got '" +
                                        found + "'");
}

/// A number from `low` to `high` - 1. "2(x3)" of Slurm is 2.
Status readNumber(const char *name, int low, int high, int &number) {
  const char *text = std::getenv(name), *end = text + std::strlen(text);
  const auto result = std::from_chars(text, end, number);
  const bool whole = result.ptr == end || *result.ptr == '(' ||
                     (*result.ptr == ',' && low == 1);
  if (result.ec == std::errc() && whole && number >= low && number < high)
    return Status::success();
  return unexpected(
      name, "from " + std::to_string(low) + " to " + std::to_string(high - 1),
      text);
}

Status readPlace(const Variables &names, RankPlace &place) {
  MN_TRY(readNumber(names.count, 1, maxRanks + 1, place.count));
  MN_TRY(readNumber(names.rank, 0, place.count, place.rank));
  if (!std::getenv(names.localRank) || !std::getenv(names.localCount)) {
    // All on one host, as far as is known.
    place.localRank = place.rank, place.localCount = place.count;
    return Status::success();
  }
  MN_TRY(readNumber(names.localCount, 1, maxRanks + 1, place.localCount));
  // Slurm's count is that of the first host, and others may have more.
  return readNumber(names.localRank, 0, maxRanks, place.localRank);
}

} // namespace

Status findLaunch(Launch &launch) {
  launch = {};
  for (const Variables &names : known) {
    if (!std::getenv(names.rank) || !std::getenv(names.count))
      continue;
    launch.launcher = names.launcher;
    launch.countVariable = names.count;
    launch.hasMpi = names.hasMpi;
    MN_TRY(readPlace(names, launch.place));
    break;
  }
  if (const char *address = std::getenv("MASTER_ADDR"))
    launch.address = address;
  if (std::getenv("MASTER_PORT"))
    MN_TRY(readNumber("MASTER_PORT", 1, 1 << 16, launch.port));
  return Status::success();
}

} // namespace mn
