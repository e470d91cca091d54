#!/usr/bin/env python3
"""Checks that no kernel touches sums of a wgmma that are not there yet.

usage: check-wgmma.py [--nvdisasm=PATH] FILE...

A FILE is a cubin, or a program that has some. Between a wgmma and the wait for
it the registers of its sums belong to the tensor cores. A compiler that does
not know may copy them there, as it did where a branch was in between: results
are wrong then, sometimes. Instructions are followed as they stand, not as they
jump. nvdisasm is found among Python's packages (nvidia-cuda-nvdisasm) or in
PATH. Exit code 1 where a kernel does so, 2 where something cannot be read.
"""

import argparse
import collections
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

EM_CUDA = 190
INSTRUCTION = re.compile(r"/\*[0-9a-f]{4,}\*/\s+(.*?);")
KERNEL = re.compile(r"\s*\.section\s+\.text\.(\w+)")
WGMMA = re.compile(r"HGMMA\.64x(\d+)x\d+\.(\w+)\S*\s+(?:R(\d+)|RZ),")
ADDED_TO = re.compile(r",\s*R(\d+)\s*(?:,\s*gsb0)?\s*$")
WAIT = re.compile(r"WARPGROUP\.DEPBAR\.LE gsb0, 0x(\d+)")
REGISTER = re.compile(r"\bR(\d+)\b(\.64)?")


def cubins(data):
    """The ELF files for GPUs within the bytes of a file."""
    at = data.find(b"\x7fELF")
    while at >= 0:
        head = data[at:at + 64]
        if len(head) == 64 and struct.unpack_from("<H", head, 18)[0] == EM_CUDA:
            segments, sections = struct.unpack_from("<QQ", head, 32)
            sizes = struct.unpack_from("<HHHH", head, 54)
            yield data[at:at + max(segments + sizes[0] * sizes[1],
                                   sections + sizes[2] * sizes[3])]
        at = data.find(b"\x7fELF", at + 4)


class UnderWay:
    """The registers of sums that are not there yet, of the groups of wgmma in
    the order in which they end."""

    def __init__(self):
        self.groups, self.group = collections.deque(), set()

    def registers(self):
        return self.group.union(*self.groups)

    def add(self, registers, ends):
        self.group |= registers
        if ends:
            self.groups.append(self.group)
            self.group = set()

    def wait(self, running):
        while len(self.groups) > running:
            self.groups.popleft()


def touches(text, registers):
    return any(not registers.isdisjoint(range(int(first), int(first) + (2 if wide else 1)))
               for first, wide in REGISTER.findall(text))


def early(lines):
    """Kernels, and of some of them the instructions that touch sums early."""
    found, kernel, under_way = {}, None, UnderWay()
    for line in lines:
        if begins := KERNEL.match(line):
            kernel, under_way = begins[1], UnderWay()
            found[kernel] = []
        if not (instruction := INSTRUCTION.search(line)):
            continue
        text = instruction[1]
        if wgmma := WGMMA.search(text):
            count = int(wgmma[1]) // (2 if wgmma[2] == "F32" else 4)
            first = int(wgmma[3]) if wgmma[3] else None
            registers = set() if first is None else set(range(first, first + count))
            added = ADDED_TO.search(text)
            if registers and added and int(added[1]) != first:
                found[kernel].append(text)
            under_way.add(registers, "gsb0" in text)
        elif wait := WAIT.search(text):
            under_way.wait(int(wait[1]))
        elif touches(text, under_way.registers()):
            found[kernel].append(text)
    return found


def disassembled(nvdisasm, cubin):
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        done = subprocess.run([nvdisasm, file.name], capture_output=True,
                              text=True)
    if done.returncode:
        raise OSError(done.stderr.strip()[-300:])
    return done.stdout.splitlines()


def find_nvdisasm():
    for folder in map(pathlib.Path, sys.path):
        for path in folder.glob("nvidia/*/bin/nvdisasm"):
            return path
    return shutil.which("nvdisasm")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", 1)[0])
    parser.add_argument("--nvdisasm", default=find_nvdisasm())
    parser.add_argument("files", nargs="+", type=pathlib.Path, metavar="FILE")
    options = parser.parse_args()
    if not options.nvdisasm:
        print("check-wgmma: error: expected nvdisasm, got none", file=sys.stderr)
        return 2
    kernels = wgmma = bad = 0
    for path in options.files:
        for cubin in cubins(path.read_bytes()):
            lines = disassembled(options.nvdisasm, cubin)
            wgmma += sum("HGMMA" in line for line in lines)
            for kernel, texts in early(lines).items():
                kernels += 1
                bad += bool(texts)
                if texts:
                    print(f"{path}: {kernel}: expected no use of sums before "
                          f"they are there, got '{texts[0].strip()}'")
    if not kernels:
        print("check-wgmma: error: expected kernels, got none", file=sys.stderr)
        return 2
    print(f"{kernels} kernels with {wgmma} wgmma, {bad} touch sums early")
    return 1 if bad else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except OSError as error:
        print(f"check-wgmma: error: {error}", file=sys.stderr)
        sys.exit(2)
