// RUN: mnist-opt %s --plan-assign-memory --mlir-print-debuginfo | mnistc - --emit=source | FileCheck %s

// Numbers read back as what they were.

// Floats: the shortest text that is exact.
// CHECK-LABEL: namespace infer_f32 {
// CHECK: y[i] = mn::max(x0[i], 0.1f);
// CHECK-NEXT: y1[i] = mn::max(x0[i], -0.0f);
// CHECK-NEXT: y2[i] = mn::max(x0[i], 1e-45f);
// CHECK-NEXT: y3[i] = mn::max(x0[i], 3.4028235e+38f);
// CHECK-NEXT: y4[i] = mn::max(x0[i], mn::infinity<float>());
// CHECK-NEXT: y5[i] = mn::max(x0[i], -mn::infinity<float>());
// CHECK-NEXT: y6[i] = mn::max(x0[i], mn::notANumber<float>());
// CHECK-NEXT: y7[i] = mn::max(x0[i], 4.0f);
func.func @infer_f32(%in0: tensor<4xf32> {mnist.name = "x0"}) -> tensor<4xf32> {
  %y:8 = plan.step "y" on kernel (%in0) {
  ^bb0(%a: tensor<4xf32>):
    %c0 = mnist.constant dense<0.1> : tensor<4xf32>
    %0 = mnist.max %a, %c0 : tensor<4xf32> loc("y0")
    %c1 = mnist.constant dense<-0.0> : tensor<4xf32>
    %1 = mnist.max %a, %c1 : tensor<4xf32> loc("y1")
    %c2 = mnist.constant dense<1.0e-45> : tensor<4xf32>
    %2 = mnist.max %a, %c2 : tensor<4xf32> loc("y2")
    %c3 = mnist.constant dense<3.40282347E+38> : tensor<4xf32>
    %3 = mnist.max %a, %c3 : tensor<4xf32> loc("y3")
    %c4 = mnist.constant dense<0x7F800000> : tensor<4xf32>
    %4 = mnist.max %a, %c4 : tensor<4xf32> loc("y4")
    %c5 = mnist.constant dense<0xFF800000> : tensor<4xf32>
    %5 = mnist.max %a, %c5 : tensor<4xf32> loc("y5")
    %c6 = mnist.constant dense<0x7FC00000> : tensor<4xf32>
    %6 = mnist.max %a, %c6 : tensor<4xf32> loc("y6")
    %c7 = mnist.constant dense<4.0> : tensor<4xf32>
    %7 = mnist.max %a, %c7 : tensor<4xf32> loc("y7")
    plan.yield %0, %1, %2, %3, %4, %5, %6, %7 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  } : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  return %y#0 : tensor<4xf32>
}

// Doubles.
// CHECK-LABEL: namespace infer_f64 {
// CHECK: y[i] = mn::max(x0[i], 0.1);
// CHECK-NEXT: y1[i] = mn::max(x0[i], mn::infinity<double>());
func.func @infer_f64(%in0: tensor<4xf64> {mnist.name = "x0"}) -> tensor<4xf64> {
  %y:2 = plan.step "y" on kernel (%in0) {
  ^bb0(%a: tensor<4xf64>):
    %c0 = mnist.constant dense<0.1> : tensor<4xf64>
    %0 = mnist.max %a, %c0 : tensor<4xf64> loc("y0")
    %c1 = mnist.constant dense<0x7FF0000000000000> : tensor<4xf64>
    %1 = mnist.max %a, %c1 : tensor<4xf64> loc("y1")
    plan.yield %0, %1 : tensor<4xf64>, tensor<4xf64>
  } : (tensor<4xf64>) -> (tensor<4xf64>, tensor<4xf64>)
  return %y#0 : tensor<4xf64>
}

