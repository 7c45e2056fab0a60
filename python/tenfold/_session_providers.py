"""Providers as scripts of ONNX Runtime name them: those that are not there are passed over, with a warning."""
from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from typing import Any

from tenfold import errors
from tenfold._device import devices
from tenfold._log import once

CPU, CUDA = 'CPUExecutionProvider', 'CUDAExecutionProvider'
PROVIDERS = (CUDA, CPU)   # the order is ONNX Runtime's: the best first

# What CUDA's provider takes there. The first ones have an effect here.
_CUDA_WITH_EFFECT = ('device_id', 'use_tf32')
_CUDA_WITHOUT = (
    'arena_extend_strategy', 'cudnn_conv1d_pad_to_nc1d', 'cudnn_conv_algo_search', 'cudnn_conv_use_max_workspace',
    'default_memory_arena_cfg', 'do_copy_in_default_stream', 'enable_cuda_graph', 'enable_skip_layer_norm_strict_mode',
    'fuse_conv_bias', 'gpu_external_alloc', 'gpu_external_empty_cache', 'gpu_external_free', 'gpu_mem_limit',
    'has_user_compute_stream', 'prefer_nhwc', 'sdpa_kernel', 'tunable_op_enable', 'tunable_op_max_tuning_duration_ms',
    'tunable_op_tuning_enable', 'use_ep_level_unified_stream', 'user_compute_stream')

Chosen = dict[str, dict[str, Any]]


def get_available_providers() -> list[str]:
    on_gpu = any(d.device.startswith('cuda') for d in devices())
    return list(PROVIDERS if on_gpu else PROVIDERS[1:])


def device_of(provider: str, options: dict[str, Any]) -> str:
    return f'cuda:{int(options.get("device_id", 0))}' if provider == CUDA else 'cpu'


def build_options_of(provider: str, options: dict[str, Any]) -> dict[str, Any]:
    """What else than the device a build takes of them."""
    if provider != CUDA or 'use_tf32' not in options:
        return {}
    return {'tf32': str(options['use_tf32']).lower() not in ('0', 'false')}


def chosen(providers: Any, provider_options: Sequence[dict[str, Any]] | None, device: str | None) -> Chosen:
    """Names with options, in the order in which they are tried. Behind all others comes the CPU, as in ONNX Runtime."""
    given = [*_pairs(providers, provider_options)] if providers else _of_device(device)
    named: Chosen = {}
    for name, options in given:
        if name in named:
            warnings.warn(f'the provider {name!r} is named twice, and taken once', stacklevel=4)
        elif name == CPU or name in (there := get_available_providers()):   # sessions on the CPU do not look for GPUs
            _look_at(name, options)
            named[name] = {} if name == CPU else options
        else:
            warnings.warn(f'the provider {name!r} is not there, and passed over; there are {", ".join(there)}', stacklevel=4)
    named.setdefault(CPU, {})
    return named


def _of_device(device: str | None) -> list[tuple[str, dict[str, Any]]]:
    kind, _, number = (device or os.environ.get('TENFOLD_DEVICE') or 'cuda').partition(':')
    return [(p, {'device_id': number} if p == CUDA and number else {}) for p in get_available_providers() if kind != 'cpu' or p != CUDA]


def _pairs(providers: Any, provider_options: Sequence[dict[str, Any]] | None) -> list[tuple[str, dict[str, Any]]]:
    providers = [providers] if isinstance(providers, str) else list(providers)
    beside = [dict(one) for one in provider_options or ()]
    if beside and len(beside) != len(providers):
        raise errors.InvalidArgument(f'provider_options are as many as providers, got {len(beside)} for {len(providers)}')
    pairs = []
    for i, one in enumerate(providers):
        name, options = one if isinstance(one, (tuple, list)) and len(one) == 2 else (one, beside[i] if beside else {})
        if not isinstance(name, str) or not isinstance(options, dict):
            raise errors.InvalidArgument(f'a provider is a name, or a name with a dict of options, got {one!r}')
        if options and beside and beside[i] is not options:
            raise errors.InvalidArgument(f'the options of {name!r} stand in providers, so provider_options must be left out')
        pairs.append((name, dict(options)))
    return pairs


def _look_at(name: str, options: dict[str, Any]) -> None:
    for option in options:
        if name == CPU or option in _CUDA_WITHOUT:
            once(f'the option {option!r} of {name} has no effect')
        elif option not in _CUDA_WITH_EFFECT:
            known = ', '.join(sorted((*_CUDA_WITH_EFFECT, *_CUDA_WITHOUT)))
            raise errors.InvalidArgument(f'{name} has no option {option!r}; it has {known}')
