// RUN: mnist-opt %s --plan-form-steps --plan-select-implementations=precision=strict \
// RUN:   --plan-assign-memory --plan-check-steps --mlir-print-debuginfo -o %t.plan.mlir
// RUN: %mnistc %t.plan.mlir --explain -o - | FileCheck %s
// RUN: %mnistc %t.plan.mlir --explain=json -o - | FileCheck %s --check-prefix=JSON

// A node is the owner of a step, a part of one, or gone. Costs are said once.

// CHECK-LABEL:infer for cuda
// CHECK:      node            operator   step  runs as {{ *}}result {{ *}}layout {{ *}}FLOPs {{ *}}bytes
// CHECK-NEXT: {{^-+$}}
// CHECK-NEXT: {{^}}/fc/Transpose   Transpose        folded into constants: known at compile time
// CHECK-NEXT: {{^}}/conv1/Conv     Conv          1  {{[a-z]+}} conv + bias + relu {{ *}}64x8x24x24  nchw    15,335,424  1,381,184
// CHECK-NEXT: {{^}}/relu1/Relu     Relu          1  fused into it
// CHECK-NEXT: {{^}}/pool1/MaxPool  MaxPool       2  kernel max_pool {{ *}}64x8x12x12  nchw       294,912  1,474,560
// CHECK-NEXT: {{^}}/Flatten        Flatten       3  no operation: same bytes, other shape
// CHECK-NEXT: {{^}}/fc/Gemm        Gemm          3  kernel matmul {{ *}}64x10 {{ *}}1,474,560    343,552
// CHECK-NEXT: {{^-+$}}
// CHECK-NEXT: {{^}}total {{ *}}3 {{ *}}17,104,896  3,199,296
// CHECK:      {{^}}memory: 1,474,560 bytes of arena, 47,360 of constants, 0 for libraries
// CHECK:      {{^}}step 3 on kernel: cublas is profitable for 4096 or more results, here 640;
// CHECK-NEXT: {{^}}    next choice of the target

// JSON-LABEL: "node": "/conv1/Conv"
// JSON:         "outputs": [
// JSON-NEXT:      "conv1_out"
// JSON-NEXT:    ]
// JSON-NEXT:    "became": "step"
// JSON-LABEL: "node": "/Flatten"
// JSON:         "became": "no operation"
// JSON-NEXT:    "why": "same bytes, other shape"
// JSON-LABEL: "name": "relu1_out"
// JSON:         "runs_as": "{{[a-z]+}} conv + bias + relu"
// JSON-NEXT:    "why": "{{.*}}choice of the target"
// JSON-NEXT:    "result": "64x8x24x24xf32"
// JSON-NEXT:    "layout": "nchw"
// JSON-NEXT:    "flops": 15335424
// JSON-NEXT:    "bytes": 1381184

#conv = loc("conv1_out"("/conv1/Conv"("Conv")))
#relu = loc("relu1_out"("/relu1/Relu"("Relu")))
#pool = loc("pool1_out"("/pool1/MaxPool"("MaxPool")))
#flatten = loc("flat"("/Flatten"("Flatten")))
#gemm = loc("logits"("/fc/Gemm"("Gemm")))
#transpose = loc("w_t"("/fc/Transpose"("Transpose")))

func.func @infer(%image: tensor<64x1x28x28xf32> {mnist.name = "image"}) -> (tensor<64x10xf32> {mnist.name = "logits"}) {
  %w1 = mnist.constant dense<0.5> : tensor<8x1x5x5xf32>
  %b1 = mnist.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<8xf32>
  %w2 = mnist.constant dense<0.25> : tensor<1152x10xf32> loc(#transpose)
  %c = mnist.conv nchw %image, %w1 strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1
      : (tensor<64x1x28x28xf32>, tensor<8x1x5x5xf32>) -> tensor<64x8x24x24xf32> loc(#conv)
  %b = mnist.broadcast %b1 along [1] : tensor<8xf32> -> tensor<64x8x24x24xf32> loc(#conv)
  %s = mnist.add %c, %b : tensor<64x8x24x24xf32> loc(#conv)
  %r = mnist.relu %s : tensor<64x8x24x24xf32> loc(#relu)
  %p = mnist.max_pool nchw %r kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1]
      : tensor<64x8x24x24xf32> -> tensor<64x8x12x12xf32> loc(#pool)
  %f = mnist.reshape %p : tensor<64x8x12x12xf32> -> tensor<64x1152xf32> loc(#flatten)
  %y = mnist.matmul %f, %w2 : (tensor<64x1152xf32>, tensor<1152x10xf32>) -> tensor<64x10xf32> loc(#gemm)
  return %y : tensor<64x10xf32>
}
