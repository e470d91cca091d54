//===- Contraction.cpp - a root as the kernels' headers see it ------------===//

#include "lib/IR/Plan/Contraction.h"
#include "lib/IR/Mnist/Geometry.h"
#include "lib/IR/Mnist/MnistOps.h"
#include "lib/IR/Mnist/TensorShape.h"
#include "lib/IR/Plan/GradientBody.h"
#include "lib/IR/Plan/PoolBody.h"
#include "lib/IR/Plan/StepBody.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::mnistc;

mn::Mma mlir::mnistc::ofKernels(Mma mma) {
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

Mma mlir::mnistc::ofPlan(mn::Mma mma) {
  for (Mma each : {Mma::tf32x3, Mma::tf32, Mma::bf16})
    if (ofKernels(each) == mma)
      return each;
  return Mma::ffma;
}

template <typename Op>
static mn::Conv convOf(Op op, Value in, Value filter, Value out) {
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
  return conv;
}

static mn::Matmul matmulOf(MatmulOp op) {
  MultiplyAdds work = *op.getMultiplyAdds();
  return {int(work.batch), int(work.m),           int(work.n),
          int(work.k),     op.getTransposed()[0], op.getTransposed()[1]};
}

Contraction::Contraction(Operation *root, const mn::ProductSchedule &schedule)
    : elementBytes(getElementTypeOrSelf(root->getResult(0).getType())
                       .getIntOrFloatBitWidth() /
                   8) {
  llvm::TypeSwitch<Operation *>(root)
      .Case([&](MatmulOp op) { matmul = matmulOf(op); })
      .Case([&](ConvOp op) {
        kind = Kind::conv;
        conv = convOf(op, op.getInput(), op.getFilter(), op.getOutput());
      })
      .Case([&](ConvInputGradOp op) {
        kind = Kind::inputGrad;
        conv =
            convOf(op, op.getInputGrad(), op.getFilter(), op.getOutputGrad());
      })
      .Case([&](ConvFilterGradOp op) {
        kind = Kind::filterGrad;
        conv =
            convOf(op, op.getInput(), op.getFilterGrad(), op.getOutputGrad());
      })
      .Default([](Operation *op) {
        llvm::report_fatal_error("no schedules for " +
                                 op->getName().getStringRef());
      });
  matmul.schedule = conv.schedule = schedule;
}

Contraction::Contraction(StepOp step, const mn::ProductSchedule &schedule)
    : Contraction(rootOf(step), schedule) {
  if (isPoolStep(step))
    if (FailureOr<PoolBody> body = readPoolBody(step); succeeded(body)) {
      conv.pool = windowsOf(body->pool);
      conv.pool.indices =
          !step.getBody().front().getOps<ArgMaxPoolOp>().empty();
    }
  if (Value gradient = outputGradOf(rootOf(step)))
    if (MaxUnpoolOp unpool = inlinedUnpoolOf(gradient))
      conv.pool = windowsOf(unpool);
  conv.bias = isGradientStep(step);
}

static mn::PoolWindows windowsOf(Layout layout, ArrayRef<int64_t> kernel,
                                 Value pooled) {
  mn::PoolWindows windows;
  ImageShape out(layout, shapeOf(pooled));
  for (size_t d = 0; d < 3; ++d) {
    bool isThere = d < out.size.size();
    windows.kernel[d] = isThere ? int(kernel[d]) : 1;
    windows.out[d] = isThere ? int(out.size[d]) : 1;
  }
  return windows;
}

mn::PoolWindows mlir::mnistc::windowsOf(Operation *pool) {
  mn::PoolWindows windows =
      ::windowsOf(cast<LayoutOpInterface>(pool).getLayout(),
                  cast<PoolOpInterface>(pool).getWindow(), pool->getResult(0));
  windows.mean = !givesMaximum(pool);
  return windows;
}

mn::PoolWindows mlir::mnistc::windowsOf(MaxUnpoolOp unpool) {
  return ::windowsOf(unpool.getLayout(), unpool.getKernel(), unpool.getInput());
}

mn::shape::Product Contraction::product() const {
  switch (kind) {
  case Kind::matmul:
    return mn::shape::productOf(matmul);
  case Kind::filterGrad:
    return mn::shape::filterGradOf(conv);
  default:
    return work().product;
  }
}

mn::shape::ConvWork Contraction::work() const {
  return kind == Kind::conv ? mn::shape::workOfConv(conv)
                            : mn::shape::workOfInputGrad(conv);
}
