// RUN: mnist-opt %s --split-input-file --verify-diagnostics

// The rest of MnistVerifiers.cpp: convolutions, pools, normalizations.

func.func @spatial(%x: tensor<1x3xf32>, %w: tensor<4x3xf32>) {
  // expected-error @below {{'mnist.conv' op expected 1 to 3 spatial dimensions, got 0}}
  %y = mnist.conv nchw %x, %w strides [] pads [] dilations [] groups 1
      : (tensor<1x3xf32>, tensor<4x3xf32>) -> tensor<1x4xf32>
  return
}

// -----

func.func @filter_rank(%x: tensor<1x3x8xf32>, %w: tensor<4x3x5x5xf32>) {
  // expected-error @below {{'mnist.conv' op expected 3 dimensions of the filter, got 4}}
  %y = mnist.conv nchw %x, %w strides [1] pads [0, 0] dilations [1] groups 1
      : (tensor<1x3x8xf32>, tensor<4x3x5x5xf32>) -> tensor<1x4x4xf32>
  return
}

// -----

func.func @output_rank(%x: tensor<1x3x8xf32>, %w: tensor<4x3x5xf32>) {
  // expected-error @below {{'mnist.conv' op expected 3 dimensions of the output, got 2}}
  %y = mnist.conv nchw %x, %w strides [1] pads [0, 0] dilations [1] groups 1
      : (tensor<1x3x8xf32>, tensor<4x3x5xf32>) -> tensor<1x4xf32>
  return
}

// -----

func.func @strides_count(%x: tensor<1x3x8xf32>, %w: tensor<4x3x5xf32>) {
  // expected-error @below {{'mnist.conv' op expected 1 strides, got 2}}
  %y = mnist.conv nchw %x, %w strides [1, 1] pads [0, 0] dilations [1] groups 1
      : (tensor<1x3x8xf32>, tensor<4x3x5xf32>) -> tensor<1x4x4xf32>
  return
}

// -----

func.func @pads_count(%x: tensor<1x3x8xf32>, %w: tensor<4x3x5xf32>) {
  // expected-error @below {{'mnist.conv' op expected 2 pads, got 1}}
  %y = mnist.conv nchw %x, %w strides [1] pads [0] dilations [1] groups 1
      : (tensor<1x3x8xf32>, tensor<4x3x5xf32>) -> tensor<1x4x4xf32>
  return
}

// -----

func.func @dilations_count(%x: tensor<1x3x8xf32>, %w: tensor<4x3x5xf32>) {
  // expected-error @below {{'mnist.conv' op expected 1 dilations, got 0}}
  %y = mnist.conv nchw %x, %w strides [1] pads [0, 0] dilations [] groups 1
      : (tensor<1x3x8xf32>, tensor<4x3x5xf32>) -> tensor<1x4x4xf32>
  return
}

// -----

func.func @stride(%x: tensor<1x3x8xf32>, %w: tensor<4x3x5xf32>) {
  // expected-error @below {{'mnist.conv' op expected strides of at least 1, got 0}}
  %y = mnist.conv nchw %x, %w strides [0] pads [0, 0] dilations [1] groups 1
      : (tensor<1x3x8xf32>, tensor<4x3x5xf32>) -> tensor<1x4x4xf32>
  return
}

// -----

func.func @dilation(%x: tensor<1x3x8xf32>, %w: tensor<4x3x5xf32>) {
  // expected-error @below {{'mnist.conv' op expected dilations of at least 1, got -1}}
  %y = mnist.conv nchw %x, %w strides [1] pads [0, 0] dilations [-1] groups 1
      : (tensor<1x3x8xf32>, tensor<4x3x5xf32>) -> tensor<1x4x4xf32>
  return
}

// -----

func.func @dilation_overflow(%x: tensor<1x3x8xf32>, %w: tensor<4x3x5xf32>) {
  // expected-error @below {{'mnist.conv' op expected dilations of at most 1048576, got 4611686018427387904}}
  %y = mnist.conv nchw %x, %w strides [1] pads [0, 0] dilations [4611686018427387904] groups 1
      : (tensor<1x3x8xf32>, tensor<4x3x5xf32>) -> tensor<1x4x4xf32>
  return
}

// -----

func.func @pads_overflow(%x: tensor<1x3x8xf32>) {
  // expected-error @below {{'mnist.max_pool' op expected pads of at most 1048576, got 9223372036854775807}}
  %y = mnist.max_pool nchw %x kernel [2] strides [2] pads [9223372036854775807, 1] dilations [1] : tensor<1x3x8xf32> -> tensor<1x3x4xf32>
  return
}

