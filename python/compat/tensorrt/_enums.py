"""TensorRT's enumerations with the values of 10.16. Members that 8.x had under other names are aliases."""
from __future__ import annotations

import enum


class Enum(enum.IntEnum):
    """As TensorRT's: prints with the class in front, is a whole number to shift by, and true even where that is 0."""

    def __str__(self) -> str: return f'{type(self).__name__}.{self.name}'
    def __repr__(self) -> str: return f'<{self}: {int(self)}>'
    def __format__(self, form: str) -> str: return format(str(self), form)
    def __bool__(self) -> bool: return True

    @classmethod
    def unknown(cls, mask: int) -> bool:
        """Whether a mask has bits of no member."""
        return mask < 0 or mask & ~sum({1 << int(member) for member in cls}) != 0


class DataType(Enum):
    FLOAT, HALF, INT8, INT32, BOOL, UINT8, FP8, BF16, INT64, INT4, FP4, E8M0 = range(12)

    @property
    def itemsize(self) -> float:
        """Bytes of an element; half of one where two share it."""
        return {'FLOAT': 4, 'INT32': 4, 'HALF': 2, 'BF16': 2, 'INT64': 8, 'INT4': 0.5, 'FP4': 0.5}.get(self.name, 1)


class APILanguage(Enum):
    CPP, PYTHON = range(2)


class AllocatorFlag(Enum):
    RESIZABLE = 0


class BuilderFlag(Enum):
    (FP16, INT8, DEBUG, GPU_FALLBACK, REFIT, DISABLE_TIMING_CACHE, TF32, SPARSE_WEIGHTS, SAFETY_SCOPE, OBEY_PRECISION_CONSTRAINTS,
     PREFER_PRECISION_CONSTRAINTS, DIRECT_IO, REJECT_EMPTY_ALGORITHMS, VERSION_COMPATIBLE, EXCLUDE_LEAN_RUNTIME, FP8,
     ERROR_ON_TIMING_CACHE_MISS, BF16, DISABLE_COMPILATION_CACHE, STRIP_PLAN, REFIT_IDENTICAL, WEIGHT_STREAMING, INT4, REFIT_INDIVIDUAL,
     STRICT_NANS, MONITOR_MEMORY, FP4, EDITABLE_TIMING_CACHE, DISTRIBUTIVE_INDEPENDENCE) = range(29)
    WEIGHTLESS = STRIP_PLAN
    STRICT_TYPES = OBEY_PRECISION_CONSTRAINTS   # 8.x
    ENABLE_TACTIC_HEURISTIC = 40                # 8.x had another number for it, which is another's now


class CalibrationAlgoType(Enum):
    LEGACY_CALIBRATION, ENTROPY_CALIBRATION, ENTROPY_CALIBRATION_2, MINMAX_CALIBRATION = range(4)


class EngineStat(Enum):
    TOTAL_WEIGHTS_SIZE, STRIPPED_WEIGHTS_SIZE = range(2)


class Severity(Enum):
    INTERNAL_ERROR, ERROR, WARNING, INFO, VERBOSE = range(5)


class DeviceType(Enum):
    GPU, DLA = range(2)


class EngineCapability(Enum):
    STANDARD, SAFETY, DLA_STANDALONE = range(3)
    DEFAULT, SAFE_GPU, SAFE_DLA = STANDARD, SAFETY, DLA_STANDALONE   # 8.x


class ErrorCode(Enum):
    (SUCCESS, INTERNAL_ERROR, MEM_ALLOC_FAILED, MODEL_DESERIALIZE_FAILED, INVALID_VALUE, INVALID_GRAPH, INVALID_NODE,
     UNSUPPORTED_GRAPH, UNSUPPORTED_NODE, UNSUPPORTED_NODE_ATTR, UNSUPPORTED_NODE_INPUT, UNSUPPORTED_NODE_DATATYPE,
     UNSUPPORTED_NODE_DYNAMIC, UNSUPPORTED_NODE_SHAPE, REFIT_FAILED) = range(15)


class ErrorCodeTRT(Enum):
    (SUCCESS, UNSPECIFIED_ERROR, INTERNAL_ERROR, INVALID_ARGUMENT, INVALID_CONFIG, FAILED_ALLOCATION, FAILED_INITIALIZATION,
     FAILED_EXECUTION, FAILED_COMPUTATION, INVALID_STATE, UNSUPPORTED_STATE) = range(11)


class ExecutionContextAllocationStrategy(Enum):
    STATIC, ON_PROFILE_CHANGE, USER_MANAGED = range(3)


class HardwareCompatibilityLevel(Enum):
    NONE, AMPERE_PLUS, SAME_COMPUTE_CAPABILITY = range(3)


class LayerInformationFormat(Enum):
    ONELINE, JSON = range(2)


class MemoryPoolType(Enum):
    WORKSPACE, DLA_MANAGED_SRAM, DLA_LOCAL_DRAM, DLA_GLOBAL_DRAM, TACTIC_DRAM, TACTIC_SHARED_MEMORY = range(6)


class NetworkDefinitionCreationFlag(Enum):
    EXPLICIT_BATCH, STRONGLY_TYPED, PREFER_JIT_PYTHON_PLUGINS, PREFER_AOT_PYTHON_PLUGINS = range(4)
    EXPLICIT_PRECISION = 40   # of 8.x, where it changed nothing


class OnnxParserFlag(Enum):
    (NATIVE_INSTANCENORM, ENABLE_UINT8_AND_ASYMMETRIC_QUANTIZATION_DLA, REPORT_CAPABILITY_DLA, ENABLE_PLUGIN_OVERRIDE,
     ADJUST_FOR_DLA) = range(5)


class PreviewFeature(Enum):
    PROFILE_SHARING_0806, ALIASED_PLUGIN_IO_10_03, RUNTIME_ACTIVATION_RESIZE_10_10, MULTIDEVICE_RUNTIME_10_16 = range(4)
    FASTER_DYNAMIC_SHAPES_0805, DISABLE_EXTERNAL_TACTIC_SOURCES_FOR_CORE_0805 = 1000, 1001   # 8.x


class ProfilingVerbosity(Enum):
    LAYER_NAMES_ONLY, NONE, DETAILED = range(3)
    DEFAULT, VERBOSE = LAYER_NAMES_ONLY, DETAILED   # 8.x


class QuantizationFlag(Enum):
    CALIBRATE_BEFORE_FUSION = 0


class RuntimePlatform(Enum):
    SAME_AS_BUILD, WINDOWS_AMD64 = range(2)


class SeekPosition(Enum):
    SET, CUR, END = range(3)


class SerializationFlag(Enum):
    EXCLUDE_WEIGHTS, EXCLUDE_LEAN_RUNTIME, INCLUDE_REFIT = range(3)


class TacticSource(Enum):
    CUBLAS, CUBLAS_LT, CUDNN, EDGE_MASK_CONVOLUTIONS, JIT_CONVOLUTIONS = range(5)


class TempfileControlFlag(Enum):
    ALLOW_IN_MEMORY_FILES, ALLOW_TEMPORARY_FILES = range(2)


class TilingOptimizationLevel(Enum):
    NONE, FAST, MODERATE, FULL = range(4)


class TensorFormat(Enum):
    LINEAR, CHW2, HWC8, CHW4, CHW16, CHW32, DHWC8, CDHW32, HWC, DLA_LINEAR, DLA_HWC4, HWC16, DHWC = range(13)


class TensorIOMode(Enum):
    NONE, INPUT, OUTPUT = range(3)


class TensorLocation(Enum):
    DEVICE, HOST = range(2)
