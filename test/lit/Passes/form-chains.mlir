// RUN: mnist-opt %s --plan-form-rows --plan-form-steps --plan-select-implementations --plan-choose-schedules --plan-form-chains \
// RUN:   | FileCheck %s --strict-whitespace
// RUN: mnist-opt %s --plan-form-rows=target=cpu --plan-form-steps --plan-select-implementations=target=cpu --plan-form-chains \
// RUN:   | FileCheck %s --strict-whitespace --check-prefix=CPU
// RUN: mnist-opt %s --plan-form-steps --plan-select-implementations --plan-choose-schedules --plan-form-chains \
// RUN:     --plan-assign-memory --plan-assign-streams --plan-check-steps | FileCheck %s --strict-whitespace --check-prefix=MEMORY

// RUN: mnist-opt %s --plan-form-rows --plan-form-steps --plan-select-implementations=prefer=fma --plan-choose-schedules --plan-form-chains \
// RUN:   | FileCheck %s --strict-whitespace --check-prefix=FMA

// Each row of the second product, of the sums and of the gradient needs one row
// of the links before it. The first product has too many weights, and what sums
// over the rows needs all of them.

// CHECK-LABEL: func.func @classifier
// CHECK:         %[[HIDDEN:.*]] = plan.step "relu" on kernel schedule
// CHECK:         %[[CHAIN:.*]]:3 = plan.step "logits" on kernel(%[[HIDDEN]], %arg2)
// CHECK-NEXT:    ^bb0(%[[H:.*]]: tensor<64x128xf32>{{.*}}, %[[W:.*]]: tensor<10x128xf32>
// CHECK-NEXT:      %[[LOGITS:.*]] = plan.step "logits" on kernel schedule(#plan.product<mma = tf32x3>)(%[[H]], %[[W]])
// CHECK:           %[[P:.*]] = plan.step "sub" on kernel(%[[LOGITS]])
// CHECK:           mnist.reduce_max
// CHECK:           %[[G:.*]] = plan.step "grad" on kernel schedule(#plan.product<mma = tf32x3>)(%[[P]], %[[W]])
// CHECK:           plan.yield %[[LOGITS]], %[[P]], %[[G]]
// CHECK:         plan.step "weight" on kernel schedule({{.*}})(%[[CHAIN]]#1, %[[HIDDEN]])
// CHECK:         return %[[CHAIN]]#2

// FMA-LABEL:     func.func @classifier
// FMA:             plan.step "grad" on kernel(

// CPU-LABEL:     func.func @classifier
// CPU-COUNT-5:   {{^ {4}%.* = plan.step}}
// CPU-NOT:       {{^ {6}%.* = plan.step}}

// What links make has places that nothing of the same step has.

// MEMORY-LABEL:  func.func @classifier
// MEMORY:        plan.step "logits" on kernel at [{{[0-9]+}}, {{[0-9]+}}, {{[0-9]+}}
func.func @classifier(%x: tensor<64x784xf32>, %w0: tensor<128x784xf32>, %w1: tensor<10x128xf32>) -> (tensor<64x128xf32>, tensor<10x128xf32>) {
  %0 = mnist.matmul %x, %w0 transposed [false, true] : (tensor<64x784xf32>, tensor<128x784xf32>) -> tensor<64x128xf32>
  %1 = mnist.relu %0 : tensor<64x128xf32>
  %2 = mnist.matmul %1, %w1 transposed [false, true] : (tensor<64x128xf32>, tensor<10x128xf32>) -> tensor<64x10xf32> loc("logits")
  %3 = mnist.reduce_max %2 over [1] : tensor<64x10xf32> -> tensor<64xf32>
  %4 = mnist.broadcast %3 along [0] : tensor<64xf32> -> tensor<64x10xf32>
  %5 = mnist.sub %2, %4 : tensor<64x10xf32>
  %6 = mnist.reduce_sum %5 over [1] : tensor<64x10xf32> -> tensor<64xf32>
  %7 = mnist.broadcast %6 along [0] : tensor<64xf32> -> tensor<64x10xf32>
  %8 = mnist.sub %5, %7 : tensor<64x10xf32>
  %9 = mnist.matmul %8, %w1 : (tensor<64x10xf32>, tensor<10x128xf32>) -> tensor<64x128xf32> loc("grad")
  %10 = mnist.matmul %8, %1 transposed [true, false] : (tensor<64x10xf32>, tensor<64x128xf32>) -> tensor<10x128xf32> loc("weight")
  return %9, %10 : tensor<64x128xf32>, tensor<10x128xf32>
}

