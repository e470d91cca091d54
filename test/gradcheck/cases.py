"""The operators that have a derivative, in every mode that changes it.

A row: name, operator, parameters (shape, or shape and range), what else the
node takes, and its attributes. Ranges keep away from where nothing is defined;
kinks are found by the program.
"""

import numpy as np

from model import Case
from moves import MOVES, UPSAMPLED
from special import SPECIAL

POSITIVE = (0.3, 2.0)
INSIDE = (-0.9, 0.9)
WIDE = (-4.0, 4.0)

# Elementwise, of one operand: name, operator, range, attributes.
UNARY = [
    ("Abs", WIDE, {}), ("Celu", WIDE, {"alpha": 1.7}), ("Elu", WIDE, {}),
    ("Elu", WIDE, {"alpha": 0.4}), ("Erf", (-2.0, 2.0), {}),
    ("Exp", INSIDE, {}), ("Gelu", WIDE, {}),
    ("Gelu", WIDE, {"approximate": "tanh"}), ("HardSigmoid", WIDE, {}),
    ("HardSigmoid", WIDE, {"alpha": 0.3, "beta": 0.4}), ("HardSwish", WIDE, {}),
    ("Identity", WIDE, {}), ("LeakyRelu", WIDE, {}),
    ("LeakyRelu", WIDE, {"alpha": 0.3}), ("Log", POSITIVE, {}),
    ("LogSoftmax", WIDE, {"axis": 1}), ("LogSoftmax", WIDE, {"axis": 0}),
    ("Mish", WIDE, {}), ("Neg", WIDE, {}), ("Reciprocal", POSITIVE, {}),
    ("Relu", WIDE, {}), ("Selu", WIDE, {}),
    ("Selu", WIDE, {"alpha": 1.2, "gamma": 0.8}), ("Sigmoid", WIDE, {}),
    ("Softmax", WIDE, {"axis": -1}), ("Softmax", WIDE, {"axis": 1}),
    ("Softplus", WIDE, {}), ("Softsign", WIDE, {}), ("Sqrt", POSITIVE, {}),
    ("Swish", WIDE, {}), ("Swish", WIDE, {"alpha": 1.7}), ("Tanh", WIDE, {}),
    ("ThresholdedRelu", WIDE, {"alpha": 0.8}),
]

# Of several operands that are repeated to one shape: operator, shapes, range.
BINARY = [
    ("Add", [(2, 3, 4), (4,)], WIDE), ("Add", [(3, 1), (1, 4)], WIDE),
    ("Sub", [(2, 1, 4), (3, 1)], WIDE), ("Mul", [(2, 3), (2, 1)], WIDE),
    ("Mul", [(1,), (3, 2)], WIDE), ("Div", [(3, 4), (3, 1)], POSITIVE),
    ("Pow", [(3, 4), (1, 4)], POSITIVE), ("PRelu", [(2, 3, 4), (3, 1)], WIDE),
    ("PRelu", [(2, 3), (1,)], WIDE), ("Max", [(3, 4), (4,)], WIDE),
    ("Max", [(3, 4), (3, 4), (3, 1)], WIDE), ("Min", [(3, 4), (3, 1)], WIDE),
    ("Sum", [(2, 3), (3,), (2, 1)], WIDE), ("Mean", [(2, 3), (3,), (2, 1)], WIDE),
]

