"""Settings of compile(): each has its effect, is refused by its name, or says once that it has none."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from tenfold._log import logger
from tenfold.torch._report import first_time
from tenfold.torch_tensorrt._input import torch_dtype

# From a setting to the fields of BuildConfig that it is.
FIELDS: dict[str, Callable[[Any], dict[str, Any]]] = {
    'workspace_size': lambda v: {'workspace_bytes': int(v)} if v else {},
    'optimization_level': lambda v: {} if v is None else {'optimization_level': int(v)},
    'timing_cache_path': lambda v: {'timing_cache': v} if v else {},
    'num_avg_timing_iters': lambda v: {'timing_repetitions': int(v)},
    'disable_tf32': lambda v: {'tf32': False} if v else {},
    'version_compatible': lambda v: {'version_compatible': bool(v)},
    'hardware_compatible': lambda v: {'hardware_compatible': bool(v)},
    'make_refittable': lambda v: {'refittable': bool(v)},
    'refit': lambda v: {'refittable': bool(v)},
    'immutable_weights': lambda v: {'refittable': not v},
}
# What compile() itself reads; the value that asks for nothing.
READ: dict[str, Any] = {'debug': False, 'pass_through_build_failures': False, 'strict': False}
# What changes nothing here, whatever its value: why, for the one line that says so of a value that is not among the first.
WITHOUT_EFFECT: dict[str, tuple[tuple[Any, ...], str]] = {
    'use_python_runtime': ((None, False), 'there is one runtime, which torch.jit and torch.export save'),
    'use_fp32_acc': ((False,), 'products of 16-bit numbers are always summed in 32 bits'),
    'assume_dynamic_shape_support': ((False,), 'each operator is asked whether it takes sizes that vary'),
    'use_fast_partitioner': ((True,), 'there is one partitioner'),
    'num_min_timing_iters': ((1, 2), 'num_avg_timing_iters says how often a kernel is timed')}
# What cannot be had: the values that do not ask for it.
FIXED: dict[str, tuple[Any, ...]] = {
    'sparse_weights': (False,), 'use_explicit_typing': (False,), 'enable_weight_streaming': (False,), 'strip_engine_weights': (False,),
    'enable_cross_compile_for_windows': (False,), 'truncate_long_and_double': (False,), 'truncate_double': (False,),
    'dla_sram_size': (1048576,), 'dla_local_dram_size': (1073741824,), 'dla_global_dram_size': (536870912,),
    'enable_experimental_decompositions': (False,), 'lazy_engine_init': (False,), 'cache_built_engines': (False,),
    'reuse_cached_engines': (False,), 'dryrun': (False,), 'max_aux_streams': (None,), 'torch_executed_ops': ((), [], None),
    'torch_executed_modules': ((), [], None), 'capability': (None,),
}
SETTINGS = frozenset({*FIELDS, *READ, *WITHOUT_EFFECT, *FIXED})
PRECISIONS = {torch.float32: {}, torch.float16: {'fp16': True}, torch.bfloat16: {'bf16': True}, torch.int8: {'int8': True}}


def build_fields(settings: dict[str, Any]) -> dict[str, Any]:
    """Fields of BuildConfig. Raises TypeError for a setting that is unknown, ValueError for a value that cannot be had; what has no effect
    says so once."""
    made: dict[str, Any] = {}
    for name, value in settings.items():
        if name in FIELDS:
            made.update(FIELDS[name](value))
        elif name in WITHOUT_EFFECT:
            usual, why = WITHOUT_EFFECT[name]
            if not is_one(value, usual):
                no_effect(f'compile({name}={value!r})', why)
        elif name in READ:
            if not isinstance(value, bool):
                raise TypeError(f'torch_tensorrt.compile({name}={value!r}): True or False')
        elif name not in FIXED:
            raise TypeError(f'torch_tensorrt.compile() of Tenfold has no setting {name!r}')
        elif not is_one(value, FIXED[name]):
            raise ValueError(f'torch_tensorrt.compile({name}={value!r}) of Tenfold: only {", ".join(map(repr, FIXED[name]))} can be had')
    return made


def is_one(value: Any, of: tuple[Any, ...]) -> bool:
    return any(value is f or value == f and type(value) is type(f) for f in of)


def no_effect(call: str, why: str) -> None:
    """One line, once in a process."""
    if first_time(text := f'torch_tensorrt.{call} of Tenfold has no effect: {why}'):
        logger.warning('%s', text)


def precisions(enabled: Any) -> dict[str, Any]:
    """What may be rounded to; without int8 in it, a calibrator has no effect."""
    made: dict[str, Any] = {'int8': False}
    for given in enabled or ():
        kind = torch_dtype(given)
        if kind not in PRECISIONS:
            raise ValueError(f'enabled_precisions: {given!r} is none of {", ".join(map(str, PRECISIONS))}')
        made.update(PRECISIONS[kind])
    return made
