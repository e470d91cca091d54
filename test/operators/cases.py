"""Operators beside onnxruntime and NumPy, on cases that ONNX's own tests do not
have."""

import harness
import numpy as np
import onnx
from onnx import helper, numpy_helper
from program import outputs_of

IMAGES = (2, 3, 5, 8)
# By scales, or by sizes of the same batch and channels.
UP, DOWN, OTHER = [1, 1, 2, 3], [1, 1, .5, .375], [1, 1, 1.7, .6]
RESIZED = [
    (UP, {}), (DOWN, {}), (OTHER, {}), ([1, 2, 1, 1], {}),
    (UP, {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}),
    (DOWN, {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}),
    (OTHER, {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "ceil"}),
    (OTHER, {"nearest_mode": "round_prefer_ceil"}), ([1, 1, .7, .7], {}),
    (UP, {"mode": "linear"}), (DOWN, {"mode": "linear"}), (OTHER, {"mode": "linear"}),
    (UP, {"mode": "linear", "coordinate_transformation_mode": "align_corners"}),
    (UP, {"mode": "linear", "coordinate_transformation_mode": "asymmetric"}),
    (OTHER, {"mode": "linear", "coordinate_transformation_mode": "half_pixel_symmetric"}),
    (UP, {"mode": "cubic"}), (OTHER, {"mode": "cubic", "cubic_coeff_a": -.5}),
    (OTHER, {"mode": "cubic", "exclude_outside": 1}),
    (DOWN, {"mode": "linear", "antialias": 1}), (DOWN, {"mode": "cubic", "antialias": 1}),
    ([2, 3, 1, 1], {"mode": "linear",
                    "coordinate_transformation_mode": "pytorch_half_pixel"}),
    ([2, 3, 10, 4], {"mode": "linear"}), ([2, 3, 7, 11], {}),
    ([2, 3, 7, 11], {"mode": "cubic", "coordinate_transformation_mode": "align_corners"}),
]

EQUATIONS = [
    ("ij,jk->ik", (3, 4), (4, 5)), ("ij,kj", (3, 4), (5, 4)), ("i,i", (4,), (4,)),
    ("i,j->ij", (3,), (4,)), ("ij,jk->ik", (3, 1), (4, 5)), ("bij,bjk->bik", (2, 3, 4), (2, 4, 5)),
    ("bhqd,bhkd->bhqk", (2, 3, 4, 5), (2, 3, 6, 5)),
    ("bqhd,bkhd->bhqk", (2, 4, 3, 5), (2, 6, 3, 5)),
    ("bhqk,bkhd->bqhd", (2, 3, 4, 6), (2, 6, 3, 5)), ("nchw,oc->nohw", (2, 3, 4, 5), (6, 3)),
    ("bld,d->bl", (2, 3, 4), (4,)), ("bld,l->bd", (2, 3, 4), (3,)),
    ("ij,ij->ij", (3, 4), (3, 4)), ("ij,ij->", (3, 4), (3, 4)), ("ij,kl->", (2, 3), (4, 2)),
    ("...ij,...jk->...ik", (2, 3, 4, 5), (3, 5, 6)), ("...ij,jk->...ik", (2, 3, 4), (4, 5)),
    ("...d,...d->...", (2, 3, 4), (2, 3, 4)), ("... i, i -> i ...", (2, 3, 4), (4,)),
    ("ij->ji", (3, 4)), ("ij->", (3, 4)), ("ij->j", (3, 4)), ("ba", (3, 4)), ("ii->i", (4, 4)),
    ("ii", (4, 4)), ("iij->ij", (3, 3, 4)), ("iji,j->i", (3, 4, 3), (4,)),
    ("ij,jk,kl->il", (2, 3), (3, 4), (4, 5)), ("bi,oij,bj->bo", (2, 3), (4, 3, 5), (2, 5)),
    ("a,b,c->abc", (2,), (3,), (4,)), ("ij,jk->ki", (3, 4), (4, 5)),
]


class Table:
    """A graph that has a node for each case."""

    def __init__(self, opset):
        self.opset, self.random = opset, np.random.default_rng(7)
        self.nodes, self.inputs, self.values, self.outputs, self.weights = [], [], [], [], []

    def input(self, shape):
        name = f"x{len(self.inputs)}"
        self.inputs.append(helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape))
        self.values.append(self.random.uniform(-1, 1, shape).astype(np.float32))
        return name

    def weight(self, shape):
        return self.constant(self.random.uniform(-1, 1, shape).astype(np.float32))

    def constant(self, values):
        name = f"c{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(values, name))
        return name

    def inner(self, operator, inputs, **attributes):
        """Of which a case has one or several before its own node."""
        name = f"n{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, inputs, [name], name=name, **attributes))
        return name

    def node(self, operator, inputs, **attributes):
        name = self.inner(operator, inputs, **attributes)
        self.outputs.append(helper.make_empty_tensor_value_info(name))

    def cases(self):
        nodes = {node.name: node for node in self.nodes}
        return [nodes[output.name] for output in self.outputs]

    def model(self):
        graph = helper.make_graph(self.nodes, "cases", self.inputs, self.outputs, self.weights)
        return helper.make_model(graph, ir_version=8,
                                 opset_imports=[helper.make_opsetid("", self.opset)])


