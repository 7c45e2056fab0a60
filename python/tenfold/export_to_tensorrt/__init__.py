"""python -m tenfold.export_to_tensorrt: a checkpoint of CytoDL, or an ONNX file, as an engine. docs/guides/cyto-dl.md tells its flags.

The functions are those that the wheel tenfold-cyto-dl offers as cyto_dl.utils.tensorrt_utils.
"""
from __future__ import annotations

from tenfold.export_to_tensorrt._benchmark import benchmark_tensorrt
from tenfold.export_to_tensorrt._build import Settings, build_onnx, export_module, resolve_device
from tenfold.export_to_tensorrt._calibration import Int8Calibrator, create_int8_calibrator
from tenfold.export_to_tensorrt._files import load_plan, save_module, save_plan

__all__ = ['Int8Calibrator', 'Settings', 'benchmark_tensorrt', 'build_onnx', 'create_int8_calibrator', 'export_module', 'load_plan',
           'resolve_device', 'save_module', 'save_plan']
