//===- Transforms.cpp - what a convolution by FFT needs -------------------===//

#include "lib/IR/Plan/Transforms.h"
#include "lib/IR/Plan/Contraction.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::mnistc;

/// Of an image, in one tile if it fits, with what surrounds it.
static int64_t tilesOf(const mn::Conv &s, int tile) {
  int64_t tiles = 1;
  for (int d = 0; d < 2; ++d)
    if (s.in[d] + s.pads[d] + s.padsAfter[d] > tile)
      tiles *= llvm::divideCeil(s.out[d], tile + 1 - s.kernel[d]);
  return tiles;
}

int64_t mlir::mnistc::transformedBytes(Operation *root) {
  constexpr int smallTile = 16, largeTile = 32, complexBytes = 8;
  if (!isa<ConvOp, ConvInputGradOp, ConvFilterGradOp>(root))
    return 0;
  const mn::Conv s = Contraction(root, {}).conv;
  if (s.spatial != 2 || std::max(s.kernel[0], s.kernel[1]) >= largeTile)
    return 0;
  int extent = std::max(s.in[0] + s.pads[0] + s.padsAfter[0],
                        s.in[1] + s.pads[1] + s.padsAfter[1]);
  int tile = extent <= smallTile ? smallTile : largeTile;
  int64_t ofImages =
      tilesOf(s, tile) * s.batch * (int64_t(s.inChannels) + s.outChannels);
  int64_t ofFilter = int64_t(s.inChannels) * s.outChannels;
  return complexBytes * tile * (tile / 2 + 1) * (ofImages + ofFilter);
}
