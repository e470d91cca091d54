// RUN: mnist-opt %s --plan-assign-memory --mlir-print-debuginfo | mnistc - --emit=source -o %t.cpp
// RUN: FileCheck %s < %t.cpp
// RUN: FileCheck %s --check-prefix=EDITED < %t.cpp
// RUN: mnist-opt %s --plan-assign-memory --mlir-print-debuginfo | mnistc - --explain | FileCheck %s --check-prefix=EXPLAIN
// RUN: mnist-opt %s --plan-assign-memory --mlir-print-debuginfo | mnistc - --explain=json | FileCheck %s --check-prefix=JSON

// A schedule is a field of the sizes, of kernels and of library calls, and the
// end of a step's row. One that says only what multiplies gets the rest; one that
// was edited is obeyed.

// CHECK-LABEL: namespace infer_kernel {
// CHECK: constexpr mn::Matmul y_shape{
// CHECK:     .schedule = {.mma = mn::Mma::tf32x3, .tile = {32, 32, 8}, .warps = {2, 2}},
// CHECK: MN_MATMUL_KERNEL(infer_kernel_y, float, Y, y_shape)
// CHECK: "kernel", {{.*}}, 0, nullptr, 0, "tf32x3", "product, tile 32x32x8, warps 2x2"}
func.func @infer_kernel(%in0: tensor<64x4x6xf32> {mnist.name = "x0"}, %in1: tensor<64x6x2xf32> {mnist.name = "x1"}) -> tensor<64x4x2xf32> {
  %y = plan.step "y" on kernel schedule(#plan.product<mma = tf32x3>) (%in0, %in1) {
  ^bb0(%a: tensor<64x4x6xf32>, %b: tensor<64x6x2xf32>):
    %0 = mnist.matmul %a, %b : (tensor<64x4x6xf32>, tensor<64x6x2xf32>) -> tensor<64x4x2xf32>
    plan.yield %0 : tensor<64x4x2xf32>
  } : (tensor<64x4x6xf32>, tensor<64x6x2xf32>) -> (tensor<64x4x2xf32>)
  return %y : tensor<64x4x2xf32>
}

// CHECK-LABEL: namespace infer_library {
// CHECK: constexpr mn::Matmul y_shape{
// CHECK:     .schedule = {.mma = mn::Mma::bf16},
// CHECK: mn::cublas::matmul(ctx, y, x0, x1, y_shape);
func.func @infer_library(%in0: tensor<4x6xf32> {mnist.name = "x0"}, %in1: tensor<6x2xf32> {mnist.name = "x1"}) -> tensor<4x2xf32> {
  %y = plan.step "y" on cublas schedule(#plan.product<mma = bf16>) (%in0, %in1) {
  ^bb0(%a: tensor<4x6xf32>, %b: tensor<6x2xf32>):
    %0 = mnist.matmul %a, %b : (tensor<4x6xf32>, tensor<6x2xf32>) -> tensor<4x2xf32>
    plan.yield %0 : tensor<4x2xf32>
  } : (tensor<4x6xf32>, tensor<6x2xf32>) -> (tensor<4x2xf32>)
  return %y : tensor<4x2xf32>
}

// EDITED-LABEL: namespace infer_edited {
// EDITED: constexpr mn::Conv a_shape{
// EDITED:     .schedule = {.split = 2, .way = mn::Way::columns, .height = 4, .width = 8},
// EDITED: constexpr mn::Conv b_shape{
// EDITED:     .schedule = {.mma = mn::Mma::bf16, .tile = {64, 32, 16}, .warps = {4, 1},
// EDITED-NEXT:             .split = 3},
// EDITED: constexpr mn::Conv c_shape{
// EDITED:     .schedule = {.mma = mn::Mma::tf32, .way = mn::Way::patches, .width = 64},
// EDITED: constexpr mn::Conv d_shape{
// EDITED:     .schedule = {.way = mn::Way::direct, .images = 2},
// EDITED: {"a", {{.*}}, 0, nullptr, 0, "", "columns, split 2, height 4, width 8"},
// EDITED: {"b", {{.*}}, 0, nullptr, 0, "bf16", "product, tile 64x32x16, warps 4x1, split 3"},
// EDITED: {"c", {{.*}}, 0, nullptr, 0, "tf32", "patches, width 64"},
// EDITED: {"d", {{.*}}, 0, nullptr, 0, "", "direct, images 2"}

// EXPLAIN-LABEL: {{^}}infer_edited for cuda
// EXPLAIN: {{^}}step 1 computed as columns, split 2, height 4, width 8
// EXPLAIN: {{^}}step 2 computed as product, tile 64x32x16, warps 4x1, split 3
// EXPLAIN: {{^}}step 3 computed as patches, width 64
// JSON: "schedule": "product, tile 64x32x16, warps 4x1, split 3",
func.func @infer_edited(%in0: tensor<4x8x9x9xf32> {mnist.name = "x0"}, %in1: tensor<8x8x3x3xf32> {mnist.name = "x1"}) -> tensor<4x8x9x9xf32> {
  %a = plan.step "a" on kernel schedule(#plan.columns<split = 2, width = 8, height = 4>) (%in0, %in1) {
  ^bb0(%p: tensor<4x8x9x9xf32>, %q: tensor<8x8x3x3xf32>):
    %0 = mnist.conv nchw %p, %q strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<4x8x9x9xf32>, tensor<8x8x3x3xf32>) -> tensor<4x8x9x9xf32>
    plan.yield %0 : tensor<4x8x9x9xf32>
  } : (tensor<4x8x9x9xf32>, tensor<8x8x3x3xf32>) -> (tensor<4x8x9x9xf32>)
  %b = plan.step "b" on kernel schedule(#plan.product<split = 3, tile = [64, 32, 16], warps = [4, 1], mma = bf16>) (%a, %in1) {
  ^bb0(%p: tensor<4x8x9x9xf32>, %q: tensor<8x8x3x3xf32>):
    %0 = mnist.conv nchw %p, %q strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<4x8x9x9xf32>, tensor<8x8x3x3xf32>) -> tensor<4x8x9x9xf32>
    plan.yield %0 : tensor<4x8x9x9xf32>
  } : (tensor<4x8x9x9xf32>, tensor<8x8x3x3xf32>) -> (tensor<4x8x9x9xf32>)
  %c = plan.step "c" on kernel schedule(#plan.patches<mma = tf32, width = 64>) (%b, %in1) {
  ^bb0(%p: tensor<4x8x9x9xf32>, %q: tensor<8x8x3x3xf32>):
    %0 = mnist.conv nchw %p, %q strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<4x8x9x9xf32>, tensor<8x8x3x3xf32>) -> tensor<4x8x9x9xf32>
    plan.yield %0 : tensor<4x8x9x9xf32>
  } : (tensor<4x8x9x9xf32>, tensor<8x8x3x3xf32>) -> (tensor<4x8x9x9xf32>)
  %d = plan.step "d" on kernel schedule(#plan.direct<images = 2>) (%c, %in1) {
  ^bb0(%p: tensor<4x8x9x9xf32>, %q: tensor<8x8x3x3xf32>):
    %0 = mnist.conv nchw %p, %q strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<4x8x9x9xf32>, tensor<8x8x3x3xf32>) -> tensor<4x8x9x9xf32>
    plan.yield %0 : tensor<4x8x9x9xf32>
  } : (tensor<4x8x9x9xf32>, tensor<8x8x3x3xf32>) -> (tensor<4x8x9x9xf32>)
  return %d : tensor<4x8x9x9xf32>
}
