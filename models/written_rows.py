"""Networks of products as people write them in PyTorch, for 1 x 28 x 28 images:
perceptrons, and those that see an image's rows or pieces one after the other."""

import math

import torch
from torch import nn
from torch.nn import functional as F

Chain = nn.Sequential


def perceptron(*widths, activation=nn.ReLU, norm=None, dropout=0.):
    layers, before = [nn.Flatten()], 784
    for width in widths:
        layers += [nn.Linear(before, width), *([norm(width)] if norm else []),
                   activation(), *([nn.Dropout(dropout)] if dropout else [])]
        before = width
    return Chain(*layers, nn.Linear(before, 10))


def heads_of(x, heads):
    batch, tokens, width = x.shape
    return x.view(batch, tokens, heads, width // heads).transpose(1, 2)


def joined(x):
    batch, heads, tokens, width = x.shape
    return x.transpose(1, 2).reshape(batch, tokens, heads * width)


class Block(nn.Module):
    """GPT's, with a mask where one is asked for."""

    def __init__(self, width, heads, tokens, is_causal=True):
        super().__init__()
        self.heads, self.is_causal = heads, is_causal
        self.norm, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.q, self.k, self.v, self.out = (nn.Linear(width, width)
                                            for _ in range(4))
        self.hidden = Chain(nn.Linear(width, 4 * width), nn.GELU(),
                            nn.Linear(4 * width, width))
        self.register_buffer("mask", torch.tril(torch.ones(tokens, tokens)).bool(),
                             persistent=False)

    def forward(self, x):
        y = self.norm(x)
        q, k, v = (heads_of(of(y), self.heads) for of in (self.q, self.k, self.v))
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        if self.is_causal:
            scores = scores.masked_fill(~self.mask, float("-inf"))
        x = x + self.out(joined(scores.softmax(-1) @ v))
        return x + self.hidden(self.norm2(x))


class Gpt(nn.Module):
    """Of the 28 rows of an image."""

    def __init__(self, width=128, heads=4, blocks=3):
        super().__init__()
        self.embed = nn.Linear(28, width)
        self.places = nn.Parameter(torch.randn(1, 28, width) * .02)
        self.blocks = Chain(*[Block(width, heads, 28) for _ in range(blocks)])
        self.norm, self.out = nn.LayerNorm(width), nn.Linear(width, 10)

    def forward(self, x):
        x = self.embed(x.squeeze(1)) + self.places
        return self.out(self.norm(self.blocks(x))[:, -1])


class RmsNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * self.weight


class LlamaBlock(nn.Module):
    def __init__(self, width, heads, tokens):
        super().__init__()
        self.heads = heads
        self.norm, self.norm2 = RmsNorm(width), RmsNorm(width)
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        self.gate, self.up = (nn.Linear(width, 3 * width, bias=False)
                              for _ in range(2))
        self.down = nn.Linear(3 * width, width, bias=False)
        each = width // heads
        angles = torch.outer(torch.arange(float(tokens)),
                             1e4 ** -(torch.arange(0, each, 2) / each))
        self.register_buffer("cos", angles.cos(), persistent=False)
        self.register_buffer("sin", angles.sin(), persistent=False)

    def turned(self, x):
        a, b = x.chunk(2, -1)
        return torch.cat([a * self.cos - b * self.sin,
                          b * self.cos + a * self.sin], -1)

    def forward(self, x):
        q, k, v = (heads_of(part, self.heads)
                   for part in self.qkv(self.norm(x)).chunk(3, -1))
        y = F.scaled_dot_product_attention(self.turned(q), self.turned(k), v)
        x = x + self.out(joined(y))
        y = self.norm2(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Llama(nn.Module):
    """Of 49 pieces of 4 x 4 pixels."""

    def __init__(self, width=96, heads=6, blocks=2):
        super().__init__()
        self.embed = nn.Conv2d(1, width, 4, 4)
        self.blocks = Chain(*[LlamaBlock(width, heads, 49) for _ in range(blocks)])
        self.norm, self.out = RmsNorm(width), nn.Linear(width, 10)

    def forward(self, x):
        x = self.embed(x).flatten(2).transpose(1, 2)
        return self.out(self.norm(self.blocks(x)).mean(1))


class Swin(nn.Module):
    """Attention in squares of 7 x 7 pieces, which move for the second block."""

    def __init__(self, width=48, heads=3):
        super().__init__()
        self.embed = nn.Conv2d(1, width, 2, 2)
        self.first, self.second = (Block(width, heads, 49, is_causal=False)
                                   for _ in range(2))
        self.norm, self.out = nn.LayerNorm(width), nn.Linear(width, 10)

    @staticmethod
    def in_squares(x, block):
        batch, height, wide, width = x.shape
        x = x.view(batch, 2, 7, 2, 7, width).transpose(2, 3).reshape(-1, 49, width)
        x = block(x).view(batch, 2, 2, 7, 7, width)
        return x.transpose(2, 3).reshape(batch, height, wide, width)

    def forward(self, x):
        x = self.in_squares(self.embed(x).permute(0, 2, 3, 1), self.first)
        x = self.in_squares(torch.roll(x, (-3, -3), (1, 2)), self.second)
        x = torch.roll(x, (3, 3), (1, 2))
        return self.out(self.norm(x).mean((1, 2)))


class Encoder(nn.Module):
    """torch.nn's own encoder, over rows."""

    def __init__(self, width=64):
        super().__init__()
        self.embed = nn.Linear(28, width)
        layer = nn.TransformerEncoderLayer(width, 4, 128, 0.1, batch_first=True,
                                           activation="gelu")
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.out = nn.Linear(width, 10)

    def forward(self, x):
        return self.out(self.layers(self.embed(x.squeeze(1))).mean(1))


class ClassToken(nn.Module):
    """A ViT of torch.nn's own encoder: 49 pieces of 4 x 4 pixels and a token
    that becomes the class."""

    def __init__(self, width, heads, layers):
        super().__init__()
        self.pieces = nn.Conv2d(1, width, 4, 4)
        self.token = nn.Parameter(torch.zeros(1, 1, width))
        self.places = nn.Parameter(torch.randn(1, 50, width) * .02)
        layer = nn.TransformerEncoderLayer(width, heads, 4 * width, .1, "gelu",
                                           batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers,
                                             enable_nested_tensor=False)
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, 10)

    def forward(self, x):
        x = self.pieces(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(x.shape[0], -1, -1), x], 1) + self.places
        return self.head(self.norm(self.encoder(x))[:, 0])


