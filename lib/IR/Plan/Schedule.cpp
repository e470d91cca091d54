//===- Schedule.cpp - how a contraction is computed -----------------------===//

#include "lib/IR/Plan/Schedule.h"
#include "lib/IR/Mnist/MnistOps.h"
#include "lib/IR/Plan/ChainBody.h"
#include "lib/IR/Plan/Contraction.h"
#include "lib/IR/Plan/Parameters.h"
#include "lib/IR/Plan/StepBody.h"
#include "lib/IR/Printable.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::mnistc;

//===----------------------------------------------------------------------===//
// Between the plan and the kernels
//===----------------------------------------------------------------------===//

bool mlir::mnistc::isSchedule(Attribute attribute) {
  return isa<ProductAttr, DotsAttr, DirectAttr, ColumnsAttr, PatchesAttr,
             WeightsAttr, BandsAttr>(attribute);
}

static Attribute attributeOf(StepOp step) {
  return step.getSchedule().value_or(Attribute());
}

Mma mlir::mnistc::mmaOf(StepOp step) {
  Attribute schedule = attributeOf(step);
  if (auto product = dyn_cast_or_null<ProductAttr>(schedule))
    return product.getMma();
  if (auto patches = dyn_cast_or_null<PatchesAttr>(schedule))
    return patches.getMma();
  if (auto bands = dyn_cast_or_null<BandsAttr>(schedule))
    return bands.getMma();
  return Mma::ffma;
}

bool mlir::mnistc::hasContraction(StepOp step) {
  auto root = dyn_cast_or_null<RootOpInterface>(rootOf(step));
  return root && root.getMultiplyAdds();
}

bool mlir::mnistc::isScheduled(StepOp step) {
  Attribute schedule = attributeOf(step);
  auto product = dyn_cast_or_null<ProductAttr>(schedule);
  return schedule && (!product || product.getTile());
}

static mn::ProductSchedule scheduleOf(ProductAttr product) {
  mn::ProductSchedule s = {.mma = ofKernels(product.getMma()),
                           .split = int(product.getSplit()),
                           .slices = int(product.getSlices())};
  auto copy = [](DenseI64ArrayAttr from, MutableArrayRef<int> to) {
    if (from)
      llvm::copy(from.asArrayRef().take_front(to.size()), to.begin());
  };
  copy(product.getTile(), s.tile);
  copy(product.getWarps(), s.warps);
  return s;
}

mn::ProductSchedule mlir::mnistc::scheduleOf(StepOp step) {
  Attribute schedule = attributeOf(step);
  if (!schedule)
    return {};
  return llvm::TypeSwitch<Attribute, mn::ProductSchedule>(schedule)
      .Case([](ProductAttr s) { return ::scheduleOf(s); })
      .Case([](DotsAttr s) {
        return mn::ProductSchedule{.warps = {int(s.getWarps()), 1},
                                   .split = int(s.getSplit()),
                                   .way = mn::Way::dots,
                                   .width = int(s.getWidth())};
      })
      .Case([](DirectAttr s) {
        return mn::ProductSchedule{.way = mn::Way::direct,
                                   .images = int(s.getImages())};
      })
      .Case([](ColumnsAttr s) {
        return mn::ProductSchedule{.split = int(s.getSplit()),
                                   .way = mn::Way::columns,
                                   .height = int(s.getHeight()),
                                   .width = int(s.getWidth())};
      })
      .Case([](PatchesAttr s) {
        return mn::ProductSchedule{.mma = ofKernels(s.getMma()),
                                   .split = int(s.getSplit()),
                                   .way = mn::Way::patches,
                                   .height = int(s.getHeight()),
                                   .width = int(s.getWidth())};
      })
      .Case([](WeightsAttr s) {
        return mn::ProductSchedule{.split = int(s.getSplit()),
                                   .way = mn::Way::weights,
                                   .channels = int(s.getChannels())};
      })
      .Case([](BandsAttr s) {
        return mn::ProductSchedule{.mma = ofKernels(s.getMma()),
                                   .split = int(s.getSplit()),
                                   .way = mn::Way::bands,
                                   .height = int(s.getHeight()),
                                   .width = int(s.getWidth()),
                                   .warpgroups = int(s.getWarpgroups())};
      });
}

