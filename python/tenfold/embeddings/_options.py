"""What both classes take alike: devices, backends, and arguments that torch alone needs."""
from __future__ import annotations

import functools
import logging
import warnings
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from tenfold._device import put_device
from tenfold.errors import InvalidArgument, Unsupported

_P = ParamSpec('_P')
_R = TypeVar('_R')
_OWN = ('strategy', 'precision', 'calibration_texts', 'min_cosine', 'packed', 'weights')   # not of the build
BACKENDS = ('torch', 'onnx', 'openvino')
_log = logging.getLogger('tenfold')


def device_names(device: Any) -> list[str]:
    """Devices as the library names them: of one name, of a list, or of neither, which is []."""
    if device is None:
        return []
    several = list(device) if isinstance(device, (list, tuple)) else [device]
    if not several:
        raise InvalidArgument("device is an empty list; give names such as 'cpu', 'cpu:0-3' or 'cuda:0', or None")
    return [{'cuda': 'cuda:0'}.get(str(one), str(one)) for one in several]


def encoder_options(device: Any, backend: str, options: dict[str, Any]) -> dict[str, Any]:
    """Arguments of _native.Encoder: `model_kwargs` holds what encoders have themselves, besides what build_options() takes."""
    options = dict(options)
    own = {name: options.pop(name) for name in _OWN if name in options}
    if 'calibration_texts' in own:
        own['calibration_texts'] = list(own['calibration_texts'])
    names = device_names(device)
    if len(names) > 1:
        own['devices'] = names
    if own.get('precision') is not None and ('dtype' in options or 'torch_dtype' in options):
        raise InvalidArgument("model_kwargs has 'precision' and 'dtype', which say the same; give one of them")
    return {'options': put_device(build_options(names[0] if names else None, backend, options)), **own}


def build_options(device: Any, backend: str, options: dict[str, Any]) -> dict[str, Any]:
    """Options of the build: `model_kwargs` holds fields of tenfold.build, besides what torch's classes take."""
    if backend not in BACKENDS:
        raise InvalidArgument(f'backend is {backend!r}, expected one of {", ".join(BACKENDS)}')
    options = dict(options)
    idle(backend=(backend, 'torch', 'Tenfold computes'),
         attn_implementation=(options.pop('attn_implementation', None), None, 'the engine chooses the kernels of attention'))
    types = {'float16': 'fp16', 'bfloat16': 'bf16', 'fp16': 'fp16', 'bf16': 'bf16'}
    requested = options.pop('dtype', options.pop('torch_dtype', None))
    name = str(requested).removeprefix('torch.')
    if name in types:
        options[types[name]] = True
    elif requested is not None and name not in ('float32', 'fp32', 'auto'):
        raise InvalidArgument(f'dtype is {requested!r}, expected float32, float16 or bfloat16')
    if device is not None:
        options['device'] = device_names(device)[0]
    return options


_told: set[str] = set()


def idle(**given: tuple[Any, Any, str]) -> None:
    """Arguments that have no effect, each with its value, its default and a reason: another value is told, once in a process."""
    for name, (value, default, why) in given.items():
        if value != default and name not in _told:
            _told.add(name)
            _log.warning('%s=%r has no effect: %s', name, value, why)


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


def as_tensor(array: Any) -> Any:
    try:
        import torch
    except ImportError:
        raise Unsupported('convert_to_tensor=True needs torch, which is not installed; arrays of NumPy are the default') from None
    return torch.from_numpy(array)
