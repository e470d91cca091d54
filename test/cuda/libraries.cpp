//===- libraries.cpp - where calls of libraries find their tensors --------===//
//
// Of cuDNN and cuBLASLt there is what a call needs; it writes down addresses. A
// step that was prepared with inputs in one place runs with them in another.
//
//===----------------------------------------------------------------------===//

#include "mnistrt/cuda/libraries.h"
#include "cuda/state.h"
#include <algorithm>
#include <gtest/gtest.h>

using namespace mn;

namespace {

using Addresses = std::vector<const void *>;

/// The tensors of each call that was enqueued.
std::vector<Addresses> calls;

struct FakeDescriptor {
  Addresses pointers;
};
FakeDescriptor *of(void *handle) {
  return static_cast<FakeDescriptor *>(handle);
}

/// Of the tensors that cuDNN was told of, or of the matrices that cuBLASLt was,
/// and of its sums: in their order.
std::vector<int> types;

void useCudnn(cuda::CudnnLibrary &dnn) {
  dnn.cudnnBackendCreateDescriptor = [](cudnnBackendDescriptorType_t,
                                        cudnnBackendDescriptor_t *made) {
    *made = new FakeDescriptor;
    return CUDNN_STATUS_SUCCESS;
  };
  dnn.cudnnBackendDestroyDescriptor = [](cudnnBackendDescriptor_t handle) {
    delete of(handle);
    return CUDNN_STATUS_SUCCESS;
  };
  dnn.cudnnBackendSetAttribute =
      [](cudnnBackendDescriptor_t handle, cudnnBackendAttributeName_t name,
         cudnnBackendAttributeType_t, int64_t count, const void *values) {
        const auto *from = static_cast<const void *const *>(values);
        if (name == CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS)
          of(handle)->pointers.assign(from, from + count);
        if (name == CUDNN_ATTR_TENSOR_DATA_TYPE)
          types.push_back(*static_cast<const cudnnDataType_t *>(values));
        return CUDNN_STATUS_SUCCESS;
      };
  // One engine, exact and without a workspace.
  dnn.cudnnBackendGetAttribute =
      [](cudnnBackendDescriptor_t, cudnnBackendAttributeName_t name,
         cudnnBackendAttributeType_t, int64_t, int64_t *count, void *) {
        *count = name == CUDNN_ATTR_ENGINEHEUR_RESULTS;
        return CUDNN_STATUS_SUCCESS;
      };
  dnn.cudnnBackendFinalize = [](cudnnBackendDescriptor_t) {
    return CUDNN_STATUS_SUCCESS;
  };
  dnn.cudnnBackendExecute = [](cudnnHandle_t, cudnnBackendDescriptor_t,
                               cudnnBackendDescriptor_t pack) {
    calls.push_back(of(pack)->pointers);
    return CUDNN_STATUS_SUCCESS;
  };
}

void useCublas(cuda::CublasLibrary &lt) {
  static const void *bias = nullptr;
  lt.cublasLtMatmulDescCreate = [](cublasLtMatmulDesc_t *,
                                   cublasComputeType_t type, cudaDataType_t) {
    types.push_back(type);
    return CUBLAS_STATUS_SUCCESS;
  };
  lt.cublasLtMatmulDescSetAttribute = [](cublasLtMatmulDesc_t,
                                         cublasLtMatmulDescAttributes_t name,
                                         const void *value, size_t) {
    if (name == CUBLASLT_MATMUL_DESC_BIAS_POINTER)
      bias = *static_cast<const void *const *>(value);
    return CUBLAS_STATUS_SUCCESS;
  };
  lt.cublasLtMatrixLayoutCreate = [](cublasLtMatrixLayout_t *,
                                     cudaDataType type, uint64_t, uint64_t,
                                     int64_t) {
    types.push_back(type);
    return CUBLAS_STATUS_SUCCESS;
  };
  lt.cublasLtMatrixLayoutSetAttribute =
      [](cublasLtMatrixLayout_t, cublasLtMatrixLayoutAttribute_t, const void *,
         size_t) { return CUBLAS_STATUS_SUCCESS; };
  lt.cublasLtMatmulPreferenceCreate = [](cublasLtMatmulPreference_t *) {
    return CUBLAS_STATUS_SUCCESS;
  };
  lt.cublasLtMatmulPreferenceSetAttribute =
      [](cublasLtMatmulPreference_t, cublasLtMatmulPreferenceAttributes_t,
         const void *, size_t) { return CUBLAS_STATUS_SUCCESS; };
  lt.cublasLtMatmulAlgoGetHeuristic =
      [](cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t,
         cublasLtMatrixLayout_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
         cublasLtMatmulPreference_t, int, cublasLtMatmulHeuristicResult_t *,
         int *count) {
        *count = 1;
        return CUBLAS_STATUS_SUCCESS;
      };
  lt.cublasLtMatmul =
      [](cublasLtHandle_t, cublasLtMatmulDesc_t, const void *, const void *left,
         cublasLtMatrixLayout_t, const void *right, cublasLtMatrixLayout_t,
         const void *, const void *residual, cublasLtMatrixLayout_t,
         void *result, cublasLtMatrixLayout_t, const cublasLtMatmulAlgo_t *,
         void *, size_t, cudaStream_t) {
        calls.push_back({left, right, residual, result, bias});
        return CUBLAS_STATUS_SUCCESS;
      };
}

/// One step, which each call of a test is a run of.
struct Libraries : testing::Test {
  Libraries() : steps(1) {
    calls.clear(), types.clear();
    useCudnn(state.cudnn);
    useCublas(state.cublas);
    state.steps = &steps;
    ctx.runtime = &state;
  }

