// Large maps that move elements go by fours where the last dimensions, which
// they do nothing to, have a multiple of four.
// RUN: mnist-opt %s --plan-assign-memory --plan-check-steps --mlir-print-debuginfo -o %t.mlir
// RUN: mnistc %t.mlir --emit=source --target=cuda -o %t.cpp
// RUN: FileCheck %s < %t.cpp
// RUN: g++ -std=c++20 -Wall -Wextra -Werror -fsyntax-only -DMN_TARGET_CUDA -I%root/runtime/include %t.cpp

// Images of 28 elements, whose rows have two.
// CHECK-LABEL: namespace joined {
// CHECK:        ElementValues load(const mn::NeighbourOf<mn::Offset> &place) const {
func.func @joined(%a_in: tensor<512x400x14x2xf32> {mnist.name = "a"}, %b_in: tensor<512x3x14x2xf32> {mnist.name = "b"}) -> tensor<512x403x14x2xf32> {
  %y = plan.step "y" on kernel (%a_in, %b_in) {
  ^bb0(%a: tensor<512x400x14x2xf32>, %b: tensor<512x3x14x2xf32>):
    %0 = mnist.concat %a, %b dim 1 : (tensor<512x400x14x2xf32>, tensor<512x3x14x2xf32>) -> tensor<512x403x14x2xf32>
    plan.yield %0 : tensor<512x403x14x2xf32>
  } : (tensor<512x400x14x2xf32>, tensor<512x3x14x2xf32>) -> tensor<512x403x14x2xf32>
  return %y : tensor<512x403x14x2xf32>
}

// Not those of 14.
// CHECK-LABEL: namespace odd {
// CHECK:        MN_FN void operator()(mn::Element i) const {
func.func @odd(%a_in: tensor<512x400x7x2xf32> {mnist.name = "a"}, %b_in: tensor<512x3x7x2xf32> {mnist.name = "b"}) -> tensor<512x403x7x2xf32> {
  %y = plan.step "y" on kernel (%a_in, %b_in) {
  ^bb0(%a: tensor<512x400x7x2xf32>, %b: tensor<512x3x7x2xf32>):
    %0 = mnist.concat %a, %b dim 1 : (tensor<512x400x7x2xf32>, tensor<512x3x7x2xf32>) -> tensor<512x403x7x2xf32>
    plan.yield %0 : tensor<512x403x7x2xf32>
  } : (tensor<512x400x7x2xf32>, tensor<512x3x7x2xf32>) -> tensor<512x403x7x2xf32>
  return %y : tensor<512x403x7x2xf32>
}

// Nor where the dimension before them is all that is left as it is.
// CHECK-LABEL: namespace after {
// CHECK:        MN_FN void operator()(mn::Element i) const {
func.func @after(%a_in: tensor<512x400x14x4xf32> {mnist.name = "a"}) -> tensor<512x400x14x2xf32> {
  %y = plan.step "y" on kernel (%a_in) {
  ^bb0(%a: tensor<512x400x14x4xf32>):
    %0 = mnist.slice %a starts [0, 0, 0, 1] steps [1, 1, 1, 2] : tensor<512x400x14x4xf32> -> tensor<512x400x14x2xf32>
    plan.yield %0 : tensor<512x400x14x2xf32>
  } : (tensor<512x400x14x4xf32>) -> tensor<512x400x14x2xf32>
  return %y : tensor<512x400x14x2xf32>
}

// Parts.
// CHECK-LABEL: namespace part {
// CHECK:        ElementValues load(const mn::NeighbourOf<mn::Offset> &place) const {
func.func @part(%a_in: tensor<512x401x14x2xf32> {mnist.name = "a"}) -> tensor<512x400x14x2xf32> {
  %y = plan.step "y" on kernel (%a_in) {
  ^bb0(%a: tensor<512x401x14x2xf32>):
    %0 = mnist.slice %a starts [0, 1, 0, 0] steps [1, 1, 1, 1] : tensor<512x401x14x2xf32> -> tensor<512x400x14x2xf32>
    plan.yield %0 : tensor<512x400x14x2xf32>
  } : (tensor<512x401x14x2xf32>) -> tensor<512x400x14x2xf32>
  return %y : tensor<512x400x14x2xf32>
}