// The lowest integer has no literal.
// CHECK-LABEL: namespace infer_i64 {
// CHECK: y[i] = mn::max(x0[i], int64_t{5});
// CHECK-NEXT: y1[i] = mn::max(x0[i], int64_t{-5});
// CHECK-NEXT: y2[i] = mn::max(x0[i], mn::Limits<int64_t>::lowest());
func.func @infer_i64(%in0: tensor<4xi64> {mnist.name = "x0"}) -> tensor<4xi64> {
  %y:3 = plan.step "y" on kernel (%in0) {
  ^bb0(%a: tensor<4xi64>):
    %c0 = mnist.constant dense<5> : tensor<4xi64>
    %0 = mnist.max %a, %c0 : tensor<4xi64> loc("y0")
    %c1 = mnist.constant dense<-5> : tensor<4xi64>
    %1 = mnist.max %a, %c1 : tensor<4xi64> loc("y1")
    %c2 = mnist.constant dense<-9223372036854775808> : tensor<4xi64>
    %2 = mnist.max %a, %c2 : tensor<4xi64> loc("y2")
    plan.yield %0, %1, %2 : tensor<4xi64>, tensor<4xi64>, tensor<4xi64>
  } : (tensor<4xi64>) -> (tensor<4xi64>, tensor<4xi64>, tensor<4xi64>)
  return %y#0 : tensor<4xi64>
}

// Integers of 32 bits.
// CHECK-LABEL: namespace infer_i32 {
// CHECK: y[i] = mn::max(x0[i], 7);
// CHECK-NEXT: y1[i] = mn::max(x0[i], -7);
// CHECK-NEXT: y2[i] = mn::max(x0[i], mn::Limits<int32_t>::lowest());
func.func @infer_i32(%in0: tensor<4xi32> {mnist.name = "x0"}) -> tensor<4xi32> {
  %y:3 = plan.step "y" on kernel (%in0) {
  ^bb0(%a: tensor<4xi32>):
    %c0 = mnist.constant dense<7> : tensor<4xi32>
    %0 = mnist.max %a, %c0 : tensor<4xi32> loc("y0")
    %c1 = mnist.constant dense<-7> : tensor<4xi32>
    %1 = mnist.max %a, %c1 : tensor<4xi32> loc("y1")
    %c2 = mnist.constant dense<-2147483648> : tensor<4xi32>
    %2 = mnist.max %a, %c2 : tensor<4xi32> loc("y2")
    plan.yield %0, %1, %2 : tensor<4xi32>, tensor<4xi32>, tensor<4xi32>
  } : (tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>)
  return %y#0 : tensor<4xi32>
}

// Bytes.
// CHECK-LABEL: namespace infer_u8 {
// CHECK: y[i] = mn::max(x0[i], uint8_t{200});
func.func @infer_u8(%in0: tensor<4xui8> {mnist.name = "x0"}) -> tensor<4xui8> {
  %y = plan.step "y" on kernel (%in0) {
  ^bb0(%a: tensor<4xui8>):
    %c0 = mnist.constant dense<200> : tensor<4xui8>
    %0 = mnist.max %a, %c0 : tensor<4xui8> loc("y0")
    plan.yield %0 : tensor<4xui8>
  } : (tensor<4xui8>) -> (tensor<4xui8>)
  return %y : tensor<4xui8>
}

// A small tensor is a table.
// CHECK-LABEL: namespace infer_table {
// CHECK: constexpr float constant[] = {1.0f, 2.5f, -3.0f};
// CHECK-NEXT: y[i] = x0[i] * constant[i % 3];
func.func @infer_table(%in0: tensor<2x3xf32> {mnist.name = "x0"}) -> tensor<2x3xf32> {
  %y = plan.step "y" on kernel (%in0) {
  ^bb0(%a: tensor<2x3xf32>):
    %k = mnist.constant dense<[1.0, 2.5, -3.0]> : tensor<3xf32>
    %w = mnist.broadcast %k along [1] : tensor<3xf32> -> tensor<2x3xf32>
    %0 = mnist.mul %a, %w : tensor<2x3xf32>
    plan.yield %0 : tensor<2x3xf32>
  } : (tensor<2x3xf32>) -> (tensor<2x3xf32>)
  return %y : tensor<2x3xf32>
}
