//===- TrainPasses.td - passes that make a model train -----*- tablegen -*-===//
//
// Training is a pipeline: choose parameters, add the loss, expand what behaves
// otherwise in training, differentiate, add the optimizer. After that every
// later pass sees an ordinary program.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_PASSES_TRAINPASSES_TD
#define MNISTC_PASSES_TRAINPASSES_TD

include "mlir/Pass/PassBase.td"

def ChooseParameters : Pass<"mnist-choose-parameters", "::mlir::ModuleOp"> {
  let summary = "Say what training changes";
  let description = [{
    Gives the module's globals a role, `mnist.role`: the mean and variance of a
    batch normalization are a "buffer", what is learned a "parameter". The others
    get no role, and `--mnist-freeze-parameters` makes constants of them. The
    module lists all with the reason, as `mnist.tensors`.

    A file does not say what is learned; the ops that read a tensor do
    (`OperandUseOpInterface`), through what only reshapes, repeats or transforms
    it:

    - operands of products and convolutions, scale and bias of a batch
      normalization, and tables that the data index are learned;
    - what is added to a computed value, or joined to it, is a bias and learned.
      Computed is what went through a product, a sum, a normalization or a table:
      what is added to the input prepares it;
    - what a computed value is multiplied with is learned where it varies along
      one dimension, or along those that the value was normalized over; a table of
      one number for each position and feature is a constant;
    - so is what is divided by a statistic, as in scale / sqrt(variance + epsilon);
    - one number is learned only as the bias of a single feature, or where its
      operator says so (the slope of a PRelu, C of a Gemm), and not where it is
      repeated to be the scale and bias of a batch normalization;
    - what is subtracted, divided by, taken a root of, compared with, an exponent
      or a bound is a number of the formula. So are masks, which hold -1e4 or
      less;
    - ones and zeros that scale and shift values before these are reshaped and
      scaled again stand for no scale and no bias: exporters write group
      normalization so.

    A tensor that a Constant node holds is not learned beside weights that are
    initializers: exporters write all weights as Constant nodes, or none.

    A running statistic that is also learned, since the exporter stored equal
    tensors once, is an error unless it is frozen.

    `freeze` names tensors that keep their values; with `train-only` those that
    it names are trained, whatever reads them, and no others.
  }];
  let options = [
    ListOption<"freeze", "freeze", "std::string",
               "Names to freeze; * stands for anything">,
    ListOption<"trainOnly", "train-only", "std::string",
               "Names to train; * stands for anything">,
    Option<"all", "all", "bool", "false",
           "Train all tensors of floats but scalars, for gradcheck">,
  ];
  let statistics = [
    Statistic<"numParameters", "parameters", "tensors that are trained">,
    Statistic<"numFrozen", "frozen", "tensors that keep their values">];
  let dependentDialects = ["::mlir::mnistc::MnistDialect"];
}

def OrderParameters : Pass<"mnist-order-parameters", "::mlir::ModuleOp"> {
  let summary = "Keep parameters in the order in which images are computed";
  let description = [{
    A dense layer flattens images in the order of the file. Where they are
    computed in another layout, `reshape(transpose(x)) w` would move all of x in
    each step, and its gradient back. If every use of a parameter w is such a
    product, with the same order, x is flattened as it is, and the device keeps w
    in that order: as `mnist.order_shape` and `mnist.order` on its global say,
    reshaped to the one, then transposed by the other. So are its gradient and
    what the optimizer keeps for it. The initial value, checkpoints, saved files
    and all that the runtime reads or writes have the file's order.

        reshape(transpose(x)) w = reshape(x) w'

    Constants are permuted by `--mnist-push-transposes`.
  }];
  let statistics = [
    Statistic<"numOrdered", "ordered", "parameters in another order">];
  let dependentDialects = ["::mlir::mnistc::MnistDialect"];
}

