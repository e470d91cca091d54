//===- FormChains.cpp - small steps in one launch -------------------------===//
//
// Once it is known what computes each step, and before memory: a chain takes no
// operand's place.
//
//===----------------------------------------------------------------------===//

#include "lib/IR/Plan/ChainBody.h"
#include "lib/IR/Plan/Parameters.h"
#include "lib/IR/Plan/Schedule.h"
#include "lib/IR/Plan/StepBuilder.h"
#include "lib/IR/Plan/StepOrder.h"
#include "lib/IR/Plan/Target.h"
#include "lib/Passes/Passes.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include <set>

namespace mlir::mnistc {

#define GEN_PASS_DEF_FORMCHAINS
#include "lib/Passes/Passes.h.inc"

namespace {
struct FormChains : impl::FormChainsBase<FormChains> {
  void runOnOperation() override;
};

/// How many rows a chain has.
struct Rows {
  int64_t count;
  bool areMatrices; ///< of a product in it; else along first dimensions
};

/// The steps of a function, and what each needs.
class Steps {
public:
  Steps(func::FuncOp function, const Machine &machine)
      : function(function), machine(machine), steps(function.getOps<StepOp>()),
        dependencies(function) {
    for (auto [number, step] : llvm::enumerate(steps))
      numbers[step] = number;
    findWriters();
    for (StepOp step : steps)
      links.push_back(updatesParameter(step)
                          ? Link()
                          : Link{mostRowsOfLink(step), imagesOfLink(step),
                                 matricesOfLink(step)});
  }

  /// The steps of the first chain that begins with step `start` or later, which
  /// becomes the number of its first step.
  SmallVector<StepOp> nextChain(unsigned &start) const;

private:
  void findWriters();
  bool updatesParameter(StepOp step) const;
  bool mayBeLink(unsigned number, Rows rows) const;
  bool mayBeChain(ArrayRef<unsigned> chain, Rows rows) const;
  SmallVector<StepOp> stepsOf(ArrayRef<unsigned> numbers) const {
    return llvm::map_to_vector(numbers,
                               [&](unsigned number) { return steps[number]; });
  }
  bool mayJoin(ArrayRef<unsigned> chain, unsigned number, Rows rows) const;
  bool needsUpdateOfInput(ArrayRef<unsigned> chain) const;
  SmallVector<unsigned> chainOf(unsigned start, Rows rows) const;
  bool hasRows(unsigned number, Rows rows) const;
  std::pair<SmallVector<unsigned>, Rows> longestFrom(unsigned start) const;
  bool belongsTo(ArrayRef<unsigned> chain, unsigned number, Rows rows) const;

