"""Networks that use the same weights several times, or mix tokens in other ways than
attention, as people write them in PyTorch, for 1 x 28 x 28 images."""

import torch
from torch import nn
from torch.nn import functional as F


class Recurrent(nn.Module):
    """A cell of torch.nn over the rows of an image."""

    def __init__(self, cell, width=128):
        super().__init__()
        self.cell = cell(28, width)
        self.width = width
        self.head = nn.Linear(width, 10)

    def forward(self, x):
        rows = x.squeeze(1).unbind(1)
        state = x.new_zeros(x.shape[0], self.width)
        if isinstance(self.cell, nn.LSTMCell):
            state = (state, state)
        for row in rows:
            state = self.cell(row, state)
        return self.head(state[0] if isinstance(state, tuple) else state)


class Tied(nn.Module):
    """One layer, eight times."""

    def __init__(self, width=256):
        super().__init__()
        self.begin = nn.Linear(784, width)
        self.layer = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, 10)

    def forward(self, x):
        injected = self.begin(x.flatten(1))
        z = torch.tanh(injected)
        for _ in range(8):
            z = self.norm(torch.tanh(self.layer(z) + injected))
        return self.head(z)


class Tokens(nn.Module):
    """49 pieces of 4 x 4 pixels, blocks beside which they go on, and their mean."""

    def __init__(self, width, *blocks):
        super().__init__()
        self.pieces = nn.Conv2d(1, width, 4, 4)
        self.blocks = nn.ModuleList(blocks)
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, 10)

    def forward(self, x):
        x = self.pieces(x).flatten(2).transpose(1, 2)
        for block in self.blocks:
            x = x + block(x)
        return self.head(self.norm(x).mean(1))


class SpatialGate(nn.Module):
    """gMLP's."""

    def __init__(self, width, tokens=49):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.begin = nn.Linear(width, 4 * width)
        self.norm_of_gate = nn.LayerNorm(2 * width)
        self.mix = nn.Conv1d(tokens, tokens, 1)
        self.end = nn.Linear(2 * width, width)

    def forward(self, x):
        kept, gate = F.gelu(self.begin(self.norm(x))).chunk(2, -1)
        return self.end(kept * self.mix(self.norm_of_gate(gate)))


class LinearAttention(nn.Module):
    """Without a softmax: features of keys times values first."""

    def __init__(self, width, heads=4):
        super().__init__()
        self.heads = heads
        self.norm = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.end = nn.Linear(width, width)

    def forward(self, x):
        n, t, w = x.shape
        q, k, v = self.qkv(self.norm(x)).view(n, t, 3, self.heads, -1).unbind(2)
        q, k = F.elu(q) + 1, F.elu(k) + 1
        kv = torch.einsum("nthd,nthe->nhde", k, v)
        scale = 1 / (torch.einsum("nthd,nhd->nth", q, k.sum(1)) + 1e-6)
        y = torch.einsum("nthd,nhde,nth->nthe", q, kv, scale)
        return self.end(y.reshape(n, t, w))


class Feed(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layers = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 4 * width),
                                    nn.SiLU(), nn.Linear(4 * width, width))

    def forward(self, x):
        return self.layers(x)


class Perceiver(nn.Module):
    """Sixteen learned queries read all pixels, then each other."""

    def __init__(self, width=64, queries=16):
        super().__init__()
        self.queries = nn.Parameter(torch.randn(queries, width) * .02)
        self.places = nn.Parameter(torch.randn(784, width) * .02)
        self.pixel = nn.Linear(1, width)
        self.cross = nn.MultiheadAttention(width, 1, batch_first=True)
        self.norm = nn.LayerNorm(width)
        self.feed = Feed(width)
        self.own = nn.MultiheadAttention(width, 4, batch_first=True)
        self.head = nn.Linear(width, 10)

    def forward(self, x):
        pixels = self.pixel(x.flatten(1)[:, :, None]) + self.places
        z = self.queries.expand(x.shape[0], -1, -1)
        z = z + self.cross(z, pixels, pixels, need_weights=False)[0]
        z = z + self.feed(z)
        y = self.norm(z)
        z = z + self.own(y, y, y, need_weights=False)[0]
        return self.head((z + self.feed(z)).mean(1))


class Capsules(nn.Module):
    """Two rounds of routing by agreement."""

    def __init__(self):
        super().__init__()
        self.begin = nn.Conv2d(1, 64, 9)
        self.primary = nn.Conv2d(64, 64, 9, 2)
        self.weight = nn.Parameter(torch.randn(288, 10, 16, 8) * .05)

    @staticmethod
    def squash(x):
        squared = (x * x).sum(-1, keepdim=True)
        return x * squared / (1 + squared) / torch.sqrt(squared + 1e-8)

    def forward(self, x):
        x = self.primary(F.relu(self.begin(x)))
        u = self.squash(x.view(x.shape[0], 288, 8))
        votes = torch.einsum("ijab,nib->nija", self.weight, u)
        logits = x.new_zeros(1, 288, 10)
        for _ in range(2):
            v = self.squash((F.softmax(logits, -1)[..., None] * votes).sum(1))
            logits = logits + (votes * v[:, None]).sum(-1)
        return (v * v).sum(-1).sqrt() * 4


class Splines(nn.Module):
    """Sums of Gaussians of each input, as in Kolmogorov-Arnold networks."""

    def __init__(self, *widths, grid=8):
        super().__init__()
        self.register_buffer("centers", torch.linspace(-2, 2, grid))
        self.layers = nn.ModuleList(nn.Linear(a * grid, b) for a, b in
                                    zip(widths, widths[1:]))
        self.base = nn.ModuleList(nn.Linear(a, b) for a, b in
                                  zip(widths, widths[1:]))

    def forward(self, x):
        x = x.flatten(1)
        for layer, base in zip(self.layers, self.base):
            features = torch.exp(-((x[..., None] - self.centers) * 2) ** 2)
            x = layer(features.flatten(1)) + base(F.silu(x))
        return x


def gmlp(width):
    return Tokens(width, SpatialGate(width), SpatialGate(width))


def linear_attention(width):
    return Tokens(width, LinearAttention(width), Feed(width),
                  LinearAttention(width), Feed(width))
