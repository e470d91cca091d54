//===- MnistOps.td - operations of the model dialect -------*- tablegen -*-===//
//
// The vocabulary, in three files; each in alphabetical order within a section.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_IR_MNIST_MNISTOPS_TD
#define MNISTC_IR_MNIST_MNISTOPS_TD

include "lib/IR/Mnist/ElementwiseOps.td"
include "lib/IR/Mnist/TensorOps.td"
include "lib/IR/Mnist/NetworkOps.td"

#endif // MNISTC_IR_MNIST_MNISTOPS_TD
