//===- ConvToMatmul.cpp - windows of whole images are products ------------===//
//
// A convolution whose windows are the whole image, such as the last one of a
// network without dense layers or those of a squeeze and excitation, is a
// matrix product of flat images and flat filters, in either layout. As a
// convolution the gradient of its input would try every window for each pixel,
// of which only one is there.
//
//===----------------------------------------------------------------------===//

#include "lib/IR/Mnist/Geometry.h"
#include "lib/Passes/Passes.h"

namespace mlir::mnistc {

#define GEN_PASS_DEF_CONVTOMATMUL
#include "lib/Passes/Passes.h.inc"

/// Whether each image of this type has one window, with a tap for each pixel.
template <typename Conv>
static bool hasWholeWindows(Conv op, RankedTensorType image) {
  const ImageShape x(op.getLayout(), image.getShape());
  const ImageShape w(op.getLayout(), op.getFilter().getType().getShape());
  return op.getGroups() == 1 && w.size == x.size &&
         llvm::all_of(op.getPads(), [](int64_t pad) { return pad == 0; }) &&
         !image.getElementType().isBF16();
}

/// N x all that is left.
static Value flat(OpBuilder &builder, TypedValue<RankedTensorType> value) {
  const RankedTensorType type = value.getType();
  const int64_t rows = type.getDimSize(0);
  const int64_t columns = type.getNumElements() / std::max<int64_t>(rows, 1);
  return builder.createOrFold<ReshapeOp>(value.getLoc(),
                                         type.clone({rows, columns}), value);
}

static void replace(Operation *op, Value lhs, Value filter, bool transposed) {
  OpBuilder builder(op);
  Value product = builder.create<MatmulOp>(op->getLoc(), lhs, filter,
                                           /*lhsT=*/false, transposed);
  op->getResult(0).replaceAllUsesWith(builder.create<ReshapeOp>(
      op->getLoc(), op->getResult(0).getType(), product));
  op->erase();
}

namespace {
struct ConvToMatmul : impl::ConvToMatmulBase<ConvToMatmul> {
  void runOnOperation() override {
    getOperation().walk([&](Operation *op) {
      OpBuilder builder(op);
      if (auto conv = dyn_cast<ConvOp>(op);
          conv && hasWholeWindows(conv, conv.getInput().getType())) {
        replace(op, flat(builder, conv.getInput()),
                flat(builder, conv.getFilter()), /*transposed=*/true);
        ++numReplaced;
      } else if (auto conv = dyn_cast<ConvInputGradOp>(op);
                 conv && hasWholeWindows(conv, conv.getType())) {
        replace(op, flat(builder, conv.getOutputGrad()),
                flat(builder, conv.getFilter()), /*transposed=*/false);
        ++numReplaced;
      }
    });
  }
};
} // namespace

} // namespace mlir::mnistc
