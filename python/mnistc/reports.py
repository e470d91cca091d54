"""What `mnistc --explain=json` and `app profile --json` say, as objects."""

from __future__ import annotations

import dataclasses
from typing import Any, Dict, List, Mapping, Optional, Type, TypeVar, get_args, get_type_hints


@dataclasses.dataclass(frozen=True)
class Node:
    """A node of the model."""

    node: str
    operator: str
    inputs: List[str]
    outputs: List[str]
    became: str
    steps: List[int]
    why: str = ""


@dataclasses.dataclass(frozen=True)
class Tensor:
    """Memory of the arena, from the step that writes it to the last that reads it."""

    name: str
    type: str
    offset: int
    bytes: int
    first: int
    last: int


@dataclasses.dataclass(frozen=True)
class Step:
    """A step of a plan. Times are estimated, in microseconds; `replaces` are
    numbers of `Explanation.frameworks`."""

    step: int
    name: str
    implementation: str
    runs_as: str
    result: str
    layout: str = ""
    flops: float = 0
    bytes: float = 0
    why: str = ""
    mma: str = ""
    schedule: str = ""
    stream: int = 0
    after: List[int] = dataclasses.field(default_factory=list)
    ops: str = ""
    nodes: List[str] = dataclasses.field(default_factory=list)
    estimated_start_us: float = 0
    estimated_us: float = 0
    roof_us: float = 0
    replaces: List[int] = dataclasses.field(default_factory=list)
    reads: List[int] = dataclasses.field(default_factory=list)
    results: List[Tensor] = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True)
class Plan:
    name: str
    flops: float
    bytes: float
    arena_bytes: int
    workspace_bytes: int
    nodes: List[Node]
    steps: List[Step]
    layout_reason: str = ""
    loss: str = ""
    streams: int = 1
    inputs: List[Tensor] = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True)
class Weight:
    """A tensor, and whether it is trained."""

    name: str
    type: str
    role: str
    why: str = ""


@dataclasses.dataclass(frozen=True)
class Explanation:
    target: str
    libraries: str
    precision: str
    constant_bytes: int
    plans: List[Plan]
    parameter_bytes: int = 0
    tensors: List[Weight] = dataclasses.field(default_factory=list)
    #: What the machine can do at best, and whether times are a model's.
    roof: Dict[str, Any] = dataclasses.field(default_factory=dict)
    #: What PyTorch, TensorFlow and MXNet call for an operator.
    frameworks: List[Dict[str, Any]] = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True)
class ProfileStep:
    name: str
    implementation: str
    ops: str
    nodes: str
    shape: str
    us: float
    flops: float
    bytes: float
    mma: str = ""
    schedule: str = ""
    start_us: float = 0


@dataclasses.dataclass(frozen=True)
class Profile:
    model: str
    plan: str
    device: str
    steps_us: float
    plan_us: float
    steps: List[ProfileStep]
    libraries: Dict[str, str] = dataclasses.field(default_factory=dict)
    threads: int = 0
    runs: int = 0


T = TypeVar("T")


def decoded(kind: Type[T], found: Mapping[str, Any]) -> T:
    """An object of what JSON has of its fields. What a newer mnistc adds is left
    out."""
    values: Dict[str, Any] = {}
    for name, hint in get_type_hints(kind).items():
        if name not in found:
            continue
        value, inner = found[name], element_of(hint)
        values[name] = [decoded(inner, each) for each in value] if inner else value
    return kind(**values)


def element_of(hint: Any) -> Optional[Type[Any]]:
    """The dataclass that a list is of."""
    inner = get_args(hint)[:1]
    return inner[0] if inner and dataclasses.is_dataclass(inner[0]) else None  # type: ignore
