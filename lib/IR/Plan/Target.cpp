//===- Target.cpp - what a target can run, as data ------------------------===//

#include "lib/IR/Plan/Target.h"
#include "lib/IR/Mnist/Geometry.h"
#include "lib/IR/Mnist/TensorShape.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::mnistc;

//===----------------------------------------------------------------------===//
// The targets
//===----------------------------------------------------------------------===//

static constexpr EpilogueParts noEpilogue = {false, false, false};
static constexpr EpilogueParts biasAndRelu = {true, false, true};
static constexpr EpilogueParts wholeEpilogue = {true, true, true};

// Times below are medians in microseconds on one H200, in f32. The convolution
// is 32 -> 64 channels, 3x3, on 14x14 images; "first" is 1 -> 32 on 28x28.
//
//   step            batch  kernel nchw  kernel nhwc  cuDNN nchw  cuDNN nhwc
//   convolution         1          7.3                     10.2
//   convolution        64         22.8         24.3        22.4        45.7
//   convolution      1024                     296         193         720
//   first               1          2.7                      3.6
//   first              64          6.0                     12.2
//   first            1024         60                       85
//
//   filter's gradient   weights of a channel  kernel nchw  cuDNN nchw
//   1 -> 32, 3x3             64            9          8.0        24.4
//   1 -> 20, 5x5             64           25          9.5        25.8
//   3 -> 32, 3x3             64           27         19.7        98.7
//   32 -> 64, 3x3             1          288          6.2        11.1
//   32 -> 64, 3x3            64          288         58.5        34.1
//
//   product m n k               kernel  cuBLASLt
//   64 x 10 x 128                  3.9       7.0
//   64 x 128 x 3136               12.2      10.7
//   64 x 128 x 9216               19.0      17.3
//   256 x 256 x 784               10.3      12.2
//   256 x 784 x 256                9.5       8.3
//   10 x 128 x 1024                          56.5

/// A convolution of few products per result is bound by memory: a kernel reads
/// the input once and saves the library's set-up.
static constexpr int64_t fewProducts = 17;
/// cuDNN is made for many channels and fills up what is missing: with one
/// channel a kernel is faster at every batch size, for larger filters too.
static constexpr int64_t someChannels = 2;
/// Up to 64 weights an output channel the gradient of a filter has a kernel of
/// its own (conv_filter_grad_few.cuh).
static constexpr int64_t manyWeights = 65;
/// Multiplications that hide what a call of cuDNN costs: 4 million (batch 1) do
/// not, 231 million (batch 64) do.
static constexpr int64_t convWork = 1 << 24;
/// A long sum of few results is cut into parts by cuBLASLt, not by the kernel.
static constexpr int64_t longSum = 500;
/// What cuBLASLt cuts is slow again where there are too few results for a tile.
static constexpr int64_t someResults = 4096;
/// Multiplications that hide what a call of cuBLASLt costs, whatever the shape.
static constexpr int64_t matmulWork = 1 << 22;

static Implementation generated(StringRef op) {
  return {.impl = Impl::kernel, .op = op, .acceptsAnyFusion = true};
}

static Implementation library(Impl impl, StringRef op, EpilogueParts epilogue) {
  return {.impl = impl, .op = op, .onlyF32 = true, .epilogue = epilogue};
}

/// What generated code computes, on every target.
static void addGenerated(std::vector<Implementation> &rows) {
  for (StringRef op :
       {"pointwise", "matmul", "conv", "conv_input_grad", "conv_filter_grad",
        "max_pool", "avg_pool", "arg_max_pool", "max_pool_grad",
        "avg_pool_grad", "softmax", "log_softmax", "reduce_sum", "reduce_max",
        "reduce_min", "arg_max"})
    rows.push_back(generated(op));
}

