"""Networks that pool otherwise than by a mean or a maximum, whose weights are computed,
or used again and again, as people write them in PyTorch, for 1 x 28 x 28 images."""

import torch
from torch import nn
from torch.nn import functional as F


def features(width=64):
    return nn.Sequential(nn.Conv2d(1, 32, 3, 2, 1), nn.BatchNorm2d(32), nn.ReLU(),
                         nn.Conv2d(32, width, 3, 2, 1), nn.BatchNorm2d(width), nn.ReLU())


class Statistics(nn.Module):
    """Mean, deviation, least and largest over all places (x-vectors)."""

    def __init__(self):
        super().__init__()
        self.features, self.head = features(), nn.Linear(4 * 64, 10)

    def forward(self, x):
        x = self.features(x).flatten(2)
        return self.head(torch.cat((x.mean(2), (x.var(2, unbiased=False) + 1e-5).sqrt(),
                                    x.amin(2), x.amax(2)), 1))


class GeneralizedMean(nn.Module):
    """A mean of powers whose exponent is learned (GeM)."""

    def __init__(self):
        super().__init__()
        self.features, self.head = features(), nn.Linear(64, 10)
        self.power = nn.Parameter(torch.tensor([3.]))

    def forward(self, x):
        x = self.features(x).clamp(min=1e-3).pow(self.power)
        return self.head(x.mean((2, 3)).pow(1 / self.power))


class Haar(nn.Module):
    """Sums and differences of neighbours, level by level (wavelets)."""

    def __init__(self):
        super().__init__()
        self.levels = nn.ModuleList(nn.Conv2d(4 * before, after, 1) for before, after
                                    in ((1, 32), (32, 64)))
        self.head = nn.Linear(64 * 49, 10)

    @staticmethod
    def split(x):
        a, b = x[..., ::2, ::2], x[..., ::2, 1::2]
        c, d = x[..., 1::2, ::2], x[..., 1::2, 1::2]
        return torch.cat((a + b + c + d, a - b + c - d, a + b - c - d, a - b - c + d),
                         1) / 2

    def forward(self, x):
        for level in self.levels:
            x = F.gelu(level(self.split(x)))
        return self.head(x.flatten(1))


class Unbiased(nn.Module):
    """Layers without biases, with activations whose gradient needs their operand."""

    def __init__(self, width=128):
        super().__init__()
        self.first = nn.Conv2d(1, 32, 4, 4, bias=False)
        self.layers = nn.ModuleList(nn.Linear(32, 32, bias=False) for _ in range(2))
        self.wide = nn.Linear(32 * 49, width, bias=False)
        self.last = nn.Linear(width, 10, bias=False)

    def forward(self, x):
        x = F.elu(self.first(x)).flatten(2).transpose(1, 2)
        x = F.silu(self.layers[1](F.gelu(self.layers[0](x))))
        return self.last(F.elu(self.wide(x.flatten(1))))


class LongConvolutions(nn.Module):
    """A filter as long as the sequence, and gates (Hyena)."""

    def __init__(self, width=64, length=49):
        super().__init__()
        self.embed = nn.Conv2d(1, width, 4, 4)
        self.project = nn.Conv1d(width, 3 * width, 1)
        self.short = nn.Conv1d(3 * width, 3 * width, 3, padding=2, groups=3 * width)
        self.long = nn.Conv1d(width, width, length, padding=length - 1, groups=width)
        self.head = nn.Linear(width, 10)

    def forward(self, x):
        x = self.embed(x).flatten(2)
        length = x.shape[2]
        a, b, c = self.short(self.project(x))[..., :length].chunk(3, 1)
        return self.head((x + a * self.long(b * c)[..., :length]).mean(2))


class DynamicFilters(nn.Module):
    """Each image has weights of its own, which a small network computes."""

    def __init__(self, width=32):
        super().__init__()
        self.width = width
        self.embed = nn.Linear(16, width)
        self.weights = nn.Linear(width, width * width)
        self.head = nn.Linear(width, 10)

    def forward(self, x):
        x = self.embed(F.unfold(x, 4, stride=4).transpose(1, 2))
        weights = self.weights(torch.tanh(x.mean(1))).view(-1, self.width, self.width)
        return self.head(torch.relu(x @ weights / self.width ** .5).mean(1))


