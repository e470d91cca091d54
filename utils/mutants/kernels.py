"""The mutants of kernels, found on the emulated GPU: see ../mutate.py."""

FOLDER = "runtime/include/mnistrt/cuda/kernels/"
TRAININGS = "emulated/trainings.test"
TABLE = "emulated/kernels.test_table"

MUTANTS = [
    # Barriers and waits: a neighbour's number is not there yet, or gone.
    ("tiles of a product are read before they are stored",
     FOLDER + "product_mma.cuh",
     "        fenceForWgmma();\n      __syncthreads();\n",
     "        fenceForWgmma();\n", [TRAININGS]),
    ("sums of a product are read while it is computed",
     FOLDER + "product_mma.cuh",
     "        waitForWgmma();\n      } else {", "      } else {", [TRAININGS]),
    ("a product's results overwrite its last tiles",
     FOLDER + "product_mma.cuh",
     "    __syncthreads();\n    if constexpr (wgmma && moves)",
     "    if constexpr (wgmma && moves)", [TRAININGS]),
    ("filters of a patch are read while they are copied",
     FOLDER + "conv_patch.cuh",
     "      waitForCopies();\n      fenceForWgmma();\n",
     "      fenceForWgmma();\n", [TRAININGS]),
    ("sums of a patch are read while they are computed",
     FOLDER + "conv_patch.cuh",
     "        if constexpr (hasWgmma)\n          waitForWgmma();\n", "",
     [TRAININGS]),
    ("a patch's next pixels overwrite these", FOLDER + "conv_patch.cuh",
     "Stage &next = memory.stage[(turn + 1) % 2];",
     "Stage &next = memory.stage[turn % 2];", [TRAININGS]),
    ("parts of warps are read before they are there",
     FOLDER + "tile_parts.cuh",
     "  sums[warp][lane] = v;\n  __syncthreads();\n",
     "  sums[warp][lane] = v;\n", [TRAININGS]),
    ("a cluster's parts are read before they are there",
     FOLDER + "reduce.cuh", "      clusterSync();\n      if (split == 0 && member == 0)",
     "      if (split == 0 && member == 0)", [TABLE]),
    # Numbers.
    ("the small parts of tf32x3 are left out", FOLDER + "conv_patch.cuh",
     "      multiply(a.small, 0, add);\n      multiply(a.big, 1, true);\n",
     "      multiply(a.big, 1, add);\n", [TABLE]),
    ("tiles begin anew each turn", FOLDER + "product_mma.cuh",
     "startWgmma(tiles, which, turn % kept != 0);",
     "startWgmma(tiles, which, false);", [TRAININGS]),
]
