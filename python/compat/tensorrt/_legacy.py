"""Names of 8.x that 10.x has no more: Caffe, UFF and RNN layers. The enumerations are there; what would do something is refused by name."""
from __future__ import annotations

from typing import Any

from tenfold.tensorrt._enums import Enum
from tenfold.tensorrt._names import Named, refused
from tenfold.tensorrt._network.layer import ILayer

_WHY = {'CaffeParser': 'Caffe models are not read: convert the model to ONNX',
        'UffParser': 'UFF models are not read: convert the model to ONNX',
        'IRNNv2Layer': 'there are no such layers: parse LSTM, GRU and RNN from ONNX, or write a loop (add_loop)'}
_OF_PARSERS = "it belongs to Caffe's and UFF's parsers, which are not there"


class FieldType(Enum):
    FLOAT, INT32, CHAR, DIMS, DATATYPE, UNKNOWN = range(6)


class UffInputOrder(Enum):
    NCHW, NHWC, NC = range(3)


class RNNOperation(Enum):
    RELU, TANH, LSTM, GRU = range(4)


class RNNDirection(Enum):
    UNIDIRECTION, BIDIRECTION = range(2)


class RNNInputMode(Enum):
    LINEAR, SKIP = range(2)


class RNNGateType(Enum):
    INPUT, OUTPUT, FORGET, UPDATE, RESET, CELL, HIDDEN = range(7)


def _refusal(self: Any, *_: Any, **__: Any) -> Any:
    name = type(self).__name__
    raise refused(name, _WHY.get(name, _OF_PARSERS))


def _gone(name: str, members: str, base: type = Named) -> Any:
    methods = ('parse', 'find', 'create_', 'is_', 'get_', 'set_', 'register_')
    body: dict[str, Any] = {m: _refusal if m.startswith(methods) else property(_refusal, _refusal) for m in members.split()}
    about = {'__init__': _refusal, '__module__': 'tenfold.tensorrt', '__doc__': f'{_WHY.get(name, _OF_PARSERS)}.'}
    return type(name, (base,), {**body, **about})


CaffeParser = _gone('CaffeParser', 'error_recorder parse parse_binary_proto parse_buffer plugin_factory_v2 plugin_namespace '
                    'protobuf_buffer_size')
UffParser = _gone('UffParser', 'error_recorder parse parse_buffer plugin_namespace register_input register_output '
                  'uff_required_version_major uff_required_version_minor uff_required_version_patch')
FieldMap, FieldCollection = _gone('FieldMap', 'data length name type'), _gone('FieldCollection', 'fields num_fields')
IBlobNameToTensor, ICaffePluginFactoryV2 = _gone('IBlobNameToTensor', 'find'), _gone('ICaffePluginFactoryV2', 'create_plugin is_plugin_v2')
IRNNv2Layer = _gone('IRNNv2Layer', 'cell_state data_length direction get_bias_for_gate get_weights_for_gate hidden_size hidden_state '
                    'input_mode max_seq_length num_layers op seq_lengths set_bias_for_gate set_weights_for_gate', ILayer)


def shutdown_protobuf_library() -> None:
    """Nothing of protobuf is held."""
