"""cyto_dl.utils.tensorrt_utils, by tenfold-cyto-dl; CytoDL's own package has no such module."""
from tenfold_cyto_dl import (
    TENSORRT_AVAILABLE, TensorRTInferenceEngine, benchmark_tensorrt, create_int8_calibrator, export_to_tensorrt,
)

__all__ = ['TENSORRT_AVAILABLE', 'TensorRTInferenceEngine', 'benchmark_tensorrt', 'create_int8_calibrator', 'export_to_tensorrt']