// What is around them.
// CHECK-LABEL: namespace padded {
// CHECK:        ElementValues load(const mn::NeighbourOf<mn::Offset> &place) const {
func.func @padded(%a_in: tensor<512x400x14x2xf32> {mnist.name = "a"}) -> tensor<512x401x14x2xf32> {
  %y = plan.step "y" on kernel (%a_in) {
  ^bb0(%a: tensor<512x400x14x2xf32>):
    %0 = mnist.pad constant %a low [0, 1, 0, 0] value 0.0 : tensor<512x400x14x2xf32> -> tensor<512x401x14x2xf32>
    plan.yield %0 : tensor<512x401x14x2xf32>
  } : (tensor<512x400x14x2xf32>) -> tensor<512x401x14x2xf32>
  return %y : tensor<512x401x14x2xf32>
}

// Not what moves them by one, which the sizes do not tell.
// CHECK-LABEL: namespace shifted {
// CHECK:        MN_FN void operator()(mn::Element i) const {
func.func @shifted(%a_in: tensor<512x400x14x2xf32> {mnist.name = "a"}) -> tensor<512x400x14x2xf32> {
  %y = plan.step "y" on kernel (%a_in) {
  ^bb0(%a: tensor<512x400x14x2xf32>):
    %0 = mnist.pad constant %a low [0, 0, 0, 1] value 0.0 : tensor<512x400x14x2xf32> -> tensor<512x400x14x2xf32>
    plan.yield %0 : tensor<512x400x14x2xf32>
  } : (tensor<512x400x14x2xf32>) -> tensor<512x400x14x2xf32>
  return %y : tensor<512x400x14x2xf32>
}

// Those that numbers name.
// CHECK-LABEL: namespace chosen {
// CHECK:        ElementValues load(const mn::NeighbourOf<mn::Offset> &place) const {
func.func @chosen(%a_in: tensor<512x400x14x2xf32> {mnist.name = "a"}, %n_in: tensor<403xi64> {mnist.name = "n"}) -> tensor<512x403x14x2xf32> {
  %y = plan.step "y" on kernel (%a_in, %n_in) {
  ^bb0(%a: tensor<512x400x14x2xf32>, %n: tensor<403xi64>):
    %0 = mnist.gather %a, %n dim 1 : (tensor<512x400x14x2xf32>, tensor<403xi64>) -> tensor<512x403x14x2xf32>
    plan.yield %0 : tensor<512x403x14x2xf32>
  } : (tensor<512x400x14x2xf32>, tensor<403xi64>) -> tensor<512x403x14x2xf32>
  return %y : tensor<512x403x14x2xf32>
}

// In another order.
// CHECK-LABEL: namespace swapped {
// CHECK:        ElementValues load(const mn::NeighbourOf<mn::Offset> &place) const {
func.func @swapped(%a_in: tensor<40x512x14x2x6xf32> {mnist.name = "a"}) -> tensor<512x40x14x2x6xf32> {
  %y = plan.step "y" on kernel (%a_in) {
  ^bb0(%a: tensor<40x512x14x2x6xf32>):
    %0 = mnist.transpose %a perm [1, 0, 2, 3, 4] : tensor<40x512x14x2x6xf32> -> tensor<512x40x14x2x6xf32>
    plan.yield %0 : tensor<512x40x14x2x6xf32>
  } : (tensor<40x512x14x2x6xf32>) -> tensor<512x40x14x2x6xf32>
  return %y : tensor<512x40x14x2x6xf32>
}
