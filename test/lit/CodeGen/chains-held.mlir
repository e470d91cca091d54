// A chain of an attention whose heads are put side by side again: that link is
// computed in the order of what it reads, where neighbours stay together four at
// a time. A block holds what it reads; the weights, which are a result, too, are
// copied to memory.
// RUN: mnist-opt %s --plan-form-steps --plan-select-implementations --plan-choose-schedules \
// RUN:   --plan-form-chains --plan-assign-memory --plan-check-steps > %t.mlir
// RUN: mnistc %t.mlir --emit=source -o - | FileCheck %s

// CHECK:      struct Y {
// CHECK-NEXT:   float *y;           // [2, 5, 4, 8]
// CHECK-NEXT:   const float *heads; // [8, 5, 8]
// CHECK-NEXT:   MN_FN void operator()(mn::Element i) const {
// CHECK-NEXT:     y[i / 160 * 160 + i / 8 % 5 * 32 + i / 40 % 4 * 8 + i % 8] = heads[i];
// CHECK:      _chain = mn::Chain<{{.*}}_blocks, mn::BringLink<160, 0>,
// CHECK-NEXT:   mn::Beside<mn::BringLink<160, 160>>,
// CHECK-NEXT:   mn::Beside<mn::BringLink<160, 576>>,
// CHECK-NEXT:   mn::HeldLink<mn::MatmulLink<float, Scores, scores_shape>, mn::Held<0, 100, 320>, mn::Held<1, 160, 0>, mn::Held<2, 160, 160>>,
// CHECK-NEXT:   mn::HeldLink<mn::SoftmaxLink<float, Weights, weights_shape>, mn::Held<0, 100, 448>, mn::Held<1, 100, 320>>,
// CHECK-NEXT:   mn::HeldLink<mn::MatmulLink<float, Scores, heads_shape>, mn::Held<0, 160, 736>, mn::Held<1, 100, 448>, mn::Held<2, 160, 576>>,
// CHECK-NEXT:   mn::HeldLink<mn::MapLink<Y, 40>, mn::Held<1, 160, 736>>,
// CHECK-NEXT:   mn::Beside<mn::TakeLink<100, 448>>>;
func.func @infer(%q: tensor<8x5x8xf32>, %k: tensor<8x5x8xf32>, %v: tensor<8x5x8xf32>) -> (tensor<8x5x5xf32>, tensor<2x5x4x8xf32>) {
  %0 = mnist.matmul %q, %k transposed [false, true] : (tensor<8x5x8xf32>, tensor<8x5x8xf32>) -> tensor<8x5x5xf32> loc("scores")
  %1 = mnist.softmax %0 dim 2 : tensor<8x5x5xf32> loc("weights")
  %2 = mnist.matmul %1, %v : (tensor<8x5x5xf32>, tensor<8x5x8xf32>) -> tensor<8x5x8xf32> loc("heads")
  %3 = mnist.reshape %2 : tensor<8x5x8xf32> -> tensor<2x4x5x8xf32>
  %4 = mnist.transpose %3 perm [0, 2, 1, 3] : tensor<2x4x5x8xf32> -> tensor<2x5x4x8xf32> loc("y")
  return %1, %4 : tensor<8x5x5xf32>, tensor<2x5x4x8xf32>
}

// Of 300 heads blocks have fewer threads, and each four elements at once; parts
// of two tensors side by side, as those of queries and keys, become one.

// CHECK:      struct Both {
// CHECK:        ElementValues load(mn::Offset place) const { return {a[place]}; }
// CHECK:        void store(const StoredValues (&v)[n], mn::Index place) const {
// CHECK-NEXT:     const mn::Index start =
// CHECK-NEXT:         place / 1728 * 3456 + place / 16 % 36 * 96 + place / 576 % 3 * 16 +
// CHECK-NEXT:         place % 16;
// CHECK-NEXT:     for (int i = 0; i < n; ++i)
// CHECK-NEXT:       both[start + i] = v[i].both;
// CHECK:      struct Both_2 {
// CHECK:          place % 16 + 48;
// CHECK:      constexpr mn::ChainBlocks a_blocks{.rows = 300, .ofBlock = 1, .threads = 256,
// CHECK-NEXT:                                    .held = 9792};
// CHECK:        mn::HeldLink<mn::MapLink<Both, 576>, mn::Held<1, 2304, 7488>>,
// CHECK-NEXT:   mn::Beside<mn::MapLink<Both_2, 576>>>;

