// RUN: mnist-opt %s --plan-recompute-elements=from=1 | FileCheck %s
// RUN: mnist-opt %s --plan-recompute-elements=from=1000000 | FileCheck %s --check-prefix=LARGE
// RUN: mnist-opt %s --plan-recompute-elements="from=1 functions-from=1000000" | FileCheck %s --check-prefixes=CHECK,FEWER
// LARGE-NOT: plan.again

// The gradient of an activation needs two values of what comes before it: it
// computes them from that, which is kept instead.

// CHECK-LABEL: func.func @activation
// CHECK-SAME:    (%[[A:.*]]: tensor<64x32xf32>, %[[W:.*]]: tensor<32x32xf32>, %[[V:.*]]: tensor<32x32xf32>)
// CHECK:         %[[X:.*]] = mnist.matmul %[[A]], %[[W]]
// CHECK:         mnist.erf
// CHECK:         %[[Y:.*]] = mnist.matmul
// CHECK:         %[[ERF:.*]] = mnist.erf %[[X]] {plan.again}
// CHECK:         %[[P:.*]] = mnist.mul %[[Y]], %[[ERF]]
// CHECK:         %[[SQUARE:.*]] = mnist.mul %[[X]], %[[X]] {plan.again}
// CHECK:         %[[EXP:.*]] = mnist.exp %[[SQUARE]] {plan.again}
// CHECK:         mnist.mul %[[P]], %[[EXP]]
func.func @activation(%a: tensor<64x32xf32>, %w: tensor<32x32xf32>, %v: tensor<32x32xf32>) -> (tensor<64x32xf32>) {
  %x = mnist.matmul %a, %w : (tensor<64x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32>
  %erf = mnist.erf %x : tensor<64x32xf32>
  %y = mnist.mul %x, %erf : tensor<64x32xf32>
  %dy = mnist.matmul %y, %v : (tensor<64x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32>
  %p = mnist.mul %dy, %erf : tensor<64x32xf32>
  %square = mnist.mul %x, %x : tensor<64x32xf32>
  %exp = mnist.exp %square : tensor<64x32xf32>
  %q = mnist.mul %p, %exp : tensor<64x32xf32>
  return %q : tensor<64x32xf32>
}

// One value is kept as it is, unless what it is made of is kept anyway. What
// there is one of for many elements, such as a mean, is kept.

// CHECK-LABEL: func.func @kept
// CHECK-SAME:    (%[[A:[a-z0-9]*]]: tensor<64x32xf32>,
// CHECK:         %[[X:.*]] = mnist.matmul %[[A]]
// CHECK:         %[[TANH:.*]] = mnist.tanh %[[X]]
// CHECK:         %[[N:.*]] = mnist.neg %[[X]]
// CHECK:         %[[Y:.*]] = mnist.matmul %[[N]]
// CHECK:         mnist.mul %[[Y]], %[[TANH]]
// CHECK:         %[[AGAIN:.*]] = mnist.sub %[[A]], %{{.*}} {plan.again}
// CHECK:         mnist.mul %[[Y]], %[[AGAIN]]
// CHECK:         return
func.func @kept(%a: tensor<64x32xf32>, %mean: tensor<32xf32>, %w: tensor<32x32xf32>) -> (tensor<64x32xf32>, tensor<64x32xf32>) {
  %x = mnist.matmul %a, %w : (tensor<64x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32>
  %tanh = mnist.tanh %x : tensor<64x32xf32>
  %neg = mnist.neg %x : tensor<64x32xf32>
  %dy = mnist.matmul %neg, %w : (tensor<64x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32>
  %p = mnist.mul %dy, %tanh : tensor<64x32xf32>
  %means = mnist.broadcast %mean along [1] : tensor<32xf32> -> tensor<64x32xf32>
  %centred = mnist.sub %a, %means : tensor<64x32xf32>
  %q = mnist.mul %dy, %centred : tensor<64x32xf32>
  return %p, %q : tensor<64x32xf32>, tensor<64x32xf32>
}

// What is made of two tensors is kept, and what a product reads is in memory
// anyway.

// CHECK-LABEL: func.func @others
// CHECK-NOT:     plan.again
func.func @others(%a: tensor<64x32xf32>, %b: tensor<64x32xf32>, %w: tensor<32x32xf32>) -> (tensor<64x32xf32>, tensor<64x32xf32>, tensor<64x32xf32>) {
  %sum = mnist.add %a, %b : tensor<64x32xf32>
  %exp = mnist.exp %a : tensor<64x32xf32>
  %dy = mnist.matmul %exp, %w : (tensor<64x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32>
  %p = mnist.mul %dy, %sum : tensor<64x32xf32>
  %q = mnist.mul %dy, %exp : tensor<64x32xf32>
  %early = mnist.exp %sum : tensor<64x32xf32>
  return %p, %q, %early : tensor<64x32xf32>, tensor<64x32xf32>, tensor<64x32xf32>
}

// A function of what is normalized is kept where tensors are small: the mean of
// what it is made of is no argument.

// CHECK-LABEL: func.func @normalized
// FEWER:         mnist.sub %{{.*}} {plan.again}
// FEWER-NOT:     plan.again
func.func @normalized(%a: tensor<64x32xf32>, %w: tensor<32x32xf32>) -> tensor<64x32xf32> {
  %sum = mnist.reduce_sum %a over [0] : tensor<64x32xf32> -> tensor<32xf32>
  %sums = mnist.broadcast %sum along [1] : tensor<32xf32> -> tensor<64x32xf32>
  %centred = mnist.sub %a, %sums : tensor<64x32xf32>
  %erf = mnist.erf %centred : tensor<64x32xf32>
  %y = mnist.mul %centred, %erf : tensor<64x32xf32>
  %dy = mnist.matmul %y, %w : (tensor<64x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32>
  %p = mnist.mul %dy, %erf : tensor<64x32xf32>
  %q = mnist.mul %p, %centred : tensor<64x32xf32>
  return %q : tensor<64x32xf32>
}

// What a product made is in memory where it is summed: one value of it is
// computed again, too. A mask is computed again from what is read anyway, else
// it is kept, which takes less than what it is made of.

// CHECK-LABEL: func.func @masks
// CHECK-SAME:    (%[[A:[a-z0-9]*]]: tensor<64x32xf32>,
// CHECK:         %[[X:.*]] = mnist.matmul %[[A]]
// CHECK:         %[[CENTRED:.*]] = mnist.sub %[[X]]
// CHECK:         mnist.compare gt %[[CENTRED]]
// CHECK:         %[[DY:.*]] = mnist.matmul
// CHECK:         %[[CENTRED_AGAIN:.*]] = mnist.sub %[[X]], %{{.*}} {plan.again}
// CHECK:         %[[MASK:.*]] = mnist.compare gt %[[CENTRED_AGAIN]], %{{.*}} {plan.again}
// CHECK:         mnist.select %[[MASK]], %[[DY]]
// CHECK:         %[[OTHER_AGAIN:.*]] = mnist.sub %[[X]], %{{.*}} {plan.again}
// CHECK:         mnist.mul %[[DY]], %[[OTHER_AGAIN]]
// CHECK-LABEL: func.func @only_masks
// CHECK-NOT:     plan.again
// CHECK-LABEL: func.func @read_with
// CHECK:         %[[BASE:.*]] = mnist.add
// CHECK:         mnist.compare gt %[[BASE]], %{{.*}} {plan.again}
func.func @masks(%a: tensor<64x32xf32>, %w: tensor<32x32xf32>) -> (tensor<64x32xf32>, tensor<64x32xf32>) {
  %x = mnist.matmul %a, %w : (tensor<64x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32>
  %sum = mnist.reduce_sum %x over [0] : tensor<64x32xf32> -> tensor<32xf32>
  %sums = mnist.broadcast %sum along [1] : tensor<32xf32> -> tensor<64x32xf32>
  %centred = mnist.sub %x, %sums : tensor<64x32xf32>
  %zero = mnist.constant dense<0.0> : tensor<64x32xf32>
  %positive = mnist.compare gt %centred, %zero : tensor<64x32xf32> -> tensor<64x32xi1>
  %y = mnist.neg %centred : tensor<64x32xf32>
  %dy = mnist.matmul %y, %w : (tensor<64x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32>
  %p = mnist.select %positive, %dy, %zero : tensor<64x32xi1>, tensor<64x32xf32>
  %q = mnist.mul %dy, %centred : tensor<64x32xf32>
  return %p, %q : tensor<64x32xf32>, tensor<64x32xf32>
}
func.func @only_masks(%a: tensor<64x32xf32>, %w: tensor<32x32xf32>) -> tensor<64x32xf32> {
  %x = mnist.matmul %a, %w : (tensor<64x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32>
  %tanh = mnist.tanh %x : tensor<64x32xf32>
  %zero = mnist.constant dense<0.0> : tensor<64x32xf32>
  %positive = mnist.compare gt %x, %zero : tensor<64x32xf32> -> tensor<64x32xi1>
  %dy = mnist.matmul %tanh, %w : (tensor<64x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32>
  %p = mnist.select %positive, %dy, %zero : tensor<64x32xi1>, tensor<64x32xf32>
  return %p : tensor<64x32xf32>
}
// The sum is read by a later sum, but not where the mask is.
func.func @read_before(%a: tensor<64x32xf32>, %b: tensor<64x32xf32>, %w: tensor<32x32xf32>) -> (tensor<64x32xf32>, tensor<64x32xf32>) {
  %x = mnist.add %a, %b : tensor<64x32xf32>
  %zero = mnist.constant dense<0.0> : tensor<64x32xf32>
  %positive = mnist.compare gt %x, %zero : tensor<64x32xf32> -> tensor<64x32xi1>
  %y = mnist.matmul %x, %w : (tensor<64x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32>
  %residual = mnist.add %x, %y : tensor<64x32xf32>
  %dy = mnist.matmul %residual, %w : (tensor<64x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32>
  %p = mnist.select %positive, %dy, %zero : tensor<64x32xi1>, tensor<64x32xf32>
  return %p, %residual : tensor<64x32xf32>, tensor<64x32xf32>
}
func.func @read_with(%a: tensor<64x32xf32>, %b: tensor<64x32xf32>, %w: tensor<32x32xf32>) -> (tensor<64x32xf32>, tensor<64x32xf32>) {
  %x = mnist.add %a, %b : tensor<64x32xf32>
  %zero = mnist.constant dense<0.0> : tensor<64x32xf32>
  %positive = mnist.compare gt %x, %zero : tensor<64x32xf32> -> tensor<64x32xi1>
  %dy = mnist.matmul %x, %w : (tensor<64x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32>
  %p = mnist.select %positive, %dy, %zero : tensor<64x32xi1>, tensor<64x32xf32>
  %q = mnist.mul %x, %dy : tensor<64x32xf32>
  return %p, %q : tensor<64x32xf32>, tensor<64x32xf32>
}

// A number and a mask: what both are made of is kept instead.

// CHECK-LABEL: func.func @number_and_mask
// CHECK:         %[[BASE:.*]] = mnist.relu
// CHECK:         %[[DY:.*]] = mnist.matmul
// CHECK:         %[[MASK:.*]] = mnist.compare gt %[[BASE]], %{{.*}} {plan.again}
// CHECK:         mnist.select %[[MASK]], %[[DY]]
// CHECK:         %[[CENTRED:.*]] = mnist.sub %[[BASE]], %{{.*}} {plan.again}
// CHECK:         mnist.mul %[[DY]], %[[CENTRED]]
func.func @number_and_mask(%a: tensor<64x32xf32>, %w: tensor<32x32xf32>) -> (tensor<64x32xf32>, tensor<64x32xf32>) {
  %product = mnist.matmul %a, %w : (tensor<64x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32>
  %x = mnist.relu %product : tensor<64x32xf32>
  %sum = mnist.reduce_sum %x over [0] : tensor<64x32xf32> -> tensor<32xf32>
  %sums = mnist.broadcast %sum along [1] : tensor<32xf32> -> tensor<64x32xf32>
  %centred = mnist.sub %x, %sums : tensor<64x32xf32>
  %zero = mnist.constant dense<0.0> : tensor<64x32xf32>
  %positive = mnist.compare gt %x, %zero : tensor<64x32xf32> -> tensor<64x32xi1>
  %y = mnist.neg %centred : tensor<64x32xf32>
  %dy = mnist.matmul %y, %w : (tensor<64x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32>
  %p = mnist.select %positive, %dy, %zero : tensor<64x32xi1>, tensor<64x32xf32>
  %q = mnist.mul %dy, %centred : tensor<64x32xf32>
  return %p, %q : tensor<64x32xf32>, tensor<64x32xf32>
}

// A relu's result is in memory for the next product, but where its mask is read
// a number is computed again from what the relu is made of: so is the mask. Where
// it is read without that, it is made of the result.

// CHECK-LABEL: func.func @mask_of_relu
// CHECK:         %[[X:.*]] = mnist.matmul
// CHECK:         %[[Y:.*]] = mnist.relu
// CHECK:         %[[DY:.*]] = mnist.matmul %[[Y]]
// CHECK:         %[[SHIFTED:.*]] = mnist.sub %[[X]], %{{.*}} {plan.again}
// CHECK:         %[[MASK:.*]] = mnist.compare gt %[[SHIFTED]], %{{.*}} {plan.again}
// CHECK:         mnist.select %[[MASK]], %[[DY]]
// CHECK:         %[[CENTRED:.*]] = mnist.sub %[[X]], %{{.*}} {plan.again}
// CHECK:         mnist.mul %[[DY]], %[[CENTRED]]
func.func @mask_of_relu(%a: tensor<64x32xf32>, %w: tensor<32x32xf32>) -> (tensor<64x32xf32>, tensor<64x32xf32>) {
  %x = mnist.matmul %a, %w : (tensor<64x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32>
  %sum = mnist.reduce_sum %x over [0] : tensor<64x32xf32> -> tensor<32xf32>
  %sums = mnist.broadcast %sum along [1] : tensor<32xf32> -> tensor<64x32xf32>
  %centred = mnist.sub %x, %sums : tensor<64x32xf32>
  %y = mnist.relu %centred : tensor<64x32xf32>
  %zero = mnist.constant dense<0.0> : tensor<64x32xf32>
  %positive = mnist.compare gt %y, %zero : tensor<64x32xf32> -> tensor<64x32xi1>
  %dy = mnist.matmul %y, %w : (tensor<64x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32>
  %p = mnist.select %positive, %dy, %zero : tensor<64x32xi1>, tensor<64x32xf32>
  %q = mnist.mul %dy, %centred : tensor<64x32xf32>
  return %p, %q : tensor<64x32xf32>, tensor<64x32xf32>
}

// CHECK-LABEL: func.func @mask_alone
// CHECK:         %[[Y:.*]] = mnist.relu
// CHECK:         mnist.compare gt %[[Y]]
func.func @mask_alone(%a: tensor<64x32xf32>, %w: tensor<32x32xf32>) -> (tensor<64x32xf32>, tensor<64x32xf32>) {
  %x = mnist.matmul %a, %w : (tensor<64x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32>
  %sum = mnist.reduce_sum %x over [0] : tensor<64x32xf32> -> tensor<32xf32>
  %sums = mnist.broadcast %sum along [1] : tensor<32xf32> -> tensor<64x32xf32>
  %centred = mnist.sub %x, %sums : tensor<64x32xf32>
  %y = mnist.relu %centred : tensor<64x32xf32>
  %zero = mnist.constant dense<0.0> : tensor<64x32xf32>
  %positive = mnist.compare gt %y, %zero : tensor<64x32xf32> -> tensor<64x32xi1>
  %dy = mnist.matmul %y, %w : (tensor<64x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32>
  %p = mnist.select %positive, %dy, %zero : tensor<64x32xi1>, tensor<64x32xf32>
  %dz = mnist.matmul %p, %w : (tensor<64x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32>
  %q = mnist.mul %dz, %centred : tensor<64x32xf32>
  return %p, %q : tensor<64x32xf32>, tensor<64x32xf32>
}

// The gradient of a maximum asks which element it is. Computed again from what
// comes before, that might be none: what was found is kept.

// CHECK-LABEL: func.func @maximum
// CHECK:         %[[HIT:.*]] = mnist.select
// CHECK:         %[[DY:.*]] = mnist.matmul
// CHECK-NEXT:    mnist.mul %[[DY]], %[[HIT]]
func.func @maximum(%a: tensor<64x32xf32>, %w: tensor<32x32xf32>, %v: tensor<1x32xf32>) -> (tensor<64x32xf32>, tensor<64x32xf32>) {
  %x = mnist.matmul %a, %w : (tensor<64x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32>
  %y = mnist.mul %x, %x : tensor<64x32xf32>
  %max = mnist.reduce_max %y over [1] : tensor<64x32xf32> -> tensor<64xf32>
  %all = mnist.broadcast %max along [0] : tensor<64xf32> -> tensor<64x32xf32>
  %is = mnist.compare eq %y, %all : tensor<64x32xf32> -> tensor<64x32xi1>
  %one = mnist.constant dense<1.0> : tensor<64x32xf32>
  %zero = mnist.constant dense<0.0> : tensor<64x32xf32>
  %hit = mnist.select %is, %one, %zero : tensor<64x32xi1>, tensor<64x32xf32>
  %count = mnist.reduce_sum %hit over [1] : tensor<64x32xf32> -> tensor<64xf32>
  %row = mnist.reshape %count : tensor<64xf32> -> tensor<64x1xf32>
  %dy = mnist.matmul %row, %v : (tensor<64x1xf32>, tensor<1x32xf32>) -> tensor<64x32xf32>
  %share = mnist.mul %dy, %hit : tensor<64x32xf32>
  %dx = mnist.mul %dy, %x : tensor<64x32xf32>
  return %share, %dx : tensor<64x32xf32>, tensor<64x32xf32>
}
