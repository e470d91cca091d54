// RUN: mnist-opt %s | mnist-opt | FileCheck %s

// Ops are printed as they are read; examples.test has those of the .td files.

// CHECK-LABEL: @elementwise
// CHECK-NEXT:    %{{.*}} = mnist.abs %{{.*}} : tensor<64x10xf32>
// CHECK-NEXT:    %{{.*}} = mnist.elu %{{.*}} alpha 1.000000e+00 : tensor<64x10xf32>
// CHECK-NEXT:    %{{.*}} = mnist.erf %{{.*}} : tensor<64x10xf32>
// CHECK-NEXT:    %{{.*}} = mnist.exp %{{.*}} : tensor<64x10xf32>
// CHECK-NEXT:    %{{.*}} = mnist.log %{{.*}} : tensor<64x10xf32>
// CHECK-NEXT:    %{{.*}} = mnist.neg %{{.*}} : tensor<64x10xf32>
// CHECK-NEXT:    %{{.*}} = mnist.not %{{.*}} : tensor<64x10xi1>
// CHECK-NEXT:    %{{.*}} = mnist.relu %{{.*}} : tensor<64x128xf32>
// CHECK-NEXT:    %{{.*}} = mnist.sigmoid %{{.*}} : tensor<64x10xf32>
// CHECK-NEXT:    %{{.*}} = mnist.softplus %{{.*}} : tensor<64x10xf32>
// CHECK-NEXT:    %{{.*}} = mnist.sqrt %{{.*}} : tensor<64x10xf32>
// CHECK-NEXT:    %{{.*}} = mnist.tanh %{{.*}} : tensor<64x10xf32>
// CHECK-NEXT:    %{{.*}} = mnist.add %{{.*}}, %{{.*}} : tensor<64x10xf32>
// CHECK-NEXT:    %{{.*}} = mnist.and %{{.*}}, %{{.*}} : tensor<64x10xi1>
// CHECK-NEXT:    %{{.*}} = mnist.div %{{.*}}, %{{.*}} : tensor<64x10xf32>
// CHECK-NEXT:    %{{.*}} = mnist.max %{{.*}}, %{{.*}} : tensor<64x10xf32>
// CHECK-NEXT:    %{{.*}} = mnist.min %{{.*}}, %{{.*}} : tensor<64x10xf32>
// CHECK-NEXT:    %{{.*}} = mnist.mul %{{.*}}, %{{.*}} : tensor<64x10xf32>
// CHECK-NEXT:    %{{.*}} = mnist.or %{{.*}}, %{{.*}} : tensor<64x10xi1>
// CHECK-NEXT:    %{{.*}} = mnist.pow %{{.*}}, %{{.*}} : tensor<64x10xf32>
// CHECK-NEXT:    %{{.*}} = mnist.sub %{{.*}}, %{{.*}} : tensor<64x10xf32>
// CHECK-NEXT:    %{{.*}} = mnist.cast %{{.*}} : tensor<64xi64> -> tensor<64xf32>
// CHECK-NEXT:    %{{.*}} = mnist.compare gt %{{.*}}, %{{.*}} : tensor<64x10xf32> -> tensor<64x10xi1>
// CHECK-NEXT:    %{{.*}} = mnist.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<64x10xi1>, tensor<64x10xf32>
func.func @elementwise(%x0: tensor<64x10xf32>, %x1: tensor<64x128xf32>, %x2: tensor<64x10xi1>,
    %x3: tensor<64x10xf32>, %x4: tensor<64x10xi1>, %x5: tensor<64xi64>) {
  %y1 = mnist.abs %x0 : tensor<64x10xf32>
  %y2 = mnist.elu %x0 alpha 1.000000e+00 : tensor<64x10xf32>
  %y3 = mnist.erf %x0 : tensor<64x10xf32>
  %y4 = mnist.exp %x0 : tensor<64x10xf32>
  %y6 = mnist.log %x0 : tensor<64x10xf32>
  %y7 = mnist.neg %x0 : tensor<64x10xf32>
  %y8 = mnist.not %x2 : tensor<64x10xi1>
  %y9 = mnist.relu %x1 : tensor<64x128xf32>
  %y10 = mnist.sigmoid %x0 : tensor<64x10xf32>
  %y11 = mnist.softplus %x0 : tensor<64x10xf32>
  %y12 = mnist.sqrt %x0 : tensor<64x10xf32>
  %y13 = mnist.tanh %x0 : tensor<64x10xf32>
  %y14 = mnist.add %x0, %x3 : tensor<64x10xf32>
  %y15 = mnist.and %x2, %x4 : tensor<64x10xi1>
  %y16 = mnist.div %x0, %x3 : tensor<64x10xf32>
  %y17 = mnist.max %x0, %x3 : tensor<64x10xf32>
  %y18 = mnist.min %x0, %x3 : tensor<64x10xf32>
  %y19 = mnist.mul %x0, %x3 : tensor<64x10xf32>
  %y20 = mnist.or %x2, %x4 : tensor<64x10xi1>
  %y21 = mnist.pow %x0, %x3 : tensor<64x10xf32>
  %y22 = mnist.sub %x0, %x3 : tensor<64x10xf32>
  %y23 = mnist.cast %x5 : tensor<64xi64> -> tensor<64xf32>
  %y24 = mnist.compare gt %x0, %x3 : tensor<64x10xf32> -> tensor<64x10xi1>
  %y25 = mnist.select %x2, %x0, %x3 : tensor<64x10xi1>, tensor<64x10xf32>
  return
}

