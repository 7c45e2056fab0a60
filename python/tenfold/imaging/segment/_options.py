"""Flags of the command line as values. What they mean together is checked where it is known: image, network, files."""
from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np

from tenfold.errors import InvalidArgument

OUTPUT_TYPES = ('uint8', 'uint16', 'int16', 'int32', 'uint32', 'float16', 'float32')
UNITS = {'': 1, 'K': 1 << 10, 'M': 1 << 20, 'G': 1 << 30, 'T': 1 << 40}


def refuse_flag(flag: str, text: str, expected: str) -> NoReturn:
    raise InvalidArgument(f'--{flag}={text}: expected {expected}')


@dataclass
class Options:
    models: list[tuple[str, bool]] = field(default_factory=list)   # path, whether it is a plan
    devices: list[str | None] = field(default_factory=lambda: [None])   # None: the first GPU, else the CPU
    threads: int = 0                                               # all
    build: list[str] = field(default_factory=list)                 # flags of exec
    plugins: list[str] = field(default_factory=list)               # libraries among them
    input: str = ''
    axes: str | None = None
    channel: Any = None
    time: str | None = None
    level: int = 0
    scene: int = 0
    normalize: list[str] = field(default_factory=list)
    nan: str = 'fail'
    roi: list[int] | None = None
    overlap: list[float] = field(default_factory=lambda: [0.25])
    mode: str = 'gaussian'
    halo: list[int] | None = None
    placement: str = 'fixed_step'
    sigma_scale: list[float] = field(default_factory=lambda: [0.125])
    padding: str = 'constant'
    cval: float = 0.0
    batch: int = 4
    sweep: str = 'auto'
    mirror: list[int] = field(default_factory=list)
    memory: int | None = None
    grid: list[int] | None = None
    grid_mode: list[str] = field(default_factory=lambda: ['linear'])
    output: str = ''
    activation: str = 'none'
    reduce: str = 'none'
    threshold: float = 0.5
    output_type: str | None = None
    compress: str | None = None
    chunks: list[int] | None = None
    overwrite: bool = False
    resume: bool = False
    preview: str | None = None
    progress: str = 'auto'
    json: bool = False
    given: dict[str, str] = field(default_factory=dict)   # flags as they were written; for messages, and to resume


def whole(flag: str, text: str, minimum: int = 0) -> int:
    try:
        value = int(text)
    except ValueError:
        refuse_flag(flag, text, 'a whole number')
    if value < minimum:
        refuse_flag(flag, text, f'at least {minimum}')
    return value


