"""Backbones of other families as people write them in PyTorch, for 1 x 28 x 28
images: dense ones, those that split or shuffle channels, that attend to places,
or add what several windows make of the same image."""

import torch
from torch import nn
from torch.nn import functional as F
from written_images import Chain, conv_norm, head


class Dense(nn.Module):
    """Each layer reads what all before it made, as DenseNet's do."""

    def __init__(self, before, growth, count):
        super().__init__()
        self.layers = nn.ModuleList(Chain(
            nn.BatchNorm2d(before + i * growth), nn.ReLU(),
            nn.Conv2d(before + i * growth, 4 * growth, 1, bias=False),
            nn.BatchNorm2d(4 * growth), nn.ReLU(),
            nn.Conv2d(4 * growth, growth, 3, padding=1, bias=False))
            for i in range(count))

    def forward(self, x):
        for layer in self.layers:
            x = torch.cat([x, layer(x)], 1)
        return x


def transition(before, after):
    return Chain(nn.BatchNorm2d(before), nn.ReLU(),
                 nn.Conv2d(before, after, 1, bias=False), nn.AvgPool2d(2))


def densenet():
    return head(80, nn.Conv2d(1, 32, 3, padding=1, bias=False),
                Dense(32, 16, 4), transition(96, 48), Dense(48, 16, 4),
                transition(112, 48), Dense(48, 16, 2), nn.BatchNorm2d(80), nn.ReLU())


class Shuffled(nn.Module):
    """Half of the channels go on as they are, as in ShuffleNet's second version."""

    def __init__(self, channels):
        super().__init__()
        half = channels // 2
        self.body = Chain(
            conv_norm(half, half, 1),
            conv_norm(half, half, 3, groups=half, activation=None),
            conv_norm(half, half, 1))

    def forward(self, x):
        kept, changed = x.chunk(2, 1)
        x = torch.cat([kept, self.body(changed)], 1)
        n, c, h, w = x.shape
        return x.view(n, 2, c // 2, h, w).transpose(1, 2).reshape(n, c, h, w)


def shufflenet():
    return head(128, conv_norm(1, 32, 3, 2), Shuffled(32), Shuffled(32),
                conv_norm(32, 64, 3, 2), Shuffled(64), Shuffled(64),
                conv_norm(64, 128, 1))


class Beside(nn.Module):
    def __init__(self, body):
        super().__init__()
        self.body = body

    def forward(self, x):
        return x + self.body(x)


def convmixer():
    def block(c):
        return [Beside(Chain(nn.Conv2d(c, c, 5, groups=c, padding=2), nn.GELU(),
                             nn.BatchNorm2d(c))),
                nn.Conv2d(c, c, 1), nn.GELU(), nn.BatchNorm2d(c)]
    return head(128, nn.Conv2d(1, 128, 4, 4), nn.GELU(), nn.BatchNorm2d(128),
                *block(128), *block(128), *block(128))


class Gated(nn.Module):
    """MobileNet's third version: wide depthwise windows, a hard gate."""

    def __init__(self, before, middle, after, kernel, stride):
        super().__init__()
        act = nn.Hardswish
        self.wide = Chain(conv_norm(before, middle, 1, activation=act),
                          conv_norm(middle, middle, kernel, stride, middle,
                                    activation=act))
        self.gate = Chain(nn.AdaptiveAvgPool2d(1), nn.Conv2d(middle, middle // 4, 1),
                          nn.ReLU(), nn.Conv2d(middle // 4, middle, 1),
                          nn.Hardsigmoid())
        self.narrow = conv_norm(middle, after, 1, activation=None)
        self.adds = stride == 1 and before == after

    def forward(self, x):
        y = self.wide(x)
        y = self.narrow(y * self.gate(y))
        return x + y if self.adds else y


def mobilenet_v3():
    return head(160, conv_norm(1, 16, 3, 2, activation=nn.Hardswish),
                Gated(16, 48, 24, 3, 1), Gated(24, 72, 24, 3, 1),
                Gated(24, 96, 40, 5, 2), Gated(40, 120, 40, 5, 1),
                conv_norm(40, 160, 1, activation=nn.Hardswish))


class Branches(nn.Module):
    """RepVGG's: windows of 3 x 3 and 1 x 1, and the image itself, normalized."""

    def __init__(self, before, after, stride=1):
        super().__init__()
        self.wide = conv_norm(before, after, 3, stride, activation=None)
        self.narrow = conv_norm(before, after, 1, stride, activation=None)
        self.same = nn.BatchNorm2d(before) if before == after else None

    def forward(self, x):
        y = self.wide(x) + self.narrow(x)
        return F.relu(y + self.same(x) if self.same else y)


def repvgg():
    return head(128, Branches(1, 32), Branches(32, 32), Branches(32, 64, 2),
                Branches(64, 64), Branches(64, 128, 2), Branches(128, 128))


class Hierarchical(nn.Module):
    """Res2Net's: each part of the channels also sees what the one before made."""

    def __init__(self, channels, parts=4):
        super().__init__()
        part = channels // parts
        self.parts = parts
        self.begin = conv_norm(channels, channels, 1)
        self.convs = nn.ModuleList(conv_norm(part, part) for _ in range(parts - 1))
        self.end = conv_norm(channels, channels, 1, activation=None)

    def forward(self, x):
        parts = self.begin(x).chunk(self.parts, 1)
        made = [parts[0]]
        for part, conv in zip(parts[1:], self.convs):
            made.append(conv(part + made[-1] if len(made) > 1 else part))
        return F.relu(x + self.end(torch.cat(made, 1)))


def res2net():
    return head(128, conv_norm(1, 64, 3, 2), Hierarchical(64), Hierarchical(64),
                conv_norm(64, 128, 3, 2), Hierarchical(128))


class Attended(nn.Module):
    """CBAM's: channels by their means and largest, then places."""

    def __init__(self, channels):
        super().__init__()
        self.mlp = Chain(nn.Linear(channels, channels // 8), nn.ReLU(),
                         nn.Linear(channels // 8, channels))
        self.places = nn.Conv2d(2, 1, 7, padding=3)

    def forward(self, x):
        of_channels = self.mlp(x.mean((2, 3))) + self.mlp(x.amax((2, 3)))
        x = x * torch.sigmoid(of_channels)[:, :, None, None]
        of_places = torch.cat([x.mean(1, keepdim=True), x.amax(1, keepdim=True)], 1)
        return x * torch.sigmoid(self.places(of_places))


def cbam():
    return head(128, conv_norm(1, 32), Attended(32), conv_norm(32, 64, 3, 2),
                Attended(64), conv_norm(64, 128, 3, 2), Attended(128))


def inception():
    class Inception(nn.Module):
        def __init__(self, before, a, b, c, d):
            super().__init__()
            self.branches = nn.ModuleList([
                conv_norm(before, a, 1),
                Chain(conv_norm(before, b // 2, 1), conv_norm(b // 2, b)),
                Chain(conv_norm(before, c // 2, 1), conv_norm(c // 2, c, 5)),
                Chain(nn.MaxPool2d(3, 1, 1), conv_norm(before, d, 1))])

        def forward(self, x):
            return torch.cat([branch(x) for branch in self.branches], 1)
    return head(160, conv_norm(1, 32, 5, 2), Inception(32, 16, 32, 16, 16),
                Inception(80, 24, 48, 24, 24), nn.MaxPool2d(2),
                Inception(120, 32, 64, 32, 32))
