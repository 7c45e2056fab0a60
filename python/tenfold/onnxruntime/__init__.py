"""ONNX Runtime's names on Tenfold: `import tenfold.onnxruntime as onnxruntime` is all that a script has to change.

docs/python.md says which names there are, and what differs.
"""
from tenfold import __version__
from tenfold._repr import give_reprs as _give_reprs
from tenfold._session_types import (
    ExecutionMode, GraphOptimizationLevel, IOBinding, ModelMetadata, NodeArg, OrtValue, RunOptions, SessionOptions,
)
from tenfold.session import Session, get_available_providers

InferenceSession = Session


def get_device() -> str:
    """'GPU' if there is one that Tenfold can use, else 'CPU'."""
    return 'GPU' if 'CUDAExecutionProvider' in get_available_providers() else 'CPU'


def get_all_providers() -> list[str]:
    """Providers that there are at all."""
    return ['CUDAExecutionProvider', 'CPUExecutionProvider']


__all__ = [
    'ExecutionMode', 'GraphOptimizationLevel', 'IOBinding', 'InferenceSession', 'ModelMetadata', 'NodeArg', 'OrtValue', 'RunOptions',
    'SessionOptions', '__version__', 'get_all_providers', 'get_available_providers', 'get_device',
]
_give_reprs(globals())
