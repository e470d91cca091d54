// RUN: mnistc %s --emit=mnist | FileCheck %s --check-prefix=WHOLE
// RUN: mnistc %s --emit=plan --target=cpu | mnistc - --emit=plan | FileCheck %s --check-prefix=WHOLE
// RUN: mnistc %s --emit=mnist -o %t.mlir
// RUN: FileCheck %s --check-prefix=WHOLE < %t.mlir

// What a terminal shows leaves long constants out; a file or a pipe is whole.

// WHOLE: mnist.constant dense<[0, 1, 2, {{.*}}, 38, 39]> : tensor<40xi32>
func.func @infer(%x: tensor<40xi32> {mnist.name = "x"}) -> (tensor<40xi32> {mnist.name = "y"}) {
  %c = mnist.constant dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39]> : tensor<40xi32>
  %0 = mnist.add %x, %c : tensor<40xi32>
  return %0 : tensor<40xi32>
}