# Windows: operator, shapes of the parameters, attributes.
WINDOWS = [
    ("Conv", [(2, 2, 5, 6), (3, 2, 3, 2), (3,)], {}),
    ("Conv", [(1, 4, 5, 5), (6, 2, 3, 3)], {"group": 2, "pads": [1, 1, 1, 1]}),
    ("Conv", [(2, 3, 5, 5), (3, 1, 3, 3), (3,)],
     {"group": 3, "strides": [2, 2], "pads": [1, 1, 1, 1]}),
    ("Conv", [(1, 2, 7, 8), (2, 2, 3, 3)],
     {"dilations": [2, 2], "pads": [2, 1, 0, 3], "strides": [1, 2]}),
    ("Conv", [(1, 2, 6, 5), (2, 2, 2, 2)], {"auto_pad": "SAME_UPPER"}),
    ("Conv", [(2, 2, 9), (3, 2, 4), (3,)], {"strides": [2], "pads": [1, 2]}),
    ("Conv", [(1, 2, 4, 3, 4), (2, 2, 2, 2, 3)],
     {"pads": [1, 0, 1, 0, 1, 1], "strides": [2, 1, 1]}),
    ("ConvTranspose", [(2, 2, 3, 4), (2, 3, 3, 2), (3,)],
     {"strides": [2, 2], "pads": [1, 0, 0, 1], "output_padding": [1, 0]}),
    ("ConvTranspose", [(1, 4, 4, 4), (4, 2, 3, 3)],
     {"group": 2, "dilations": [2, 1]}),
    ("ConvTranspose", [(1, 2, 5), (2, 2, 3)], {"strides": [2]}),
    ("ConvTranspose", [(1, 1, 2, 3, 2), (1, 2, 2, 2, 2)],
     {"strides": [1, 2, 1]}),
    ("MaxPool", [(2, 2, 6, 6)], {"kernel_shape": [2, 2], "strides": [2, 2]}),
    ("MaxPool", [(1, 2, 6, 7)], {"kernel_shape": [3, 3], "strides": [1, 2]}),
    ("MaxPool", [(1, 2, 5, 5)],
     {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}),
    ("MaxPool", [(1, 2, 7, 7)],
     {"kernel_shape": [2, 2], "dilations": [2, 3], "ceil_mode": 1,
      "strides": [2, 2]}),
    ("MaxPool", [(2, 2, 9)], {"kernel_shape": [3], "strides": [2]}),
    ("MaxPool", [(1, 2, 4, 4, 5)],
     {"kernel_shape": [2, 2, 3], "strides": [2, 1, 1]}),
    ("AveragePool", [(1, 2, 6, 6)],
     {"kernel_shape": [2, 2], "strides": [2, 2]}),
    ("AveragePool", [(1, 2, 6, 5)],
     {"kernel_shape": [3, 3], "strides": [2, 1], "pads": [1, 1, 1, 0]}),
    ("AveragePool", [(1, 2, 6, 5)],
     {"kernel_shape": [3, 2], "strides": [2, 1], "pads": [1, 1, 0, 1],
      "count_include_pad": 1}),
    ("AveragePool", [(1, 2, 7, 7)],
     {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1,
      "count_include_pad": 1, "pads": [1, 1, 1, 1]}),
    ("AveragePool", [(2, 2, 8)], {"kernel_shape": [3], "strides": [2]}),
    ("AveragePool", [(1, 2, 4, 3, 4)], {"kernel_shape": [2, 2, 2]}),
    ("GlobalAveragePool", [(2, 3, 4, 5)], {}),
    ("GlobalMaxPool", [(2, 3, 4, 5)], {}),
    ("GlobalMaxPool", [(2, 3, 7)], {}),
    ("LRN", [(2, 6, 3, 3)],
     {"size": 3, "alpha": 0.3, "beta": 0.6, "bias": 1.5}),
    ("LRN", [(1, 5, 2, 2)], {"size": 4, "alpha": 0.2}),
]

# Products: operator, shapes, attributes.
PRODUCTS = [
    ("Gemm", [(3, 4), (4, 5), (5,)], {}),
    ("Gemm", [(4, 3), (4, 5), (3, 1)], {"transA": 1, "alpha": 0.5}),
    ("Gemm", [(3, 4), (5, 4), (3, 5)], {"transB": 1, "beta": 0.3}),
    ("Gemm", [(4, 3), (5, 4)], {"transA": 1, "transB": 1, "alpha": -1.5}),
    ("Gemm", [(3, 4), (4, 5), (1,)], {"alpha": 2.0, "beta": -0.7}),
    ("MatMul", [(3, 4), (4, 2)], {}), ("MatMul", [(2, 3, 4), (2, 4, 3)], {}),
    ("MatMul", [(2, 3, 4), (4, 3)], {}),
    ("MatMul", [(3, 4), (2, 4, 3)], {}),
    ("MatMul", [(2, 1, 3, 4), (3, 4, 2)], {}),
    ("MatMul", [(4,), (4, 3)], {}), ("MatMul", [(2, 3, 4), (4,)], {}),
    ("MatMul", [(4,), (4,)], {}),
    ("Einsum", [(3, 4), (5, 4)], {"equation": "ik,jk->ij"}),
    ("Einsum", [(2, 3, 2, 4), (2, 5, 2, 4)], {"equation": "bqhd,bkhd->bhqk"}),
    ("Einsum", [(2, 3), (3,), (2,)], {"equation": "ij,j,i"}),
    ("Einsum", [(2, 3, 3)], {"equation": "...ii->...i"}),
]

