// RUN: mnistc %s --emit=source -o %t.without.cpp
// RUN: FileCheck %s --check-prefix=WITHOUT --implicit-check-not=imestamps < %t.without.cpp
// RUN: mnistc %s --emit=source --timestamps -o %t.with.cpp
// RUN: FileCheck %s --check-prefix=WITH < %t.with.cpp
// RUN: g++ -std=c++20 -Wall -Wextra -Werror -fsyntax-only -DMN_TARGET_CUDA -I%root/runtime/include %t.with.cpp
// RUN: sed '/MN_TIMESTAMPS/,+1d; /\.timestamps/d; s/ --timestamps//' %t.with.cpp > %t.rest
// RUN: diff %t.without.cpp %t.rest
// RUN: not mnistc %s --emit=source --timestamps --target=cpu 2>&1 | FileCheck %s --check-prefix=CPU
// RUN: %exits 2 mnistc %s --emit=source --timestamps --target=cpu
// RUN: not mnistc %s --timestamps=yes 2>&1 | FileCheck %s --check-prefix=VALUE

// Three lines of the text make kernels write down when their blocks run.

// WITHOUT: #include "mnistrt/generated.h"

// WITH:      {{^}}//   mnistc --target=cuda --timestamps{{$}}
// WITH:      {{^}}#define MN_TIMESTAMPS{{$}}
// WITH-EMPTY:
// WITH-NEXT: #include "mnistrt/generated.h"
// WITH:      .command = "--target=cuda --timestamps",
// WITH:      .timestamps = true,

// CPU: {{^}}error: expected --target=cuda with --timestamps, got 'cpu', whose steps run one after another{{$}}
// VALUE: {{^}}error: expected --timestamps without a value, got 'yes'{{$}}

module attributes {plan.constant_bytes = 0 : i64} {
  func.func @infer(%in: tensor<4xf32> {mnist.name = "in", plan.offset = 0 : i64}) -> (tensor<4xf32> {mnist.name = "out"}) attributes {plan.arena_bytes = 512 : i64, plan.workspace_bytes = 0 : i64} {
    %out = plan.step "out" on kernel at [256] (%in) {
    ^bb0(%x: tensor<4xf32>):
      %0 = mnist.relu %x : tensor<4xf32>
      plan.yield %0 : tensor<4xf32>
    } : (tensor<4xf32>) -> tensor<4xf32>
    return %out : tensor<4xf32>
  }
}
