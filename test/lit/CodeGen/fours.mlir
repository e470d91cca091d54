// RUN: mnist-opt %s --plan-assign-memory --plan-check-steps --mlir-print-debuginfo -o %t.mlir
// RUN: mnistc %t.mlir --emit=source --target=cuda -o %t.cpp
// RUN: FileCheck %s < %t.cpp
// RUN: g++ -std=c++20 -Wall -Wextra -Werror -fopenmp -fsyntax-only -DMN_TARGET_CPU -I%root/runtime/include %t.cpp
// RUN: g++ -std=c++20 -Wall -Wextra -Werror -fsyntax-only -DMN_TARGET_CUDA -I%root/runtime/include %t.cpp

// In large maps a thread has four neighbours: they are loaded, computed and
// stored by three functions. What all elements share is read where it is; what
// is repeated is loaded, four of it at once where it is in fours.
// CHECK-LABEL: namespace dropped {
// CHECK:      struct ElementValues {
// CHECK-NEXT:   float x;
// CHECK-NEXT:   float b;
// CHECK-NEXT: };
// CHECK-NEXT: MN_FN ElementValues load(const mn::NeighbourOf<mn::Offset> &place) const {
// CHECK-NEXT:   const mn::Index first = mn::Index(place.first);
// CHECK-NEXT:   return {x[place], b[first / 4 % 256 * 4 + place.number]};
// CHECK-NEXT: }
// CHECK-NEXT: struct StoredValues {
// CHECK-NEXT:   float y;
// CHECK-NEXT:   bool kept;
// CHECK-NEXT: };
// CHECK-NEXT: MN_FN StoredValues results(const ElementValues &e,
// CHECK-NEXT:                            const mn::Neighbour &i) const {
// CHECK-NEXT:   const bool holds = mn::randomUniform(seed[0], 1, number[0], i) >= e.b;
// CHECK-NEXT:   return {holds ? e.x : 0.0f, holds};
// CHECK-NEXT: }
// CHECK-NEXT: template <int n>
// CHECK-NEXT: MN_FN void store(const StoredValues (&v)[n], mn::Offset place) const {
// CHECK-NEXT:   for (int i = 0; i < n; ++i)
// CHECK-NEXT:     y[place + i] = v[i].y;
// CHECK-NEXT:   for (int i = 0; i < n; ++i)
// CHECK-NEXT:     kept[place + i] = v[i].kept;
// CHECK-NEXT: }
// CHECK:      MN_POINTWISE_KERNEL(dropped_y, Y)
func.func @dropped(
    %x_in: tensor<1024x1024xf32> {mnist.name = "x"},
    %b_in: tensor<1024xf32> {mnist.name = "b"},
    %seed_in: tensor<i64> {mnist.name = "seed"},
    %number_in: tensor<i64> {mnist.name = "number"})
    -> (tensor<1024x1024xf32>, tensor<1024x1024xi1>) {
  %y:2 = plan.step "y" on kernel (%x_in, %b_in, %seed_in, %number_in) {
  ^bb0(%x: tensor<1024x1024xf32>, %b: tensor<1024xf32>, %seed: tensor<i64>, %number: tensor<i64>):
    %zero = mnist.constant dense<0.0> : tensor<1024x1024xf32>
    %u = mnist.random_uniform %seed, %number stream 1 : (tensor<i64>, tensor<i64>) -> tensor<1024x1024xf32>
    %rates = mnist.broadcast %b along [1] : tensor<1024xf32> -> tensor<1024x1024xf32>
    %kept = mnist.compare ge %u, %rates : tensor<1024x1024xf32> -> tensor<1024x1024xi1> loc("kept")
    %0 = mnist.select %kept, %x, %zero : tensor<1024x1024xi1>, tensor<1024x1024xf32> loc("y")
    plan.yield %0, %kept : tensor<1024x1024xf32>, tensor<1024x1024xi1>
  } : (tensor<1024x1024xf32>, tensor<1024xf32>, tensor<i64>, tensor<i64>) -> (tensor<1024x1024xf32>, tensor<1024x1024xi1>)
  return %y#0, %y#1 : tensor<1024x1024xf32>, tensor<1024x1024xi1>
}

