// RUN: mnist-opt %s --mnist-fold-constants | FileCheck %s

// Numbers at the edges of what each op is defined for.

// CHECK-LABEL: @floats
// CHECK-DAG:     dense<[-0.632{{[0-9]+}}, 2.000000e+00]>
// CHECK-DAG:     dense<[-0.842{{[0-9]+}}, 0.995{{[0-9]+}}]>
// CHECK-DAG:     dense<[0.268{{[0-9]+}}, 8.80{{[0-9]+}}e-01]>
// CHECK-DAG:     dense<[0.313{{[0-9]+}}, 2.126{{[0-9]+}}]>
// CHECK-DAG:     dense<[0x{{[7F]}}FC00000, 0.693{{[0-9]+}}]>
// CHECK-DAG:     dense<[-0.761{{[0-9]+}}, 0.964{{[0-9]+}}]>
func.func @floats() -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %x = mnist.constant dense<[-1.0, 2.0]> : tensor<2xf32>
  %elu = mnist.elu %x alpha 1.0 : tensor<2xf32>
  %erf = mnist.erf %x : tensor<2xf32>
  %sigmoid = mnist.sigmoid %x : tensor<2xf32>
  %softplus = mnist.softplus %x : tensor<2xf32>
  %log = mnist.log %x : tensor<2xf32>
  %tanh = mnist.tanh %x : tensor<2xf32>
  return %elu, %erf, %sigmoid, %softplus, %log, %tanh : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// Division by 0 is 0, of the lowest number by -1 wraps around; powers with a
// negative exponent are truncated.

// CHECK-LABEL: @integers
// CHECK-DAG:     dense<[-3, 0, -2147483648]> : tensor<3xi32>
// CHECK-DAG:     dense<[-343, 1, 0]> : tensor<3xi32>
// CHECK-DAG:     dense<[7, 5, -2147483648]> : tensor<3xi32>
func.func @integers() -> (tensor<3xi32>, tensor<3xi32>, tensor<3xi32>) {
  %a = mnist.constant dense<[-7, 5, -2147483648]> : tensor<3xi32>
  %b = mnist.constant dense<[2, 0, -1]> : tensor<3xi32>
  %n = mnist.constant dense<[3, 0, -1]> : tensor<3xi32>
  %div = mnist.div %a, %b : tensor<3xi32>
  %pow = mnist.pow %a, %n : tensor<3xi32>
  %abs = mnist.abs %a : tensor<3xi32>
  return %div, %pow, %abs : tensor<3xi32>, tensor<3xi32>, tensor<3xi32>
}

// Repeated along other dimensions, or along the same.

// CHECK-LABEL: @repeated
// CHECK-DAG:     dense<{{\[}}[1.100000e+01, 2.100000e+01], [1.200000e+01, 2.200000e+01]]> : tensor<2x2xf32>
// CHECK-DAG:     dense<[1.100000e+01, 2.200000e+01]> : tensor<2xf32>
func.func @repeated() -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %a = mnist.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %b = mnist.constant dense<[10.0, 20.0]> : tensor<2xf32>
  %rows = mnist.broadcast %a along [0] : tensor<2xf32> -> tensor<2x2xf32>
  %same = mnist.broadcast %b along [0] : tensor<2xf32> -> tensor<2x2xf32>
  %columns = mnist.broadcast %b along [1] : tensor<2xf32> -> tensor<2x2xf32>
  %x = mnist.add %rows, %columns : tensor<2x2xf32>
  %y = mnist.add %rows, %same : tensor<2x2xf32>
  return %x, %y : tensor<2x2xf32>, tensor<2x2xf32>
}

// Bytes wrap around at 256.

// CHECK-LABEL: @bytes
// CHECK-DAG:     dense<[44, 3]> : tensor<2xui8>
// CHECK-DAG:     dense<[156, 255]> : tensor<2xui8>
func.func @bytes() -> (tensor<2xui8>, tensor<2xui8>) {
  %a = mnist.constant dense<[200, 1]> : tensor<2xui8>
  %b = mnist.constant dense<[100, 2]> : tensor<2xui8>
  %sum = mnist.add %a, %b : tensor<2xui8>
  %c = mnist.constant dense<[44, 2]> : tensor<2xui8>
  %d = mnist.sub %a, %c : tensor<2xui8>
  return %sum, %d : tensor<2xui8>, tensor<2xui8>
}

