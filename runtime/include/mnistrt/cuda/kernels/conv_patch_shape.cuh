//===- conv_patch_shape.cuh - convolutions cut into patches -----*- C++ -*-===//
//
// Sizes of conv_patch.cuh's blocks, and whether it is faster than a product.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_CONV_PATCH_SHAPE_CUH
#define MNISTRT_CUDA_KERNELS_CONV_PATCH_SHAPE_CUH

#include "mnistrt/cuda/kernels/product_tiles.cuh"

namespace mn {

namespace shape {

/// Sums over `channels` of images and the taps of windows with strides of 1: a
/// convolution, or the gradient of its input, which is a convolution of the
/// output's gradient with the filter turned around.
struct Windows {
  int batch = 1;
  int channels = 1; ///< that are summed
  int results = 1;  ///< channels of the result
  int in[3] = {1, 1, 1};
  int out[3] = {1, 1, 1};
  int kernel[3] = {1, 1, 1};
  int pads[3] = {0, 0, 0};
  int dilations[3] = {1, 1, 1};
  Mma mma = Mma::ffma;

  MN_SHAPE_FN int taps() const { return kernel[0] * kernel[1] * kernel[2]; }
  /// What the windows along a dimension cover.
  MN_SHAPE_FN int covered(int d) const {
    return out[d] + (kernel[d] - 1) * dilations[d];
  }
  /// Pixels of an image with its padding, as far as windows cover it.
  MN_SHAPE_FN int pixels() const {
    return covered(0) * covered(1) * covered(2);
  }
  /// From a window's first pixel to the pixel of a tap.
  MN_SHAPE_FN int offset(int t0, int t1, int t2) const {
    return (t0 * dilations[0] * covered(1) + t1 * dilations[1]) * covered(2) +
           t2 * dilations[2];
  }
  MN_SHAPE_FN int halo() const {
    return offset(kernel[0] - 1, kernel[1] - 1, kernel[2] - 1);
  }
};

/// A block has two warpgroups, each for 64 windows, and `width` channels of
/// their results. Windows are counted through all padded images.
struct Patch {
  static constexpr int warpgroups = 2;
  static constexpr int windows = 64 * warpgroups;
  static constexpr int threads = 128 * warpgroups;
  bool applies = false;
  int width = 16;
  int64_t tiles = 1;  ///< along windows
  int64_t across = 1; ///< along channels of results
};

/// 16 bytes of channels, of which a turn has two.
MN_SHAPE_FN int chunkOf(Mma mma) { return mma == Mma::bf16 ? 8 : 4; }
MN_SHAPE_FN int partsOf(Mma mma) { return mma == Mma::tf32x3 ? 2 : 1; }

/// The pixels of a block's windows.
MN_SHAPE_FN int patchPixels(const Windows &w, const Patch &t) {
  return t.windows + w.halo();
}
/// Of two turns, or of the results.
MN_SHAPE_FN unsigned sharedBytes(const Windows &w, const Patch &t) {
  const int words =
      2 * (patchPixels(w, t) + partsOf(w.mma) * w.taps() * (t.width + 1));
  return static_cast<unsigned>(
      max(2 * ceilDiv(words, 8) * 128, t.width * (t.windows + 4) * 4));
}

/// Chunks that a thread loads in a turn.
MN_SHAPE_FN int patchLoads(const Windows &w, const Patch &t) {
  return ceilDiv(2 * patchPixels(w, t), t.threads);
}
MN_SHAPE_FN int filterLoads(const Windows &w, const Patch &t) {
  return ceilDiv(2 * w.taps() * t.width, t.threads);
}

/// Of a thread, about.
MN_SHAPE_FN int patchRegisters(const Windows &w, const Patch &t) {
  return t.width * 8 / 5 +
         (patchLoads(w, t) + filterLoads(w, t)) * chunkOf(w.mma) +
         (w.mma == Mma::tf32x3 ? 45 : 56);
}

/// As mmaCycles(), with its constants where they mean the same; fitted to 51
/// times of 17 convolutions and gradients on one H100.
MN_SHAPE_FN int64_t patchCycles(const Windows &w, const Patch &t) {
  const int products = w.taps() * (w.mma == Mma::tf32x3 ? 3 : 1);
  const int loads = patchLoads(w, t) + filterLoads(w, t);
  const double issue =
      (75 + loads * chunkOf(w.mma) * 11.0 + 20 * w.taps()) * t.warpgroups;
  const double tensor =
      (products * t.width * 0.5 + w.taps() * 16.0) * t.warpgroups;
  const int64_t resident =
      max<int64_t>(1, min<int64_t>(65536 / (patchRegisters(w, t) * t.threads),
                                   (227 << 10) / (sharedBytes(w, t) + 1024)));
  const int64_t blocks = ceilDiv<int64_t>(t.tiles * t.across, referenceSms);
  // A block alone on a multiprocessor overlaps little of its turns.
  const auto turn = [&](double together) {
    return (max(1100.0, together * max(issue, tensor)) +
            0.73 * together * min(issue, tensor)) *
           (together == 1 ? 1.4 : 1.0);
  };
  double all = double(blocks / resident) * turn(double(resident));
  if (blocks % resident != 0)
    all += turn(double(blocks % resident));
  // The first pixels have to arrive, and the results to leave.
  all *= double(ceilDiv(w.channels, 2 * chunkOf(w.mma)) + 1);
  return int64_t(all + 90.0 * t.width / 2 * double(blocks));
}

/// The fastest blocks; `product`: cycles of a product of the same.
MN_SHAPE_FN Patch patchOf(const Windows &w, int64_t product) {
  Patch best;
  int64_t fewest = product;
  for (int width = 16; width <= 128; width *= 2) {
    Patch t = {true, width};
    t.tiles = ceilDiv<int64_t>(int64_t(w.batch) * w.pixels(), t.windows);
    t.across = ceilDiv(w.results, width);
    if (sharedBytes(w, t) > smallestShared || patchRegisters(w, t) > 240 ||
        (width > 16 && width / 2 >= w.results))
      break;
    const int64_t needed = patchCycles(w, t);
    if (needed < fewest) {
      fewest = needed;
      best = t;
    }
  }
  return best;
}

MN_SHAPE_FN bool hasPatches(const Conv &s) {
  return s.schedule.mma != Mma::ffma && s.schedule.tile[0] == 0 &&
         s.groups == 1 && s.strides[0] == 1 && s.strides[1] == 1 &&
         s.strides[2] == 1;
}

/// What a convolution's windows are, and those of its input's gradient.
MN_SHAPE_FN Windows windowsOf(const Conv &s) {
  Windows w = {s.batch, s.inChannels, s.outChannels};
  for (int d = 0; d < 3; ++d) {
    w.in[d] = s.in[d], w.out[d] = s.out[d], w.kernel[d] = s.kernel[d];
    w.pads[d] = s.pads[d], w.dilations[d] = s.dilations[d];
  }
  w.mma = s.schedule.mma;
  return w;
}
MN_SHAPE_FN Windows readersOf(const Conv &s) {
  Windows w = {s.batch, s.outChannels, s.inChannels};
  for (int d = 0; d < 3; ++d) {
    w.in[d] = s.out[d], w.out[d] = s.in[d], w.kernel[d] = s.kernel[d];
    w.pads[d] = (s.kernel[d] - 1) * s.dilations[d] - s.pads[d];
    w.dilations[d] = s.dilations[d];
  }
  w.mma = s.schedule.mma;
  return w;
}

MN_SHAPE_FN Patch patchOf(const Conv &s, const Windows &w, const Product &p) {
  // Windows are numbered by an int.
  const int64_t last = int64_t(w.batch) * w.pixels() + w.halo();
  return hasPatches(s) && last < (int64_t(1) << 31) - Patch::windows
             ? patchOf(w, mmaCycles(p, tiles(p)))
             : Patch{};
}
MN_SHAPE_FN LaunchShape launchOf(const Windows &w, const Patch &t) {
  return {static_cast<unsigned>(t.tiles * t.across),
          static_cast<unsigned>(t.threads), 1, sharedBytes(w, t)};
}

} // namespace shape

} // namespace mn

#endif // MNISTRT_CUDA_KERNELS_CONV_PATCH_SHAPE_CUH
