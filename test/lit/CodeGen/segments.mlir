// RUN: mnist-opt %s --plan-assign-memory --plan-check-steps --mlir-print-debuginfo -o %t.mlir
// RUN: mnistc %t.mlir --emit=source --target=cuda -o %t.cpp
// RUN: FileCheck %s < %t.cpp
// RUN: g++ -std=c++20 -Wall -Wextra -Werror -fopenmp -fsyntax-only -DMN_TARGET_CPU -I%root/runtime/include %t.cpp
// RUN: g++ -std=c++20 -Wall -Wextra -Werror -fsyntax-only -DMN_TARGET_CUDA -I%root/runtime/include %t.cpp

// Results of a map that have nothing in common are segments. What is computed
// alike, of however many elements, is written once.

// CHECK-LABEL: namespace all {
// CHECK:      struct W_new {
// CHECK-NEXT:   float *w_new; // [8]
// CHECK-NEXT:   const float *w; // [8]
// CHECK-NEXT:   const float *rate; // []
// CHECK-NEXT:   const float *g; // [8]
// CHECK-NEXT:   MN_FN void operator()(mn::Element i) const {
// CHECK-NEXT:     w_new[i] = w[i] - rate[0] * g[i] * 2.0f;
// CHECK-NEXT:   }
// CHECK-NEXT: };

// Another number is another computation.
// CHECK-NEXT: struct C_new {
// CHECK:          c_new[i] = c[i] - rate[0] * h[i] * 3.0f;

// What has an operand in common is one segment.
// CHECK:      struct P {
// CHECK:          p[i] = mn::exp(s[i]);
// CHECK-NEXT:     q[i] = -s[i];

// The last element is another one where there are fewer.
// CHECK:      struct Last {
// CHECK:          index + 8
// CHECK:      struct Lately {
// CHECK:          index + 6

// So is the only element of a tensor.
// CHECK:      struct One {
// CHECK:          one[i] = d[0] - rate[0] * e_t[0] * 2.0f;
// CHECK:      constexpr mn::Elements<8> w_new_elements{{[{][{]}}8, 6, 5, 6, 4, 8, 6, 1}};
// CHECK-NEXT: MN_SEGMENTS_KERNEL(all_w_new, w_new_elements, mn::Table<W_new, 3>,
// CHECK-NEXT:   mn::Table<C_new, 1>, mn::Table<P, 1>, mn::Table<Last, 1>,
// CHECK-NEXT:   mn::Table<Lately, 1>, mn::Table<One, 1>)

// CHECK:      const W_new segments[] = {
// CHECK-NEXT:   {w_new, w, rate, g},
// CHECK-NEXT:   {b_new, b, rate, k},
// CHECK-NEXT:   {a_new, a, rate, f},
// CHECK-NEXT: };
// CHECK-NEXT: const C_new segments_2[] = {
// CHECK-NEXT:   {c_new, c, rate, h},
// CHECK-NEXT: };

