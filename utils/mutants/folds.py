"""The mutants of folding and canonicalization: see ../mutate.py."""

MUTANTS = [
    ("an index from the end is not wrapped", "lib/IR/Mnist/MnistFolds.cpp",
     "numbers.push_back(number < 0 ? number + size : number);",
     "numbers.push_back(number);", ["lit/mnist-canonicalize"]),
    ("uneven indices are a slice", "lib/IR/Mnist/MnistFolds.cpp",
     "if (numbers[i] - numbers[i - 1] != step || step == 0)",
     "if (step == 0)", ["lit/mnist-canonicalize"]),
    ("x - 1 is x", "lib/IR/Mnist/MnistFolds.cpp",
     "OpFoldResult SubOp::fold(FoldAdaptor adaptor) {\n"
     "  return isSplat(adaptor.getRhs(), 0)",
     "OpFoldResult SubOp::fold(FoldAdaptor adaptor) {\n"
     "  return isSplat(adaptor.getRhs(), 1)", ["lit/mnist-canonicalize"]),
    ("a slice of a slice forgets a step", "lib/IR/Mnist/MnistFolds.cpp",
     "op.getStarts()[i] * producer.getSteps()[i]);", "op.getStarts()[i]);",
     ["lit/mnist-canonicalize"]),
    ("two transposes in the other order", "lib/IR/Mnist/MnistFolds.cpp",
     "permute(producer.getPerm(), op.getPerm())",
     "permute(op.getPerm(), producer.getPerm())", ["lit/mnist-canonicalize"]),
    ("a pool of one size is none", "lib/IR/Mnist/MnistFolds.cpp",
     "areAll(op.getKernel(), 1) && areAll(op.getStrides(), 1) &&\n"
     "         areAll(op.getPads(), 0);",
     "areAll(op.getDilations(), 1);", ["lit/mnist-canonicalize"]),
    ("pads that meet are put one after another", "lib/IR/Mnist/MnistFolds.cpp",
     "if (pad.getLow()[*dim] != end)", "if (false)", ["lit/mnist-canonicalize"]),
    ("pads that leave elements out cover all", "lib/IR/Mnist/MnistFolds.cpp",
     "if (end != op.getType().getDimSize(*dim))", "if (false)",
     ["lit/mnist-canonicalize"]),
    ("a pad of ones is one of zeros", "lib/IR/Mnist/MnistFolds.cpp",
     " || !op.getValue().isZero())", ")", ["lit/mnist-canonicalize"]),
    ("any concat is a stack", "lib/IR/Mnist/MnistFolds.cpp",
     "if (type.getDimSize(dim) != 1)", "if (type.getDimSize(dim) < 1)",
     ["lit/mnist-canonicalize"]),
    ("a sum over some dimensions sums all places", "lib/IR/Mnist/MnistFolds.cpp",
     "if (!llvm::is_contained(op.getDims(), first + int64_t(d)))", "if (false)",
     ["lit/index-pools"]),
]
