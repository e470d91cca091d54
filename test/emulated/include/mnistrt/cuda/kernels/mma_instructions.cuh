//===- mma_instructions.cuh - of an emulated GPU ----------------*- C++ -*-===//
//
// Stands for the runtime's header of this name, function by function. Who has
// which element of a fragment: "Matrix Fragments for mma.m16n8k8", ".m16n8k16"
// and "Register Fragments for wgmma" of the PTX ISA, 8.7. A thread computes its
// own sums.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_MMA_INSTRUCTIONS_CUH
#define MNISTRT_CUDA_KERNELS_MMA_INSTRUCTIONS_CUH

#include "mnistrt/cuda/kernels/instructions.cuh"
#include <array>

namespace mn::device {

namespace emulated_mma {

/// Numbers of 32 bits in 16 bytes, and what a word holds: one of tf32, whose
/// last 13 bits are not read, or two of bf16, the first in the lower half.
struct Tf32 {
  static constexpr int perWord = 1;
  static float get(uint32_t word, int) {
    return std::bit_cast<float>(word & 0xffffe000);
  }
};
struct Bf16 {
  static constexpr int perWord = 2;
  static float get(uint32_t word, int which) {
    return std::bit_cast<float>(which == 0 ? word << 16 : word & 0xffff0000);
  }
};

/// Eight words of a row or column: as many terms of tf32, twice as many of
/// bf16.
using Line = std::array<uint32_t, 8>;

template <typename Type>
float addProducts(float sum, const Line &a, const Line &b) {
  double total = sum;
  for (int word = 0; word < 8; ++word)
    for (int i = 0; i < Type::perWord; ++i)
      total += double(Type::get(a[word], i)) * double(Type::get(b[word], i));
  return float(total);
}

/// Words of the rows of a and of the columns of b that each lane has.
struct Fragments {
  uint32_t a[4], b[2];
};
using OfLanes = emulated::Gpu::OfLanes;

inline uint32_t wordOf(OfLanes lanes, int lane, int word) {
  uint32_t value;
  std::memcpy(&value, lanes[lane] + 4 * word, 4);
  return value;
}
/// Words 0 and 2 of four lanes are a row's halves, or 1 and 3 from row 8 on.
inline Line rowOf(OfLanes lanes, int row) {
  Line line;
  for (int k = 0; k < 8; ++k)
    line[k] = wordOf(lanes, row % 8 * 4 + k % 4, row / 8 + k / 4 * 2);
  return line;
}
inline Line columnOf(OfLanes lanes, int column) {
  Line line;
  for (int k = 0; k < 8; ++k)
    line[k] = wordOf(lanes, column * 4 + k % 4, 4 + k / 4);
  return line;
}

/// Of this thread: two numbers of rows lane / 4 and lane / 4 + 8 in each group
/// of eight columns. `column(c)` gives a line of b.
template <typename Type, int count, typename Column>
void addProducts(float (&d)[count], const Line (&rows)[2], const Column &column,
                 bool add) {
  const int lane = int(threadIdx.x % 32);
  for (int c = 0; c < count / 2; ++c) {
    const Line line = column(c / 2 * 8 + lane % 4 * 2 + c % 2);
    for (int r = 0; r < 2; ++r) {
      float &sum = d[c / 2 * 4 + r * 2 + c % 2];
      sum = addProducts<Type>(add ? sum : 0.0f, rows[r], line);
    }
  }
}

template <typename Type>
void multiplyInWarp(float (&d)[4], const uint32_t (&a)[4],
                    const uint32_t (&b)[2]) {
  const Fragments mine = {{a[0], a[1], a[2], a[3]}, {b[0], b[1]}};
  const OfLanes lanes = emulated::gpu->exchange(&mine, sizeof mine);
  const int lane = int(threadIdx.x % 32);
  addProducts<Type>(
      d, {rowOf(lanes, lane / 4), rowOf(lanes, lane / 4 + 8)},
      [&](int c) { return columnOf(lanes, c); }, true);
}

/// An operand in shared memory, as wgmmaOperand() describes it.
struct Operand {
  uint64_t bits;
  Line line(int number) const {
    const size_t at = groupOf(number) + number % 8 * 16;
    Line line;
    std::memcpy(&line[0], emulated::sharedAt(at), 16);
    std::memcpy(&line[4], emulated::sharedAt(at + bytesAt(16)), 16);
    return line;
  }

protected:
  /// What a field says from this bit on.
  size_t bytesAt(int bit) const { return (bits >> bit & 0x3fff) << 4; }
  size_t groupOf(int number) const {
    return bytesAt(0) + size_t(number / 8) * bytesAt(32);
  }
};
/// In bf16, in lines along rows.
struct OperandInLines : Operand {
  Line line(int number) const {
    uint16_t terms[16];
    for (int k = 0; k < 16; ++k)
      std::memcpy(&terms[k],
                  emulated::sharedAt(groupOf(number) + k / 8 * bytesAt(16) +
                                     k % 8 * 16) +
                      number % 8 * 2,
                  2);
    Line line;
    std::memcpy(&line, terms, sizeof line);
    return line;
  }
};

/// Two rows of a, now or later, times all columns of b.
template <typename Type, typename B = Operand, int count, typename Rows>
void multiplyInGroup(float (&d)[count], const Rows &rowsOf, uint64_t b,
                     int add) {
  const auto multiply = [=, &d] {
    const Line rows[2] = {rowsOf(0), rowsOf(1)};
    addProducts<Type>(d, rows, [=](int c) { return B{b}.line(c); }, add);
  };
  if (emulated::gpu->isLate)
    emulated::gpu->thread->later.open.push_back(multiply);
  else
    multiply();
}
template <typename Type, typename A = Operand, typename B = Operand, int count>
void multiplyInGroup(float (&d)[count], uint64_t a, uint64_t b, int add) {
  const int first = int(threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4);
  multiplyInGroup<Type, B>(
      d, [=](int r) { return A{a}.line(first + 8 * r); }, b, add);
}
template <typename Type, int count>
void multiplyInGroup(float (&d)[count], const uint32_t (&a)[4], uint64_t b,
                     int add) {
  const OfLanes lanes = emulated::gpu->exchange(a, sizeof a);
  const int row = int(threadIdx.x % 32 / 4);
  const Line rows[2] = {rowOf(lanes, row), rowOf(lanes, row + 8)};
  multiplyInGroup<Type>(d, [=](int r) { return rows[r]; }, b, add);
}

} // namespace emulated_mma

inline void mmaTf32(float (&d)[4], const uint32_t (&a)[4],
                    const uint32_t (&b)[2]) {
  emulated_mma::multiplyInWarp<emulated_mma::Tf32>(d, a, b);
}
inline void mmaBf16(float (&d)[4], const uint32_t (&a)[4],
                    const uint32_t (&b)[2]) {
  emulated_mma::multiplyInWarp<emulated_mma::Bf16>(d, a, b);
}

/// Of matrix m: lanes 8 m to 8 m + 7 have the addresses of its rows, and lane l
/// gets word l % 4 of row l / 4.
inline void loadMatrices(uint32_t (&to)[4], const uint4 *row) {
  const auto *rows = emulated::gpu->exchange(&row, sizeof row);
  const int lane = int(threadIdx.x % 32);
  for (int m = 0; m < 4; ++m) {
    const char *theirs;
    std::memcpy(&theirs, rows[m * 8 + lane / 4], sizeof theirs);
    std::memcpy(&to[m], theirs + lane % 4 * 4, 4);
  }
}

/// Rounded to the nearest; away from zero where there are two.
inline uint32_t toTf32(float v) {
  const auto bits = std::bit_cast<uint32_t>(v);
  return std::isfinite(v) ? (bits + 0x1000) & 0xffffe000 : bits;
}

/// Rounded to the nearest even.
inline uint32_t bf16Of(float v) {
  const auto bits = std::bit_cast<uint32_t>(v);
  if (v != v)
    return 0x7fff;
  return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}
inline uint32_t toBf16(float first, float second) {
  return bf16Of(second) << 16 | bf16Of(first);
}

inline void fenceForWgmma() {}
inline void beginWgmma() {}
inline void commitWgmma() {
  auto &later = emulated::gpu->thread->later;
  later.commit(later.open, later.groups);
}
template <int running = 0> void waitForWgmma() {
  auto &later = emulated::gpu->thread->later;
  later.wait(later.groups, running);
}

template <int count, typename A>
void wgmmaTf32(float (&d)[count], const A &a, uint64_t b, int add) {
  emulated_mma::multiplyInGroup<emulated_mma::Tf32>(d, a, b, add);
}
template <int count>
void wgmmaBf16(float (&d)[count], const uint32_t (&a)[4], uint64_t b, int add) {
  emulated_mma::multiplyInGroup<emulated_mma::Bf16>(d, a, b, add);
}
template <bool aLines = false, bool bLines = false, int count>
void wgmmaBf16(float (&d)[count], uint64_t a, uint64_t b, int add) {
  using emulated_mma::Operand, emulated_mma::OperandInLines;
  emulated_mma::multiplyInGroup<
      emulated_mma::Bf16, std::conditional_t<aLines, OperandInLines, Operand>,
      std::conditional_t<bLines, OperandInLines, Operand>>(d, a, b, add);
}

} // namespace mn::device

#endif // MNISTRT_CUDA_KERNELS_MMA_INSTRUCTIONS_CUH
