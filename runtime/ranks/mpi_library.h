//===- mpi_library.h - MPI, opened at run time ------------------*- C++ -*-===//
//
// Two ABIs: Open MPI's, whose handles are pointers, and MPICH's, which Intel's
// MPI and MVAPICH share, whose handles are 32-bit integers. Both pass through
// one pointer: an integer is its lower half.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_RANKS_MPI_LIBRARY_H
#define MNISTRT_RANKS_MPI_LIBRARY_H

#include "core/ranks.h"
#include <string>

namespace mn {

struct MpiLibrary {
  using Handle = void *;

  // Functions of the standard, by their names without "MPI_".
  int (*Init_thread)(int *, char ***, int wanted, int *given);
  int (*Finalize)();
  int (*Comm_rank)(Handle comm, int *rank);
  int (*Comm_size)(Handle comm, int *size);
  int (*Comm_dup)(Handle comm, Handle *copy);
  int (*Comm_set_errhandler)(Handle comm, Handle handler);
  int (*Iallreduce)(const void *from, void *to, int count, Handle type,
                    Handle op, Handle comm, Handle *request);
  int (*Ibcast)(void *bytes, int count, Handle type, int root, Handle comm,
                Handle *request);
  int (*Isend)(const void *bytes, int count, Handle type, int to, int tag,
               Handle comm, Handle *request);
  int (*Irecv)(void *bytes, int count, Handle type, int from, int tag,
               Handle comm, Handle *request);
  int (*Test)(Handle *request, int *done, void *status);
  int (*Cancel)(Handle *request);

  Handle world, floats, doubles, bytes, returnErrors;
  Handle operations[3]; ///< by Reduction
  void *inPlace;
  std::string name; ///< "Open MPI", "MPICH"

  /// Opens the library of the launcher, and starts MPI. Errors: none is found.
  static Status open(const char *launcher, MpiLibrary &library);
};

} // namespace mn

#endif // MNISTRT_RANKS_MPI_LIBRARY_H
