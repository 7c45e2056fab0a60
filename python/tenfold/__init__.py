"""Tenfold: compiles ONNX and PyTorch models into optimized plans and runs them on x86 CPUs and NVIDIA GPUs.

    engine = tenfold.build("model.onnx")     # also bytes, an onnx.ModelProto, a tenfold.Network
    engine.save("model.plan")                # next time: tenfold.load("model.plan")
    y = engine(x)                            # arrays of NumPy, torch, CuPy, DeviceArray; also {name: array}

See docs/guides/python.md. Importing starts no thread and touches no GPU; NumPy is imported with the first array.
"""
from __future__ import annotations

import atexit as _atexit
import os as _os
from typing import TYPE_CHECKING, Any

from tenfold._cpu import check_cpu as _check_cpu

_check_cpu()
from tenfold import _native  # noqa: E402 (it holds AVX2 code)
from tenfold._build import (  # noqa: E402
    bindings, build, check, extent_limits, inspect, load, metadata, profile, refit, retune, weights,
)
from tenfold._decoder import Decoder, Evaluation, Generated, QuantizedLayers, quantize_decoder  # noqa: E402
from tenfold._device import devices  # noqa: E402
from tenfold._engine import Context, Engine  # noqa: E402
from tenfold._latency_answer import Answer  # noqa: E402
from tenfold._latency_ports import Port, PortServer, connect  # noqa: E402
from tenfold._latency_runner import LatencyRunner, RunnerThread  # noqa: E402
from tenfold._native import (  # noqa: E402
    Binding, CancelToken, Device, DeviceArray, EngineInfo, ExtentLimit, LatencyRecorder, ModelMetadata, ModelProblem, Note,
    PlanInspection, Plugins, QuantizeReport, Runtime, TimingCache, WeightInfo,
    supported_operators, why_no_gpu,
)
from tenfold._network import Network, Node, Value  # noqa: E402
from tenfold._pinned import RegisteredMemory, pinned_empty, register_memory  # noqa: E402
from tenfold._quantize import quantize  # noqa: E402
from tenfold._repr import give_reprs as _give_reprs  # noqa: E402
from tenfold._row_ring import RowRing  # noqa: E402
from tenfold._stream import Stream  # noqa: E402
from tenfold._tokenizer import Tokenizer  # noqa: E402
from tenfold.errors import (  # noqa: E402
    BadIndex, Cancelled, DeadlinePassed, DeviceError, Error, FileError, Internal, InvalidArgument, InvalidInput, InvalidModel,
    OutOfMemory, PlanRefused, Unsupported,
)

if TYPE_CHECKING:
    from tenfold import plugins as plugins
    from tenfold.session import Session

__version__: str = _native.__version__
__all__ = [
    'Answer', 'BadIndex', 'Binding', 'CancelToken', 'Cancelled', 'Context', 'DeadlinePassed', 'Decoder', 'Device', 'DeviceArray',
    'DeviceError', 'Engine', 'EngineInfo', 'Error', 'Evaluation', 'ExtentLimit', 'FileError', 'Generated', 'Internal', 'InvalidArgument',
    'InvalidInput', 'InvalidModel', 'LatencyRecorder', 'ModelMetadata', 'ModelProblem', 'Network', 'Node', 'Note', 'OutOfMemory',
    'PlanInspection', 'PlanRefused', 'Plugins', 'Port', 'PortServer', 'QuantizeReport', 'QuantizedLayers', 'RegisteredMemory', 'RowRing',
    'LatencyRunner', 'RunnerThread', 'Runtime', 'Session', 'Stream', 'TimingCache', 'Tokenizer', 'Unsupported', 'Value', 'WeightInfo',
    'bindings', 'build', 'check', 'connect', 'devices', 'extent_limits', 'get_include', 'inspect', 'load', 'metadata', 'pinned_empty',
    'profile', 'quantize', 'quantize_decoder', 'refit', 'register_memory', 'retune', 'supported_operators', 'weights', 'why_no_gpu',
]

_atexit.register(_native.leave)
_give_reprs(vars(_native))
_give_reprs(globals())


def get_include() -> str:
    """The folder of the C and C++ headers: for plug-ins."""
    return _os.path.join(_os.path.dirname(__file__), 'include')


def __getattr__(name: str) -> Any:
    if name == 'Session':   # most programs need one of the two forms
        from tenfold.session import Session
        return Session
    if name == 'plugins':
        import tenfold.plugins
        return tenfold.plugins
    raise AttributeError(f'module tenfold has no attribute {name!r}')
