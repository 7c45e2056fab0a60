"""ONNX files with Q/DQ, or with weights of few bits, which other engines run, too."""
from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tenfold import _native
from tenfold._registry import put_plugins

if TYPE_CHECKING:
    from typing import Unpack

    from tenfold._options import BuildOptions


def quantize(model: str | os.PathLike[str], output: str | os.PathLike[str], data: Any = None, *, type: str = 'int8', reader: str = 'any',
             group: int = 32, max_error: float | Mapping[str, Any] | None = None, exclude: Sequence[str] = (), reduce_range: bool = False,
             external_data: bool = False, **options: Unpack[BuildOptions]) -> _native.QuantizeReport:
    """Writes `output`: the ONNX file `model` with its products quantized, all else as it is.

    `data`: samples, as `calibration` of build() takes them (a sequence of dicts, a function, or a dict with method, samples, cache);
    every second one gives ranges, the others show the error. `type`: int8, fp8; or weights alone: int4 (DequantizeLinear with blocks),
    nbits4 and nbits8 (MatMulNBits), by groups of `group`, for which data may be left out. `reader`: any, onnxruntime, openvino.
    `max_error`: a bound (or a dict, as `budget` of build()), within which the file stays: products that cost most stay in floats.
    """
    if data is not None:
        options['calibration'] = data
    if max_error is not None:
        options['budget'] = max_error
    if isinstance(exclude, str):
        raise TypeError(f'exclude takes a sequence of names, not the string {exclude!r}')
    return _native.quantize_file(os.fspath(model), os.fspath(output), put_plugins(dict(options)), type, reader, group, reduce_range,
                                 external_data, list(exclude))