// Where the last dimension moves, each element is stored by itself.

// CHECK:      struct Turned {
// CHECK-NEXT:   float *turned;  // [16, 300, 36]
// CHECK-NEXT:   const float *c; // [300, 36, 16]
// CHECK-NEXT:   MN_FN void operator()(mn::Element i) const {
// CHECK-NEXT:     turned[i % 16 * 10800 + i / 16] = c[i];

// Where blocks have no room for what a product reads, they hold nothing.

// CHECK:      constexpr mn::ChainBlocks terms_blocks{.rows = 8, .ofBlock = 1,
// CHECK-NEXT:                                        .threads = 1024};

// What blocks hold and do not copy is no result that memory has.

// CHECK:      mn::chain<scores_chain>(ctx, "infer_scores", link, link_2, link_3, link_4,
// CHECK-NEXT:   link_5, link_6, link_7, link_8);
// CHECK:      static const mn::Tensor results[] = {
// CHECK-NEXT:     {"weights", {{.*}}},
// CHECK-NEXT:     {"y", {{.*}}},
// CHECK-NEXT: };
func.func @train(%p: tensor<300x36x36xf32>, %q: tensor<300x36x16xf32>) -> tensor<100x36x96xf32> {
  %a = mnist.matmul %p, %q : (tensor<300x36x36xf32>, tensor<300x36x16xf32>) -> tensor<300x36x16xf32> loc("a")
  %b = mnist.matmul %p, %q transposed [true, false] : (tensor<300x36x36xf32>, tensor<300x36x16xf32>) -> tensor<300x36x16xf32> loc("b")
  %0 = mnist.reshape %a : tensor<300x36x16xf32> -> tensor<100x3x36x16xf32>
  %1 = mnist.transpose %0 perm [0, 2, 1, 3] : tensor<100x3x36x16xf32> -> tensor<100x36x3x16xf32>
  %2 = mnist.reshape %1 : tensor<100x36x3x16xf32> -> tensor<100x36x48xf32>
  %3 = mnist.reshape %b : tensor<300x36x16xf32> -> tensor<100x3x36x16xf32>
  %4 = mnist.transpose %3 perm [0, 2, 1, 3] : tensor<100x3x36x16xf32> -> tensor<100x36x3x16xf32>
  %5 = mnist.reshape %4 : tensor<100x36x3x16xf32> -> tensor<100x36x48xf32>
  %6 = mnist.concat %2, %5 dim 2 : (tensor<100x36x48xf32>, tensor<100x36x48xf32>) -> tensor<100x36x96xf32> loc("both")
  return %6 : tensor<100x36x96xf32>
}

func.func @eval(%p: tensor<300x36x36xf32>, %q: tensor<300x36x16xf32>) -> tensor<16x300x36xf32> {
  %c = mnist.matmul %p, %q : (tensor<300x36x36xf32>, tensor<300x36x16xf32>) -> tensor<300x36x16xf32> loc("c")
  %0 = mnist.transpose %c perm [2, 0, 1] : tensor<300x36x16xf32> -> tensor<16x300x36xf32> loc("turned")
  return %0 : tensor<16x300x36xf32>
}
func.func @eval_long(%p: tensor<8x2x13000xf32>, %q: tensor<8x2x13000xf32>) -> tensor<8x2x2xf32> {
  %0 = mnist.matmul %p, %q transposed [false, true] : (tensor<8x2x13000xf32>, tensor<8x2x13000xf32>) -> tensor<8x2x2xf32> loc("terms")
  %1 = mnist.softmax %0 dim 2 : tensor<8x2x2xf32>
  return %1 : tensor<8x2x2xf32>
}
