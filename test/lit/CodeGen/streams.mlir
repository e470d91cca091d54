// RUN: mnist-opt %s --plan-form-steps --plan-select-implementations=libraries=none \
// RUN:   --plan-assign-memory=concurrent=true --plan-assign-streams --plan-check-steps -o %t.plan.mlir
// RUN: %mnistc %t.plan.mlir --emit=source | FileCheck %s
// RUN: %mnistc %t.plan.mlir --explain -o - | FileCheck %s --check-prefix=EXPLAIN
// RUN: %mnistc %t.plan.mlir --explain=json -o - | FileCheck %s --check-prefix=JSON

// The row of a step ends with its stream and with which steps it waits for.

// CHECK:      static const int after[] = {0, 1};
// CHECK:      static const mn::Step steps[] = {
// CHECK-NEXT: {"a", {{.*}}, results, 1},
// CHECK-NEXT: {"b", {{.*}}, results + 1, 1},
// CHECK-NEXT: {"c", {{.*}}, results + 2, 1, 1, after, 1},
// CHECK-NEXT: {"d", {{.*}}, results + 3, 1},
// CHECK-NEXT: {"e", {{.*}}, results + 4, 1, 1, after + 1, 1},

// EXPLAIN: streams: in addition to the first, steps 3, 5 on 2
// JSON: "stream": 1,
// JSON-NEXT: "after": [
// JSON-NEXT:   1
// JSON-NEXT: ]
func.func @infer(%x: tensor<4x64xf32>) -> (tensor<4x64xf32>, tensor<4x64xf32>, tensor<4x64xf32>) {
  %a = mnist.softmax %x dim 1 : tensor<4x64xf32> loc("a")
  %b = mnist.softmax %a dim 0 : tensor<4x64xf32> loc("b")
  %c = mnist.log_softmax %a dim 0 : tensor<4x64xf32> loc("c")
  %d = mnist.log_softmax %b dim 1 : tensor<4x64xf32> loc("d")
  %s = mnist.add %b, %c : tensor<4x64xf32>
  %e = mnist.softmax %s dim 1 : tensor<4x64xf32> loc("e")
  return %c, %d, %e : tensor<4x64xf32>, tensor<4x64xf32>, tensor<4x64xf32>
}
