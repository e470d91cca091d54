// RUN: mnist-opt %s --plan-form-rows | FileCheck %s

// What a product's step may end in, a relu after its bias too, stays there if
// others than the rows read it: it is stored once, and the product is not.

// CHECK-LABEL: func.func @stored
// CHECK:         mnist.matmul
// CHECK:         mnist.add
// CHECK-NEXT:    %[[Y:.*]] = mnist.relu
// CHECK-NEXT:    %[[STEP:.*]]:2 = plan.step {{.*}}(%[[Y]])
// CHECK-NOT:     mnist.relu
// CHECK:         }
// CHECK:         return %[[Y]], %[[STEP]]#0
func.func @stored(%x: tensor<256x64xf32>, %w: tensor<64x32xf32>, %b: tensor<32xf32>) -> (tensor<256x32xf32>, tensor<256x32xf32>, tensor<256xf32>) {
  %product = mnist.matmul %x, %w : (tensor<256x64xf32>, tensor<64x32xf32>) -> tensor<256x32xf32>
  %bias = mnist.broadcast %b along [1] : tensor<32xf32> -> tensor<256x32xf32>
  %sum = mnist.add %product, %bias : tensor<256x32xf32>
  %y = mnist.relu %sum : tensor<256x32xf32>
  %mean = mnist.reduce_sum %y over [1] : tensor<256x32xf32> -> tensor<256xf32>
  %means = mnist.broadcast %mean along [0] : tensor<256xf32> -> tensor<256x32xf32>
  %centred = mnist.sub %y, %means : tensor<256x32xf32>
  %square = mnist.mul %centred, %centred : tensor<256x32xf32>
  %squares = mnist.reduce_sum %square over [1] : tensor<256x32xf32> -> tensor<256xf32>
  return %y, %centred, %squares : tensor<256x32xf32>, tensor<256x32xf32>, tensor<256xf32>
}

// Where only the rows read it, they compute it.

// CHECK-LABEL: func.func @inside
// CHECK:         %[[PRODUCT:.*]] = mnist.matmul
// CHECK-NOT:     mnist.relu
// CHECK:         plan.step {{.*}}(%[[PRODUCT]], %{{.*}})
// CHECK:           mnist.add
// CHECK:           mnist.relu
func.func @inside(%x: tensor<256x64xf32>, %w: tensor<64x32xf32>, %b: tensor<32xf32>) -> (tensor<256x32xf32>, tensor<256xf32>) {
  %product = mnist.matmul %x, %w : (tensor<256x64xf32>, tensor<64x32xf32>) -> tensor<256x32xf32>
  %bias = mnist.broadcast %b along [1] : tensor<32xf32> -> tensor<256x32xf32>
  %sum = mnist.add %product, %bias : tensor<256x32xf32>
  %y = mnist.relu %sum : tensor<256x32xf32>
  %mean = mnist.reduce_sum %y over [1] : tensor<256x32xf32> -> tensor<256xf32>
  %means = mnist.broadcast %mean along [0] : tensor<256xf32> -> tensor<256x32xf32>
  %centred = mnist.sub %y, %means : tensor<256x32xf32>
  %square = mnist.mul %centred, %centred : tensor<256x32xf32>
  %squares = mnist.reduce_sum %square over [1] : tensor<256x32xf32> -> tensor<256xf32>
  return %centred, %squares : tensor<256x32xf32>, tensor<256xf32>
}

// Another function than a relu, which a library may not have, is of the rows.

// CHECK-LABEL: func.func @other
// CHECK:         %[[PRODUCT:.*]] = mnist.matmul
// CHECK-NOT:     mnist.tanh
// CHECK:         plan.step {{.*}}(%[[PRODUCT]], %{{.*}})
// CHECK:           mnist.tanh
func.func @other(%x: tensor<256x64xf32>, %w: tensor<64x32xf32>, %b: tensor<32xf32>) -> (tensor<256x32xf32>, tensor<256x32xf32>, tensor<256xf32>) {
  %product = mnist.matmul %x, %w : (tensor<256x64xf32>, tensor<64x32xf32>) -> tensor<256x32xf32>
  %bias = mnist.broadcast %b along [1] : tensor<32xf32> -> tensor<256x32xf32>
  %sum = mnist.add %product, %bias : tensor<256x32xf32>
  %y = mnist.tanh %sum : tensor<256x32xf32>
  %mean = mnist.reduce_sum %y over [1] : tensor<256x32xf32> -> tensor<256xf32>
  %means = mnist.broadcast %mean along [0] : tensor<256xf32> -> tensor<256x32xf32>
  %centred = mnist.sub %y, %means : tensor<256x32xf32>
  %square = mnist.mul %centred, %centred : tensor<256x32xf32>
  %squares = mnist.reduce_sum %square over [1] : tensor<256x32xf32> -> tensor<256xf32>
  return %y, %centred, %squares : tensor<256x32xf32>, tensor<256x32xf32>, tensor<256xf32>
}

