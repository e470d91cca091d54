#!/usr/bin/env python3
"""Turns ONNX's textual form into a binary model.

    onnx-as.py MODEL.onnxtext [-o MODEL.onnx]     - reads stdin, default to stdout

Lines that begin with // or # are comments (RUN lines, CHECK lines).
"""

import argparse
import importlib.machinery
import importlib.util
import re
import sys


def load_parser():
    """ONNX's parser, in 30 ms: the package itself takes ten times that."""
    package = importlib.util.find_spec("onnx")
    if package is None:
        sys.exit("error: no Python package 'onnx'; run scripts/setup")
    finder = importlib.machinery.PathFinder.find_spec(
        "onnx_cpp2py_export", package.submodule_search_locations
    )
    module = importlib.util.module_from_spec(finder)
    finder.loader.exec_module(module)
    return module.parser


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("input")
    arguments.add_argument("-o", dest="output", default="-")
    arguments = arguments.parse_args()

    if arguments.input == "-":
        text = sys.stdin.read()
    else:
        try:
            with open(arguments.input, encoding="utf-8") as file:
                text = file.read()
        except OSError as error:
            sys.exit(f"error: {arguments.input}: {error.strerror.lower()}")
    # Comments become empty lines, so that the parser's line numbers hold.
    text = re.sub(r"^[ \t]*(//|#).*$", "", text, flags=re.M)
    ok, message, model = load_parser().parse_model(text)
    if not ok:
        if isinstance(message, bytes):
            message = message.decode()
        sys.exit(f"error: {arguments.input}: {message.strip()}")

    if arguments.output == "-":
        sys.stdout.buffer.write(model)
    else:
        with open(arguments.output, "wb") as file:
            file.write(model)


if __name__ == "__main__":
    main()
