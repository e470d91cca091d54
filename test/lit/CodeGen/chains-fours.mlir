// A link that is a map has fours of neighbours where threads would have more
// than an element each, of all its loops, and no four is in two rows.
// RUN: mnist-opt %s --plan-form-steps --plan-select-implementations --plan-choose-schedules \
// RUN:   --plan-form-chains --plan-assign-memory --plan-check-steps > %t.mlir
// RUN: mnistc %t.mlir --emit=source -o - | FileCheck %s

// CHECK:      struct Fours {
// CHECK:        ElementValues load(mn::Offset place) const
// CHECK:        void store(const StoredValues (&v)[n], mn::Offset place) const
// CHECK:      using fours_chain = mn::Chain<fours_blocks, mn::MapLink<Fours, 2156>,
// CHECK:      struct Few {
// CHECK:        void operator()(mn::Element i) const
// CHECK:      using few_chain = mn::Chain<few_blocks, mn::MapLink<Few, 1024>,
// CHECK:      struct Odd {
// CHECK:        void operator()(mn::Element i) const
// CHECK:      using odd_chain = mn::Chain<odd_blocks, mn::MapLink<Odd, 2157>,
// CHECK:      struct Two {
// CHECK:        void store(const StoredValues (&v)[n], mn::Offset place) const
// CHECK:      using two_chain = mn::Chain<two_blocks, mn::MapLink<Two, 640>,
// CHECK-NEXT:   mn::Beside<mn::MapLink<Exp, 600>>,
func.func @infer(%x: tensor<100x44x49xf32>, %w: tensor<44xf32>, %few: tensor<100x1024xf32>, %odd: tensor<100x2157xf32>, %y: tensor<100x640xf32>) -> (tensor<100x44x49xf32>, tensor<100xf32>, tensor<100x1024xf32>, tensor<100xf32>, tensor<100x2157xf32>, tensor<100xf32>, tensor<100x600xf32>, tensor<100x640xf32>, tensor<100xf32>) {
  %0 = mnist.broadcast %w along [1] : tensor<44xf32> -> tensor<100x44x49xf32>
  %1 = mnist.mul %x, %0 : tensor<100x44x49xf32> loc("fours")
  %2 = mnist.reduce_sum %1 over [1, 2] : tensor<100x44x49xf32> -> tensor<100xf32>
  %3 = mnist.mul %few, %few : tensor<100x1024xf32> loc("few")
  %4 = mnist.reduce_sum %3 over [1] : tensor<100x1024xf32> -> tensor<100xf32>
  %5 = mnist.add %odd, %odd : tensor<100x2157xf32> loc("odd")
  %6 = mnist.reduce_sum %5 over [1] : tensor<100x2157xf32> -> tensor<100xf32>
  %s = mnist.slice %y starts [0, 40] steps [1, 1] : tensor<100x640xf32> -> tensor<100x600xf32>
  %7 = mnist.exp %s : tensor<100x600xf32> loc("two")
  %8 = mnist.exp %y : tensor<100x640xf32> loc("loops")
  %9 = mnist.reduce_max %7 over [1] : tensor<100x600xf32> -> tensor<100xf32>
  %10 = mnist.reduce_max %8 over [1] : tensor<100x640xf32> -> tensor<100xf32>
  %11 = mnist.add %9, %10 : tensor<100xf32>
  return %1, %2, %3, %4, %5, %6, %7, %8, %11 : tensor<100x44x49xf32>, tensor<100xf32>, tensor<100x1024xf32>, tensor<100xf32>, tensor<100x2157xf32>, tensor<100xf32>, tensor<100x600xf32>, tensor<100x640xf32>, tensor<100xf32>
}
