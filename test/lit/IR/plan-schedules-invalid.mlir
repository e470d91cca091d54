// RUN: mnist-opt %s --split-input-file --verify-diagnostics

// Schedules of products that no kernel can run: with the convolutions of the
// file next to it a case for every sentence in CheckSchedule.cpp.

func.func @tile_of_two(%x: tensor<64x600xf32>, %y: tensor<600x80xf32>) {
  // expected-error @below {{expected a tile of three numbers and warps of two, got 2 and 2}}
  %z = plan.step "z" on kernel schedule(#plan.product<tile = [64, 64]>) (%x, %y) {
  ^bb0(%a: tensor<64x600xf32>, %b: tensor<600x80xf32>):
    %0 = mnist.matmul %a, %b : (tensor<64x600xf32>, tensor<600x80xf32>) -> tensor<64x80xf32>
    plan.yield %0 : tensor<64x80xf32>
  } : (tensor<64x600xf32>, tensor<600x80xf32>) -> tensor<64x80xf32>
  return
}

// -----

func.func @no_tile(%x: tensor<64x600xf32>, %y: tensor<600x80xf32>) {
  // expected-error @below {{expected a tile with warps and split, got none}}
  %z = plan.step "z" on kernel schedule(#plan.product<warps = [2, 1]>) (%x, %y) {
  ^bb0(%a: tensor<64x600xf32>, %b: tensor<600x80xf32>):
    %0 = mnist.matmul %a, %b : (tensor<64x600xf32>, tensor<600x80xf32>) -> tensor<64x80xf32>
    plan.yield %0 : tensor<64x80xf32>
  } : (tensor<64x600xf32>, tensor<600x80xf32>) -> tensor<64x80xf32>
  return
}

// -----

func.func @zero(%x: tensor<64x600xf32>, %y: tensor<600x80xf32>) {
  // expected-error @below {{expected numbers from 1 to 4096 in a schedule, got 0}}
  %z = plan.step "z" on kernel schedule(#plan.product<tile = [0, 32, 16]>) (%x, %y) {
  ^bb0(%a: tensor<64x600xf32>, %b: tensor<600x80xf32>):
    %0 = mnist.matmul %a, %b : (tensor<64x600xf32>, tensor<600x80xf32>) -> tensor<64x80xf32>
    plan.yield %0 : tensor<64x80xf32>
  } : (tensor<64x600xf32>, tensor<600x80xf32>) -> tensor<64x80xf32>
  return
}

// -----

func.func @of_a_library(%x: tensor<64x600xf32>, %y: tensor<600x80xf32>) {
  // expected-error @below {{expected only what multiplies in the schedule of a step on cublas, got product, tile 64x32x16}}
  %z = plan.step "z" on cublas schedule(#plan.product<tile = [64, 32, 16]>) (%x, %y) {
  ^bb0(%a: tensor<64x600xf32>, %b: tensor<600x80xf32>):
    %0 = mnist.matmul %a, %b : (tensor<64x600xf32>, tensor<600x80xf32>) -> tensor<64x80xf32>
    plan.yield %0 : tensor<64x80xf32>
  } : (tensor<64x600xf32>, tensor<600x80xf32>) -> tensor<64x80xf32>
  return
}

// -----

func.func @columns_of_a_matmul(%x: tensor<64x600xf32>, %y: tensor<600x80xf32>) {
  // expected-error @below {{expected a schedule for 'mnist.matmul', got columns, height 2}}
  %z = plan.step "z" on kernel schedule(#plan.columns<height = 2>) (%x, %y) {
  ^bb0(%a: tensor<64x600xf32>, %b: tensor<600x80xf32>):
    %0 = mnist.matmul %a, %b : (tensor<64x600xf32>, tensor<600x80xf32>) -> tensor<64x80xf32>
    plan.yield %0 : tensor<64x80xf32>
  } : (tensor<64x600xf32>, tensor<600x80xf32>) -> tensor<64x80xf32>
  return
}

// -----

