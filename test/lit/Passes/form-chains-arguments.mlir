// A kernel's arguments are at most 32,764 bytes: steps whose links would have
// 70 x 66 addresses are two chains, which a kernel each can be.

// RUN: %python %S/Inputs/many-links.py steps > %t.mlir
// RUN: mnist-opt %t.mlir --plan-form-rows --plan-form-steps --plan-select-implementations --plan-choose-schedules --plan-form-chains \
// RUN:   | FileCheck %s --strict-whitespace
// RUN: mnist-opt %t.mlir --plan-form-rows --plan-form-steps --plan-select-implementations --plan-choose-schedules --plan-form-chains \
// RUN:     --plan-assign-memory --plan-assign-streams --plan-check-steps

// CHECK:          {{^ {4}%.* = plan.step}}
// CHECK-COUNT-62: {{^ {6}%.* = plan.step}}
// CHECK-NOT:      {{^ {6}%.* = plan.step}}
// CHECK:          {{^ {4}%.* = plan.step}}
// CHECK-COUNT-9:  {{^ {6}%.* = plan.step}}
// CHECK-NOT:      {{^ {6}%.* = plan.step}}
// CHECK:          return

// RUN: %python %S/Inputs/many-links.py chain > %t.chain.mlir
// RUN: not mnist-opt %t.chain.mlir --plan-check-steps 2>&1 | FileCheck %s --check-prefix=CHAIN

// CHAIN: error: expected the links of chain 'chain' to read and write at most 4094 tensors, got 4096