static Attribute productAttribute(MLIRContext *context,
                                  const mn::ProductSchedule &s) {
  auto numbers = [&](ArrayRef<int> from) {
    return DenseI64ArrayAttr::get(
        context, SmallVector<int64_t>(from.begin(), from.end()));
  };
  DenseI64ArrayAttr tile, warps;
  if (s.tile[0] != 0)
    tile = numbers(s.tile);
  if (s.warps[0] != 1 || s.warps[1] != 1)
    warps = numbers(s.warps);
  Mma mma = ofPlan(s.mma);
  if (!tile && mma == Mma::ffma)
    return {};
  return ProductAttr::get(context, mma, tile, warps, s.split, s.slices);
}

Attribute mlir::mnistc::scheduleAttribute(MLIRContext *context,
                                          const mn::ProductSchedule &s) {
  switch (s.way) {
  case mn::Way::product:
    return productAttribute(context, s);
  case mn::Way::dots:
    return DotsAttr::get(context, s.width, s.warps[0], s.split);
  case mn::Way::direct:
    return DirectAttr::get(context, s.images);
  case mn::Way::columns:
    return ColumnsAttr::get(context, s.height, s.width, s.split);
  case mn::Way::patches:
    return PatchesAttr::get(context, ofPlan(s.mma), s.height, s.width, s.split);
  case mn::Way::weights:
    return WeightsAttr::get(context, s.channels, s.split);
  case mn::Way::bands:
    return BandsAttr::get(context, ofPlan(s.mma), s.height, s.width, s.split,
                          s.warpgroups);
  }
  llvm_unreachable("all have an attribute");
}

Attribute mlir::mnistc::mmaOnly(MLIRContext *context, Mma mma) {
  return scheduleAttribute(context, {.mma = ofKernels(mma)});
}

mn::ProductSchedule mlir::mnistc::chooseSchedule(StepOp step, Mma mma) {
  Contraction c(step, {.mma = ofKernels(mma)});
  switch (c.kind) {
  case Contraction::Kind::matmul:
    return mn::shape::choose(c.matmul).schedule;
  case Contraction::Kind::conv:
    return mn::shape::chooseConv(c.conv).schedule;
  case Contraction::Kind::inputGrad:
    return mn::shape::chooseInputGrad(c.conv).schedule;
  case Contraction::Kind::filterGrad:
    return mn::shape::chooseFilterGrad(c.conv).schedule;
  }
  llvm_unreachable("all have a choice");
}

bool mlir::mnistc::poolPays(StepOp step, Operation *pool) {
  Contraction c(rootOf(step), {.mma = ofKernels(mmaOf(step))});
  c.conv.pool = windowsOf(pool);
  return mn::shape::poolPays(c.conv);
}

bool mlir::mnistc::readsWindows(StepOp step, MaxUnpoolOp unpool) {
  Attribute schedule = attributeOf(step);
  if (isa_and_present<ConvInputGradOp>(rootOf(step))) {
    auto patches = dyn_cast_or_null<PatchesAttr>(schedule);
    return patches && mn::shape::patchesReadPool(windowsOf(unpool),
                                                 scheduleOf(step).height);
  }
  if (!isa_and_present<ConvFilterGradOp>(rootOf(step)))
    return false;
  if (!isa_and_present<WeightsAttr>(schedule))
    return isa_and_present<BandsAttr>(schedule);
  Contraction c(rootOf(step), scheduleOf(step));
  c.conv.pool = windowsOf(unpool);
  return mn::shape::hasWindowsOfPool(c.conv);
}

/// The value in the body of a step that its kernel's text has under a name, or
/// null.
static Value loadedBy(StepOp step, StringRef load) {
  auto root = dyn_cast_or_null<RootOpInterface>(rootOf(step));
  if (!root)
    return {};
  for (auto [name, operand] :
       llvm::zip_equal(root.getKernelText().loads, root->getOperands()))
    if (name == load)
      return operand;
  return {};
}

static Value filterOf(StepOp step) { return loadedBy(step, "loadFilter"); }

/// Whether a value in the body of a step is made of parameters and constants
/// only.
static bool isKept(StepOp step, Value value) {
  auto isGiven = [&](BlockArgument argument) {
    Value input = step.getInputs()[argument.getArgNumber()];
    auto given = dyn_cast<BlockArgument>(input);
    return given ? parameterOf(given) != nullptr
                 : isa<ConstantOp>(input.getDefiningOp());
  };
  SmallVector<Value> open = {value};
  while (!open.empty()) {
    Value next = open.pop_back_val();
    if (Operation *op = next.getDefiningOp())
      llvm::append_range(open, op->getOperands());
    else if (!isGiven(cast<BlockArgument>(next)))
      return false;
  }
  return true;
}

