//===- ChooseLayout.cpp - the order of an image's dimensions --------------===//
//
// Flips every op that has a layout and puts transposes around it;
// PushTransposes cancels what it can. The cost model is in MnistPasses.td.
//
//===----------------------------------------------------------------------===//

#include "lib/IR/Mnist/FlipLayout.h"
#include "lib/IR/Mnist/TransposeRegions.h"
#include "lib/IR/Plan/StepBody.h"
#include "lib/Passes/Passes.h"
#include "lib/Passes/PushTransposes.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::mnistc {

#define GEN_PASS_DEF_CHOOSELAYOUT
#include "lib/Passes/Passes.h.inc"

/// Returns how many ops had the other layout.
static unsigned flipAll(func::FuncOp function, Layout layout) {
  unsigned flipped = 0;
  function.walk([&](LayoutOpInterface op) {
    if (op.getLayout() == layout)
      return;
    flipLayout(op, layout);
    ++flipped;
  });
  return flipped;
}

/// The bytes that transposes would move if all images had the layout `layout`.
static int64_t transposeBytes(func::FuncOp function, Layout layout) {
  OwningOpRef<func::FuncOp> trial = function.clone();
  flipAll(*trial, layout);
  pushTransposes(*trial);
  return 2 * transposeCost(trial->getBody().front()).bytes;
}

namespace {
/// The bytes of images that ops with a layout read and write.
struct ImageBytes {
  int64_t ofConvs = 0, ofOthers = 0;

  explicit ImageBytes(func::FuncOp function) {
    function.walk([&](LayoutOpInterface op) {
      int64_t &bytes = isContraction(op) ? ofConvs : ofOthers;
      for (unsigned number : op.getImageOperands())
        bytes += byteSize(op->getOperand(number).getType());
      if (!op.isFilterResult())
        bytes += byteSize(op->getResult(0).getType());
    });
  }
  int64_t all() const { return ofConvs + ofOthers; }
};
} // namespace

namespace {
struct ChooseLayout : impl::ChooseLayoutBase<ChooseLayout> {
  using ChooseLayoutBase::ChooseLayoutBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    if (layout != "auto" && !symbolizeLayout(layout)) {
      function.emitError("expected the layout auto, nchw or nhwc, got '")
          << layout << "'";
      return signalPassFailure();
    }
    std::optional<Layout> preferred = symbolizeLayout(prefer);
    if (!preferred) {
      function.emitError("expected to prefer nchw or nhwc, got '")
          << prefer << "'";
      return signalPassFailure();
    }
    const ImageBytes images(function);
    if (images.all() == 0)
      return;
    Choice choice = layout == "auto" ? choose(*preferred, images)
                                     : Choice{*symbolizeLayout(layout),
                                              layout + ", requested"};
    numFlipped += flipAll(function, choice.layout);
    function->setAttr("plan.layout_reason",
                      Builder(&getContext()).getStringAttr(choice.reason));
  }

private:
  struct Choice {
    Layout layout;
    std::string reason;
  };

  Choice choose(Layout preferred, const ImageBytes &images) {
    func::FuncOp function = getOperation();
    Layout other = preferred == Layout::nchw ? Layout::nhwc : Layout::nchw;
    int64_t here = transposeBytes(function, preferred);
    int64_t there = transposeBytes(function, other);
    bool turn = double(here - there) >
                gain * double(images.ofConvs) + double(images.ofOthers) / 2;
    std::string reason = llvm::formatv(
        "{0}, {1}: transposes move {2} bytes, in {3} {4}; images have {5}",
        stringifyLayout(turn ? other : preferred),
        turn ? "fewer transposes" : "preferred", turn ? there : here,
        stringifyLayout(turn ? preferred : other), turn ? here : there,
        images.all());
    return {turn ? other : preferred, reason};
  }
};
} // namespace

} // namespace mlir::mnistc
