"""Networks that see an image as several things: two halves, points, patches that are
compared in pairs or are the nodes of a graph; and layers that few others have, as
people write them in PyTorch, for 1 x 28 x 28 images."""

import torch
from torch import nn
from torch.nn import functional as F


class Siamese(nn.Module):
    """One encoder for both halves of an image, which are compared."""

    def __init__(self):
        super().__init__()
        self.encode = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(),
            nn.MaxPool2d(2), nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(),
            nn.Flatten(), nn.Linear(32 * 14 * 7, 128), nn.Tanh())
        self.head = nn.Linear(4 * 128, 10)

    def forward(self, x):
        left, right = self.encode(x[..., :14]), self.encode(x[..., 14:].flip(-1))
        return self.head(torch.cat((left, right, (left - right).abs(), left * right),
                                   dim=1))


class Queries(nn.Module):
    """Ten learned queries read the patches, layer by layer (DETR)."""

    def __init__(self, width=64, layers=2):
        super().__init__()
        self.patches = nn.Conv2d(1, width, 4, 4)
        self.places = nn.Parameter(torch.randn(1, 49, width) * .02)
        self.queries = nn.Parameter(torch.randn(1, 10, width) * .5)
        self.decoder = nn.TransformerDecoder(
            nn.TransformerDecoderLayer(width, 4, 2 * width, 0., batch_first=True),
            layers)
        self.head = nn.Linear(width, 1)

    def forward(self, x):
        tokens = self.patches(x).flatten(2).transpose(1, 2) + self.places
        queries = self.queries.expand(x.shape[0], -1, -1)
        return self.head(self.decoder(queries, tokens)).squeeze(-1)


class BothWays(nn.Module):
    """Two cells read the rows, one from the first and one from the last."""

    def __init__(self, width=64):
        super().__init__()
        self.cells = nn.ModuleList(nn.GRUCell(28, width) for _ in range(2))
        self.head = nn.Linear(2 * width, 10)
        self.width = width

    def forward(self, x):
        rows = x.squeeze(1).unbind(1)
        states = []
        for cell, order in zip(self.cells, (rows, rows[::-1])):
            state = x.new_zeros(x.shape[0], self.width)
            for row in order:
                state = cell(row, state)
            states.append(state)
        return self.head(torch.cat(states, 1))


class Stacked(nn.Module):
    """Two layers of cells over the rows in fours; the mean of all states."""

    def __init__(self, width=64):
        super().__init__()
        self.cells = nn.ModuleList((nn.RNNCell(112, width),
                                    nn.RNNCell(width, width, nonlinearity="relu")))
        self.head = nn.Linear(width, 10)
        self.width = width

    def forward(self, x):
        states = [x.new_zeros(x.shape[0], self.width) for _ in self.cells]
        seen = []
        for row in x.view(-1, 7, 112).unbind(1):
            for i, cell in enumerate(self.cells):
                states[i] = row = cell(row, states[i])
            seen.append(row)
        return self.head(torch.stack(seen, 1).mean(1))


