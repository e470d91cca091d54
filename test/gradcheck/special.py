"""Cases that are more than one node, or need special values."""

import numpy as np

def concat(case):
    names = [case.parameter(f"p{i}", case.uniform((2, size, 2)))
             for i, size in enumerate((1, 3, 2))]
    case.out(case.node("Concat", names, axis=-2))


def split(case):
    p = case.parameter("p", case.uniform((5, 2)))
    sizes = case.constant("sizes", np.array([2, 3]))
    case.out(*case.node("Split", [p, sizes], ["a", "b"], axis=0))


def sequence(case):
    """Two of three parts, one of them twice."""
    p = case.parameter("p", case.uniform((2, 6)))
    size = case.constant("size", np.array(2))
    parts = case.node("SplitToSequence", [p, size], ["parts"], axis=1)
    first, last = (case.node("SequenceAt", [parts, case.constant(
        f"at{i}", np.array(i))], [f"part{i}"]) for i in (0, -1))
    case.out(case.node("Mul", [first, case.node("Add", [first, last], ["sum"])]))


def where(case):
    a = case.parameter("a", case.uniform((3, 4)))
    b = case.parameter("b", case.uniform((4,)))
    chosen = case.constant("c", np.eye(3, 4, dtype=bool))
    case.out(case.node("Where", [chosen, a, b]))


def equal_operands(case):
    """Both sides of max are the same number: half of it each."""
    a = case.parameter("a", [[1.0, 2.0, 3.0]])
    b = case.parameter("b", [[1.0, 0.0, 3.0]])
    case.out(case.node("Max", [a, b]))


def used_often(case):
    """A gradient is the sum over all uses."""
    p = case.parameter("p", case.uniform((3, 3)))
    y = case.node("MatMul", [p, p], ["square"])
    case.out(case.node("Add", [case.node("Mul", [y, p], ["product"]), y]))


def gather_often(case):
    """A row that is looked up thrice."""
    p = case.parameter("p", case.uniform((4, 2)))
    index = case.constant("index", np.array([[1, 1], [3, 1]]))
    y = case.node("Gather", [p, index], ["rows"])
    case.out(case.node("Tanh", [y]))


def sqrt_near_zero(case):
    """A long step leaves where it is a number."""
    case.out(case.node("Sqrt", [case.parameter("p", [[3e-5, 0.5]])]))


def batch_norm(case):
    """Behind a convolution, with the statistics of the batch."""
    x = case.parameter("x", case.uniform((3, 2, 4, 4)))
    names = [case.parameter("scale", case.uniform(2, 0.5, 1.5)),
             case.parameter("bias", case.uniform(2))]
    # Running statistics are no parameters.
    for name, values in (("mean", case.uniform(2)),
                         ("variance", case.uniform(2, 0.5, 1.5))):
        names.append(case.parameter(name, values))
        case.parameters.pop()
    case.out(case.node("BatchNormalization", [x, *names], epsilon=1e-3))


def batch_norm_of_given_statistics(case):
    """Where they are computed from parameters, they are not the batch's."""
    x = case.parameter("x", case.uniform((3, 2, 4, 4)))
    names = [case.parameter("scale", case.uniform(2, 0.5, 1.5)),
             case.parameter("bias", case.uniform(2)),
             case.node("Tanh", [case.parameter("mean", case.uniform(2))], ["m"]),
             case.node("Exp", [case.parameter("variance", case.uniform(2))], ["v"])]
    case.out(case.node("BatchNormalization", [x, *names], epsilon=1e-3))


def dropout(case):
    p = case.parameter("p", case.uniform((4, 8)))
    ratio = case.constant("ratio", np.float32(0.4))
    training = case.constant("training", np.array(True))
    case.out(case.node("Dropout", [p, ratio, training]))


def attention(case):
    """Three matrices, a softmax, and a residual."""
    x = case.constant("x", case.uniform((2, 3, 4)))
    q, k, v = (case.node("MatMul", [x, case.parameter(
        name, case.uniform((4, 4)))], [f"x{name}"]) for name in "qkv")
    kt = case.node("Transpose", [k], ["kt"], perm=[0, 2, 1])
    scores = case.node("Softmax", [case.node("MatMul", [q, kt], ["qk"])],
                       ["scores"], axis=-1)
    case.out(case.node("Add", [case.node("MatMul", [scores, v], ["sv"]), x]))


SPECIAL = [sqrt_near_zero, concat, split, sequence, where, equal_operands, used_often, gather_often,
           batch_norm, batch_norm_of_given_statistics, dropout, attention]
