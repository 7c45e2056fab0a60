"""Torch-TensorRT's names for scripts that were written for it, over tenfold.torch. docs/guides/torch.md tells what each setting does."""
from __future__ import annotations

from tenfold.torch_tensorrt import dynamo, logging, ptq, runtime
from tenfold.torch_tensorrt._compile import backend, compile, load, save
from tenfold.torch_tensorrt._device import Device
from tenfold.torch_tensorrt._input import Input, dtype

__version__ = '2.11.0'      # whose names these are
__all__ = ['Device', 'Input', 'backend', 'compile', 'dtype', 'dynamo', 'load', 'logging', 'ptq', 'runtime', 'save']
