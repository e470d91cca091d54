"""Compiles a plan with one mistake at a time.

    damage-plan.py MNISTC PLAN FOLDER

Each must end with exit code 1 and one line, which has the text below.
"""

import pathlib
import subprocess
import sys

STEP = 'plan.step "h" on onednn at [768] (%x, %w, %b) {'
SUM = "mnist.reduce_sum %i over [1] {plan.inline}"
NUMBERS = "array<f64: 0.1, 0.0, 0.0, 0.9, 0.999, 1.0e-8, 0.0, 0.0, 1.0, 1.0>"
MOST = 2**60

# What is replaced, by what, and what is said.
MISTAKES = [
    # Attributes: their names, where they stand, what they say.
    ("plan.libraries", "plan.library", "expected a known attribute of the dialect 'plan', got 'plan.library'"),
    ('mnist.name = "x"', 'mnist.nam = "x"', "expected a known attribute of the dialect 'mnist', got 'mnist.nam'"),
    ("%0 = mnist.neg %i", "%0 = mnist.neg %i {plan.inline}", "expected 'plan.inline' on a reduction or a max_unpool, got it on an op"),
    ("over [1] {plan.inline}", "over [1] {plan.inline = 1 : i64}", "expected 'plan.inline' to be a unit, got 1 : i64"),
    ('mnist.role = "state"', "mnist.gradcheck", "expected 'mnist.gradcheck' on a module, got it on a global"),
    ("plan.constant_bytes = 512 : i64", "plan.constant_bytes = 512 : i32", f"expected 'plan.constant_bytes' to be an i64 from 0 to {MOST}, got 512 : i32"),
    ("plan.constant_bytes = 512", "plan.constant_bytes = -256", f"expected 'plan.constant_bytes' to be an i64 from 0 to {MOST}, got -256 : i64"),
    ("plan.offset = 512", "plan.offset = 9223372036854775552", f"expected 'plan.offset' to be an i64 from 0 to {MOST}, got 9223372036854775552 : i64"),
    ("plan.offset = 512 : i64", 'plan.offset = "512"', f"expected 'plan.offset' to be an i64 from 0 to {MOST}, got \"512\""),
    ("at [768]", "at [9223372036854775552]", f"expected offsets from 0 to {MOST}, got 9223372036854775552"),
    ("at [768]", "at [-256]", f"expected offsets from 0 to {MOST}, got -256"),
    ("at [768]", "at [768, 0]", "expected one offset per result (1), got 2"),
    ('plan.target = "cpu"', 'plan.target = "tpu"', "expected 'plan.target' to be the name of a target, got \"tpu\""),
    ('plan.libraries = "all"', 'plan.libraries = "mkl"', "expected 'plan.libraries' to be all, none or names of libraries joined by '+', got \"mkl\""),
    ('mnist.role = "state"', 'mnist.role = "weight"', "expected 'mnist.role' to be one of parameter, buffer, state, got \"weight\""),
    ('mnist.name = "x"', "mnist.name = 1 : i64", "expected 'mnist.name' to be a string, got 1 : i64"),
    ('optimizer = "sgd", ', "", "expected 'optimizer' in 'mnist.recipe' to be one of sgd, momentum, nesterov, adam, adamw, rmsprop, adagrad, got none"),
    ('"sgd"', '"lion"', "rmsprop, adagrad, got \"lion\""),
    (NUMBERS, "array<f64: 0.1>", "expected 'numbers' in 'mnist.recipe' to be 10 of f64, got array<f64: 1.000000e-01>"),
    ('clip = "none"', 'clip = "none", step = 1', "expected 8 entries in 'mnist.recipe', got 9"),
    ('mnist.recipe = {accumulate', 'mnist.recipe = 1 : i64, mnist.other = {accumulate', "expected"),
    ("value = dense<[2, 3]> : tensor<2xi64>", "value = dense<1> : tensor<1099511627776xi64>", "expected 'value' in 'mnist.bound' to be a tensor of at most 16777216 elements, got dense<1> : tensor<1099511627776xi64>"),
    ("value = dense<[2, 3]> : tensor<2xi64>", "value = dense<1> : tensor<2xi16>", "expected 'value' in 'mnist.bound' to be a tensor"),
    ("value = dense<[2, 3]> : tensor<2xi64>", "value = dense_resource<__elided__> : tensor<2xi64>", "expected 'value' in 'mnist.bound' to be a tensor"),
    ("[{name", "[2, {name", "expected 'mnist.bound' to be an array of dictionaries, got"),
    # What is not there.
    ("plan.constant_bytes = 512 : i64, ", "", "expected 'plan.constant_bytes' on the module, got none"),
    ("plan.initial_bytes = 256 : i64,", "", "expected 'plan.initial_bytes' on the module, got none"),
    ("plan.parameter_bytes = 512 : i64, ", "", "expected 'plan.parameter_bytes' on the module, got none"),
    ('mnist.role = "state", ', "", "expected a 'mnist.role', got none"),
    ('mnist.role = "parameter"', 'mnist.order = array<i64: 1, 0, 2>, mnist.order_shape = array<i64: 3, 2>, mnist.role = "parameter"', "expected 'mnist.order' to permute a 'mnist.order_shape' of 6 elements"),
    ('mnist.role = "parameter"', 'mnist.order = array<i64: 1, 1>, mnist.order_shape = array<i64: 3, 2>, mnist.role = "parameter"', "expected 'mnist.order' to permute a 'mnist.order_shape' of 6 elements"),
    ('mnist.role = "parameter"', 'mnist.order = array<i64: 1, 0>, mnist.order_shape = array<i64: 3, 3>, mnist.role = "parameter"', "expected 'mnist.order' to permute a 'mnist.order_shape' of 6 elements"),
    ('mnist.role = "parameter"', 'mnist.order = array<i64: 1, 0>, mnist.role = "parameter"', "expected 'mnist.order' to permute a 'mnist.order_shape' of 6 elements"),
    ('mnist.role = "parameter"', 'mnist.order = 1 : i64, mnist.role = "parameter"', "expected 'mnist.order' to be an array of i64"),
    (', plan.offset = 0 : i64}\n  ml_program', "}\n  ml_program", "expected a 'plan.offset', got none"),
    (', plan.offset = 512 : i64}', "}", "expected a 'plan.offset' on argument 0, got none"),
    ('{mnist.name = "b", plan.offset = 0 : i64}', "", "expected a 'plan.offset', got none"),
    (", plan.workspace_bytes = 0 : i64} {\n    %b", "} {\n    %b", "expected 'plan.arena_bytes' and 'plan.workspace_bytes' on 'infer', got one of them"),
    (" at [768]", "", "expected step 'h' to have the addresses of its results, got nothing"),
    ("dense<[1.0, 2.0]>", "dense_resource<__elided__>", "expected a constant with its elements, got none"),
    ("dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]>", "dense_resource<__elided__>", "expected a constant with its elements, got none"),
    ("dense<[[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]]>", "dense_resource<__elided__>", "expected an initial value with its elements, got none"),
    # Places.
    ("plan.constant_bytes = 512", f"plan.constant_bytes = {MOST}", f"expected 'plan.constant_bytes' of at most 512, where the last one ends, got {MOST}"),
    ("plan.constant_bytes = 512", "plan.constant_bytes = 256", "expected a constant inside the constants of 256 bytes, got 256 to 264"),
    ("plan.parameter_bytes = 512", "plan.parameter_bytes = 768", "expected 'plan.parameter_bytes' of at most 512, where the last one ends, got 768"),
    ("plan.initial_bytes = 256", "plan.initial_bytes = 1024", "expected 'plan.initial_bytes' of at most 512, as many as all parameters have, got 1024"),
    ("plan.initial_bytes = 256", "plan.initial_bytes = 0", "expected parameter 'w', with its initial value, inside the first 0 bytes, got 0 to 24"),
    ('"scale", plan.offset = 256', '"scale", plan.offset = 0', "expected a constant apart from a constant, bytes 0 to 8, got bytes 0 to 8"),
    ('"state", plan.offset = 256', '"state", plan.offset = 0', "expected parameter 'w' apart from parameter 'mn.step', bytes 0 to 8, got bytes 0 to 24"),
    ('"mn.step", plan.offset = 256', '"mn.step", plan.offset = 0', "expected argument 1 at 256, the address of its parameter, got 0"),
    ("plan.offset = 512", "plan.offset = 513", "expected argument 0 at a multiple of 256, got 513"),
    ("plan.offset = 512", "plan.offset = 1024", "expected argument 0 inside the arena of 1024 bytes, got 1024 to 1072"),
    ("plan.offset = 512", "plan.offset = 256", "expected argument 0 after the parameters of 512 bytes, got 256"),
    ("at [768]", "at [512]", "expected 'h' (bytes 512 to 544) apart from argument 0 (bytes 512 to 560), which is alive"),
    ("plan.arena_bytes = 512", "plan.arena_bytes = 256", "expected 'plan.arena_bytes' of at least 512, which the parameters take, got 256"),
    # Steps.
    (STEP, STEP.replace("onednn", "cudnn"), "expected an implementation for cpu that can compute step 'h' around 'matmul', got 'cudnn'"),
    (STEP, STEP.replace("onednn", "undecided"), "expected step 'h' to have an implementation, got 'undecided'"),
    (STEP, STEP.replace("onednn", "mkl"), "expected string or keyword containing one of the following enum values for attribute 'impl' [undecided, kernel, cublas, cudnn, onednn, openblas, nccl, mpi]"),
    ('on kernel at [512]', 'on onednn at [512]', "expected an implementation for cpu that can compute step 'y' around 'pointwise', got 'onednn'"),
    ("%2 = mnist.add %0, %1 : tensor<4x2xf32>\n", "%3 = mnist.add %0, %1 : tensor<4x2xf32>\n%2 = mnist.exp %3 : tensor<4x2xf32>\n", "expected an implementation for cpu that can compute step 'h' around 'matmul', got 'onednn'"),
    (STEP, STEP.replace('"h"', '"y"'), "expected each step to have a unique name, but there are two called 'y'"),
    ("plan.yield %4 : tensor<4x2xf32>", "", "block with no terminator"),
    ("^bb0(%i: tensor<4x2xf32>, %j: tensor<2xf32>)", "^bb0(%j: tensor<2xf32>, %i: tensor<4x2xf32>)", "expected the region's arguments to have the types of the inputs"),
    ("%0 = " + SUM, "%5 = mnist.reduce_sum %i over [0] : tensor<4x2xf32> -> tensor<2xf32>\n%0 = " + SUM.replace(" {plan.inline}", ""), "expected sums of the same rows in step 'y', which reduces rows, got 'mnist.reduce_sum'"),
    ("%0 = " + SUM + " : tensor<4x2xf32> -> tensor<4xf32>\n      %1 = mnist.broadcast %0 along [0] : tensor<4xf32> -> tensor<4x2xf32>", "%5 = mnist.reduce_sum %i over [1] : tensor<4x2xf32> -> tensor<4xf32>\n%0 = mnist.reshape %5 : tensor<4xf32> -> tensor<4x1xf32>\n%6 = mnist.reshape %0 : tensor<4x1xf32> -> tensor<4xf32>\n%1 = mnist.broadcast %6 along [0] : tensor<4xf32> -> tensor<4x2xf32>", "expected elementwise ops and broadcasts along the rows in step 'y', which reduces rows, got 'mnist.reshape'"),
    ("%0 = " + SUM + " : tensor<4x2xf32> -> tensor<4xf32>\n      %1 = mnist.broadcast %0 along [0] : tensor<4xf32> -> tensor<4x2xf32>", "%5 = mnist.reduce_sum %i over [1] : tensor<4x2xf32> -> tensor<4xf32>\n%0 = mnist.reduce_sum %5 over [0] : tensor<4xf32> -> tensor<f32>\n%1 = mnist.broadcast %0 along [] : tensor<f32> -> tensor<4x2xf32>", "expected only numbers made of totals in step 'y', which reduces rows, got 'mnist.broadcast'"),
    # Functions and the module.
    ("%x: tensor<4x3xf32> {mnist.name", "%z: tensor<?xf32> {plan.offset = 512 : i64}, %x: tensor<4x3xf32> {mnist.name", "expected argument 0 of 'infer' to be a tensor of a static shape and of a model's element type, got 'tensor<?xf32>'"),
    ("%x: tensor<4x3xf32> {mnist.name", "%z: f32 {plan.offset = 512 : i64}, %x: tensor<4x3xf32> {mnist.name", "got 'f32'"),
    ("ml_program.global private mutable @mn.step(dense<0> : tensor<i64>) : tensor<i64>", "ml_program.global private mutable @mn.step(dense<0> : tensor<i32>) : tensor<i32>", "expected the trainer's state 'mn.step' to be 'tensor<i64>', got 'tensor<i32>'"),
    ("ml_program.global private mutable @mn.step(dense<0> : tensor<i64>) : tensor<i64>", "ml_program.global private mutable @mn.step(dense<0> : tensor<i16>) : tensor<i16>", "expected a tensor of a static shape and of a model's element type, got 'tensor<i16>'"),
    ("  func.func @train", "  module {}\n  func.func @train", "expected functions and globals in a module, got 'builtin.module'"),
    ("  func.func @train", "  func.func private @f()\n  func.func @train", "expected a body of the function 'f', got none"),
    ("return %y : tensor<4x2xf32>\n", "return %y : tensor<4x2xf32>\n^bb1:\nreturn %y : tensor<4x2xf32>\n", "expected one block in the function 'infer', got 2"),
    ("return %y : tensor<4x2xf32>\n", "%s = func.call @infer(%x, %w) : (tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>\nreturn %y : tensor<4x2xf32>\n", "expected to be inside a step"),
    ('{mnist.parameter = "w"}, tensor<i64>', '{mnist.parameter = "v"}, tensor<i64>', "parameter 'v', to have a global of type 'tensor<3x2xf32>', got none"),
    ("func.func @infer(", 'func.func @"train."(', "expected a unique name, got 'train' twice"),
]


def main():
    mnistc, base, folder = sys.argv[1:]
    text = pathlib.Path(base).read_text()
    path = pathlib.Path(folder) / "plan.mlir"
    path.parent.mkdir(exist_ok=True)

    def run(plan):
        path.write_text(plan)
        ran = subprocess.run([mnistc, path, "--emit=source", "-o", "/dev/null"],
                             capture_output=True, text=True)
        return ran, [line for line in ran.stderr.splitlines() if line.startswith("error: ")]

    failures = run(text)[0].returncode
    for old, new, said in MISTAKES:
        assert old in text, old
        ran, errors = run(text.replace(old, new, 1))
        if ran.returncode != 1 or len(errors) != 1 or said not in errors[0]:
            failures += 1
            print(f"{old!r} -> {new!r}: expected 1 and {said!r}, "
                  f"got {ran.returncode} and {ran.stderr!r}")
    return 1 if failures else 0


sys.exit(main())
