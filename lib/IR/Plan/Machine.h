//===- Machine.h - what is profitable, as data of a machine -----*- C++ -*-===//
//
// All that was measured and is a matter of time, not of results: which way to
// compute an op is preferred from where on, and what a step, a launch and a
// wait cost. What can be computed at all is in Target.h. Passes read the
// numbers and know no machine by name.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_IR_PLAN_MACHINE_H
#define MNISTC_IR_PLAN_MACHINE_H

#include "lib/IR/Plan/MapForm.h"
#include <limits>
#include <optional>
#include <string>

namespace mlir::mnistc {

inline constexpr EpilogueParts noEpilogue = {false, false, false};
inline constexpr EpilogueParts biasAndRelu = {true, false, true};
inline constexpr EpilogueParts wholeEpilogue = {true, true, true};

/// From where on the call of a library, or a kernel on tensor cores, pays for
/// an op. Two for one op and library are alternatives: where either pays, the
/// call is made.
struct Preference {
  Impl impl;
  StringRef op;           ///< the root's mnemonic
  EpilogueParts epilogue; ///< of what follows the root, what it is given
  Mma mma = Mma::ffma;    ///< tensor cores: only where the precision allows

  std::optional<Layout> onlyLayout = {}; ///< of images; none: any
  // Of the root's multiply-adds (MultiplyAdds in lib/IR/Mnist/RootOps.h).
  int64_t minK = 0;
  int64_t minSide = 0;        ///< m and n
  int64_t minChannels = 0;    ///< of the input, in a group
  int64_t minEither = 0;      ///< channels, of input or output
  int64_t minMore = 0;        ///< channels, of the one that has more
  int64_t minOutChannels = 0; ///< of a convolution, in a group
  int64_t minTaps = 0;        ///< of a window
  int64_t maxTaps = std::numeric_limits<int64_t>::max();
  int64_t maxColumns = std::numeric_limits<int64_t>::max(); ///< likewise
  bool ungrouped = false; ///< only where there is one group
  bool unstrided = false; ///< only where all strides are 1
  bool strided = false;   ///< only where one is more
  bool oddTaps = false;   ///< only where windows have a middle
  int64_t minWork = 0;    ///< of all
  int64_t lessWork = std::numeric_limits<int64_t>::max(); ///< than this
  int64_t minResults = 0;
  /// More than minWork, for each byte that an FFT makes of the tensors.
  int64_t minOfTransformed = 0;
  /// Of a product: whether its left side is transposed, as in gradients of
  /// weights; none: either.
  std::optional<bool> transposedLeft = {};
  /// Of a convolution: whether images have more elements than a window; none:
  /// either.
  std::optional<bool> largerImages = {};
  bool rounded = false; ///< only of operands that are bf16 in memory

  /// Why it does not pay; empty if it does.
  std::string objection(Operation *root) const;

  Way way() const {
    return impl == Impl::kernel ? Way::tensorCores : Way::libraries;
  }
};

/// Whether what computes a step's root can fuse all that it does besides, of
/// what follows the root these parts.
bool takesWhole(Impl impl, EpilogueParts parts, StepOp step);

/// Microseconds.
struct StepTimes {
  double launch; ///< that any step takes
  double event;  ///< that a wait for another stream adds
  // What a microsecond is enough for, in a step of a small batch; of products
  // on tensor cores as well.
  double flops, bytes, cores;
  double collective; ///< that any collective takes
  double reduced;    ///< bytes that a collective adds up in a microsecond
  double disturbed;  ///< that a collective adds to the steps beside it
  /// And of the largest of them this part: where a collective has some of the
  /// multiprocessors, blocks wait for others to end.
  double crowded;

  /// As if all ran on FMA units. Streams are better chosen by it: by the other
  /// one LeNet-5 took 5 % longer on an H100, a wide network 1.5 %.
  double of(StepOp step) const { return of(step, flops); }
  double onCores(StepOp step) const;

private:
  double of(StepOp step, double rate) const;
};

/// What a step can do at best in a microsecond: by the data sheet of a GPU; of
/// a CPU, whose kind is not known, an assumption.
struct Roof {
  StringRef of;         ///< what has it: "NVIDIA H200"
  double flops, bytes;  ///< on FMA units, in f32; to and from memory
  double cores[3] = {}; ///< FLOPs on tensor cores: of tf32x3, tf32, bf16

