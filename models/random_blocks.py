"""Networks of random blocks: `random_blocks(7)` is the same on every machine.

Blocks of well-known families of networks (DenseNet, ConvNeXt, MobileNetV3,
Inception, ShuffleNet, U-Net, residual ones with group norms, dilated
convolutions), of random widths, windows, norms and activations, for MNIST's
images. random_networks.py has chains and plain residual networks.
"""

from networks import (ADAM, ADAMW, BATCH_NORM, CHANNEL_MEANS, FLATTEN, GELU,
                      GLOBAL_POOL, HARD_SWISH, LAYER_NORM, LEAKY_RELU, MOMENTUM,
                      RELU, SGD, SIGMOID, SILU, Network, average_pool, concat,
                      conv, conv_transpose, dense, dropout, gate, group_norm,
                      pool, residual, shuffle, transpose)
from random_networks import WIDTHS, Draw, Small, SmallDraw, drawn


class Blocks(Draw):
    def __init__(self, seed):
        super().__init__(seed)
        self.activation = self.pick(RELU, RELU, SILU, HARD_SWISH, LEAKY_RELU, GELU)
        self.kind_of_norm = self.pick("batch", "batch", "group", "instance", None)

    def norm(self, channels):
        return {"batch": [BATCH_NORM], None: [],
                "instance": [group_norm(channels)],
                "group": [group_norm(self.pick(2, 4))]}[self.kind_of_norm]

    def conv_norm(self, before, channels, size, kernel=3, groups=1, **options):
        """A convolution that keeps the size, and a norm."""
        height, width = kernel if isinstance(kernel, tuple) else (kernel, kernel)
        dilation = options.get("dilation", 1)
        pad = height // 2 * dilation, width // 2 * dilation
        self.work += self.batch * size ** 2 * height * width * before * channels // groups
        return [conv(channels, kernel, pad=pad, groups=groups,
                     bias=self.kind_of_norm is None, **options),
                *self.norm(channels)]

    # A block's layers and the channels after it.

    def dense_block(self, channels, size):
        layers, growth = [], self.pick(8, 12, 16, 24)
        for _ in range(self.pick(2, 3, 4)):
            layers.append(concat([], [
                *self.norm(channels), self.activation,
                *self.conv_norm(channels, growth, size)]))
            channels += growth
        return layers, channels

    def convnext(self, channels, size):
        kernel, wide = self.pick(5, 7), self.pick(2, 4) * channels
        self.work += self.batch * size ** 2 * channels * (kernel ** 2 + 2 * wide)
        return [residual(
            conv(channels, kernel, pad=kernel // 2, groups=channels),
            transpose(2, 3, 1), LAYER_NORM, dense(wide), GELU, dense(channels),
            transpose(3, 1, 2))], channels

    def inverted(self, channels, size):
        wide, kernel = self.pick(2, 3, 4) * channels, self.pick(3, 5)
        squeeze = gate(CHANNEL_MEANS, conv(max(4, channels // 4), 1), RELU,
                       conv(wide, 1), SIGMOID)
        return [residual(
            *self.conv_norm(channels, wide, size, 1), self.activation,
            *self.conv_norm(wide, wide, size, kernel, wide), self.activation,
            *([squeeze] if self.chance(.7) else []),
            *self.conv_norm(wide, channels, size, 1))], channels

    def inception(self, channels, size):
        def branch(*kernels):
            before, layers = channels, []
            width = self.pick(8, 12, 16, 24, 32)
            for kernel in kernels:
                layers += [*self.conv_norm(before, width, size, kernel),
                           self.activation]
                before = width
            return layers, width
        branches = [branch(1), branch(1, 3), self.pick(
            branch(1, 5), branch((1, 7), (7, 1)), branch(1, 3, 3))]
        return [concat(*(layers for layers, _ in branches))], sum(
            width for _, width in branches)

    def shuffled(self, channels, size):
        groups = self.pick(2, 4)
        return [residual(
            *self.conv_norm(channels, channels, size, 1, groups), self.activation,
            shuffle(groups), *self.conv_norm(channels, channels, size, 3, channels),
            *self.conv_norm(channels, channels, size, 1, groups)),
            self.activation], channels

    def plain_residual(self, channels, size):
        return [residual(
            *self.norm(channels), self.activation,
            *self.conv_norm(channels, channels, size), self.activation,
            *self.conv_norm(channels, channels, size))], channels

    def down_up(self, channels, size):
        """A stage of a U-Net; the size is even."""
        inner = min(2 * channels, 64)
        self.work += self.batch * (size // 2) ** 2 * channels * inner * 13
        return [concat([], [
            conv(inner, 3, pad=1, stride=2), *self.norm(inner), self.activation,
            *self.conv_norm(inner, inner, size // 2), self.activation,
            conv_transpose(channels, 2, 2)])], 2 * channels

    def dilated(self, channels, size):
        after = self.pick(16, 24, 32, 48)
        dilation = self.pick(2, 3)
        return [*self.conv_norm(channels, after, size, dilation=dilation),
                self.activation], after

    def block(self, channels, size):
        kinds = [self.dense_block, self.convnext, self.inverted, self.inception,
                 self.shuffled, self.plain_residual, self.dilated]
        return self.pick(*kinds, *([self.down_up] if size % 2 == 0 else []))(
            channels, size)

    # Between the blocks.

    def smaller(self, channels, size):
        after = self.pick(16, 24, 32, 48, 64)
        if self.chance(.5):
            return [*self.conv_norm(channels, after, size, 1), self.activation,
                    self.pick(pool, average_pool)(2)], after
        self.work += self.batch * size ** 2 // 4 * 9 * channels * after
        return [conv(after, 3, pad=0 if size % 2 else 1, stride=2), *self.norm(after),
                self.activation], after

    def stem(self):
        channels, kernel = self.pick(16, 24, 32), self.pick(3, 3, 5)
        patch = self.pick(1, 2, 2, 4)
        if patch > 1:
            return [conv(channels, patch, stride=patch)], channels, 28 // patch
        return [*self.conv_norm(1, channels, 28, kernel), self.activation], \
            channels, 28

    def layers(self):
        layers, channels, size = self.stem()
        for i in range(self.pick(2, 3, 4)):
            if i and size > 7 and self.chance(.8):
                more, channels = self.smaller(channels, size)
                layers, size = layers + more, size // 2
            for _ in range(self.pick(1, 1, 2)):
                more, channels = self.block(channels, size)
                layers += more
        if size > 7 or self.chance(.6):
            return [*layers, GLOBAL_POOL, dense(10)]
        return [*layers, FLATTEN, dense(self.pick(*WIDTHS)), BATCH_NORM,
                self.activation, dropout(.25), dense(10)]


class SmallBlocks(Small, Blocks):
    pass


def drawn_blocks(kind, seed):
    while True:
        draw = kind(seed)
        layers = draw.layers()
        if draw.work <= kind.most_work:
            return Network(layers, draw.pick(SGD, MOMENTUM, ADAM, ADAMW),
                           batch=draw.batch)
        seed += 1_000_003


def random_blocks(seed):
    return drawn_blocks(Blocks, seed)


def small_network(seed):
    """Of either kind."""
    return drawn_blocks(SmallBlocks, seed) if seed % 2 else drawn(SmallDraw(seed))
