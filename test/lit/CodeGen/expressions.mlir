// RUN: mnist-opt %s --plan-assign-memory --mlir-print-debuginfo | mnistc - --emit=source | FileCheck %s

// Each elementwise op as an expression; mnistrt/math.h has the functions.

// Of one operand.
// CHECK-LABEL: namespace infer_unary {
// CHECK: y[i] = mn::abs(x0[i]);
// CHECK-NEXT: erfs[i] = mn::erf(x0[i]);
// CHECK-NEXT: exps[i] = mn::exp(x0[i]);
// CHECK-NEXT: logs[i] = mn::log(x0[i]);
// CHECK-NEXT: negs[i] = -x0[i];
// CHECK-NEXT: relus[i] = mn::relu(x0[i]);
// CHECK-NEXT: sigmoids[i] = mn::sigmoid(x0[i]);
// CHECK-NEXT: softpluss[i] = mn::softplus(x0[i]);
// CHECK-NEXT: sqrts[i] = mn::sqrt(x0[i]);
// CHECK-NEXT: tanhs[i] = mn::tanh(x0[i]);
// CHECK-NEXT: elus[i] = mn::elu(x0[i], 1.5f);
// CHECK-NEXT: leaks[i] = mn::leakyRelu(x0[i], 0.01f);
func.func @infer_unary(%in0: tensor<4xf32> {mnist.name = "x0"}) -> tensor<4xf32> {
  %y:12 = plan.step "y" on kernel (%in0) {
  ^bb0(%a: tensor<4xf32>):
    %0 = mnist.abs %a : tensor<4xf32> loc("abss")
    %1 = mnist.erf %a : tensor<4xf32> loc("erfs")
    %2 = mnist.exp %a : tensor<4xf32> loc("exps")
    %3 = mnist.log %a : tensor<4xf32> loc("logs")
    %4 = mnist.neg %a : tensor<4xf32> loc("negs")
    %5 = mnist.relu %a : tensor<4xf32> loc("relus")
    %6 = mnist.sigmoid %a : tensor<4xf32> loc("sigmoids")
    %7 = mnist.softplus %a : tensor<4xf32> loc("softpluss")
    %8 = mnist.sqrt %a : tensor<4xf32> loc("sqrts")
    %9 = mnist.tanh %a : tensor<4xf32> loc("tanhs")
    %10 = mnist.elu %a alpha 1.5 : tensor<4xf32> loc("elus")
    %11 = mnist.leaky_relu %a slope 0.01 : tensor<4xf32> loc("leaks")
    plan.yield %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  } : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  return %y#0 : tensor<4xf32>
}

// Of two.
// CHECK-LABEL: namespace infer_binary {
// CHECK: y[i] = x0[i] + x1[i];
// CHECK-NEXT: divs[i] = x0[i] / x1[i];
// CHECK-NEXT: maxs[i] = mn::max(x0[i], x1[i]);
// CHECK-NEXT: mins[i] = mn::min(x0[i], x1[i]);
// CHECK-NEXT: muls[i] = x0[i] * x1[i];
// CHECK-NEXT: pows[i] = mn::pow(x0[i], x1[i]);
// CHECK-NEXT: subs[i] = x0[i] - x1[i];
func.func @infer_binary(%in0: tensor<4xf32> {mnist.name = "x0"}, %in1: tensor<4xf32> {mnist.name = "x1"}) -> tensor<4xf32> {
  %y:7 = plan.step "y" on kernel (%in0, %in1) {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    %0 = mnist.add %a, %b : tensor<4xf32> loc("adds")
    %1 = mnist.div %a, %b : tensor<4xf32> loc("divs")
    %2 = mnist.max %a, %b : tensor<4xf32> loc("maxs")
    %3 = mnist.min %a, %b : tensor<4xf32> loc("mins")
    %4 = mnist.mul %a, %b : tensor<4xf32> loc("muls")
    %5 = mnist.pow %a, %b : tensor<4xf32> loc("pows")
    %6 = mnist.sub %a, %b : tensor<4xf32> loc("subs")
    plan.yield %0, %1, %2, %3, %4, %5, %6 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  } : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  return %y#0 : tensor<4xf32>
}