  double flopsOn(Mma mma) const;
  /// The least that a step takes, in microseconds.
  double timeOf(StepOp step) const;
};

/// The most that a link of a chain (ChainBody.h) may have to do.
struct ChainLimits {
  int64_t weights;         ///< of a product: each block reads all of them
  int64_t repeatedWeights; ///< the same of weights that several links read
  int64_t multiplyAdds;    ///< of a product of few rows, in a block
  int64_t held;            ///< of one whose operands a block holds, likewise
  int64_t elements;        ///< of an operand or result, in a block
  int64_t sums;            ///< results of a reduction or softmax, in a block
};

/// Products that become one.
struct JoinedProducts {
  int64_t fewest;   ///< products
  int64_t elements; ///< of the operands that are put together, at most
};

struct Machine {
  StringRef name;
  /// What --layout=auto takes where transposes do not decide.
  Layout preferredLayout;
  /// How many times the bytes of a convolution's images that saves.
  double layoutGain = 0.5;
  /// A reduction of at most so many elements to one, and so many results, is
  /// computed where it is read. Only where starting a step costs as much as
  /// many elements.
  int64_t inlineElements = 0, inlineResults = 0;
  /// A row is shared by at most `rowBlocks` blocks (on a CPU: threads). A step
  /// that reduces rows pays where it has `fullBlocks` of them, or no block has
  /// more than `blockElements` elements.
  int64_t rowBlocks, fullBlocks, blockElements;
  /// Of rows that lie side by side in memory a block has so many, where a
  /// thread has four of them: in tensors of `foursFrom` elements or more.
  int64_t adjacentRows = 1;
  /// Or each phase of such a step may be a launch, for which all blocks share
  /// all rows, where these come in fours: there are always enough.
  bool launchesPhases = false;
  /// It also pays where not all elements of a row are adjacent in memory, but
  /// so many, or all rows.
  int64_t shortestRun;
  /// Such steps store masks: a quarter of the bytes of what is compared. SIMD
  /// loops would rather compare again, and strided rows pay only without masks.
  bool storesMasks;
  /// A pool is computed in the step of its operand where that can be, and its
  /// gradient reads indices. Elsewhere reading the operand again costs little.
  bool joinsPools;
  /// Products of one matrix are one product if their weights have at most so
  /// many elements in all: small ones leave more idle than it costs to copy the
  /// weights side by side.
  int64_t joinedWeights = 0;
  /// Products of several matrices with the same weights are one product. A few
  /// may as well run side by side, without copying the matrices together.
  std::optional<JoinedProducts> joinedInputs = {};
  /// Sums of many products, of little, are one product: each would be a step
  /// that waits for the one before.
  std::optional<JoinedProducts> joinedTerms = {};
  /// What is computed of a contraction's results, element by element, is so in
  /// its step, also where others read these, or sums over rows read that.
  bool joinsReaders = false;
  /// New values of a parameter of up to so many elements are computed in the
  /// step of its gradient. A large one's update has more to load and store than
  /// a product's blocks can hide, and runs beside other steps.
  int64_t updatedWithGradient = 0;
  /// Small steps of which each needs only rows of the one before are one
  /// launch. Only where starting a step costs much.
  std::optional<ChainLimits> chains = {};
  /// The same for chains with a block for most multiprocessors: as steps of
  /// their own they would have few more.
  std::optional<ChainLimits> wideChains = {};
  /// In maps of so many elements or more a thread has four neighbours, which it
  /// loads and stores at once, where they are neighbours in what is read, too;
  /// one of fewer would leave threads without work.
  int64_t foursFrom = std::numeric_limits<int64_t>::max();
  /// Of tensors of so many elements, what the backward pass needs is computed
  /// again from what is kept anyway: loads take longer. Functions such as exp
  /// of what is normalized only where caches do not hold it.
  int64_t recomputedFrom = std::numeric_limits<int64_t>::max(),
          functionsFrom = std::numeric_limits<int64_t>::max();
  /// In bf16, results of so many elements are stored in two bytes each.
  int64_t roundedFrom = std::numeric_limits<int64_t>::max();
  /// Elements of maps and reductions are counted in runs that lie side by side
  /// in what is read, for a compiler of SIMD loops to see (cpu/runs.h).
  bool countsInRuns = false;
  /// Random numbers are stored, not drawn again by all that read them.
  bool storesDrawn = false;
  /// What results of a contraction need of memory is loaded for several of them
  /// before the first is stored.
  bool loadsBeforeStores = false;
  /// An expensive element that one use would compute more often is stored.
  double maxRecompute;
  /// From so many elements on a transpose is a step of its own, unless what
  /// reads it is a product, or goes through them in their order.
  int64_t transposedFrom = std::numeric_limits<int64_t>::max();
  /// Steps that can run concurrently, and their times; no times where it is
  /// one.
  int64_t streams;
  std::optional<StepTimes> times;
  /// The next batch of a data set is copied to a plan's inputs while the plan
  /// runs: they have memory of their own.
  bool prefetchesBatches;
  Roof roof;
  /// Before generated code, which computes the rest; the best ones first.
  ArrayRef<Preference> preferences;

  /// What a step takes, in microseconds: by `times`, or at best by the roof.
  double estimate(StepOp step) const;

  /// Whether a thread has four elements of a segment.
  MapForm formOf(StepOp step, const Segment &segment) const;

  static const Machine &h200();
  static const Machine &x86();
};

} // namespace mlir::mnistc

#endif // MNISTC_IR_PLAN_MACHINE_H
