"""A network of models/networks.py in PyTorch, with the weights of its ONNX file.

Each way of running trains on data that are on the device: eager; one CUDA graph
for the whole step; torch.compile inside a CUDA graph of sixteen steps.
"""

import dataclasses

import onnx
import torch
from onnx import numpy_helper
from torch import nn
from torch.nn import functional as F

STEPS_PER_GRAPH = 16


class Function(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


class Residual(nn.Module):
    def __init__(self, body, shortcut):
        super().__init__()
        self.body, self.shortcut = body, shortcut

    def forward(self, x):
        return self.body(x) + self.shortcut(x)


class Concat(nn.Module):
    def __init__(self, branches):
        super().__init__()
        self.branches = nn.ModuleList(branches)

    def forward(self, x):
        return torch.cat([branch(x) for branch in self.branches], 1)


class Gate(nn.Module):
    def __init__(self, body):
        super().__init__()
        self.body = body

    def forward(self, x):
        return x * self.body(x)


class GroupNorm(nn.Module):
    """With the ONNX file's shapes of weight and bias."""

    def __init__(self, groups, channels):
        super().__init__()
        self.groups = groups
        self.weight = nn.Parameter(torch.ones(channels, 1, 1))
        self.bias = nn.Parameter(torch.zeros(channels, 1, 1))

    def forward(self, x):
        return F.group_norm(x, self.groups, self.weight.flatten(),
                            self.bias.flatten())


class ClassToken(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.token = nn.Parameter(torch.zeros(1, 1, width))

    def forward(self, x):
        return torch.cat([self.token.expand(len(x), -1, -1), x], 1)


class Positions(nn.Module):
    def __init__(self, tokens, width):
        super().__init__()
        self.table = nn.Parameter(torch.zeros(1, tokens, width))

    def forward(self, x):
        return x + self.table


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        batch, tokens, width = x.shape
        q, k, v = self.qkv(x).view(
            batch, tokens, 3, self.heads, width // self.heads).permute(
                2, 0, 3, 1, 4).unbind(0)
        y = F.scaled_dot_product_attention(q, k, v)
        return self.out(y.transpose(1, 2).reshape(batch, tokens, width))


def module_of(layer, shape):
    """The module of one layer, for samples of a shape."""
    functions = {
        "relu": F.relu, "tanh": torch.tanh, "gelu": F.gelu, "relu6": F.relu6,
        "silu": F.silu, "hard_swish": F.hardswish, "leaky_relu": F.leaky_relu,
        "sigmoid": torch.sigmoid,
        "channel_means": lambda x: x.mean((2, 3), keepdim=True),
        # The loss takes logits.
        "softmax": lambda x: x, "log_softmax": lambda x: x,
        "flatten": lambda x: x.flatten(1),
        "global_pool": lambda x: x.mean((2, 3)),
        "tokens": lambda x: x.flatten(2).transpose(1, 2),
        "first_token": lambda x: x[:, 0], "mean_token": lambda x: x.mean(1),
    }
    if layer.kind in functions:
        return Function(functions[layer.kind])
    makers = {
        "conv": lambda: nn.Conv2d(shape[0], layer.channels, layer.kernel,
                                  layer.stride, layer.pad, layer.dilation,
                                  groups=layer.groups, bias=layer.bias),
        "conv_transpose": lambda: nn.ConvTranspose2d(
            shape[0], layer.channels, layer.kernel, layer.stride),
        "dense": lambda: nn.Linear(shape[-1], layer.features),
        "dropout": lambda: nn.Dropout(layer.ratio),
        "max_pool": lambda: nn.MaxPool2d(layer.size),
        "average_pool": lambda: nn.AvgPool2d(layer.size),
        "batch_norm": lambda: (nn.BatchNorm1d if len(shape) == 1 else
                               nn.BatchNorm2d)(shape[0]),
        "group_norm": lambda: GroupNorm(layer.groups, shape[0]),
        "layer_norm": lambda: nn.LayerNorm(shape[-1]),
        "transpose": lambda: Function(lambda x: x.permute(0, *layer.order)),
        "class_token": lambda: ClassToken(shape[-1]),
        "positions": lambda: Positions(*shape),
        "shuffle": lambda: nn.ChannelShuffle(layer.groups),
        "concat": lambda: Concat([chain(branch, shape)
                                  for branch in layer.branches]),
        "gate": lambda: Gate(chain(layer.body, shape)),
        "attention": lambda: Attention(shape[-1], layer.heads),
        "residual": lambda: Residual(chain(layer.body, shape),
                                     chain(layer.shortcut, shape)),
    }
    return makers[layer.kind]()


def chain(layers, shape, with_dropout=True):
    """An nn.Sequential whose names are those of the ONNX file."""
    result = nn.Sequential()
    x = torch.zeros(2, *shape)
    for i, layer in enumerate(layers):
        if layer.kind == "dropout" and not with_dropout:
            continue
        module = module_of(layer, x.shape[1:])
        result.add_module(layer.args.get("name") or str(i), module)
        with torch.no_grad():
            x = module(x)
    return result


def load(module, path):
    """Every tensor of the file is one of the module, and every one is set."""
    left = {name: tensor for name, tensor in module.state_dict().items()
            if not name.endswith("num_batches_tracked")}
    for tensor in onnx.load(str(path)).graph.initializer:
        name = tensor.name.removesuffix("_transposed")
        if name not in left:
            continue  # a shape, an index, a ratio
        value = torch.from_numpy(numpy_helper.to_array(tensor).copy())
        target = left.pop(name)
        target.copy_(value if name == tensor.name else value.T)
    if left:
        raise SystemExit(f"error: expected {sorted(left)} in '{path}', got none")


def build(network, path, with_dropout):
    if hasattr(network, "build"):  # a module: the file is of its weights
        return network.build(with_dropout).train()
    module = chain(network.layers, network.input, with_dropout)
    for each in module.modules():
        if isinstance(each, (nn.BatchNorm1d, nn.BatchNorm2d)):
            each.reset_running_stats()
    load(module, path)
    return module.train()


def has_windows(network):
    if hasattr(network, "has_windows"):
        return network.has_windows
    return any(layer.kind == "conv" and layer.kernel != (layer.stride,) * 2
               for layer in network.layers)


def optimizer(train, parameters, device):
    """What the options of mnistc say."""
    option = dict(part.lstrip("-").split("=") for part in train.split())
    lr, kind = float(option["lr"]), option["optimizer"]
    on_gpu = device.type == "cuda"
    if kind in ("sgd", "momentum"):
        return torch.optim.SGD(parameters, lr=lr, fused=on_gpu,
                               momentum=float(option.get("momentum", 0)))
    decay = float(option.get("weight-decay", 0))
    make = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[kind]
    return make(parameters, lr=lr, weight_decay=decay, fused=on_gpu,
                capturable=on_gpu)


def set_precision(precision):
    allowed = precision != "fp32"
    torch.backends.cuda.matmul.allow_tf32 = allowed
    torch.backends.cudnn.allow_tf32 = allowed


class Trainer:
    """Trains on rows of `images`, in their order or as `order` has them."""

    is_compiled = False

    def __init__(self, case, data, with_dropout=True, channels_last=False,
                 element=torch.float32):
        self.images, self.labels = data[0].to(element), data[1]
        self.device, self.batch = self.images.device, case.batch
        set_precision(case.precision)
        torch.backends.cudnn.benchmark = True
        path = case.path if with_dropout else case.plain_path
        self.module = build(case.network, path, with_dropout).to(
            self.device, element)
        if channels_last:
            self.module.to(memory_format=torch.channels_last)
        self.optimizer = optimizer(case.train,
                                   self.module.parameters(), self.device)
        self.use_bf16 = case.precision == "bf16"
        self.loss = torch.compile(self.loss_of, dynamic=False) \
            if self.is_compiled else self.loss_of
        self.order = torch.arange(len(self.images), device=self.device)

    def loss_of(self, x, labels):
        with torch.autocast(self.device.type, torch.bfloat16, self.use_bf16,
                            cache_enabled=False):
            y = self.module(x)
        y = y.float() if self.use_bf16 else y
        return F.cross_entropy(y, labels)

    def step(self, rows):
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.loss(self.images.index_select(0, rows),
                         self.labels.index_select(0, rows))
        loss.backward()
        self.optimizer.step()
        return loss.detach()

    def losses(self, count):
        """Of the first steps, in the data's order."""
        return [self.step(rows).item()
                for rows in self.order.split(self.batch)[:count]]


    def steps_of(self, count):
        steps = len(self.images) // self.batch
        order = torch.randperm(len(self.images), device=self.device)
        for i in range(count):
            self.step(order[i % steps * self.batch:][:self.batch])
        return count


class Eager(Trainer):
    def prepare(self):
        self.run(8)

    def run(self, count):
        return self.steps_of(count)


class Graph(Trainer):
    """`steps` training steps, and the gathering of their rows, in a graph."""

    steps = 1

    def prepare(self):
        self.position = torch.zeros((), dtype=torch.int64, device=self.device)
        self.range = torch.arange(self.batch, device=self.device)
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                self.position.zero_()
                self.block()
        torch.cuda.current_stream().wait_stream(side)
        torch.cuda.synchronize()
        self.optimizer.zero_grad(set_to_none=True)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.block()
        self.run(2 * self.steps)

    def block(self):
        for _ in range(self.steps):
            self.step(self.order.index_select(0, self.range + self.position))
            self.position.add_(self.batch)

    def run(self, count):
        blocks = len(self.images) // (self.batch * self.steps)
        replays = -(-count // self.steps)
        for i in range(replays):
            if i % blocks == 0:
                self.order.copy_(torch.randperm(len(self.images),
                                                device=self.device))
                self.position.zero_()
            self.graph.replay()
        return replays * self.steps


class CompiledGraph(Graph):
    steps = STEPS_PER_GRAPH
    is_compiled = True


# Name: how to run, and whether images are N x H x W x C.
WAYS = {"eager": (Eager, False), "graph": (Graph, False),
        "graph, channels last": (Graph, True),
        "compile": (CompiledGraph, False),
        "compile, channels last": (CompiledGraph, True)}


class Peer:
    """One network and batch in one precision, in every way."""

    def __init__(self, case, data, device):
        self.case, self.device = case, torch.device(device)
        self.data = (torch.from_numpy(data[0]).to(self.device),
                     torch.from_numpy(data[1].astype("int64")).to(self.device))

    def versions(self):
        versions = {"PyTorch": torch.__version__}
        if self.device.type == "cuda":
            versions["cuDNN"] = str(torch.backends.cudnn.version() or "none")
        return versions

    def losses(self, count):
        return Eager(self.case, self.data, with_dropout=False).losses(count)

    def exact_losses(self, count):
        """In double precision: what all others are compared with."""
        exact = dataclasses.replace(self.case, precision="fp32")
        data = self.data[0][:count * self.case.batch], self.data[1]
        return Eager(exact, data, with_dropout=False,
                     element=torch.float64).losses(count)

    def ways(self):
        """Tensor cores prefer channels last; there is no graph on a CPU."""
        if self.device.type == "cpu":
            return ["eager"]
        is_image = has_windows(self.case.network)
        return [way for way, (_, channels_last) in WAYS.items()
                if not channels_last or
                (is_image and self.case.precision != "fp32")]

    def compile(self, way):
        """A trainer whose code torch.compile has written. Others may run beside it,
        so cuDNN chooses an algorithm without measuring; since it remembers what it
        chose for given parameters, they are others than the timed ones."""
        make, channels_last = WAYS[way]
        trainer = make(self.case, self.data, channels_last=channels_last)
        if make.is_compiled:
            torch.backends.cudnn.benchmark = False
            torch.backends.cudnn.deterministic = True
            trainer.steps_of(2)
            torch.backends.cudnn.deterministic = False
            torch.backends.cudnn.benchmark = True
        return trainer

    def wait(self):
        if self.device.type == "cuda":
            torch.cuda.synchronize()
