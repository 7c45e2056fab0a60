"""LayerType of ONNX's operators, for layers that were parsed."""
from __future__ import annotations

from tenfold.tensorrt._layer_enums import LayerType

_OPERATORS = {
    'CONVOLUTION': 'Conv ConvFloat8 ConvInteger DeformConv', 'DECONVOLUTION': 'ConvTranspose', 'CAST': 'Cast CastLike',
    'ACTIVATION': 'Relu Sigmoid Tanh LeakyRelu Elu Selu Softsign Softplus Clip HardSigmoid ThresholdedRelu Gelu '
                  'ScaledTanh HardSwish Swish Celu Mish Shrink',
    'POOLING': 'MaxPool AveragePool GlobalMaxPool GlobalAveragePool LpPool GlobalLpPool', 'LRN': 'LRN', 'SCALE': 'BatchNormalization',
    'SOFTMAX': 'Softmax LogSoftmax Hardmax', 'CONCATENATION': 'Concat',
    'ELEMENTWISE': 'Add Sub Mul Div Pow Min Max Mod And Or Xor Equal Less LessOrEqual Greater GreaterOrEqual Sum Mean BitShift BitwiseAnd '
                   'BitwiseOr BitwiseXor',
    'UNARY': 'Exp Log Sqrt Reciprocal Abs Neg Sin Cos Tan Sinh Cosh Asin Acos Atan Asinh Acosh Atanh Ceil Floor '
             'Erf Not Sign Round IsInf IsNaN BitwiseNot',
    'PADDING': 'Pad', 'SHUFFLE': 'Reshape Transpose Flatten DepthToSpace SpaceToDepth', 'TOPK': 'TopK ArgMax ArgMin',
    'REDUCE': 'ReduceSum ReduceProd ReduceMax ReduceMin ReduceMean ReduceL1 ReduceL2 ReduceSumSquare ReduceLogSum ReduceLogSumExp',
    'GATHER': 'Gather GatherElements GatherND', 'MATRIX_MULTIPLY': 'MatMul Gemm MatMulFloat8 MatMulInteger',
    'CONSTANT': 'Constant ConstantOfShape', 'IDENTITY': 'Identity Dropout', 'SLICE': 'Slice Split Expand Tile', 'SHAPE': 'Shape Size',
    'PARAMETRIC_RELU': 'PRelu', 'RESIZE': 'Resize Upsample',
    'LOOP_OUTPUT': 'Loop Scan LSTM GRU RNN', 'SELECT': 'Where', 'FILL': 'Range RandomUniform RandomNormal',
    'QUANTIZE': 'QuantizeLinear DynamicQuantizeLinear', 'DEQUANTIZE': 'DequantizeLinear', 'CONDITIONAL_OUTPUT': 'If',
    'SCATTER': 'ScatterElements ScatterND', 'EINSUM': 'Einsum', 'ASSERTION': 'Assert', 'ONE_HOT': 'OneHot', 'NON_ZERO': 'NonZero',
    'GRID_SAMPLE': 'GridSample', 'NMS': 'NonMaxSuppression', 'REVERSE_SEQUENCE': 'ReverseSequence',
    'NORMALIZATION': 'LayerNormalization GroupNormalization InstanceNormalization RMSNormalization MeanVarianceNormalization',
    'SQUEEZE': 'Squeeze', 'UNSQUEEZE': 'Unsqueeze', 'CUMULATIVE': 'CumSum', 'ATTENTION_OUTPUT': 'Attention FusedAttention',
    'ROTARY_EMBEDDING': 'RotaryEmbedding', 'KV_CACHE_UPDATE': 'TensorScatter',
}
_TYPES = {op: LayerType[kind] for kind, ops in _OPERATORS.items() for op in ops.split()}


def layer_type(op: str) -> LayerType:
    """What TensorRT has no layer for, it would have as a plug-in."""
    return _TYPES.get(op, LayerType.PLUGIN_V3)
