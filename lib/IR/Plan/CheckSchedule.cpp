//===- CheckSchedule.cpp - which schedules a kernel can run ---------------===//
//
// What a kernel asserts, and where it would be wrong in silence. What is merely
// slow is allowed.
//
//===----------------------------------------------------------------------===//

#include "lib/IR/Plan/Contraction.h"
#include "lib/IR/Plan/StepBody.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::mnistc;
using llvm::formatv;

/// What a kernel may declare of shared memory.
static constexpr int64_t declaredShared = 48 << 10;
/// Results that a thread keeps in registers.
static constexpr int ffmaResults = 64, mmaResults = 128;
static constexpr int mostThreads = 1024, mostDepth = 64, mostSplit = 256;
static constexpr int64_t mostBlocks = INT32_MAX, mostParts = 1 << 28;

static bool isPowerOfTwo(int n, int most) {
  return n >= 1 && n <= most && (n & (n - 1)) == 0;
}

static std::string tileText(const mn::ProductSchedule &s) {
  std::string slices =
      s.slices == 1 ? "" : formatv(", slices = {0}", s.slices).str();
  return formatv("tile = [{0}, {1}, {2}], warps = [{3}, {4}]{5}", s.tile[0],
                 s.tile[1], s.tile[2], s.warps[0], s.warps[1], slices);
}

static std::string ffmaProblem(const Contraction &c,
                               const mn::ProductSchedule &s) {
  if (s.warps[1] != 1 || s.tile[0] % s.warps[0] != 0 || s.tile[1] % 32 != 0 ||
      s.slices != 1)
    return "expected warps along m only that divide the tile, a multiple of 32 "
           "along n and one slice, got " +
           tileText(s);
  mn::shape::Tiles t = mn::shape::tilesOf(c.product());
  if (t.rows * t.columns > ffmaResults || t.depth > mostDepth)
    return formatv("expected at most {0} results a thread and {1} terms at a "
                   "time, got {2} and {3}",
                   ffmaResults, mostDepth, t.rows * t.columns, t.depth);
  int64_t shared = int64_t(t.depth) *
                   (t.height() + (t.height() % 4 ? 1 : 4) + t.width() + 1) *
                   c.elementBytes;
  if (shared > declaredShared)
    return formatv("expected a tile that needs at most {0} bytes of shared "
                   "memory, got {1}",
                   declaredShared, shared);
  return "";
}

/// Whether a thread that brings several rows of a tile has always the same one,
/// or looks up each.
static bool sharesRows(int rows, int threads) {
  return rows > threads || threads % rows == 0;
}

static std::string mmaProblem(const Contraction &c,
                              const mn::ProductSchedule &s) {
  const int step = s.mma == mn::Mma::bf16 ? 16 : 8;
  if (s.tile[0] % (16 * s.warps[0]) != 0 ||
      s.tile[1] % (16 * s.warps[1]) != 0 || s.tile[2] % step != 0)
    return formatv("expected multiples of 16 for each warp and of {0} along k, "
                   "got {1}",
                   step, tileText(s));
  mn::shape::Tiles t = mn::shape::tilesOf(c.product());
  const int along = t.depth / (step / 8);
  if (t.depth > t.threads() || t.threads() % along != 0 ||
      !sharesRows(t.height(), t.threads()) ||
      !sharesRows(t.width(), t.threads()))
    return formatv("expected a tile that {0} threads bring in whole rows, got "
                   "{1}",
                   t.threads(), tileText(s));
  if (t.rows * t.columns / 32 > mmaResults)
    return formatv("expected at most {0} results a thread, got {1}", mmaResults,
                   t.rows * t.columns / 32);
  if (mn::shape::sharedBytes(t) > mn::shape::smallestShared)
    return formatv("expected a tile that needs at most {0} bytes of shared "
                   "memory, got {1}",
                   mn::shape::smallestShared, mn::shape::sharedBytes(t));
  return "";
}

