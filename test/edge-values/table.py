"""The table: for each op what goes in, and what has to come out.

What comes out is NumPy's answer; where NumPy's is undefined (C casts, integers
to negative powers) or depends on the machine, it is written out here, and
`ours` says that ONNX leaves it open and what was chosen.
"""

import dataclasses

import numpy as np
from onnx import TensorProto, helper

INF, NAN = np.inf, np.nan
FLOATS = np.array([0, -0.0, 1, -1, .5, -.5, 1.5, 2.5, -2.5, 3, 7, 88.8, -88, 104,
                   1e-40, -1e-40, 1.1754944e-38, 1e-45, 3e9, -3e9, 255, 255.9, 256,
                   300, 2147483520, 2147483648, -2147483648, 9.3e18, -9.3e18,
                   16777217, 3.4028235e38, -3.4028235e38, INF, -INF, NAN],
                  np.float32)
EDGES = {
    "f32": FLOATS,
    "i32": np.array([0, 1, -1, 2, -2, 3, 7, -7, 31, 255, 256, 300, -300, 65536,
                     2**31 - 1, -2**31], np.int32),
    "i64": np.array([0, 1, -1, 2, -2, 3, 7, -7, 63, 255, 256, 300, 2**31, -2**31 - 1,
                     2**53 + 1, 2**63 - 1, -2**63], np.int64),
    "u8": np.array([0, 1, 2, 3, 7, 100, 127, 128, 254, 255], np.uint8),
    "bool": np.array([False, True]),
}
NUMBERS = ("f32", "i32", "i64", "u8")
ONNX_TYPES = {"f32": TensorProto.FLOAT, "i32": TensorProto.INT32,
              "i64": TensorProto.INT64, "u8": TensorProto.UINT8,
              "bool": TensorProto.BOOL}


@dataclasses.dataclass
class Case:
    """One node, its inputs, its expected output."""
    name: str
    op: str
    inputs: list
    expected: np.ndarray
    attributes: dict = dataclasses.field(default_factory=dict)
    ulps: float = 0        # 0: the same bits; but any NaN for a NaN
    ours: str = ""         # why ONNX's own runtime need not agree
    constants: list = dataclasses.field(default_factory=list)  # further inputs
    folds: bool = True     # whether the compiler computes it on constants


def unary():
    """Each function of one operand; f64 is where the truth is computed."""
    x = FLOATS.astype(np.float64)
    erf = np.vectorize(__import__("math").erf, otypes=[float])
    softplus = np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))
    rows = [("Abs", np.abs(x), 0, {}), ("Neg", -x, 0, {}),
            ("Relu", np.where(x < 0, 0, x), 0, {}), ("Sqrt", np.sqrt(x), 0, {}),
            ("Exp", np.exp(x), 4, {}), ("Log", np.log(x), 4, {}),
            ("Erf", erf(x), 4, {}), ("Tanh", np.tanh(x), 4, {}),
            ("Sigmoid", 1 / (1 + np.exp(-x)), 4, {}), ("Softplus", softplus, 4, {}),
            ("Elu", np.where(x > 0, x, 1.5 * np.expm1(x)), 8, {"alpha": 1.5}),
            ("LeakyRelu", np.where(x < 0, np.float32(.01) * x, x), .51, {"alpha": .01}),
            ("Reciprocal", 1 / x, 0, {})]
    for op, y, ulps, attributes in rows:
        yield Case(f"{op}_f32", op, [FLOATS], y.astype(np.float32), attributes, ulps)
    for kind in ("i32", "i64"):
        x = EDGES[kind]
        for op, y in (("Abs", np.abs(x)), ("Neg", -x), ("Relu", np.maximum(x, 0))):
            yield Case(f"{op}_{kind}", op, [x], y)
    x = EDGES["bool"]
    yield Case("Not", "Not", [x], ~x)


def divided(a, b):
    """Truncated, and 0 where b is 0."""
    if a.dtype.kind == "f":
        return a / b
    q = np.array([0 if y == 0 else abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
                  for x, y in zip(map(int, a), map(int, b))], object)
    return np.array([int(x) & (2**64 - 1) for x in q], np.uint64).astype(a.dtype)


