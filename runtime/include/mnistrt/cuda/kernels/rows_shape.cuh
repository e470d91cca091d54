//===- rows_shape.cuh - which threads have a row ----------------*- C++ -*-===//

#ifndef MNISTRT_CUDA_KERNELS_ROWS_SHAPE_CUH
#define MNISTRT_CUDA_KERNELS_ROWS_SHAPE_CUH

#include "mnistrt/cuda/kernels/common.cuh"
#include "mnistrt/rows.h"

namespace mn {

namespace shape {

/// A block has `rows` / `tall` x `team` threads; `splits` blocks share its
/// rows.
struct RowTeams {
  bool alongElements = true; ///< neighbouring threads; else along rows
  int wide = 1;              ///< elements next to each other that a thread has
  bool ragged = false;       ///< of which some may be other rows'
  int tall = 1;              ///< rows next to each other that a thread has
  bool byPhases = false;     ///< a launch for each phase; splits are no cluster
  int rows = 1;
  int team = 1;
  int splits = 1;
  int64_t groups = 1; ///< of `rows` rows

  MN_SHAPE_FN int threads() const { return rows / tall * team; }
  /// All of them, where they can read each other's shared memory.
  MN_SHAPE_FN bool isOneCluster() const {
    return groups * splits <= largestCluster;
  }
};

/// Elements that a thread has of a row, while there may be more threads.
inline constexpr int rowDepth = 8;

/// Elements, or neighbours, of so many bytes that a thread has on their way
/// from memory at once.
MN_SHAPE_FN int elementsUnderWay(size_t bytes) {
  return max(2, min(8, 128 / int(bytes)));
}

/// So many rows in a block that all blocks are one cluster, if that can be: to
/// put totals together through memory takes as long as the rows.
MN_SHAPE_FN int rowsForTotals(const RowTeams &t, const Reduce &s) {
  // More threads have too few registers for long rows.
  const int most = s.size <= 2 * t.team ? 1024 : 512;
  int rows = t.rows;
  while (rows * t.team < most && rows < s.outputs)
    rows *= 2;
  return ceilDiv<int64_t>(s.outputs, rows) <= largestCluster ? rows : t.rows;
}

/// Fours that have a run of adjacent elements, wherever it begins; and those
/// of a row.
MN_SHAPE_FN int64_t foursOfRun(const Reduce &s) {
  return ceilDiv<int64_t>(s.run + 3, 4);
}
MN_SHAPE_FN int64_t raggedFours(const Reduce &s) {
  return s.size / s.run * foursOfRun(s);
}

/// Where elements come in `fours`. A warp or less has a row of up to sixteen
/// elements a thread; a longer one has a block, or as many as may run at once
/// if each has fours enough.
MN_SHAPE_FN RowTeams teamsOfFours(const Reduce &s, int64_t fours) {
  constexpr int most = 512, each = 4, enough = 512;
  RowTeams t{.wide = 4};
  if (fours <= 32 * each) {
    while (t.team < 32 && t.team < fours)
      t.team *= 2;
    t.rows = 256 / t.team;
    while (t.threads() > 64 && s.outputs < int64_t(t.rows) * referenceSms)
      t.rows /= 2;
    return t;
  }
  while (t.splits < largestCluster &&
         s.outputs <= clustersAtOnce(t.splits + 1) &&
         fours >= enough * (t.splits + 1))
    ++t.splits;
  const int64_t ofBlock = ceilDiv<int64_t>(fours, t.splits);
  const int64_t ofThread = ceilDiv<int64_t>(ofBlock, most);
  t.team =
      int(min<int64_t>(most, ceilDiv<int64_t>(ofBlock, ofThread * 32) * 32));
  return t;
}

/// Threads of a block, where a team could have more.
inline constexpr int mostOfTeams = 512;
/// A sector of memory, in floats.
inline constexpr int sector = 8;

/// Whether neighbouring threads have neighbouring elements of a row, not rows.
MN_SHAPE_FN bool goesAlongElements(const Reduce &s) {
  return s.contiguous || s.run >= sector;
}

/// Which threads of a warp have which of its rows, in a chain, where a row may
/// have `threads` of the block: as few share one as have few elements each, so
/// that a warp has many rows at once.
MN_SHAPE_FN RowTeams rowTeamsOfWarp(const Reduce &s, int threads) {
  RowTeams t{.alongElements = goesAlongElements(s)};
  t.team = t.alongElements ? 8 : 4;
  const auto takesMore = [&] {
    return int64_t(t.team) * rowDepth < s.size ||
           (t.alongElements && t.team < s.size && 2 * t.team <= threads);
  };
  while (t.team < 32 && takesMore())
    t.team *= 2;
  t.rows = 32 / t.team;
  return t;
}

/// Of rows that lie side by side, of which a thread has `tall`.
MN_SHAPE_FN RowTeams teamsOfColumns(const Reduce &s, int tall) {
  RowTeams t{.alongElements = false, .tall = tall};
  t.rows = tall == 1 && s.outputs < 32 * referenceSms ? sector : 32;
  t.team = 128 * tall / t.rows;
  while (t.threads() < mostOfTeams && int64_t(t.team) * rowDepth < s.size)
    t.team *= 2;
  return t;
}

/// Whether so few rows lie side by side, and each has so much, that a launch
/// for every phase pays: all blocks have a part of all rows then. With 384 rows
/// a network took 380 us a step, by clusters 500 or more, on one H100; of more
/// rows than this the two differ by 1 %
/// (docs/results/2026-11-26-columns-and-runs.md).
MN_SHAPE_FN bool goesByPhases(const Reduce &s) {
  return s.outputs < 1040 &&
         s.outputs * s.size >= int64_t(4) * 1024 * referenceSms;
}

/// A block has so many rows that few threads are left without, and lines of
/// memory are whole; a multiprocessor one block. Where a power of two would
/// leave more than a tenth, blocks share rows equally, in fours.
MN_SHAPE_FN RowTeams teamsOfPhases(const Reduce &s) {
  constexpr int64_t mostRows = 128;
  RowTeams t{.alongElements = false, .tall = 4, .byPhases = true};
  int64_t fewest = 0;
  for (int rows = 64; rows >= 32; rows /= 2)
    if (const int64_t all = ceilDiv<int64_t>(s.outputs, rows) * rows;
        fewest == 0 || all < fewest)
      fewest = all, t.rows = rows;
  if (10 * fewest > 11 * s.outputs) {
    const int64_t groups = ceilDiv<int64_t>(s.outputs, mostRows);
    t.rows = int(ceilDiv<int64_t>(s.outputs, 4 * groups) * 4);
  }
  t.groups = ceilDiv<int64_t>(s.outputs, t.rows);
  t.team = mostOfTeams * t.tall / t.rows;
  t.splits = int(max<int64_t>(
      1, min<int64_t>(referenceSms / t.groups,
                      ceilDiv<int64_t>(s.size, int64_t(t.team) * rowDepth))));
  return t;
}

/// With as many blocks for some rows as run at once: more would wait for a
/// whole row each.
MN_SHAPE_FN RowTeams spread(RowTeams t, const Reduce &s) {
  t.groups = ceilDiv<int64_t>(max<int64_t>(s.outputs, 1), t.rows);
  const int64_t turns = ceilDiv<int64_t>(s.size, int64_t(t.team) * rowDepth);
  const int64_t blocks = 2 * referenceSms / t.groups;
  t.splits = int(max<int64_t>(
      1, min<int64_t>(min<int64_t>(turns, blocks), largestCluster)));
  return t;
}

/// Whether threads should have four rows: a quarter of those that a large GPU
/// can have are at work then, or the elements come from beyond its caches,
/// where whole lines count.
MN_SHAPE_FN bool prefersFourRows(const Reduce &s) {
  constexpr int64_t ofCaches = int64_t(1) << 23;
  const RowTeams t = spread(teamsOfColumns(s, 4), s);
  return hasFoursOfResults(s) &&
         (t.groups * t.splits * t.threads() >= 256 * referenceSms ||
          s.outputs * s.size >= ofCaches);
}

/// Whether threads can have fours of which some are of other rows: where long
/// runs begin anywhere, as those of images of 7 x 7 do. What is read beyond
/// them is there.
MN_SHAPE_FN bool isRagged(const Reduce &s) {
  return !s.contiguous && s.run >= 4 * sector && s.size % s.run == 0 &&
         s.outputs * s.size % 4 == 0;
}

/// What a functor says of its rows (mnistrt/rows.h).
struct RowTraits {
  bool hasTotals = false, drawsNumbers = false, rowsInFours = false;
  bool hasRunsApart = false, runsBeside = false, storesElements = false;
  int elementBytes = 4; ///< of what is loaded of an element
  int launches = 1; ///< if each phase has one, and elements stored after them
};
template <typename F>
inline constexpr RowTraits rowTraits = {
    HasTotals<F>,
    DrawsNumbers<F>,
    HasRowsInFours<F>,
    HasRunsApart<F>,
    RunsBeside<F>,
    F::storesElements,
    int(sizeof(typename F::ElementValues)),
    F::Phases::count + (F::storesElements && !StoresInLastPhase<F>)};

/// Ragged fours are for rows in which numbers are drawn, four at a time: others
/// take longer so.
MN_SHAPE_FN RowTeams rowTeams(const Reduce &s, const RowTraits &f = {}) {
  const bool inFours = s.size > 4 && (s.contiguous ? s.size : s.run) % 4 == 0;
  if (!f.hasTotals && (inFours || (f.drawsNumbers && isRagged(s)))) {
    RowTeams t = teamsOfFours(s, inFours ? s.size / 4 : raggedFours(s));
    t.ragged = !inFours;
    t.groups = ceilDiv<int64_t>(max<int64_t>(s.outputs, 1), t.rows);
    return t;
  }
  const bool mayBeTall = f.rowsInFours && !f.hasTotals;
  if (mayBeTall && goesByPhases(s))
    return teamsOfPhases(s);
  RowTeams t;
  t.alongElements = goesAlongElements(s);
  if (s.size <= 4) {
    t.rows = 128;
  } else if (t.alongElements) {
    t.team = threadsOfRow(s, 32);
    while (t.team < mostOfTeams && int64_t(t.team) * rowDepth < s.size)
      t.team *= 2;
    t.rows = max(256 / t.team, 1);
  } else {
    t = teamsOfColumns(s, mayBeTall && prefersFourRows(s) ? 4 : 1);
  }
  if (f.hasTotals)
    t.rows = rowsForTotals(t, s);
  return spread(t, s);
}

/// Threads of a team that have elements where each has ones that are whole runs
/// apart; 0 where these would be less than three quarters. Fours are few enough
/// without.
MN_SHAPE_FN int threadsOfRuns(const Reduce &s, const RowTeams &t) {
  if (s.contiguous || !t.alongElements || t.wide > 1)
    return 0;
  const int64_t threads = t.team / s.run * s.run;
  return 4 * threads >= 3 * t.team ? int(threads) : 0;
}
/// Of runs that are equally far apart.
MN_SHAPE_FN bool goesByRuns(const Reduce &s, const RowTraits &f,
                            const RowTeams &t) {
  return f.hasRunsApart && threadsOfRuns(s, t) > 0;
}
MN_SHAPE_FN int threadsAtWork(const Reduce &s, const RowTraits &f,
                              const RowTeams &t) {
  return goesByRuns(s, f, t) ? threadsOfRuns(s, t) : t.team;
}

/// Whether what a thread has of a row stays in its registers, beside those that
/// any row takes, where a block has `threads`.
MN_SHAPE_FN bool keepsRows(const Reduce &s, const RowTraits &f,
                           const RowTeams &t, int threads) {
  const int registers = max(16, min(80, 65536 / threads - 72));
  const int64_t all = t.ragged ? 4 * raggedFours(s) : s.size;
  const int64_t stride = int64_t(threadsAtWork(s, f, t)) * t.splits * t.wide;
  return ceilDiv<int64_t>(all, stride) * t.wide * f.elementBytes <=
         4 * registers;
}

/// Rows that caches do not hold are shared by more blocks where they stay in
/// registers then: they are loaded once. Others by as many as leave each a few
/// turns, until there are several for each multiprocessor.
MN_SHAPE_FN RowTeams rowTeamsOf(const Reduce &s, const RowTraits &f) {
  constexpr int64_t ofCaches = int64_t(1) << 22;
  RowTeams t = rowTeams(s, f);
  if (f.hasTotals || f.drawsNumbers || t.tall > 1 || t.rows > 1 ||
      s.outputs * s.size < ofCaches)
    return t;
  for (RowTeams more = t; more.splits <= largestCluster; ++more.splits)
    if (keepsRows(s, f, more, more.threads()))
      return more;
  const int64_t turn = int64_t(t.team) * rowDepth;
  while (t.splits < largestCluster && s.outputs * t.splits < 8 * referenceSms &&
         s.size >= (t.splits + 1) * turn)
    ++t.splits;
  return t;
}

template <typename F> MN_SHAPE_FN RowTeams rowTeamsOf(const Reduce &s) {
  return rowTeamsOf(s, rowTraits<F>);
}

MN_SHAPE_FN LaunchShape rows(const Reduce &s, const RowTraits &f) {
  const RowTeams t = rowTeamsOf(s, f);
  const bool together = f.hasTotals && t.isOneCluster();
  const int64_t blocks = t.groups * t.splits;
  return {.blocks = static_cast<unsigned>(blocks),
          .threads = static_cast<unsigned>(t.threads()),
          .cluster = static_cast<unsigned>(together     ? blocks
                                           : t.byPhases ? 1
                                                        : clusterOf(t.splits)),
          // Beside others they begin where there is room, but for phases of
          // steps that store elements: GPT took 477 us a step instead of 501
          // (docs/results/2026-11-30-recurrences-h200.md).
          .spread = blocks <= referenceSms &&
                    (!f.runsBeside || (t.byPhases && f.storesElements))};
}

/// Launches of a step: one, or one for each phase.
MN_SHAPE_FN int launchesOf(const Reduce &s, const RowTraits &f) {
  return rowTeamsOf(s, f).byPhases ? f.launches : 1;
}

/// Of a row's elements, which parts have in turns of `each`, those of one part.
MN_SHAPE_FN int64_t elementsOf(const Reduce &s, int64_t each, int parts,
                               int part) {
  const int64_t turn = each * parts;
  return s.size / turn * each +
         max<int64_t>(0, min<int64_t>(s.size % turn - part * each, each));
}

/// Whether a phase, a mean, is put together with the next, the squares of
/// differences from it: no results of elements are known in the latter.
template <typename F, int p>
inline constexpr bool takesMoments =
    IsMean<F, p> && !(StoresInLastPhase<F> && p + 2 == F::Phases::count);

} // namespace shape

} // namespace mn

#endif // MNISTRT_CUDA_KERNELS_ROWS_SHAPE_CUH
