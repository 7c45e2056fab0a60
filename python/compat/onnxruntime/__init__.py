"""ONNX Runtime's names on Tenfold: `import tenfold.onnxruntime as onnxruntime` is all that a script has to change.

docs/guides/python.md says which names there are, and what differs.
"""
from tenfold import __version__ as _of_tenfold
from tenfold._log import once as _once
from tenfold._repr import give_reprs as _give_reprs
from tenfold._session_log import set_default_severity as _set_default_severity
from tenfold._session_options import ExecutionMode, ExecutionOrder, GraphOptimizationLevel, RunOptions, SessionOptions
from tenfold._session_providers import get_available_providers
from tenfold._session_types import IOBinding, ModelMetadata, NodeArg, OrtValue
from tenfold.session import Session

__version__ = '1.31.1'   # whose names these are
InferenceSession = Session


def get_device() -> str:
    """'GPU' if there is one that Tenfold can use, else 'CPU'."""
    return 'GPU' if 'CUDAExecutionProvider' in get_available_providers() else 'CPU'


def get_all_providers() -> list[str]:
    """Providers that there are at all."""
    return ['CUDAExecutionProvider', 'CPUExecutionProvider']


def get_version_string() -> str:
    return __version__


def get_build_info() -> str:
    return f'Tenfold {_of_tenfold}, with the names of ONNX Runtime {__version__}'


def set_default_logger_severity(severity: int) -> None:
    """The least that sessions tell whose options name no severity: 0 verbose, 1 info, 2 warnings, 3 errors, 4 nothing."""
    _set_default_severity(severity)


def set_default_logger_verbosity(verbosity: int) -> None:
    _once('set_default_logger_verbosity() has no effect: verbose lines have one level')


def set_seed(seed: int) -> None:
    _once('set_seed() has no effect: nodes that draw numbers have a seed of their own, or a new one in each run')


def enable_telemetry_events() -> None:
    _once('enable_telemetry_events() has no effect: nothing is ever sent')


def disable_telemetry_events() -> None:
    """Nothing is ever sent."""


def has_collective_ops() -> bool:
    return False


def preload_dlls(cuda: bool = True, cudnn: bool = True, msvc: bool = True, directory: str | None = None) -> None:
    """The driver's libraries are opened when a GPU is first asked for."""
    if directory:
        _once('preload_dlls(directory=...) has no effect: libraries are looked for where the driver and tenfold have theirs')


__all__ = [
    'ExecutionMode', 'ExecutionOrder', 'GraphOptimizationLevel', 'IOBinding', 'InferenceSession', 'ModelMetadata', 'NodeArg', 'OrtValue',
    'RunOptions', 'SessionOptions', '__version__', 'disable_telemetry_events', 'enable_telemetry_events', 'get_all_providers',
    'get_available_providers', 'get_build_info', 'get_device', 'get_version_string', 'has_collective_ops', 'preload_dlls',
    'set_default_logger_severity', 'set_default_logger_verbosity', 'set_seed',
]
_give_reprs(globals())