static std::string productProblem(const Contraction &c,
                                  const mn::ProductSchedule &s) {
  if (s.slices < 1 || s.slices > mn::shape::mostSlices)
    return formatv("expected 1 to {0} slices, got {1}", mn::shape::mostSlices,
                   s.slices);
  if (int64_t threads = int64_t(32) * s.warps[0] * s.warps[1] * s.slices;
      threads > mostThreads)
    return formatv("expected at most {0} threads, got {1}", mostThreads,
                   threads);
  std::string problem =
      s.mma == mn::Mma::ffma ? ffmaProblem(c, s) : mmaProblem(c, s);
  if (!problem.empty())
    return problem;
  mn::shape::Product p = c.product();
  mn::shape::Tiles t = mn::shape::tilesOf(p);
  if (s.split > mostSplit || double(t.count) * s.split > mostBlocks)
    return formatv("expected a split of {0} or less into at most {1} blocks, "
                   "got {2} into {3}",
                   mostSplit, mostBlocks, s.split, t.count * s.split);
  if (s.split > 1 && double(p.batches) * p.m * p.n * s.split > mostParts)
    return formatv("expected at most {0} parts of sums, got {1} of each of {2}",
                   mostParts, s.split, p.batches * p.m * p.n);
  return "";
}

static std::string dotsProblem(const Contraction &c,
                               const mn::ProductSchedule &s) {
  if (c.matmul.m > mn::shape::mostDotsRows)
    return formatv("expected at most {0} rows of dot products, got {1}",
                   mn::shape::mostDotsRows, c.matmul.m);
  const int fewest = mn::shape::fewestDotsColumns(c.matmul),
            most = mn::shape::mostDotsColumns(c.matmul);
  if (!isPowerOfTwo(s.width, most) || s.width < fewest ||
      !isPowerOfTwo(s.warps[0], mn::shape::mostDotsWarps))
    return formatv("expected powers of two, of {0} to {1} columns and at most "
                   "{2} warps, got {3} and {4}",
                   fewest, most, mn::shape::mostDotsWarps, s.width, s.warps[0]);
  mn::shape::Tiles t = mn::shape::tilesOf(c.product());
  if (s.split > mn::shape::largestCluster ||
      double(t.count) * s.split > mostBlocks)
    return formatv("expected a split of {0} or less into at most {1} blocks, "
                   "got {2} into {3}",
                   mn::shape::largestCluster, mostBlocks, s.split,
                   t.count * s.split);
  return "";
}

static std::string directProblem(const Contraction &c,
                                 const mn::ProductSchedule &s) {
  const int most = mn::shape::Direct::mostImages;
  if (!isPowerOfTwo(s.images, most) || c.conv.batch % s.images != 0)
    return formatv("expected 1, 2 or {0} images a thread that divide the batch "
                   "of {1}, got {2}",
                   most, c.conv.batch, s.images);
  if (int64_t products = c.work().direct.products;
      products > mn::shape::Direct::mostProducts)
    return formatv("expected at most {0} products for each result of a direct "
                   "convolution, got {1}",
                   mn::shape::Direct::mostProducts, products);
  return "";
}

static std::string columnsProblem(const Contraction &c,
                                  const mn::ProductSchedule &s) {
  mn::shape::Windows w = c.work().windows;
  if (!mn::shape::hasColumns(c.conv, w))
    return "expected images in nchw of two dimensions or more for columns, got "
           "others";
  const mn::shape::Columns t =
      mn::shape::counted(mn::shape::Columns{s.height, s.width, s.split}, w);
  const bool keeps = t.keeps && isPowerOfTwo(s.width, 32);
  if (!keeps && (!isPowerOfTwo(s.height, 8) || !isPowerOfTwo(s.width, 16) ||
                 !isPowerOfTwo(s.split, 8) || s.height * s.width > ffmaResults))
    return formatv("expected powers of two for columns, a height and split of "
                   "at most 8, a width of at most 16 and {0} results a thread, "
                   "got height = {1}, width = {2}, split = {3}",
                   ffmaResults, s.height, s.width, s.split);
  if (!mn::shape::fits(w, mn::shape::counted(t, w)))
    return formatv("expected columns for which a block has room, got height = "
                   "{0}, width = {1}, split = {2} for {3} channels and windows "
                   "of {4}",
                   s.height, s.width, s.split, w.channels, w.taps());
  return "";
}

