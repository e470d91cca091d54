//===- cublas_library.h - the functions of cuBLASLt -------------*- C++ -*-===//

#ifndef MNISTRT_CUDA_CUBLAS_LIBRARY_H
#define MNISTRT_CUDA_CUBLAS_LIBRARY_H

#include "core/status.h"
#include "mnistrt/model.h"
#include <cublasLt.h>
#include <string>

namespace mn::cuda {

#define MN_CUBLAS_FUNCTIONS(X)                                                 \
  X(cublasLtCreate)                                                            \
  X(cublasLtDestroy)                                                           \
  X(cublasLtGetVersion)                                                        \
  X(cublasLtGetStatusString)                                                   \
  X(cublasLtMatmul)                                                            \
  X(cublasLtMatmulDescCreate)                                                  \
  X(cublasLtMatmulDescDestroy)                                                 \
  X(cublasLtMatmulDescSetAttribute)                                            \
  X(cublasLtMatrixLayoutCreate)                                                \
  X(cublasLtMatrixLayoutDestroy)                                               \
  X(cublasLtMatrixLayoutSetAttribute)                                          \
  X(cublasLtMatmulPreferenceCreate)                                            \
  X(cublasLtMatmulPreferenceDestroy)                                           \
  X(cublasLtMatmulPreferenceSetAttribute)                                      \
  X(cublasLtMatmulAlgoGetHeuristic)

struct CublasLibrary {
#define MN_MEMBER(NAME) decltype(&::NAME) NAME = nullptr;
  MN_CUBLAS_FUNCTIONS(MN_MEMBER)
#undef MN_MEMBER
  cublasLtHandle_t handle = nullptr;
};

/// Opens libcublasLt.so.13 and makes a handle in the current context.
Status loadCublas(CublasLibrary &library);

} // namespace mn::cuda

#endif // MNISTRT_CUDA_CUBLAS_LIBRARY_H