def powered(a, b):
    if a.dtype.kind == "f":
        return np.power(a.astype(np.float64), b.astype(np.float64)).astype(a.dtype)
    bits = 8 * a.itemsize

    def one(x, n):
        if n < 0:
            return 1 if x == 1 else (-1) ** (n % 2) if x == -1 else 0
        return pow(x, n, 2**bits)
    return np.array([one(x, n) % 2**bits for x, n in zip(map(int, a), map(int, b))],
                    np.uint64).astype(a.dtype)


def binary():
    rows = [("Add", np.add, ""), ("Sub", np.subtract, ""), ("Mul", np.multiply, ""),
            ("Div", divided, "an integer divided by 0 is 0"), ("Max", np.maximum, ""),
            ("Min", np.minimum, ""),
            ("Pow", powered, "integers: modulo 2^n; 1/a^n truncated"),
            ("Equal", np.equal, ""), ("Less", np.less, ""),
            ("LessOrEqual", np.less_equal, ""), ("Greater", np.greater, ""),
            ("GreaterOrEqual", np.greater_equal, "")]
    for kind in NUMBERS:
        a, b = (x.ravel() for x in np.meshgrid(EDGES[kind], EDGES[kind]))
        for op, function, ours in rows:
            ulps = 4 if op == "Pow" and kind == "f32" else 0
            if op in ("Max", "Min") and kind == "i64":
                ours = "onnxruntime 1.31 compares the lower halves"
            yield Case(f"{op}_{kind}", op, [a, b], function(a, b), ulps=ulps,
                       ours=ours if kind != "f32" else "")
    a, b = (x.ravel() for x in np.meshgrid(EDGES["bool"], EDGES["bool"]))
    for op, function in (("And", np.logical_and), ("Or", np.logical_or),
                         ("Xor", np.logical_xor), ("Equal", np.equal)):
        yield Case(f"{op}_bool", op, [a, b], function(a, b))
    c = np.arange(len(FLOATS)) % 2 == 0
    yield Case("Where", "Where", [c, FLOATS, FLOATS[::-1].copy()],
               np.where(c, FLOATS, FLOATS[::-1]))


def cast(x, kind):
    """Floats saturate, and NaN is 0; integers wrap around; not 0 is true."""
    to = EDGES[kind].dtype
    if kind == "bool":
        return x != 0
    if x.dtype.kind != "f" or to.kind == "f":
        return x.astype(to)
    limits = np.iinfo(to)
    return np.array([0 if np.isnan(v) else limits.max if v >= float(limits.max)
                     else max(limits.min, int(max(v, float(limits.min))))
                     for v in map(float, x)], object).astype(to)


def casts():
    for source, x in EDGES.items():
        for kind in EDGES:
            ours = ("ONNX leaves open what a float out of range becomes"
                    if source == "f32" and kind not in ("f32", "bool") else "")
            yield Case(f"Cast_{source}_{kind}", "Cast", [x], cast(x, kind),
                       {"to": ONNX_TYPES[kind]}, ours=ours)


# Rows to reduce. Sums of them are exact in any order, but for infinities.
SHORT = np.array([[1, NAN, 3, 2], [NAN, NAN, 1, NAN], [INF, 1, INF, 2],
                  [-INF, -INF, -INF, -INF], [-INF, INF, 0, 1], [3, 3, 1, 3],
                  [0, 0, 0, 0], [5, 1, NAN, 9], [1, 2, 3, 3e38],
                  [1e-40, -1e-40, 0, 1e-40]], np.float32)
WHOLE = np.array([[2**31 - 1, 1, 0, 0], [-2**31, -1, 5, 5], [7, 7, 7, 7],
                  [-1, -2, -3, -1]], np.int32)


# More elements than are inlined, without sums that overflow.
WIDE = np.tile(np.delete(SHORT, 8, 0), 5)