/// Of patches with a height.
static std::string stripProblem(const mn::shape::Windows &w,
                                const mn::ProductSchedule &s) {
  if (s.height == 1)
    return "";
  if (!mn::shape::hasStrips(w))
    return formatv("expected no height for patches but in tf32 or bf16, of two "
                   "dimensions, with strides of 1, sums of at most {0} terms "
                   "and pools with windows of two columns, got {1}",
                   mn::shape::keptTerms(w.mma), s.height);
  if (!mn::shape::isStripHeight(w, s.height))
    return formatv("expected a height of 4, 6, 8, ... {0} for patches, a "
                   "multiple of a pool's windows, got {1}",
                   mn::shape::Patch::highest, s.height);
  if (s.width % 64 != 0 || s.split != 1)
    return formatv(
        "expected a width of 64 or 128 and no split for patches with "
        "a height, got width = {0}, split = {1}",
        s.width, s.split);
  return "";
}

static std::string patchesProblem(const Contraction &c,
                                  const mn::ProductSchedule &s) {
  mn::shape::Windows w = c.work().ofPatches;
  if (s.mma == mn::Mma::ffma)
    return "expected tensor cores for patches, got mma = ffma";
  if (!mn::shape::hasPatches(c.conv, w))
    return "expected strides of 1 for patches, or ones that divide the image "
           "and are no longer than undilated windows, got others";
  const int widest = mn::shape::Patch::widest;
  if (s.width < 16 || s.width % 16 != 0 || s.width > widest)
    return formatv("expected a width of 16, 32, 48, ... {0} for patches, got "
                   "{1}",
                   widest, s.width);
  if (std::string problem = stripProblem(w, s); !problem.empty())
    return problem;
  mn::shape::Patch patch =
      mn::shape::counted(mn::shape::Patch{s.width, s.split, s.height}, w);
  if (!isPowerOfTwo(s.split, mn::shape::largestCluster) ||
      !mn::shape::hasTurns(w, patch))
    return formatv("expected a split of 1, 2, 4 or 8 into blocks that each sum "
                   "some of {0} channels, {1} at a time, got {2}",
                   w.channels, 2 * mn::shape::chunkOf(w.mma), s.split);
  unsigned shared = mn::shape::sharedBytes(w, patch);
  if (shared > mn::shape::smallestShared)
    return formatv("expected patches that need at most {0} bytes of shared "
                   "memory, got {1}",
                   mn::shape::smallestShared, shared);
  return "";
}

static std::string weightsProblem(const Contraction &c,
                                  const mn::ProductSchedule &s) {
  const int most = mn::shape::FewWeights::registers;
  const int64_t weights = mn::shape::weightsOf(c.conv);
  if (c.conv.layout != mn::Layout::nchw && c.conv.inChannels != 1)
    return formatv("expected images in nchw, or of one channel, for weights in "
                   "registers, got {0} channels in nhwc",
                   c.conv.inChannels);
  if (!isPowerOfTwo(s.channels, 8) || weights * s.channels > most)
    return formatv("expected 1, 2, 4 or 8 channels with at most {0} weights a "
                   "thread, got {1} with {2} each",
                   most, s.channels, weights);
  if (!mn::shape::hasColumnsOfFew(c.conv))
    return formatv("expected filters of at most {0} taps along a dimension, "
                   "and of at most {0} pixels with what dilations leave out, "
                   "for weights in registers, got more",
                   mn::shape::Columns::mostBits);
  if (!mn::shape::hasWindowsOfPool(c.conv))
    return formatv("expected windows of at most {0} rows in a pool whose "
                   "gradient is read, got {1}",
                   mn::shape::FewWeights::mostRows,
                   mn::shape::poolRows(mn::shape::windowsOfFew(c.conv)));
  if (double(mn::shape::fewWeights(c.conv).tiles) * s.split *
          double(s.channels * weights) >
      mostParts)
    return formatv("expected at most {0} parts of sums, got a split of {1}",
                   mostParts, s.split);
  return "";
}

