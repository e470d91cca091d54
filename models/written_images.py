"""Convolutional networks as people write them in PyTorch, for 1 x 28 x 28 images.

Of kinds that networks.py and the random networks do not have, too: three-
dimensional windows, pools that overlap or are large, other activations.
"""

import torch
from torch import nn
from torch.nn import functional as F

Chain = nn.Sequential


def head(features, *before):
    return Chain(*before, nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                 nn.Linear(features, 10))


def conv_norm(before, after, kernel=3, stride=1, groups=1, activation=nn.ReLU):
    layers = [nn.Conv2d(before, after, kernel, stride, kernel // 2,
                        groups=groups, bias=False), nn.BatchNorm2d(after)]
    return Chain(*layers, *([activation()] if activation else []))


class Shortcut(nn.Module):
    """A body beside which the input goes on, by a 1 x 1 window where needed."""

    def __init__(self, body, before, after, stride):
        super().__init__()
        self.body = body
        self.down = nn.Identity() if stride == 1 and before == after else \
            conv_norm(before, after, 1, stride, activation=None)

    def forward(self, x):
        return F.relu(self.body(x) + self.down(x))


def basic(before, after, stride=1):
    return Shortcut(Chain(conv_norm(before, after, 3, stride),
                          conv_norm(after, after, activation=None)),
                    before, after, stride)


def bottleneck(before, middle, after, stride=1):
    return Shortcut(Chain(conv_norm(before, middle, 1),
                          conv_norm(middle, middle, 3, stride),
                          conv_norm(middle, after, 1, activation=None)),
                    before, after, stride)


def resnet18(width):
    layers, before = [conv_norm(1, width)], width
    for i, after in enumerate((width, 2 * width, 4 * width, 8 * width)):
        layers += [basic(before, after, 2 if i else 1), basic(after, after)]
        before = after
    return head(before, *layers)


def resnet_of_bottlenecks():
    return head(512, conv_norm(1, 32), bottleneck(32, 32, 128),
                bottleneck(128, 32, 128), bottleneck(128, 64, 256, 2),
                bottleneck(256, 64, 256), bottleneck(256, 128, 512, 2))


def vgg():
    layers = []
    for before, after in ((1, 64), (64, 128), (128, 256)):
        layers += [nn.Conv2d(before, after, 3, padding=1), nn.ReLU(),
                   nn.Conv2d(after, after, 3, padding=1), nn.ReLU(),
                   nn.MaxPool2d(2)]
    return Chain(*layers, nn.Flatten(), nn.Linear(256 * 9, 512), nn.ReLU(),
                 nn.Dropout(), nn.Linear(512, 512), nn.ReLU(), nn.Dropout(),
                 nn.Linear(512, 10))


class Fire(nn.Module):
    def __init__(self, before, squeezed, expanded):
        super().__init__()
        self.squeeze = nn.Conv2d(before, squeezed, 1)
        self.one = nn.Conv2d(squeezed, expanded, 1)
        self.three = nn.Conv2d(squeezed, expanded, 3, padding=1)

    def forward(self, x):
        x = F.relu(self.squeeze(x))
        return torch.cat([F.relu(self.one(x)), F.relu(self.three(x))], 1)


def squeezenet():
    return Chain(nn.Conv2d(1, 64, 3, 2), nn.ReLU(), Fire(64, 16, 64),
                 Fire(128, 16, 64), nn.MaxPool2d(3, 2, ceil_mode=True),
                 Fire(128, 32, 128), nn.Dropout(), nn.Conv2d(256, 10, 1),
                 nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())


