//===- cublas.cpp - matrix products on cuBLASLt ---------------------------===//
//
// cuBLASLt is column-major: our row-major y = a b is its y' = b' a', where
// x' is the same memory. A bias that is one number a column of ours is one a
// row of its. The first algorithm that its heuristic proposes is kept.
//
//===----------------------------------------------------------------------===//

#include "cuda/state.h"
#include "mnistrt/cuda/libraries.h"
#include <algorithm>

using namespace mn;
using namespace mn::cuda;

namespace {

/// What is kept for a step.
struct PreparedMatmul final : Prepared {
  explicit PreparedMatmul(const CublasLibrary &lt) : lt(lt) {}
  ~PreparedMatmul() override {
    for (cublasLtMatrixLayout_t layout : {left, right, result})
      if (layout)
        lt.cublasLtMatrixLayoutDestroy(layout);
    if (matmul)
      lt.cublasLtMatmulDescDestroy(matmul);
  }

  const CublasLibrary &lt;
  cublasLtMatmulDesc_t matmul = nullptr;
  cublasLtMatrixLayout_t left = nullptr, right = nullptr, result = nullptr;
  cublasLtMatmulAlgo_t algorithm = {};
  size_t workspaceBytes = 0;
};

/// A row-major matrix, as a column-major one.
cublasStatus_t makeLayout(const CublasLibrary &lt, cudaDataType type, int rows,
                          int columns, int batch,
                          cublasLtMatrixLayout_t &layout) {
  cublasStatus_t status = lt.cublasLtMatrixLayoutCreate(
      &layout, type, uint64_t(columns), uint64_t(rows), columns);
  const int64_t stride = int64_t(rows) * columns;
  if (status == CUBLAS_STATUS_SUCCESS)
    status = lt.cublasLtMatrixLayoutSetAttribute(
        layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch, sizeof(batch));
  if (status == CUBLAS_STATUS_SUCCESS)
    status = lt.cublasLtMatrixLayoutSetAttribute(
        layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride,
        sizeof(stride));
  return status;
}

cublasLtEpilogue_t epilogueOf(const Epilogue &e) {
  if (e.bias)
    return e.relu ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_BIAS;
  return e.relu ? CUBLASLT_EPILOGUE_RELU : CUBLASLT_EPILOGUE_DEFAULT;
}

/// What is rounded already needs no tensor cores named.
cublasComputeType_t computeTypeOf(cudaDataType operands, Mma mma) {
  if (operands != CUDA_R_32F)
    return CUBLAS_COMPUTE_32F;
  switch (mma) {
  case Mma::tf32:
    return CUBLAS_COMPUTE_32F_FAST_TF32;
  case Mma::bf16:
    return CUBLAS_COMPUTE_32F_FAST_16BF;
  default:
    return CUBLAS_COMPUTE_32F;
  }
}

/// Where the bias is in this call.
cublasStatus_t setBias(const PreparedMatmul &p, const void *bias) {
  return p.lt.cublasLtMatmulDescSetAttribute(
      p.matmul, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof(bias));
}

/// What is in memory.
struct Types {
  cudaDataType operands, result;
};

cublasStatus_t describeMatmul(PreparedMatmul &p, const Types &types,
                              const Matmul &s, const Epilogue &e) {
  const CublasLibrary &lt = p.lt;
  cublasStatus_t status = lt.cublasLtMatmulDescCreate(
      &p.matmul, computeTypeOf(types.operands, s.schedule.mma), CUDA_R_32F);
  const auto set = [&](cublasLtMatmulDescAttributes_t attribute, auto value) {
    if (status == CUBLAS_STATUS_SUCCESS)
      status = lt.cublasLtMatmulDescSetAttribute(p.matmul, attribute, &value,
                                                 sizeof(value));
  };
  set(CUBLASLT_MATMUL_DESC_TRANSA, s.transposedB ? CUBLAS_OP_T : CUBLAS_OP_N);
  set(CUBLASLT_MATMUL_DESC_TRANSB, s.transposedA ? CUBLAS_OP_T : CUBLAS_OP_N);
  set(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogueOf(e));
  if (e.bias && status == CUBLAS_STATUS_SUCCESS)
    status = setBias(p, e.bias);
  if (status != CUBLAS_STATUS_SUCCESS)
    return status;
  const auto lay = [&](cublasLtMatrixLayout_t &layout, cudaDataType type,
                       int rows, int columns) {
    if (status == CUBLAS_STATUS_SUCCESS)
      status = makeLayout(lt, type, rows, columns, s.batch, layout);
  };
  lay(p.left, types.operands, s.transposedB ? s.n : s.k,
      s.transposedB ? s.k : s.n);
  lay(p.right, types.operands, s.transposedA ? s.k : s.m,
      s.transposedA ? s.m : s.k);
  lay(p.result, types.result, s.m, s.n);
  return status;
}

uint32_t alignmentOf(const void *pointer) {
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  return std::min<uint32_t>(256, uint32_t(address & (~address + 1)));
}

/// `pointers`: left, right, residual, result, as cuBLASLt sees them.
cublasStatus_t chooseAlgorithm(State &state, PreparedMatmul &p,
                               const void *const (&pointers)[4],
                               size_t workspaceBytes, bool &found) {
  const CublasLibrary &lt = p.lt;
  cublasLtMatmulPreference_t preference = nullptr;
  cublasStatus_t status = lt.cublasLtMatmulPreferenceCreate(&preference);
  const auto set = [&](cublasLtMatmulPreferenceAttributes_t attribute,
                       auto value) {
    if (status == CUBLAS_STATUS_SUCCESS)
      status = lt.cublasLtMatmulPreferenceSetAttribute(preference, attribute,
                                                       &value, sizeof(value));
  };
  set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, uint64_t(workspaceBytes));
  constexpr cublasLtMatmulPreferenceAttributes_t alignments[] = {
      CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES,
      CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
      CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
      CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES};
  for (int i = 0; i < 4; ++i)
    set(alignments[i], alignmentOf(pointers[i]));
  cublasLtMatmulHeuristicResult_t result = {};
  int count = 0;
  if (status == CUBLAS_STATUS_SUCCESS)
    status = lt.cublasLtMatmulAlgoGetHeuristic(
        state.cublas.handle, p.matmul, p.left, p.right, p.result, p.result,
        preference, 1, &result, &count);
  if (preference)
    lt.cublasLtMatmulPreferenceDestroy(preference);
  found = count == 1 && result.state == CUBLAS_STATUS_SUCCESS;
  p.algorithm = result.algo;
  p.workspaceBytes = result.workspaceSize;
  return status;
}

