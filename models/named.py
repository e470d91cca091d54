"""Networks by name: those of networks.py, random-7, blocks-7, large-7, small-7, and
written-gpt and others of written.py, which needs PyTorch."""

from networks import NETWORKS
from random_blocks import random_blocks, small_network
from random_networks import large_network, random_network

FAMILIES = {"random": random_network, "blocks": random_blocks, "large": large_network,
            "small": small_network}
# For messages.
NAMES = ", ".join([*(f"{family}-N" for family in FAMILIES), "written-NAME",
                   *NETWORKS])


def named(name):
    """None where there is none."""
    family, _, seed = name.partition("-")
    if family == "written":
        from written import WRITTEN  # where PyTorch is asked for
        return WRITTEN.get(seed)
    if family in FAMILIES and seed.isdecimal():
        return FAMILIES[family](int(seed))
    return NETWORKS.get(name)
