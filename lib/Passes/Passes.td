//===- Passes.td - every pass of mnistc --------------------*- tablegen -*-===//
//
// In pipeline order. The pass `FooBar` has the flag --mnist-foo-bar (on the
// model) or --plan-foo-bar (on the plan), lives in FooBar.cpp and is tested by
// test/lit/Passes/foo-bar.mlir.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_PASSES_PASSES_TD
#define MNISTC_PASSES_PASSES_TD

include "lib/Passes/MnistPasses.td"
include "lib/Passes/TrainPasses.td"
include "lib/Passes/GradcheckPasses.td"
include "lib/Passes/PlanPasses.td"

#endif // MNISTC_PASSES_PASSES_TD