static std::string bandsProblem(const Contraction &c,
                                const mn::ProductSchedule &s) {
  if (s.mma == mn::Mma::ffma)
    return "expected tensor cores for bands, got mma = ffma";
  if (!mn::shape::hasBands(c.conv))
    return "expected images in nchw of at most two dimensions for bands, got "
           "others";
  using mn::shape::Bands;
  if (s.warpgroups != 0 &&
      (s.warpgroups < Bands::fewestGroups || s.warpgroups > Bands::mostGroups))
    return formatv("expected 0 or {0} to {1} warpgroups for bands, got {2}",
                   Bands::fewestGroups, Bands::mostGroups, s.warpgroups);
  if (!mn::shape::isBandSize(s.height, s.width, s.warpgroups))
    return s.warpgroups == 0
               ? formatv("expected a height of 16, 32 or 64 and a width of 8, "
                         "16 or 32 for bands, of {0} warps at most, got height "
                         "= {1}, width = {2}",
                         Bands::warps, s.height, s.width)
                     .str()
               : formatv("expected a height of 16, 32, 64 or 128 and a width "
                         "of 8, 16, 24, ... 64 for bands of warpgroups, got "
                         "height = {0}, width = {1}",
                         s.height, s.width)
                     .str();
  mn::shape::Bands t = mn::shape::bandsOf(c.conv);
  if (s.split > mostSplit || t.rows == 0)
    return formatv("expected a split of {0} or less into bands that need at "
                   "most {1} bytes of shared memory{2}, got {3}",
                   mostSplit, mn::shape::smallestShared,
                   s.warpgroups == 0 ? ""
                                     : formatv(" and {0} registers of a thread",
                                               mn::shape::mostBandRegisters(t))
                                           .str(),
                   s.split);
  if (double(t.results()) * s.split > mostParts)
    return formatv("expected at most {0} parts of sums, got {1} of each of {2}",
                   mostParts, s.split, t.results());
  return "";
}

/// What `way` is for.
static bool isFor(mn::Way way, const Contraction &c) {
  switch (way) {
  case mn::Way::product:
    return true;
  case mn::Way::weights:
  case mn::Way::bands:
    return c.kind == Contraction::Kind::filterGrad;
  case mn::Way::dots:
    return c.kind == Contraction::Kind::matmul;
  case mn::Way::direct:
    return c.isConvolution();
  default:
    return c.isConvolution() && c.work().hasWindows;
  }
}

static std::string poolProblem(const Contraction &c,
                               const mn::ProductSchedule &s) {
  if (c.conv.pool.out[0] == 0)
    return "";
  if (c.kind == Contraction::Kind::filterGrad)
    return s.way == mn::Way::weights || s.way == mn::Way::bands
               ? ""
               : "expected weights or bands where the gradient of a pool is "
                 "read, got others";
  if (c.kind == Contraction::Kind::inputGrad)
    return s.way == mn::Way::patches &&
                   mn::shape::patchesReadPool(c.conv.pool, s.height)
               ? ""
               : "expected patches, not strips, of windows of at most two "
                 "dimensions and eight columns where the gradient of a pool is "
                 "read, got others";
  return s.way == mn::Way::columns || s.way == mn::Way::patches
             ? ""
             : "expected columns or patches for a convolution with a pool, got "
               "others";
}

