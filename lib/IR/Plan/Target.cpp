//===- Target.cpp - what a target can run, as data ------------------------===//

#include "lib/IR/Plan/Target.h"
#include "lib/IR/Plan/Contraction.h"
#include "lib/IR/Plan/PoolBody.h"
#include "lib/IR/Plan/Schedule.h"
#include "lib/IR/Plan/Transforms.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::mnistc;

//===----------------------------------------------------------------------===//
// The targets
//===----------------------------------------------------------------------===//

/// What cuBLASLt and cuDNN's plain engines ask for.
static constexpr int64_t plainScratch = int64_t(32) << 20;
/// How many times the bytes of its tensors a convolution by FFT asks for where
/// images fill its tiles: 4.2 was seen. Small images take more (Transforms.h).
static constexpr int64_t transformedTimes = 5;

/// Of what is f32 in memory: cuDNN has no bf16 for that.
static const Mma coresOfCudnn[] = {Mma::tf32};
static const Mma coresOfCublas[] = {Mma::tf32, Mma::bf16};
static const Mma coresOfKernels[] = {Mma::tf32x3, Mma::tf32, Mma::bf16};

static const LibraryCall ofNvidia[] = {
    {.impl = Impl::cudnn,
     .op = "conv",
     .takesEpilogue = true,
     .scratchBytes = plainScratch,
     .scratchTimes = transformedTimes,
     .tensorCores = coresOfCudnn,
     .takesRounded = true},
    {.impl = Impl::cudnn,
     .op = "conv_input_grad",
     .scratchBytes = plainScratch,
     .scratchTimes = transformedTimes,
     .tensorCores = coresOfCudnn,
     .takesRounded = true},
    // With 20 -> 50 channels, 5x4 on 12x11, padded by 1 and 2, what engines of
    // cuDNN 9.19 gave was off by more than its own size.
    {.impl = Impl::cudnn,
     .op = "conv_filter_grad",
     .scratchBytes = plainScratch,
     .scratchTimes = transformedTimes,
     .tensorCores = coresOfCudnn,
     .evenPads = true,
     .byFft = true,
     .takesRounded = true},
    {.impl = Impl::cublas,
     .op = "matmul",
     .takesEpilogue = true,
     .scratchBytes = plainScratch,
     .tensorCores = coresOfCublas,
     .takesRounded = true},
    {.impl = Impl::nccl, .op = "all_reduce", .takesDoubles = true},
};

static const LibraryCall ofX86[] = {
    {Impl::onednn, "conv", /*takesEpilogue=*/true},
    {Impl::onednn, "conv_input_grad"},
    {Impl::onednn, "conv_filter_grad"},
    {Impl::onednn, "matmul", /*takesEpilogue=*/true},
    {Impl::openblas, "matmul", /*takesEpilogue=*/true},
    {.impl = Impl::mpi, .op = "all_reduce", .takesDoubles = true},
};

ArrayRef<Target> Target::all() {
  static const Target targets[] = {
      {"cuda", ofNvidia, &Machine::h200(), coresOfKernels, /*schedules=*/true},
      {"cpu", ofX86, &Machine::x86()}};
  return targets;
}

llvm::Expected<const Target *> Target::get(StringRef name) {
  for (const Target &target : all())
    if (target.name == name)
      return &target;
  std::string known = llvm::join(
      llvm::map_range(all(), [](const Target &t) { return t.name; }), " or ");
  return llvm::createStringError(
      llvm::formatv("expected a target of {0}, got '{1}'", known, name));
}

const Target &mlir::mnistc::targetFor(Operation *planned) {
  auto module = dyn_cast<ModuleOp>(planned);
  if (!module)
    module = planned->getParentOfType<ModuleOp>();
  auto name =
      module ? module->getAttrOfType<StringAttr>("plan.target") : StringAttr();
  for (const Target &target : Target::all())
    if (name && target.name == name.getValue())
      return target;
  return Target::all().front();
}

const Machine &mlir::mnistc::machineFor(Operation *planned) {
  return *targetFor(planned).machine;
}

//===----------------------------------------------------------------------===//
// What can be computed
//===----------------------------------------------------------------------===//

/// Why a library cannot compute a root; empty if it can.
static std::string unsupportedReason(Operation *root, bool takesDoubles,
                                     bool takesRounded) {
  SmallVector<Type> types(root->getOperandTypes());
  llvm::append_range(types, root->getResultTypes());
  for (Type type : types)
    if (Type element = getElementTypeOrSelf(type);
        !element.isF32() && !(takesDoubles && element.isF64()) &&
        !(takesRounded && element.isBF16()))
      return llvm::formatv("takes f32 only, not {0}",
                           getElementTypeOrSelf(type));
  return "";
}

static bool hasEvenPads(ConvFilterGradOp op) {
  ArrayRef<int64_t> pads = op.getPads();
  size_t spatial = pads.size() / 2;
  return pads.take_front(spatial) == pads.drop_front(spatial);
}