def AddLoss : Pass<"mnist-add-loss", "::mlir::ModuleOp"> {
  let summary = "For every function that infers, add two that compute the loss";
  let description = [{
    Next to `infer_64` come `train_64` and `eval_64`, with two more arguments,
    `mn.labels` and `mn.valid`, the number of rows that count, and with the loss
    as their result: the mean over the rows that count. Both add what a report
    needs to states that the trainer reads: `mn.loss_sum`, `mn.correct` (for
    classes), `mn.seen`, `mn.bad_step` and `mn.batch`.

    Where training is data-parallel, `mn.global_valid` is a third argument: the
    number of rows that count on all ranks. The loss of a rank is then its share,
    the sum over its rows divided by that number, so that the shares, and
    their gradients, add up to those of one rank with all rows. Where an update
    has several batches (`accumulate`), it is the number of rows of all of them,
    in functions that train.

    The first result of the function is what is trained; classes are its
    dimension 1. `auto` is the model's own loss where it returns a scalar, binary
    cross-entropy after a sigmoid, and else cross-entropy. Where the model ends
    in a softmax, log-softmax or sigmoid, the loss is computed on its operand,
    which is exact where the probability is 0 to rounding.

    Formulas, for scores z, probabilities p, classes or targets t, K of them in
    a row, smoothing s:

    - cross-entropy: -log softmax(z)[t]; with smoothing (1 - s) of it and s of
      the mean over all classes (Szegedy and others 2016)
    - nll: -z[t]; the model computes log p
    - mse: sum (z - t)^2 / K; l1: sum |z - t| / K
    - bce: -sum (t max(log p, -100) + (1 - t) max(log (1 - p), -100)) / K
    - bce-logits: sum (softplus(z) - t z) / K

    The last four take values, as many as there are scores, or classes, which
    are one in their place and zero elsewhere.

    With `class-weights` w functions that train multiply what a label of class t
    costs by w[t], and take the mean over sum w[t] of the labels that count, of
    all ranks, instead of over their number: what PyTorch's CrossEntropyLoss and
    NLLLoss do with a weight. In the mean over all classes of a smoothed label,
    class k counts w[k] / sum w[t], as there. Of bce and bce-logits with one score
    the classes are two, as of a softmax of 0 and z. The weights are the state
    `mn.class_weights`, which begins as the option says. Functions that evaluate
    do not weigh.
  }];
  let options = [
    Option<"kind", "kind", "std::string", "\"auto\"",
           "auto, cross-entropy, nll, mse, l1, bce or bce-logits">,
    Option<"targets", "targets", "std::string", "\"auto\"",
           "auto, class or values">,
    Option<"smoothing", "smoothing", "double", "0.0",
           "Label smoothing, for cross-entropy and nll: 0 to 1">,
    Option<"accumulate", "accumulate", "int64_t", "1",
           "Batches that an update has">,
    ListOption<"classWeights", "class-weights", "double",
               "Weights of classes; one: of each; none: labels count once">,
    Option<"dataParallel", "data-parallel", "bool", "false",
           "Several ranks have a share of the rows each">,
  ];
  let dependentDialects = ["::mlir::mnistc::MnistDialect",
                           "::mlir::ml_program::MLProgramDialect"];
}

def ExpandTraining : Pass<"mnist-expand-training", "::mlir::ModuleOp"> {
  let summary = "Expand what behaves otherwise while training";
  let description = [{
    In functions that train:

    - batch normalization takes mean and variance from the batch, and adds them
      to the running statistics: running = momentum running + (1 - momentum)
      batch, with the variance divided by the number of elements (ONNX,
      BatchNormalization with training_mode). One whose statistics are constants
      is frozen, and computes what it does in inference. A batch that is not
      full would change the statistics, so that training drops it: the module
      says `mnist.partial` = "dropped";
    - dropout zeroes an element where the random number of its place is below
      `ratio`, and divides the others by 1 - ratio. The numbers depend on
      `mn.seed`, `mn.step` and the dropout's number alone, so that the backward
      pass can compute them again.

    Where training is data-parallel, the rows of a rank get the random numbers
    that they would get among the rows of all. A batch normalization takes the
    statistics of its rank's rows, or with `sync-batch-norm` of all rows; running
    statistics get the mean over the ranks of what the batch has, and so are the
    same on all. Where an update has several batches (`accumulate`), the rows of
    each get the random numbers that they would get in one batch of all; batch
    statistics are of each batch.
  }];
  let options = [
    Option<"accumulate", "accumulate", "int64_t", "1",
           "Batches that an update has">,
    Option<"dataParallel", "data-parallel", "bool", "false",
           "Several ranks have a share of the rows each">,
    Option<"syncBatchNorm", "sync-batch-norm", "bool", "false",
           "Batch statistics are those of all ranks">,
  ];
  let statistics = [
    Statistic<"numNormalizations", "normalizations",
              "batch normalizations expanded">,
    Statistic<"numDropouts", "dropouts", "dropouts expanded">];
  let dependentDialects = ["::mlir::mnistc::MnistDialect",
                           "::mlir::ml_program::MLProgramDialect"];
}

def Differentiate : Pass<"mnist-differentiate", "::mlir::func::FuncOp"> {
  let summary = "Return the gradients of the loss too";
  let description = [{
    Walks a function that trains (its first result, a scalar, is marked
    `mnist.loss`) backwards once and asks each op for its derivative
    (`DifferentiableOpInterface`). The function then also returns the gradient
    with respect to each parameter that it loads, in the order of the loads; the
    result carries the parameter's name as `mnist.gradient`, and a name of its
    own. A function without a loss that trains is left alone.
  }];
  let statistics = [
    Statistic<"numGradients", "gradients", "gradients that are returned">];
  let dependentDialects = ["::mlir::mnistc::MnistDialect"];
}

def ReduceGradients : Pass<"mnist-reduce-gradients", "::mlir::func::FuncOp"> {
  let summary = "Add up the gradients of all ranks";
  let description = [{
    Each gradient that `mnist-differentiate` returned becomes its sum over the
    ranks of a data-parallel training, `mnist.all_reduce`: all ranks then do the
    same updates. A gradient that is zero whatever the data stays as it is.
  }];
  let statistics = [
    Statistic<"numReduced", "reduced", "gradients that are added up">];
  let dependentDialects = ["::mlir::mnistc::MnistDialect"];
}