bool mlir::mnistc::keepsFilter(StepOp step) {
  return isa_and_nonnull<PatchesAttr>(attributeOf(step)) && filterOf(step) &&
         isKept(step, filterOf(step));
}

bool mlir::mnistc::loadsEarly(StepOp step) {
  return isa_and_nonnull<DotsAttr>(attributeOf(step)) &&
         isKept(step, loadedBy(step, "loadB"));
}

/// Whether a value is used for nothing but the filter.
static bool isFilterOnly(Value value, Value filter) {
  if (value == filter)
    return value.hasOneUse();
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    return user->getNumResults() == 1 &&
           isFilterOnly(user->getResult(0), filter);
  });
}

SmallVector<unsigned> mlir::mnistc::filterInputs(StepOp step) {
  SmallVector<unsigned> inputs;
  if (keepsFilter(step))
    for (BlockArgument argument : step.getBody().getArguments())
      if (isFilterOnly(argument, filterOf(step)))
        inputs.push_back(argument.getArgNumber());
  return inputs;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static constexpr StringRef ways[] = {"product", "direct", "columns", "patches",
                                     "weights", "bands",  "dots"};

/// What is not the default, under its name.
static SmallVector<std::pair<StringRef, ArrayRef<int>>>
numbersOf(const mn::ProductSchedule &s) {
  SmallVector<std::pair<StringRef, ArrayRef<int>>> numbers;
  auto add = [&](StringRef name, ArrayRef<int> values) {
    if (llvm::any_of(values, [](int value) { return value > 1; }))
      numbers.push_back({name, values});
  };
  add("tile", s.tile);
  add("warps", s.warps);
  add("split", s.split);
  add("images", s.images);
  add("height", s.height);
  add("width", s.width);
  add("channels", s.channels);
  add("warpgroups", s.warpgroups);
  add("slices", s.slices);
  return numbers;
}

static std::string joined(ArrayRef<int> numbers, StringRef separator) {
  return llvm::join(
      llvm::map_range(numbers, [](int n) { return std::to_string(n); }),
      separator);
}

std::string mlir::mnistc::scheduleText(StepOp step) {
  if (isCollectiveStep(step))
    return ("one sum over the ranks, of " + Twine(step.getNumResults()) +
            (step.getNumResults() == 1 ? " tensor" : " tensors"))
        .str();
  if (SmallVector<StepOp> links = linksOf(step); !links.empty()) {
    std::string names = llvm::join(
        llvm::map_range(
            links, [](StepOp link) { return printable(link.getName().str()); }),
        ", ");
    unsigned held = shapeOfChain(links).blocks.held;
    return "a chain of " + names +
           (held == 0
                ? ""
                : " in " + std::to_string(held) + " bytes of shared memory");
  }
  if (!isScheduled(step))
    return "";
  mn::ProductSchedule schedule = scheduleOf(step);
  std::string text = ways[static_cast<int>(schedule.way)].str();
  for (auto [name, values] : numbersOf(schedule)) {
    bool isOne = name == "warps" && schedule.way == mn::Way::dots;
    text +=
        (", " + name + " " + joined(isOne ? values.take_front() : values, "x"))
            .str();
  }
  return text;
}

SmallVector<std::string>
mlir::mnistc::scheduleFields(const mn::ProductSchedule &s) {
  SmallVector<std::string> fields, sizes;
  if (s.mma != mn::Mma::ffma)
    fields.push_back((".mma = mn::Mma::" + stringifyMma(ofPlan(s.mma))).str());
  // In the order of the struct.
  std::string way =
      s.way == mn::Way::product
          ? ""
          : (".way = mn::Way::" + ways[static_cast<int>(s.way)]).str();
  bool saysWay = way.empty();
  for (auto [name, values] : numbersOf(s)) {
    bool isFirst = name == "tile" || name == "warps" || name == "split";
    if (!isFirst && !std::exchange(saysWay, true))
      fields.push_back(way);
    std::string numbers = joined(values, ", ");
    fields.push_back(("." + name + " = " +
                      (values.size() == 1 ? numbers : "{" + numbers + "}"))
                         .str());
  }
  if (!saysWay)
    fields.push_back(way);
  return fields;
}
