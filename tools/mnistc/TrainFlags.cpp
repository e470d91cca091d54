//===- TrainFlags.cpp - the flags of --train ------------------------------===//
//
// What must be known to compile: the loss, the optimizer, what is frozen. The
// numbers are only the program's defaults.
//
//===----------------------------------------------------------------------===//

#include "tools/mnistc/TrainFlags.h"
#include "tools/mnistc/Messages.h"
#include "tools/mnistc/NumberParser.h"
#include "llvm/ADT/StringExtras.h"
#include <charconv>
#include <cmath>

using namespace mlir;
using namespace mlir::mnistc;
namespace cl = llvm::cl;

cl::OptionCategory mlir::mnistc::trainCategory("Training");

static cl::opt<bool> train("train", cl::desc("Make a program that also trains"),
                           cl::cat(trainCategory));
static cl::opt<bool> dataParallel(
    "data-parallel",
    cl::desc("Make a program whose training several GPUs, or processes under "
             "mpirun, share: each has a part of every batch"),
    cl::cat(trainCategory));
static cl::opt<bool> syncBatchNorm(
    "sync-batch-norm",
    cl::desc("With --data-parallel, batch normalization takes the statistics "
             "of the whole batch, not of a rank's part"),
    cl::cat(trainCategory));
static NumberOption<unsigned> accumulate(
    "accumulate", cl::init(1), cl::value_desc("number"),
    cl::desc("Batches whose gradients are added up for an update (default: 1)"),
    cl::cat(trainCategory));
static cl::list<std::string>
    freeze("freeze", cl::CommaSeparated, cl::value_desc("names"),
           cl::desc("Tensors that keep their values; * stands for anything"),
           cl::cat(trainCategory));
static cl::list<std::string>
    trainOnly("train-only", cl::CommaSeparated, cl::value_desc("names"),
              cl::desc("Tensors that are trained, and no others; * stands for "
                       "anything"),
              cl::cat(trainCategory));

namespace {
/// A flag whose value is one of several words.
struct WordFlag {
  cl::opt<std::string> option;
  SmallVector<StringRef> words;

  WordFlag(StringRef name, ArrayRef<StringRef> words, StringRef what)
      : option(name, cl::desc(what), cl::value_desc("name"),
               cl::init(words.front().str()), cl::cat(trainCategory)),
        words(words) {}
};

/// A flag with a number.
struct NumberFlag {
  NumberOption<double> option;
  double min, max;

  NumberFlag(StringRef name, double min, double max, StringRef what)
      : option(name, cl::desc(what), cl::value_desc("number"), cl::init(-1),
               cl::cat(trainCategory)),
        min(min), max(max) {}
};
} // namespace

static WordFlag loss("loss",
                     {"auto", "cross-entropy", "nll", "mse", "l1", "bce",
                      "bce-logits"},
                     "Loss to minimize: auto (default), cross-entropy, nll, "
                     "mse, l1, bce or bce-logits");
static WordFlag targets("targets", {"auto", "class", "values"},
                        "Targets of a row: auto (default), class or values");
static cl::opt<std::string> classWeights(
    "class-weights", cl::ValueOptional, cl::value_desc("numbers"),
    cl::desc("Make a program that weighs classes: a number for each class, or "
             "none, for ones"),
    cl::cat(trainCategory));
static WordFlag optimizer(
    "optimizer",
    {"sgd", "momentum", "nesterov", "adam", "adamw", "rmsprop", "adagrad"},
    "Optimizer: sgd (default; with --momentum, momentum), "
    "momentum, nesterov, adam, adamw, rmsprop or adagrad");
static WordFlag
    convention("convention", {"torch", "keras"},
               "Framework whose formulas are used where they differ: "
               "torch (default) or keras");
static WordFlag *const wordFlags[] = {&loss, &targets, &optimizer, &convention};

static constexpr double unlimited = HUGE_VAL;
static NumberFlag smoothing("label-smoothing", 0, 1,
                            "Part of a label that is spread over the classes");
static NumberFlag lr("lr", 0, unlimited, "Learning rate");
static NumberFlag momentum("momentum", 0, 1, "Momentum (momentum, nesterov)");
static NumberFlag weightDecay("weight-decay", 0, unlimited, "Weight decay");
static NumberFlag beta1("beta1", 0, 1,
                        "Decay of the mean gradient (adam, adamw)");
static NumberFlag beta2("beta2", 0, 1,
                        "Decay of the mean squared gradient (adam, adamw, "
                        "rmsprop)");
static NumberFlag
    epsilon("epsilon", 0, unlimited,
            "Added to the denominator (adam, adamw, rmsprop, adagrad)");
static NumberFlag dampening("dampening", 0, 1,
                            "Dampening of momentum, as in PyTorch");
static NumberFlag clipNorm("clip-norm", 0, unlimited,
                           "Maximum norm of all gradients together");
static NumberFlag clipValue("clip-value", 0, unlimited,
                            "Maximum absolute value of a gradient's elements");
static NumberFlag ema("ema", 0, 1,
                      "Evaluate and save a moving mean of the parameters, "
                      "which keeps this part of itself each step: 0.999");
static NumberFlag *const numberFlags[] = {
    &smoothing, &lr,        &momentum, &weightDecay, &beta1, &beta2,
    &epsilon,   &dampening, &clipNorm, &clipValue,   &ema};

static bool isGiven(const cl::Option &option) {
  return option.getNumOccurrences() != 0;
}

/// The shortest text that reads as the same number.
static std::string numberText(double number) {
  char text[32];
  return std::string(text, std::to_chars(text, std::end(text), number).ptr);
}

