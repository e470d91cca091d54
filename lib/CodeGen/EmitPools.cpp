//===- EmitPools.cpp - a step that pools what it computes as text ---------===//

#include "lib/CodeGen/FunctorEmitter.h"
#include "lib/IR/Mnist/Geometry.h"
#include "lib/IR/Mnist/TensorShape.h"
#include "lib/IR/Plan/PoolBody.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::mnistc;

std::string mlir::mnistc::poolField(Layout layout, ArrayRef<int64_t> window,
                                    Value pooled, bool isMaximum) {
  auto three = [](ArrayRef<int64_t> sizes) {
    SmallVector<int64_t> all(sizes);
    all.resize(3, 1);
    return "{" +
           llvm::join(llvm::map_range(
                          all, [](int64_t n) { return std::to_string(n); }),
                      ", ") +
           "}";
  };
  ImageShape out(layout, shapeOf(pooled));
  return ".pool = {.kernel = " + three(window) + ", .out = " + three(out.size) +
         (isMaximum ? "}" : ", .mean = true}");
}

/// What the convolution's sum becomes before it is pooled; on the way, results
/// that have an element for each are stored.
static LogicalResult emitTile(StepOp step, PoolBody &body,
                              const PlanNames &names, BodyEmitter &text,
                              std::string &stores, std::string &result) {
  Value sum = body.conv.getOutput();
  text.begin(/*indent=*/4);
  text.bind(sum, {"v"},
            linearIndex(positionAt({"i"}, shapeOf(sum)), shapeOf(sum)));
  for (unsigned number : body.elements) {
    Value value = yieldsOf(step)[number];
    FailureOr<Expr> stored =
        text.namedValue(value, positionAt({"i"}, shapeOf(value)));
    if (failed(stored))
      return failure();
    stores += storeLine(names[step.getResult(number)], "i", *stored);
  }
  FailureOr<Expr> value =
      text.statementValue(body.pooled, positionAt({"i"}, shapeOf(body.pooled)));
  if (failed(value))
    return failure();
  result = value->text;
  return success();
}

LogicalResult FunctorEmitter::emitPools() {
  FailureOr<PoolBody> read = readPoolBody(step);
  if (failed(read))
    return failure();
  PoolBody &pools = *read;
  auto root = cast<RootOpInterface>(pools.conv ? pools.conv.getOperation()
                                               : pools.pool);
  if (failed(emitLoads(root)))
    return failure();
  if (pools.conv) {
    std::string stores, tile;
    if (failed(emitTile(step, pools, names, body, stores, tile)))
      return failure();
    finishFunction((elementName(pools.pooled) + " tile").str(),
                   {{"auto", "i"}, {elementName(pools.pooled), "v"}},
                   stores + line("return " + tile + ";", 4) + "\n");
  }
  if (failed(emitStore("store", pools.pool->getResult(0), "i",
                       /*givesIndex=*/false, pools.pools)) ||
      (pools.indices &&
       failed(emitStore("storeIndex", pools.indices->getResult(0), "i",
                        /*givesIndex=*/true, pools.places))))
    return failure();
  ShapeText sizes;
  if (pools.conv) {
    sizes = shapeTextOf(step);
    // Before the schedule.
    sizes.fields.insert(sizes.fields.end() - 1,
                        poolField(pools.conv.getLayout(),
                                  cast<PoolOpInterface>(pools.pool).getWindow(),
                                  pools.pool->getResult(0),
                                  givesMaximum(pools.pool)));
  } else {
    sizes = cast<RootOpInterface>(pools.indices ? pools.indices : pools.pool)
                .getShapeText();
  }
  callKernel(root.getKernelText(), elementName(root->getResult(0)), sizes);
  return success();
}
