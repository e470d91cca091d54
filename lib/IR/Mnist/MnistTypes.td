//===- MnistTypes.td - the tensors of a model --------------*- tablegen -*-===//
//
// The only values that there are, in both dialects.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_IR_MNIST_MNISTTYPES_TD
#define MNISTC_IR_MNIST_MNISTTYPES_TD

include "mlir/IR/OpBase.td"

// Products of sizes do not overflow: lib/IR/Mnist/TensorSize.h.
class Mnist_TensorOf<list<Type> types>
    : RankedTensorOf<types, [CPred<"::mlir::mnistc::isStoredTensor($_self)">],
                     "statically shaped tensor of at most 2^40 elements">;

// f64 is there for gradient checks, integers and booleans for shapes, indices
// and masks, ui8 for pixels. A dimension may be 0.
def Mnist_Float : AnyTypeOf<[F32, F64]>;
def Mnist_Tensor : Mnist_TensorOf<[F32, F64, I1, I32, I64, UI8]>;
// What may be in memory: a product or convolution may read rounded operands.
def Mnist_StoredTensor : Mnist_TensorOf<[F32, F64, BF16, I1, I32, I64, UI8]>;
def Mnist_FactorTensor : Mnist_TensorOf<[F32, F64, BF16, I32, I64, UI8]>;
def Mnist_FloatTensor : Mnist_TensorOf<[F32, F64]>;
def Mnist_ConvTensor : Mnist_TensorOf<[F32, F64, BF16]>;
def Mnist_NumberTensor : Mnist_TensorOf<[F32, F64, I32, I64, UI8]>;
def Mnist_BoolTensor : Mnist_TensorOf<[I1]>;
def Mnist_IndexTensor : Mnist_TensorOf<[I32, I64]>;

#endif // MNISTC_IR_MNIST_MNISTTYPES_TD
