// RUN: mnist-opt %s --canonicalize | FileCheck %s

// Whether an element is inside a limit is seen by what it was before, unless
// the limit decides.

// CHECK-LABEL: @limits
// CHECK-SAME:    (%[[X:.*]]: tensor<4xf32>)
// CHECK-DAG:     %[[ONE:.*]] = mnist.constant dense<1.000000e+00>
// CHECK-DAG:     %[[SIX:.*]] = mnist.constant dense<6.000000e+00>
// CHECK-DAG:     %[[LARGER:.*]] = mnist.max %[[X]], %[[ONE]]
// CHECK-DAG:     %[[SMALLER:.*]] = mnist.min %[[X]], %[[SIX]]
// CHECK-DAG:     %[[NOWHERE:.*]] = mnist.max %[[X]], %{{.*}}
// CHECK-DAG:     %[[H:.*]] = mnist.compare gt %[[NOWHERE]], %[[ONE]]
// CHECK-DAG:     %[[A:.*]] = mnist.compare lt %[[X]], %[[SIX]]
// CHECK-DAG:     %[[B:.*]] = mnist.compare gt %[[X]], %[[ONE]]
// CHECK-DAG:     %[[C:.*]] = mnist.compare gt %[[X]], %[[ONE]]
// CHECK-DAG:     %[[D:.*]] = mnist.compare le %[[LARGER]], %{{.*}}
// CHECK-DAG:     %[[E:.*]] = mnist.compare ge %[[LARGER]], %[[ONE]]
// CHECK-DAG:     %[[F:.*]] = mnist.compare lt %[[SMALLER]], %{{.*}}
// CHECK-DAG:     %[[G:.*]] = mnist.compare eq %[[LARGER]], %[[ONE]]
func.func @limits(%x: tensor<4xf32>) -> (tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>) {
  %half = mnist.constant dense<0.5> : tensor<4xf32>
  %one = mnist.constant dense<1.0> : tensor<4xf32>
  %six = mnist.constant dense<6.0> : tensor<4xf32>
  %seven = mnist.constant dense<7.0> : tensor<4xf32>
  %nan = mnist.constant dense<0x7FC00000> : tensor<4xf32>
  %nowhere = mnist.max %x, %nan : tensor<4xf32>
  %h = mnist.compare gt %nowhere, %one : tensor<4xf32> -> tensor<4xi1>
  %larger = mnist.max %x, %one : tensor<4xf32>
  %smaller = mnist.min %x, %six : tensor<4xf32>
  %a = mnist.compare lt %larger, %six : tensor<4xf32> -> tensor<4xi1>
  %b = mnist.compare gt %larger, %one : tensor<4xf32> -> tensor<4xi1>
  %c = mnist.compare gt %smaller, %one : tensor<4xf32> -> tensor<4xi1>
  %d = mnist.compare le %larger, %half : tensor<4xf32> -> tensor<4xi1>
  %e = mnist.compare ge %larger, %one : tensor<4xf32> -> tensor<4xi1>
  %f = mnist.compare lt %smaller, %seven : tensor<4xf32> -> tensor<4xi1>
  %g = mnist.compare eq %larger, %one : tensor<4xf32> -> tensor<4xi1>
  return %a, %b, %c, %d, %e, %f, %g, %h : tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>
}

// What both limits of one value leave is chosen once; not what else is.

// CHECK-LABEL: @chosen_twice
// CHECK-SAME:    (%[[X:.*]]: tensor<4xf32>, %[[DY:.*]]: tensor<4xf32>, %[[Z:.*]]: tensor<4xf32>)
// CHECK-DAG:     %[[INSIDE:.*]] = mnist.compare lt %[[X]]
// CHECK-DAG:     %[[ABOVE:.*]] = mnist.compare gt %[[X]]
// CHECK:         %[[BOTH:.*]] = mnist.and %[[ABOVE]], %[[INSIDE]]
// CHECK:         mnist.select %[[BOTH]], %[[DY]]
// CHECK-NOT:     mnist.and
// CHECK:         return
func.func @chosen_twice(%x: tensor<4xf32>, %dy: tensor<4xf32>, %z: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %zero = mnist.constant dense<0.0> : tensor<4xf32>
  %six = mnist.constant dense<6.0> : tensor<4xf32>
  %inside = mnist.compare lt %x, %six : tensor<4xf32> -> tensor<4xi1>
  %above = mnist.compare gt %x, %zero : tensor<4xf32> -> tensor<4xi1>
  %0 = mnist.select %inside, %dy, %zero : tensor<4xi1>, tensor<4xf32>
  %1 = mnist.select %above, %0, %zero : tensor<4xi1>, tensor<4xf32>
  %other = mnist.compare gt %z, %zero : tensor<4xf32> -> tensor<4xi1>
  %2 = mnist.select %inside, %z, %zero : tensor<4xi1>, tensor<4xf32>
  %3 = mnist.select %other, %2, %zero : tensor<4xi1>, tensor<4xf32>
  %4 = mnist.select %inside, %z, %six : tensor<4xi1>, tensor<4xf32>
  %5 = mnist.select %above, %4, %zero : tensor<4xi1>, tensor<4xf32>
  return %1, %3, %5 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
