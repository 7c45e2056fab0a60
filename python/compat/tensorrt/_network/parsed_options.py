"""Options of a layer that was parsed, as its node of ONNX tells them: what `layer.__class__ = trt.IConvolutionLayer` then reads."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tenfold.tensorrt._names import refused

_PAIRS = {'op': {
    'Add': 'SUM', 'Sum': 'SUM', 'Sub': 'SUB', 'Mul': 'PROD', 'Div': 'DIV', 'Pow': 'POW', 'Min': 'MIN', 'Max': 'MAX', 'And': 'AND',
    'Or': 'OR', 'Xor': 'XOR', 'Equal': 'EQUAL', 'Less': 'LESS', 'Greater': 'GREATER', 'Reciprocal': 'RECIP',
    'IsInf': 'ISINF', 'IsNaN': 'ISNAN',
    'ReduceSum': 'SUM', 'ReduceProd': 'PROD', 'ReduceMax': 'MAX', 'ReduceMin': 'MIN', 'ReduceMean': 'AVG',
    'CumSum': 'SUM',
    **{op: op.upper() for op in 'Exp Log Sqrt Abs Neg Sin Cos Tan Sinh Cosh Asin Acos Atan Asinh Acosh Atanh Ceil Floor Erf Not Sign '
       'Round'.split()}},
    'type': {'Relu': 'RELU', 'Sigmoid': 'SIGMOID', 'Tanh': 'TANH', 'LeakyRelu': 'LEAKY_RELU', 'Elu': 'ELU', 'Selu': 'SELU', 'Clip': 'CLIP',
             'Softsign': 'SOFTSIGN', 'Softplus': 'SOFTPLUS', 'HardSigmoid': 'HARD_SIGMOID', 'ScaledTanh': 'SCALED_TANH',
             'ThresholdedRelu': 'THRESHOLDED_RELU', 'MaxPool': 'MAX', 'GlobalMaxPool': 'MAX', 'AveragePool': 'AVERAGE',
             'GlobalAveragePool': 'AVERAGE'},
    'mode': {'Gather': 'DEFAULT', 'GatherElements': 'ELEMENT', 'GatherND': 'ND', 'ScatterElements': 'ELEMENT', 'ScatterND': 'ND'}}


def _operand(node: Any, index: int) -> Any: return node.inputs[index] if index < len(node.inputs) else None


def _value(node: Any, index: int) -> Any:
    """The elements of a constant operand; None: it is none, or it is computed."""
    operand = _operand(node, index)
    return None if operand is None else operand.value


def _rank(node: Any) -> int: return len(_operand(node, 0).dims)


def _window(node: Any) -> list[int]:
    if node.op.startswith('Global'):
        return list(_operand(node, 0).dims[2:])
    return list(node.attributes.get('kernel_shape') or _operand(node, 1).dims[2:])


def _side(node: Any, last: bool) -> list[int]:
    count = len(_window(node))
    pads = list(node.attributes.get('pads') or [0] * 2 * count)
    return pads[count:] if last else pads[:count]


def _mode_of_padding(node: Any) -> str:
    auto = node.attributes.get('auto_pad', 'NOTSET')
    explicit = 'EXPLICIT_ROUND_UP' if node.attributes.get('ceil_mode') else 'EXPLICIT_ROUND_DOWN'
    return auto if auto in ('SAME_UPPER', 'SAME_LOWER') else explicit


def _maps(node: Any) -> int:
    extents = _operand(node, 1).dims
    return int(extents[1] * node.attributes.get('group', 1) if node.op == 'ConvTranspose' else extents[0])


def _axis(node: Any) -> int:
    axis = int(node.attributes.get('axis', -1 if node.op in ('Softmax', 'LogSoftmax', 'TopK', 'Hardmax') else 0))
    return axis + _rank(node) if axis < 0 else axis


def _axes(node: Any) -> int:
    """A mask."""
    given = node.attributes.get('axes')
    if given is None:
        given = _value(node, 1)
    axes = range(_rank(node)) if given is None or not len(given) else given
    return sum(1 << int(a) % _rank(node) for a in axes)


def _slopes(node: Any, name: str) -> float:
    if node.op == 'Clip':
        bound = _value(node, 1 if name == 'alpha' else 2)
        return float(bound) if bound is not None else float('-inf' if name == 'alpha' else 'inf')
    return float(node.attributes.get(name, {'LeakyRelu': 0.01, 'HardSigmoid': 0.2 if name == 'alpha' else 0.5}.get(node.op, 1.0)))


def _ones(node: Any, name: str) -> list[int]: return list(node.attributes.get(name) or [1] * len(_window(node)))


_WINDOW: dict[str, Callable[[Any], Any]] = {
    'stride_nd': lambda n: _ones(n, 'strides'), 'pre_padding': lambda n: _side(n, False), 'post_padding': lambda n: _side(n, True),
    'padding_mode': _mode_of_padding}
_CONVOLUTION: dict[str, Callable[[Any], Any]] = {
    **_WINDOW, 'kernel_size_nd': _window, 'dilation_nd': lambda n: _ones(n, 'dilations'),
    'num_groups': lambda n: n.attributes.get('group', 1), 'num_output_maps': _maps, 'kernel': lambda n: _value(n, 1),
    'bias': lambda n: _value(n, 2)}
_OPTIONS: dict[str, dict[str, Callable[[Any], Any]]] = {
    'convolution': _CONVOLUTION, 'deconvolution': _CONVOLUTION,
    'pooling': {**_WINDOW, 'window_size_nd': _window, 'blend_factor': lambda n: 0.0,
                'average_count_excludes_padding': lambda n: not n.attributes.get('count_include_pad', 0)},
    'activation': {'alpha': lambda n: _slopes(n, 'alpha'), 'beta': lambda n: _slopes(n, 'beta')},
    'concatenation': {'axis': _axis},
    'gather': {'axis': _axis, 'num_elementwise_dims': lambda n: n.attributes.get('batch_dims', 0)},
    'scatter': {'axis': _axis},
    'softmax': {'axes': lambda n: 1 << _axis(n)},
    'topk': {'axes': lambda n: 1 << _axis(n), 'op': lambda n: 'MAX' if n.attributes.get('largest', 1) else 'MIN',
             'k': lambda n: int(_value(n, 1).reshape(-1)[0]) if _value(n, 1) is not None else 0},
    'reduce': {'axes': _axes, 'keep_dims': lambda n: n.attributes.get('keepdims', 1)},
    'matrix_multiply': {'op0': lambda n: 'TRANSPOSE' if n.attributes.get('transA') else 'NONE',
                        'op1': lambda n: 'TRANSPOSE' if n.attributes.get('transB') else 'NONE'},
    'constant': {'weights': lambda n: n.outputs[0].value, 'shape': lambda n: list(n.outputs[0].dims)},
    'shuffle': {'first_transpose': lambda n: list(n.attributes.get('perm') or range(_rank(n))),
                'reshape_dims': lambda n: [d if isinstance(d, int) else -1 for d in n.outputs[0].dims],
                'zero_is_placeholder': lambda n: not n.attributes.get('allowzero', 0),
                'second_transpose': lambda n: list(range(len(n.outputs[0].dims)))},
    'lrn': {'window_size': lambda n: n.attributes['size'], 'alpha': lambda n: n.attributes.get('alpha', 1e-4),
            'beta': lambda n: n.attributes.get('beta', 0.75), 'k': lambda n: n.attributes.get('bias', 1.0)},
    'quantize': {'axis': _axis}, 'dequantize': {'axis': _axis}, 'einsum': {'equation': lambda n: n.attributes['equation']},
}


def parsed_option(node: Any, kind: str, name: str) -> Any:
    """As layers that were added have it; Unsupported: the node has no such thing, or it is not told."""
    if name in _OPTIONS.get(kind, {}):
        return _OPTIONS[kind][name](node)
    if node.op in _PAIRS.get(name, {}):
        return _PAIRS[name][node.op]
    raise refused(f"{name} of layer '{node.name}'", f'it was parsed from a node of ONNX ({node.op}), which does not tell it so: op, inputs '
                  'and outputs of the layer do')
