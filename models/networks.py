"""The example networks, as data that every framework can build.

A network is a chain of layers; a layer is its kind and its numbers. Shapes are
those of one sample, without the batch. models/make.py writes a network as ONNX,
benchmarks/torch_peer.py and benchmarks/jax_peer.py build the same one. A layer
is called by its name, or else by its place: "4", or "4.body.0" inside a
residual.
"""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Network:
    layers: list
    train: str            # options of mnistc and of the program
    input: tuple = (1, 28, 28)
    draw: str = "torch"   # who draws the weights: torch, mxnet or keras
    opset: int = 20
    batch: int = 64


@dataclasses.dataclass(frozen=True)
class Layer:
    kind: str
    args: dict

    def __getattr__(self, name):
        try:
            return self.args[name]
        except KeyError:
            raise AttributeError(f"'{self.kind}' has no '{name}'") from None


def conv(channels, kernel, pad=0, stride=1, groups=1, bias=True, dilation=1,
         name=""):
    """`kernel` and `pad` are one number, or those of height and width."""
    return Layer("conv", {"channels": channels, "kernel": pair(kernel),
                          "pad": pair(pad), "stride": stride, "groups": groups,
                          "bias": bias, "dilation": dilation, "name": name})


def pair(value):
    return value if isinstance(value, tuple) else (value, value)


def conv_transpose(channels, kernel, stride):
    """Without padding: (size - 1) x stride + kernel pixels."""
    return Layer("conv_transpose", {"channels": channels, "kernel": kernel,
                                    "stride": stride})


def dense(features, name=""):
    """Of the last dimension."""
    return Layer("dense", {"features": features, "name": name})


def dropout(ratio, name=""):
    return Layer("dropout", {"ratio": ratio, "name": name})


def pool(size=2):
    return Layer("max_pool", {"size": size})


def average_pool(size=2):
    return Layer("average_pool", {"size": size})


def transpose(*order):
    """Of the dimensions of a sample, counted from 1; 0 is the batch."""
    return Layer("transpose", {"order": order})


def residual(*body, shortcut=()):
    return Layer("residual", {"body": list(body), "shortcut": list(shortcut)})


def concat(*branches):
    """The channels of each branch, which is a list of layers; an empty one is
    the input."""
    return Layer("concat", {"branches": [list(branch) for branch in branches]})


def gate(*body):
    """The input, times what the body makes of it for each channel."""
    return Layer("gate", {"body": list(body)})


def shuffle(groups):
    """The channels in another order: the first of each group, the second, ..."""
    return Layer("shuffle", {"groups": groups})


def group_norm(groups):
    """As many groups as channels are an instance norm."""
    return Layer("group_norm", {"groups": groups})


def attention(heads):
    return Layer("attention", {"heads": heads})


def plain(kind):
    return Layer(kind, {})


RELU, RELU6, TANH, GELU = map(plain, ("relu", "relu6", "tanh", "gelu"))
SILU, HARD_SWISH, LEAKY_RELU, SIGMOID = map(
    plain, ("silu", "hard_swish", "leaky_relu", "sigmoid"))
FLATTEN, BATCH_NORM, LAYER_NORM = map(plain, ("flatten", "batch_norm",
                                              "layer_norm"))
SOFTMAX, LOG_SOFTMAX = map(plain, ("softmax", "log_softmax"))
GLOBAL_POOL = plain("global_pool")  # the mean of each channel
CHANNEL_MEANS = plain("channel_means")  # the same, as an image of one pixel
TOKENS = plain("tokens")            # channels, height, width -> tokens, channels
CLASS_TOKEN, POSITIONS = map(plain, ("class_token", "positions"))
FIRST_TOKEN, MEAN_TOKEN = map(plain, ("first_token", "mean_token"))


def simple_cnn():
    return [conv(32, 3, pad=1, name="conv1"), RELU, pool(),
            conv(64, 3, pad=1, name="conv2"), RELU, pool(), FLATTEN,
            dense(128, name="fc1"), RELU, dense(10, name="fc2")]


def conv_norm(activation, *args, **options):
    return [conv(*args, bias=False, **options), BATCH_NORM,
            *([activation] if activation else [])]


def residual_network():
    first = conv_norm(RELU, 16, 3, pad=1)
    same = residual(*conv_norm(RELU, 16, 3, pad=1),
                    *conv_norm(None, 16, 3, pad=1))
    smaller = residual(*conv_norm(RELU, 32, 3, pad=1, stride=2),
                       *conv_norm(None, 32, 3, pad=1),
                       shortcut=conv_norm(None, 32, 1, stride=2))
    depthwise = residual(*conv_norm(RELU, 32, 3, pad=1, groups=32),
                         *conv_norm(None, 32, 1))
    return [*first, same, RELU, smaller, RELU, depthwise, RELU, GLOBAL_POOL,
            dense(10)]


