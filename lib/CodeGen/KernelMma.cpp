//===- KernelMma.cpp - what multiplies in a step's kernel -----------------===//

#include "lib/CodeGen/KernelMma.h"
#include "lib/IR/Mnist/Geometry.h"
#include "lib/IR/Mnist/TensorShape.h"
#include "lib/IR/Plan/StepBody.h"
// The choice, which host and device share.
#include "mnistrt/cuda/kernels/conv.cuh"
#include "mnistrt/cuda/kernels/conv_input_grad.cuh"

using namespace mlir;
using namespace mlir::mnistc;

static mn::Mma ofKernels(Mma mma) {
  switch (mma) {
  case Mma::ffma:
    return mn::Mma::ffma;
  case Mma::tf32x3:
    return mn::Mma::tf32x3;
  case Mma::tf32:
    return mn::Mma::tf32;
  case Mma::bf16:
    return mn::Mma::bf16;
  }
  llvm_unreachable("all have a name");
}

/// The sizes as the generated text gives them to the kernel.
template <typename Op>
static mn::Conv convOf(Op op, Value in, Value filter, Value out, Mma mma) {
  ConvShape s(op.getLayout(), shapeOf(in), shapeOf(filter), shapeOf(out));
  size_t spatial = s.inSize.size();
  mn::Conv conv;
  conv.layout =
      op.getLayout() == Layout::nchw ? mn::Layout::nchw : mn::Layout::nhwc;
  conv.spatial = int(spatial), conv.batch = int(s.batch);
  conv.inChannels = int(s.inChannels), conv.outChannels = int(s.outChannels);
  conv.groups = int(op.getGroups());
  for (size_t d = 0; d < spatial; ++d) {
    conv.in[d] = int(s.inSize[d]), conv.kernel[d] = int(s.kernel[d]);
    conv.out[d] = int(s.outSize[d]), conv.strides[d] = int(op.getStrides()[d]);
    conv.pads[d] = int(op.getPads()[d]);
    conv.padsAfter[d] = int(op.getPads()[spatial + d]);
    conv.dilations[d] = int(op.getDilations()[d]);
  }
  conv.schedule.mma = ofKernels(mma);
  return conv;
}

Mma mlir::mnistc::kernelMmaOf(StepOp step) {
  Mma mma = mmaOf(step);
  if (mma == Mma::ffma || step.getImpl() != Impl::kernel)
    return mma;
  auto way = mn::shape::Way::product;
  Operation *root = rootOf(step);
  if (auto conv = dyn_cast<ConvOp>(root))
    way = mn::shape::convWay(convOf(conv, conv.getInput(), conv.getFilter(),
                                    conv.getOutput(), mma))
              .way;
  else if (auto grad = dyn_cast<ConvInputGradOp>(root))
    way = mn::shape::inputGradWay(convOf(grad, grad.getInputGrad(),
                                         grad.getFilter(), grad.getOutputGrad(),
                                         mma))
              .way;
  return way == mn::shape::Way::columns ? Mma::ffma : mma;
}
