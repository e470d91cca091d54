// RUN: mnistc %s --no-form-chains --tuned=%S/Inputs/tuned.json --emit=plan -o - | FileCheck %s --check-prefixes=CHECK,TUNED
// RUN: mnistc %s --no-form-chains --tuned=none --emit=plan -o - | FileCheck %s --check-prefixes=CHECK,NONE
// RUN: mnistc %s --no-form-chains --tuned=%S/Inputs/tuned.json --explain | FileCheck %s --check-prefix=EXPLAIN
// RUN: mnistc %s --no-form-chains --tuned=%S/Inputs/tuned.json --explain=json | FileCheck %s --check-prefix=JSON

// Choices that were measured come before the machine's. What is not in the file
// is chosen as without it.

// TUNED:       plan.tuned_on = "NVIDIA H100 80GB HBM3"
// NONE-NOT:    tuned
// CHECK:       plan.step "hidden"
// TUNED-SAME:  on kernel {{.*}}schedule(#plan.product<mma = tf32x3, tile = [16, 16, 16]>)
// TUNED:       {plan.tuned}
// NONE-SAME:   on kernel {{.*}}schedule(#plan.product<tile =
// CHECK:       plan.step "second"
// TUNED-SAME:  on cublas
// TUNED:       {plan.tuned}
// NONE-SAME:   on kernel
// CHECK:       plan.step "y"
// CHECK-SAME:  on kernel {{.*}}schedule(#plan.product<tile =
// EXPLAIN:     {{^}}step 1 on kernel: the fastest when measured on NVIDIA H100 80GB HBM3
// EXPLAIN:     {{^}}step 2 on cublas: the fastest when measured on NVIDIA H100 80GB HBM3
// JSON:        "why": "the fastest when measured on NVIDIA H100 80GB HBM3"

// What is not allowed is not taken, nor what was measured for another precision.

// RUN: mnistc %s --no-form-chains --tuned=%S/Inputs/tuned.json --libraries=none --emit=plan -o - | FileCheck %s --check-prefix=LIBRARIES
// LIBRARIES:     plan.step "hidden" {{.*}}tile = [16, 16, 16]>
// LIBRARIES:     plan.step "second" on kernel
// RUN: mnistc %s --no-form-chains --tuned=%S/Inputs/tuned.json --precision=strict --emit=plan -o - | FileCheck %s --check-prefix=OTHER
// RUN: mnistc %s --no-form-chains --tuned=%S/Inputs/tuned.json --prefer=fma --emit=plan -o - | FileCheck %s --check-prefix=OTHER
// OTHER-NOT: tuned

// The same file, the same program, wherever it is and whatever else is in it.

// RUN: %python -c "import json, sys; t = json.load(open(sys.argv[1])); t['choices']['fp32']['matmul .m = 1'] = {'on': 'kernel'}; json.dump(t, open(sys.argv[2], 'w'), indent=3)" %S/Inputs/tuned.json %t.more.json
// RUN: mnistc %s --no-form-chains --tuned=%S/Inputs/tuned.json --emit=source -o %t.1.cpp
// RUN: mnistc %s --no-form-chains --tuned=%t.more.json --emit=source -o %t.2.cpp
// RUN: cmp %t.1.cpp %t.2.cpp

func.func @infer(%x: tensor<64x784xf32> {mnist.name = "x"}, %u: tensor<784x32xf32> {mnist.name = "u"}, %v: tensor<32x48xf32> {mnist.name = "v"}, %w: tensor<48x10xf32> {mnist.name = "w"}) -> (tensor<64x10xf32> {mnist.name = "y"}) {
  %0 = mnist.matmul %x, %u : (tensor<64x784xf32>, tensor<784x32xf32>) -> tensor<64x32xf32> loc("first")
  %1 = mnist.tanh %0 : tensor<64x32xf32> loc("hidden")
  %2 = mnist.matmul %1, %v : (tensor<64x32xf32>, tensor<32x48xf32>) -> tensor<64x48xf32> loc("second")
  %3 = mnist.matmul %2, %w : (tensor<64x48xf32>, tensor<48x10xf32>) -> tensor<64x10xf32> loc("y")
  return %3 : tensor<64x10xf32>
}