def AddOptimizer : Pass<"mnist-add-optimizer", "::mlir::ModuleOp"> {
  let summary = "Turn gradients into updates of the parameters";
  let description = [{
    An optimizer is elementwise ops: SGD is `w - lr g`. Every result that
    `mnist-differentiate` added is replaced by `ml_program.global_store`s of the
    parameter's new value and of the optimizer's state, which are new globals
    named `<parameter>.<state>`.

    The numbers of the recipe are read from row `mn.step` mod 1024 of the state
    `mn.recipe`: lr, momentum, weight decay, beta1, beta2, epsilon, dampening,
    clip, 1 - beta1^t, 1 - beta2^t. The trainer writes the rows ahead, so that a
    schedule needs no compiler and no launch. What it is not told otherwise is in
    the module's `mnist.recipe`: the options, or for those below 0 what PyTorch
    or Keras, by `convention`, take for the optimizer. `mn.step` counts the steps; t is
    the number of this one from 1.

    Formulas (g gradient, w parameter), with g plus weight_decay w for all but
    adamw:

    - sgd: w - lr g
    - momentum: v = momentum v + (1 - dampening) g; w - lr v. As PyTorch does,
      the first v is g, whatever the dampening. In Keras's convention v = momentum v -
      lr g; w + v
    - nesterov: momentum with w - lr (g + momentum v); in Keras's convention w +
      momentum v - lr g
    - adam, adamw: m = beta1 m + (1 - beta1) g; v = beta2 v + (1 - beta2) g g;
      w - lr m' / (sqrt(v') + epsilon), m' = m / (1 - beta1^t), v' likewise; in
      Keras's convention w - lr sqrt(1 - beta2^t) / (1 - beta1^t) m / (sqrt(v) +
      epsilon); adamw first takes lr weight_decay w from w (Kingma and Ba 2015;
      Loshchilov and Hutter 2019)
    - rmsprop: v = beta2 v + (1 - beta2) g g; w - lr g / (sqrt(v) + epsilon); in
      Keras's convention the root is of v + epsilon
    - adagrad: v = v + g g; w - lr g / (sqrt(v) + epsilon)

    Clipping comes first: by value each element of g into [-clip, clip]; by norm
    all gradients together are scaled by clip / (norm + 1e-6) where that is
    below 1 (Pascanu, Mikolov and Bengio 2013, in PyTorch's convention).

    With `average` = d above 0 there is a moving mean of each parameter, a state
    `<parameter>.ema` that begins as the parameter: ema + (1 - d) (w - ema),
    after each update (Polyak and Juditsky 1992). Functions that do not train
    read it in the parameter's place.

    With `accumulate` above 1 an update has several batches. Gradients are added
    up in states `<parameter>.sum`, and the new values above are those of a sum
    as g. Of all but the last batch of an update they are not taken: a parameter
    and its states stay. `mn.part` counts the batches of an update, of which the
    last is the one that has the last of its `mn.global_valid` rows; `mn.step`
    counts updates.
  }];
  let dependentDialects = ["::mlir::mnistc::MnistDialect",
                           "::mlir::ml_program::MLProgramDialect"];
  let options = [
    Option<"kind", "kind", "std::string", "\"sgd\"",
           "sgd, momentum, nesterov, adam, adamw, rmsprop or adagrad">,
    Option<"convention", "convention", "std::string", "\"torch\"",
           "torch or keras, where the two differ">,
    Option<"clipping", "clipping", "std::string", "\"none\"",
           "none, norm (of all gradients together) or value">,
    Option<"lr", "lr", "double", "-1.0", "Learning rate">,
    Option<"momentum", "momentum", "double", "-1.0", "Momentum">,
    Option<"weightDecay", "weight-decay", "double", "-1.0", "Weight decay">,
    Option<"beta1", "beta1", "double", "-1.0", "Decay of the mean gradient">,
    Option<"beta2", "beta2", "double", "-1.0", "Decay of the mean square">,
    Option<"epsilon", "epsilon", "double", "-1.0", "Added to roots">,
    Option<"dampening", "dampening", "double", "-1.0",
           "What momentum leaves out of a gradient">,
    Option<"clip", "clip", "double", "-1.0", "Where clipping begins">,
    Option<"average", "average", "double", "0.0",
           "Decay of the mean of the parameters; 0: none">,
    Option<"accumulate", "accumulate", "int64_t", "1",
           "Batches that an update has">,
  ];
}

def BindParameters : Pass<"mnist-bind-parameters", "::mlir::ModuleOp"> {
  let summary = "Pass parameters as arguments and results";
  let description = [{
    A `ml_program.global_load` becomes an argument of its function, a
    `global_store` a result, both marked `mnist.parameter` with the global's
    name. A function is a value then: (data, parameters) to (results, new
    parameters). The globals stay, for their types, values and roles.
  }];
  let dependentDialects = ["::mlir::mnistc::MnistDialect"];
}

#endif // MNISTC_PASSES_TRAINPASSES_TD
