//===- mma_instructions.cuh - what tensor cores do --------------*- C++ -*-===//

#ifndef MNISTRT_CUDA_KERNELS_MMA_INSTRUCTIONS_CUH
#define MNISTRT_CUDA_KERNELS_MMA_INSTRUCTIONS_CUH

#include "mnistrt/cuda/kernels/instructions.cuh"

#ifdef __CUDACC__

namespace mn::device {

//===----------------------------------------------------------------------===//
// Of a warp
//===----------------------------------------------------------------------===//

/// d += a b, 16 x 8 of 8 terms.
MN_DEVICE void mmaTf32(float (&d)[4], const uint32_t (&a)[4],
                       const uint32_t (&b)[2]) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, "
      "{%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/// d += a b, 16 x 8 of 16 terms.
MN_DEVICE void mmaBf16(float (&d)[4], const uint32_t (&a)[4],
                       const uint32_t (&b)[2]) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, "
      "{%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/// Four matrices of 8 rows of 16 bytes, whose addresses the lanes have.
MN_DEVICE void loadMatrices(uint32_t (&to)[4], const uint4 *row) {
  const unsigned address = sharedAddress(row);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(address)
               : "memory");
}

MN_DEVICE uint32_t toTf32(float v) {
  uint32_t bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(v));
  return bits;
}

/// The first one in the lower half.
MN_DEVICE uint32_t toBf16(float first, float second) {
  uint32_t bits;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(second), "f"(first));
  return bits;
}

//===----------------------------------------------------------------------===//
// Of a warpgroup (see mma.cuh)
//===----------------------------------------------------------------------===//

/// What was written to shared memory is there for the tensor cores.
MN_DEVICE void fenceForWgmma() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
MN_DEVICE void beginWgmma() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
MN_DEVICE void commitWgmma() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
/// Until at most `running` groups are under way.
template <int running = 0> MN_DEVICE void waitForWgmma() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(running) : "memory");
}

// clang-format off
#define MN_SUMS_8 "%0,%1,%2,%3,%4,%5,%6,%7"
#define MN_SUMS_0 "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15"
#define MN_SUMS_16 "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31"
#define MN_SUMS_32 "%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47"
#define MN_SUMS_48 "%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63"
#define MN_SUMS_64 "%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79"
#define MN_SUMS_80 "%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,%94,%95"
#define MN_SUMS_96 "%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,%111"
#define MN_SUMS_112 "%112,%113,%114,%115,%116,%117,%118,%119,%120,%121,%122,%123,%124,%125,%126,%127"
#define MN_SUMS_64_TO_71 "%64,%65,%66,%67,%68,%69,%70,%71"
#define MN_SUMS_80_TO_87 "%80,%81,%82,%83,%84,%85,%86,%87"
#define MN_SUMS_96_TO_103 "%96,%97,%98,%99,%100,%101,%102,%103"
#define MN_SUMS_112_TO_119 "%112,%113,%114,%115,%116,%117,%118,%119"
#define MN_SUMS_16_TO_23 "%16,%17,%18,%19,%20,%21,%22,%23"
#define MN_SUMS_32_TO_39 "%32,%33,%34,%35,%36,%37,%38,%39"
#define MN_SUMS_48_TO_55 "%48,%49,%50,%51,%52,%53,%54,%55"
#define MN_OUT_4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define MN_OUT_8(i) MN_OUT_4(i), MN_OUT_4(i + 4)
#define MN_OUT_16(i) MN_OUT_4(i), MN_OUT_4(i + 4), MN_OUT_4(i + 8), MN_OUT_4(i + 12)
/// d = a b, or d += a b: 64 x N, 8 or 16 terms; two numbers of d a row.
#define MN_WGMMA(NAME, N, TYPE, END, SUMS, OUT, A, B, ADD)                      \
  MN_DEVICE void NAME(float (&d)[N / 2], uint64_t a, uint64_t b, int add) {     \
    asm volatile("{.reg .pred p; setp.ne.b32 p, %" ADD ", 0; "                  \
                 "wgmma.mma_async.sync.aligned.m64n" #N TYPE " {" SUMS "}, %" A \
                 ", %" B ", p, 1, 1" END ";}"                                   \
                 : OUT : "l"(a), "l"(b), "r"(add));                             \
  }