def long_rows():
    """Rows that kernels cut into lanes, with what is special at either end."""
    x = np.tile(np.arange(1000, dtype=np.float32) % 7, (8, 1))
    for row, places in enumerate(([0], [999], [17, 503], [15, 16])):
        x[row, places] = NAN
    for row, places in ((4, [998, 3]), (5, [31])):
        x[row, places] = 9
    x[6] = -INF
    return x


def arg_max(x, last):
    """NumPy's, to which NaN is the largest; the last from the other end."""
    if not last:
        return np.argmax(x, -1)
    return x.shape[-1] - 1 - np.argmax(x[..., ::-1], -1)


def reductions():
    open_for_nan = "ONNX leaves open where NaN stands among numbers"
    for name, x in (("short", SHORT), ("one", SHORT[:, 1:2].copy()),
                    ("wide", WIDE), ("long", long_rows()), ("i32", WHOLE)):
        rows = [("ReduceSum", np.sum), ("ReduceMax", np.max), ("ReduceMin", np.min)]
        for op, function in rows:
            y = function(x.astype(np.float64) if name != "i32" else x, -1,
                         **({"dtype": np.int32} if name == "i32" and op == "ReduceSum"
                            else {}))
            constants = [np.array([-1])] if op == "ReduceSum" else []
            attributes = {} if constants else {"axes": [-1]}
            yield Case(f"{op}_{name}", op, [x], y.astype(x.dtype),
                       {"keepdims": 0, **attributes}, ours=open_for_nan,
                       constants=constants)
        for op, last in (("ArgMax", 0), ("ArgMax", 1), ("ArgMin", 0), ("ArgMin", 1)):
            if op == "ArgMin" and name == "i32":
                continue
            yield Case(f"{op}_{name}_{last}", op, [x],
                       arg_max(-x if op == "ArgMin" else x, last),
                       {"axis": -1, "keepdims": 0, "select_last_index": last},
                       ours=open_for_nan)
        if name != "i32":
            wide = x.astype(np.float64)
            yield Case(f"ReduceMean_{name}", "ReduceMean", [x],
                       wide.mean(-1).astype(np.float32), {"keepdims": 0, "axes": [-1]},
                       ulps=2)


def rows_of_scores():
    big = np.array([[1e8, 1e8, 1e8, 0], [-1e4, 0, 3, -INF], [1e30, -1e30, 0, 1e30]],
                   np.float32)
    for name, x in (("short", np.concatenate([SHORT, big])), ("wide", WIDE),
                    ("long", long_rows())):
        wide = x.astype(np.float64)
        shifted = wide - wide.max(-1, keepdims=True)
        total = np.exp(shifted).sum(-1, keepdims=True)
        for op, y in (("Softmax", np.exp(shifted) / total),
                      ("LogSoftmax", shifted - np.log(total))):
            yield Case(f"{op}_{name}", op, [x], y.astype(np.float32), {"axis": -1},
                       ulps=32, folds=False)


def pools():
    x = np.array([[[[1, NAN, 3, 2, INF, 5], [4, 2, 1, 0, 1, -INF],
                    [-INF, -INF, 1, 1, NAN, NAN], [-INF, -INF, 2, 2, NAN, NAN]]]],
                 np.float32)
    windows = x.reshape(1, 1, 2, 2, 3, 2).swapaxes(3, 4).reshape(1, 1, 2, 3, 4)
    attributes = {"kernel_shape": [2, 2], "strides": [2, 2]}
    yield Case("MaxPool", "MaxPool", [x], windows.max(-1), attributes, folds=False,
               ours="ONNX leaves open what a maximum with NaN is")
    yield Case("AveragePool", "AveragePool", [x], windows.mean(-1), attributes, ulps=2,
               folds=False)


def cases():
    with np.errstate(all="ignore"):
        for part in (unary, binary, casts, reductions, rows_of_scores, pools):
            yield from part()


def node(case):
    names = [f"{case.name}_x{i}" for i in range(len(case.inputs))]
    names += [f"{case.name}_c{i}" for i in range(len(case.constants))]
    return helper.make_node(case.op, names, [case.name], **case.attributes)