func.func @threads(%x: tensor<64x600xf32>, %y: tensor<600x80xf32>) {
  // expected-error @below {{expected at most 1024 threads, got 2048}}
  %z = plan.step "z" on kernel schedule(#plan.product<tile = [64, 64, 16], warps = [64, 1]>) (%x, %y) {
  ^bb0(%a: tensor<64x600xf32>, %b: tensor<600x80xf32>):
    %0 = mnist.matmul %a, %b : (tensor<64x600xf32>, tensor<600x80xf32>) -> tensor<64x80xf32>
    plan.yield %0 : tensor<64x80xf32>
  } : (tensor<64x600xf32>, tensor<600x80xf32>) -> tensor<64x80xf32>
  return
}

// -----

func.func @ffma_warps(%x: tensor<64x600xf32>, %y: tensor<600x80xf32>) {
  // expected-error @below {{expected warps along m only that divide the tile, a multiple of 32 along n and one slice, got tile = [64, 64, 16], warps = [2, 2]}}
  %z = plan.step "z" on kernel schedule(#plan.product<tile = [64, 64, 16], warps = [2, 2]>) (%x, %y) {
  ^bb0(%a: tensor<64x600xf32>, %b: tensor<600x80xf32>):
    %0 = mnist.matmul %a, %b : (tensor<64x600xf32>, tensor<600x80xf32>) -> tensor<64x80xf32>
    plan.yield %0 : tensor<64x80xf32>
  } : (tensor<64x600xf32>, tensor<600x80xf32>) -> tensor<64x80xf32>
  return
}

// -----

func.func @ffma_slices(%x: tensor<64x600xf32>, %y: tensor<600x80xf32>) {
  // expected-error @below {{expected warps along m only that divide the tile, a multiple of 32 along n and one slice, got tile = [64, 64, 16], warps = [8, 1], slices = 2}}
  %z = plan.step "z" on kernel schedule(#plan.product<tile = [64, 64, 16], warps = [8, 1], slices = 2>) (%x, %y) {
  ^bb0(%a: tensor<64x600xf32>, %b: tensor<600x80xf32>):
    %0 = mnist.matmul %a, %b : (tensor<64x600xf32>, tensor<600x80xf32>) -> tensor<64x80xf32>
    plan.yield %0 : tensor<64x80xf32>
  } : (tensor<64x600xf32>, tensor<600x80xf32>) -> tensor<64x80xf32>
  return
}

// -----

func.func @mma_slices(%x: tensor<64x600xf32>, %y: tensor<600x80xf32>) {
  // expected-error @below {{expected 1 to 8 slices, got 16}}
  %z = plan.step "z" on kernel schedule(#plan.product<mma = tf32, tile = [16, 16, 16], slices = 16>) (%x, %y) {
  ^bb0(%a: tensor<64x600xf32>, %b: tensor<600x80xf32>):
    %0 = mnist.matmul %a, %b : (tensor<64x600xf32>, tensor<600x80xf32>) -> tensor<64x80xf32>
    plan.yield %0 : tensor<64x80xf32>
  } : (tensor<64x600xf32>, tensor<600x80xf32>) -> tensor<64x80xf32>
  return
}

// -----

func.func @no_slices(%x: tensor<64x600xf32>, %y: tensor<600x80xf32>) {
  // expected-error @below {{expected 1 to 8 slices, got 0}}
  %z = plan.step "z" on kernel schedule(#plan.product<mma = tf32, tile = [16, 16, 16], slices = 0>) (%x, %y) {
  ^bb0(%a: tensor<64x600xf32>, %b: tensor<600x80xf32>):
    %0 = mnist.matmul %a, %b : (tensor<64x600xf32>, tensor<600x80xf32>) -> tensor<64x80xf32>
    plan.yield %0 : tensor<64x80xf32>
  } : (tensor<64x600xf32>, tensor<600x80xf32>) -> tensor<64x80xf32>
  return
}

// -----

func.func @mma_shared_of_slices(%x: tensor<64x600xf32>, %y: tensor<600x80xf32>) {
  // expected-error @below {{expected a tile that needs at most 99328 bytes of shared memory, got 133120}}
  %z = plan.step "z" on kernel schedule(#plan.product<mma = tf32x3, tile = [64, 64, 32], warps = [4, 1], slices = 2>) (%x, %y) {
  ^bb0(%a: tensor<64x600xf32>, %b: tensor<600x80xf32>):
    %0 = mnist.matmul %a, %b : (tensor<64x600xf32>, tensor<600x80xf32>) -> tensor<64x80xf32>
    plan.yield %0 : tensor<64x80xf32>
  } : (tensor<64x600xf32>, tensor<600x80xf32>) -> tensor<64x80xf32>
  return
}

