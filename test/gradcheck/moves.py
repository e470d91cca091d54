"""Cases of what only moves elements, or is computed of few of them."""

import numpy as np

# What only moves elements: operator, shape of the parameter, constants, and
# attributes.
NO_REGION = np.zeros(0, np.float32)
MOVES = [
    ("Transpose", (2, 3, 4), [], {"perm": [2, 0, 1]}),
    ("Transpose", (2, 3), [], {}),
    ("Reshape", (2, 6), [[3, -1]], {}),
    ("Flatten", (2, 3, 2), [], {"axis": 2}),
    ("Squeeze", (1, 3, 1), [[0]], {}),
    ("Unsqueeze", (3, 2), [[1]], {}),
    ("Expand", (3, 1), [[2, 3, 4]], {}),
    ("Expand", (1,), [[2, 2]], {}),
    ("Slice", (4, 6), [[1, 0], [3, 5], [0, 1], [1, 2]], {}),
    ("Slice", (4, 7), [[3, -1], [0, 0], [0, 1], [-1, -2]], {}),
    ("Slice", (9,), [[-2], [-9], [0], [-3]], {}),
    ("Slice", (5, 3), [[1], [100], [0], [3]], {}),
    ("Pad", (2, 3), [[1, 0, 2, 1], np.float32(0.7)], {}),
    ("Pad", (4, 5), [[-1, 2, 0, -2]], {"mode": "constant"}),
    ("Pad", (4, 5), [[2, 3, 1, 4]], {"mode": "reflect"}),
    ("Pad", (4, 5), [[-1, 3, 2, -2]], {"mode": "reflect"}),
    ("Pad", (3, 2), [[4, 1, 2, 3]], {"mode": "edge"}),
    ("Pad", (3, 4), [[-1, 2, 2, 0]], {"mode": "edge"}),
    ("Pad", (3, 4), [[7, 1, 2, 9]], {"mode": "wrap"}),
    ("Gather", (4, 3), [[[0, 2], [3, -1]]], {"axis": 0}),
    ("Gather", (2, 5, 2), [[1, 1, 4]], {"axis": 1}),
    ("Gather", (3, 4), [np.int64(2)], {"axis": 1}),
    ("Trilu", (3, 4), [], {}),
    ("Trilu", (2, 3, 3), [np.int64(-1)], {"upper": 0}),
    ("Resize", (2, 3), [NO_REGION, np.float32([2, 3])], {}),
    ("Resize", (6, 5), [NO_REGION, np.float32([0.5, 0.6])], {}),
    ("Resize", (2, 3, 4), [NO_REGION, np.float32([1, 2, 1.6])], {"mode": "linear"}),
    ("Resize", (3, 4), [NO_REGION, np.float32([1.7, 0.8])], {"mode": "cubic"}),
    ("Resize", (5, 6), [NO_REGION, np.float32([0.4, 0.5])],
     {"mode": "linear", "antialias": 1}),
    ("DepthToSpace", (1, 8, 2, 3), [], {"blocksize": 2}),
    ("DepthToSpace", (1, 8, 2, 3), [], {"blocksize": 2, "mode": "CRD"}),
    ("SpaceToDepth", (1, 2, 4, 6), [], {"blocksize": 2}),
    ("Clip", (3, 4), [np.float32(-0.5), np.float32(0.8)], {}),
    ("Cast", (3, 4), [], {"to": 11}), ("CastLike", (3, 4), [np.float64(1)], {}),
]
# Deprecated since opset 10.
UPSAMPLED = [
    ("Upsample", (2, 3, 2), [np.float32([1, 2, 3])], {}),
    ("Upsample", (2, 3), [np.float32([2, 1.5])], {"mode": "linear"}),
]