class Mixture(nn.Module):
    """Four classifiers whose probabilities are mixed by a fifth network."""

    def __init__(self, parts=4):
        super().__init__()
        self.parts = parts
        self.first = nn.Linear(784, 128)
        self.each, self.gate = nn.Linear(128, parts * 10), nn.Linear(128, parts)

    def forward(self, x):
        x = torch.relu(self.first(x.flatten(1)))
        each = F.log_softmax(self.each(x).view(-1, self.parts, 10), -1)
        gate = F.log_softmax(self.gate(x), -1).unsqueeze(-1)
        return (each + gate).exp().sum(1).log()


class Standardized(nn.Module):
    """Filters without mean and deviation, and groups that are normalized (BiT)."""

    def __init__(self, width=64):
        super().__init__()
        self.filters = nn.ParameterList((
            nn.Parameter(torch.randn(width, before, 3, 3) / 8)
            for before in (1, width, width)))
        self.norms = nn.ModuleList(nn.GroupNorm(8, width) for _ in range(3))
        self.head = nn.Linear(width, 10)

    def forward(self, x):
        for filters, norm in zip(self.filters, self.norms):
            centred = filters - filters.mean((1, 2, 3), keepdim=True)
            deviation = (centred.square().mean((1, 2, 3), keepdim=True) + 1e-5).sqrt()
            scale = filters[0].numel() ** -.5
            x = torch.relu(norm(F.conv2d(x, centred / deviation * scale, None, 2, 1)))
        return self.head(x.mean((2, 3)))


class Flow(nn.Module):
    """One convolutional field that is followed for four steps of Heun's method."""

    def __init__(self, width=32, steps=4):
        super().__init__()
        self.steps = steps
        self.first = nn.Conv2d(1, width, 4, 4)
        self.field = nn.Sequential(nn.Conv2d(width, width, 3, padding=1), nn.Tanh(),
                                   nn.Conv2d(width, width, 3, padding=1))
        self.head = nn.Linear(width * 49, 10)

    def forward(self, x):
        x = self.first(x)
        for _ in range(self.steps):
            slope = self.field(x)
            x = x + (slope + self.field(x + slope / self.steps)) / (2 * self.steps)
        return self.head(x.flatten(1))


class Albert(nn.Module):
    """One encoder layer that is used four times."""

    def __init__(self, width=64):
        super().__init__()
        self.embed = nn.Linear(16, width)
        self.places = nn.Parameter(torch.randn(49, width) / 8)
        self.layer = nn.TransformerEncoderLayer(width, 4, 2 * width, 0., F.gelu,
                                                batch_first=True, norm_first=True)
        self.head = nn.Linear(width, 10)

    def forward(self, x):
        x = self.embed(F.unfold(x, 4, stride=4).transpose(1, 2)) + self.places
        for _ in range(4):
            x = self.layer(x)
        return self.head(x.mean(1))


class Couplings(nn.Module):
    """Halves of the channels that are added to each other in turn (RevNet)."""

    def __init__(self, width=32, layers=3):
        super().__init__()
        self.first = nn.Conv2d(4, 2 * width, 3, 2, 1)
        self.layers = nn.ModuleList(nn.Sequential(
            nn.BatchNorm2d(width), nn.ReLU(), nn.Conv2d(width, width, 3, padding=1))
            for _ in range(2 * layers))
        self.head = nn.Linear(2 * width, 10)

    def forward(self, x):
        a, b = self.first(F.pixel_unshuffle(x, 2)).chunk(2, 1)
        for first, second in zip(self.layers[::2], self.layers[1::2]):
            a = a + first(b)
            b = b + second(a)
        return self.head(torch.cat((a, b), 1).mean((2, 3)))