  std::vector<cuda::State::Step> steps;
  cuda::State state;
  Context ctx;
  float memory[8] = {};
  float *const y = memory, *const x = memory + 1, *const moved = memory + 2,
               *const w = memory + 3, *const bias = memory + 4,
               *const movedBias = memory + 5;
};

/// As sets: cuDNN's order is that of a graph.
void expectCall(const Addresses &found, Addresses expected) {
  Addresses sorted = found;
  std::sort(sorted.begin(), sorted.end());
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(sorted, expected);
}

TEST_F(Libraries, ConvolutionsFindAnInputThatHasMoved) {
  cudnn::conv(ctx, y, x, w, {});
  cudnn::conv(ctx, y, moved, w, {});
  cudnn::conv(ctx, y, x, w, {});
  ASSERT_EQ(calls.size(), 4u) << "the first call tries what it plans";
  expectCall(calls[1], {y, x, w});
  expectCall(calls[2], {y, moved, w});
  expectCall(calls[3], {y, x, w});
}

TEST_F(Libraries, SoDoTheirEpilogues) {
  cudnn::conv(ctx, y, x, w, {}, {.bias = bias, .residual = x});
  cudnn::conv(ctx, y, moved, w, {}, {.bias = movedBias, .residual = moved});
  ASSERT_EQ(calls.size(), 3u);
  expectCall(calls[1], {y, x, w, bias, x});
  expectCall(calls[2], {y, moved, w, movedBias, moved});
}

TEST_F(Libraries, SoDoGradients) {
  cudnn::convFilterGrad(ctx, w, x, y, {});
  cudnn::convFilterGrad(ctx, w, moved, y, {});
  ASSERT_EQ(calls.size(), 3u);
  expectCall(calls[2], {w, moved, y});
}

TEST_F(Libraries, SoDoProducts) {
  cublas::matmul(ctx, y, x, w, {}, {.bias = bias});
  cublas::matmul(ctx, y, moved, w, {}, {.bias = movedBias});
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls[0], Addresses({w, x, y, y, bias}));
  EXPECT_EQ(calls[1], Addresses({w, moved, y, y, movedBias}));
}

TEST_F(Libraries, SayWhatOperandsAre) {
  const Matmul tf32{.schedule = {.mma = Mma::tf32}};
  cublas::matmul(ctx, y, x, w, tf32);
  EXPECT_EQ(types, std::vector<int>({CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_R_32F,
                                     CUDA_R_32F, CUDA_R_32F}));
}

TEST_F(Libraries, SayThatOperandsAreRounded) {
  const Bf16 rounded[2] = {Bf16(1), Bf16(2)};
  const Matmul bf16{.schedule = {.mma = Mma::bf16}};
  cublas::matmul(ctx, y, rounded, rounded + 1, bf16);
  EXPECT_EQ(types, std::vector<int>({CUBLAS_COMPUTE_32F, CUDA_R_16BF,
                                     CUDA_R_16BF, CUDA_R_32F}));
  EXPECT_EQ(calls[0][0], rounded + 1);
  EXPECT_EQ(calls[0][1], rounded);
}

TEST_F(Libraries, SayThatConvolutionsAreRounded) {
  Bf16 rounded[3] = {Bf16(1), Bf16(2), Bf16(3)};
  const Conv bf16{.layout = Layout::nhwc, .schedule = {.mma = Mma::bf16}};
  const std::vector<int> all(3, CUDNN_DATA_BFLOAT16);
  cudnn::conv(ctx, rounded, rounded + 1, rounded + 2, bf16);
  EXPECT_EQ(types, all);
  expectCall(calls[1], {rounded, rounded + 1, rounded + 2});
  steps[0].library.reset(), types.clear();
  cudnn::convInputGrad(ctx, rounded, rounded + 1, rounded + 2, bf16);
  EXPECT_EQ(types, all);
  steps[0].library.reset(), types.clear();
  cudnn::convFilterGrad(ctx, rounded, rounded + 1, rounded + 2, bf16);
  EXPECT_EQ(types, all);
  steps[0].library.reset(), types.clear();
  cudnn::conv(ctx, y, x, w, {});
  EXPECT_EQ(types, std::vector<int>(3, CUDNN_DATA_FLOAT));
}

} // namespace