def seven_convolutions():
    def stage(channels):
        return [conv(channels, 3), RELU, BATCH_NORM,
                conv(channels, 3), RELU, BATCH_NORM,
                conv(channels, 5, pad=2, stride=2), RELU, BATCH_NORM,
                dropout(0.4)]
    return [*stage(32), *stage(64), conv(128, 4), RELU, BATCH_NORM, FLATTEN,
            dropout(0.4), dense(10)]


def mobile_network():
    def separable(before, after, stride):
        return [*conv_norm(RELU6, before, 3, pad=1, stride=stride,
                           groups=before), *conv_norm(RELU6, after, 1)]
    return [*conv_norm(RELU6, 32, 3, pad=1, stride=2), *separable(32, 64, 1),
            *separable(64, 128, 2), *separable(128, 128, 1), GLOBAL_POOL,
            dense(10)]


def mixer(layers, tokens=16, width=64, token_width=32, channel_width=128):
    def block():
        return [residual(LAYER_NORM, transpose(2, 1), dense(token_width), GELU,
                         dense(tokens), transpose(2, 1)),
                residual(LAYER_NORM, dense(channel_width), GELU, dense(width))]
    blocks = [layer for _ in range(layers) for layer in block()]
    return [conv(width, 7, stride=7), TOKENS, *blocks, LAYER_NORM, MEAN_TOKEN,
            dense(10)]


def vision_transformer(layers, width=64, heads=4, hidden=128):
    def block():
        return [residual(LAYER_NORM, attention(heads)),
                residual(LAYER_NORM, dense(hidden), GELU, dense(width))]
    blocks = [layer for _ in range(layers) for layer in block()]
    return [conv(width, 7, stride=7), TOKENS, CLASS_TOKEN, POSITIONS, *blocks,
            LAYER_NORM, FIRST_TOKEN, dense(10)]


def wide_network():
    return [*conv_norm(RELU, 64, 3, pad=1), pool(),
            *conv_norm(RELU, 256, 3, pad=1), *conv_norm(RELU, 256, 3, pad=1),
            pool(), *conv_norm(RELU, 256, 3, pad=1), GLOBAL_POOL, dense(10)]


SGD = "--optimizer=sgd --lr=0.01"
MOMENTUM = "--optimizer=momentum --momentum=0.9 --lr=0.01"
ADAM = "--optimizer=adam --lr=0.001"
ADAMW = "--optimizer=adamw --weight-decay=0.01 --lr=0.001"

# The five of tutorials, which models/recipe.py trains.
TUTORIALS = {
    "mxnet-simplecnn": Network(simple_cnn(), SGD, draw="mxnet", opset=17),
    "mxnet-mlp": Network(
        [FLATTEN, dense(256, name="dense0"), RELU, dense(10, name="dense1")],
        "--optimizer=sgd --lr=0.1", draw="mxnet", opset=17, batch=256),
    "pytorch-simplecnn": Network([*simple_cnn(), LOG_SOFTMAX], MOMENTUM,
                                 opset=17),
    "pytorch-net": Network(
        [conv(32, 3, name="conv1"), RELU, conv(64, 3, name="conv2"), RELU,
         pool(), dropout(0.25, name="dropout1"), FLATTEN,
         dense(128, name="fc1"), RELU, dropout(0.5, name="dropout2"),
         dense(10, name="fc2"), LOG_SOFTMAX], ADAM, opset=17),
    # Keras keeps images as height x width x channels, also when it flattens.
    "keras-cnn": Network(
        [transpose(3, 1, 2), conv(32, 3, name="conv2d"), RELU, pool(),
         transpose(2, 3, 1), FLATTEN, dense(64, name="dense"), RELU,
         dense(10, name="dense_1"), SOFTMAX], "--optimizer=adam --convention=keras --lr=0.001",
        input=(28, 28, 1), draw="keras", opset=17),
}
# Of other kinds, to measure.
OTHERS = {
    "lenet5": Network(
        [conv(6, 5, pad=2), TANH, average_pool(), conv(16, 5), TANH,
         average_pool(), FLATTEN, dense(120), TANH, dense(84), TANH, dense(10)],
        MOMENTUM),
    "residual": Network(residual_network(), ADAMW),
    "seven-convolutions": Network(seven_convolutions(), ADAM),
    "mobile": Network(mobile_network(), ADAMW),
    "mlp5": Network(
        [FLATTEN, dense(512), RELU, dense(256), RELU, dense(128), RELU,
         dense(64), RELU, dense(10)], ADAM),
    "mixer": Network(mixer(2), ADAMW),
    "vit": Network(vision_transformer(2), ADAMW),
    "wide": Network(wide_network(), MOMENTUM),
}
NETWORKS = {**TUTORIALS, **OTHERS}
