"""What `auto` means on a device, the options of a build in a precision, and which one an engine has in the end."""
from __future__ import annotations

import functools
import re
from typing import Any

import tenfold

ERROR_BUDGET = 0.01   # 1 - cosine, the mean of the calibration texts, that int8 may cost
_WIDER = {'int8': 'fp16', 'fp16': 'fp32', 'bf16': 'fp32'}


@functools.cache
def auto_precision(device: str, has_ranges: bool) -> str:
    """What --precision=auto takes: the library's own table, which a build of one small product shows."""
    import numpy as np
    network = tenfold.Network('auto')
    x = network.input('x', 'f32', ('rows', 64))
    network.output(x @ network.constant(np.eye(64, dtype=np.float32)), 'y')
    samples = [{'x': np.full((1, 64), value, np.float32)} for value in (1.0, -1.0)]
    data: dict[str, Any] = {'calibration': {'sample': samples, 'method': 'minmax', 'corrections': []}} if has_ranges else {}
    options = tenfold.build(network, device=device, optimization_level=0, auto_precision=True, profiles={'x': ((1, 64), (1, 64), (1, 64))},
                            threads=1, log=lambda severity, text: None, **data).inspection().build_options
    chosen = dict(re.findall(r'(\w+)=(\w+)', options))
    if has_ranges and chosen['int8'] == '1':
        return 'int8'
    return next((name for name in ('fp16', 'bf16') if chosen[name] == '1'), 'fp32')


def next_wider(precision: str, device: str) -> str:
    if precision == 'int8':
        return auto_precision(device, False)
    return _WIDER.get(precision, 'fp32')


def build_options(precision: str, device: str, calibration: dict[str, Any] | None) -> dict[str, Any]:
    """Keywords of tenfold.build. int8: the fastest plan within the budget, whose other products have the next wider type."""
    if precision != 'int8':
        return {'fp16': precision == 'fp16', 'bf16': precision == 'bf16'}
    wide = next_wider('int8', device)
    return {'fp16': wide == 'fp16', 'bf16': wide == 'bf16', 'int8': True, 'calibration': calibration,
            'budget': {'max_error': ERROR_BUDGET, 'metric': 'cosine'}}


def taken_precision(engine: tenfold.Engine, requested: str) -> str:
    """The narrowest type, among those that were permitted, that the engine multiplies in."""
    steps = [step for program in engine.inspection().programs for step in program.steps]
    weighed = [step for step in steps if any(operand.constant for operand in step.inputs)]
    # Constants alone tell nothing of 8 bits: an exact product may be packed in such pieces.
    if requested == 'int8' and any(operand.dtype in ('i8', 'u8') and not operand.constant for step in weighed for operand in step.inputs):
        return 'int8'
    types = {operand.dtype for step in weighed for operand in step.inputs}
    permitted = {'f16': 'fp16', 'bf16': 'bf16'} if requested == 'int8' else {{'fp16': 'f16'}.get(requested, requested): requested}
    return next((precision for dtype, precision in permitted.items() if dtype in types), 'fp32')