static std::vector<Implementation> cudaRows() {
  Implementation conv = library(Impl::cudnn, "conv", wholeEpilogue);
  conv.onlyLayout = Layout::nchw;
  conv.minProducts = fewProducts;
  conv.minChannels = someChannels;
  conv.minWork = convWork;
  Implementation inputGrad =
      library(Impl::cudnn, "conv_input_grad", noEpilogue);
  inputGrad.minProducts = fewProducts;
  Implementation filterGrad =
      library(Impl::cudnn, "conv_filter_grad", noEpilogue);
  filterGrad.minWeights = manyWeights;
  filterGrad.minWork = convWork;
  Implementation longMatmul = library(Impl::cublas, "matmul", biasAndRelu);
  longMatmul.minResults = someResults;
  Implementation largeMatmul = longMatmul;
  longMatmul.minProducts = longSum;
  largeMatmul.minWork = matmulWork;

  std::vector<Implementation> rows = {conv, inputGrad, filterGrad, longMatmul,
                                      largeMatmul};
  addGenerated(rows);
  return rows;
}

/// No rows for pools: the kernel's loops take other ops along, and are as fast
/// as oneDNN's where those have AVX-512, else faster. On one core, batch 1,
/// nhwc, in microseconds (oneDNN with AVX-512, with AVX2, kernel): maximum of
/// 32x28x28 3.1, 23.9, 3.0; mean 3.8, 8.3, 4.3; of 6x28x28 2.9, 4.1, 1.0.
static std::vector<Implementation> cpuRows() {
  std::vector<Implementation> rows = {
      library(Impl::onednn, "conv", wholeEpilogue),
      library(Impl::onednn, "conv_input_grad", noEpilogue),
      library(Impl::onednn, "conv_filter_grad", noEpilogue),
      library(Impl::onednn, "matmul", biasAndRelu),
      library(Impl::openblas, "matmul", noEpilogue),
  };
  addGenerated(rows);
  return rows;
}

// Preferred layouts. cuda: the table above. cpu: oneDNN's convolutions of plain
// images are direct in nhwc, but go through im2col in nchw. On one core with
// AVX2, batch 1, in microseconds (nhwc, nchw): 1 -> 32 channels 3x3 on 28x28
// 8.6, 39.7; 32 -> 64 on 14x14 80.8, 148.8.
ArrayRef<Target> Target::all() {
  static const std::vector<Implementation> cuda = cudaRows(), cpu = cpuRows();
  static const Target targets[] = {{"cuda", Layout::nchw, true, 4, cuda},
                                   {"cpu", Layout::nhwc, false, 1, cpu}};
  return targets;
}

llvm::Expected<const Target *> Target::get(StringRef name) {
  for (const Target &target : all())
    if (target.name == name)
      return &target;
  std::string known = llvm::join(
      llvm::map_range(all(), [](const Target &t) { return t.name; }), ", ");
  return llvm::createStringError(llvm::formatv(
      "unknown target '{0}'; known targets are {1}", name, known));
}

//===----------------------------------------------------------------------===//
// What a row takes
//===----------------------------------------------------------------------===//

/// How many products make one element of the result.
static int64_t productsOf(Operation *root) {
  auto perFilter = [](Value filter) {
    return ShapedType::getNumElements(shapeOf(filter).drop_front());
  };
  return llvm::TypeSwitch<Operation *, int64_t>(root)
      .Case<ConvOp, ConvInputGradOp>(
          [&](auto conv) { return perFilter(conv.getFilter()); })
      .Case([&](ConvFilterGradOp conv) {
        return ShapedType::getNumElements(shapeOf(conv.getOutputGrad())) /
               shapeOf(conv.getFilterGrad()).front();
      })
      .Case([](MatmulOp matmul) {
        ArrayRef<int64_t> lhs = shapeOf(matmul.getLhs());
        return lhs[lhs.size() - (matmul.getTransposed()[0] ? 2 : 1)];
      })
      .Default([](Operation *) { return std::numeric_limits<int64_t>::max(); });
}

/// Weights of an output channel, of what makes the gradient of a filter.
static int64_t weightsOf(Operation *root) {
  auto grad = dyn_cast<ConvFilterGradOp>(root);
  if (!grad)
    return std::numeric_limits<int64_t>::max();
  return ShapedType::getNumElements(shapeOf(grad.getFilterGrad()).drop_front());
}

