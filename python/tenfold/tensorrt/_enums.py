"""TensorRT's enumerations with the values of 10.16. Members that 8.x had under other names are aliases."""
from __future__ import annotations

import enum


class Enum(enum.IntEnum):
    """As TensorRT's: prints with the class in front, is a whole number to shift by, and true even where that is 0."""

    def __str__(self) -> str: return f'{type(self).__name__}.{self.name}'
    def __repr__(self) -> str: return f'<{self}: {int(self)}>'
    def __format__(self, form: str) -> str: return format(str(self), form)
    def __bool__(self) -> bool: return True


def _members(name: str, names: str) -> type[Enum]:
    """Members in the order of their values, from 0."""
    made = Enum(name, [(member, value) for value, member in enumerate(names.split())], module='tenfold.tensorrt')   # type: ignore[call-overload]
    return made   # type: ignore[no-any-return]


class DataType(Enum):
    FLOAT, HALF, INT8, INT32, BOOL, UINT8, FP8, BF16, INT64, INT4, FP4, E8M0 = range(12)

    @property
    def itemsize(self) -> float:
        """Bytes of an element; half of one where two share it."""
        return {'FLOAT': 4, 'INT32': 4, 'HALF': 2, 'BF16': 2, 'INT64': 8, 'INT4': 0.5, 'FP4': 0.5}.get(self.name, 1)


class BuilderFlag(Enum):
    (FP16, INT8, DEBUG, GPU_FALLBACK, REFIT, DISABLE_TIMING_CACHE, TF32, SPARSE_WEIGHTS, SAFETY_SCOPE, OBEY_PRECISION_CONSTRAINTS,
     PREFER_PRECISION_CONSTRAINTS, DIRECT_IO, REJECT_EMPTY_ALGORITHMS, VERSION_COMPATIBLE, EXCLUDE_LEAN_RUNTIME, FP8,
     ERROR_ON_TIMING_CACHE_MISS, BF16, DISABLE_COMPILATION_CACHE, STRIP_PLAN, REFIT_IDENTICAL, WEIGHT_STREAMING, INT4, REFIT_INDIVIDUAL,
     STRICT_NANS, MONITOR_MEMORY, FP4, EDITABLE_TIMING_CACHE, DISTRIBUTIVE_INDEPENDENCE) = range(29)
    WEIGHTLESS = STRIP_PLAN
    STRICT_TYPES = OBEY_PRECISION_CONSTRAINTS   # 8.x


Severity = _members('Severity', 'INTERNAL_ERROR ERROR WARNING INFO VERBOSE')
DeviceType = _members('DeviceType', 'GPU DLA')
EngineCapability = _members('EngineCapability', 'STANDARD SAFETY DLA_STANDALONE')
ErrorCode = _members('ErrorCode', '''SUCCESS INTERNAL_ERROR MEM_ALLOC_FAILED MODEL_DESERIALIZE_FAILED INVALID_VALUE INVALID_GRAPH
    INVALID_NODE UNSUPPORTED_GRAPH UNSUPPORTED_NODE UNSUPPORTED_NODE_ATTR UNSUPPORTED_NODE_INPUT UNSUPPORTED_NODE_DATATYPE
    UNSUPPORTED_NODE_DYNAMIC UNSUPPORTED_NODE_SHAPE REFIT_FAILED''')
ExecutionContextAllocationStrategy = _members('ExecutionContextAllocationStrategy', 'STATIC ON_PROFILE_CHANGE USER_MANAGED')
HardwareCompatibilityLevel = _members('HardwareCompatibilityLevel', 'NONE AMPERE_PLUS SAME_COMPUTE_CAPABILITY')
LayerInformationFormat = _members('LayerInformationFormat', 'ONELINE JSON')
MemoryPoolType = _members('MemoryPoolType', 'WORKSPACE DLA_MANAGED_SRAM DLA_LOCAL_DRAM DLA_GLOBAL_DRAM TACTIC_DRAM TACTIC_SHARED_MEMORY')
NetworkDefinitionCreationFlag = _members('NetworkDefinitionCreationFlag',
                                         'EXPLICIT_BATCH STRONGLY_TYPED PREFER_AOT_PYTHON_PLUGINS PREFER_JIT_PYTHON_PLUGINS')
OnnxParserFlag = _members('OnnxParserFlag', '''NATIVE_INSTANCENORM ENABLE_UINT8_AND_ASYMMETRIC_QUANTIZATION_DLA REPORT_CAPABILITY_DLA
    ENABLE_PLUGIN_OVERRIDE ADJUST_FOR_DLA''')
PreviewFeature = _members('PreviewFeature', '''PROFILE_SHARING_0806 ALIASED_PLUGIN_IO_10_03 RUNTIME_ACTIVATION_RESIZE_10_10
    MULTIDEVICE_RUNTIME_10_16''')
ProfilingVerbosity = _members('ProfilingVerbosity', 'LAYER_NAMES_ONLY NONE DETAILED')
QuantizationFlag = _members('QuantizationFlag', 'CALIBRATE_BEFORE_FUSION')
TacticSource = _members('TacticSource', 'CUBLAS CUBLAS_LT CUDNN EDGE_MASK_CONVOLUTIONS JIT_CONVOLUTIONS')
TensorFormat = _members('TensorFormat', 'LINEAR CHW2 HWC8 CHW4 CHW16 CHW32 DHWC8 CDHW32 HWC DLA_LINEAR DLA_HWC4 HWC16 DHWC')
TensorIOMode = _members('TensorIOMode', 'NONE INPUT OUTPUT')
TensorLocation = _members('TensorLocation', 'DEVICE HOST')