// -----

func.func @groups(%x: tensor<1x4x8xf32>, %w: tensor<6x1x5xf32>) {
  // expected-error @below {{'mnist.conv' op expected channels (4 in, 6 out) that are multiples of the groups (4)}}
  %y = mnist.conv nchw %x, %w strides [1] pads [0, 0] dilations [1] groups 4
      : (tensor<1x4x8xf32>, tensor<6x1x5xf32>) -> tensor<1x6x4xf32>
  return
}

// -----

func.func @no_groups(%x: tensor<1x4x8xf32>, %w: tensor<6x1x5xf32>) {
  // expected-error @below {{'mnist.conv' op expected groups of at least 1, got 0}}
  %y = mnist.conv nchw %x, %w strides [1] pads [0, 0] dilations [1] groups 0
      : (tensor<1x4x8xf32>, tensor<6x1x5xf32>) -> tensor<1x6x4xf32>
  return
}

// -----

func.func @filter_channels(%x: tensor<1x8x3xf32>, %w: tensor<4x3x5xf32>) {
  // expected-error @below {{'mnist.conv' op expected as many channels in the filter (5) as in a group of the input (3), reading both as nhwc}}
  %y = mnist.conv nhwc %x, %w strides [1] pads [0, 0] dilations [1] groups 1
      : (tensor<1x8x3xf32>, tensor<4x3x5xf32>) -> tensor<1x4x4xf32>
  return
}

// -----

func.func @output(%x: tensor<1x3x8xf32>, %w: tensor<4x3x5xf32>) {
  // expected-error @below {{'mnist.conv' op expected an output of batch 1 and 4 channels, got 2 and 4}}
  %y = mnist.conv nchw %x, %w strides [1] pads [0, 0] dilations [1] groups 1
      : (tensor<1x3x8xf32>, tensor<4x3x5xf32>) -> tensor<2x4x4xf32>
  return
}

// -----

func.func @output_size(%x: tensor<1x3x8xf32>, %w: tensor<4x3x5xf32>) {
  // expected-error @below {{'mnist.conv' op expected size 4 in spatial dimension 0 of the output, got 5}}
  %y = mnist.conv nchw %x, %w strides [1] pads [0, 0] dilations [1] groups 1
      : (tensor<1x3x8xf32>, tensor<4x3x5xf32>) -> tensor<1x4x5xf32>
  return
}

// -----

func.func @pool_spatial(%x: tensor<1x3xf32>) {
  // expected-error @below {{'mnist.max_pool' op expected 1 to 3 spatial dimensions, got 0}}
  %y = mnist.max_pool nchw %x kernel [] strides [] pads [] dilations [] : tensor<1x3xf32> -> tensor<1x3xf32>
  return
}

// -----

func.func @kernel_count(%x: tensor<1x3x8xf32>) {
  // expected-error @below {{'mnist.avg_pool' op expected 1 kernel sizes, got 2}}
  %y = mnist.avg_pool nchw %x kernel [2, 2] strides [2] pads [0, 0] dilations [1] : tensor<1x3x8xf32> -> tensor<1x3x4xf32>
  return
}

// -----

func.func @pool_output(%x: tensor<1x3x8xf32>) {
  // expected-error @below {{'mnist.max_pool' op expected an output of batch 1 and 3 channels, got 1 and 2}}
  %y = mnist.max_pool nchw %x kernel [2] strides [2] pads [0, 0] dilations [1] : tensor<1x3x8xf32> -> tensor<1x2x4xf32>
  return
}

// -----

func.func @pool_numbers(%x: tensor<1x3x8xf32>) {
  // expected-error @below {{'mnist.max_pool' op expected kernel sizes of at least 1, got 0}}
  %y = mnist.max_pool nchw %x kernel [0] strides [2] pads [0, 0] dilations [1] : tensor<1x3x8xf32> -> tensor<1x3x4xf32>
  return
}

// -----

func.func @pool_size(%x: tensor<1x3x8xf32>) {
  // expected-error @below {{'mnist.max_pool' op expected size 4 or 5 in spatial dimension 0 of the output, got 6}}
  %y = mnist.max_pool nchw %x kernel [2] strides [2] pads [0, 0] dilations [1] : tensor<1x3x8xf32> -> tensor<1x3x6xf32>
  return
}

// -----