# Reductions: operator, axes, whether dimensions are kept, range.
REDUCTIONS = [
    ("ReduceSum", [1], 0, WIDE), ("ReduceSum", [0, 2], 1, WIDE),
    ("ReduceSum", None, 0, WIDE), ("ReduceMean", [2], 1, WIDE),
    ("ReduceMean", [0, 1], 0, WIDE), ("ReduceMax", [1], 0, WIDE),
    ("ReduceMax", [0, 2], 1, WIDE), ("ReduceMin", [-1], 0, WIDE),
    ("ReduceL1", [1], 0, WIDE), ("ReduceL2", [1, 2], 0, WIDE),
    ("ReduceLogSum", [1], 1, POSITIVE), ("ReduceSumSquare", [0], 0, WIDE),
]

# Normalizations of a sample: operator, shapes, attributes, outputs.
NORMALIZATIONS = [
    ("LayerNormalization", [(3, 5), (5,), (5,)], {}, 3),
    ("LayerNormalization", [(2, 3, 4), (3, 4)], {"axis": 1, "epsilon": 0.1}, 1),
    ("LayerNormalization", [(2, 3, 4), (4,), (3, 1)], {"axis": -2}, 2),
    ("RMSNormalization", [(3, 5), (5,)], {}, 1),
    ("RMSNormalization", [(2, 3, 4), (3, 4)], {"axis": 1, "epsilon": 0.1}, 1),
    ("GroupNormalization", [(2, 6, 3, 2), (6,), (6,)], {"num_groups": 2}, 1),
    ("GroupNormalization", [(2, 4, 3), (4,), (4,)], {"num_groups": 4}, 1),
    ("GroupNormalization", [(2, 4, 3), (4,), (4,)], {"num_groups": 1}, 1),
    ("InstanceNormalization", [(2, 3, 2, 3), (3,), (3,)], {}, 1),
    ("MeanVarianceNormalization", [(2, 3, 2, 3)], {"axes": [0, 2, 3]}, 1),
    ("MeanVarianceNormalization", [(3, 5)], {"axes": [-1]}, 1),
]
# With a scale for each group.
GROUPS_BEFORE_21 = [
    ("GroupNormalization", [(2, 6, 3, 2), (2,), (2,)], {"num_groups": 2}, 1),
    ("GroupNormalization", [(2, 4, 3), (1,), (1,)], {"num_groups": 1}, 1),
]


def numbered(rows, make, **options):
    """Cases named after their operator: Conv_1, Conv_2."""
    seen = {}
    for row in rows:
        seen[row[0]] = seen.get(row[0], 0) + 1
        case = Case(f"{row[0]}_{seen[row[0]]}", **options)
        make(case, *row)
        yield case


def of_parameters(case, operator, shapes, attributes, limits=(-1.0, 1.0)):
    names = [case.parameter(f"p{i}", case.uniform(shape, *limits))
             for i, shape in enumerate(shapes)]
    case.out(case.node(operator, names, **attributes))


def normalization(case, operator, shapes, attributes, count):
    names = [case.parameter(f"p{i}", case.uniform(shape))
             for i, shape in enumerate(shapes)]
    outputs = [f"y{i}" for i in range(count)]
    case.node(operator, names, outputs, **attributes)
    case.out(case.full("y0"), shape=shapes[0])
    case.out(*map(case.full, outputs[1:]))


def unary(case, operator, limits, attributes):
    of_parameters(case, operator, [(3, 5)], attributes, limits)


def binary(case, operator, shapes, limits):
    of_parameters(case, operator, shapes, {}, limits)


