//===- launches.cpp - the kernels of one step -----------------------------===//

#define MN_TARGET_CUDA // As programs do that call these functions.
#include "mnistrt/generated.h"

using namespace mn;

static Launches withSums(const LaunchShape &shape, int splits,
                         int64_t results) {
  Launches all = {shape};
  if (shape::addsLater(splits))
    all.sums = shape::partSums(results);
  return all;
}

static Launches productLaunches(const shape::Product &p) {
  return withSums(shape::product(p), p.schedule.split, p.batches * p.m * p.n);
}

/// A convolution or the gradient of its input: of patches the filters are
/// packed first.
static Launches launchesOf(const shape::ConvWay &way, const shape::Windows &w,
                           const shape::Product &p) {
  if (way.way == Way::product)
    return productLaunches(p);
  Launches all = {shape::launchOf(way, w, p)};
  if (way.way == Way::patches) {
    all.filters = shape::packFilters(w, way.patch);
    all.filterBytes = size_t(shape::packedWords(w, way.patch)) * 16;
  }
  return all;
}

Launches mn::convLaunches(const Conv &s) {
  return launchesOf(shape::convWay(s), shape::windowsOfWay(s),
                    shape::productOf(s));
}

Launches mn::convInputGradLaunches(const Conv &s) {
  return launchesOf(shape::inputGradWay(s), shape::readersOf(s),
                    shape::inputGradOf(s));
}

Launches mn::convFilterGradLaunches(const Conv &s) {
  const bool shares = s.schedule.way != Way::weights;
  return withSums(shape::filterGrad(s), shares ? s.schedule.split : 1,
                  shape::resultsOf(s));
}

Launches mn::matmulLaunches(const Matmul &s) {
  return productLaunches(shape::productOf(s));
}

LaunchShape mn::reduceLaunch(const Reduce &s) { return shape::reduce(s); }

LaunchShape mn::softmaxLaunch(const Softmax &s) { return shape::softmax(s); }

RowLaunches mn::rowLaunches(const Reduce &s, const shape::RowTraits &f) {
  return {shape::rows(s, f), shape::launchesOf(s, f)};
}
