//===- initialize.h - other weights to begin with ---------------*- C++ -*-===//
//
// Parameters of two dimensions or more get random numbers (Philox, by the seed
// and the parameter's number). With fan_in and fan_out as ONNX's operators use
// the tensor (see onnx_uses.h):
//
//   he       normal, deviation sqrt(2 / fan_in); biases 0
//            He and others, "Delving Deep into Rectifiers" (ICCV 2015)
//   xavier   uniform, +-sqrt(6 / (fan_in + fan_out)); biases 0
//            Glorot and Bengio (AISTATS 2010)
//   keras    as xavier, which Keras's layers begin with
//   torch    uniform, +-1 / sqrt(fan_in), biases too, as PyTorch's layers begin
//
// A parameter of one dimension is a bias where a node adds it to what a weight
// computes; others stay as they are, as the scales and shifts of
// normalizations. So do buffers.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_TRAIN_INITIALIZE_H
#define MNISTRT_TRAIN_INITIALIZE_H

#include "train/train_model.h"

namespace mn {

enum class Initialization { file, he, xavier, torch, keras };

Status parseInitialization(const std::string &name, Initialization &kind);

/// Writes into a copy of the parameter block.
Status initialize(const TrainModel &model, Initialization kind, int64_t seed,
                  std::vector<char> &block);

} // namespace mn

#endif // MNISTRT_TRAIN_INITIALIZE_H