def reduction(case, operator, axes, keep, limits):
    names = [case.parameter("p", case.uniform((2, 3, 4), *limits))]
    if axes is not None:
        names.append(case.constant("axes", np.array(axes)))
    case.out(case.node(operator, names, keepdims=keep))


def move(case, operator, shape, constants, attributes):
    names = [case.parameter("p", case.uniform(shape))]
    names += [case.constant(f"c{i}", values)
              for i, values in enumerate(constants)]
    y = case.node(operator, names, **attributes)
    if operator.startswith("Cast"):
        y = case.node("Cast", [y], ["back"], to=1)
    case.out(y)


def special():
    for make in SPECIAL:
        case = Case(make.__name__)
        make(case)
        yield case


# Losses of classes: operator, shape of the scores, labels and weights,
# attributes. A label that is ignored costs nothing.
LABELS, PLACES = [0, 3, 1], [[0, 3], [1, 1], [-1, 2]]
CLASS_WEIGHTS = np.float32([0.5, 1.5, 2.0, 1.0])
LOSSES = [
    ("SoftmaxCrossEntropyLoss", (3, 4), [LABELS], {}),
    ("SoftmaxCrossEntropyLoss", (3, 4), [LABELS], {"reduction": "none"}),
    ("SoftmaxCrossEntropyLoss", (3, 4), [np.int32(LABELS)], {"ignore_index": 3}),
    ("SoftmaxCrossEntropyLoss", (3, 4, 2), [PLACES, CLASS_WEIGHTS],
     {"ignore_index": -1}),
    ("NegativeLogLikelihoodLoss", (3, 4), [LABELS, CLASS_WEIGHTS],
     {"reduction": "sum"}),
    ("NegativeLogLikelihoodLoss", (3, 4, 2), [PLACES, CLASS_WEIGHTS],
     {"ignore_index": -1}),
]


def groups():
    """The cases of each model."""
    return {
        "unary": list(numbered(UNARY, unary)),
        "binary": list(numbered(BINARY, binary)),
        "windows": list(numbered(WINDOWS, of_parameters)),
        "products": list(numbered(PRODUCTS, of_parameters)),
        "reductions": list(numbered(REDUCTIONS, reduction)),
        "normalizations": list(numbered(NORMALIZATIONS, normalization)),
        "normalizations_18": list(numbered(GROUPS_BEFORE_21, normalization,
                                           opset=18)),
        "moves": list(numbered(MOVES, move)),
        "moves_9": list(numbered(UPSAMPLED, move, opset=9)),
        "losses": list(numbered(LOSSES, move)),
        "special": list(special()),
    }


# What counts, compares or picks: operator, number of operands, of floats or not.
WITHOUT_GRADIENT = [
    ("And", 2, False), ("ArgMax", 1, True), ("ArgMin", 1, True),
    ("Equal", 2, True), ("Greater", 2, True), ("GreaterOrEqual", 2, True),
    ("Hardmax", 1, True), ("Less", 2, True), ("LessOrEqual", 2, True),
    ("Not", 1, False), ("Or", 2, False), ("Shape", 1, True), ("Size", 1, True),
    ("Xor", 2, False),
]


def without_gradient(case, operator, operands, of_floats):
    names = [case.parameter(f"p{i}", case.uniform((2, 3))) for i in range(operands)]
    if not of_floats:
        names = [case.node("Cast", [name], [f"bool{i}"], to=9)
                 for i, name in enumerate(names)]
    case.out(case.node("Cast", [case.node(operator, names)], ["float"], to=1))


def nothing_to_train(case):
    case.out(case.node("Relu", [case.constant("c", case.uniform((2, 3)))]))


def failures():
    """Case, tensors to freeze, exit code and what is said."""
    without = "expected a model with tensors to train"
    weights = "*.sum*"  # of the sum that makes a loss of each case
    for case in numbered(WITHOUT_GRADIENT, without_gradient):
        # Shapes are known, and nothing is left to compute.
        known = case.nodes[-2].op_type in ("Shape", "Size")
        yield case, weights, 1, [without if known else "depends on none"]
    case = Case("nothing_to_train")
    nothing_to_train(case)
    yield case, "*", 1, [without]
