"""The version of the wheel, and what machines it is for."""

import os
import re

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface


class Version(MetadataHookInterface):
    """As CMake installed it."""

    PLUGIN_NAME = "custom"

    def update(self, metadata):
        path = os.path.join(self.root, "mnistc_tree/tree/lib/cmake/mnistc/mnistcConfigVersion.cmake")
        with open(path) as file:
            metadata["version"] = re.search(r'PACKAGE_VERSION "(.*?)"', file.read())[1]


class Tag(BuildHookInterface):
    """Any Python, by ctypes; the C library of the machine that it is built on, or a
    newer one, since the objects in the runtime's archives have no versions that would
    say which they need."""

    PLUGIN_NAME = "custom"

    def initialize(self, version, build_data):
        libc = os.confstr("CS_GNU_LIBC_VERSION").split()[1].replace(".", "_")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-manylinux_{libc}_{os.uname().machine}"


def get_metadata_hook():
    return Version


def get_build_hook():
    return Tag
