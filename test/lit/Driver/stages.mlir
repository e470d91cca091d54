// RUN: mnistc %s --emit=mnist | FileCheck %s --check-prefix=MNIST
// RUN: mnistc %s --emit=plan --target=cpu | FileCheck %s --check-prefix=PLAN
// RUN: mnistc %s --emit=source --target=cpu | FileCheck %s --check-prefix=SOURCE
// RUN: mnistc - --emit=mnist < %s | FileCheck %s --check-prefix=MNIST
// RUN: mnistc %s --check | count 0

// Compilation stops anywhere, and starts again where it stopped.

// RUN: mnistc %s --emit=plan --target=cpu -o %t.plan.mlir
// RUN: mnistc %t.plan.mlir --emit=source --target=cpu -o %t.1.cpp
// RUN: mnistc %s --emit=source --target=cpu -o %t.2.cpp
// RUN: mnistc %s --emit=source --target=cpu -o %t.3.cpp
// RUN: tail -n +2 %t.1.cpp | grep -v '\.name =' > %t.4.cpp
// RUN: tail -n +2 %t.2.cpp | grep -v '\.name =' | diff - %t.4.cpp
// RUN: cmp %t.2.cpp %t.3.cpp

// RUN: rm -rf %t.stages && mnistc %s --emit=source --target=cpu --save-stages=%t.stages -o %t.5.cpp
// RUN: ls %t.stages | FileCheck %s --check-prefix=FILES
// FILES: 01-import.mlir
// FILES: -plan-assign-memory.mlir
// FILES: -source.cpp

// MNIST: func.func @infer
// MNIST-NEXT: mnist.relu
// PLAN: plan.step "{{.*}}" on kernel at
// SOURCE: MN_MAP_KERNEL(infer_
func.func @infer(%x: tensor<2x3xf32> {mnist.name = "x"}) -> (tensor<2x3xf32> {mnist.name = "y"}) {
  %0 = mnist.relu %x : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