void multiply(Context &ctx, void *y, const void *a, const void *b,
              const Types &types, const Matmul &s, const Epilogue &e) {
  State &state = State::of(ctx);
  const CublasLibrary &lt = state.cublas;
  const void *residual = e.residual ? e.residual : y;
  std::unique_ptr<Prepared> &kept = state.step(ctx).library;
  const auto failed = [&](cublasStatus_t status) {
    if (status != CUBLAS_STATUS_SUCCESS)
      state.fail(Code::noDevice, std::string("cuBLASLt: ") +
                                     lt.cublasLtGetStatusString(status));
    return status != CUBLAS_STATUS_SUCCESS;
  };
  if (!kept) {
    auto p = std::make_unique<PreparedMatmul>(lt);
    bool found = false;
    if (failed(describeMatmul(*p, types, s, e)))
      return;
    const cublasStatus_t chosen = chooseAlgorithm(
        state, *p, {b, a, residual, y}, ctx.workspaceBytes, found);
    if (chosen != CUBLAS_STATUS_NOT_SUPPORTED && failed(chosen))
      return;
    if (!found)
      return state.fail(Code::noLibrary,
                        "cuBLASLt has no algorithm for a product of " +
                            std::to_string(s.m) + " x " + std::to_string(s.n) +
                            " x " + std::to_string(s.k) + " in " +
                            std::to_string(ctx.workspaceBytes) +
                            " bytes of workspace");
    kept = std::move(p);
  }
  const auto &p = static_cast<const PreparedMatmul &>(*kept);
  if (e.bias && failed(setBias(p, e.bias)))
    return;
  const float one = 1, beta = e.residual ? 1 : 0;
  failed(lt.cublasLtMatmul(state.cublas.handle, p.matmul, &one, b, p.left, a,
                           p.right, &beta, residual, p.result, y, p.result,
                           &p.algorithm, ctx.workspace, p.workspaceBytes,
                           state.stream));
  state.last = {};
}

} // namespace

void mn::cublas::matmul(Context &ctx, float *y, const float *a, const float *b,
                        const Matmul &s, const Epilogue &e) {
  multiply(ctx, y, a, b, {CUDA_R_32F, CUDA_R_32F}, s, e);
}

void mn::cublas::matmul(Context &ctx, float *y, const Bf16 *a, const Bf16 *b,
                        const Matmul &s, const Epilogue &e) {
  multiply(ctx, y, a, b, {CUDA_R_16BF, CUDA_R_32F}, s, e);
}

void mn::cublas::matmul(Context &ctx, Bf16 *y, const Bf16 *a, const Bf16 *b,
                        const Matmul &s) {
  multiply(ctx, y, a, b, {CUDA_R_16BF, CUDA_R_16BF}, s, {});
}