def network_in_network():
    def stage(before, after, kernel):
        return [nn.Conv2d(before, after, kernel, padding=kernel // 2), nn.ReLU(),
                nn.Conv2d(after, after, 1), nn.ReLU(),
                nn.Conv2d(after, after, 1), nn.ReLU()]
    return Chain(*stage(1, 96, 5), nn.MaxPool2d(3, 2, 1), nn.Dropout(),
                 *stage(96, 96, 5), nn.AvgPool2d(3, 2, 1), nn.Dropout(),
                 *stage(96, 64, 3), nn.Conv2d(64, 10, 1),
                 nn.AdaptiveAvgPool2d(1), nn.Flatten())


class Inverted(nn.Module):
    """Wide depthwise windows with a gate, as EfficientNet has."""

    def __init__(self, before, after, stride=1, times=4):
        super().__init__()
        wide = before * times
        self.expand = conv_norm(before, wide, 1, activation=nn.SiLU)
        self.windows = conv_norm(wide, wide, 3, stride, wide, nn.SiLU)
        self.gate = Chain(nn.AdaptiveAvgPool2d(1), nn.Conv2d(wide, before // 4, 1),
                          nn.SiLU(), nn.Conv2d(before // 4, wide, 1), nn.Sigmoid())
        self.project = conv_norm(wide, after, 1, activation=None)
        self.adds = stride == 1 and before == after

    def forward(self, x):
        y = self.windows(self.expand(x))
        y = self.project(y * self.gate(y))
        return x + y if self.adds else y


def efficientnet():
    return Chain(conv_norm(1, 24, 3, 2, activation=nn.SiLU), Inverted(24, 24),
                 Inverted(24, 40, 2), Inverted(40, 40), Inverted(40, 80, 2),
                 conv_norm(80, 160, 1, activation=nn.SiLU),
                 nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(.2),
                 nn.Linear(160, 10))


class UNet(nn.Module):
    def __init__(self, mode):
        super().__init__()

        def stage(before, after):
            return Chain(nn.Conv2d(before, after, 3, padding=1),
                         nn.BatchNorm2d(after), nn.ReLU(),
                         nn.Conv2d(after, after, 3, padding=1),
                         nn.BatchNorm2d(after), nn.ReLU())
        self.first, self.second = stage(1, 16), stage(16, 32)
        self.middle = stage(32, 64)
        self.fourth, self.fifth = stage(96, 32), stage(48, 16)
        self.up = nn.Upsample(scale_factor=2, mode=mode)
        self.out = nn.Conv2d(16, 10, 1)

    def forward(self, x):
        a = self.first(x)
        b = self.second(F.max_pool2d(a, 2))
        x = self.middle(F.max_pool2d(b, 2))
        x = self.fourth(torch.cat([self.up(x), b], 1))
        x = self.fifth(torch.cat([self.up(x), a], 1))
        return self.out(x).mean((2, 3))


class ConvNeXtBlock(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.windows = nn.Conv2d(width, width, 7, padding=3, groups=width)
        self.norm = nn.LayerNorm(width, eps=1e-6)
        self.hidden, self.out = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.scale = nn.Parameter(torch.full((width,), .1))

    def forward(self, x):
        y = self.norm(self.windows(x).permute(0, 2, 3, 1))
        y = self.scale * self.out(F.gelu(self.hidden(y)))
        return x + y.permute(0, 3, 1, 2)


class ConvNeXt(nn.Module):
    def __init__(self):
        super().__init__()
        self.stages = Chain(nn.Conv2d(1, 32, 4, 4), ConvNeXtBlock(32),
                            ConvNeXtBlock(32), nn.Conv2d(32, 64, 2, 2, padding=1),
                            ConvNeXtBlock(64), ConvNeXtBlock(64))
        self.norm, self.out = nn.LayerNorm(64), nn.Linear(64, 10)

    def forward(self, x):
        return self.out(self.norm(self.stages(x).mean((2, 3))))


class DownAndUp(nn.Module):
    """An autoencoder's windows, and a mean of what they make."""

    def __init__(self):
        super().__init__()
        self.down = Chain(nn.Conv2d(1, 16, 3, 2, 1), nn.ReLU(),
                          nn.Conv2d(16, 32, 3, 2, 1), nn.ReLU(),
                          nn.Conv2d(32, 64, 7), nn.ReLU())
        self.up = Chain(nn.ConvTranspose2d(64, 32, 7), nn.ReLU(),
                        nn.ConvTranspose2d(32, 16, 3, 2, 1, output_padding=1),
                        nn.ReLU(),
                        nn.ConvTranspose2d(16, 10, 3, 2, 1, output_padding=1))

    def forward(self, x):
        return self.up(self.down(x)).mean((2, 3))


class PyramidOfPools(nn.Module):
    def __init__(self):
        super().__init__()
        self.windows = Chain(nn.Conv2d(1, 32, 5, padding=2), nn.ELU(),
                             nn.MaxPool2d(2), nn.Conv2d(32, 64, 3, padding=1),
                             nn.ELU())
        self.out = nn.Linear(64 * (1 + 4 + 49), 10)

    def forward(self, x):
        x = self.windows(x)
        return self.out(torch.cat([F.adaptive_max_pool2d(x, size).flatten(1)
                                   for size in (1, 2, 7)], 1))


def keras_guide():
    return Chain(nn.Conv2d(1, 32, 3), nn.ReLU(), nn.MaxPool2d(2),
                 nn.Conv2d(32, 64, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
                 nn.Dropout(), nn.Linear(1600, 10))


def ensemble_member():
    layers = []
    for before, after in ((1, 32), (32, 64)):
        layers += [conv_norm(before, after), conv_norm(after, after),
                   conv_norm(after, after, 5, 2), nn.Dropout(.4)]
    return Chain(*layers, nn.Flatten(), nn.Linear(64 * 49, 128),
                 nn.BatchNorm1d(128), nn.ReLU(), nn.Dropout(.4), nn.Linear(128, 10))


def prelu():
    return Chain(nn.Conv2d(1, 20, 5), nn.PReLU(), nn.MaxPool2d(2),
                 nn.Conv2d(20, 50, 5), nn.PReLU(50), nn.MaxPool2d(2), nn.Flatten(),
                 nn.Linear(800, 500), nn.PReLU(), nn.Linear(500, 10))


def other_norms():
    return head(64, nn.Conv2d(1, 32, 3, 1, 1, padding_mode="reflect"),
                nn.InstanceNorm2d(32, affine=True), nn.Mish(),
                nn.Conv2d(32, 64, 3, 2, 1), nn.GroupNorm(8, 64), nn.Softplus(),
                nn.Conv2d(64, 64, 3, 2, 1), nn.GroupNorm(1, 64), nn.Hardswish())


def resnext():
    return head(128, conv_norm(1, 64, 3, 2), conv_norm(64, 128, 1),
                conv_norm(128, 128, groups=32), nn.Conv2d(128, 64, 1), nn.ReLU(),
                conv_norm(64, 128, 1), conv_norm(128, 128, 3, 2, groups=32))


def pixel_shuffle():
    return Chain(nn.Conv2d(1, 32, 3, 2, 1), nn.ReLU(), nn.Conv2d(32, 64, 3, padding=1),
                 nn.ReLU(), nn.PixelShuffle(2), nn.Conv2d(16, 10, 3, padding=1),
                 nn.AdaptiveAvgPool2d(1), nn.Flatten())


def volumes():
    return Chain(nn.Flatten(2), nn.Unflatten(2, (4, 14, 14)),
                 nn.Conv3d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool3d(2),
                 nn.Conv3d(16, 32, 3, padding=1), nn.ReLU(),
                 nn.AdaptiveAvgPool3d(1), nn.Flatten(), nn.Linear(32, 10))


def signals():
    def stage(before, after, kernel):
        return [nn.Conv1d(before, after, kernel, 2, kernel // 2),
                nn.BatchNorm1d(after), nn.ReLU()]
    return Chain(nn.Flatten(2), *stage(1, 32, 9), *stage(32, 64, 5),
                 *stage(64, 64, 5), *stage(64, 128, 3), nn.AdaptiveAvgPool1d(1),
                 nn.Flatten(), nn.Linear(128, 10))