def resize(table):
    for sizes, attributes in RESIZED:
        by_size = sizes[:2] == list(IMAGES[:2])
        given = table.constant(np.array(sizes, np.int64 if by_size else np.float32))
        inputs = ["", "", given] if by_size else ["", given]
        table.node("Resize", [table.input(IMAGES), *inputs], **attributes)


def einsum(table):
    for equation, *shapes in EQUATIONS:
        table.node("Einsum", [table.input(shape) for shape in shapes], equation=equation)


class Reordered:
    """A tensor that a case of `table` reshapes, transposes and so on, at random."""

    def __init__(self, table, random):
        self.table, self.random = table, random
        self.shape = [int(n) for n in random.choice([1, 2, 3, 4, 6], random.integers(3, 5))]
        self.name = table.input(self.shape)

    def step(self, operator, *others, shape=None, **attributes):
        self.name = self.table.inner(operator, [self.name, *others], **attributes)
        self.shape = self.shape if shape is None else shape

    def reshape(self, shape):
        self.step("Reshape", self.table.constant(np.array(shape, np.int64)), shape=shape)

    def transpose(self):
        """Of all dimensions, or rather of all but the last."""
        moved = len(self.shape) - (self.random.random() < .8)
        perm = [*map(int, self.random.permutation(moved)), *range(moved, len(self.shape))]
        self.step("Transpose", shape=[self.shape[n] for n in perm], perm=perm)

    def join(self):
        if len(self.shape) > 2:
            at = int(self.random.integers(len(self.shape) - 1))
            self.reshape([*self.shape[:at], self.shape[at] * self.shape[at + 1],
                          *self.shape[at + 2:]])

    def split(self):
        at = int(self.random.integers(len(self.shape)))
        parts = [n for n in (1, 2, 3) if self.shape[at] % n == 0]
        part = int(self.random.choice(parts))
        if len(self.shape) < 6:
            self.reshape([*self.shape[:at], part, self.shape[at] // part,
                          *self.shape[at + 1:]])

    def slice(self):
        at = int(self.random.integers(len(self.shape)))
        size, step = self.shape[at], int(self.random.choice([-1, 1, 2]))
        start, end = (size - 1, -size - 1) if step < 0 else (size // 2 // step, size)
        count = size if step < 0 else len(range(start, end, step))
        self.step("Slice", *(self.table.constant(np.array([n], np.int64))
                             for n in (start, end, at, step)),
                  shape=[*self.shape[:at], count, *self.shape[at + 1:]])

    def bias(self):
        self.step("Add", self.table.weight([self.shape[-1]]))

    def scale(self):
        self.step("Mul", self.table.constant(np.array(.5, np.float32)))

    def product(self):
        shape, columns = self.shape, int(self.random.integers(2, 7))
        self.reshape([int(np.prod(shape[:-1])), shape[-1]])
        self.step("MatMul", self.table.weight([shape[-1], columns]),
                  shape=[self.shape[0], columns])
        if self.random.random() < .5:
            self.bias()
        self.reshape([*shape[:-1], columns])


def reorderings(table):
    """Transposes that meet past all that does not care, or nearly so."""
    for case in range(150):
        random = np.random.default_rng(case)
        x = Reordered(table, random)
        x.transpose()
        for step in random.choice([x.join, x.split, x.slice, x.bias, x.scale, x.product,
                                   x.product, x.transpose], random.integers(2, 9)):
            step()
        x.transpose()
        table.node("Relu", [x.name])


def by_runtime(table, path):
    try:
        import onnxruntime as runtime
    except ImportError:
        raise harness.Skip("no onnxruntime") from None
    session = runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    return session.run(None, {info.name: value for info, value in
                              zip(table.inputs, table.values)})


def by_numpy(table, _):
    """Sums of products, in double precision."""
    values = {info.name: value.astype(np.float64)
              for info, value in zip(table.inputs, table.values)}
    return [np.asarray(np.einsum(node.attribute[0].s.decode(),
                                 *(values[name] for name in node.input)), np.float32)
            for node in table.nodes]


def check(place, fill, opset, truth):
    table = Table(opset)
    fill(table)
    # Another name each: a library is loaded once.
    path, library = (place.folder / f"{fill.__name__}{end}" for end in (".onnx", ".so"))
    onnx.save(table.model(), str(path))
    expected = truth(table, path)
    harness.ok(place.options.mnistc, path, f"--target={place.options.target}", "-o", library)
    found = outputs_of(library, table.values,
                       [np.zeros_like(value, order="C") for value in expected])
    wrong = [f"{node.name} {[str(a).strip() for a in node.attribute]}: off by {error:.2g}"
             for node, error in zip(table.cases(), map(distance, found, expected))
             if not error <= 1e-5]  # NaN is off, too
    harness.expect(not wrong, "expected these results, got others\n" + "\n".join(wrong))


def distance(found, expected):
    return np.abs(found.astype(np.float64) - expected).max(initial=0)


def test_resize(place):
    check(place, resize, 19, by_runtime)


def test_einsum(place):
    check(place, einsum, 17, by_numpy)


def test_reorderings(place):
    check(place, reorderings, 17, by_runtime)
