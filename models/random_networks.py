"""Networks that nobody chose: `random_network(7)` is the same on every machine.

Chains of convolutions, residual ones, perceptrons, and transformers or mixers on
tokens, of random widths, windows, strides, groups, activations, norms, pools and
optimizers, for MNIST's images.
"""

import random

from networks import (ADAM, ADAMW, BATCH_NORM, FLATTEN, GELU, GLOBAL_POOL,
                      LAYER_NORM, MEAN_TOKEN, MOMENTUM, POSITIONS,
                      RELU, RELU6, SGD, TANH, TOKENS, Network, attention,
                      average_pool, conv, dense, dropout, pool, residual,
                      transpose)

CHANNELS = (8, 12, 16, 24, 32, 32, 48, 64, 64, 96, 128, 160, 192, 256)
WIDTHS = (32, 48, 64, 100, 128, 192, 256, 300, 512, 800, 1024)
MOST_WORK = 600_000_000  # multiply-adds of a forward pass, for the whole batch


class Draw:
    """Layers of one network, made one after the other."""

    batches, widths = (16, 32, 64, 64, 100, 128, 256), WIDTHS
    # Of a convolution, and of a token.
    all_channels, token_widths = CHANNELS, (32, 48, 64, 96, 128)
    most_work = MOST_WORK

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.batch = self.pick(*self.batches)
        self.activation = self.pick(RELU, RELU, RELU, TANH, GELU, RELU6)
        self.has_norms = self.chance(.5)
        self.work = 0

    def pick(self, *values):
        return self.random.choice(values)

    def chance(self, probability):
        return self.random.random() < probability

    def window(self, size):
        return min(self.pick(1, 3, 3, 3, 5, 7), size)

    def norm(self, norm):
        return [norm] if self.has_norms else []

    def channels(self, before, kernel, area):
        """As many as the work that is left allows."""
        result = self.pick(*self.all_channels)
        while result > 8 and self.work + self.batch * area * kernel ** 2 * \
                before * result > self.most_work:
            result //= 2
        return result

    def conv(self, before, size):
        """Its layers, and the channels and pixels after it."""
        kernel = self.window(size)
        stride = self.pick(1, 1, 1, 2) if size > 7 else 1
        after = (size + 2 * (kernel // 2) - kernel) // stride + 1
        channels, groups = self.channels(before, kernel, after ** 2), 1
        if before > 4 and self.chance(.2):
            channels = groups = before
        elif before % 4 == 0 and channels % 4 == 0 and self.chance(.1):
            groups = 4
        self.work += self.batch * after ** 2 * kernel ** 2 * before * channels // groups
        return [conv(channels, kernel, pad=kernel // 2, stride=stride, groups=groups,
                     bias=not self.has_norms), *self.norm(BATCH_NORM),
                self.activation], channels, after

    def stem(self):
        """What makes patches of the image to channels, if anything does."""
        patch = self.pick(1, 1, 2, 4)
        if patch == 1:
            return [], 1, 28
        return [conv(patch ** 2, patch, stride=patch)], patch ** 2, 28 // patch

    def head(self, channels, size):
        if size > 7 or self.chance(.5):
            return [GLOBAL_POOL, dense(10)]
        return [FLATTEN, dense(self.pick(*self.widths)), self.activation, dense(10)]

    def convolutions(self):
        layers, channels, size = self.stem()
        for _ in range(self.pick(2, 3, 4, 6)):
            more, channels, size = self.conv(channels, size)
            layers += more
            if size > 7 and self.chance(.4):
                layers.append(self.pick(pool, average_pool)(2))
                size //= 2
            if self.chance(.1):
                layers.append(dropout(.25))
        return [*layers, *self.head(channels, size)]

    def residuals(self):
        layers, channels, size = self.stem()
        more, channels, size = self.conv(channels, size)
        layers += more
        for _ in range(self.pick(1, 2, 3)):
            kernel = self.window(size) // 2 * 2 + 1
            inner = self.channels(channels, kernel, size ** 2)
            self.work += 2 * self.batch * size ** 2 * kernel ** 2 * channels * inner
            body = [conv(inner, kernel, pad=kernel // 2), *self.norm(BATCH_NORM),
                    self.activation, conv(channels, kernel, pad=kernel // 2),
                    *self.norm(BATCH_NORM)]
            layers += [residual(*body), self.activation]
            if self.chance(.5):
                more, channels, size = self.conv(channels, size)
                layers += more
        return [*layers, *self.head(channels, size)]

    def perceptron(self):
        layers = [FLATTEN]
        for _ in range(self.pick(1, 2, 3, 4, 6)):
            layers += [dense(self.pick(*self.widths)), *self.norm(LAYER_NORM),
                       self.activation]
            if self.chance(.3):
                layers.append(dropout(.2))
        return [*layers, dense(10)]

    def tokens(self):
        patch, width = self.pick(4, 7), self.pick(*self.token_widths)
        count = (28 // patch) ** 2
        mixes = self.chance(.4)
        layers = [conv(width, patch, stride=patch), TOKENS, POSITIONS]
        for _ in range(self.pick(1, 2, 3)):
            over_tokens = [transpose(2, 1), dense(self.pick(16, 32, 64)), GELU,
                           dense(count), transpose(2, 1)] if mixes else \
                [attention(self.pick(1, 2, 4))]
            layers += [residual(LAYER_NORM, *over_tokens),
                       residual(LAYER_NORM, dense(self.pick(1, 2, 4) * width),
                                GELU, dense(width))]
        return [*layers, LAYER_NORM, MEAN_TOKEN, dense(10)]


class Small:
    """Sizes that an emulated GPU computes in seconds."""

    batches, widths = (3, 4, 6, 8, 8, 12, 16, 20), (20, 32, 48, 64, 100, 128, 200)
    all_channels = (4, 6, 8, 8, 12, 16, 16, 20, 24, 32, 32, 40, 48, 64)
    token_widths = (16, 20, 32, 48, 64, 96)
    most_work = 15_000_000


class SmallDraw(Small, Draw):
    pass


class LargeDraw(Draw):
    """Layers that keep a GPU busy: up to 33 times the work of the others."""

    batches, widths = (64, 128, 256, 512), (512, 1024, 2048, 4096)
    all_channels, token_widths = (64, 128, 128, 256, 256, 384, 512), (192, 256, 384, 512)
    most_work = 20_000_000_000


def drawn(draw):
    make = draw.pick(draw.convolutions, draw.convolutions, draw.residuals,
                     draw.perceptron, draw.tokens)
    return Network(make(), draw.pick(SGD, MOMENTUM, ADAM, ADAMW),
                   batch=draw.batch)


def random_network(seed):
    return drawn(Draw(seed))


def large_network(seed):
    return drawn(LargeDraw(seed))