// -----

func.func @ffma_results(%x: tensor<64x600xf32>, %y: tensor<600x80xf32>) {
  // expected-error @below {{expected at most 64 results a thread and 64 terms at a time, got 128 and 16}}
  %z = plan.step "z" on kernel schedule(#plan.product<tile = [64, 64, 16], warps = [1, 1]>) (%x, %y) {
  ^bb0(%a: tensor<64x600xf32>, %b: tensor<600x80xf32>):
    %0 = mnist.matmul %a, %b : (tensor<64x600xf32>, tensor<600x80xf32>) -> tensor<64x80xf32>
    plan.yield %0 : tensor<64x80xf32>
  } : (tensor<64x600xf32>, tensor<600x80xf32>) -> tensor<64x80xf32>
  return
}

// -----

func.func @ffma_shared(%x: tensor<64x600xf32>, %y: tensor<600x80xf32>) {
  // expected-error @below {{expected a tile that needs at most 49152 bytes of shared memory, got 66816}}
  %z = plan.step "z" on kernel schedule(#plan.product<tile = [128, 128, 64], warps = [32, 1]>) (%x, %y) {
  ^bb0(%a: tensor<64x600xf32>, %b: tensor<600x80xf32>):
    %0 = mnist.matmul %a, %b : (tensor<64x600xf32>, tensor<600x80xf32>) -> tensor<64x80xf32>
    plan.yield %0 : tensor<64x80xf32>
  } : (tensor<64x600xf32>, tensor<600x80xf32>) -> tensor<64x80xf32>
  return
}

// -----

func.func @mma_multiples(%x: tensor<64x600xf32>, %y: tensor<600x80xf32>) {
  // expected-error @below {{expected multiples of 16 for each warp and of 16 along k, got tile = [64, 64, 24], warps = [4, 1]}}
  %z = plan.step "z" on kernel schedule(#plan.product<mma = bf16, tile = [64, 64, 24], warps = [4, 1]>) (%x, %y) {
  ^bb0(%a: tensor<64x600xf32>, %b: tensor<600x80xf32>):
    %0 = mnist.matmul %a, %b : (tensor<64x600xf32>, tensor<600x80xf32>) -> tensor<64x80xf32>
    plan.yield %0 : tensor<64x80xf32>
  } : (tensor<64x600xf32>, tensor<600x80xf32>) -> tensor<64x80xf32>
  return
}

// -----

func.func @mma_rows(%x: tensor<64x600xf32>, %y: tensor<600x80xf32>) {
  // expected-error @below {{expected a tile that 128 threads bring in whole rows, got tile = [96, 32, 16], warps = [2, 2]}}
  %z = plan.step "z" on kernel schedule(#plan.product<mma = tf32x3, tile = [96, 32, 16], warps = [2, 2]>) (%x, %y) {
  ^bb0(%a: tensor<64x600xf32>, %b: tensor<600x80xf32>):
    %0 = mnist.matmul %a, %b : (tensor<64x600xf32>, tensor<600x80xf32>) -> tensor<64x80xf32>
    plan.yield %0 : tensor<64x80xf32>
  } : (tensor<64x600xf32>, tensor<600x80xf32>) -> tensor<64x80xf32>
  return
}

// -----

func.func @mma_results(%x: tensor<64x600xf32>, %y: tensor<600x80xf32>) {
  // expected-error @below {{expected at most 128 results a thread, got 256}}
  %z = plan.step "z" on kernel schedule(#plan.product<mma = tf32, tile = [128, 64, 16], warps = [1, 1]>) (%x, %y) {
  ^bb0(%a: tensor<64x600xf32>, %b: tensor<600x80xf32>):
    %0 = mnist.matmul %a, %b : (tensor<64x600xf32>, tensor<600x80xf32>) -> tensor<64x80xf32>
    plan.yield %0 : tensor<64x80xf32>
  } : (tensor<64x600xf32>, tensor<600x80xf32>) -> tensor<64x80xf32>
  return
}

// -----

