//===- PlanPasses.td - passes that make and shape the plan -*- tablegen -*-===//

#ifndef MNISTC_PASSES_PLANPASSES_TD
#define MNISTC_PASSES_PLANPASSES_TD

include "mlir/Pass/PassBase.td"

#endif // MNISTC_PASSES_PLANPASSES_TD
