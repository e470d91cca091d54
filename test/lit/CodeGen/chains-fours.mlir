// A link that is a map has fours of neighbours where threads would have more
// than two elements of a row each, and no four is in two rows.
// RUN: mnist-opt %s --plan-form-steps --plan-select-implementations --plan-choose-schedules \
// RUN:   --plan-form-chains --plan-assign-memory --plan-check-steps > %t.mlir
// RUN: mnistc %t.mlir --emit=source -o - | FileCheck %s

// CHECK:      struct Fours {
// CHECK:        ElementValues load(mn::Offset place) const
// CHECK:        void store(const StoredValues (&v)[n], mn::Offset place) const
// CHECK:      using fours_chain = mn::Chain<100, mn::MapLink<Fours, 2156>,
// CHECK:      struct Few {
// CHECK:        void operator()(mn::Element i) const
// CHECK:      using few_chain = mn::Chain<100, mn::MapLink<Few, 2048>,
// CHECK:      struct Odd {
// CHECK:        void operator()(mn::Element i) const
// CHECK:      using odd_chain = mn::Chain<100, mn::MapLink<Odd, 2157>,
func.func @infer(%x: tensor<100x44x49xf32>, %w: tensor<44xf32>, %few: tensor<100x2048xf32>, %odd: tensor<100x2157xf32>) -> (tensor<100x44x49xf32>, tensor<100xf32>, tensor<100x2048xf32>, tensor<100xf32>, tensor<100x2157xf32>, tensor<100xf32>) {
  %0 = mnist.broadcast %w along [1] : tensor<44xf32> -> tensor<100x44x49xf32>
  %1 = mnist.mul %x, %0 : tensor<100x44x49xf32> loc("fours")
  %2 = mnist.reduce_sum %1 over [1, 2] : tensor<100x44x49xf32> -> tensor<100xf32>
  %3 = mnist.mul %few, %few : tensor<100x2048xf32> loc("few")
  %4 = mnist.reduce_sum %3 over [1] : tensor<100x2048xf32> -> tensor<100xf32>
  %5 = mnist.add %odd, %odd : tensor<100x2157xf32> loc("odd")
  %6 = mnist.reduce_sum %5 over [1] : tensor<100x2157xf32> -> tensor<100xf32>
  return %1, %2, %3, %4, %5, %6 : tensor<100x44x49xf32>, tensor<100xf32>, tensor<100x2048xf32>, tensor<100xf32>, tensor<100x2157xf32>, tensor<100xf32>
}