def number(flag: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        refuse_flag(flag, text, 'a number')
    if not math.isfinite(value):
        refuse_flag(flag, text, 'a finite number')
    return value


def numbers(flag: str, text: str, one: Callable[..., Any], *rest: Any) -> list[Any]:
    return [one(flag, part, *rest) for part in text.split(',')]


def choice(flag: str, text: str, names: tuple[str, ...]) -> str:
    if text not in names:
        refuse_flag(flag, text, 'one of ' + ', '.join(names))
    return text


def overlaps(flag: str, text: str) -> list[float]:
    found = numbers(flag, text, number)
    if any(not 0 <= one < 1 for one in found):
        refuse_flag(flag, text, 'a part of the window, at least 0 and below 1')
    return found


def bytes_of(flag: str, text: str) -> int:
    digits, unit = (text[:-1], text[-1].upper()) if text[-1:].isalpha() else (text, '')
    if unit not in UNITS or number(flag, digits) <= 0:
        refuse_flag(flag, text, 'bytes, as 4G or 512M')
    return int(number(flag, digits) * UNITS[unit])


def set_reduce(options: Options, flag: str, text: str) -> None:
    name, _, value = text.partition(':')
    options.reduce = choice(flag, name, ('none', 'argmax', 'threshold'))
    if value and name != 'threshold':
        refuse_flag(flag, text, f'{name} without a number')
    options.threshold = number(flag, value) if value else 0.5


def set_devices(options: Options, flag: str, text: str) -> None:
    """One name, or several that share the rows; exec knows names, and refuses others."""
    names = _text(flag, text).split(',')
    if len(names) > 1 and not all(re.fullmatch(r'cpu|cuda:[0-9]+', name) for name in names):
        refuse_flag(flag, text, 'cpu and cuda:N, as cuda:0,cuda:1 or cuda:0,cpu')
    options.devices = list(names)


def set_channel(options: Options, flag: str, text: str) -> None:
    """One channel or several; the network's axis of channels stays in any case."""
    options.channel = numbers(flag, text, whole)


def _field(name: str, read: Callable[..., Any], *rest: Any) -> Callable[[Options, str, str], None]:
    return lambda options, flag, text: setattr(options, name, read(flag, text, *rest))


def _text(flag: str, text: str) -> str:
    if not text:
        refuse_flag(flag, text, 'a value')
    return text


def add_build(options: Options, flag: str, text: str) -> None:
    """--build=--fp16: what `tenfold segment --fp16` becomes, for the exec that builds."""
    name, equals, value = text.removeprefix('--').partition('=')
    if not text.startswith('--') or not name:
        refuse_flag(flag, text, 'a flag of tenfold exec, as --build=--fp16')
    options.build.append(text)
    if name == 'plugins':
        options.plugins.append(value)
    options.given[name] = f'{options.given[name]}|{value}' if name in options.given else value


FLAGS: dict[str, Callable[[Options, str, str], None]] = {
    'onnx': lambda options, flag, text: options.models.append((_text(flag, text), False)),
    'loadEngine': lambda options, flag, text: options.models.append((_text(flag, text), True)),
    'device': set_devices,
    'threads': _field('threads', whole, 1), 'build': add_build,
    'input': _field('input', _text), 'output': _field('output', _text),
    'axes': _field('axes', _text), 'channel': set_channel, 'time': _field('time', _text),
    'level': _field('level', whole), 'scene': _field('scene', whole),
    'normalize': lambda options, flag, text: options.normalize.extend(text.split('|')),
    'nan': _field('nan', choice, ('fail', 'zero', 'pass')),
    'roi': _field('roi', numbers, whole), 'overlap': _field('overlap', overlaps),
    'mode': _field('mode', choice, ('constant', 'gaussian', 'halo')), 'halo': _field('halo', numbers, whole),
    'placement': _field('placement', choice, ('fixed_step', 'even')), 'sigmaScale': _field('sigma_scale', numbers, number),
    'padding': _field('padding', choice, ('constant', 'reflect', 'replicate', 'circular')), 'cval': _field('cval', number),
    'swBatch': _field('batch', whole, 1), 'sweep': _field('sweep', choice, ('auto', 'z', 'y', 'x')),
    'mirror': _field('mirror', numbers, whole), 'memory': _field('memory', bytes_of),
    'grid': _field('grid', numbers, whole, 1), 'gridMode': _field('grid_mode', numbers, choice, ('linear', 'nearest')),
    'activation': _field('activation', choice, ('none', 'sigmoid', 'softmax')), 'reduce': set_reduce,
    'outputType': _field('output_type', choice, OUTPUT_TYPES), 'compress': _field('compress', _text),
    'chunks': _field('chunks', numbers, whole, 1), 'preview': _field('preview', _text),
    'progress': _field('progress', choice, ('auto', 'none', 'bar')),
}
SWITCHES = ('overwrite', 'resume', 'json')
REPEATABLE = ('onnx', 'loadEngine', 'normalize')


def parse(words: list[str]) -> Options:
    options = Options()
    for word in words:
        name, equals, text = word.removeprefix('--').partition('=')
        known = name in FLAGS or name in SWITCHES
        if not word.startswith('--') or not known or bool(equals) == (name in SWITCHES):
            raise InvalidArgument(f'{word}: no flag of tenfold segment; tenfold segment --help lists them')
        if name in SWITCHES:
            setattr(options, name, True)
        else:
            FLAGS[name](options, name, text)
        if name != 'build':
            options.given[name] = f'{options.given[name]}|{text}' if name in REPEATABLE and name in options.given else text
    for name, there in (('onnx=MODEL', options.models), ('input=PATH', options.input), ('output=PATH', options.output)):
        if not there:
            raise InvalidArgument(f'--{name} is missing' + (', or --loadEngine=PLAN' if name.startswith('onnx') else ''))
    if (options.mode == 'halo') != (options.halo is not None):
        raise InvalidArgument('--mode=halo and --halo=N need each other: the outer N voxels of a window do not count')
    if 'calib' in options.given and len(options.models) > 1:
        refuse_flag('calib', options.given['calib'], 'one --onnx: a cache is of one model')
    return options


def check_output_type(options: Options, dtype: np.dtype[Any], labels: int) -> np.dtype[Any]:
    """What is written, for results of `dtype` with values below `labels` where they are integers."""
    wanted = np.dtype(options.output_type) if options.output_type else dtype
    if dtype.kind == 'f' and wanted.kind != 'f':
        refuse_flag('outputType', str(wanted), 'float16 or float32, or labels by --reduce=argmax or --reduce=threshold:T')
    if dtype.kind == 'u' and wanted.kind in 'ui' and labels - 1 > np.iinfo(wanted).max:
        refuse_flag('outputType', str(wanted), f'a type that holds labels to {labels - 1}')
    return wanted
