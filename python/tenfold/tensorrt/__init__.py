"""TensorRT's names on Tenfold: `import tenfold.tensorrt as trt` is all that a script has to change.

Names and values of enumerations are those of 10.16, with spellings of 8.x beside them. docs/tensorrt-python.md says what is there.
"""
from __future__ import annotations

from typing import Any

from tenfold.tensorrt._algorithms import IAlgorithm, IAlgorithmContext, IAlgorithmSelector, IAlgorithmVariant
from tenfold.tensorrt._allocator import IDebugListener, IOutputAllocator, IProfiler, Profiler
from tenfold.tensorrt._builder import Builder
from tenfold.tensorrt._config import IBuilderConfig
from tenfold.tensorrt._context import IExecutionContext
from tenfold.tensorrt._control_flow import IIfConditional, ILoop
from tenfold.tensorrt._engine import EngineInspector, ICudaEngine
from tenfold.tensorrt._enums import (
    BuilderFlag, DataType, DeviceType, EngineCapability, ErrorCode, ErrorCodeTRT, ExecutionContextAllocationStrategy,
    HardwareCompatibilityLevel, LayerInformationFormat, MemoryPoolType, NetworkDefinitionCreationFlag, OnnxParserFlag, PreviewFeature,
    ProfilingVerbosity, QuantizationFlag, RuntimePlatform, SeekPosition, SerializationFlag, TacticSource, TensorFormat, TensorIOMode,
    TensorLocation, TilingOptimizationLevel,
)
from tenfold.tensorrt._install import install
from tenfold.tensorrt._layer import ILayer
from tenfold.tensorrt._layer_enums import (
    ActivationType, BoundingBoxFormat, CumulativeOperation, ElementWiseOperation, FillOperation, GatherMode, InterpolationMode,
    LayerType, LoopOutput, MatrixOperation, PaddingMode, PoolingType, ReduceOperation, ResizeCoordinateTransformation, ResizeMode,
    ResizeRoundMode, ResizeSelector, SampleMode, ScaleMode, ScatterMode, SliceMode, TopKOperation, TripLimit, UnaryOperation,
)
from tenfold.tensorrt._logger import ILogger, Logger, need_logger, say_once
from tenfold.tensorrt._made_layer import CLASSES as _CLASSES
from tenfold.tensorrt._memory import IHostMemory
from tenfold.tensorrt._network import INetworkDefinition
from tenfold.tensorrt._parser import OnnxParser, ParserError
from tenfold.tensorrt._plugins.fields import (
    PluginCapabilityType, PluginCreatorVersion, PluginField, PluginFieldCollection, PluginFieldType, QuickPluginCreationRequest,
    TensorRTPhase,
)
from tenfold.tensorrt._plugins.interfaces import (
    IPluginCapability, IPluginCreator, IPluginCreatorInterface, IPluginCreatorV3One, IPluginCreatorV3Quick, IPluginResource, IPluginV2,
    IPluginV2DynamicExt, IPluginV2Ext, IPluginV3, IPluginV3OneBuild, IPluginV3OneBuildV2, IPluginV3OneCore, IPluginV3OneRuntime,
)
from tenfold.tensorrt._plugins.registry import IPluginRegistry, get_plugin_registry
from tenfold.tensorrt._plugins.shapes import (
    DimensionOperation, DimsExprs, DynamicPluginTensorDesc, IDimensionExpr, IExprBuilder, PluginTensorDesc,
)
from tenfold.tensorrt._profile import IOptimizationProfile
from tenfold.tensorrt._progress import IProgressMonitor
from tenfold.tensorrt._recorder import IErrorRecorder
from tenfold.tensorrt._refitter import Refitter, WeightsRole
from tenfold.tensorrt._runtime import Runtime
from tenfold.tensorrt._serialization import IRuntimeConfig, ISerializationConfig
from tenfold.tensorrt._streams import IStreamReader, IStreamReaderV2, IStreamWriter
from tenfold.tensorrt._tensor import ITensor
from tenfold.tensorrt._timing_cache import ITimingCache
from tenfold.tensorrt._types import Dims, nptype, volume
from tenfold.tensorrt._weights import Weights

