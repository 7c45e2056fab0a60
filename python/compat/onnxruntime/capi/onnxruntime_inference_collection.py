"""Where ONNX Runtime defines its sessions."""
from tenfold.onnxruntime import IOBinding, InferenceSession, OrtValue  # noqa: F401
from tenfold.session import Session  # noqa: F401