func.func @mma_shared(%x: tensor<64x600xf32>, %y: tensor<600x80xf32>) {
  // expected-error @below {{bytes of shared memory, got}}
  %z = plan.step "z" on kernel schedule(#plan.product<mma = tf32x3, tile = [256, 128, 64], warps = [16, 1]>) (%x, %y) {
  ^bb0(%a: tensor<64x600xf32>, %b: tensor<600x80xf32>):
    %0 = mnist.matmul %a, %b : (tensor<64x600xf32>, tensor<600x80xf32>) -> tensor<64x80xf32>
    plan.yield %0 : tensor<64x80xf32>
  } : (tensor<64x600xf32>, tensor<600x80xf32>) -> tensor<64x80xf32>
  return
}

// -----

func.func @split(%x: tensor<64x600xf32>, %y: tensor<600x80xf32>) {
  // expected-error @below {{expected a split of 256 or less into at most 2147483647 blocks, got 300 into}}
  %z = plan.step "z" on kernel schedule(#plan.product<tile = [64, 32, 16], warps = [8, 1], split = 300>) (%x, %y) {
  ^bb0(%a: tensor<64x600xf32>, %b: tensor<600x80xf32>):
    %0 = mnist.matmul %a, %b : (tensor<64x600xf32>, tensor<600x80xf32>) -> tensor<64x80xf32>
    plan.yield %0 : tensor<64x80xf32>
  } : (tensor<64x600xf32>, tensor<600x80xf32>) -> tensor<64x80xf32>
  return
}

// -----

func.func @dots_rows(%x: tensor<5x600xf32>, %y: tensor<600x80xf32>) {
  // expected-error @below {{expected at most 4 rows of dot products, got 5}}
  %z = plan.step "z" on kernel schedule(#plan.dots<width = 8>) (%x, %y) {
  ^bb0(%a: tensor<5x600xf32>, %b: tensor<600x80xf32>):
    %0 = mnist.matmul %a, %b : (tensor<5x600xf32>, tensor<600x80xf32>) -> tensor<5x80xf32>
    plan.yield %0 : tensor<5x80xf32>
  } : (tensor<5x600xf32>, tensor<600x80xf32>) -> tensor<5x80xf32>
  return
}

// -----

func.func @dots_width(%x: tensor<2x600xf32>, %y: tensor<600x80xf32>) {
  // expected-error @below {{expected powers of two, of 8 to 32 columns and at most 16 warps, got 4 and 2}}
  %z = plan.step "z" on kernel schedule(#plan.dots<width = 4, warps = 2>) (%x, %y) {
  ^bb0(%a: tensor<2x600xf32>, %b: tensor<600x80xf32>):
    %0 = mnist.matmul %a, %b : (tensor<2x600xf32>, tensor<600x80xf32>) -> tensor<2x80xf32>
    plan.yield %0 : tensor<2x80xf32>
  } : (tensor<2x600xf32>, tensor<600x80xf32>) -> tensor<2x80xf32>
  return
}

// -----

func.func @dots_warps(%x: tensor<2x600xf32>, %y: tensor<600x80xf32>) {
  // expected-error @below {{expected powers of two, of 8 to 32 columns and at most 16 warps, got 8 and 3}}
  %z = plan.step "z" on kernel schedule(#plan.dots<width = 8, warps = 3>) (%x, %y) {
  ^bb0(%a: tensor<2x600xf32>, %b: tensor<600x80xf32>):
    %0 = mnist.matmul %a, %b : (tensor<2x600xf32>, tensor<600x80xf32>) -> tensor<2x80xf32>
    plan.yield %0 : tensor<2x80xf32>
  } : (tensor<2x600xf32>, tensor<600x80xf32>) -> tensor<2x80xf32>
  return
}

// -----

func.func @dots_split(%x: tensor<2x600xf32>, %y: tensor<600x80xf32>) {
  // expected-error @below {{expected a split of 8 or less into at most 2147483647 blocks, got 9 into 90}}
  %z = plan.step "z" on kernel schedule(#plan.dots<width = 8, split = 9>) (%x, %y) {
  ^bb0(%a: tensor<2x600xf32>, %b: tensor<600x80xf32>):
    %0 = mnist.matmul %a, %b : (tensor<2x600xf32>, tensor<600x80xf32>) -> tensor<2x80xf32>
    plan.yield %0 : tensor<2x80xf32>
  } : (tensor<2x600xf32>, tensor<600x80xf32>) -> tensor<2x80xf32>
  return
}
