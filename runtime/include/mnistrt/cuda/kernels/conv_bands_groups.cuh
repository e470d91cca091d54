//===- conv_bands_groups.cuh - bands that warpgroups multiply ---*- C++ -*-===//
//
// As conv_bands.cuh says, but of a few images at once, whose pixels at one
// place are 16 bytes of shared memory: so the tensor cores read operands there,
// at any tap (conv_bands_inputs.cuh). Terms are images, at a window and at the
// next one. A band is a row of windows, or a part of it. Of the input's rows
// only those are loaded that the band above does not read: while a band is
// multiplied, the next one is stored, and the one after it is on its way.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_CONV_BANDS_GROUPS_CUH
#define MNISTRT_CUDA_KERNELS_CONV_BANDS_GROUPS_CUH

#include "mnistrt/cuda/kernels/conv_bands_inputs.cuh"

#ifdef __CUDACC__

namespace mn::device {

template <Conv S> struct BandGroups : BandTiles<S> {
  using Base = BandTiles<S>;
  using Loads = BandLoads<S>;
  using Products = BandInputs<S>;
  using Base::t, Base::threads;
  using typename Base::Band, typename Base::Corner, typename Base::Parts;
  using Operands = typename Loads::Operands;
  static constexpr int pitch = Loads::pitch;
  static constexpr bool isLong = t.bandsEach(S) > 1;

  union Memory {
    Operands operands;
    float part[Base::sums];
  };
  static_assert(sizeof(Memory) <= shape::sharedBytes(S, t));

  /// Windows of a pair that are none's.
  static MN_DEVICE void clearGrads(Operands &to) {
    if constexpr (t.columns % 2 != 0)
      for (int i = int(threadIdx.x); i < 2 * pitch; i += threads)
        to.grad[i / pitch][t.columns][i % pitch] = {0, 0, 0, 0};
  }

  Products products;
  typename Loads::Spots spots;
  Band band;        ///< that is multiplied
  int number, last; ///< of it, and of the one after the last
  int which;        ///< its place in shared memory

  MN_DEVICE Band below(int rows) const {
    return {band.image, band.row + rows, band.column};
  }
  /// Whether the block has that one, too, after this one.
  MN_DEVICE bool isMine(const Band &other) const {
    return other.row < t.bandsDown(S) && number + other.row - band.row < last;
  }

  /// Before the next loads, for it may wait for loads, too.
  static MN_DEVICE void fenceStores() {
    if constexpr (hasWgmma)
      fenceForWgmma();
  }

  /// Begins with a band that has nothing of the one above it.
  template <typename F>
  MN_DEVICE void enter(const F &f, const Corner &corner, Operands &memory,
                       Loads &next) {
    band = Base::bandAt(number);
    Loads::fill(f, corner, spots, band, which, memory);
    fenceStores();
    if constexpr (isLong)
      memory.inside[threadIdx.x] =
          next.load(f, corner, spots, below(1), isMine(below(1)));
  }

  /// Multiplies a band. `next` is on its way, and the one after it follows.
  template <typename F>
  MN_DEVICE void addBand(const F &f, const Corner &corner, Operands &memory,
                         Loads &next, bool isFirst) {
    __syncthreads();
    const auto store = [&] {
      if constexpr (isLong) {
        next.store(spots, below(1), 1 - which,
                   const_cast<volatile unsigned &>(memory.inside[threadIdx.x]),
                   memory);
        fenceStores();
      }
    };
    const auto load = [&] {
      if constexpr (isLong)
        memory.inside[threadIdx.x] =
            next.load(f, corner, spots, below(2), isMine(below(2)));
    };
    products.multiplyBand(memory, band, which, isFirst, store, load);
    which = 1 - which;
    ++number;
    band = below(1);
    if (isLong && number < last && band.row == t.bandsDown(S)) {
      __syncthreads();
      enter(f, corner, memory, next);
    }
  }

  /// Adds up some bands.
  template <typename F>
  MN_DEVICE void addUp(const F &f, const Corner &corner, int first, int end,
                       Operands &memory) {
    products.begin();
    if (first == end)
      return;
    clearGrads(memory);
    spots.find(corner);
    number = first;
    last = end;
    which = 0;
    Loads next;
    enter(f, corner, memory, next);
#pragma unroll 1
    while (number < last) {
      if (number + 1 == last)
        afterLastLoads<F>();
      addBand(f, corner, memory, next, number == first);
    }
  }

  /// The block's sums, in shared memory.
  template <typename F>
  MN_DEVICE void toShared(const F &f, float *part, const Corner &corner,
                          int firstBand, int lastBand) const {
    // They take the place of the bands.
    __syncthreads();
    const bool isNan = products.store(part);
    Base::repair(f, part, isNan, corner, firstBand, lastBand);
  }

  template <typename F> static MN_DEVICE void run(const F &f, Parts &parts) {
    gridDependencySyncOf<F>();
    Memory &memory = *reinterpret_cast<Memory *>(dynamicShared);
    const Corner corner = Base::cornerOf(int(blockIdx.x / t.splits));
    const auto bands = Base::bandsOfBlock();
    BandGroups kernel;
    kernel.addUp(f, corner, bands.first, bands.last, memory.operands);
    kernel.toShared(f, memory.part, corner, bands.first, bands.last);
    Base::finish(f, memory.part, parts, corner);
  }
};

} // namespace mn::device

#endif // __CUDACC__
#endif // MNISTRT_CUDA_KERNELS_CONV_BANDS_GROUPS_CUH