// Not where neighbours are read from other places, four of which are too few
// for a tile (transposed.mlir).
// CHECK-LABEL: namespace turned {
// CHECK: MN_FN void operator()(mn::Element i) const {
func.func @turned(%x_in: tensor<262144x4xf32> {mnist.name = "x"}) -> tensor<4x262144xf32> {
  %y = plan.step "y" on kernel (%x_in) {
  ^bb0(%x: tensor<262144x4xf32>):
    %0 = mnist.transpose %x perm [1, 0] : tensor<262144x4xf32> -> tensor<4x262144xf32>
    plan.yield %0 : tensor<4x262144xf32>
  } : (tensor<262144x4xf32>) -> tensor<4x262144xf32>
  return %y : tensor<4x262144xf32>
}

// Nor where more threads have something to do without.
// CHECK-LABEL: namespace small {
// CHECK: MN_FN void operator()(mn::Element i) const { y[i] = -x[i]; }
func.func @small(%x_in: tensor<1024x512xf32> {mnist.name = "x"}) -> tensor<1024x512xf32> {
  %y = plan.step "y" on kernel (%x_in) {
  ^bb0(%x: tensor<1024x512xf32>):
    %0 = mnist.neg %x : tensor<1024x512xf32>
    plan.yield %0 : tensor<1024x512xf32>
  } : (tensor<1024x512xf32>) -> tensor<1024x512xf32>
  return %y : tensor<1024x512xf32>
}

// The segments of a large step are by fours, small ones too: what is computed
// alike is written once. Not a single element.
// CHECK-LABEL: namespace updates {
// CHECK:      struct W_new {
// CHECK:        return {e.w - rate[0] * e.g};
// CHECK:      struct Count_new {
// CHECK:        MN_FN void operator()(mn::Element i) const {
// CHECK:      MN_SEGMENTS_KERNEL(updates_w_new, w_new_elements, mn::Table<W_new, 2>,
// CHECK-NEXT:   mn::Table<Count_new, 1>)
func.func @updates(
    %w_in: tensor<1024x1024xf32> {mnist.name = "w"},
    %g_in: tensor<1024x1024xf32> {mnist.name = "g"},
    %b_in: tensor<10xf32> {mnist.name = "b"},
    %h_in: tensor<10xf32> {mnist.name = "h"},
    %count_in: tensor<f32> {mnist.name = "count"},
    %rate_in: tensor<f32> {mnist.name = "rate"})
    -> (tensor<1024x1024xf32>, tensor<10xf32>, tensor<f32>) {
  %all:3 = plan.step "w_new" on kernel (%w_in, %g_in, %b_in, %h_in, %count_in, %rate_in) {
  ^bb0(%w: tensor<1024x1024xf32>, %g: tensor<1024x1024xf32>, %b: tensor<10xf32>, %h: tensor<10xf32>, %count: tensor<f32>, %rate: tensor<f32>):
    %w_r = mnist.broadcast %rate along [] : tensor<f32> -> tensor<1024x1024xf32>
    %w_1 = mnist.mul %w_r, %g : tensor<1024x1024xf32>
    %w_new = mnist.sub %w, %w_1 : tensor<1024x1024xf32> loc("w_new")
    %b_r = mnist.broadcast %rate along [] : tensor<f32> -> tensor<10xf32>
    %b_1 = mnist.mul %b_r, %h : tensor<10xf32>
    %b_new = mnist.sub %b, %b_1 : tensor<10xf32> loc("b_new")
    %count_new = mnist.neg %count : tensor<f32> loc("count_new")
    plan.yield %w_new, %b_new, %count_new : tensor<1024x1024xf32>, tensor<10xf32>, tensor<f32>
  } : (tensor<1024x1024xf32>, tensor<1024x1024xf32>, tensor<10xf32>, tensor<10xf32>, tensor<f32>, tensor<f32>) -> (tensor<1024x1024xf32>, tensor<10xf32>, tensor<f32>)
  return %all#0, %all#1, %all#2 : tensor<1024x1024xf32>, tensor<10xf32>, tensor<f32>
}

