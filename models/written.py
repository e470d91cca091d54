"""Networks that are written in PyTorch and exported: written-gpt and others.

networks.py and the random networks are data that every framework builds; these
are modules, as users have them, and reach the compiler through PyTorch's exporter.
"""

import copy
import dataclasses
import functools
import logging
import warnings
from collections.abc import Callable

import torch
import written_backbones as backbones
import written_images as images
import written_pools as pools
import written_recurrent as recurrent
import written_rows as rows
import written_sets as sets
from networks import ADAM, ADAMW, MOMENTUM, SGD
from torch import nn
from torch.nn import functional as F


@dataclasses.dataclass(frozen=True)
class Written:
    make: Callable[[], nn.Module]
    train: str
    batch: int = 64
    input: tuple = (1, 28, 28)

    def build(self, with_dropout):
        torch.manual_seed(1)
        module = self.make()
        return module if with_dropout else without_dropout(module)

    @property
    def has_windows(self):
        return any(isinstance(each, nn.Conv2d) for each in self.make().modules())

    def export(self, path, with_dropout, trains=True):
        """In training mode, which leaves batch norms and dropout as they are, or to
        infer."""
        warnings.filterwarnings("ignore")
        logging.getLogger("torch.onnx").setLevel(logging.ERROR)
        batch = {0: "N"}
        mode = torch.onnx.TrainingMode
        torch.onnx.export(
            self.build(with_dropout).train(trains), (torch.zeros(2, *self.input),),
            str(path), dynamo=False, opset_version=17,
            training=mode.TRAINING if trains else mode.EVAL,
            do_constant_folding=not trains,
            input_names=["input"], output_names=["logits"],
            dynamic_axes={"input": batch, "logits": batch})


def without_dropout(module):
    module = copy.deepcopy(module)
    for each in module.modules():
        if isinstance(each, nn.Dropout):
            each.p = 0.
        if isinstance(each, nn.MultiheadAttention):
            each.dropout = 0.
        if isinstance(each, nn.TransformerEncoderLayer):
            each.activation = F.gelu  # which a copy loses
    return module


def of(make, *args, **options):
    return functools.partial(make, *args, **options)