/// Channels of a convolution's input, in one group.
static int64_t channelsOf(Operation *root) {
  auto conv = dyn_cast<ConvOp>(root);
  if (!conv)
    return std::numeric_limits<int64_t>::max();
  return ImageShape(conv.getLayout(), shapeOf(conv.getFilter())).channels;
}

std::string Implementation::objection(Operation *root) const {
  std::string reason = unsupportedReason(root);
  return reason.empty() && root ? unprofitableReason(root) : reason;
}

std::string Implementation::unsupportedReason(Operation *root) const {
  if (!root)
    return "";
  SmallVector<Type> types(root->getOperandTypes());
  llvm::append_range(types, root->getResultTypes());
  for (Type type : types)
    if (onlyF32 && !getElementTypeOrSelf(type).isF32())
      return llvm::formatv("takes f32 only, not {0}",
                           getElementTypeOrSelf(type));
  return "";
}

std::string Implementation::unprofitableReason(Operation *root) const {
  if (auto image = dyn_cast<LayoutOpInterface>(root);
      image && onlyLayout && image.getLayout() != *onlyLayout)
    return llvm::formatv("is slow with images that are {0}",
                         stringifyLayout(image.getLayout()));
  if (int64_t products = productsOf(root); products < minProducts)
    return llvm::formatv("is profitable for K >= {0}, here {1}", minProducts,
                         products);
  if (int64_t channels = channelsOf(root); channels < minChannels)
    return llvm::formatv(
        "is profitable for {0} or more input channels, here {1}", minChannels,
        channels);
  if (int64_t weights = weightsOf(root); weights < minWeights)
    return llvm::formatv(
        "is profitable for {0} or more weights per output channel, here "
        "{1}",
        minWeights, weights);
  auto results = cast<ShapedType>(root->getResult(0).getType());
  if (results.getNumElements() < minResults)
    return llvm::formatv("is profitable for {0} or more results, here {1}",
                         minResults, results.getNumElements());
  if (minWork == 0)
    return "";
  int64_t work = results.getNumElements() * productsOf(root);
  if (work < minWork)
    return llvm::formatv(
        "is profitable for {0} or more multiply-adds, here {1}", minWork, work);
  return "";
}

bool Implementation::takesWhole(StepOp step) const {
  return acceptsAnyFusion ||
         (rootReadsMemory(step) &&
          matchEpiloguePrefix(step, epilogue).end == yieldsOf(step).front());
}

/// A call of a library can do a whole epilogue or none; `epilogue` says what is
/// worth it.
bool Implementation::canCompute(StepOp step) const {
  Operation *root = rootOf(step);
  if (op != rowNameOf(step) || impl != step.getImpl() ||
      !unsupportedReason(root).empty())
    return false;
  if (acceptsAnyFusion)
    return true;
  std::optional<LibraryEpilogue> found = matchLibraryEpilogue(step);
  return found && (isa<MatmulOp, ConvOp>(root) ||
                   (!found->bias && !found->residual && !found->relu));
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
// Reasons
//===----------------------------------------------------------------------===//

StringRef mlir::mnistc::rowNameOf(StepOp step) {
  Operation *root = rootOf(step);
  return root ? root->getName().stripDialect() : "pointwise";
}

std::string mlir::mnistc::reasonFor(StepOp step, const Target &target,
                                    Libraries libraries) {
  std::string reason;
  StringRef name = rowNameOf(step);
  for (const Implementation &row : target.implementations) {
    if (row.op != name)
      continue;
    if (row.impl == step.getImpl())
      return reason + (reason.empty() ? "first choice of the target"
                                      : "next choice of the target");
    std::string objection = row.objection(rootOf(step));
    if (row.acceptsAnyFusion) // Nothing behind it is ever chosen.
      break;
    if (!libraries.allow(row.impl))
      objection = "is not among the libraries allowed";
    else if (objection.empty())
      objection = "cannot fuse its epilogue";
    std::string part =
        llvm::formatv("{0} {1}; ", stringifyImpl(row.impl), objection);
    // Rows of one implementation may have the same objection.
    if (!StringRef(reason).contains(part))
      reason += part;
  }
  return "requested explicitly";
}
