"""What both classes take alike: devices, backends, and arguments that torch alone needs."""
from __future__ import annotations

import functools
import logging
import warnings
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from tenfold.errors import InvalidArgument, Unsupported

_P = ParamSpec('_P')
_R = TypeVar('_R')
BACKENDS = ('torch', 'onnx', 'openvino')
_log = logging.getLogger('tenfold')


def build_options(device: Any, backend: str, options: dict[str, Any]) -> dict[str, Any]:
    """Options of the build: `model_kwargs` holds fields of tenfold.build, besides what torch's classes take."""
    if backend not in BACKENDS:
        raise InvalidArgument(f'backend is {backend!r}, expected one of {", ".join(BACKENDS)}')
    if backend != 'torch':
        _log.info("backend=%r is not looked at: Tenfold computes", backend)
    options = dict(options)
    types = {'float16': 'fp16', 'bfloat16': 'bf16', 'fp16': 'fp16', 'bf16': 'bf16'}
    wanted = options.pop('dtype', options.pop('torch_dtype', None))
    name = str(wanted).removeprefix('torch.')
    if name in types:
        options[types[name]] = True
    elif wanted is not None and name not in ('float32', 'fp32', 'auto'):
        raise InvalidArgument(f'dtype is {wanted!r}, expected float32, float16 or bfloat16')
    options.pop('attn_implementation', None)
    if device is not None:
        options['device'] = {'cuda': 'cuda:0'}.get(str(device), str(device))
    return options


def refuse(**given: Any) -> None:
    """Arguments that would mean something else without torch."""
    for name, value in given.items():
        if value:
            raise Unsupported(f'{name}=... is not supported by tenfold.embeddings')


def renamed(**names: str) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """A method that takes some arguments under their older names, too, as sentence-transformers does: renamed(older='newer')."""
    def decorate(method: Callable[_P, _R]) -> Callable[_P, _R]:
        @functools.wraps(method)
        def call(*arguments: _P.args, **keywords: _P.kwargs) -> _R:
            for older, newer in names.items():
                if older in keywords:
                    warnings.warn(f'{older}= is {newer}= now', DeprecationWarning, stacklevel=2)
                    keywords.setdefault(newer, keywords.pop(older))
            return method(*arguments, **keywords)
        return call
    return decorate


def progress_bar(show: Any, what: str) -> Any:
    """A function of (done, total) that draws on stderr, or None."""
    if not show:
        return None
    import sys

    def draw(done: int, total: int) -> bool:
        sys.stderr.write(f'\r{what}: {done}/{total}' + ('\n' if done == total else ''))
        sys.stderr.flush()
        return True
    return draw


def as_tensor(array: Any) -> Any:
    try:
        import torch
    except ImportError:
        raise Unsupported('convert_to_tensor=True needs torch, which is not installed; arrays of NumPy are the default') from None
    return torch.from_numpy(array)
