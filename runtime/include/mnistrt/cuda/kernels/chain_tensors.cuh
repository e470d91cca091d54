//===- chain_tensors.cuh - tensors that a chain holds -----------*- C++ -*-===//
//
// A block of a chain can have its rows of tensors in shared memory while the
// links run: what links make for each other, and what products read. A link
// then is given the address at which the tensor would begin; rows that other
// steps read are copied to memory at the end.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_CHAIN_TENSORS_CUH
#define MNISTRT_CUDA_KERNELS_CHAIN_TENSORS_CUH

#include "mnistrt/cuda/kernels/chain_products.cuh"
#include "mnistrt/cuda/kernels/instructions.cuh"

namespace mn {

#ifdef __CUDACC__
namespace device {
/// Where a block's tensors are.
MN_DEVICE char *heldTensors() {
  return reinterpret_cast<char *>(dynamicShared);
}
} // namespace device
#endif

/// A step, or a part of one, in a chain; run() computes a block's rows.
template <typename F> struct Link {
  using Functor = F;
#ifdef __CUDACC__
  /// Whether it leaves something in chainMemory().
  template <ChainBlocks b> static MN_SHAPE_FN bool takesMemory() {
    return false;
  }
  /// How many parts it has that a warp computes each; 0: all warps share it.
  template <ChainBlocks b> static MN_SHAPE_FN int partsOf() { return 0; }
#endif
};

/// A tensor whose rows a block holds, of so many bytes each, from byte `offset`
/// of its shared memory on (shape::bytesHeld): pointer number `member` of a
/// link's functor.
template <int member_, int64_t bytesOfRow, int64_t offset> struct Held {
  static constexpr int member = member_;
#ifdef __CUDACC__
  /// Where the tensor would begin if its row number `first` were the first that
  /// is held: at a multiple of 16 bytes, as it does in memory.
  static MN_DEVICE char *tensor(int64_t first) {
    return device::heldTensors() + offset - (first * bytesOfRow & ~int64_t(15));
  }
#endif
};

/// A tensor in memory from which rows are copied, and one to which they are.
struct BroughtRows {
  const void *tensor;
};
struct TakenRows {
  void *tensor;
};

#ifdef __CUDACC__

namespace device {

/// Words of so many bytes.
template <int bytes> struct WordOf {
  using Type = uint4;
};
template <> struct WordOf<1> {
  using Type = uint8_t;
};
template <> struct WordOf<2> {
  using Type = uint16_t;
};
template <> struct WordOf<4> {
  using Type = uint32_t;
};
template <> struct WordOf<8> {
  using Type = uint2;
};

/// use(i) for each piece of 16 bytes of a tensor, which begins with its byte
/// number i: from `begin`, a multiple of 16, to `end`, at most `most` bytes.
template <int threads, int64_t most, typename Use>
MN_DEVICE void eachPiece(int64_t begin, int64_t end, const Use &use) {
  constexpr int turns = int(shape::ceilDiv<int64_t>(most, 16 * threads));
#pragma unroll
  for (int turn = 0; turn < turns; ++turn)
    if (const int64_t i = begin + (turn * threads + int(threadIdx.x)) * 16;
        i < end)
      use(i);
}

} // namespace device

#endif // __CUDACC__

/// Copies a block's rows of a tensor to shared memory, and what is beside them:
/// up to 15 bytes more, which every tensor has in memory.
template <int64_t bytesOfRow, int64_t offset>
struct BringLink : Link<BroughtRows> {
#ifdef __CUDACC__
  template <ChainBlocks b, int>
  static MN_DEVICE void run(const BroughtRows &f,
                            const device::ChainRows &rows) {
    const int64_t begin = rows.first * bytesOfRow & ~int64_t(15),
                  end = (rows.first + rows.count) * bytesOfRow;
    const char *from = static_cast<const char *>(f.tensor);
    const unsigned to = device::sharedAddress(device::heldTensors()) + offset;
    device::eachPiece<b.threads, shape::bytesHeld(b.ofBlock * bytesOfRow)>(
        begin, end, [&](int64_t i) {
          device::copyAsync<0>(to + unsigned(i - begin),
                               reinterpret_cast<const uint4 *>(from + i));
        });
  }
#endif
};

/// Copies a block's rows of a tensor to memory.
template <int64_t bytesOfRow, int64_t offset>
struct TakeLink : Link<TakenRows> {
#ifdef __CUDACC__
  template <ChainBlocks b, int>
  static MN_DEVICE void run(const TakenRows &f, const device::ChainRows &rows) {
    constexpr int unit = int(shape::min<int64_t>(bytesOfRow & -bytesOfRow, 16));
    using Word = typename device::WordOf<unit>::Type;
    const int64_t begin = rows.first * bytesOfRow,
                  end = (rows.first + rows.count) * bytesOfRow;
    const char *from = Held<0, bytesOfRow, offset>::tensor(rows.first);
    char *to = static_cast<char *>(f.tensor);
    device::eachPiece<b.threads, shape::bytesHeld(b.ofBlock * bytesOfRow)>(
        begin & ~int64_t(15), end, [&](int64_t i) {
          if (unit == 16 || (i >= begin && i + 16 <= end))
            *reinterpret_cast<uint4 *>(to + i) =
                *reinterpret_cast<const uint4 *>(from + i);
          else
#pragma unroll
            for (int j = 0; j < 16; j += unit)
              if (i + j >= begin && i + j < end)
                *reinterpret_cast<Word *>(to + i + j) =
                    *reinterpret_cast<const Word *>(from + i + j);
        });
  }
#endif
};

/// A link some of whose tensors a block holds.
template <typename L, typename... Tensors> struct HeldLink : L {
  using Functor = typename L::Functor;
#ifdef __CUDACC__
  static constexpr int pointers = int(sizeof(Functor) / sizeof(char *));
  static_assert(pointers * sizeof(char *) == sizeof(Functor) &&
                ((Tensors::member < pointers) && ...));

  template <ChainBlocks b, int firstWarp>
  static MN_DEVICE void run(const Functor &f, const device::ChainRows &rows) {
    char *tensors[pointers];
    memcpy(tensors, &f, sizeof(Functor));
    ((tensors[Tensors::member] = Tensors::tensor(rows.first)), ...);
    Functor held;
    memcpy(&held, tensors, sizeof(Functor));
    L::template run<b, firstWarp>(held, rows);
  }
#endif
};

} // namespace mn

#endif // MNISTRT_CUDA_KERNELS_CHAIN_TENSORS_CUH