// A product whose weights a link makes, and rows that become others, are no links.

// CHECK-LABEL: func.func @others
// CHECK-COUNT-3: {{^ {4}%.* = plan.step}}
// CHECK-NOT:     {{^ {6}%.* = plan.step}}
// CHECK:         return
func.func @others(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<4x4xf32>) {
  %0 = mnist.matmul %x, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = mnist.matmul %w, %0 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = mnist.reshape %0 : tensor<8x8xf32> -> tensor<4x16xf32>
  %3 = mnist.matmul %2, %2 transposed [false, true] : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x4xf32>
  return %1, %3 : tensor<8x8xf32>, tensor<4x4xf32>
}

// Nothing may need the chain on its way: the sum over all rows is between.

// CHECK-LABEL: func.func @between
// CHECK-NOT:     {{^ {6}%.* = plan.step}}
// CHECK:         return
func.func @between(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = mnist.matmul %x, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = mnist.reduce_sum %0 over [0] : tensor<8x8xf32> -> tensor<8xf32>
  %2 = mnist.broadcast %1 along [1] : tensor<8xf32> -> tensor<8x8xf32>
  %3 = mnist.add %0, %2 : tensor<8x8xf32>
  return %3 : tensor<8x8xf32>
}

// A row may be several of a product, and an image of what becomes of it. Of the
// numbers of rows that a chain can have it takes the one with most links.

// CHECK-LABEL: func.func @tokens
// CHECK:         plan.step "product" on kernel(%arg0, %arg1)
// CHECK-COUNT-2: {{^ {6}%.* = plan.step}}
// CHECK:         return
func.func @tokens(%x: tensor<64x8xf32>, %w: tensor<8x8xf32>) -> (tensor<64x8xf32>, tensor<4x16x8xf32>) {
  %0 = mnist.matmul %x, %w : (tensor<64x8xf32>, tensor<8x8xf32>) -> tensor<64x8xf32> loc("product")
  %1 = mnist.reshape %0 : tensor<64x8xf32> -> tensor<4x16x8xf32>
  %2 = mnist.reduce_max %1 over [1] : tensor<4x16x8xf32> -> tensor<4x8xf32>
  %3 = mnist.broadcast %2 along [0, 2] : tensor<4x8xf32> -> tensor<4x16x8xf32>
  %4 = mnist.sub %1, %3 : tensor<4x16x8xf32>
  return %0, %4 : tensor<64x8xf32>, tensor<4x16x8xf32>
}

// An attention: the heads of an image are a row. Only the transpose says so, whose
// first dimension is the images.

// CHECK-LABEL: func.func @attention
// CHECK:         %{{.*}} = plan.step "scores" on kernel(
// CHECK:           plan.step "scores"
// CHECK:           plan.step "softmax"
// CHECK:           plan.step "heads"
// CHECK:           %[[ALL:.*]] = plan.step "transpose"
// CHECK:           plan.yield %[[ALL]] : tensor<2x5x4x6xf32>
// CHECK:         return
func.func @attention(%q: tensor<8x5x6xf32>, %k: tensor<8x5x6xf32>, %v: tensor<8x5x6xf32>) -> tensor<2x5x4x6xf32> {
  %0 = mnist.matmul %q, %k transposed [false, true] : (tensor<8x5x6xf32>, tensor<8x5x6xf32>) -> tensor<8x5x5xf32> loc("scores")
  %1 = mnist.softmax %0 dim 2 : tensor<8x5x5xf32>
  %2 = mnist.matmul %1, %v : (tensor<8x5x5xf32>, tensor<8x5x6xf32>) -> tensor<8x5x6xf32> loc("heads")
  %3 = mnist.reshape %2 : tensor<8x5x6xf32> -> tensor<2x4x5x6xf32>
  %4 = mnist.transpose %3 perm [0, 2, 1, 3] : tensor<2x4x5x6xf32> -> tensor<2x5x4x6xf32>
  return %4 : tensor<2x5x4x6xf32>
}

// Matrices that a block cannot hold, and a softmax over several rows.

