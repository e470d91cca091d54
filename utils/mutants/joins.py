"""The mutants of passes that join steps: see ../mutate.py."""

MUTANTS = [
    ("a pool joins before what it needs", "lib/Passes/JoinPools.cpp",
     "return input == pooled || !producer || producer->isBeforeInBlock(place);",
     "return true;", ["lit/join-pools"]),
    ("a gradient that others read is not stored", "lib/Passes/JoinUnpools.cpp",
     "!input.hasOneUse() || ", "", ["lit/join-unpools"]),
    ("a bias of one weight a channel is joined", "lib/Passes/JoinBiases.cpp",
     "countOf(gradient.getFilterGrad()) != countOf(sum.getOutput());", "true;",
     ["lit/join-biases"]),
    ("a bias joins before what it needs", "lib/Passes/JoinBiases.cpp",
     "return !maker || maker->isBeforeInBlock(first);", "return true;",
     ["lit/join-biases"]),
    ("a gradient joins after who needs it", "lib/Passes/JoinBiases.cpp",
     "return user->isBeforeInBlock(last);", "return false;",
     ["lit/join-biases"]),
    ("a bias is a sum of any tensor", "lib/Passes/JoinBiases.cpp",
     "             tensor &&", "             step.getInputs().back() &&",
     ["lit/join-biases"]),
    ("a bias is a sum over any dimensions", "lib/IR/Plan/GradientBody.cpp",
     "return sum.getDims() == ArrayRef<int64_t>(others);", "return true;",
     ["lit/join-biases"]),
]
