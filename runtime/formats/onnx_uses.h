//===- onnx_uses.h - what a model does with its weights ---------*- C++ -*-===//
//
// Which dimensions of a weight are inputs and which are outputs is not in its
// shape: a Gemm may transpose it, a MatMul does not. The nodes of the main
// graph say it.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_FORMATS_ONNX_USES_H
#define MNISTRT_FORMATS_ONNX_USES_H

#include <map>
#include <string>
#include <string_view>

namespace mn {

struct WeightUse {
  enum class Kind {
    other,
    dense, ///< of Gemm or MatMul: the last two dimensions
    conv   ///< filters: the first two dimensions, and the window after them
  };
  Kind kind = Kind::other;
  bool outFirst = true; ///< outputs before inputs
  std::string bias;     ///< what is added afterwards; empty: nothing known
};

/// By the weight's name. A weight that is used twice counts as its first use;
/// Identity, Cast and Transpose of two dimensions are looked through.
using WeightUses = std::map<std::string, WeightUse, std::less<>>;
WeightUses weightUsesOf(std::string_view model);

} // namespace mn

#endif // MNISTRT_FORMATS_ONNX_USES_H
