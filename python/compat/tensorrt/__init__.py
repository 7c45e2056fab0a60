"""TensorRT's names on Tenfold: `import tenfold.tensorrt as trt` is all that a script has to change.

Names and values of enumerations are those of 10.16, with spellings of 8.x beside them. docs/guides/tensorrt-python.md says what is there.
"""
from __future__ import annotations

import sys
from typing import Any

from tenfold._repr import give_reprs as _give_reprs
from tenfold.tensorrt._build.builder import Builder
from tenfold.tensorrt._config.algorithms import IAlgorithm, IAlgorithmContext, IAlgorithmIOInfo, IAlgorithmSelector, IAlgorithmVariant
from tenfold.tensorrt._config.calibrators import (
    IInt8Calibrator, IInt8EntropyCalibrator, IInt8EntropyCalibrator2, IInt8LegacyCalibrator, IInt8MinMaxCalibrator,
)
from tenfold.tensorrt._config.config import IBuilderConfig
from tenfold.tensorrt._config.profile import IOptimizationProfile
from tenfold.tensorrt._config.progress import IProgressMonitor
from tenfold.tensorrt._config.timing_cache import ITimingCache, TimingCacheKey, TimingCacheValue
from tenfold.tensorrt._enums import (
    AllocatorFlag, APILanguage, BuilderFlag, CalibrationAlgoType, DataType, DeviceType, EngineCapability, EngineStat, ErrorCode,
    ErrorCodeTRT, ExecutionContextAllocationStrategy, HardwareCompatibilityLevel, LayerInformationFormat, MemoryPoolType,
    NetworkDefinitionCreationFlag, OnnxParserFlag, PreviewFeature, ProfilingVerbosity, QuantizationFlag, RuntimePlatform, SeekPosition,
    SerializationFlag, TacticSource, TempfileControlFlag, TensorFormat, TensorIOMode, TensorLocation, TilingOptimizationLevel,
)
from tenfold.tensorrt._install import install
from tenfold.tensorrt._layer_enums import (
    ActivationType, AttentionNormalizationOp, BoundingBoxFormat, CollectiveOperation, CumulativeOperation,
    ElementWiseOperation, FillOperation, GatherMode, InterpolationMode, KVCacheMode, LayerType, LoopOutput,
    MatrixOperation, MoEActType, PaddingMode, PoolingType, ReduceOperation, ResizeCoordinateTransformation, ResizeMode,
    ResizeRoundMode, ResizeSelector, SampleMode, ScaleMode, ScatterMode, SliceMode, TopKOperation, TripLimit,
    UnaryOperation,
)
from tenfold.tensorrt._legacy import (
    CaffeParser, FieldCollection, FieldMap, FieldType, IBlobNameToTensor, ICaffePluginFactoryV2, IRNNv2Layer, RNNDirection, RNNGateType,
    RNNInputMode, RNNOperation, shutdown_protobuf_library, UffInputOrder, UffParser,
)
from tenfold.tensorrt._logger import ILogger, Logger, need_logger, say_once
from tenfold.tensorrt._memory import IHostMemory
from tenfold.tensorrt._network.attention import IAttention
from tenfold.tensorrt._network.control_flow import IIfConditional, ILoop
from tenfold.tensorrt._network.layer import ILayer
from tenfold.tensorrt._network.made_layer import BOUNDARIES as _BOUNDARIES, CLASSES as _CLASSES
from tenfold.tensorrt._network.network import INetworkDefinition
from tenfold.tensorrt._network.tensor import ITensor
from tenfold.tensorrt._network.unmade import FallbackString, IDistCollectiveLayer, IMoELayer
from tenfold.tensorrt._parser.errors import ParserError
from tenfold.tensorrt._parser.parser import OnnxParser
from tenfold.tensorrt._parser.refitter import OnnxParserRefitter
from tenfold.tensorrt._parser.subgraphs import NodeIndices, SubGraphCollection
from tenfold.tensorrt._plugins.fields import (
    PluginArgDataType, PluginArgType, PluginCapabilityType, PluginCreatorVersion, PluginField, PluginFieldCollection,
    PluginFieldCollection_, PluginFieldType, QuickPluginCreationRequest, TensorRTPhase,
)
from tenfold.tensorrt._plugins.interfaces import (
    IPluginCapability, IPluginCreator, IPluginCreatorInterface, IPluginCreatorV3One, IPluginCreatorV3Quick, IPluginResource,
    IPluginResourceContext, IPluginV2, IPluginV2DynamicExt, IPluginV2DynamicExtBase, IPluginV2Ext, IPluginV3, IPluginV3OneBuild,
    IPluginV3OneBuildV2, IPluginV3OneCore, IPluginV3OneRuntime,
)
from tenfold.tensorrt._plugins.quick_forms import (
    IPluginV3QuickAOTBuild, IPluginV3QuickBuild, IPluginV3QuickCore, IPluginV3QuickRuntime, ISymExpr, ISymExprs,
)
from tenfold.tensorrt._plugins.registry import IPluginRegistry, get_plugin_registry
from tenfold.tensorrt._plugins.shapes import (
    DimensionOperation, DimsExprs, DynamicPluginTensorDesc, IDimensionExpr, IExprBuilder, PluginTensorDesc,
)
from tenfold.tensorrt._recorder import IErrorRecorder
from tenfold.tensorrt._run.allocator import IDebugListener, IOutputAllocator, IProfiler, Profiler
from tenfold.tensorrt._run.context import IExecutionContext
from tenfold.tensorrt._run.engine import EngineInspector, ICudaEngine
from tenfold.tensorrt._run.gpu_allocator import IGpuAllocator, IGpuAsyncAllocator
from tenfold.tensorrt._run.refitter import Refitter, WeightsRole
from tenfold.tensorrt._run.runtime import Runtime
from tenfold.tensorrt._run.serialization import IRuntimeConfig, ISerializationConfig
from tenfold.tensorrt._run.streams import IStreamReader, IStreamReaderV2, IStreamWriter
from tenfold.tensorrt._types import Dims, Dims2, Dims3, Dims4, DimsHW, Permutation, nptype, volume
from tenfold.tensorrt._versioned import InterfaceInfo, IVersionedInterface
from tenfold.tensorrt._weights import Weights

