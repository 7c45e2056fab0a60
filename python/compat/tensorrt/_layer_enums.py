"""Enumerations of layers, with the values of 10.16; 8.x's names are aliases."""
from __future__ import annotations

from tenfold.tensorrt._enums import Enum


class LayerType(Enum):
    (CONVOLUTION, CAST, ACTIVATION, POOLING, LRN, SCALE, SOFTMAX, DECONVOLUTION, CONCATENATION, ELEMENTWISE, PLUGIN, UNARY, PADDING,
     SHUFFLE, REDUCE, TOPK, GATHER, MATRIX_MULTIPLY, RAGGED_SOFTMAX, CONSTANT, IDENTITY, PLUGIN_V2, SLICE, SHAPE, PARAMETRIC_RELU, RESIZE,
     TRIP_LIMIT, RECURRENCE, ITERATOR, LOOP_OUTPUT, SELECT, FILL, QUANTIZE, DEQUANTIZE, CONDITION, CONDITIONAL_INPUT, CONDITIONAL_OUTPUT,
     SCATTER, EINSUM, ASSERTION, ONE_HOT, NON_ZERO, GRID_SAMPLE, NMS, REVERSE_SEQUENCE, NORMALIZATION, PLUGIN_V3, SQUEEZE, UNSQUEEZE,
     CUMULATIVE, DYNAMIC_QUANTIZE, ATTENTION_INPUT, ATTENTION_OUTPUT, ROTARY_EMBEDDING, KV_CACHE_UPDATE, MOE, DIST_COLLECTIVE) = range(57)
    FULLY_CONNECTED, RNN_V2 = 1000, 1001   # 8.x had other numbers for them, which are others' now


class ActivationType(Enum):
    (RELU, SIGMOID, TANH, LEAKY_RELU, ELU, SELU, SOFTSIGN, SOFTPLUS, CLIP, HARD_SIGMOID, SCALED_TANH, THRESHOLDED_RELU, GELU_ERF,
     GELU_TANH) = range(14)


class AttentionNormalizationOp(Enum):
    NONE, SOFTMAX = range(2)


class BoundingBoxFormat(Enum):
    CORNER_PAIRS, CENTER_SIZES = range(2)


class CollectiveOperation(Enum):
    ALL_REDUCE, ALL_GATHER, BROADCAST, REDUCE, REDUCE_SCATTER = range(5)


class CumulativeOperation(Enum):
    SUM = 0


class ElementWiseOperation(Enum):
    SUM, PROD, MAX, MIN, SUB, DIV, POW, FLOOR_DIV, AND, OR, XOR, EQUAL, GREATER, LESS = range(14)


class FillOperation(Enum):
    LINSPACE, RANDOM_UNIFORM, RANDOM_NORMAL = range(3)


class GatherMode(Enum):
    DEFAULT, ELEMENT, ND = range(3)


class InterpolationMode(Enum):
    NEAREST, LINEAR, CUBIC = range(3)


class KVCacheMode(Enum):
    LINEAR = 0


class MatrixOperation(Enum):
    NONE, TRANSPOSE, VECTOR = range(3)


class MoEActType(Enum):
    NONE, SILU = range(2)


class PaddingMode(Enum):
    EXPLICIT_ROUND_DOWN, EXPLICIT_ROUND_UP, SAME_UPPER, SAME_LOWER = range(4)
    CAFFE_ROUND_DOWN, CAFFE_ROUND_UP = 4, 5   # 8.x: pre_padding on both sides


class PoolingType(Enum):
    MAX, AVERAGE, MAX_AVERAGE_BLEND = range(3)


class ReduceOperation(Enum):
    SUM, PROD, MAX, MIN, AVG, NONE = range(6)


class ResizeCoordinateTransformation(Enum):
    ALIGN_CORNERS, ASYMMETRIC, HALF_PIXEL = range(3)


class ResizeRoundMode(Enum):
    HALF_UP, HALF_DOWN, FLOOR, CEIL = range(4)


class ResizeSelector(Enum):
    FORMULA, UPPER = range(2)


class SampleMode(Enum):
    STRICT_BOUNDS, WRAP, CLAMP, FILL, REFLECT = range(5)
    DEFAULT = STRICT_BOUNDS   # 8.x


class ScaleMode(Enum):
    UNIFORM, CHANNEL, ELEMENTWISE = range(3)


class ScatterMode(Enum):
    ELEMENT, ND = range(2)


class TopKOperation(Enum):
    MAX, MIN = range(2)


class UnaryOperation(Enum):
    (EXP, LOG, SQRT, RECIP, ABS, NEG, SIN, COS, TAN, SINH, COSH, ASIN, ACOS, ATAN, ASINH, ACOSH, ATANH, CEIL, FLOOR, ERF, NOT, SIGN, ROUND,
     ISINF, ISNAN) = range(25)


ResizeMode, SliceMode = InterpolationMode, SampleMode   # 8.x


class LoopOutput(Enum):
    LAST_VALUE, CONCATENATE, REVERSE = range(3)


class TripLimit(Enum):
    COUNT, WHILE = range(2)
