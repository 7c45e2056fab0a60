"""What `options=` of torch.compile may hold: fields of BuildConfig, and a few names that are this backend's own."""
from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import torch
from tenfold import _native

OWN = ('min_block_size', 'frozen', 'plan_cache', 'free_weights')
FOLLOW = {'profiles': "torch's dynamic shapes", 'device': 'where the tensors lie', 'initializers': "the module's own weights"}
OF_TORCH_TENSORRT = {'enabled_precisions': 'fp16=True, bf16=True or int8=True', 'workspace_size': 'workspace_bytes',
                     'disable_tf32': 'tf32=False', 'make_refittable': 'refittable=True', 'immutable_weights': 'refittable',
                     'require_full_compilation': 'tenfold.torch.export()'}
LEVELS = {None: None, 'default': None, 'reduce-overhead': None, 'max-autotune': 5, 'max-autotune-no-cudagraphs': 5}


@dataclasses.dataclass(frozen=True)
class Options:
    build: Mapping[str, Any]                 # fields of BuildConfig
    min_block_size: int = 5                  # operators that an engine has at least
    frozen: bool = False                     # weights are never looked at again
    plan_cache: Any = True                   # False: plans are kept nowhere; a folder; True: the usual one
    free_weights: bool = False               # torch's copy of weights goes, once engines hold them
    raises: bool = False                     # what cannot be built is an error, not torch's; Torch-TensorRT's names ask for it


def read_options(options: Mapping[str, Any] | None, mode: str | None) -> Options:
    given = dict(options or {})
    if mode not in LEVELS:
        raise ValueError(f'the backend "tenfold" has no mode {mode!r}; its modes are {", ".join(map(repr, LEVELS))}')
    own = {name: given.pop(name) for name in OWN if name in given}
    if not isinstance(own.get('min_block_size', 1), int) or own.get('min_block_size', 1) < 1:
        raise ValueError(f"options['min_block_size'] is a number from 1, got {own['min_block_size']!r}")
    for name, source in FOLLOW.items():
        if name in given:
            raise ValueError(f'options[{name!r}] follows from {source}: leave it out')
    for name in given:
        if name in OF_TORCH_TENSORRT:
            raise ValueError(f'options[{name!r}] is a setting of Torch-TensorRT, which backend="torch_tensorrt" of the wheel tenfold-shim '
                             f'takes; here it is {OF_TORCH_TENSORRT[name]}')
    _native.check_options(given, 'torch.compile(..., backend="tenfold")', [*OWN, *FOLLOW], 'docs/guides/torch.md tells of them')
    if LEVELS[mode] is not None:
        given.setdefault('optimization_level', LEVELS[mode])
    return Options(build=given, **own)


def may_round(device: torch.device) -> dict[str, bool]:
    """What torch's own switches let be rounded of float32. Its older ones, allow_tf32, raise once somebody used these."""
    torchs = torch.backends
    parts = (torchs.cudnn.conv, torchs.cuda.matmul) if device.type == 'cuda' else (torchs.mkldnn.conv, torchs.mkldnn.matmul)
    convolutions, products = (part.fp32_precision in ('tf32', 'bf16') for part in parts)
    return {'tf32': convolutions or products, 'tf32_convolutions': convolutions, 'tf32_matmul': products}


def for_build(options: Options, device: torch.device) -> dict[str, Any]:
    """Keywords of tenfold.build() for tensors of this device."""
    made = {**({} if 'tf32' in options.build else may_round(device)), **options.build}
    made['device'] = f'cuda:{device.index or 0}' if device.type == 'cuda' else 'cpu'
    if device.type == 'cpu':
        made.setdefault('threads', torch.get_num_threads())
    return made