// CHECK-LABEL: func.func @large
// CHECK-COUNT-2: {{^ {4}%.* = plan.step}}
// CHECK-NOT:     {{^ {6}%.* = plan.step}}
// CHECK:         return
func.func @large(%x: tensor<8x10x1300xf32>, %y: tensor<8x10x1300xf32>) -> tensor<8x10x10xf32> {
  %0 = mnist.matmul %x, %y transposed [false, true] : (tensor<8x10x1300xf32>, tensor<8x10x1300xf32>) -> tensor<8x10x10xf32>
  %1 = mnist.softmax %0 dim 2 : tensor<8x10x10xf32>
  return %1 : tensor<8x10x10xf32>
}

// Matrices that have much to do, and a layer whose weights each block would
// read.

// CHECK-LABEL: func.func @wide
// CHECK-NOT:     {{^ {6}%.* = plan.step}}
// CHECK:         return
func.func @wide(%x: tensor<256x49x192xf32>, %y: tensor<256x49x192xf32>) -> tensor<256x49x49xf32> {
  %0 = mnist.matmul %x, %y transposed [false, true] : (tensor<256x49x192xf32>, tensor<256x49x192xf32>) -> tensor<256x49x49xf32>
  %1 = mnist.softmax %0 dim 2 : tensor<256x49x49xf32>
  return %1 : tensor<256x49x49xf32>
}

// CHECK-LABEL: func.func @layer
// CHECK:         plan.step "scores" on kernel(
// CHECK:           plan.step "weights"
// CHECK:           plan.step "heads"
// CHECK:         {{^ {4}%.*}} = plan.step "layer" on kernel
// CHECK:         return
func.func @layer(%x: tensor<64x16x192xf32>, %w: tensor<192x576xf32>) -> tensor<1024x576xf32> {
  %0 = mnist.matmul %x, %x transposed [false, true] : (tensor<64x16x192xf32>, tensor<64x16x192xf32>) -> tensor<64x16x16xf32> loc("scores")
  %1 = mnist.softmax %0 dim 2 : tensor<64x16x16xf32> loc("weights")
  %2 = mnist.matmul %1, %x : (tensor<64x16x16xf32>, tensor<64x16x192xf32>) -> tensor<64x16x192xf32> loc("heads")
  %3 = mnist.reshape %2 : tensor<64x16x192xf32> -> tensor<1024x192xf32>
  %4 = mnist.matmul %3, %w : (tensor<1024x192xf32>, tensor<192x576xf32>) -> tensor<1024x576xf32> loc("layer")
  return %4 : tensor<1024x576xf32>
}

// Many matrices: of those a block has one.

// CHECK-LABEL: func.func @many
// CHECK-COUNT-2: {{^ {6}%.* = plan.step}}
// CHECK:         return
func.func @many(%x: tensor<2048x49x48xf32>, %y: tensor<2048x49x48xf32>) -> tensor<2048x49x49xf32> {
  %0 = mnist.matmul %x, %y transposed [false, true] : (tensor<2048x49x48xf32>, tensor<2048x49x48xf32>) -> tensor<2048x49x49xf32>
  %1 = mnist.softmax %0 dim 2 : tensor<2048x49x49xf32>
  return %1 : tensor<2048x49x49xf32>
}

// CHECK-LABEL: func.func @over_rows
// CHECK-NOT:     {{^ {6}%.* = plan.step}}
// CHECK:         return
func.func @over_rows(%x: tensor<8x5x6xf32>, %y: tensor<8x5x6xf32>) -> (tensor<8x5x5xf32>, tensor<8x5x5xf32>) {
  %0 = mnist.matmul %x, %y transposed [false, true] : (tensor<8x5x6xf32>, tensor<8x5x6xf32>) -> tensor<8x5x5xf32>
  %1 = mnist.softmax %0 dim 0 : tensor<8x5x5xf32>
  return %0, %1 : tensor<8x5x5xf32>, tensor<8x5x5xf32>
}

// What a link reads of what the chain reads anyway is made there, with the
// chain's first map, though it comes later in the model.

