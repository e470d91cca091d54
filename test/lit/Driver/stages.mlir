// RUN: mnistc %s --emit=mnist | FileCheck %s --check-prefix=MNIST
// RUN: mnistc %s --emit=plan --target=cpu | FileCheck %s --check-prefix=PLAN
// RUN: mnistc %s --emit=source --target=cpu | FileCheck %s --check-prefix=SOURCE
// RUN: mnistc - --emit=mnist < %s | FileCheck %s --check-prefix=MNIST
// RUN: mnistc %s --check | FileCheck %s --check-prefix=OK
// RUN: mnistc %s --check --quiet | count 0
// OK: ok: {{.*}}stages.mlir: 1 function

// Compilation stops anywhere, and starts again where it stopped.

// RUN: rm -rf %t && mkdir %t
// RUN: mnistc %s --emit=plan --target=cpu -o %t/stages.mlir
// RUN: mnistc %t/stages.mlir --emit=source --target=cpu -o %t/1.cpp
// RUN: mnistc %s --emit=source --target=cpu -o %t/2.cpp
// RUN: mnistc %s --emit=source --target=cpu -o %t/3.cpp
// RUN: cmp %t/1.cpp %t/2.cpp
// RUN: cmp %t/2.cpp %t/3.cpp

// A plan knows what it was made for.

// RUN: mnistc %t/stages.mlir --emit=source | FileCheck %s --check-prefix=TARGET
// RUN: not mnistc %t/stages.mlir --emit=source --target=cuda 2>&1 | FileCheck %s --check-prefix=OTHER
// TARGET: .target = "cpu",
// OTHER: error: expected --target=cpu, as the plan says, got 'cuda'

// RUN: mnistc %s --emit=source --target=cpu --save-stages=%t/files -o %t/5.cpp
// RUN: ls %t/files | FileCheck %s --check-prefix=FILES
// FILES: 01-import.mlir
// FILES: -plan-assign-memory.mlir
// FILES: -source.cpp

// MNIST: func.func @infer
// MNIST-NEXT: mnist.relu
// PLAN: plan.step "{{.*}}" on kernel at
// SOURCE: MN_POINTWISE_KERNEL(infer_
func.func @infer(%x: tensor<2x3xf32> {mnist.name = "x"}) -> (tensor<2x3xf32> {mnist.name = "y"}) {
  %0 = mnist.relu %x : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
