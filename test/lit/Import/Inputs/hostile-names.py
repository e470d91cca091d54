"""Writes a model whose names are not UTF-8, which ONNX's text cannot say.

Writes protobuf's wire format itself: protobuf's Python package refuses such strings.
"""

import sys


def field(number, payload):
    """A length-delimited field."""
    size, length = len(payload), b""
    while size > 0x7F:
        length += bytes([size & 0x7F | 0x80])
        size >>= 7
    return bytes([number << 3 | 2]) + length + bytes([size]) + payload


def varint(number, value):
    return bytes([number << 3, value])


def value_info(name):
    dim = field(1, varint(1, 2))
    tensor = varint(1, 1) + field(2, dim)
    return field(1, name) + field(2, field(1, tensor))


x, y = b"../x\xff\x00", b"y'\n"
weight = b'w"*/ #include </etc/passwd>\n'
operator = (sys.argv[1] if len(sys.argv) > 1 else "Mul").encode()
node = (
    field(1, x)
    + field(1, weight)
    + field(2, y)
    + field(3, b'\nnode "*/')
    + field(4, operator)
)
initializer = varint(1, 2) + varint(2, 1) + field(8, weight) + field(9, bytes(8))
graph = (
    field(1, node)
    + field(2, b"graph")
    + field(5, initializer)
    + field(11, value_info(x))
    + field(12, value_info(y))
)
opset = field(1, b"") + varint(2, 17)
model = varint(1, 8) + field(7, graph) + field(8, opset)
sys.stdout.buffer.write(model)
