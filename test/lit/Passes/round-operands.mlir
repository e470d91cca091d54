// RUN: mnist-opt %s --mnist-round-operands | FileCheck %s
// RUN: mnist-opt %s --mnist-round-operands="libraries=cudnn" | FileCheck %s --check-prefix=NONE
// RUN: mnist-opt %s --mnist-round-operands="target=cpu" | FileCheck %s --check-prefix=NONE
// RUN: not mnist-opt %s --mnist-round-operands="target=tpu" 2>&1 | FileCheck %s --check-prefix=TARGET
// NONE-NOT: bf16
// TARGET: error: expected a target of cuda or cpu, got 'tpu'

// A tensor is rounded once, where it is made, whoever multiplies it; others
// read it in f32.

// CHECK-LABEL: func.func @once
// CHECK-SAME:    (%[[X:[a-z0-9]*]]: tensor<64x16x512xf32>, %[[W:[a-z0-9]*]]: tensor<512x1024xf32>)
// CHECK-DAG:     %[[XR:.*]] = mnist.cast %[[X]] : tensor<64x16x512xf32> -> tensor<64x16x512xbf16>
// CHECK-DAG:     %[[WR:.*]] = mnist.cast %[[W]] : tensor<512x1024xf32> -> tensor<512x1024xbf16>
// CHECK-DAG:     %[[ROWS:.*]] = mnist.reshape %[[XR]] : tensor<64x16x512xbf16> -> tensor<1024x512xbf16>
// CHECK:         %[[Y:.*]] = mnist.matmul %[[ROWS]], %[[WR]] : (tensor<1024x512xbf16>, tensor<512x1024xbf16>) -> tensor<1024x1024xf32>
// CHECK:         %[[YR:.*]] = mnist.cast %[[Y]] : tensor<1024x1024xf32> -> tensor<1024x1024xbf16>
// CHECK:         mnist.matmul %{{.*}}, %[[YR]] transposed [true, false] : (tensor<1024x512xbf16>, tensor<1024x1024xbf16>) -> tensor<512x1024xf32>
// CHECK:         mnist.neg %[[Y]]
// CHECK-NOT:     mnist.cast
// CHECK:         return
func.func @once(%x: tensor<64x16x512xf32>, %w: tensor<512x1024xf32>) -> (tensor<512x1024xf32>, tensor<1024x1024xf32>) {
  %a = mnist.reshape %x : tensor<64x16x512xf32> -> tensor<1024x512xf32>
  %y = mnist.matmul %a, %w : (tensor<1024x512xf32>, tensor<512x1024xf32>) -> tensor<1024x1024xf32>
  %dw = mnist.matmul %a, %y transposed [true, false] : (tensor<1024x512xf32>, tensor<1024x1024xf32>) -> tensor<512x1024xf32>
  %n = mnist.neg %y : tensor<1024x1024xf32>
  return %dw, %n : tensor<512x1024xf32>, tensor<1024x1024xf32>
}

// Small products, doubles and constants stay as they are.

// CHECK-LABEL: func.func @others
// CHECK-NOT:     bf16
func.func @others(%x: tensor<1024x512xf32>, %w: tensor<512x64xf32>, %d: tensor<1024x512xf64>, %e: tensor<512x1024xf64>) -> (tensor<1024x64xf32>, tensor<1024x1024xf64>, tensor<1024x1024xf32>) {
  %c = mnist.constant dense<0.5> : tensor<512x1024xf32>
  %y = mnist.matmul %x, %w : (tensor<1024x512xf32>, tensor<512x64xf32>) -> tensor<1024x64xf32>
  %z = mnist.matmul %d, %e : (tensor<1024x512xf64>, tensor<512x1024xf64>) -> tensor<1024x1024xf64>
  %k = mnist.matmul %x, %c : (tensor<1024x512xf32>, tensor<512x1024xf32>) -> tensor<1024x1024xf32>
  return %y, %z, %k : tensor<1024x64xf32>, tensor<1024x1024xf64>, tensor<1024x1024xf32>
}