/// Of bf16, where an operand may be in lines along its rows.
#define MN_WGMMA_BF16(N, SUMS, OUT, A, B, ADD, A_LINES, B_LINES)                \
  template <bool aLines = false, bool bLines = false>                           \
  MN_DEVICE void wgmmaBf16(float (&d)[N / 2], uint64_t a, uint64_t b,           \
                           int add) {                                           \
    asm volatile("{.reg .pred p; setp.ne.b32 p, %" ADD ", 0; "                  \
                 "wgmma.mma_async.sync.aligned.m64n" #N "k16.f32.bf16.bf16 {"   \
                 SUMS "}, %" A ", %" B ", p, 1, 1, %" A_LINES ", %" B_LINES     \
                 ";}"                                                           \
                 : OUT : "l"(a), "l"(b), "r"(add), "n"(int(aLines)),            \
                   "n"(int(bLines)));                                           \
  }
/// The same, where registers have the rows of `a`, as for mma.sync.
#define MN_WGMMA_ROWS(NAME, N, TYPE, END, SUMS, OUT, A0, A1, A2, A3, B, ADD)    \
  MN_DEVICE void NAME(float (&d)[N / 2], const uint32_t (&a)[4], uint64_t b,    \
                      int add) {                                                \
    asm volatile("{.reg .pred p; setp.ne.b32 p, %" ADD ", 0; "                  \
                 "wgmma.mma_async.sync.aligned.m64n" #N TYPE " {" SUMS "}, {%"  \
                 A0 ", %" A1 ", %" A2 ", %" A3 "}, %" B ", p, 1, 1" END ";}"    \
                 : OUT : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b),    \
                   "r"(add));                                                   \
  }