// NaN is neither larger nor smaller, but max and min pass it on.

// CHECK-LABEL: @not_a_number
// CHECK-DAG:     dense<0x7FC00000> : tensor<2xf32>
// CHECK-DAG:     dense<false> : tensor<2xi1>
// CHECK-DAG:     dense<true> : tensor<2xi1>
func.func @not_a_number() -> (tensor<2xf32>, tensor<2xi1>, tensor<2xi1>) {
  %a = mnist.constant dense<[0x7FC00000, 1.0]> : tensor<2xf32>
  %b = mnist.constant dense<[1.0, 0x7FC00000]> : tensor<2xf32>
  %max = mnist.max %a, %b : tensor<2xf32>
  %le = mnist.compare le %a, %b : tensor<2xf32> -> tensor<2xi1>
  %ne = mnist.compare ne %a, %b : tensor<2xf32> -> tensor<2xi1>
  return %max, %le, %ne : tensor<2xf32>, tensor<2xi1>, tensor<2xi1>
}

// Towards zero, and no further than the type goes.

// CHECK-LABEL: @casts
// CHECK-DAG:     dense<[-1, 2147483647, 0]> : tensor<3xi32>
// CHECK-DAG:     dense<[true, true, false]> : tensor<3xi1>
// CHECK-DAG:     dense<[1.000000e+00, 0.000000e+00]> : tensor<2xf64>
func.func @casts() -> (tensor<3xi32>, tensor<3xi1>, tensor<2xf64>) {
  %x = mnist.constant dense<[-1.5, 1.0e+20, 0x7FC00000]> : tensor<3xf32>
  %i = mnist.cast %x : tensor<3xf32> -> tensor<3xi32>
  %z = mnist.constant dense<[-1.5, 1.0e+20, 0.0]> : tensor<3xf32>
  %b = mnist.cast %z : tensor<3xf32> -> tensor<3xi1>
  %c = mnist.constant dense<[true, false]> : tensor<2xi1>
  %d = mnist.cast %c : tensor<2xi1> -> tensor<2xf64>
  return %i, %b, %d : tensor<3xi32>, tensor<3xi1>, tensor<2xf64>
}

// CHECK-LABEL: @booleans
// CHECK-DAG:     dense<[true, false, false, false]> : tensor<4xi1>
// CHECK-DAG:     dense<[false, true, true, true]> : tensor<4xi1>
// CHECK-DAG:     dense<[1, 4, 4, 4]> : tensor<4xi64>
func.func @booleans() -> (tensor<4xi1>, tensor<4xi1>, tensor<4xi64>) {
  %a = mnist.constant dense<[true, true, false, false]> : tensor<4xi1>
  %b = mnist.constant dense<[true, false, true, false]> : tensor<4xi1>
  %n = mnist.constant dense<[1, 2, 3, 0]> : tensor<4xi64>
  %four = mnist.constant dense<4> : tensor<4xi64>
  %and = mnist.and %a, %b : tensor<4xi1>
  %not = mnist.not %and : tensor<4xi1>
  %select = mnist.select %and, %n, %four : tensor<4xi1>, tensor<4xi64>
  return %and, %not, %select : tensor<4xi1>, tensor<4xi1>, tensor<4xi64>
}

// A choice between equal elements is one number, of whatever size.

// CHECK-LABEL: @splats
// CHECK:         mnist.constant dense<2> : tensor<1000000x1000000xi32>
func.func @splats() -> tensor<1000000x1000000xi32> {
  %c = mnist.constant dense<false> : tensor<1000000x1000000xi1>
  %a = mnist.constant dense<1> : tensor<1000000x1000000xi32>
  %b = mnist.constant dense<2> : tensor<1000000x1000000xi32>
  %y = mnist.select %c, %a, %b : tensor<1000000x1000000xi1>, tensor<1000000x1000000xi32>
  return %y : tensor<1000000x1000000xi32>
}
