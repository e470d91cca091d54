"""Arrays in, arrays out: as onnxruntime computes them."""

import threading

import harness
import mnistc
import numpy as np
import onnx
from harness import expect, reference
from onnx import TensorProto, helper


class Foreign:
    """What another framework's array shows of itself."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_rows_of_any_kind(place):
    x, _ = place.data()
    wanted = reference(place.model(), x)
    with mnistc.compile(place.model(), target="cpu", batch=[1, 16], threads=1) as program:
        expect(program.batches == [1, 16] and "1 thread" in program.device, program)
        expect([(t.name, t.row) for t in program.inputs] == [("x", (12,))], program.inputs)
        wide = np.zeros((100, 24), np.float32)
        wide[:, ::2] = x
        for rows in (x, x.astype(np.float64), x.tolist(), Foreign(x), wide[:, ::2],
                     np.asfortranarray(x)):
            np.testing.assert_allclose(program(rows), wanted, rtol=1e-5, atol=1e-6)
        np.testing.assert_array_equal(program(x=x), program(x))
        expect(program(x[:0]).shape == (0, 4), "no rows")
        out = np.empty((100, 4), np.float32)
        expect(program(x, out={"y": out}) is out, "another array")
        np.testing.assert_array_equal(out, program(x))


def test_several_inputs_and_outputs(place):
    nodes = [helper.make_node("Gather", ["table", "word"], ["v"]),
             helper.make_node("Where", ["mask", "v", "other"], ["chosen"]),
             helper.make_node("Neg", ["chosen"], ["negative"])]
    table = np.random.default_rng(1).random((5, 3), np.float32)
    model = harness.save_model(
        place.path("several.onnx"), nodes,
        [("word", ["n"], TensorProto.INT64), ("mask", ["n", 3], TensorProto.BOOL),
         ("other", ["n", 3])], [("chosen", ["n", 3]), ("negative", ["n", 3])],
        [("table", table)])
    word, mask = np.array([4, 0, 2]), np.eye(3, dtype=bool)
    other = np.full((3, 3), 7, np.float32)
    chosen = np.where(mask, table[word], other)
    # A file, its bytes, or the model itself.
    for given in (str(model), model.read_bytes(), onnx.load(str(model))):
        program = mnistc.compile(given, target="cpu", batch=2)
        found = program(word=word, mask=mask, other=other)
        expect(list(found) == ["chosen", "negative"], found)
        np.testing.assert_array_equal(found["chosen"], chosen)
        np.testing.assert_array_equal(found["negative"], -chosen)
    np.testing.assert_array_equal(program(word.astype(np.int32), mask, other)["chosen"], chosen)


def test_libraries_are_kept_and_loaded(place):
    x, _ = place.data()
    path = str(place.path("lib9 kept.so"))
    first = mnistc.compile(place.model(), target="cpu", batch=8, output=path)
    second = mnistc.load(path, threads=1)
    np.testing.assert_array_equal(first(x), second(x))
    expect(second.name == "net-16", second.name)


def test_a_session_for_each_thread(place):
    x, _ = place.data()
    program = mnistc.compile(place.model(), target="cpu", batch=16)
    wanted, found = program(x), []

    def work(own):
        for _ in range(50):
            found.append(np.array_equal(own(x), wanted))

    threads = [threading.Thread(target=work, args=(program.clone(),)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expect(found == [True] * 150, found)
