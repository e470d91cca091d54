// RUN: mnist-opt %s --plan-assign-memory -o %t.mlir
// RUN: mnistc %t.mlir --emit=source --arch=sm_80,sm_90 | FileCheck %s
// RUN: not mnistc %t.mlir --emit=source --target=cpu --arch=x86-64-v3,x86-64-v4 2>&1 | FileCheck %s --check-prefix=CPU

// There are kernels for several GPUs, but code for one CPU.

// CHECK:      extern "C" const unsigned char mn_constants[];
// CHECK-NEXT: extern "C" const unsigned char mn_code_1[], mn_code_1_end[];
// CHECK-NEXT: extern "C" const unsigned char mn_code_2[], mn_code_2_end[];
// CHECK:      static const mn::DeviceCode codes[] = {
// CHECK-NEXT: {"sm_80", {{[{][{]}}mn_code_1, static_cast<size_t>(mn_code_1_end - mn_code_1)}}},
// CHECK-NEXT: {"sm_90", {{[{][{]}}mn_code_2, static_cast<size_t>(mn_code_2_end - mn_code_2)}}},
// CHECK-NEXT: };
// CHECK:      .arch = "sm_80,sm_90",
// CHECK:      .codes = codes,
// CHECK-NEXT: .codeCount = 2,

// CPU: error: expected one --arch for --target=cpu, got 'x86-64-v3,x86-64-v4'; only code of GPUs can be there for several

module attributes {plan.constant_bytes = 0 : i64} {
  func.func @infer(%in: tensor<4xf32> {mnist.name = "in"}) -> (tensor<4xf32> {mnist.name = "out"}) attributes {plan.arena_bytes = 128 : i64} {
    %out = plan.step "out" on kernel (%in) {
    ^bb0(%x: tensor<4xf32>):
      %0 = mnist.relu %x : tensor<4xf32>
      plan.yield %0 : tensor<4xf32>
    } : (tensor<4xf32>) -> tensor<4xf32>
    return %out : tensor<4xf32>
  }
}