static std::string kernelProblem(const Contraction &c,
                                 const mn::ProductSchedule &s) {
  if (std::string problem = poolProblem(c, s); !problem.empty())
    return problem;
  switch (s.way) {
  case mn::Way::product:
    return productProblem(c, s);
  case mn::Way::dots:
    return dotsProblem(c, s);
  case mn::Way::direct:
    return directProblem(c, s);
  case mn::Way::columns:
    return columnsProblem(c, s);
  case mn::Way::patches:
    return patchesProblem(c, s);
  case mn::Way::weights:
    return weightsProblem(c, s);
  case mn::Way::bands:
    return bandsProblem(c, s);
  }
  llvm_unreachable("all ways are checked");
}

/// The numbers of a schedule: as many as there should be, none out of range.
static std::string numbersProblem(StepOp step) {
  SmallVector<int64_t> numbers;
  step.getScheduleAttr().walkImmediateSubElements(
      [&](Attribute attribute) {
        if (auto array = dyn_cast<DenseI64ArrayAttr>(attribute))
          llvm::append_range(numbers, array.asArrayRef());
      },
      [](Type) {});
  if (auto product = dyn_cast<ProductAttr>(step.getScheduleAttr())) {
    auto sizeOf = [](DenseI64ArrayAttr array, int64_t otherwise) {
      return array ? array.size() : otherwise;
    };
    int64_t tile = sizeOf(product.getTile(), 3),
            warps = sizeOf(product.getWarps(), 2);
    if (tile != 3 || warps != 2)
      return formatv("expected a tile of three numbers and warps of two, got "
                     "{0} and {1}",
                     tile, warps);
    if (!product.getTile() && (product.getWarps() || product.getSplit() != 1))
      return "expected a tile with warps and split, got none";
    numbers.push_back(product.getSplit());
  }
  llvm::TypeSwitch<Attribute>(step.getScheduleAttr())
      .Case([&](DotsAttr s) {
        numbers.append({s.getWidth(), s.getWarps(), s.getSplit()});
      })
      .Case([&](DirectAttr s) { numbers.push_back(s.getImages()); })
      .Case([&](ColumnsAttr s) {
        numbers.append({s.getHeight(), s.getWidth(), s.getSplit()});
      })
      .Case(
          [&](PatchesAttr s) { numbers.append({s.getHeight(), s.getWidth()}); })
      .Case([&](WeightsAttr s) {
        numbers.append({s.getChannels(), s.getSplit()});
      })
      .Case([&](BandsAttr s) {
        numbers.append({s.getHeight(), s.getWidth(), s.getSplit()});
      });
  constexpr int64_t most = 1 << 12;
  for (int64_t number : numbers)
    if (number < 1 || number > most)
      return formatv("expected numbers from 1 to {0} in a schedule, got {1}",
                     most, number);
  return "";
}

std::string mlir::mnistc::whyUnfit(StepOp step) {
  if (!hasContraction(step))
    return formatv("expected a schedule in a step around a contraction, got "
                   "one around '{0}'",
                   rootOf(step) ? rootOf(step)->getName().getStringRef()
                                : "no op with its own loops");
  Operation *root = rootOf(step);
  Type type = getElementTypeOrSelf(root->getResult(0).getType());
  Mma mma = mmaOf(step);
  bool isKnown = type.isF32() || (type.isBF16() && mma == Mma::bf16);
  if (mma != Mma::ffma && !isKnown)
    return formatv("expected the FMA units for a contraction of {0}, got mma = "
                   "{1}",
                   type, stringifyMma(mma));
  if (std::string problem = numbersProblem(step); !problem.empty())
    return problem;
  if (!isScheduled(step))
    return "";
  if (step.getImpl() != Impl::kernel)
    return formatv("expected only what multiplies in the schedule of a step on "
                   "{0}, got {1}",
                   stringifyImpl(step.getImpl()), scheduleText(step));
  mn::ProductSchedule schedule = scheduleOf(step);
  Contraction contraction(step, schedule);
  if (!isFor(schedule.way, contraction))
    return formatv("expected a schedule for '{0}', got {1}", root->getName(),
                   scheduleText(step));
  return kernelProblem(contraction, schedule);
}