// Of integers all are functions: they wrap around, and divide by 0.
// CHECK-LABEL: namespace infer_integers {
// CHECK: y[i] = mn::add(x0[i], x1[i]);
// CHECK-NEXT: divs[i] = mn::div(x0[i], x1[i]);
// CHECK-NEXT: maxs[i] = mn::max(x0[i], x1[i]);
// CHECK-NEXT: mins[i] = mn::min(x0[i], x1[i]);
// CHECK-NEXT: muls[i] = mn::mul(x0[i], x1[i]);
// CHECK-NEXT: pows[i] = mn::pow(x0[i], x1[i]);
// CHECK-NEXT: subs[i] = mn::sub(x0[i], x1[i]);
func.func @infer_integers(%in0: tensor<4xi64> {mnist.name = "x0"}, %in1: tensor<4xi64> {mnist.name = "x1"}) -> tensor<4xi64> {
  %y:7 = plan.step "y" on kernel (%in0, %in1) {
  ^bb0(%a: tensor<4xi64>, %b: tensor<4xi64>):
    %0 = mnist.add %a, %b : tensor<4xi64> loc("adds")
    %1 = mnist.div %a, %b : tensor<4xi64> loc("divs")
    %2 = mnist.max %a, %b : tensor<4xi64> loc("maxs")
    %3 = mnist.min %a, %b : tensor<4xi64> loc("mins")
    %4 = mnist.mul %a, %b : tensor<4xi64> loc("muls")
    %5 = mnist.pow %a, %b : tensor<4xi64> loc("pows")
    %6 = mnist.sub %a, %b : tensor<4xi64> loc("subs")
    plan.yield %0, %1, %2, %3, %4, %5, %6 : tensor<4xi64>, tensor<4xi64>, tensor<4xi64>, tensor<4xi64>, tensor<4xi64>, tensor<4xi64>, tensor<4xi64>
  } : (tensor<4xi64>, tensor<4xi64>) -> (tensor<4xi64>, tensor<4xi64>, tensor<4xi64>, tensor<4xi64>, tensor<4xi64>, tensor<4xi64>, tensor<4xi64>)
  return %y#0 : tensor<4xi64>
}

// C++ would compute bytes as int.
// CHECK-LABEL: namespace infer_bytes {
// CHECK: y[i] = mn::add(x0[i], x1[i]);
// CHECK-NEXT: divs[i] = mn::div(x0[i], x1[i]);
// CHECK-NEXT: maxs[i] = mn::max(x0[i], x1[i]);
// CHECK-NEXT: mins[i] = mn::min(x0[i], x1[i]);
// CHECK-NEXT: muls[i] = mn::mul(x0[i], x1[i]);
// CHECK-NEXT: pows[i] = mn::pow(x0[i], x1[i]);
// CHECK-NEXT: subs[i] = mn::sub(x0[i], x1[i]);
// CHECK-NEXT: negs[i] = mn::neg(x0[i]);
func.func @infer_bytes(%in0: tensor<4xui8> {mnist.name = "x0"}, %in1: tensor<4xui8> {mnist.name = "x1"}) -> tensor<4xui8> {
  %y:8 = plan.step "y" on kernel (%in0, %in1) {
  ^bb0(%a: tensor<4xui8>, %b: tensor<4xui8>):
    %0 = mnist.add %a, %b : tensor<4xui8> loc("adds")
    %1 = mnist.div %a, %b : tensor<4xui8> loc("divs")
    %2 = mnist.max %a, %b : tensor<4xui8> loc("maxs")
    %3 = mnist.min %a, %b : tensor<4xui8> loc("mins")
    %4 = mnist.mul %a, %b : tensor<4xui8> loc("muls")
    %5 = mnist.pow %a, %b : tensor<4xui8> loc("pows")
    %6 = mnist.sub %a, %b : tensor<4xui8> loc("subs")
    %7 = mnist.neg %a : tensor<4xui8> loc("negs")
    plan.yield %0, %1, %2, %3, %4, %5, %6, %7 : tensor<4xui8>, tensor<4xui8>, tensor<4xui8>, tensor<4xui8>, tensor<4xui8>, tensor<4xui8>, tensor<4xui8>, tensor<4xui8>
  } : (tensor<4xui8>, tensor<4xui8>) -> (tensor<4xui8>, tensor<4xui8>, tensor<4xui8>, tensor<4xui8>, tensor<4xui8>, tensor<4xui8>, tensor<4xui8>, tensor<4xui8>)
  return %y#0 : tensor<4xui8>
}