/// Of the flag: one number is that of each class; none: classes are not
/// weighed.
static bool readClassWeights(SmallVectorImpl<double> &weights) {
  if (!isGiven(classWeights))
    return true;
  if (classWeights.empty())
    weights.push_back(1);
  else
    for (StringRef text : llvm::split(classWeights, ',')) {
      double &weight = weights.emplace_back();
      if (text.getAsDouble(weight) || !std::isfinite(weight) || weight < 0)
        return error("expected --class-weights of 0 or more, a number for each "
                     "class, got '" +
                     text + "'" +
                     (text == "balanced"
                          ? "; the program takes it, which knows its data"
                          : ""));
    }
  if (llvm::all_of(weights, [](double weight) { return weight == 0; }))
    return error("expected --class-weights above 0, got none");
  return true;
}

static bool checkTrainFlags() {
  for (WordFlag *flag : wordFlags)
    if (!llvm::is_contained(flag->words, flag->option.getValue()))
      return error("expected --" + flag->option.ArgStr + "=" +
                   llvm::join(flag->words, ", ") + ", got '" + flag->option +
                   "'" + nearest(flag->option, flag->words));
  for (NumberFlag *flag : numberFlags) {
    double number = flag->option;
    if (!isGiven(flag->option))
      continue;
    if (!std::isfinite(number) || number < flag->min || number > flag->max)
      return error(
          "expected --" + flag->option.ArgStr + " of " + numberText(flag->min) +
          " " +
          (flag->max == unlimited ? "or more" : "to " + numberText(flag->max)) +
          ", got " + numberText(number));
  }
  if (isGiven(clipNorm.option) && isGiven(clipValue.option))
    return error("expected --clip-norm or --clip-value, got both");
  if (accumulate < 1 || accumulate > 1 << 20)
    return error("expected --accumulate of 1 to 1048576, got " +
                 Twine(accumulate.getValue()));
  if (accumulate > 1 && isGiven(classWeights))
    return error("expected --accumulate or --class-weights, got both");
  if (syncBatchNorm && !dataParallel)
    return error("expected --data-parallel with --sync-batch-norm, got none");
  return true;
}

/// The first flag given that needs --train.
static const cl::Option *firstGiven() {
  for (WordFlag *flag : wordFlags)
    if (isGiven(flag->option))
      return &flag->option;
  for (NumberFlag *flag : numberFlags)
    if (isGiven(flag->option))
      return &flag->option;
  if (isGiven(freeze))
    return std::addressof(freeze); // `&` gives the strings.
  if (isGiven(trainOnly))
    return std::addressof(trainOnly);
  if (isGiven(classWeights))
    return std::addressof(classWeights);
  if (isGiven(accumulate))
    return std::addressof(accumulate);
  for (cl::opt<bool> *flag : {&dataParallel, &syncBatchNorm})
    if (isGiven(*flag))
      return flag;
  return nullptr;
}

bool mlir::mnistc::readTrainFlags(TrainOptions &options, bool &trains) {
  trains = train;
  if (const cl::Option *given = firstGiven(); given && !train)
    return error("expected --train with --" + given->ArgStr + ", got none");
  SmallVector<double> weights;
  if (!checkTrainFlags() || !readClassWeights(weights))
    return false;
  options.classWeights = ArrayRef<double>(weights);
  options.loss = loss.option.getValue();
  options.targets = targets.option.getValue();
  options.optimizer = optimizer.option.getValue();
  // As PyTorch's SGD, whose momentum is a number.
  if (options.optimizer == "sgd" && momentum.option > 0)
    options.optimizer = "momentum";
  options.convention = convention.option.getValue();
  options.freeze =
      ArrayRef<std::string>(static_cast<std::vector<std::string> &>(freeze));
  options.trainOnly =
      ArrayRef<std::string>(static_cast<std::vector<std::string> &>(trainOnly));
  options.smoothing = std::max(smoothing.option.getValue(), 0.0);
  options.accumulate = accumulate.getValue();
  options.dataParallel = dataParallel.getValue();
  options.syncBatchNorm = syncBatchNorm.getValue();
  options.lr = lr.option.getValue();
  options.momentum = momentum.option.getValue();
  options.weightDecay = weightDecay.option.getValue();
  options.beta1 = beta1.option.getValue();
  options.beta2 = beta2.option.getValue();
  options.epsilon = epsilon.option.getValue();
  options.dampening = dampening.option.getValue();
  options.average = std::max(ema.option.getValue(), 0.0);
  if (isGiven(clipNorm.option) || isGiven(clipValue.option)) {
    bool norm = isGiven(clipNorm.option);
    options.clipping = norm ? "norm" : "value";
    options.clip = (norm ? clipNorm : clipValue).option.getValue();
  }
  return true;
}

std::string mlir::mnistc::trainFlagsText() {
  std::string text;
  if (train)
    text += " --train";
  for (WordFlag *flag : wordFlags)
    if (isGiven(flag->option))
      text += (" --" + flag->option.ArgStr + "=" + flag->option).str();
  for (NumberFlag *flag : numberFlags)
    if (isGiven(flag->option))
      text +=
          (" --" + flag->option.ArgStr + "=" + numberText(flag->option)).str();
  if (accumulate > 1)
    text += " --accumulate=" + std::to_string(accumulate);
  if (isGiven(classWeights))
    text += " --class-weights" +
            (classWeights.empty() ? "" : "=" + classWeights.getValue());
  for (cl::opt<bool> *flag : {&dataParallel, &syncBatchNorm})
    if (*flag)
      text += (" --" + flag->ArgStr).str();
  if (isGiven(freeze))
    text += " --freeze=" + llvm::join(freeze.begin(), freeze.end(), ",");
  if (isGiven(trainOnly))
    text +=
        " --train-only=" + llvm::join(trainOnly.begin(), trainOnly.end(), ",");
  return text;
}
