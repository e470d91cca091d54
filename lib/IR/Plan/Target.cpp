//===- Target.cpp - what a target can run, as data ------------------------===//

#include "lib/IR/Plan/Target.h"
#include "lib/IR/Mnist/Geometry.h"
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

/// A convolution of few products per result, such as the first one of a model
/// with one color, is bound by memory: a kernel reads the input once and saves
/// the library's set-up.
static constexpr int64_t fewProducts = 17;

static Implementation generated(StringRef op) {
  return {.impl = Impl::kernel, .op = op, .anyBody = true};
}

static Implementation library(Impl impl, StringRef op, EpilogueParts epilogue,
                              int64_t minProducts = 0) {
  return {.impl = impl,
          .op = op,
          .onlyF32 = true,
          .minProducts = minProducts,
          .epilogue = epilogue,
          .worthSplitting = true};
}

/// A library's pool saves too little to pay for another step.
static Implementation libraryPool(Impl impl, StringRef op) {
  return {.impl = impl,
          .op = op,
          .onlyF32 = true,
          .maxSpatial = 2,
          .dilations = false,
          .overhang = false,
          .epilogue = noEpilogue};
}

/// What generated code computes, on every target.
static void addGenerated(std::vector<Implementation> &rows) {
  for (StringRef op :
       {"map", "matmul", "conv", "conv_input_grad", "conv_filter_grad",
        "max_pool", "avg_pool", "arg_max_pool", "max_pool_grad",
        "avg_pool_grad", "softmax", "log_softmax", "reduce_sum", "reduce_max",
        "reduce_min", "arg_max"})
    rows.push_back(generated(op));
}

static std::vector<Implementation> cudaRows() {
  std::vector<Implementation> rows = {
      library(Impl::cudnn, "conv", wholeEpilogue, fewProducts),
      library(Impl::cudnn, "conv_input_grad", noEpilogue, fewProducts),
      library(Impl::cudnn, "conv_filter_grad", noEpilogue),
      library(Impl::cublas, "matmul", biasAndRelu),
  };
  addGenerated(rows);
  return rows;
}

static std::vector<Implementation> cpuRows() {
  std::vector<Implementation> rows = {
      library(Impl::onednn, "conv", wholeEpilogue),
      library(Impl::onednn, "conv_input_grad", noEpilogue),
      library(Impl::onednn, "conv_filter_grad", noEpilogue),
      library(Impl::onednn, "matmul", biasAndRelu),
      library(Impl::openblas, "matmul", noEpilogue),
      libraryPool(Impl::onednn, "max_pool"),
      libraryPool(Impl::onednn, "avg_pool"),
  };
  addGenerated(rows);
  return rows;
}

llvm::Expected<const Target *> Target::get(StringRef name) {
  static const std::vector<Implementation> cuda = cudaRows(), cpu = cpuRows();
  static const Target targets[] = {{"cuda", cuda}, {"cpu", cpu}};
  for (const Target &target : targets)
    if (target.name == name)
      return &target;
  std::string known = llvm::join(
      llvm::map_range(targets, [](const Target &t) { return t.name; }), ", ");
  return llvm::createStringError(llvm::formatv(
      "unknown target '{0}'; known targets are {1}", name, known));
}

//===----------------------------------------------------------------------===//
// What a row takes
//===----------------------------------------------------------------------===//

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<ShapedType>(value.getType()).getShape();
}

/// How many products make one element of the result.
static int64_t productsOf(Operation *root) {
  auto perFilter = [](Value filter) {
    return ShapedType::getNumElements(shapeOf(filter).drop_front());
  };
  return llvm::TypeSwitch<Operation *, int64_t>(root)
      .Case<ConvOp, ConvInputGradOp>(
          [&](auto conv) { return perFilter(conv.getFilter()); })
      .Case([](MatmulOp matmul) {
        ArrayRef<int64_t> lhs = shapeOf(matmul.getLhs());
        return lhs[lhs.size() - (matmul.getTransposed()[0] ? 2 : 1)];
      })
      .Default([](Operation *) { return std::numeric_limits<int64_t>::max(); });
}

/// Whether a pool's last window hangs over the padded input.
template <typename Pool> static bool hangsOver(Pool pool) {
  ImageShape in(pool.getLayout(), shapeOf(pool.getInput()));
  ImageShape out(pool.getLayout(), shapeOf(pool.getOutput()));
  size_t spatial = in.size.size();
  for (size_t i = 0; i < spatial; ++i)
    if (out.size[i] >
        windowCount(in.size[i], pool.getKernel()[i], pool.getStrides()[i],
                    pool.getPads()[i] + pool.getPads()[i + spatial],
                    pool.getDilations()[i]))
      return true;
  return false;
}

static bool hangsOver(Operation *root) {
  return llvm::TypeSwitch<Operation *, bool>(root)
      .Case<MaxPoolOp, AvgPoolOp>([](auto pool) { return hangsOver(pool); })
      .Default([](Operation *) { return false; });
}

std::string Implementation::objection(Operation *root) const {
  if (!root)
    return "";
  SmallVector<Type> types(root->getOperandTypes());
  llvm::append_range(types, root->getResultTypes());
  for (Type type : types)
    if (onlyF32 && !getElementTypeOrSelf(type).isF32())
      return llvm::formatv("takes f32 only, not {0}",
                           getElementTypeOrSelf(type));
  if (auto dilated = root->getAttrOfType<DenseI64ArrayAttr>("dilations")) {
    if (dilated.size() > maxSpatial)
      return llvm::formatv("takes {0} spatial dimensions at most, not {1}",
                           maxSpatial, dilated.size());
    if (!dilations &&
        llvm::any_of(dilated.asArrayRef(), [](int64_t d) { return d != 1; }))
      return "takes no dilations";
  }
  if (!overhang && hangsOver(root))
    return "takes no window that hangs over the padding";
  if (int64_t products = productsOf(root); products < minProducts)
    return llvm::formatv("pays from {0} products per result on, not for {1}",
                         minProducts, products);
  return "";
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
  return root ? root->getName().stripDialect() : "map";
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
    if (!libraries.allow(row.impl))
      objection = "is not among the libraries allowed";
    else if (objection.empty())
      objection = "takes nothing along";
    reason += llvm::formatv("{0} {1}; ", stringifyImpl(row.impl), objection);
  }
  return "asked for by hand";
}