// Booleans.
// CHECK-LABEL: namespace infer_booleans {
// CHECK: y[i] = x0[i] && x1[i];
// CHECK-NEXT: ors[i] = x0[i] || x1[i];
// CHECK-NEXT: nots[i] = !x0[i];
func.func @infer_booleans(%in0: tensor<4xi1> {mnist.name = "x0"}, %in1: tensor<4xi1> {mnist.name = "x1"}) -> tensor<4xi1> {
  %y:3 = plan.step "y" on kernel (%in0, %in1) {
  ^bb0(%a: tensor<4xi1>, %b: tensor<4xi1>):
    %0 = mnist.and %a, %b : tensor<4xi1> loc("ands")
    %1 = mnist.or %a, %b : tensor<4xi1> loc("ors")
    %2 = mnist.not %a : tensor<4xi1> loc("nots")
    plan.yield %0, %1, %2 : tensor<4xi1>, tensor<4xi1>, tensor<4xi1>
  } : (tensor<4xi1>, tensor<4xi1>) -> (tensor<4xi1>, tensor<4xi1>, tensor<4xi1>)
  return %y#0 : tensor<4xi1>
}

// Comparisons.
// CHECK-LABEL: namespace infer_compare {
// CHECK: y[i] = x0[i] == x1[i];
// CHECK-NEXT: nes[i] = x0[i] != x1[i];
// CHECK-NEXT: lts[i] = x0[i] < x1[i];
// CHECK-NEXT: les[i] = x0[i] <= x1[i];
// CHECK-NEXT: gts[i] = x0[i] > x1[i];
// CHECK-NEXT: ges[i] = x0[i] >= x1[i];
func.func @infer_compare(%in0: tensor<4xf32> {mnist.name = "x0"}, %in1: tensor<4xf32> {mnist.name = "x1"}) -> tensor<4xi1> {
  %y:6 = plan.step "y" on kernel (%in0, %in1) {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    %0 = mnist.compare eq %a, %b : tensor<4xf32> -> tensor<4xi1> loc("eqs")
    %1 = mnist.compare ne %a, %b : tensor<4xf32> -> tensor<4xi1> loc("nes")
    %2 = mnist.compare lt %a, %b : tensor<4xf32> -> tensor<4xi1> loc("lts")
    %3 = mnist.compare le %a, %b : tensor<4xf32> -> tensor<4xi1> loc("les")
    %4 = mnist.compare gt %a, %b : tensor<4xf32> -> tensor<4xi1> loc("gts")
    %5 = mnist.compare ge %a, %b : tensor<4xf32> -> tensor<4xi1> loc("ges")
    plan.yield %0, %1, %2, %3, %4, %5 : tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>
  } : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>)
  return %y#0 : tensor<4xi1>
}

// Conversions and choices.
// CHECK-LABEL: namespace infer_convert {
// CHECK: y[i] = mn::cast<uint8_t>(x0[i]);
// CHECK-NEXT: as_float[i] = mn::cast<float>(x1[i]);
// CHECK-NEXT: chosen[i] = x1[i] ? x0[i] : x0[i];
// CHECK: as_bool[i] = mn::cast<bool>(x2[i]);
func.func @infer_convert(%in0: tensor<4xf32> {mnist.name = "x0"}, %in1: tensor<4xi1> {mnist.name = "x1"}, %in2: tensor<4xi64> {mnist.name = "x2"}) -> tensor<4xui8> {
  %y:4 = plan.step "y" on kernel (%in0, %in1, %in2) {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xi1>, %c: tensor<4xi64>):
    %0 = mnist.cast %a : tensor<4xf32> -> tensor<4xui8> loc("as_byte")
    %1 = mnist.cast %c : tensor<4xi64> -> tensor<4xi1> loc("as_bool")
    %2 = mnist.cast %b : tensor<4xi1> -> tensor<4xf32> loc("as_float")
    %3 = mnist.select %b, %a, %a : tensor<4xi1>, tensor<4xf32> loc("chosen")
    plan.yield %0, %1, %2, %3 : tensor<4xui8>, tensor<4xi1>, tensor<4xf32>, tensor<4xf32>
  } : (tensor<4xf32>, tensor<4xi1>, tensor<4xi64>) -> (tensor<4xui8>, tensor<4xi1>, tensor<4xf32>, tensor<4xf32>)
  return %y#0 : tensor<4xui8>
}
