//===- segments.cuh - several maps in one launch ----------------*- C++ -*-===//
//
// Segments are results that one functor computes. A block works on one segment,
// so that its threads do the same; it finds which by a table of the first block
// of each. Segments that do the same to other tensors are rows of a table of
// functors, and share the code of one.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_SEGMENTS_CUH
#define MNISTRT_CUDA_KERNELS_SEGMENTS_CUH

#include "mnistrt/cuda/kernels/pointwise.cuh"

namespace mn {

/// `n` functors of one type.
template <typename F, int n> struct Table {
  static constexpr int count = n;
  using Functor = F;
  F rows[n];
};

/// The functors of all segments, table by table: a kernel's argument.
template <typename First, typename... Others> struct Segments;

template <typename F, int n> struct Segments<Table<F, n>> {
  Table<F, n> first;

  /// Calls use(f) for the functor of a segment.
  template <typename Use> MN_FN void visit(int segment, const Use &use) const {
    use(first.rows[segment]);
  }
};

template <typename F, int n, typename Next, typename... Others>
struct Segments<Table<F, n>, Next, Others...> {
  Table<F, n> first;
  Segments<Next, Others...> others;

  template <typename Use> MN_FN void visit(int segment, const Use &use) const {
    if (segment < n)
      use(first.rows[segment]);
    else
      others.visit(segment - n, use);
  }
};

namespace shape {

/// The first block of each segment, and after the last the number of blocks.
template <int n> struct SegmentBlocks {
  unsigned first[n + 1];
};

template <typename... Tables, int n>
MN_SHAPE_FN SegmentBlocks<n> segmentBlocks(const Elements<n> &elements) {
  SegmentBlocks<n> blocks{};
  int segment = 0;
  const auto addTable = [&](int count, int64_t (*blocksOf)(int64_t)) {
    for (int end = segment + count; segment < end; ++segment)
      blocks.first[segment + 1] =
          blocks.first[segment] + unsigned(blocksOf(elements.of[segment]));
  };
  (addTable(Tables::count, mapBlocks<typename Tables::Functor>), ...);
  return blocks;
}

/// Bytes of shared memory, of which a block has those of its segment.
template <typename... Tables> MN_SHAPE_FN int segmentBytes() {
  int bytes = 1;
  ((bytes = max(bytes, transposedBytes<typename Tables::Functor>())), ...);
  return bytes;
}

template <typename... Tables, int n>
MN_SHAPE_FN LaunchShape segments(const Elements<n> &elements) {
  return {segmentBlocks<Tables...>(elements).first[n], mapThreads};
}

} // namespace shape

#ifdef __CUDACC__

namespace device {

// In constant memory: all threads of a block read the same.
template <auto elements> __constant__ constexpr auto segmentElements = elements;
template <auto elements, typename... Tables>
__constant__ constexpr auto segmentBlocks =
    shape::segmentBlocks<Tables...>(elements);

/// What a block has of a segment.
struct ComputeElements {
  int64_t block, count;
  void *memory;
  template <typename F> MN_DEVICE void operator()(const F &f) const {
    if constexpr (Transposes<F>)
      transposeTile(f, block, memory);
    else
      elementsOf(f, block * shape::mapThreads + threadIdx.x, count);
  }
};

template <auto elements, typename... Tables>
MN_DEVICE void segments(const Segments<Tables...> &all) {
  constexpr int count = elements.count;
  const auto &blocks = segmentBlocks<elements, Tables...>;
  alignas(16) __shared__ char memory[shape::segmentBytes<Tables...>()];
  gridDependencySync();
  // The last segment whose first block is not after this one.
  int segment = 0;
  for (int after = count; after - segment > 1;) {
    const int middle = (segment + after) / 2;
    if (blocks.first[middle] <= blockIdx.x)
      segment = middle;
    else
      after = middle;
  }
  all.visit(segment,
            ComputeElements{blockIdx.x - blocks.first[segment],
                            segmentElements<elements>.of[segment], memory});
}

} // namespace device

#define MN_SEGMENTS_KERNEL(NAME, E, ...)                                       \
  MN_GLOBAL(mn::shape::mapThreads)                                             \
  NAME(const __grid_constant__ mn::Segments<__VA_ARGS__> all                   \
           MN_TIMES_ARGUMENT) {                                                \
    MN_RECORD_TIMES                                                            \
    mn::device::segments<E>(all);                                              \
  }

#else

#define MN_SEGMENTS_KERNEL(NAME, E, ...)

namespace detail {

template <typename F, int n>
void fill(Segments<Table<F, n>> &all, const F (&rows)[n]) {
  for (int i = 0; i < n; ++i)
    all.first.rows[i] = rows[i];
}

template <typename F, int n, typename... Others, typename... Arrays>
void fill(Segments<Table<F, n>, Others...> &all, const F (&rows)[n],
          const Arrays &...others) {
  for (int i = 0; i < n; ++i)
    all.first.rows[i] = rows[i];
  fill(all.others, others...);
}

} // namespace detail

/// Each array has the functors of segments that are computed alike.
template <int count, typename... Fs, int... ns>
void segments(Context &ctx, const char *kernel, const Elements<count> &elements,
              const Fs (&...tables)[ns]) {
  static_assert((ns + ...) == count, "one functor for each segment");
  Segments<Table<Fs, ns>...> all;
  detail::fill(all, tables...);
  launch(ctx, kernel, shape::segments<Table<Fs, ns>...>(elements), all);
}

#endif // __CUDACC__

} // namespace mn

#endif // MNISTRT_CUDA_KERNELS_SEGMENTS_CUH
