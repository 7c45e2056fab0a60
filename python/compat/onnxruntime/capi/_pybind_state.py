"""ONNX Runtime's other name of the same."""
from tenfold.onnxruntime.capi.onnxruntime_pybind11_state import *  # noqa: F403
