//===- KernelTable.h - the generated kernels of a file ----------*- C++ -*-===//
//
// Steps that compute the same, on other tensors, call one kernel: the layers of
// a network repeat, and so do the plans of a model.
// A kernel may have scratch memory of its own, so that those of one plan which
// share it are in one stream.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_CODEGEN_KERNELTABLE_H
#define MNISTC_CODEGEN_KERNELTABLE_H

#include "lib/IR/Plan/MapForm.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include <deque>
#include <string>
#include <unordered_map>

namespace mlir::mnistc {

/// A name and its namespace.
struct ScopedName {
  std::string space, name;

  /// What those in `user` call it.
  std::string in(StringRef user) const {
    return user == space ? name : space + "::" + name;
  }
};

/// What a kernel does to an element.
struct Functor {
  ScopedName type;    ///< "Relu_1"
  std::string kernel; ///< the first that it has: "infer_64_relu_1", or empty
};

/// Functors of one type that a step's kernel is given, each as its members.
struct FunctorTable {
  ScopedName type; ///< "Relu_1"
  SmallVector<SmallVector<Value>> rows;
};

/// What computes a segment of a map.
struct MapFunctor {
  StepOp step; ///< that it was written for
  Segment segment;
  bool inPlace; ///< a result may be where an input was
  MapForm form;
  Functor functor;
  SmallVector<Value> members;
};

/// A kernel and how a step calls it.
struct Kernel {
  StepOp step;                      ///< that it was written for
  bool inPlace;                     ///< a result may be where an input was
  std::string name;                 ///< "infer_64_relu_1"
  std::string call;                 ///< "mn::conv<float>"
  std::optional<ScopedName> shape;  ///< "relu_1_shape"
  std::string count;                ///< of elements, where there is no shape
  SmallVector<FunctorTable> tables; ///< one functor, or those of all segments
  /// Of each plan, the stream with the steps that call it.
  DenseMap<Operation *, int64_t> streams = DenseMap<Operation *, int64_t>();
};

/// A step's kernel, and what the step gives it.
struct KernelUse {
  const Kernel *kernel;
  SmallVector<FunctorTable> tables;
};

/// A functor for a segment of a step, and what the step gives it.
struct MapFunctorUse {
  Functor *functor;
  SmallVector<Value> members;
};

class KernelTable {
public:
  /// A kernel that computes what the step does, and that the step may call.
  std::optional<KernelUse> find(StepOp step, bool inPlace);
  /// The use by the step that it was written for.
  KernelUse add(Kernel kernel);
  /// A functor that computes what the segment of a map does, of any number of
  /// elements.
  std::optional<MapFunctorUse> findMap(StepOp step, const Segment &segment,
                                       bool inPlace, MapForm form);
  MapFunctorUse addMap(MapFunctor map);
  /// The functor of such calls that reads as `text` but for `names`, its own
  /// and its members', and for comments; or `own` if it is new. Kernels of
  /// other sizes may have it.
  const Functor &shareFunctor(StringRef call, StringRef text,
                              ArrayRef<std::string> names, const Functor &own);

private:
  std::deque<Kernel> kernels;
  std::unordered_map<size_t, SmallVector<Kernel *>> byHash;
  std::deque<MapFunctor> maps;
  std::unordered_map<size_t, SmallVector<MapFunctor *>> mapsByHash;
  llvm::StringMap<Functor> functors; ///< by their text, names as numbers
};

} // namespace mlir::mnistc

#endif // MNISTC_CODEGEN_KERNELTABLE_H