// So has a map that moves elements, where their last dimension stays in fours:
// what four neighbours have in common is computed from the first.
// CHECK-LABEL: namespace moved {
// CHECK:      struct ElementValues {
// CHECK-NEXT:   float turned;
// CHECK-NEXT: };
// CHECK-NEXT: MN_FN ElementValues load(const mn::NeighbourOf<mn::Offset> &place) const {
// CHECK-NEXT:   const mn::Index first = mn::Index(place.first);
// CHECK-NEXT:   const float element =
// CHECK-NEXT:       x[first / 6144 * 6144 + first / 96 % 4 * 1536 + first / 384 % 16 * 96 +
// CHECK-NEXT:       (first / 4 % 24 * 4 + place.number)];
// CHECK-NEXT:   return {-element};
// CHECK-NEXT: }
func.func @moved(%x_in: tensor<512x4x16x96xf32> {mnist.name = "x"}) -> tensor<512x16x4x96xf32> {
  %turned = plan.step "turned" on kernel (%x_in) {
  ^bb0(%x: tensor<512x4x16x96xf32>):
    %0 = mnist.transpose %x perm [0, 2, 1, 3] : tensor<512x4x16x96xf32> -> tensor<512x16x4x96xf32>
    %1 = mnist.neg %0 : tensor<512x16x4x96xf32>
    plan.yield %1 : tensor<512x16x4x96xf32>
  } : (tensor<512x4x16x96xf32>) -> tensor<512x16x4x96xf32> loc("turned")
  return %turned : tensor<512x16x4x96xf32>
}

// Behind another shape, too, where no coordinate needs the whole number: the
// bias of a projection, of which a part is read head by head. It is rounded
// once all are loaded.
// CHECK-LABEL: namespace heads {
// CHECK:      struct ElementValues {
// CHECK-NEXT:   float key;
// CHECK-NEXT: };
// CHECK:        const mn::Index first = mn::Index(place.first);
// CHECK-NEXT:   const float element =
// CHECK-NEXT:       b[first / 768 % 4 * 48 + (first / 4 % 12 * 4 + place.number) + 192];
// CHECK-NEXT:   const float sum =
// CHECK-NEXT:       x[first / 3072 * 9216 + first / 48 % 16 * 576 + first / 768 % 4 * 48 +
// CHECK-NEXT:       (first / 4 % 12 * 4 + place.number) + 192] + element;
// CHECK-NEXT:   return {sum};
// CHECK:      StoredValues results(const ElementValues &e,
// CHECK-NEXT:                      const mn::Neighbour &) const {
// CHECK-NEXT:   return {mn::cast<mn::Bf16>(e.key)};
func.func @heads(%x_in: tensor<512x16x576xf32> {mnist.name = "x"}, %b_in: tensor<576xf32> {mnist.name = "b"}) -> tensor<512x4x16x48xf32> {
  %key = plan.step "key" on kernel (%x_in, %b_in) {
  ^bb0(%x: tensor<512x16x576xf32>, %b: tensor<576xf32>):
    %0 = mnist.broadcast %b along [2] : tensor<576xf32> -> tensor<512x16x576xf32>
    %1 = mnist.add %x, %0 : tensor<512x16x576xf32>
    %2 = mnist.reshape %1 : tensor<512x16x576xf32> -> tensor<512x16x3x4x48xf32>
    %3 = mnist.slice %2 starts [0, 0, 1, 0, 0] steps [1, 1, 1, 1, 1] : tensor<512x16x3x4x48xf32> -> tensor<512x16x1x4x48xf32>
    %4 = mnist.transpose %3 perm [0, 2, 3, 1, 4] : tensor<512x16x1x4x48xf32> -> tensor<512x1x4x16x48xf32>
    %5 = mnist.reshape %4 : tensor<512x1x4x16x48xf32> -> tensor<512x4x16x48xf32>
    %6 = mnist.cast %5 : tensor<512x4x16x48xf32> -> tensor<512x4x16x48xbf16>
    plan.yield %6 : tensor<512x4x16x48xbf16>
  } : (tensor<512x16x576xf32>, tensor<576xf32>) -> tensor<512x4x16x48xbf16> loc("key")
  %wide = plan.step "wide" on kernel (%key) {
  ^bb0(%x: tensor<512x4x16x48xbf16>):
    %0 = mnist.cast %x : tensor<512x4x16x48xbf16> -> tensor<512x4x16x48xf32>
    plan.yield %0 : tensor<512x4x16x48xf32>
  } : (tensor<512x4x16x48xbf16>) -> tensor<512x4x16x48xf32> loc("wide")
  return %wide : tensor<512x4x16x48xf32>
}
