"""Errors of sessions, and ONNX Runtime's native names as far as tenfold.onnxruntime has them."""
from tenfold._session_errors import (  # noqa: F401
    DeviceReset, EngineError, EPFail, Fail, InvalidArgument, InvalidGraph, InvalidProtobuf, ModelLoadCanceled, ModelLoaded,
    ModelRequiresCompilation, NoModel, NoSuchFile, NotFound, NotImplemented, RuntimeException,
)
from tenfold.onnxruntime import *  # noqa: F403