__version__ = '10.16.0'
DimsHW = Permutation = Dims   # 8.x
globals().update({made.__name__: made for made in _CLASSES.values()})   # IConvolutionLayer ...
float32, float16, int8, int32, bool, uint8, fp8, bfloat16, int64, int4, fp4, e8m0 = DataType   # noqa: A001


def init_libnvinfer_plugins(logger: Any, namespace: str) -> Any:
    """True. NVIDIA's library of plug-ins is not here: models are ONNX's operators."""
    if logger is not None:
        say_once(need_logger(logger), "init_libnvinfer_plugins() registers nothing: NVIDIA's plug-ins are not in Tenfold", ILogger.INFO)
    return True


__all__ = [
    'IIfConditional', 'ILoop', 'LoopOutput', 'TripLimit',
    'DimensionOperation', 'DimsExprs', 'DynamicPluginTensorDesc', 'IDimensionExpr', 'IExprBuilder', 'IPluginCapability', 'IPluginCreator',
    'IPluginCreatorInterface', 'IPluginCreatorV3One', 'IPluginCreatorV3Quick', 'IPluginRegistry', 'IPluginResource', 'IPluginV2',
    'IPluginV2DynamicExt', 'IPluginV2Ext', 'IPluginV3', 'IPluginV3OneBuild', 'IPluginV3OneBuildV2', 'IPluginV3OneCore',
    'IPluginV3OneRuntime', 'PluginCapabilityType', 'PluginCreatorVersion', 'PluginField', 'PluginFieldCollection', 'PluginFieldType',
    'PluginTensorDesc', 'QuickPluginCreationRequest', 'TensorRTPhase', 'get_plugin_registry',
    'IAlgorithm', 'IAlgorithmContext', 'IAlgorithmSelector', 'IAlgorithmVariant', 'WeightsRole',
    'ActivationType', 'BoundingBoxFormat', 'Builder', 'BuilderFlag', 'CumulativeOperation', 'DataType', 'DeviceType', 'Dims', 'DimsHW',
    'ElementWiseOperation', 'EngineCapability', 'EngineInspector', 'ErrorCode', 'ErrorCodeTRT', 'ExecutionContextAllocationStrategy',
    'FillOperation', 'GatherMode', 'HardwareCompatibilityLevel', 'IBuilderConfig', 'ICudaEngine', 'IDebugListener', 'IErrorRecorder',
    'IExecutionContext', 'IHostMemory', 'ILayer', 'ILogger', 'INetworkDefinition', 'IOptimizationProfile', 'IOutputAllocator',
    'IProfiler', 'IProgressMonitor', 'IRuntimeConfig', 'ISerializationConfig', 'IStreamReader', 'IStreamReaderV2', 'IStreamWriter',
    'ITensor', 'ITimingCache', 'InterpolationMode', 'LayerInformationFormat', 'LayerType', 'Logger', 'MatrixOperation',
    'MemoryPoolType', 'NetworkDefinitionCreationFlag', 'OnnxParser', 'OnnxParserFlag', 'PaddingMode', 'ParserError', 'Permutation',
    'PoolingType', 'PreviewFeature', 'Profiler', 'ProfilingVerbosity', 'QuantizationFlag', 'ReduceOperation', 'Refitter',
    'ResizeCoordinateTransformation', 'ResizeMode', 'ResizeRoundMode', 'ResizeSelector', 'Runtime', 'RuntimePlatform', 'SampleMode',
    'ScaleMode', 'ScatterMode', 'SeekPosition', 'SerializationFlag', 'SliceMode', 'TacticSource', 'TensorFormat', 'TensorIOMode',
    'TensorLocation', 'TilingOptimizationLevel', 'TopKOperation', 'UnaryOperation', 'Weights', '__version__', 'bfloat16', 'bool',
    'e8m0', 'float16', 'float32', 'fp4', 'fp8', 'init_libnvinfer_plugins', 'install', 'int32', 'int4', 'int64', 'int8', 'nptype',
    'uint8', 'volume',
    *(made.__name__ for made in _CLASSES.values()),
]


def __getattr__(name: str) -> Any:
    raise AttributeError(f'tenfold.tensorrt has no {name!r}; it has {", ".join(__all__)}')