func.func @all(
    %w_in: tensor<8xf32> {mnist.name = "w"},
    %g_in: tensor<8xf32> {mnist.name = "g"},
    %b_in: tensor<2x3xf32> {mnist.name = "b"},
    %k_in: tensor<6xf32> {mnist.name = "k"},
    %a_in: tensor<5xf32> {mnist.name = "a"},
    %f_in: tensor<5xf32> {mnist.name = "f"},
    %c_in: tensor<6xf32> {mnist.name = "c"},
    %h_in: tensor<6xf32> {mnist.name = "h"},
    %s_in: tensor<4xf32> {mnist.name = "s"},
    %x_in: tensor<8xf32> {mnist.name = "x"},
    %y_in: tensor<6xf32> {mnist.name = "y"},
    %d_in: tensor<1xf32> {mnist.name = "d"},
    %e_in: tensor<1xf32> {mnist.name = "e"},
    %rate_in: tensor<f32> {mnist.name = "rate"})
    -> (tensor<8xf32>, tensor<2x3xf32>, tensor<5xf32>, tensor<6xf32>, tensor<4xf32>, tensor<4xf32>, tensor<8xf32>, tensor<6xf32>, tensor<1xf32>) {
  %all:9 = plan.step "w_new" on kernel (%w_in, %g_in, %b_in, %k_in, %a_in, %f_in, %c_in, %h_in, %s_in, %x_in, %y_in, %d_in, %e_in, %rate_in) {
  ^bb0(%w: tensor<8xf32>,
       %g: tensor<8xf32>,
       %b: tensor<2x3xf32>,
       %k: tensor<6xf32>,
       %a: tensor<5xf32>,
       %f: tensor<5xf32>,
       %c: tensor<6xf32>,
       %h: tensor<6xf32>,
       %s: tensor<4xf32>,
       %x: tensor<8xf32>,
       %y: tensor<6xf32>,
       %d: tensor<1xf32>,
       %e: tensor<1xf32>,
       %rate: tensor<f32>):
    %w_new_r = mnist.broadcast %rate along [] : tensor<f32> -> tensor<8xf32>
    %w_new_k = mnist.constant dense<2.0> : tensor<8xf32>
    %w_new_1 = mnist.mul %w_new_r, %g : tensor<8xf32>
    %w_new_2 = mnist.mul %w_new_1, %w_new_k : tensor<8xf32>
    %w_new = mnist.sub %w, %w_new_2 : tensor<8xf32> loc("w_new")
    %b_new_g = mnist.reshape %k : tensor<6xf32> -> tensor<2x3xf32>
    %b_new_r = mnist.broadcast %rate along [] : tensor<f32> -> tensor<2x3xf32>
    %b_new_k = mnist.constant dense<2.0> : tensor<2x3xf32>
    %b_new_1 = mnist.mul %b_new_r, %b_new_g : tensor<2x3xf32>
    %b_new_2 = mnist.mul %b_new_1, %b_new_k : tensor<2x3xf32>
    %b_new = mnist.sub %b, %b_new_2 : tensor<2x3xf32> loc("b_new")
    %a_new_r = mnist.broadcast %rate along [] : tensor<f32> -> tensor<5xf32>
    %a_new_k = mnist.constant dense<2.0> : tensor<5xf32>
    %a_new_1 = mnist.mul %a_new_r, %f : tensor<5xf32>
    %a_new_2 = mnist.mul %a_new_1, %a_new_k : tensor<5xf32>
    %a_new = mnist.sub %a, %a_new_2 : tensor<5xf32> loc("a_new")
    %c_new_r = mnist.broadcast %rate along [] : tensor<f32> -> tensor<6xf32>
    %c_new_k = mnist.constant dense<3.0> : tensor<6xf32>
    %c_new_1 = mnist.mul %c_new_r, %h : tensor<6xf32>
    %c_new_2 = mnist.mul %c_new_1, %c_new_k : tensor<6xf32>
    %c_new = mnist.sub %c, %c_new_2 : tensor<6xf32> loc("c_new")
    %p = mnist.exp %s : tensor<4xf32> loc("p")
    %q = mnist.neg %s : tensor<4xf32> loc("q")
    %end = mnist.constant dense<-1> : tensor<i64>
    %last_1 = mnist.gather %x, %end dim 0 : (tensor<8xf32>, tensor<i64>) -> tensor<f32>
    %last_2 = mnist.broadcast %last_1 along [] : tensor<f32> -> tensor<8xf32>
    %last = mnist.mul %x, %last_2 : tensor<8xf32> loc("last")
    %lately_1 = mnist.gather %y, %end dim 0 : (tensor<6xf32>, tensor<i64>) -> tensor<f32>
    %lately_2 = mnist.broadcast %lately_1 along [] : tensor<f32> -> tensor<6xf32>
    %lately = mnist.mul %y, %lately_2 : tensor<6xf32> loc("lately")
    %one_r = mnist.broadcast %rate along [] : tensor<f32> -> tensor<1xf32>
    %one_k = mnist.constant dense<2.0> : tensor<1xf32>
    %one_1 = mnist.mul %one_r, %e : tensor<1xf32>
    %one_2 = mnist.mul %one_1, %one_k : tensor<1xf32>
    %one = mnist.sub %d, %one_2 : tensor<1xf32> loc("one")
    plan.yield %w_new, %b_new, %a_new, %c_new, %p, %q, %last, %lately, %one
        : tensor<8xf32>, tensor<2x3xf32>, tensor<5xf32>, tensor<6xf32>, tensor<4xf32>, tensor<4xf32>, tensor<8xf32>, tensor<6xf32>, tensor<1xf32>
  } : (tensor<8xf32>, tensor<8xf32>, tensor<2x3xf32>, tensor<6xf32>, tensor<5xf32>, tensor<5xf32>, tensor<6xf32>, tensor<6xf32>, tensor<4xf32>, tensor<8xf32>, tensor<6xf32>, tensor<1xf32>, tensor<1xf32>, tensor<f32>)
  -> (tensor<8xf32>, tensor<2x3xf32>, tensor<5xf32>, tensor<6xf32>, tensor<4xf32>, tensor<4xf32>, tensor<8xf32>, tensor<6xf32>, tensor<1xf32>)
  return %all#0, %all#1, %all#2, %all#3, %all#4, %all#5, %all#6, %all#7, %all#8
      : tensor<8xf32>, tensor<2x3xf32>, tensor<5xf32>, tensor<6xf32>, tensor<4xf32>, tensor<4xf32>, tensor<8xf32>, tensor<6xf32>, tensor<1xf32>
}