// CHECK-LABEL: @tensors
// CHECK-NEXT:    %{{.*}} = mnist.constant dense<1.000000e+00> : tensor<64x10xf32>
// CHECK-NEXT:    %{{.*}} = mnist.iota dim 1 : tensor<64x10xi64>
// CHECK-NEXT:    %{{.*}} = mnist.broadcast %{{.*}} along [1] : tensor<10xf32> -> tensor<64x10xf32>
// CHECK-NEXT:    %{{.*}} = mnist.concat %{{.*}}, %{{.*}} dim 1 : (tensor<2x3xf32>, tensor<2x5xf32>) -> tensor<2x8xf32>
// CHECK-NEXT:    %{{.*}} = mnist.gather %{{.*}}, %{{.*}} dim 0 : (tensor<9x3xf32>, tensor<4xi64>) -> tensor<4x3xf32>
// CHECK-NEXT:    %{{.*}} = mnist.pad constant %{{.*}} low [0, 1] value 2.500000e-01 : tensor<2x3xf32> -> tensor<2x5xf32>
// CHECK-NEXT:    %{{.*}} = mnist.reshape %{{.*}} : tensor<64x1x28x28xf32> -> tensor<64x784xf32>
// CHECK-NEXT:    %{{.*}} = mnist.slice %{{.*}} starts [0, 9] steps [1, -2] : tensor<4x10xf32> -> tensor<4x5xf32>
// CHECK-NEXT:    %{{.*}} = mnist.transpose %{{.*}} perm [1, 0] : tensor<64x10xf32> -> tensor<10x64xf32>
// CHECK-NEXT:    %{{.*}} = mnist.arg_max %{{.*}} over 1 : tensor<64x10xf32> -> tensor<64xi64>
// CHECK-NEXT:    %{{.*}} = mnist.reduce_max %{{.*}} over [1] : tensor<64x10xf32> -> tensor<64xf32>
// CHECK-NEXT:    %{{.*}} = mnist.reduce_min %{{.*}} over [1] : tensor<64x10xf32> -> tensor<64xf32>
// CHECK-NEXT:    %{{.*}} = mnist.reduce_sum %{{.*}} over [0] : tensor<64x10xf32> -> tensor<10xf32>
// CHECK-NEXT:    %{{.*}} = mnist.pad reflect %{{.*}} low [0, 1] : tensor<2x3xf32> -> tensor<2x5xf32>
// CHECK-NEXT:    %{{.*}} = mnist.pad edge %{{.*}} low [0, 1] : tensor<2x3xf32> -> tensor<2x5xf32>
// CHECK-NEXT:    %{{.*}} = mnist.pad wrap %{{.*}} low [0, 1] : tensor<2x3xf32> -> tensor<2x5xf32>
// CHECK-NEXT:    %{{.*}} = mnist.arg_max %{{.*}} over 1 last : tensor<64x10xf32> -> tensor<64xi32>
func.func @tensors(%x0: tensor<10xf32>, %x1: tensor<2x3xf32>, %x2: tensor<2x5xf32>,
    %x3: tensor<9x3xf32>, %x4: tensor<4xi64>, %x5: tensor<64x1x28x28xf32>,
    %x6: tensor<4x10xf32>, %x7: tensor<64x10xf32>) {
  %y1 = mnist.constant dense<1.000000e+00> : tensor<64x10xf32>
  %y2 = mnist.iota dim 1 : tensor<64x10xi64>
  %y3 = mnist.broadcast %x0 along [1] : tensor<10xf32> -> tensor<64x10xf32>
  %y4 = mnist.concat %x1, %x2 dim 1 : (tensor<2x3xf32>, tensor<2x5xf32>) -> tensor<2x8xf32>
  %y5 = mnist.gather %x3, %x4 dim 0 : (tensor<9x3xf32>, tensor<4xi64>) -> tensor<4x3xf32>
  %y6 = mnist.pad constant %x1 low [0, 1] value 2.500000e-01 : tensor<2x3xf32> -> tensor<2x5xf32>
  %y7 = mnist.reshape %x5 : tensor<64x1x28x28xf32> -> tensor<64x784xf32>
  %y8 = mnist.slice %x6 starts [0, 9] steps [1, -2] : tensor<4x10xf32> -> tensor<4x5xf32>
  %y9 = mnist.transpose %x7 perm [1, 0] : tensor<64x10xf32> -> tensor<10x64xf32>
  %y10 = mnist.arg_max %x7 over 1 : tensor<64x10xf32> -> tensor<64xi64>
  %y11 = mnist.reduce_max %x7 over [1] : tensor<64x10xf32> -> tensor<64xf32>
  %y12 = mnist.reduce_min %x7 over [1] : tensor<64x10xf32> -> tensor<64xf32>
  %y13 = mnist.reduce_sum %x7 over [0] : tensor<64x10xf32> -> tensor<10xf32>
  %y14 = mnist.pad reflect %x1 low [0, 1] : tensor<2x3xf32> -> tensor<2x5xf32>
  %y15 = mnist.pad edge %x1 low [0, 1] : tensor<2x3xf32> -> tensor<2x5xf32>
  %y16 = mnist.pad wrap %x1 low [0, 1] : tensor<2x3xf32> -> tensor<2x5xf32>
  %y17 = mnist.arg_max %x7 over 1 last : tensor<64x10xf32> -> tensor<64xi32>
  return
}