/// Whether there are engines for all of it in bf16, as far as was tried.
static bool isPlainImage(LayoutOpInterface op) {
  const mn::Conv s = Contraction(op, {}).conv;
  return s.spatial == 2 && s.dilations[0] == 1 && s.dilations[1] == 1;
}

std::string LibraryCall::objectionToShape(Operation *root, bool rounded) const {
  auto gradient = dyn_cast<ConvFilterGradOp>(root);
  if (evenPads && gradient && !hasEvenPads(gradient))
    return "takes as much padding after as before only";
  auto image = dyn_cast<LayoutOpInterface>(root);
  if (rounded && image && !isPlainImage(image))
    return "takes images of two dimensions without dilations only";
  return "";
}

std::string LibraryCall::objection(Operation *root) const {
  if (!llvm::all_equal(llvm::map_range(root->getOperandTypes(), [](Type type) {
        return getElementTypeOrSelf(type);
      })))
    return "takes operands of one type only";
  std::string reason = objectionToShape(root, readsRounded(root));
  return reason.empty() ? unsupportedReason(root, takesDoubles, takesRounded)
                        : reason;
}

static bool knows(ArrayRef<Mma> tensorCores, Mma mma) {
  return mma == Mma::ffma || llvm::is_contained(tensorCores, mma);
}

bool LibraryCall::canCompute(StepOp step) const {
  if (isPoolStep(step) || op != rowNameOf(step) || impl != step.getImpl() ||
      !objection(rootOf(step)).empty())
    return false;
  if (isCollectiveStep(step))
    return true;
  if (readsRounded(rootOf(step)) ? mmaOf(step) != Mma::bf16
                                 : !knows(tensorCores, mmaOf(step)))
    return false;
  std::optional<LibraryEpilogue> found = matchLibraryEpilogue(step);
  return found &&
         (takesEpilogue || (!found->bias && !found->residual && !found->relu));
}

static int64_t scratchOf(const LibraryCall &call, StepOp step) {
  // No transforms: up to 21 MB was asked for.
  if (Operation *root = rootOf(step); root && readsRounded(root))
    return call.scratchBytes;
  int64_t times = llvm::alignTo(int64_t(bytesOf(step)) * call.scratchTimes,
                                int64_t(1) << 20);
  if (!call.byFft || mmaOf(step) != Mma::ffma)
    return std::max(call.scratchBytes, times);
  // With 160 MB for 64 images of 256 -> 64 channels it was not taken, with 196
  // it was.
  int64_t transformed = transformedBytes(rootOf(step)) * 5 / 4;
  return std::max({call.scratchBytes, times, transformed});
}

int64_t mlir::mnistc::scratchFor(StepOp step) {
  StringRef op = rowNameOf(step);
  for (const Target &target : Target::all())
    for (const LibraryCall &call : target.libraries)
      if (call.impl == step.getImpl() && call.op == op)
        return scratchOf(call, step);
  return 0;
}

/// Whether a root makes f32 of what it may read in bf16.
static bool takesItsTypes(Operation *root) {
  auto isExact = [](Value value) {
    return !getElementTypeOrSelf(value).isBF16();
  };
  return isExact(root->getResult(0)) &&
         llvm::all_of(root->getOpOperands(), [&](OpOperand &operand) {
           return isExact(operand.get()) || mayBeRounded(operand);
         });
}

bool mlir::mnistc::canGenerate(StepOp step) {
  if (!rootOf(step))
    return true;
  auto root = dyn_cast<RootOpInterface>(rootOf(step));
  // Else what is rounded in memory is for libraries.
  return root && root.getKernelText().isGenerated && takesItsTypes(root);
}

bool Target::canCompute(StepOp step) const {
  if (step.getImpl() == Impl::kernel)
    return canGenerate(step) && knows(tensorCores, mmaOf(step)) &&
           (schedules || !(isScheduled(step) || isPoolStep(step) ||
                           !linksOf(step).empty())) &&
           (!isPoolStep(step) || !hasContraction(step) || isScheduled(step));
  return llvm::any_of(libraries, [&](const LibraryCall &call) {
    return call.canCompute(step);
  });
}

bool Target::anyCanCompute(StepOp step) {
  return llvm::any_of(
      all(), [&](const Target &target) { return target.canCompute(step); });
}

std::string Target::inability(const Preference &preference,
                              Operation *root) const {
  if (preference.rounded != readsRounded(root))
    return preference.rounded ? "takes operands that are bf16 in memory"
                              : "takes operands that are f32 in memory";
  const LibraryCall *call =
      llvm::find_if(libraries, [&](const LibraryCall &call) {
        return call.impl == preference.impl && call.op == preference.op;
      });
  return call != libraries.end()
             ? call->objection(root)
             : unsupportedReason(root, /*takesDoubles=*/false,
                                 /*takesRounded=*/false);
}

bool Target::prefersRounded(const Preference &preference,
                            Operation *root) const {
  return preference.rounded &&
         preference.op == root->getName().stripDialect() &&
         preference.objection(root).empty() &&
         llvm::any_of(libraries, [&](const LibraryCall &call) {
           return call.impl == preference.impl && call.op == preference.op &&
                  call.takesRounded &&
                  call.objectionToShape(root, /*rounded=*/true).empty();
         });
}