#define MN_ALL(...) __VA_ARGS__
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
MN_WGMMA_ROWS(wgmmaTf32, 16, "k8.f32.tf32.tf32", "", MN_SUMS_8, MN_ALL(MN_OUT_8(0)), "8", "9", "10", "11", "12", "13")
MN_WGMMA_ROWS(wgmmaBf16, 16, "k16.f32.bf16.bf16", ", 0", MN_SUMS_8, MN_ALL(MN_OUT_8(0)), "8", "9", "10", "11", "12", "13")
MN_WGMMA_ROWS(wgmmaTf32, 32, "k8.f32.tf32.tf32", "", MN_SUMS_0, MN_ALL(MN_OUT_16(0)), "16", "17", "18", "19", "20", "21")
MN_WGMMA_ROWS(wgmmaBf16, 32, "k16.f32.bf16.bf16", ", 0", MN_SUMS_0, MN_ALL(MN_OUT_16(0)), "16", "17", "18", "19", "20", "21")
MN_WGMMA_ROWS(wgmmaTf32, 48, "k8.f32.tf32.tf32", "", MN_SUMS_0 "," MN_SUMS_16_TO_23, MN_ALL(MN_OUT_16(0), MN_OUT_8(16)), "24", "25", "26", "27", "28", "29")
MN_WGMMA_ROWS(wgmmaBf16, 48, "k16.f32.bf16.bf16", ", 0", MN_SUMS_0 "," MN_SUMS_16_TO_23, MN_ALL(MN_OUT_16(0), MN_OUT_8(16)), "24", "25", "26", "27", "28", "29")
MN_WGMMA_ROWS(wgmmaTf32, 64, "k8.f32.tf32.tf32", "", MN_SUMS_0 "," MN_SUMS_16, MN_ALL(MN_OUT_16(0), MN_OUT_16(16)), "32", "33", "34", "35", "36", "37")
MN_WGMMA_ROWS(wgmmaBf16, 64, "k16.f32.bf16.bf16", ", 0", MN_SUMS_0 "," MN_SUMS_16, MN_ALL(MN_OUT_16(0), MN_OUT_16(16)), "32", "33", "34", "35", "36", "37")
MN_WGMMA_ROWS(wgmmaTf32, 80, "k8.f32.tf32.tf32", "", MN_SUMS_0 "," MN_SUMS_16 "," MN_SUMS_32_TO_39, MN_ALL(MN_OUT_16(0), MN_OUT_16(16), MN_OUT_8(32)), "40", "41", "42", "43", "44", "45")
MN_WGMMA_ROWS(wgmmaBf16, 80, "k16.f32.bf16.bf16", ", 0", MN_SUMS_0 "," MN_SUMS_16 "," MN_SUMS_32_TO_39, MN_ALL(MN_OUT_16(0), MN_OUT_16(16), MN_OUT_8(32)), "40", "41", "42", "43", "44", "45")
MN_WGMMA_ROWS(wgmmaTf32, 96, "k8.f32.tf32.tf32", "", MN_SUMS_0 "," MN_SUMS_16 "," MN_SUMS_32, MN_ALL(MN_OUT_16(0), MN_OUT_16(16), MN_OUT_16(32)), "48", "49", "50", "51", "52", "53")
MN_WGMMA_ROWS(wgmmaBf16, 96, "k16.f32.bf16.bf16", ", 0", MN_SUMS_0 "," MN_SUMS_16 "," MN_SUMS_32, MN_ALL(MN_OUT_16(0), MN_OUT_16(16), MN_OUT_16(32)), "48", "49", "50", "51", "52", "53")
MN_WGMMA_ROWS(wgmmaTf32, 112, "k8.f32.tf32.tf32", "", MN_SUMS_0 "," MN_SUMS_16 "," MN_SUMS_32 "," MN_SUMS_48_TO_55, MN_ALL(MN_OUT_16(0), MN_OUT_16(16), MN_OUT_16(32), MN_OUT_8(48)), "56", "57", "58", "59", "60", "61")
MN_WGMMA_ROWS(wgmmaBf16, 112, "k16.f32.bf16.bf16", ", 0", MN_SUMS_0 "," MN_SUMS_16 "," MN_SUMS_32 "," MN_SUMS_48_TO_55, MN_ALL(MN_OUT_16(0), MN_OUT_16(16), MN_OUT_16(32), MN_OUT_8(48)), "56", "57", "58", "59", "60", "61")
MN_WGMMA_ROWS(wgmmaTf32, 128, "k8.f32.tf32.tf32", "", MN_SUMS_0 "," MN_SUMS_16 "," MN_SUMS_32 "," MN_SUMS_48, MN_ALL(MN_OUT_16(0), MN_OUT_16(16), MN_OUT_16(32), MN_OUT_16(48)), "64", "65", "66", "67", "68", "69")
MN_WGMMA_ROWS(wgmmaBf16, 128, "k16.f32.bf16.bf16", ", 0", MN_SUMS_0 "," MN_SUMS_16 "," MN_SUMS_32 "," MN_SUMS_48, MN_ALL(MN_OUT_16(0), MN_OUT_16(16), MN_OUT_16(32), MN_OUT_16(48)), "64", "65", "66", "67", "68", "69")
MN_WGMMA(wgmmaTf32, 16, "k8.f32.tf32.tf32", "", MN_SUMS_8, MN_ALL(MN_OUT_8(0)), "8", "9", "10")
MN_WGMMA_BF16(16, MN_SUMS_8, MN_ALL(MN_OUT_8(0)), "8", "9", "10", "11", "12")
MN_WGMMA(wgmmaTf32, 32, "k8.f32.tf32.tf32", "", MN_SUMS_0, MN_ALL(MN_OUT_16(0)), "16", "17", "18")
MN_WGMMA_BF16(32, MN_SUMS_0, MN_ALL(MN_OUT_16(0)), "16", "17", "18", "19", "20")
MN_WGMMA(wgmmaTf32, 48, "k8.f32.tf32.tf32", "", MN_SUMS_0 "," MN_SUMS_16_TO_23, MN_ALL(MN_OUT_16(0), MN_OUT_8(16)), "24", "25", "26")
MN_WGMMA_BF16(48, MN_SUMS_0 "," MN_SUMS_16_TO_23, MN_ALL(MN_OUT_16(0), MN_OUT_8(16)), "24", "25", "26", "27", "28")
MN_WGMMA(wgmmaTf32, 64, "k8.f32.tf32.tf32", "", MN_SUMS_0 "," MN_SUMS_16, MN_ALL(MN_OUT_16(0), MN_OUT_16(16)), "32", "33", "34")
MN_WGMMA_BF16(64, MN_SUMS_0 "," MN_SUMS_16, MN_ALL(MN_OUT_16(0), MN_OUT_16(16)), "32", "33", "34", "35", "36")
MN_WGMMA(wgmmaTf32, 80, "k8.f32.tf32.tf32", "", MN_SUMS_0 "," MN_SUMS_16 "," MN_SUMS_32_TO_39, MN_ALL(MN_OUT_16(0), MN_OUT_16(16), MN_OUT_8(32)), "40", "41", "42")
MN_WGMMA_BF16(80, MN_SUMS_0 "," MN_SUMS_16 "," MN_SUMS_32_TO_39, MN_ALL(MN_OUT_16(0), MN_OUT_16(16), MN_OUT_8(32)), "40", "41", "42", "43", "44")
MN_WGMMA(wgmmaTf32, 96, "k8.f32.tf32.tf32", "", MN_SUMS_0 "," MN_SUMS_16 "," MN_SUMS_32, MN_ALL(MN_OUT_16(0), MN_OUT_16(16), MN_OUT_16(32)), "48", "49", "50")
MN_WGMMA_BF16(96, MN_SUMS_0 "," MN_SUMS_16 "," MN_SUMS_32, MN_ALL(MN_OUT_16(0), MN_OUT_16(16), MN_OUT_16(32)), "48", "49", "50", "51", "52")
MN_WGMMA(wgmmaTf32, 112, "k8.f32.tf32.tf32", "", MN_SUMS_0 "," MN_SUMS_16 "," MN_SUMS_32 "," MN_SUMS_48_TO_55, MN_ALL(MN_OUT_16(0), MN_OUT_16(16), MN_OUT_16(32), MN_OUT_8(48)), "56", "57", "58")
MN_WGMMA_BF16(112, MN_SUMS_0 "," MN_SUMS_16 "," MN_SUMS_32 "," MN_SUMS_48_TO_55, MN_ALL(MN_OUT_16(0), MN_OUT_16(16), MN_OUT_16(32), MN_OUT_8(48)), "56", "57", "58", "59", "60")
MN_WGMMA(wgmmaTf32, 128, "k8.f32.tf32.tf32", "", MN_SUMS_0 "," MN_SUMS_16 "," MN_SUMS_32 "," MN_SUMS_48, MN_ALL(MN_OUT_16(0), MN_OUT_16(16), MN_OUT_16(32), MN_OUT_16(48)), "64", "65", "66")
MN_WGMMA_BF16(128, MN_SUMS_0 "," MN_SUMS_16 "," MN_SUMS_32 "," MN_SUMS_48, MN_ALL(MN_OUT_16(0), MN_OUT_16(16), MN_OUT_16(32), MN_OUT_16(48)), "64", "65", "66", "67", "68")
MN_WGMMA(wgmmaTf32, 144, "k8.f32.tf32.tf32", "", MN_SUMS_0 "," MN_SUMS_16 "," MN_SUMS_32 "," MN_SUMS_48 "," MN_SUMS_64_TO_71, MN_ALL(MN_OUT_16(0), MN_OUT_16(16), MN_OUT_16(32), MN_OUT_16(48), MN_OUT_8(64)), "72", "73", "74")
MN_WGMMA_BF16(144, MN_SUMS_0 "," MN_SUMS_16 "," MN_SUMS_32 "," MN_SUMS_48 "," MN_SUMS_64_TO_71, MN_ALL(MN_OUT_16(0), MN_OUT_16(16), MN_OUT_16(32), MN_OUT_16(48), MN_OUT_8(64)), "72", "73", "74", "75", "76")
MN_WGMMA(wgmmaTf32, 160, "k8.f32.tf32.tf32", "", MN_SUMS_0 "," MN_SUMS_16 "," MN_SUMS_32 "," MN_SUMS_48 "," MN_SUMS_64, MN_ALL(MN_OUT_16(0), MN_OUT_16(16), MN_OUT_16(32), MN_OUT_16(48), MN_OUT_16(64)), "80", "81", "82")
MN_WGMMA_BF16(160, MN_SUMS_0 "," MN_SUMS_16 "," MN_SUMS_32 "," MN_SUMS_48 "," MN_SUMS_64, MN_ALL(MN_OUT_16(0), MN_OUT_16(16), MN_OUT_16(32), MN_OUT_16(48), MN_OUT_16(64)), "80", "81", "82", "83", "84")
MN_WGMMA(wgmmaTf32, 176, "k8.f32.tf32.tf32", "", MN_SUMS_0 "," MN_SUMS_16 "," MN_SUMS_32 "," MN_SUMS_48 "," MN_SUMS_64 "," MN_SUMS_80_TO_87, MN_ALL(MN_OUT_16(0), MN_OUT_16(16), MN_OUT_16(32), MN_OUT_16(48), MN_OUT_16(64), MN_OUT_8(80)), "88", "89", "90")
MN_WGMMA_BF16(176, MN_SUMS_0 "," MN_SUMS_16 "," MN_SUMS_32 "," MN_SUMS_48 "," MN_SUMS_64 "," MN_SUMS_80_TO_87, MN_ALL(MN_OUT_16(0), MN_OUT_16(16), MN_OUT_16(32), MN_OUT_16(48), MN_OUT_16(64), MN_OUT_8(80)), "88", "89", "90", "91", "92")
MN_WGMMA(wgmmaTf32, 192, "k8.f32.tf32.tf32", "", MN_SUMS_0 "," MN_SUMS_16 "," MN_SUMS_32 "," MN_SUMS_48 "," MN_SUMS_64 "," MN_SUMS_80, MN_ALL(MN_OUT_16(0), MN_OUT_16(16), MN_OUT_16(32), MN_OUT_16(48), MN_OUT_16(64), MN_OUT_16(80)), "96", "97", "98")
MN_WGMMA_BF16(192, MN_SUMS_0 "," MN_SUMS_16 "," MN_SUMS_32 "," MN_SUMS_48 "," MN_SUMS_64 "," MN_SUMS_80, MN_ALL(MN_OUT_16(0), MN_OUT_16(16), MN_OUT_16(32), MN_OUT_16(48), MN_OUT_16(64), MN_OUT_16(80)), "96", "97", "98", "99", "100")
MN_WGMMA(wgmmaTf32, 208, "k8.f32.tf32.tf32", "", MN_SUMS_0 "," MN_SUMS_16 "," MN_SUMS_32 "," MN_SUMS_48 "," MN_SUMS_64 "," MN_SUMS_80 "," MN_SUMS_96_TO_103, MN_ALL(MN_OUT_16(0), MN_OUT_16(16), MN_OUT_16(32), MN_OUT_16(48), MN_OUT_16(64), MN_OUT_16(80), MN_OUT_8(96)), "104", "105", "106")
MN_WGMMA_BF16(208, MN_SUMS_0 "," MN_SUMS_16 "," MN_SUMS_32 "," MN_SUMS_48 "," MN_SUMS_64 "," MN_SUMS_80 "," MN_SUMS_96_TO_103, MN_ALL(MN_OUT_16(0), MN_OUT_16(16), MN_OUT_16(32), MN_OUT_16(48), MN_OUT_16(64), MN_OUT_16(80), MN_OUT_8(96)), "104", "105", "106", "107", "108")
MN_WGMMA(wgmmaTf32, 224, "k8.f32.tf32.tf32", "", MN_SUMS_0 "," MN_SUMS_16 "," MN_SUMS_32 "," MN_SUMS_48 "," MN_SUMS_64 "," MN_SUMS_80 "," MN_SUMS_96, MN_ALL(MN_OUT_16(0), MN_OUT_16(16), MN_OUT_16(32), MN_OUT_16(48), MN_OUT_16(64), MN_OUT_16(80), MN_OUT_16(96)), "112", "113", "114")
MN_WGMMA_BF16(224, MN_SUMS_0 "," MN_SUMS_16 "," MN_SUMS_32 "," MN_SUMS_48 "," MN_SUMS_64 "," MN_SUMS_80 "," MN_SUMS_96, MN_ALL(MN_OUT_16(0), MN_OUT_16(16), MN_OUT_16(32), MN_OUT_16(48), MN_OUT_16(64), MN_OUT_16(80), MN_OUT_16(96)), "112", "113", "114", "115", "116")
MN_WGMMA(wgmmaTf32, 240, "k8.f32.tf32.tf32", "", MN_SUMS_0 "," MN_SUMS_16 "," MN_SUMS_32 "," MN_SUMS_48 "," MN_SUMS_64 "," MN_SUMS_80 "," MN_SUMS_96 "," MN_SUMS_112_TO_119, MN_ALL(MN_OUT_16(0), MN_OUT_16(16), MN_OUT_16(32), MN_OUT_16(48), MN_OUT_16(64), MN_OUT_16(80), MN_OUT_16(96), MN_OUT_8(112)), "120", "121", "122")
MN_WGMMA_BF16(240, MN_SUMS_0 "," MN_SUMS_16 "," MN_SUMS_32 "," MN_SUMS_48 "," MN_SUMS_64 "," MN_SUMS_80 "," MN_SUMS_96 "," MN_SUMS_112_TO_119, MN_ALL(MN_OUT_16(0), MN_OUT_16(16), MN_OUT_16(32), MN_OUT_16(48), MN_OUT_16(64), MN_OUT_16(80), MN_OUT_16(96), MN_OUT_8(112)), "120", "121", "122", "123", "124")
MN_WGMMA(wgmmaTf32, 256, "k8.f32.tf32.tf32", "", MN_SUMS_0 "," MN_SUMS_16 "," MN_SUMS_32 "," MN_SUMS_48 "," MN_SUMS_64 "," MN_SUMS_80 "," MN_SUMS_96 "," MN_SUMS_112, MN_ALL(MN_OUT_16(0), MN_OUT_16(16), MN_OUT_16(32), MN_OUT_16(48), MN_OUT_16(64), MN_OUT_16(80), MN_OUT_16(96), MN_OUT_16(112)), "128", "129", "130")
MN_WGMMA_BF16(256, MN_SUMS_0 "," MN_SUMS_16 "," MN_SUMS_32 "," MN_SUMS_48 "," MN_SUMS_64 "," MN_SUMS_80 "," MN_SUMS_96 "," MN_SUMS_112, MN_ALL(MN_OUT_16(0), MN_OUT_16(16), MN_OUT_16(32), MN_OUT_16(48), MN_OUT_16(64), MN_OUT_16(80), MN_OUT_16(96), MN_OUT_16(112)), "128", "129", "130", "131", "132")
#endif
// clang-format on

} // namespace mn::device

#endif // __CUDACC__
#endif // MNISTRT_CUDA_KERNELS_MMA_INSTRUCTIONS_CUH