// CHECK-LABEL: func.func @heads
// CHECK-NEXT:    %{{.*}} = plan.step "queries" on kernel(%arg0) {
// CHECK-NEXT:    ^bb0(
// CHECK-NEXT:      %[[MAPS:.*]]:3 = plan.step "queries"
// CHECK:           plan.step "scores" {{.*}}(%[[MAPS]]#2, %[[MAPS]]#1)
// CHECK:           plan.step "y" {{.*}}(%{{.*}}, %[[MAPS]]#0)
// CHECK-NOT:     {{^ {4}%.* = plan.step}}
// CHECK:         return
func.func @heads(%x: tensor<64x16x3x4x8xf32>) -> tensor<256x16x8xf32> {
  %q0 = mnist.slice %x starts [0, 0, 0, 0, 0] steps [1, 1, 1, 1, 1] : tensor<64x16x3x4x8xf32> -> tensor<64x16x1x4x8xf32>
  %q1 = mnist.transpose %q0 perm [0, 3, 1, 2, 4] : tensor<64x16x1x4x8xf32> -> tensor<64x4x16x1x8xf32> loc("queries")
  %q = mnist.reshape %q1 : tensor<64x4x16x1x8xf32> -> tensor<256x16x8xf32>
  %k0 = mnist.slice %x starts [0, 0, 1, 0, 0] steps [1, 1, 1, 1, 1] : tensor<64x16x3x4x8xf32> -> tensor<64x16x1x4x8xf32>
  %k1 = mnist.transpose %k0 perm [0, 3, 1, 2, 4] : tensor<64x16x1x4x8xf32> -> tensor<64x4x16x1x8xf32> loc("keys")
  %k = mnist.reshape %k1 : tensor<64x4x16x1x8xf32> -> tensor<256x16x8xf32>
  %scores = mnist.matmul %q, %k transposed [false, true] : (tensor<256x16x8xf32>, tensor<256x16x8xf32>) -> tensor<256x16x16xf32> loc("scores")
  %weights = mnist.softmax %scores dim 2 : tensor<256x16x16xf32> loc("weights")
  %v0 = mnist.slice %x starts [0, 0, 2, 0, 0] steps [1, 1, 1, 1, 1] : tensor<64x16x3x4x8xf32> -> tensor<64x16x1x4x8xf32>
  %v1 = mnist.transpose %v0 perm [0, 3, 1, 2, 4] : tensor<64x16x1x4x8xf32> -> tensor<64x4x16x1x8xf32> loc("values")
  %v = mnist.reshape %v1 : tensor<64x4x16x1x8xf32> -> tensor<256x16x8xf32>
  %y = mnist.matmul %weights, %v : (tensor<256x16x16xf32>, tensor<256x16x8xf32>) -> tensor<256x16x8xf32> loc("y")
  return %y : tensor<256x16x8xf32>
}

// Not where others read it that do not wait for the chain, or where it is made
// of something that the chain does not read, or where all rows read the same.

// CHECK-LABEL: func.func @early
// CHECK:         %[[V:.*]] = plan.step "values" on kernel(%arg0)
// CHECK:         plan.step "scores"
// CHECK:         return
// CHECK-LABEL: func.func @another
// CHECK:         %[[V:.*]] = plan.step "values" on kernel(%arg2)
// CHECK:         plan.step "scores"
// CHECK:         return
// CHECK-LABEL: func.func @of_all_rows
// CHECK:         %[[V:.*]] = plan.step "values" on kernel(%arg2)
// CHECK:         plan.step "scores" {{.*}}(%arg0, %arg1, %arg2, %[[V]])
// CHECK:         return
func.func @early(%q: tensor<256x16x8xf32>, %k: tensor<256x16x8xf32>, %w: tensor<4096x8xf32>) -> (tensor<256x16x8xf32>, tensor<4096x4096xf32>) {
  %scores = mnist.matmul %q, %k transposed [false, true] : (tensor<256x16x8xf32>, tensor<256x16x8xf32>) -> tensor<256x16x16xf32> loc("scores")
  %weights = mnist.softmax %scores dim 2 : tensor<256x16x16xf32> loc("weights")
  %v = mnist.exp %q : tensor<256x16x8xf32> loc("values")
  %y = mnist.matmul %weights, %v : (tensor<256x16x16xf32>, tensor<256x16x8xf32>) -> tensor<256x16x8xf32> loc("y")
  %rows = mnist.reshape %v : tensor<256x16x8xf32> -> tensor<4096x8xf32>
  %other = mnist.matmul %rows, %w transposed [false, true] : (tensor<4096x8xf32>, tensor<4096x8xf32>) -> tensor<4096x4096xf32> loc("other")
  return %y, %other : tensor<256x16x8xf32>, tensor<4096x4096xf32>
}
func.func @another(%q: tensor<256x16x8xf32>, %k: tensor<256x16x8xf32>, %x: tensor<256x16x8xf32>) -> tensor<256x16x8xf32> {
  %scores = mnist.matmul %q, %k transposed [false, true] : (tensor<256x16x8xf32>, tensor<256x16x8xf32>) -> tensor<256x16x16xf32> loc("scores")
  %weights = mnist.softmax %scores dim 2 : tensor<256x16x16xf32> loc("weights")
  %v = mnist.exp %x : tensor<256x16x8xf32> loc("values")
  %y = mnist.matmul %weights, %v : (tensor<256x16x16xf32>, tensor<256x16x8xf32>) -> tensor<256x16x8xf32> loc("y")
  return %y : tensor<256x16x8xf32>
}
func.func @of_all_rows(%q: tensor<256x16x8xf32>, %k: tensor<256x16x8xf32>, %m: tensor<16x16xf32>) -> tensor<256x16x16xf32> {
  %0 = mnist.matmul %q, %k transposed [false, true] : (tensor<256x16x8xf32>, tensor<256x16x8xf32>) -> tensor<256x16x16xf32>
  %1 = mnist.broadcast %m along [1, 2] : tensor<16x16xf32> -> tensor<256x16x16xf32>
  %2 = mnist.add %0, %1 : tensor<256x16x16xf32> loc("scores")
  %3 = mnist.softmax %2 dim 2 : tensor<256x16x16xf32>
  %4 = mnist.exp %m : tensor<16x16xf32> loc("values")
  %5 = mnist.broadcast %4 along [1, 2] : tensor<16x16xf32> -> tensor<256x16x16xf32>
  %6 = mnist.mul %3, %5 : tensor<256x16x16xf32>
  return %6 : tensor<256x16x16xf32>
}