func.func @batch_norm(%x: tensor<1x3x8xf32>, %s: tensor<8xf32>) {
  // expected-error @below {{'mnist.batch_norm' op expected 3 numbers for the channels, got 8}}
  %y = mnist.batch_norm %x, %s, %s, %s, %s dim 1 epsilon 1.0e-05 momentum 9.0e-01 : tensor<1x3x8xf32>, tensor<8xf32>
  return
}

// -----

func.func @index_type(%x: tensor<1x3x8xf32>) {
  // expected-error @below {{'mnist.arg_max_pool' op expected indices that are integers, got 'f32'}}
  %y = mnist.arg_max_pool nchw %x kernel [2] strides [2] pads [0, 0] dilations [1] : tensor<1x3x8xf32> -> tensor<1x3x4xf32>
  return
}

// -----

func.func @index_bytes(%x: tensor<1x3x8xf32>) {
  // expected-error @below {{'mnist.arg_max_pool' op expected ui8 only for windows of at most 256 elements and indices into them}}
  %y = mnist.arg_max_pool nchw %x kernel [2] strides [2] pads [0, 0] dilations [1] : tensor<1x3x8xf32> -> tensor<1x3x4xui8>
  return
}

// -----

func.func @index_windows(%x: tensor<1x3x8xf32>) {
  // expected-error @below {{'mnist.arg_max_pool' op expected row-major indices into windows that are next to each other, without padding or dilations}}
  %y = mnist.arg_max_pool nchw %x kernel [2] strides [1] pads [0, 0] dilations [1] in_window : tensor<1x3x8xf32> -> tensor<1x3x7xui8>
  return
}

// -----

func.func @unpool_indices(%x: tensor<1x3x4xf32>, %i: tensor<1x3x5xui8>) {
  // expected-error @below {{'mnist.max_unpool' op expected an index for each value, got 'tensor<1x3x5xui8>'}}
  %y = mnist.max_unpool nchw %x, %i kernel [2] strides [2] pads [0, 0] dilations [1] : (tensor<1x3x4xf32>, tensor<1x3x5xui8>) -> tensor<1x3x8xf32>
  return
}

// -----

func.func @images_and_result(%x: tensor<1x3x4xbf16>, %w: tensor<2x3x1xf32>) -> tensor<1x2x4xf64> {
  // expected-error @below {{'mnist.conv' op expected a result of f32, got 'f64'}}
  %y = mnist.conv nchw %x, %w strides [1] pads [0, 0] dilations [1] groups 1 : (tensor<1x3x4xbf16>, tensor<2x3x1xf32>) -> tensor<1x2x4xf64>
  return %y : tensor<1x2x4xf64>
}

// -----

func.func @filter_and_rounded_result(%x: tensor<1x3x4xbf16>, %w: tensor<2x3x1xf32>) -> tensor<1x2x4xbf16> {
  // expected-error @below {{'mnist.conv' op expected a result of 'f32', got 'bf16'}}
  %y = mnist.conv nchw %x, %w strides [1] pads [0, 0] dilations [1] groups 1 : (tensor<1x3x4xbf16>, tensor<2x3x1xf32>) -> tensor<1x2x4xbf16>
  return %y : tensor<1x2x4xbf16>
}

// -----

func.func @values_and_elements(%x: tensor<1x3x4xbf16>, %i: tensor<1x3x4xui8>) -> tensor<1x3x8xf32> {
  // expected-error @below {{'mnist.max_unpool' op expected a result of 'bf16', got 'f32'}}
  %y = mnist.max_unpool nchw %x, %i kernel [2] strides [2] pads [0, 0] dilations [1] : (tensor<1x3x4xbf16>, tensor<1x3x4xui8>) -> tensor<1x3x8xf32>
  return %y : tensor<1x3x8xf32>
}

// -----

func.func @unpool_index_type(%x: tensor<1x3x4xf32>) {
  // expected-error @below {{'mnist.max_unpool' op expected indices that are integers, got 'f32'}}
  %y = mnist.max_unpool nchw %x, %x kernel [2] strides [2] pads [0, 0] dilations [1] : (tensor<1x3x4xf32>, tensor<1x3x4xf32>) -> tensor<1x3x8xf32>
  return
}

// -----

func.func @unpool_windows(%x: tensor<1x3x4xf32>, %i: tensor<1x3x4xui8>) {
  // expected-error @below {{'mnist.max_unpool' op expected windows that are next to each other, without padding or dilations}}
  %y = mnist.max_unpool nchw %x, %i kernel [2] strides [2] pads [1, 1] dilations [1] : (tensor<1x3x4xf32>, tensor<1x3x4xui8>) -> tensor<1x3x6xf32>
  return
}