  func::FuncOp function;
  const Machine &machine;
  SmallVector<StepOp> steps;
  StepDependencies dependencies;
  /// What ChainBody.h says of a step's rows; 0: it is no link.
  struct Link {
    int64_t most = 0, images = 0, matrices = 0;
  };
  SmallVector<Link> links; ///< of each step
  DenseMap<Operation *, unsigned> numbers;
  DenseMap<Value, unsigned> writerOf; ///< of a parameter's old value
};
} // namespace

/// Which step writes over which argument.
void Steps::findWriters() {
  DenseMap<StringAttr, Value> arguments;
  for (BlockArgument argument : function.getArguments())
    if (StringAttr name = parameterOf(argument))
      arguments[name] = argument;
  Operation *end = function.getBody().front().getTerminator();
  for (OpOperand &operand : end->getOpOperands()) {
    Value before =
        arguments.lookup(parameterOf(function, operand.getOperandNumber()));
    auto step = operand.get().getDefiningOp<StepOp>();
    if (before && step)
      writerOf[before] = numbers.lookup(step);
  }
}

/// Other blocks may still read it.
bool Steps::updatesParameter(StepOp step) const {
  return llvm::any_of(step->getUses(), [&](OpOperand &use) {
    return isa<func::ReturnOp>(use.getOwner()) &&
           parameterOf(function, use.getOperandNumber());
  });
}

bool Steps::mayBeLink(unsigned number, Rows rows) const {
  int64_t most = rows.areMatrices ? links[number].most : links[number].images;
  return most != 0 && most % rows.count == 0 && mayBeChain(number, rows);
}

/// Whether links can be one kernel, and have little to do in a block, which has
/// one row if it holds what they make for each other.
bool Steps::mayBeChain(ArrayRef<unsigned> chain, Rows rows) const {
  SmallVector<StepOp> links = stepsOf(chain);
  mn::ChainBlocks blocks = mn::shape::chainBlocks(rows.count);
  if (rows.areMatrices)
    blocks = shapeOfChain(links, rows.count).blocks;
  return areArguments(links) && llvm::all_of(links, [&](StepOp link) {
           return isSmallLink(link, blocks, machine);
         });
}

/// Whether a step alone has so many.
bool Steps::hasRows(unsigned number, Rows rows) const {
  return rows.count ==
         (rows.areMatrices ? links[number].matrices : links[number].images);
}

/// Whether steps together need the new value of a parameter whose old one they
/// read.
bool Steps::needsUpdateOfInput(ArrayRef<unsigned> chain) const {
  return llvm::any_of(chain, [&](unsigned reader) {
    return llvm::any_of(StepOp(steps[reader]).getInputs(), [&](Value input) {
      auto writer = writerOf.find(input);
      return writer != writerOf.end() &&
             llvm::any_of(chain, [&](unsigned number) {
               return dependencies.needs(number, writer->second);
             });
    });
  });
}

/// Whether step `number` may be the next link: it reads what a link makes, by
/// rows, and needs the chain in no other way.
bool Steps::mayJoin(ArrayRef<unsigned> chain, unsigned number,
                    Rows rows) const {
  StepOp step = steps[number];
  if (!mayBeLink(number, rows))
    return false;
  bool reads = false;
  for (auto [i, input] : llvm::enumerate(step.getInputs())) {
    auto producer = input.getDefiningOp<StepOp>();
    if (!producer)
      continue;
    unsigned made = numbers.lookup(producer);
    if (llvm::is_contained(chain, made)) {
      reads = true;
      if (!readsLink(step, i, stepsOf(chain), rows.count))
        return false;
    } else if (llvm::any_of(chain, [&](unsigned link) {
                 return dependencies.needs(made, link);
               })) {
      return false;
    }
  }
  SmallVector<unsigned> together(chain);
  together.push_back(number);
  return reads && !needsUpdateOfInput(together) && mayBeChain(together, rows);
}

/// Numbers of the steps of a chain of so many rows, which begins with `start`.
SmallVector<unsigned> Steps::chainOf(unsigned start, Rows rows) const {
  if (!mayBeLink(start, rows))
    return {};
  SmallVector<unsigned> chain = {start};
  for (unsigned next = start + 1; next < steps.size(); ++next)
    if (mayJoin(chain, next, rows))
      chain.push_back(next);
  return chain.size() > 1 ? chain : SmallVector<unsigned>();
}

/// Whether a step is a map whose result a link reads, of what the chain reads
/// anyway, and all who read it wait for the chain: nothing waits for more if
/// the chain computes that, too, but for a launch less.
bool Steps::belongsTo(ArrayRef<unsigned> chain, unsigned number,
                      Rows rows) const {
  StepOp map = steps[number];
  if (llvm::is_contained(chain, number) || rootOf(map) ||
      !mayBeLink(number, rows))
    return false;
  auto isLink = [&](StepOp step) {
    return llvm::is_contained(chain, numbers.lookup(step));
  };
  llvm::SmallPtrSet<Value, 8> read;
  bool isRead = false;
  for (unsigned link : chain) {
    StepOp step = steps[link];
    read.insert(step.getInputs().begin(), step.getInputs().end());
    for (auto [i, input] : llvm::enumerate(step.getInputs())) {
      auto producer = input.getDefiningOp<StepOp>();
      isRead |= producer == map;
      if (producer == map && !readsByRows(step, i, rows.count))
        return false;
    }
  }
  auto waits = [&](Operation *user) {
    return isa<func::ReturnOp>(user) || isLink(cast<StepOp>(user)) ||
           llvm::any_of(chain, [&](unsigned link) {
             return dependencies.needs(numbers.lookup(user), link);
           });
  };
  auto isThere = [&](Value input) {
    auto producer = input.getDefiningOp<StepOp>();
    return read.contains(input) && !(producer && isLink(producer));
  };
  return isRead && llvm::all_of(map->getUsers(), waits) &&
         llvm::all_of(map.getInputs(), isThere);
}

/// The longest chain that begins with a step; of several the one with most
/// rows. As many rows has one of its links.
std::pair<SmallVector<unsigned>, Rows>
Steps::longestFrom(unsigned start) const {
  if (links[start].most == 0)
    return {};
  auto isMore = [](Rows a, Rows b) {
    return std::pair(a.count, a.areMatrices) >
           std::pair(b.count, b.areMatrices);
  };
  std::set<Rows, decltype(isMore)> candidates(isMore);
  for (const Link &link : ArrayRef(links).drop_front(start)) {
    if (link.images != 0 && links[start].images % link.images == 0)
      candidates.insert({link.images, false});
    if (link.matrices != 0 && links[start].most % link.matrices == 0)
      candidates.insert({link.matrices, true});
  }
  std::pair<SmallVector<unsigned>, Rows> best;
  for (Rows rows : candidates) {
    SmallVector<unsigned> chain = chainOf(start, rows);
    bool isOfLink = llvm::any_of(
        chain, [&](unsigned number) { return hasRows(number, rows); });
    if (isOfLink && chain.size() > best.first.size())
      best = {std::move(chain), rows};
  }
  return best;
}

SmallVector<StepOp> Steps::nextChain(unsigned &start) const {
  for (; start < steps.size(); ++start) {
    auto [chain, rows] = longestFrom(start);
    if (chain.empty())
      continue;
    for (unsigned number = 0; number < steps.size(); ++number)
      if (belongsTo(chain, number, rows)) {
        chain.insert(chain.begin(), number);
        if (!mayBeChain(chain, rows))
          chain.erase(chain.begin());
      }
    return llvm::map_to_vector(chain,
                               [&](unsigned number) { return steps[number]; });
  }
  return {};
}

/// Makes one of the maps that a chain begins with: what they read is on its way
/// at once.
static void joinFirstMaps(SmallVectorImpl<StepOp> &links) {
  while (links.size() > 1 && !rootOf(links[0]) && !rootOf(links[1]) &&
         llvm::none_of(links[1].getInputs(), [&](Value input) {
           return input.getDefiningOp() == links[0];
         })) {
    SmallVector<Value> results(links[0].getResults());
    llvm::append_range(results, links[1].getResults());
    links[1] = joinTo(links[1], {links[0], links[1]}, results, links[1]);
    links.erase(links.begin());
  }
}

/// How many links each waits for, one after another.
static DenseMap<Operation *, int> depthsOf(ArrayRef<StepOp> links) {
  DenseMap<Operation *, int> depths;
  for (StepOp link : links) {
    int depth = 0;
    for (Value input : link.getInputs())
      if (auto before = depths.find(input.getDefiningOp());
          before != depths.end())
        depth = std::max(depth, before->second + 1);
    depths[link] = depth;
  }
  return depths;
}

/// The same where what has a root comes as late as what reads it lets it: the
/// gradients of an attention's queries, keys and values are made together.
static DenseMap<Operation *, int>
latestDepthsOf(ArrayRef<StepOp> links, DenseMap<Operation *, int> depths) {
  int last = 0;
  for (StepOp link : links)
    last = std::max(last, depths[link]);
  for (StepOp link : llvm::reverse(links)) {
    if (!rootOf(link))
      continue;
    int latest = last;
    for (Operation *user : link->getUsers())
      if (auto reader = depths.find(user); reader != depths.end())
        latest = std::min(latest, reader->second - 1);
    depths[link] = latest;
  }
  return depths;
}

/// Puts links one after another that do not wait for each other; threads wait
/// before the first of them, which therefore is none that could have begun
/// before.
static void orderLinks(SmallVectorImpl<StepOp> &links) {
  DenseMap<Operation *, int> depths = depthsOf(links),
                             latest = latestDepthsOf(links, depths);
  SmallVector<StepOp> ordered;
  for (int depth = 0; ordered.size() < links.size(); ++depth)
    for (bool isDelayed : {false, true})
      llvm::copy_if(links, std::back_inserter(ordered), [&](StepOp link) {
        return latest[link] == depth && (depths[link] != depth) == isDelayed;
      });
  links = std::move(ordered);
}

void FormChains::runOnOperation() {
  func::FuncOp function = getOperation();
  const Machine &machine = machineFor(function);
  if (function.isExternal() || !machine.chains)
    return;
  // A chain changes who needs whom.
  for (unsigned start = 0;; ++start) {
    SmallVector<StepOp> links = Steps(function, machine).nextChain(start);
    if (links.empty())
      return;
    joinFirstMaps(links);
    orderLinks(links);
    auto units = llvm::map_to_vector(links, mmaOfLink);
    StepOp made = chain(links, resultsOfChain(links));
    for (auto [link, unit] : llvm::zip_equal(linksOf(made), units))
      if (hasContraction(link))
        link.setScheduleAttr(mmaOnly(&getContext(), unit));
    sortTopologically(&function.getBody().front());
    numLinks += links.size();
  }
}

} // namespace mlir::mnistc