class CausalConvolutions(nn.Module):
    def __init__(self, width=64, layers=4):
        super().__init__()
        self.layers = nn.ModuleList(
            nn.Conv1d(width if i else 28, width, 3, dilation=2 ** i)
            for i in range(layers))
        self.out = nn.Linear(width, 10)

    def forward(self, x):
        x = x.squeeze(1)
        for i, layer in enumerate(self.layers):
            y = F.relu(layer(F.pad(x, (2 * 2 ** i, 0))))
            x = x + y if i else y
        return self.out(x[:, :, -1])


class Embedded(nn.Module):
    """Means of 4 x 4 pixels as words."""

    def __init__(self):
        super().__init__()
        self.words, self.hidden = nn.Embedding(256, 32), nn.Linear(49 * 32, 128)
        self.out = nn.Linear(128, 10)

    def forward(self, x):
        words = (F.avg_pool2d(x, 4) * 255).long().flatten(1)
        return self.out(F.relu(self.hidden(self.words(words).flatten(1))))


class Highway(nn.Module):
    def __init__(self, width=128, layers=6):
        super().__init__()
        self.first, self.out = nn.Linear(784, width), nn.Linear(width, 10)
        self.hidden, self.gates = (
            nn.ModuleList(nn.Linear(width, width) for _ in range(layers))
            for _ in range(2))

    def forward(self, x):
        x = self.first(x.flatten(1))
        for hidden, gate in zip(self.hidden, self.gates):
            open_by = torch.sigmoid(gate(x))
            x = open_by * torch.tanh(hidden(x)) + (1 - open_by) * x
        return self.out(x)


class Experts(nn.Module):
    """All of them, weighted."""

    def __init__(self, experts=8, width=64):
        super().__init__()
        self.first = nn.Parameter(torch.randn(experts, 784, width) * .03)
        self.second = nn.Parameter(torch.randn(experts, width, 10) * .1)
        self.gate = nn.Linear(784, experts)

    def forward(self, x):
        x = x.flatten(1)
        y = F.relu(torch.einsum("bi,eih->ebh", x, self.first))
        y = torch.einsum("ebh,eho->ebo", y, self.second)
        return (self.gate(x).softmax(-1).t().unsqueeze(-1) * y).sum(0)


class Maxout(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(784, 256 * 4), nn.Linear(256, 128 * 4)
        self.out = nn.Linear(128, 10)

    def forward(self, x):
        x = self.first(x.flatten(1)).view(-1, 256, 4).amax(-1)
        return self.out(self.second(x).view(-1, 128, 4).amax(-1))
