// A thread keeps what is made of an element's inputs alone, where that is less
// and it is read again; all inputs are loaded before the first is asked.
// RUN: mnistc %s --target=cpu --emit=source -o - | FileCheck %s

module attributes {plan.constant_bytes = 0 : i64, plan.target = "cpu"} {
  func.func @infer(%x: tensor<3x4xf32> {mnist.name = "x", plan.offset = 0 : i64},
                   %z: tensor<3x4xf32> {mnist.name = "z", plan.offset = 256 : i64},
                   %y: tensor<3x4xi32> {mnist.name = "y", plan.offset = 1536 : i64},
                   %mask: tensor<3x4xi1> {mnist.name = "mask", plan.offset = 1792 : i64})
      -> (tensor<3x4xf32> {mnist.name = "again"},
          tensor<3x4xf32> {mnist.name = "once"}, tensor<3xf32> {mnist.name = "sum"},
          tensor<3x4xf32> {mnist.name = "masked"})
      attributes {plan.arena_bytes = 2304 : i64, plan.workspace_bytes = 0 : i64} {
    // CHECK:      struct Again {
    // CHECK:        struct ElementValues {
    // CHECK-NEXT:     float [[KEPT:[a-z_0-9]+]];
    // CHECK-NEXT:   };
    // CHECK:        ElementValues load(mn::Offset place) const {
    // CHECK-NEXT:     const float [[X:[a-z_0-9]+]] = x[place];
    // CHECK-NEXT:     const float [[Z:[a-z_0-9]+]] = z[place];
    // CHECK-NEXT:     {{.*}}[[X]] * [[Z]]{{.*}};
    // CHECK:        values(mn::Phase<0>,
    // CHECK:          return {{[{][{]}}e.[[KEPT]]{{[}][}]}};
    // CHECK:        results(
    // CHECK:          e.[[KEPT]]
    %a = plan.step "again" on kernel at [512] (%x, %z) {
    ^bb0(%b: tensor<3x4xf32>, %c: tensor<3x4xf32>):
      %0 = mnist.mul %b, %c : tensor<3x4xf32>
      %sum = mnist.reduce_sum %0 over [1] : tensor<3x4xf32> -> tensor<3xf32>
      %sums = mnist.broadcast %sum along [0] : tensor<3xf32> -> tensor<3x4xf32>
      %1 = mnist.div %0, %sums : tensor<3x4xf32>
      plan.yield %1 : tensor<3x4xf32>
    } : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>

    // CHECK:      struct Once {
    // CHECK:        struct ElementValues {
    // CHECK-NEXT:     float x;
    // CHECK-NEXT:     float z;
    // CHECK-NEXT:   };
    // CHECK:        ElementValues load(mn::Offset place) const {
    // CHECK-NEXT:     return {x[place], z[place]};
    %o:2 = plan.step "once" on kernel at [768, 1024] (%x, %z) {
    ^bb0(%b: tensor<3x4xf32>, %c: tensor<3x4xf32>):
      %0 = mnist.mul %b, %c : tensor<3x4xf32>
      %sum = mnist.reduce_sum %0 over [1] : tensor<3x4xf32> -> tensor<3xf32>
      plan.yield %0, %sum : tensor<3x4xf32>, tensor<3xf32>
    } : (tensor<3x4xf32>, tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<3xf32>)

    // What is cast is so before a condition.
    // CHECK:      struct Masked {
    // CHECK:        ElementValues load(mn::Offset place) const {
    // CHECK-NEXT:     const int32_t [[Y:[a-z_0-9]+]] = y[place];
    // CHECK-NEXT:     const bool [[MASK:[a-z_0-9]+]] = mask[place];
    // CHECK-NEXT:     const float [[CAST:[a-z_0-9]+]] = mn::cast<float>([[Y]]);
    // CHECK-NEXT:     {{.*}}[[MASK]] ? [[CAST]] : 0.0f{{.*}};
    %k = plan.step "masked" on kernel at [2048] (%y, %mask) {
    ^bb0(%b: tensor<3x4xi32>, %c: tensor<3x4xi1>):
      %zero = mnist.constant dense<0.0> : tensor<3x4xf32>
      %0 = mnist.cast %b : tensor<3x4xi32> -> tensor<3x4xf32>
      %1 = mnist.select %c, %0, %zero : tensor<3x4xi1>, tensor<3x4xf32>
      %sum = mnist.reduce_sum %1 over [1] : tensor<3x4xf32> -> tensor<3xf32>
      %sums = mnist.broadcast %sum along [0] : tensor<3xf32> -> tensor<3x4xf32>
      %2 = mnist.div %1, %sums : tensor<3x4xf32>
      plan.yield %2 : tensor<3x4xf32>
    } : (tensor<3x4xi32>, tensor<3x4xi1>) -> tensor<3x4xf32>
    return %a, %o#0, %o#1, %k : tensor<3x4xf32>, tensor<3x4xf32>, tensor<3xf32>, tensor<3x4xf32>
  }
}