// A layer three times: links find its weights in the first cache, though they
// are many; but not more than that holds; nor where a layer comes twice.

// CHECK-LABEL: func.func @repeated
// CHECK-COUNT-3: {{^ {6}%.* = plan.step}}
// CHECK:         return
func.func @repeated(%x: tensor<64x128xf32>, %w: tensor<128x384xf32>) -> tensor<64x384xf32> {
  %0 = mnist.matmul %x, %w : (tensor<64x128xf32>, tensor<128x384xf32>) -> tensor<64x384xf32> loc("first")
  %1 = mnist.slice %0 starts [0, 128] steps [1, 1] : tensor<64x384xf32> -> tensor<64x128xf32>
  %2 = mnist.matmul %1, %w : (tensor<64x128xf32>, tensor<128x384xf32>) -> tensor<64x384xf32> loc("second")
  %3 = mnist.slice %2 starts [0, 128] steps [1, 1] : tensor<64x384xf32> -> tensor<64x128xf32>
  %4 = mnist.matmul %3, %w : (tensor<64x128xf32>, tensor<128x384xf32>) -> tensor<64x384xf32> loc("third")
  return %4 : tensor<64x384xf32>
}

// CHECK-LABEL: func.func @twice
// CHECK-NOT:     {{^ {6}%.* = plan.step}}
// CHECK:         return
func.func @twice(%x: tensor<64x128xf32>, %w: tensor<128x384xf32>) -> tensor<64x384xf32> {
  %0 = mnist.matmul %x, %w : (tensor<64x128xf32>, tensor<128x384xf32>) -> tensor<64x384xf32> loc("first")
  %1 = mnist.slice %0 starts [0, 128] steps [1, 1] : tensor<64x384xf32> -> tensor<64x128xf32>
  %2 = mnist.matmul %1, %w : (tensor<64x128xf32>, tensor<128x384xf32>) -> tensor<64x384xf32> loc("second")
  return %2 : tensor<64x384xf32>
}

// CHECK-LABEL: func.func @larger
// CHECK-NOT:     {{^ {6}%.* = plan.step}}
// CHECK:         return
func.func @larger(%x: tensor<64x128xf32>, %w: tensor<128x512xf32>) -> tensor<64x512xf32> {
  %0 = mnist.matmul %x, %w : (tensor<64x128xf32>, tensor<128x512xf32>) -> tensor<64x512xf32> loc("first")
  %1 = mnist.slice %0 starts [0, 128] steps [1, 1] : tensor<64x512xf32> -> tensor<64x128xf32>
  %2 = mnist.matmul %1, %w : (tensor<64x128xf32>, tensor<128x512xf32>) -> tensor<64x512xf32> loc("second")
  %3 = mnist.slice %2 starts [0, 128] steps [1, 1] : tensor<64x512xf32> -> tensor<64x128xf32>
  %4 = mnist.matmul %3, %w : (tensor<64x128xf32>, tensor<128x512xf32>) -> tensor<64x512xf32> loc("third")
  return %4 : tensor<64x512xf32>
}
