//===- mpi_library.cpp - MPI, opened at run time --------------------------===//

#include "ranks/mpi_library.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <vector>

namespace mn {

namespace {

constexpr const char *openMpiNames[] = {"libmpi.so.40", "libmpi.so.20"};
constexpr const char *mpichNames[] = {"libmpi.so.12", "libmpich.so.12"};

MpiLibrary::Handle handleOf(uint32_t number) {
  return reinterpret_cast<MpiLibrary::Handle>(uintptr_t(number));
}

/// MPICH's constants, from its ABI (mpich.org/abi).
void takeMpich(MpiLibrary &library) {
  library.world = handleOf(0x44000000);
  library.floats = handleOf(0x4c00040a);
  library.doubles = handleOf(0x4c00080b);
  library.bytes = handleOf(0x4c00010d);
  library.returnErrors = handleOf(0x54000001);
  library.operations[int(Reduction::sum)] = handleOf(0x58000003);
  library.operations[int(Reduction::min)] = handleOf(0x58000002);
  library.operations[int(Reduction::max)] = handleOf(0x58000001);
  library.inPlace = reinterpret_cast<void *>(intptr_t(-1));
  library.name = "MPICH";
}

bool takeOpenMpi(void *opened, MpiLibrary &library) {
  const auto find = [&](const char *name) { return dlsym(opened, name); };
  library.world = find("ompi_mpi_comm_world");
  library.floats = find("ompi_mpi_float");
  library.doubles = find("ompi_mpi_double");
  library.bytes = find("ompi_mpi_byte");
  library.returnErrors = find("ompi_mpi_errors_return");
  library.operations[int(Reduction::sum)] = find("ompi_mpi_op_sum");
  library.operations[int(Reduction::min)] = find("ompi_mpi_op_min");
  library.operations[int(Reduction::max)] = find("ompi_mpi_op_max");
  library.inPlace = reinterpret_cast<void *>(intptr_t(1));
  library.name = "Open MPI";
  return library.world && library.floats && library.doubles && library.bytes &&
         library.returnErrors && library.operations[0] &&
         library.operations[1] && library.operations[2];
}

bool takeFunctions(void *opened, MpiLibrary &library) {
  const auto find = [&](const char *name, auto &function) {
    void *found = dlsym(opened, (std::string("MPI_") + name).c_str());
    std::memcpy(&function, &found, sizeof found);
    return found != nullptr;
  };
#define MN_FIND(NAME) find(#NAME, library.NAME)
  return MN_FIND(Init_thread) && MN_FIND(Finalize) && MN_FIND(Comm_rank) &&
         MN_FIND(Comm_size) && MN_FIND(Comm_dup) &&
         MN_FIND(Comm_set_errhandler) && MN_FIND(Iallreduce) &&
         MN_FIND(Ibcast) && MN_FIND(Isend) && MN_FIND(Irecv) && MN_FIND(Test) &&
         MN_FIND(Cancel);
#undef MN_FIND
}

/// The names to try: first those of the launcher, since a library of another
/// kind finds no other ranks.
std::vector<const char *> namesFor(const char *launcher) {
  std::vector<const char *> names(std::begin(openMpiNames),
                                  std::end(openMpiNames));
  names.insert(std::strcmp(launcher, "MPICH") == 0 ? names.begin()
                                                   : names.end(),
               std::begin(mpichNames), std::end(mpichNames));
  return names;
}

} // namespace

Status MpiLibrary::open(const char *launcher, MpiLibrary &library) {
  void *opened = nullptr;
  for (const char *name : namesFor(launcher))
    // Open MPI's plug-ins look for its symbols among those of all.
    if ((opened = dlopen(name, RTLD_NOW | RTLD_GLOBAL)))
      break;
  if (!opened)
    return Status::error(
        Code::noLibrary,
        std::string("expected an MPI library (libmpi.so.40 of Open MPI or "
                    "libmpi.so.12 of MPICH) to train on several ranks, as ") +
            launcher +
            " started this one, got none; install it, or name its "
            "folder in LD_LIBRARY_PATH");
  const bool isOpenMpi = takeOpenMpi(opened, library);
  if (isOpenMpi && std::getenv("SLURM_STEP_NUM_TASKS") &&
      !std::getenv("PMIX_RANK"))
    return Status::error(Code::usage,
                         "expected 'srun --mpi=pmix', which Open MPI needs, "
                         "got srun with another or none");
  if (!isOpenMpi)
    takeMpich(library);
  constexpr int serialized = 2; // MPI_THREAD_SERIALIZED, in both ABIs
  int given = 0;
  if (takeFunctions(opened, library) &&
      library.Init_thread(nullptr, nullptr, serialized, &given) == 0)
    return Status::success();
  return Status::error(Code::noLibrary,
                       "expected " + library.name + " to start, got a failure");
}

} // namespace mn