std::string Target::objection(const Preference &preference,
                              Operation *root) const {
  // The sizes first, which decide whether operands are rounded.
  std::string reason = preference.objection(root);
  return reason.empty() ? inability(preference, root) : reason;
}

//===----------------------------------------------------------------------===//
// Libraries
//===----------------------------------------------------------------------===//

llvm::Expected<Libraries> Libraries::parse(StringRef text) {
  constexpr Impl all[] = {Impl::cublas, Impl::cudnn, Impl::onednn,
                          Impl::openblas};
  Libraries libraries;
  if (text == "none")
    return libraries;
  if (text == "all") {
    for (Impl impl : all)
      libraries.allowed |= bit(impl);
    return libraries;
  }
  SmallVector<StringRef> names;
  text.split(names, '+');
  for (StringRef name : names) {
    std::optional<Impl> impl = symbolizeImpl(name);
    if (!impl || !llvm::is_contained(all, *impl))
      return llvm::createStringError(llvm::formatv(
          "unknown library '{0}'; expected all, none, or some of {1} joined by "
          "'+'",
          name, llvm::join(llvm::map_range(all, stringifyImpl), ", ")));
    libraries.allowed |= bit(*impl);
  }
  return libraries;
}

//===----------------------------------------------------------------------===//
// Precision
//===----------------------------------------------------------------------===//

bool mlir::mnistc::allows(Precision precision, Mma mma) {
  return static_cast<unsigned>(mma) <= static_cast<unsigned>(precision);
}

Precision mlir::mnistc::precisionOf(Operation *module) {
  auto name = module->getAttrOfType<StringAttr>("plan.precision");
  // The dialect knows it.
  return name ? *symbolizePrecision(name)
              : *symbolizePrecision(defaultPrecision);
}

Mma mlir::mnistc::mmaOfLink(StepOp step) {
  auto module = step->getParentOfType<ModuleOp>();
  auto way = module->getAttrOfType<StringAttr>("plan.prefer");
  Operation *root = rootOf(step);
  if (!root || (way && symbolizeWay(way) == Way::fma))
    return Mma::ffma;
  const Target &target = targetFor(step);
  // Several products have much to do, one of a few rows has not. A kernel reads
  // what is rounded in memory, too, whatever its row says.
  auto product = dyn_cast<MatmulOp>(root);
  bool several = product && product.getType().getRank() == 3;
  bool isRounded = several && canGenerate(step) &&
                   llvm::any_of(root->getOperandTypes(), [](Type type) {
                     return getElementTypeOrSelf(type).isBF16();
                   });
  SmallVector<Mma> units;
  for (const Preference &preference : target.machine->preferences)
    if (preference.impl == Impl::kernel && preference.op == rowNameOf(step) &&
        allows(precisionOf(module), preference.mma) &&
        (isRounded || target.inability(preference, root).empty()))
      units.push_back(preference.mma);
  if (units.empty())
    return Mma::ffma;
  return several ? *llvm::max_element(units) : units.front();
}

//===----------------------------------------------------------------------===//
// Reasons
//===----------------------------------------------------------------------===//

StringRef mlir::mnistc::rowNameOf(StepOp step) {
  Operation *root = rootOf(step);
  return root ? root->getName().stripDialect() : "pointwise";
}

/// "cudnn", "kernel by tf32x3"
static std::string wayName(Impl impl, Mma mma) {
  std::string name = stringifyImpl(impl).str();
  return mma == Mma::ffma ? name : (name + " by " + stringifyMma(mma)).str();
}

std::string mlir::mnistc::reasonFor(StepOp step, const Target &target,
                                    Libraries libraries, Precision precision) {
  std::string reason;
  StringRef name = rowNameOf(step);
  for (const Preference &preference : target.machine->preferences) {
    if (preference.op != name || !allows(precision, preference.mma))
      continue;
    std::string objection = target.objection(preference, rootOf(step));
    // A kernel may take FMA units after all.
    bool taken = preference.mma == mmaOf(step) ||
                 (step.getImpl() == Impl::kernel && objection.empty());
    if (preference.impl == step.getImpl() && taken)
      return reason + (reason.empty() ? "first choice of the target"
                                      : "next choice of the target");
    if (!libraries.allow(preference.impl))
      objection = "is not among the libraries allowed";
    else if (objection.empty())
      objection = "cannot fuse its epilogue";
    std::string part = llvm::formatv(
        "{0} {1}; ", wayName(preference.impl, preference.mma), objection);
    // Those of one library may have the same objection.
    if (!StringRef(reason).contains(part))
      reason += part;
  }
  if (step.getImpl() != Impl::kernel || mmaOf(step) != Mma::ffma ||
      !canGenerate(step))
    return "requested explicitly";
  return reason + (reason.empty() ? "first choice of the target"
                                  : "next choice of the target");
}
