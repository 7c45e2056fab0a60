"""The names of a community's guide to TensorRT for CytoDL, computed by Tenfold: docs/guides/cyto-dl.md. CytoDL has no such names.

    engine = TensorRTInferenceEngine('segmentation.plan', (1, 1, 64, 64, 64))

They are those of cyto_dl.utils.tensorrt_utils, too. Importing this package makes that module known where CytoDL lies elsewhere.
"""
from tenfold.export_to_tensorrt import benchmark_tensorrt, create_int8_calibrator

from tenfold_cyto_dl._engine import TensorRTInferenceEngine
from tenfold_cyto_dl._export import export_to_tensorrt
from tenfold_cyto_dl._names import add_module, install

TENSORRT_AVAILABLE = True   # what scripts ask before they use the others: Tenfold needs no TensorRT, and no GPU
__all__ = ['TENSORRT_AVAILABLE', 'TensorRTInferenceEngine', 'benchmark_tensorrt', 'create_int8_calibrator', 'export_to_tensorrt', 'install']
add_module()
