"""Settings of compile(): each is honoured, or refused by its name."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
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
# What has no meaning here, or one meaning only: the values that change nothing.
FIXED: dict[str, tuple[Any, ...]] = {
    'debug': (False, True), 'sparse_weights': (False,), 'use_python_runtime': (None, False, True),
    'pass_through_build_failures': (False, True), 'use_explicit_typing': (False,), 'use_fp32_acc': (False, True),
    'enable_weight_streaming': (False,), 'strip_engine_weights': (False,), 'enable_cross_compile_for_windows': (False,),
    'truncate_long_and_double': (False,), 'truncate_double': (False,), 'dla_sram_size': (1048576,),
    'dla_local_dram_size': (1073741824,), 'dla_global_dram_size': (536870912,), 'use_fast_partitioner': (True, False),
    'enable_experimental_decompositions': (False,), 'assume_dynamic_shape_support': (False, True), 'lazy_engine_init': (False,),
    'cache_built_engines': (False,), 'reuse_cached_engines': (False,), 'dryrun': (False,), 'max_aux_streams': (None,),
    'strict': (False, True), 'torch_executed_ops': ((), [], None), 'torch_executed_modules': ((), [], None), 'capability': (None,),
    'num_min_timing_iters': (1, 2),
}
PRECISIONS = {torch.float32: {}, torch.float16: {'fp16': True}, torch.bfloat16: {'bf16': True}, torch.int8: {'int8': True}}


def build_fields(settings: dict[str, Any]) -> dict[str, Any]:
    """Fields of BuildConfig. Raises TypeError for a setting that is unknown, ValueError for a value that cannot be had."""
    made: dict[str, Any] = {}
    for name, value in settings.items():
        if name in FIELDS:
            made.update(FIELDS[name](value))
        elif name not in FIXED:
            raise TypeError(f'torch_tensorrt.compile() of Tenfold has no setting {name!r}')
        elif not any(value is f or value == f and type(value) is type(f) for f in FIXED[name]):
            raise ValueError(f'torch_tensorrt.compile({name}={value!r}) of Tenfold: only {", ".join(map(repr, FIXED[name]))} can be had')
    return made


def precisions(enabled: Any) -> dict[str, Any]:
    """What may be rounded to; without int8 in it, a calibrator has no effect."""
    made: dict[str, Any] = {'int8': False}
    for given in enabled or ():
        kind = torch_dtype(given)
        if kind not in PRECISIONS:
            raise ValueError(f'enabled_precisions: {given!r} is none of {", ".join(map(str, PRECISIONS))}')
        made.update(PRECISIONS[kind])
    return made