class Coordinates(nn.Module):
    """Convolutions that are told where a pixel is (CoordConv)."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 32, 3, 2, 1)
        self.second = nn.Conv2d(34, 64, 3, 2, 1)
        self.head = nn.Linear(64, 10)

    @staticmethod
    def placed(x):
        height, width = x.shape[2:]
        y, z = torch.meshgrid(torch.linspace(-1, 1, height, device=x.device),
                              torch.linspace(-1, 1, width, device=x.device),
                              indexing="ij")
        places = torch.stack((y, z)).expand(x.shape[0], -1, -1, -1)
        return torch.cat((x, places), 1)

    def forward(self, x):
        x = F.silu(self.first(self.placed(x)))
        x = F.silu(self.second(self.placed(x)))
        return self.head(x.amax((2, 3)))


class Fourier(nn.Module):
    """Tokens are mixed by a discrete Fourier transform (FNet)."""

    def __init__(self, width=64, layers=2):
        super().__init__()
        self.embed = nn.Linear(28, width)
        for name, size in (("tokens", 28), ("channels", width)):
            angle = 2 * torch.pi * torch.outer(torch.arange(size),
                                               torch.arange(size)) / size
            self.register_buffer(name + "_cos", angle.cos() / size ** .5)
            self.register_buffer(name + "_sin", angle.sin() / size ** .5)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2 * layers))
        self.feeds = nn.ModuleList(
            nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(approximate="tanh"),
                          nn.Linear(2 * width, width)) for _ in range(layers))
        self.head = nn.Linear(width, 10)

    def forward(self, x):
        x = self.embed(x.squeeze(1))
        for i, feed in enumerate(self.feeds):
            mixed = (self.tokens_cos @ (x @ self.channels_cos) -
                     self.tokens_sin @ (x @ self.channels_sin))
            x = self.norms[2 * i](x + mixed)
            x = self.norms[2 * i + 1](x + feed(x))
        return self.head(x.mean(1))


class Points(nn.Module):
    """Patches as points with places, of which the largest features count
    (PointNet)."""

    def __init__(self):
        super().__init__()
        y, x = torch.meshgrid(torch.arange(14.), torch.arange(14.), indexing="ij")
        self.register_buffer("places", torch.stack((y, x)).view(1, 2, 196) / 14)
        self.each = nn.Sequential(nn.Conv1d(6, 64, 1), nn.BatchNorm1d(64), nn.ReLU(),
                                  nn.Conv1d(64, 128, 1), nn.BatchNorm1d(128))
        self.head = nn.Sequential(nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10))

    def forward(self, x):
        pixels = F.pixel_unshuffle(x, 2).flatten(2)
        places = self.places.expand(x.shape[0], -1, -1)
        return self.head(self.each(torch.cat((pixels, places), 1)).amax(2))


class Relations(nn.Module):
    """All pairs of sixteen patches (a relation network)."""

    def __init__(self, width=32):
        super().__init__()
        self.patches = nn.Conv2d(1, width, 7, 7)
        self.pair = nn.Sequential(nn.Linear(2 * width, 64), nn.ReLU(),
                                  nn.Linear(64, 64), nn.ReLU())
        self.head = nn.Linear(64, 10)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        size = (-1, 16, 16, -1)
        pairs = torch.cat((x.unsqueeze(1).expand(*size), x.unsqueeze(2).expand(*size)),
                          -1)
        return self.head(self.pair(pairs).sum((1, 2)) / 16)


class Graph(nn.Module):
    """Patches are nodes, neighbours have edges (a graph convolution)."""

    def __init__(self, width=64):
        super().__init__()
        place = torch.arange(49)
        y, x = place // 7, place % 7
        near = ((y[:, None] - y).abs() + (x[:, None] - x).abs() <= 1).float()
        degree = near.sum(1).rsqrt()
        self.register_buffer("edges", degree[:, None] * near * degree)
        self.layers = nn.ModuleList((nn.Linear(16, width), nn.Linear(width, width),
                                     nn.Linear(width, width)))
        self.head = nn.Linear(width, 10)

    def forward(self, x):
        x = F.unfold(x, 4, stride=4).transpose(1, 2)
        for layer in self.layers:
            x = F.elu(self.edges @ layer(x))
        return self.head(x.mean(1))


class Activations(nn.Module):
    """A layer for each activation that others do not have."""

    def __init__(self, width=48):
        super().__init__()
        self.begin = nn.Linear(784, width)
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(10))
        self.gate = nn.Linear(width, 2 * width)
        self.activations = (
            nn.Softplus(), nn.Mish(), nn.Hardswish(), nn.SELU(), nn.CELU(.5),
            nn.Softsign(), nn.LogSigmoid(), nn.Hardtanh(-.8, .8), nn.Tanhshrink(),
            nn.LeakyReLU(.2))
        self.head = nn.Linear(width, 10)

    def forward(self, x):
        x = self.begin(x.flatten(1))
        for layer, activation in zip(self.layers, self.activations):
            x = x + .5 * activation(layer(x))
        return self.head(F.glu(self.gate(x), -1))


class Prototypes(nn.Module):
    """How far the features are from a prototype of each class."""

    def __init__(self, width=32):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 32, 5, 2, 2), nn.BatchNorm2d(32), nn.ReLU(),
            nn.Conv2d(32, 32, 5, 2, 2), nn.ReLU(), nn.Flatten(),
            nn.Linear(32 * 49, width))
        self.prototypes = nn.Parameter(torch.randn(10, width))

    def forward(self, x):
        apart = self.features(x).unsqueeze(1) - self.prototypes
        return -apart.square().sum(-1) / 8


class Cosines(nn.Module):
    """Angles between what is seen and each class, scaled (ArcFace without its
    margin); a bilinear form of two views before."""

    def __init__(self, width=32):
        super().__init__()
        self.rows, self.columns = nn.Linear(784, width), nn.Linear(784, width)
        self.both = nn.Parameter(torch.randn(width, width, width) / width)
        self.classes = nn.Parameter(torch.randn(10, width))

    def forward(self, x):
        rows = torch.tanh(self.rows(x.flatten(1)))
        columns = torch.tanh(self.columns(x.transpose(2, 3).flatten(1)))
        x = torch.einsum("ni,oij,nj->no", rows, self.both, columns) + rows
        return 8 * F.normalize(x, dim=1) @ F.normalize(self.classes, dim=1).t()
