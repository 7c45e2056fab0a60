"""The kinds of layers: TensorRT's class, its LayerType, and what type each option has. Options and defaults are tenfold/layers.h's."""
from __future__ import annotations

from typing import Any, NamedTuple

from tenfold.tensorrt import _layer_enums as e
from tenfold.tensorrt._enums import DataType
from tenfold.tensorrt._types import Dims
from tenfold.tensorrt._weights import Weights

_WINDOW: dict[str, Any] = {'stride_nd': Dims, 'pre_padding': Dims, 'post_padding': Dims, 'padding_mode': e.PaddingMode}
_CONVOLUTION: dict[str, Any] = {**_WINDOW, 'num_output_maps': int, 'kernel_size_nd': Dims, 'dilation_nd': Dims, 'num_groups': int,
                                'kernel': Weights, 'bias': Weights}


class Kind(NamedTuple):
    class_name: str
    options: dict[str, Any]
    region: str = ''          # 'loop' or 'conditional': what the layer belongs to


KINDS = {
    'activation': Kind('IActivationLayer', {'type': e.ActivationType, 'alpha': float, 'beta': float}),
    'assertion': Kind('IAssertionLayer', {'message': str}),
    'attention': Kind('IAttentionOutputLayer', {'norm_op': e.AttentionNormalizationOp, 'causal': bool, 'decomposable': bool,
                                                'normalization_quantize_to_type': DataType}),
    'cast': Kind('ICastLayer', {'to_type': DataType}),
    'concatenation': Kind('IConcatenationLayer', {'axis': int}),
    'condition': Kind('IConditionLayer', {}, region='conditional'),
    'conditional_input': Kind('IIfConditionalInputLayer', {}, region='conditional'),
    'conditional_output': Kind('IIfConditionalOutputLayer', {}, region='conditional'),
    'constant': Kind('IConstantLayer', {'weights': Weights, 'shape': Dims}),
    'convolution': Kind('IConvolutionLayer', _CONVOLUTION),
    'cumulative': Kind('ICumulativeLayer', {'op': e.CumulativeOperation, 'exclusive': bool, 'reverse': bool}),
    'deconvolution': Kind('IDeconvolutionLayer', _CONVOLUTION),
    'dequantize': Kind('IDequantizeLayer', {'axis': int, 'to_type': DataType, 'block_shape': Dims}),
    'dynamic_quantize': Kind('IDynamicQuantizeLayer', {'axis': int, 'block_size': int, 'block_shape': Dims, 'to_type': DataType,
                                                       'scale_type': DataType}),
    'einsum': Kind('IEinsumLayer', {'equation': str}),
    'elementwise': Kind('IElementWiseLayer', {'op': e.ElementWiseOperation}),
    'fill': Kind('IFillLayer', {'shape': Dims, 'operation': e.FillOperation, 'alpha': float, 'beta': float, 'to_type': DataType}),
    'fully_connected': Kind('IFullyConnectedLayer', {'num_output_channels': int, 'kernel': Weights, 'bias': Weights}),
    'gather': Kind('IGatherLayer', {'axis': int, 'mode': e.GatherMode, 'num_elementwise_dims': int}),
    'grid_sample': Kind('IGridSampleLayer', {'interpolation_mode': e.InterpolationMode, 'align_corners': bool,
                                             'sample_mode': e.SampleMode}),
    'identity': Kind('IIdentityLayer', {'to_type': DataType}),
    'iterator': Kind('IIteratorLayer', {'axis': int, 'reverse': bool}, region='loop'),
    'kv_cache_update': Kind('IKVCacheUpdateLayer', {'cache_mode': e.KVCacheMode}),
    'loop_output': Kind('ILoopOutputLayer', {'kind': e.LoopOutput, 'axis': int}, region='loop'),
    'lrn': Kind('ILRNLayer', {'window_size': int, 'alpha': float, 'beta': float, 'k': float}),
    'matrix_multiply': Kind('IMatrixMultiplyLayer', {'op0': e.MatrixOperation, 'op1': e.MatrixOperation}),
    'nms': Kind('INMSLayer', {'bounding_box_format': e.BoundingBoxFormat, 'indices_type': DataType}),
    'non_zero': Kind('INonZeroLayer', {'indices_type': DataType}),
    'normalization': Kind('INormalizationLayer', {'axes': int, 'epsilon': float, 'num_groups': int}),
    'one_hot': Kind('IOneHotLayer', {'axis': int}),
    'padding': Kind('IPaddingLayer', {'pre_padding_nd': Dims, 'post_padding_nd': Dims}),
    'parametric_relu': Kind('IParametricReLULayer', {}),
    'plugin_v2': Kind('IPluginV2Layer', {}),
    'plugin_v3': Kind('IPluginV3Layer', {}),
    'pooling': Kind('IPoolingLayer', {**_WINDOW, 'type': e.PoolingType, 'window_size_nd': Dims, 'blend_factor': float,
                                      'average_count_excludes_padding': bool}),
    'quantize': Kind('IQuantizeLayer', {'axis': int, 'to_type': DataType, 'block_shape': Dims}),
    'ragged_softmax': Kind('IRaggedSoftMaxLayer', {}),
    'recurrence': Kind('IRecurrenceLayer', {}, region='loop'),
    'reduce': Kind('IReduceLayer', {'op': e.ReduceOperation, 'axes': int, 'keep_dims': bool}),
    'resize': Kind('IResizeLayer', {
        'shape': Dims, 'scales': list, 'resize_mode': e.InterpolationMode, 'coordinate_transformation': e.ResizeCoordinateTransformation,
        'nearest_rounding': e.ResizeRoundMode, 'selector_for_single_pixel': e.ResizeSelector, 'cubic_coeff': float,
        'exclude_outside': bool}),
    'reverse_sequence': Kind('IReverseSequenceLayer', {'batch_axis': int, 'sequence_axis': int}),
    'rotary_embedding': Kind('IRotaryEmbeddingLayer', {'interleaved': bool, 'rotary_embedding_dim': int}),
    'scale': Kind('IScaleLayer', {'mode': e.ScaleMode, 'channel_axis': int, 'shift': Weights, 'scale': Weights, 'power': Weights}),
    'scatter': Kind('IScatterLayer', {'mode': e.ScatterMode, 'axis': int}),
    'select': Kind('ISelectLayer', {}),
    'shape': Kind('IShapeLayer', {}),
    'shuffle': Kind('IShuffleLayer', {'first_transpose': Dims, 'reshape_dims': Dims, 'second_transpose': Dims,
                                      'zero_is_placeholder': bool}),
    'slice': Kind('ISliceLayer', {'start': Dims, 'shape': Dims, 'stride': Dims, 'axes': Dims, 'mode': e.SampleMode}),
    'softmax': Kind('ISoftMaxLayer', {'axes': int}),
    'squeeze': Kind('ISqueezeLayer', {}),
    'topk': Kind('ITopKLayer', {'op': e.TopKOperation, 'k': int, 'axes': int, 'indices_type': DataType}),
    'trip_limit': Kind('ITripLimitLayer', {'kind': e.TripLimit}, region='loop'),
    'unary': Kind('IUnaryLayer', {'op': e.UnaryOperation}),
    'unsqueeze': Kind('IUnsqueezeLayer', {}),
}
# 8.x's names of options in two dims, and one name for both sides of a padding.
ALIASES = {'pre_padding': ('pre_padding_nd',), 'post_padding': ('post_padding_nd',), 'stride': ('stride_nd',),
           'kernel_size': ('kernel_size_nd',), 'window_size': ('window_size_nd',), 'dilation': ('dilation_nd',),
           'padding': ('pre_padding', 'post_padding'), 'padding_nd': ('pre_padding', 'post_padding')}
# What TensorRT writes between brackets in a layer's name; others are their parts with capitals.
_TITLES = {'elementwise': 'ElementWise', 'fully_connected': 'Fully Connected', 'lrn': 'LRN', 'matrix_multiply': 'Matrix Multiply',
           'nms': 'NMS', 'parametric_relu': 'ParametricReLU', 'plugin_v2': 'PluginV2DynamicExt', 'plugin_v3': 'PluginV3_V3ONE',
           'ragged_softmax': 'RaggedSoftMax', 'topk': 'TopK'}


def title_of(kind: str) -> str: return _TITLES.get(kind) or ''.join(part.title() for part in kind.split('_'))