__version__ = '10.16.0'
globals().update({made.__name__: made for made in [*_CLASSES.values(), *_BOUNDARIES]})   # IConvolutionLayer ...
float32, float16, int8, int32, bool, uint8, fp8, bfloat16, int64, int4, fp4, e8m0 = DataType   # noqa: A001


def init_libnvinfer_plugins(logger: Any, namespace: str) -> Any:
    """True. NVIDIA's library of plug-ins is not here: models are ONNX's operators."""
    if logger is not None:
        say_once(need_logger(logger), "init_libnvinfer_plugins() registers nothing: NVIDIA's plug-ins are not in Tenfold", ILogger.INFO)
    return True


def get_builder_plugin_registry(capability: EngineCapability) -> IPluginRegistry | None:
    """The one that there is; None for other capabilities than STANDARD."""
    return get_plugin_registry() if EngineCapability(capability) == EngineCapability.STANDARD else None


def get_nv_onnx_parser_version() -> int:
    """Of the parser whose names these are: 101600 for 10.16.0."""
    return sum(int(part) * scale for part, scale in zip(__version__.split('.'), (10000, 100, 1)))


__all__ = [
    'ActivationType', 'AllocatorFlag', 'APILanguage', 'AttentionNormalizationOp', 'bfloat16', 'bool',
    'BoundingBoxFormat', 'Builder', 'BuilderFlag', 'CaffeParser', 'CalibrationAlgoType', 'CollectiveOperation', 'CumulativeOperation',
    'DataType', 'DeviceType', 'DimensionOperation', 'Dims', 'Dims2', 'Dims3', 'Dims4', 'DimsExprs', 'DimsHW',
    'DynamicPluginTensorDesc', 'e8m0', 'ElementWiseOperation', 'EngineCapability', 'EngineInspector', 'EngineStat',
    'ErrorCode', 'ErrorCodeTRT', 'ExecutionContextAllocationStrategy', 'FallbackString', 'FieldCollection', 'FieldMap',
    'FieldType', 'FillOperation', 'IBlobNameToTensor',
    'ICaffePluginFactoryV2', 'IRNNv2Layer', 'RNNDirection', 'RNNGateType', 'RNNInputMode', 'RNNOperation',
    'shutdown_protobuf_library', 'UffInputOrder', 'UffParser', 'float16',
    'float32', 'fp4', 'fp8', 'GatherMode', 'get_builder_plugin_registry', 'get_nv_onnx_parser_version',
    'get_plugin_registry', 'HardwareCompatibilityLevel', 'IAlgorithm', 'IAlgorithmContext', 'IAlgorithmIOInfo',
    'IAlgorithmSelector', 'IAlgorithmVariant', 'IAttention', 'IBuilderConfig', 'ICudaEngine', 'IDebugListener',
    'IDimensionExpr', 'IDistCollectiveLayer', 'IErrorRecorder', 'IExecutionContext', 'IExprBuilder', 'IGpuAllocator',
    'IGpuAsyncAllocator', 'IHostMemory', 'IIfConditional', 'IInt8Calibrator', 'IInt8EntropyCalibrator',
    'IInt8EntropyCalibrator2', 'IInt8LegacyCalibrator', 'IInt8MinMaxCalibrator', 'ILayer', 'ILogger', 'ILoop',
    'IMoELayer', 'INetworkDefinition', 'init_libnvinfer_plugins', 'install', 'int32', 'int4', 'int64', 'int8',
    'InterfaceInfo', 'InterpolationMode', 'IOptimizationProfile', 'IOutputAllocator', 'IPluginCapability',
    'IPluginCreator', 'IPluginCreatorInterface', 'IPluginCreatorV3One', 'IPluginCreatorV3Quick', 'IPluginRegistry',
    'IPluginResource', 'IPluginResourceContext', 'IPluginV2', 'IPluginV2DynamicExt', 'IPluginV2DynamicExtBase',
    'IPluginV2Ext', 'IPluginV3', 'IPluginV3OneBuild', 'IPluginV3OneBuildV2', 'IPluginV3OneCore', 'IPluginV3OneRuntime',
    'IPluginV3QuickAOTBuild', 'IPluginV3QuickBuild', 'IPluginV3QuickCore', 'IPluginV3QuickRuntime', 'IProfiler',
    'IProgressMonitor', 'IRuntimeConfig', 'ISerializationConfig', 'IStreamReader', 'IStreamReaderV2', 'IStreamWriter',
    'ISymExpr', 'ISymExprs', 'ITensor', 'ITimingCache', 'IVersionedInterface', 'KernelLaunchParams', 'KVCacheMode',
    'LayerInformationFormat', 'LayerType', 'Logger', 'LoopOutput', 'MatrixOperation', 'MemoryPoolType', 'MoEActType',
    'NetworkDefinitionCreationFlag', 'NodeIndices', 'nptype', 'OnnxParser', 'OnnxParserFlag', 'OnnxParserRefitter',
    'PaddingMode', 'ParserError', 'Permutation', 'PluginArgDataType', 'PluginArgType', 'PluginCapabilityType',
    'PluginCreatorVersion', 'PluginField', 'PluginFieldCollection', 'PluginFieldCollection_', 'PluginFieldType',
    'PluginTensorDesc', 'PoolingType', 'PreviewFeature', 'Profiler', 'ProfilingVerbosity', 'QuantizationFlag',
    'QuickPluginCreationRequest', 'ReduceOperation', 'Refitter', 'ResizeCoordinateTransformation', 'ResizeMode',
    'ResizeRoundMode', 'ResizeSelector', 'Runtime', 'RuntimePlatform', 'SampleMode', 'ScaleMode', 'ScatterMode',
    'SeekPosition', 'SerializationFlag', 'SliceMode', 'SubGraphCollection', 'TacticSource', 'TempfileControlFlag',
    'TensorFormat', 'TensorIOMode', 'TensorLocation', 'TensorRTPhase', 'TilingOptimizationLevel', 'TimingCacheKey',
    'TimingCacheValue', 'TopKOperation', 'TripLimit', 'uint8', 'UnaryOperation', 'volume', 'Weights', 'WeightsRole',
    '__version__',
    *(made.__name__ for made in [*_CLASSES.values(), *_BOUNDARIES]),
]

_give_reprs(globals())
sys.modules[__name__ + '.tensorrt'] = tensorrt = sys.modules[__name__]   # the extension inside TensorRT's package has the same names


def __getattr__(name: str) -> Any:
    if name == 'KernelLaunchParams':   # of tensorrt.plugin, which most scripts never import
        from tenfold.tensorrt.plugin import KernelLaunchParams
        return KernelLaunchParams
    raise AttributeError(f'tenfold.tensorrt has no {name!r}; it has {", ".join(__all__)}')