WRITTEN = {
    "resnet18": Written(of(images.resnet18, 64), MOMENTUM),
    "resnet18-16": Written(of(images.resnet18, 16), MOMENTUM, 128),
    "bottlenecks": Written(images.resnet_of_bottlenecks, ADAMW),
    "vgg": Written(images.vgg, ADAM),
    "squeezenet": Written(images.squeezenet, ADAM),
    "nin": Written(images.network_in_network, MOMENTUM, 128),
    "efficientnet": Written(images.efficientnet, ADAMW),
    "unet": Written(of(images.UNet, "nearest"), ADAM, 32),
    "unet-bilinear": Written(of(images.UNet, "bilinear"), ADAM, 32),
    "convnext": Written(images.ConvNeXt, ADAMW),
    "down-up": Written(images.DownAndUp, ADAM),
    "pyramid": Written(images.PyramidOfPools, ADAM),
    "keras-guide": Written(images.keras_guide, ADAM, 128),
    "ensemble": Written(images.ensemble_member, ADAM),
    "prelu": Written(images.prelu, MOMENTUM),
    "norms": Written(images.other_norms, ADAM),
    "resnext": Written(images.resnext, MOMENTUM),
    "pixel-shuffle": Written(images.pixel_shuffle, ADAM),
    "volumes": Written(images.volumes, ADAM),
    "signals": Written(images.signals, ADAM),
    "gpt": Written(rows.Gpt, ADAMW),
    "llama": Written(rows.Llama, ADAMW),
    "swin": Written(rows.Swin, ADAMW),
    "encoder": Written(rows.Encoder, ADAMW),
    "vit": Written(of(rows.ClassToken, 128, 4, 4), ADAMW),
    "vit-wide": Written(of(rows.ClassToken, 384, 6, 2), ADAMW, 128),
    "causal": Written(rows.CausalConvolutions, ADAM),
    "embedded": Written(rows.Embedded, ADAM),
    "highway": Written(rows.Highway, ADAM),
    "experts": Written(rows.Experts, ADAM),
    "maxout": Written(rows.Maxout, MOMENTUM),
    "densenet": Written(backbones.densenet, MOMENTUM),
    "shufflenet": Written(backbones.shufflenet, MOMENTUM),
    "convmixer": Written(backbones.convmixer, ADAMW),
    "mobilenet-v3": Written(backbones.mobilenet_v3, ADAM),
    "repvgg": Written(backbones.repvgg, MOMENTUM),
    "res2net": Written(backbones.res2net, MOMENTUM),
    "cbam": Written(backbones.cbam, ADAM),
    "inception": Written(backbones.inception, MOMENTUM),
    "rnn": Written(of(recurrent.Recurrent, nn.RNNCell), ADAM),
    "gru": Written(of(recurrent.Recurrent, nn.GRUCell), ADAM),
    "lstm": Written(of(recurrent.Recurrent, nn.LSTMCell), ADAM),
    "tied": Written(recurrent.Tied, ADAM),
    "gmlp": Written(of(recurrent.gmlp, 64), ADAMW),
    "linear-attention": Written(of(recurrent.linear_attention, 64), ADAMW),
    "perceiver": Written(recurrent.Perceiver, ADAMW),
    "capsules": Written(recurrent.Capsules, ADAM),
    "splines": Written(of(recurrent.Splines, 784, 64, 10), ADAM),
    "siamese": Written(sets.Siamese, ADAM),
    "queries": Written(sets.Queries, ADAMW),
    "both-ways": Written(sets.BothWays, ADAM),
    "stacked": Written(sets.Stacked, ADAM),
    "coordinates": Written(sets.Coordinates, ADAM),
    "fourier": Written(sets.Fourier, ADAMW + " --freeze=*_cos,*_sin"),
    "points": Written(sets.Points, ADAM),
    "relations": Written(sets.Relations, ADAM),
    "graph": Written(sets.Graph, ADAM + " --freeze=edges"),
    "activations": Written(sets.Activations, ADAM),
    "prototypes": Written(sets.Prototypes,
                          MOMENTUM + " --train-only=features*,prototypes"),
    "cosines": Written(sets.Cosines, ADAM),
    "statistics": Written(pools.Statistics, ADAM),
    "generalized-mean": Written(pools.GeneralizedMean,
                                ADAM + " --train-only=features*,head*,power"),
    "haar": Written(pools.Haar, ADAM),
    "unbiased": Written(pools.Unbiased, MOMENTUM),
    "long-convolutions": Written(pools.LongConvolutions, ADAM),
    "dynamic-filters": Written(pools.DynamicFilters, ADAM),
    "mixture": Written(pools.Mixture, ADAM),
    "standardized": Written(pools.Standardized, MOMENTUM),
    "flow": Written(pools.Flow, ADAM),
    "albert": Written(pools.Albert, ADAMW),
    "couplings": Written(pools.Couplings, MOMENTUM),
    "softmax": Written(rows.perceptron, SGD),
    "mlp-tiny": Written(of(rows.perceptron, 32), SGD, 16),
    "mlp-wide": Written(of(rows.perceptron, 2048, 2048), SGD, 256),
    "mlp-deep": Written(of(rows.perceptron, *[64] * 12, activation=nn.Tanh), ADAM),
    "mlp-norm": Written(of(rows.perceptron, 512, 512, norm=nn.BatchNorm1d,
                           dropout=.2), ADAM, 128),
    "mlp-dropout": Written(of(rows.perceptron, 512, 512, dropout=.2), ADAM, 128),
    "mlp-gelu": Written(of(rows.perceptron, 1024, 1024, 1024, activation=nn.GELU),
                        ADAMW, 1024),
}