// Nor may it add another tensor.

// CHECK-LABEL: func.func @residual
// CHECK:         %[[PRODUCT:.*]] = mnist.matmul
// CHECK-NOT:     mnist.relu
// CHECK:         plan.step {{.*}}(%[[PRODUCT]], %{{.*}})
// CHECK:           mnist.relu
func.func @residual(%x: tensor<256x64xf32>, %w: tensor<64x32xf32>, %z: tensor<256x32xf32>) -> (tensor<256x32xf32>, tensor<256x32xf32>, tensor<256xf32>) {
  %product = mnist.matmul %x, %w : (tensor<256x64xf32>, tensor<64x32xf32>) -> tensor<256x32xf32>
  %sum = mnist.add %product, %z : tensor<256x32xf32>
  %y = mnist.relu %sum : tensor<256x32xf32>
  %mean = mnist.reduce_sum %y over [1] : tensor<256x32xf32> -> tensor<256xf32>
  %means = mnist.broadcast %mean along [0] : tensor<256xf32> -> tensor<256x32xf32>
  %centred = mnist.sub %y, %means : tensor<256x32xf32>
  %square = mnist.mul %centred, %centred : tensor<256x32xf32>
  %squares = mnist.reduce_sum %square over [1] : tensor<256x32xf32> -> tensor<256xf32>
  return %y, %centred, %squares : tensor<256x32xf32>, tensor<256x32xf32>, tensor<256xf32>
}

// Nor is a sum worth a step of rows with what a product's step may end in, such
// as the gradient of an activation with the sum that a bias wants.

// CHECK-LABEL: func.func @gradient
// CHECK-NOT:     plan.step
// CHECK:         mnist.matmul
// CHECK-NOT:     plan.step
// CHECK:         mnist.exp
// CHECK:         %[[DX:.*]] = mnist.add
// CHECK:         mnist.reduce_sum %[[DX]]
// CHECK-NOT:     plan.step
// CHECK:         return
func.func @gradient(%dy: tensor<4096x64xf32>, %w: tensor<64x32xf32>, %x: tensor<4096x32xf32>) -> (tensor<4096x32xf32>, tensor<32xf32>) {
  %product = mnist.matmul %dy, %w : (tensor<4096x64xf32>, tensor<64x32xf32>) -> tensor<4096x32xf32>
  %exp = mnist.exp %x : tensor<4096x32xf32>
  %some = mnist.mul %product, %exp : tensor<4096x32xf32>
  %more = mnist.mul %product, %x : tensor<4096x32xf32>
  %dx = mnist.add %some, %more : tensor<4096x32xf32>
  %bias = mnist.reduce_sum %dx over [0] : tensor<4096x32xf32> -> tensor<32xf32>
  return %dx, %bias : tensor<4096x32xf32>, tensor<32xf32>
}

// What others read before that is stored, and the step of rows reads it.

// CHECK-LABEL: func.func @read
// CHECK:         %[[PRODUCT:.*]] = mnist.matmul
// CHECK:         plan.step {{.*}}, %[[PRODUCT]])
func.func @read(%dy: tensor<4096x64xf32>, %w: tensor<64x32xf32>, %x: tensor<4096x32xf32>) -> (tensor<4096x32xf32>, tensor<32xf32>, tensor<4096x32xf32>) {
  %product = mnist.matmul %dy, %w : (tensor<4096x64xf32>, tensor<64x32xf32>) -> tensor<4096x32xf32>
  %exp = mnist.exp %x : tensor<4096x32xf32>
  %dx = mnist.mul %product, %exp : tensor<4096x32xf32>
  %bias = mnist.reduce_sum %dx over [0] : tensor<4096x32xf32> -> tensor<32xf32>
  return %dx, %bias, %product : tensor<4096x32xf32>, tensor<32xf32>, tensor<4096x32xf32>
}
