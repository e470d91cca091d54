// RUN: mnist-opt %s --split-input-file --verify-diagnostics

// One case for every sentence in MnistVerifiers.cpp, in its order. Sentences
// that several ops share are said by one of them.

func.func @shape(%x: tensor<2x3xf32>) {
  // expected-error @below {{'mnist.transpose' op expected a result of shape 3x2, got 2x3}}
  %y = mnist.transpose %x perm [1, 0] : tensor<2x3xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @scalar_shape(%x: tensor<3xf32>) {
  // expected-error @below {{'mnist.reduce_sum' op expected a result of shape a scalar, got 1}}
  %y = mnist.reduce_sum %x over [0] : tensor<3xf32> -> tensor<1xf32>
  return
}

// -----

func.func @element_type(%x: tensor<2xf32>) {
  // expected-error @below {{'mnist.reshape' op expected a result of 'f32', got 'i32'}}
  %y = mnist.reshape %x : tensor<2xf32> -> tensor<2xi32>
  return
}

// -----

func.func @count(%x: tensor<2xf32>) {
  // expected-error @below {{'mnist.broadcast' op expected 1 dimensions, got 2}}
  %y = mnist.broadcast %x along [0, 1] : tensor<2xf32> -> tensor<2x2xf32>
  return
}

// -----

func.func @dim() {
  // expected-error @below {{'mnist.iota' op expected a dimension below 1, got 1}}
  %y = mnist.iota dim 1 : tensor<2xi64>
  return
}

// -----

func.func @negative_dim(%x: tensor<2xf32>) {
  // expected-error @below {{'mnist.softmax' op expected a dimension below 1, got -1}}
  %y = mnist.softmax %x dim -1 : tensor<2xf32>
  return
}

// -----

func.func @log_softmax_dim(%x: tensor<2xf32>) {
  // expected-error @below {{'mnist.log_softmax' op expected a dimension below 1, got 2}}
  %y = mnist.log_softmax %x dim 2 : tensor<2xf32>
  return
}

// -----

func.func @ascending(%x: tensor<2x3xf32>) {
  // expected-error @below {{'mnist.reduce_max' op expected ascending dimensions, got 0 after 1}}
  %y = mnist.reduce_max %x over [1, 0] : tensor<2x3xf32> -> tensor<f32>
  return
}

// -----

func.func @too_many_elements(%x: tensor<2xf32>) {
  // expected-error @below {{'mnist.broadcast' op result #0 must be statically shaped tensor of at most 2^40 elements of}}
  %y = mnist.broadcast %x along [0] : tensor<2xf32> -> tensor<2x0x4611686018427387904xf32>
  return
}

// -----

func.func @broadcast_size(%x: tensor<2xf32>) {
  // expected-error @below {{'mnist.broadcast' op expected result dimension 1 to have size 2, got 3}}
  %y = mnist.broadcast %x along [1] : tensor<2xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @concat_nothing() {
  // expected-error @below {{'mnist.concat' op expected at least one operand}}
  %y = mnist.concat dim 0 : () -> tensor<2xf32>
  return
}

// -----

func.func @concat_sizes(%a: tensor<2x3xf32>, %b: tensor<4x3xf32>) {
  // expected-error @below {{'mnist.concat' op expected operands that differ in dimension 1 only, got 2x3 and 4x3}}
  %y = mnist.concat %a, %b dim 1 : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x6xf32>
  return
}

// -----

func.func @low_numbers(%x: tensor<3xf32>) {
  // expected-error @below {{'mnist.pad' op expected 1 low numbers, got 2}}
  %y = mnist.pad constant %x low [0, 0] value 0.0 : tensor<3xf32> -> tensor<4xf32>
  return
}

// -----

func.func @reflect_too_far(%x: tensor<3xf32>) {
  // expected-error @below {{'mnist.pad' op expected at most 2 elements on each side of dimension 0, got 3 and 1}}
  %y = mnist.pad reflect %x low [3] : tensor<3xf32> -> tensor<7xf32>
  return
}

// -----

func.func @low_numbers_too_low(%x: tensor<3xf32>) {
  // expected-error @below {{'mnist.pad' op expected low numbers of at least -1099511627776, got -2000000000000}}
  %y = mnist.pad constant %x low [-2000000000000] value 0.0 : tensor<3xf32> -> tensor<4xf32>
  return
}

// -----

func.func @elements(%x: tensor<2x3xf32>) {
  // expected-error @below {{'mnist.reshape' op expected 6 elements, got 5}}
  %y = mnist.reshape %x : tensor<2x3xf32> -> tensor<5xf32>
  return
}

// -----

func.func @starts(%x: tensor<3xf32>) {
  // expected-error @below {{'mnist.slice' op expected 1 starts, got 2}}
  %y = mnist.slice %x starts [0, 0] steps [1] : tensor<3xf32> -> tensor<3xf32>
  return
}

// -----

func.func @steps(%x: tensor<3xf32>) {
  // expected-error @below {{'mnist.slice' op expected 1 steps, got 0}}
  %y = mnist.slice %x starts [0] steps [] : tensor<3xf32> -> tensor<3xf32>
  return
}

// -----

func.func @indices(%x: tensor<3xf32>) {
  // expected-error @below {{'mnist.slice' op expected indices below 3 in dimension 0, got 2 to -1}}
  %y = mnist.slice %x starts [2] steps [-1] : tensor<3xf32> -> tensor<4xf32>
  return
}

// -----

func.func @indices_overflow(%x: tensor<3xf32>) {
  // expected-error @below {{'mnist.slice' op expected indices below 3 in dimension 0, got 2 to 9223372036854775807}}
  %y = mnist.slice %x starts [2] steps [4611686018427387904] : tensor<3xf32> -> tensor<4xf32>
  return
}

// -----

func.func @permutation(%x: tensor<3x3xf32>) {
  // expected-error @below {{'mnist.transpose' op expected a permutation, got 1 twice}}
  %y = mnist.transpose %x perm [1, 1] : tensor<3x3xf32> -> tensor<3x3xf32>
  return
}

// -----

func.func @arg_max_of_nothing(%x: tensor<2x0xf32>) {
  // expected-error @below {{'mnist.arg_max' op expected a dimension that is not empty}}
  %y = mnist.arg_max %x over 1 : tensor<2x0xf32> -> tensor<2xi64>
  return
}

// -----

func.func @transposed(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) {
  // expected-error @below {{'mnist.matmul' op expected 2 numbers in transposed, got 1}}
  %y = mnist.matmul %a, %b transposed [true] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @ranks(%a: tensor<2x3xf32>, %b: tensor<3xf32>) {
  // expected-error @below {{'mnist.matmul' op expected two operands of rank 2 or two of rank 3, got ranks 2 and 1}}
  %y = mnist.matmul %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @matrices(%a: tensor<2x3x4xf32>, %b: tensor<1x4x5xf32>) {
  // expected-error @below {{'mnist.matmul' op expected as many matrices on the right (1) as on the left (2)}}
  %y = mnist.matmul %a, %b : (tensor<2x3x4xf32>, tensor<1x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

func.func @rows(%a: tensor<2x3xf32>, %b: tensor<4x3xf32>) {
  // expected-error @below {{'mnist.matmul' op expected as many rows on the right (4) as columns on the left (3)}}
  %y = mnist.matmul %a, %b : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// Only memory knows bf16.

func.func @bf16_arithmetic(%x: tensor<2xbf16>) -> tensor<2xbf16> {
  // expected-error @below {{'mnist.neg' op operand #0 must be statically shaped tensor}}
  %y = mnist.neg %x : tensor<2xbf16>
  return %y : tensor<2xbf16>
}

// -----

func.func @bf16_product(%a: tensor<2x3xbf16>, %b: tensor<3x4xbf16>) -> tensor<2x4xf64> {
  // expected-error @below {{'mnist.matmul' op expected a result of f32, got 'f64'}}
  %y = mnist.matmul %a, %b : (tensor<2x3xbf16>, tensor<3x4xbf16>) -> tensor<2x4xf64>
  return %y : tensor<2x4xf64>
}

// -----

func.func @half_rounded(%a: tensor<2x3xbf16>, %b: tensor<3x4xf32>) -> tensor<2x4xbf16> {
  // expected-error @below {{'mnist.matmul' op expected a result of 'f32', got 'bf16'}}
  %y = mnist.matmul %a, %b : (tensor<2x3xbf16>, tensor<3x4xf32>) -> tensor<2x4xbf16>
  return %y : tensor<2x4xbf16>
}
