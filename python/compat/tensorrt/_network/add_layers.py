"""INetworkDefinition.add_*: forms of arguments. What a layer means is in tenfold/layers.h and below it."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenfold.tensorrt._enums import DataType
from tenfold.tensorrt._layer_enums import (
    AttentionNormalizationOp, CumulativeOperation, ElementWiseOperation, FillOperation, GatherMode, KVCacheMode, MatrixOperation,
    PoolingType, ReduceOperation, ScaleMode, ScatterMode, TopKOperation, UnaryOperation,
)
from tenfold.tensorrt._names import refused
from tenfold.tensorrt._network.attention import IAttention
from tenfold.tensorrt._network.control_flow import IIfConditional, ILoop
from tenfold.tensorrt._network.layer_at import MadeAt
from tenfold.tensorrt._network.layer_kinds import KINDS, title_of
from tenfold.tensorrt._network.made_layer import CLASSES, to_native
from tenfold.tensorrt._network.tensor import ITensor
from tenfold.tensorrt._types import native_dtype

_NOT_YET = ('plugin_ext', 'attention_v2')


class AddLayers:
    """The network's methods that add layers. Each returns the layer, whose options may be set until the build."""

    def _add(self, of: str, /, *operands: Any, **options: Any) -> Any:
        made: Any = self._layers_made()   # type: ignore[attr-defined]
        types = {**KINDS[of].options, 'region': int}
        native = {name: to_native(types[name], value) for name, value in options.items() if value is not None}
        number = made.add(of, [self._operand(t) for t in operands], native, f'(Unnamed Layer* {made.count()}) [{title_of(of)}]')
        return CLASSES[of](self, MadeAt(self, number))

    def _operand(self, tensor: Any) -> Any:
        if tensor is not None and not isinstance(tensor, ITensor):
            raise TypeError(f'layers take tensors (get_output(0) of a layer, add_input()), got {type(tensor).__name__}')
        return None if tensor is None else tensor._operand()

    def add_input(self, name: str, dtype: DataType, shape: Sequence[int]) -> ITensor:
        """-1: an extent that a profile decides."""
        dims = [f'{name}_{i}' if extent == -1 else int(extent) for i, extent in enumerate(shape)]
        return ITensor(self, self._graph.input(name, native_dtype(dtype), dims))   # type: ignore[attr-defined]

    def add_assertion(self, condition: Any, message: str) -> Any: return self._add('assertion', condition, message=message)

    def add_attention(self, query: Any, key: Any, value: Any, norm_op: AttentionNormalizationOp, causal: bool) -> IAttention:
        return IAttention(self._add('attention', query, key, value, norm_op=norm_op, causal=causal))

    def add_activation(self, input: Any, type: Any) -> Any: return self._add('activation', input, type=type)
    def add_cast(self, input: Any, to_type: DataType) -> Any: return self._add('cast', input, to_type=to_type)
    def add_concatenation(self, inputs: Sequence[Any]) -> Any: return self._add('concatenation', *inputs)
    def add_constant(self, shape: Sequence[int], weights: Any) -> Any: return self._add('constant', shape=shape, weights=weights)

    def add_convolution_nd(self, input: Any, num_output_maps: int, kernel_shape: Sequence[int], kernel: Any, bias: Any = None) -> Any:
        return self._add('convolution', input, num_output_maps=num_output_maps, kernel_size_nd=kernel_shape, kernel=kernel, bias=bias)

    def add_deconvolution_nd(self, input: Any, num_output_maps: int, kernel_shape: Sequence[int], kernel: Any, bias: Any = None) -> Any:
        return self._add('deconvolution', input, num_output_maps=num_output_maps, kernel_size_nd=kernel_shape, kernel=kernel, bias=bias)

    def add_cumulative(self, input: Any, axis: Any, op: CumulativeOperation, exclusive: bool, reverse: bool) -> Any:
        return self._add('cumulative', input, axis, op=op, exclusive=exclusive, reverse=reverse)

    def add_dequantize(self, input: Any, scale: Any, output_type: DataType | None = None) -> Any:
        return self._add('dequantize', input, scale, to_type=output_type)

    def add_quantize(self, input: Any, scale: Any, output_type: DataType | None = None) -> Any:
        return self._add('quantize', input, scale, to_type=output_type)

    def add_dynamic_quantize(self, input: Any, axis: int, block_size: int, output_type: DataType, scale_type: DataType) -> Any:
        return self._add('dynamic_quantize', input, axis=axis, block_size=block_size, to_type=output_type, scale_type=scale_type)

    def add_dynamic_quantize_v2(self, input: Any, block_shape: Sequence[int], output_type: DataType, scale_type: DataType) -> Any:
        return self._add('dynamic_quantize', input, block_shape=block_shape, to_type=output_type, scale_type=scale_type)

    def add_einsum(self, inputs: Sequence[Any], equation: str) -> Any: return self._add('einsum', *inputs, equation=equation)

    def add_elementwise(self, input1: Any, input2: Any, op: ElementWiseOperation) -> Any:
        return self._add('elementwise', input1, input2, op=op)

    def add_fill(self, shape: Sequence[int], op: FillOperation, output_type: DataType | None = None) -> Any:
        return self._add('fill', shape=shape, operation=op, to_type=output_type)

    def add_fully_connected(self, input: Any, num_outputs: int, kernel: Any, bias: Any = None) -> Any:
        return self._add('fully_connected', input, num_output_channels=num_outputs, kernel=kernel, bias=bias)

    def add_gather(self, input: Any, indices: Any, axis: int) -> Any: return self._add('gather', input, indices, axis=axis)
    def add_gather_v2(self, input: Any, indices: Any, mode: GatherMode) -> Any: return self._add('gather', input, indices, mode=mode)
    def add_grid_sample(self, input: Any, grid: Any) -> Any: return self._add('grid_sample', input, grid)
    def add_identity(self, input: Any) -> Any: return self._add('identity', input)

    def add_if_conditional(self) -> IIfConditional: return self._add_region(IIfConditional)   # type: ignore[no-any-return]
    def add_loop(self) -> ILoop: return self._add_region(ILoop)   # type: ignore[no-any-return]

    def _add_region(self, kind: Any) -> Any:
        regions: list[Any] = self._regions   # type: ignore[attr-defined]
        regions.append(kind(self, len(regions), f'(Unnamed {kind.__name__[1:]} {len(regions)})'))
        return regions[-1]

    def add_kv_cache_update(self, cache: Any, update: Any, write_indices: Any, cache_mode: KVCacheMode) -> Any:
        return self._add('kv_cache_update', cache, update, write_indices, cache_mode=cache_mode)

    def add_lrn(self, input: Any, window: int, alpha: float, beta: float, k: float) -> Any:
        return self._add('lrn', input, window_size=window, alpha=alpha, beta=beta, k=k)

    def add_matrix_multiply(self, input0: Any, op0: MatrixOperation, input1: Any, op1: MatrixOperation) -> Any:
        return self._add('matrix_multiply', input0, input1, op0=op0, op1=op1)

    def add_nms(self, boxes: Any, scores: Any, max_output_boxes_per_class: Any, indices_type: DataType = DataType.INT32) -> Any:
        return self._add('nms', boxes, scores, max_output_boxes_per_class, indices_type=indices_type)

    def add_non_zero(self, input: Any, indices_type: DataType = DataType.INT64) -> Any:
        return self._add('non_zero', input, indices_type=indices_type)

    def add_normalization(self, input: Any, scale: Any, bias: Any, axesMask: int) -> Any:
        return self._add('normalization', input, scale, bias, axes=axesMask)

    def add_normalization_v2(self, input: Any, scale: Any, bias: Any, axesMask: int) -> Any:
        """Scale and bias of a normalization by groups have a number for each channel; of add_normalization() for each group, too."""
        layer = self.add_normalization(input, scale, bias, axesMask)
        self._notes[layer._number, 'is_v2'] = True   # type: ignore[attr-defined]
        return layer

    def add_one_hot(self, indices: Any, values: Any, depth: Any, axis: int) -> Any:
        return self._add('one_hot', indices, values, depth, axis=axis)

    def add_padding_nd(self, input: Any, pre_padding: Sequence[int], post_padding: Sequence[int]) -> Any:
        return self._add('padding', input, pre_padding_nd=pre_padding, post_padding_nd=post_padding)

    def add_parametric_relu(self, input: Any, slopes: Any) -> Any: return self._add('parametric_relu', input, slopes)

    def add_pooling_nd(self, input: Any, type: PoolingType, window_size: Sequence[int]) -> Any:
        return self._add('pooling', input, type=type, window_size_nd=window_size)

    def add_ragged_softmax(self, input: Any, bounds: Any) -> Any: return self._add('ragged_softmax', input, bounds)

    def add_reduce(self, input: Any, op: ReduceOperation, axes: int, keep_dims: bool) -> Any:
        return self._add('reduce', input, op=op, axes=axes, keep_dims=keep_dims)

    def add_resize(self, input: Any) -> Any: return self._add('resize', input)
    def add_reverse_sequence(self, input: Any, sequence_lens: Any) -> Any: return self._add('reverse_sequence', input, sequence_lens)

    def add_rotary_embedding(self, input: Any, cos_cache: Any, sin_cache: Any, interleaved: bool, rotary_embedding_dim: int) -> Any:
        """set_input(3, tensor): places to look up in the caches."""
        return self._add('rotary_embedding', input, cos_cache, sin_cache, interleaved=interleaved,
                         rotary_embedding_dim=rotary_embedding_dim)

    def add_scale(self, input: Any, mode: ScaleMode, shift: Any = None, scale: Any = None, power: Any = None) -> Any:
        return self._add('scale', input, mode=mode, shift=shift, scale=scale, power=power)

    def add_scale_nd(self, input: Any, mode: ScaleMode, shift: Any = None, scale: Any = None, power: Any = None,
                     channel_axis: int = 1) -> Any:
        return self._add('scale', input, mode=mode, shift=shift, scale=scale, power=power, channel_axis=channel_axis)

    def add_scatter(self, data: Any, indices: Any, updates: Any, mode: ScatterMode) -> Any:
        return self._add('scatter', data, indices, updates, mode=mode)

    def add_select(self, condition: Any, then_input: Any, else_input: Any) -> Any:
        return self._add('select', condition, then_input, else_input)

    def add_shape(self, input: Any) -> Any: return self._add('shape', input)
    def add_shuffle(self, input: Any) -> Any: return self._add('shuffle', input)

    def add_slice(self, input: Any, start: Sequence[int], shape: Sequence[int], stride: Sequence[int]) -> Any:
        return self._add('slice', input, start=start, shape=shape, stride=stride)

    def add_softmax(self, input: Any) -> Any: return self._add('softmax', input)
    def add_squeeze(self, input: Any, axes: Any) -> Any: return self._add('squeeze', input, axes)
    def add_unsqueeze(self, input: Any, axes: Any) -> Any: return self._add('unsqueeze', input, axes)

    def add_topk(self, input: Any, op: TopKOperation, k: int, axes: int, indices_type: DataType = DataType.INT32) -> Any:
        return self._add('topk', input, op=op, k=k, axes=axes, indices_type=indices_type)

    def add_unary(self, input: Any, op: UnaryOperation) -> Any: return self._add('unary', input, op=op)

    add_convolution, add_deconvolution, add_padding, add_pooling = add_convolution_nd, add_deconvolution_nd, add_padding_nd, add_pooling_nd

    def add_rnn_v2(self, input: Any, layer_count: int, hidden_size: int, max_seq_length: int, op: Any) -> Any:
        raise refused('add_rnn_v2()', 'there are no such layers: parse LSTM, GRU and RNN from ONNX, or write a loop (add_loop)')

    def add_moe(self, hidden_states: Any, selected_experts_for_tokens: Any, scores_for_selected_experts: Any) -> Any:
        raise refused('add_moe()', 'there is no layer for mixtures of experts: write them as products, gathers and scatters')

    def add_dist_collective(self, input: Any, dist_collective_op: Any, reduce_op: Any, root: Any, groups: Any) -> Any:
        raise refused('add_dist_collective()', 'a run uses one device: there are no collectives')

    @staticmethod
    def _refuse_layer(name: str) -> None:
        """Says of an add_* that is not there whether TensorRT has it."""
        if name[4:] in _NOT_YET:
            raise refused(f'{name}()', 'such layers are not there yet')