// CHECK-LABEL: @network
// CHECK-NEXT:    %{{.*}} = mnist.matmul %{{.*}}, %{{.*}} transposed [false, true] : (tensor<64x784xf32>, tensor<128x784xf32>) -> tensor<64x128xf32>
// CHECK-NEXT:    %{{.*}} = mnist.conv nchw %{{.*}}, %{{.*}} strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<64x1x28x28xf32>, tensor<8x1x5x5xf32>) -> tensor<64x8x24x24xf32>
// CHECK-NEXT:    %{{.*}} = mnist.conv_filter_grad nchw %{{.*}}, %{{.*}} strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<64x1x28x28xf32>, tensor<64x8x24x24xf32>) -> tensor<8x1x5x5xf32>
// CHECK-NEXT:    %{{.*}} = mnist.conv_input_grad nchw %{{.*}}, %{{.*}} strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<64x8x24x24xf32>, tensor<8x1x5x5xf32>) -> tensor<64x1x28x28xf32>
// CHECK-NEXT:    %{{.*}} = mnist.arg_max_pool nchw %{{.*}} kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] : tensor<64x8x24x24xf32> -> tensor<64x8x12x12xi64>
// CHECK-NEXT:    %{{.*}} = mnist.avg_pool nchw %{{.*}} kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] : tensor<64x8x24x24xf32> -> tensor<64x8x12x12xf32>
// CHECK-NEXT:    %{{.*}} = mnist.avg_pool_grad nchw %{{.*}} kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] : tensor<64x8x12x12xf32> -> tensor<64x8x24x24xf32>
// CHECK-NEXT:    %{{.*}} = mnist.max_pool nchw %{{.*}} kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] : tensor<64x8x24x24xf32> -> tensor<64x8x12x12xf32>
// CHECK-NEXT:    %{{.*}} = mnist.max_pool_grad nchw %{{.*}}, %{{.*}} kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] : (tensor<64x8x24x24xf32>, tensor<64x8x12x12xf32>) -> tensor<64x8x24x24xf32>
// CHECK-NEXT:    %{{.*}} = mnist.batch_norm %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} dim 1 epsilon 1.000000e-05 momentum 9.000000e-01 : tensor<64x8x24x24xf32>, tensor<8xf32>
// CHECK-NEXT:    %{{.*}} = mnist.dropout %{{.*}} ratio 5.000000e-01 : tensor<64x128xf32>
// CHECK-NEXT:    %{{.*}} = mnist.log_softmax %{{.*}} dim 1 : tensor<64x10xf32>
// CHECK-NEXT:    %{{.*}} = mnist.softmax %{{.*}} dim 1 : tensor<64x10xf32>
// CHECK-NEXT:    %{{.*}} = mnist.matmul %{{.*}}, %{{.*}} : (tensor<5x2x3xf64>, tensor<5x3x4xf64>) -> tensor<5x2x4xf64>
// CHECK-NEXT:    %{{.*}} = mnist.conv nhwc %{{.*}}, %{{.*}} strides [1] pads [0, 0] dilations [1] groups 3 : (tensor<1x8x3xf32>, tensor<6x5x1xf32>) -> tensor<1x4x6xf32>
// CHECK-NEXT:    %{{.*}} = mnist.arg_max_pool nhwc %{{.*}} kernel [2] strides [2] pads [0, 0] dilations [1] column_major : tensor<1x8x3xf32> -> tensor<1x4x3xi32>
// CHECK-NEXT:    %{{.*}} = mnist.avg_pool nhwc %{{.*}} kernel [2] strides [2] pads [1, 1] dilations [1] count_pads : tensor<1x8x3xf32> -> tensor<1x5x3xf32>
func.func @network(%x0: tensor<64x784xf32>, %x1: tensor<128x784xf32>, %x2: tensor<64x1x28x28xf32>,
    %x3: tensor<8x1x5x5xf32>, %x4: tensor<64x8x24x24xf32>,
    %x5: tensor<64x8x12x12xf32>, %x6: tensor<8xf32>, %x7: tensor<8xf32>,
    %x8: tensor<8xf32>, %x9: tensor<8xf32>, %x10: tensor<64x128xf32>,
    %x11: tensor<64x10xf32>, %x12: tensor<5x2x3xf64>, %x13: tensor<5x3x4xf64>,
    %x14: tensor<1x8x3xf32>, %x15: tensor<6x5x1xf32>) {
  %y1 = mnist.matmul %x0, %x1 transposed [false, true] : (tensor<64x784xf32>, tensor<128x784xf32>) -> tensor<64x128xf32>
  %y2 = mnist.conv nchw %x2, %x3 strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<64x1x28x28xf32>, tensor<8x1x5x5xf32>) -> tensor<64x8x24x24xf32>
  %y3 = mnist.conv_filter_grad nchw %x2, %x4 strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<64x1x28x28xf32>, tensor<64x8x24x24xf32>) -> tensor<8x1x5x5xf32>
  %y4 = mnist.conv_input_grad nchw %x4, %x3 strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<64x8x24x24xf32>, tensor<8x1x5x5xf32>) -> tensor<64x1x28x28xf32>
  %y5 = mnist.arg_max_pool nchw %x4 kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] : tensor<64x8x24x24xf32> -> tensor<64x8x12x12xi64>
  %y6 = mnist.avg_pool nchw %x4 kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] : tensor<64x8x24x24xf32> -> tensor<64x8x12x12xf32>
  %y7 = mnist.avg_pool_grad nchw %x5 kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] : tensor<64x8x12x12xf32> -> tensor<64x8x24x24xf32>
  %y8 = mnist.max_pool nchw %x4 kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] : tensor<64x8x24x24xf32> -> tensor<64x8x12x12xf32>
  %y9 = mnist.max_pool_grad nchw %x4, %x5 kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] : (tensor<64x8x24x24xf32>, tensor<64x8x12x12xf32>) -> tensor<64x8x24x24xf32>
  %y10 = mnist.batch_norm %x4, %x6, %x7, %x8, %x9 dim 1 epsilon 1.000000e-05 momentum 9.000000e-01 : tensor<64x8x24x24xf32>, tensor<8xf32>
  %y11 = mnist.dropout %x10 ratio 5.000000e-01 : tensor<64x128xf32>
  %y12 = mnist.log_softmax %x11 dim 1 : tensor<64x10xf32>
  %y13 = mnist.softmax %x11 dim 1 : tensor<64x10xf32>
  %y14 = mnist.matmul %x12, %x13 : (tensor<5x2x3xf64>, tensor<5x3x4xf64>) -> tensor<5x2x4xf64>
  %y15 = mnist.conv nhwc %x14, %x15 strides [1] pads [0, 0] dilations [1] groups 3 : (tensor<1x8x3xf32>, tensor<6x5x1xf32>) -> tensor<1x4x6xf32>
  %y16 = mnist.arg_max_pool nhwc %x14 kernel [2] strides [2] pads [0, 0] dilations [1] column_major : tensor<1x8x3xf32> -> tensor<1x4x3xi32>
  %y17 = mnist.avg_pool nhwc %x14 kernel [2] strides [2] pads [1, 1] dilations [1] count_pads : tensor<1x8x3xf32> -> tensor<1x5x3xf32>
  return
}
