"""Flags of the command line as values."""
from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

from tenfold.errors import InvalidArgument


@dataclass
class Options:
    path: str = ''                     # a model, or a folder of them
    shapes: dict[str, list[int]] = field(default_factory=dict)
    threads: int = field(default_factory=lambda: len(os.sched_getaffinity(0)))
    per_node: bool = False
    seconds: float = 0.2               # for a row: both sides together
    tolerance: float | None = None     # of the largest value of an output
    json: bool = False
    build: dict[str, Any] = field(default_factory=dict)   # options of tenfold.build()


def number(flag: str, text: str, kind: type, least: float) -> Any:
    try:
        value = kind(text)
    except ValueError:
        value = None
    if value is None or not value >= least:
        raise InvalidArgument(f'--{flag}={text}: expected a number of at least {least:g}')
    return value


def shapes_of(text: str) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for part in text.split(','):
        name, colon, extents = part.rpartition(':')
        try:
            found[name] = [int(e) for e in extents.split('x')] if extents != 'scalar' else []
        except ValueError:
            found[name] = [-1]
        if any(e < 0 for e in found[name]):
            raise InvalidArgument(f'--shapes={text}: expected NAME:1x3x224x224, several behind commas; a model of one input needs no name')
    return found


def parse(words: list[str]) -> Options:
    options = Options()
    for word in words:
        name, _, value = word.removeprefix('--').partition('=')
        if not word.startswith('--'):
            if options.path:
                raise InvalidArgument(f'one model or folder is compared with ONNX Runtime, not {options.path!r} and {word!r}')
            options.path = word
        elif name == 'to':
            if value != 'onnxruntime':
                raise InvalidArgument(f"--to={value}: expected 'onnxruntime'")
        elif name == 'shapes':
            options.shapes = shapes_of(value)
        elif name == 'threads':
            options.threads = number(name, value, int, 1)
        elif name == 'per-node':
            options.per_node = True
        elif name == 'seconds':
            options.seconds = number(name, value, float, 0.01)
        elif name == 'tolerance':
            options.tolerance = number(name, value, float, 0)
        elif name == 'json':
            options.json = True
        elif name == 'noTF32':
            options.build['tf32'] = False
        elif name == 'builderOptimizationLevel':
            options.build['optimization_level'] = number(name, value, int, 0)
        else:
            raise InvalidArgument(f'--{name} is not taken beside --to=onnxruntime: --shapes, --threads, --noTF32 and '
                                  '--builderOptimizationLevel are')
    if not options.path:
        raise InvalidArgument('a model, or a folder of models, is missing: tenfold compare MODEL --to=onnxruntime')
    return options
