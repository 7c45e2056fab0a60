"""OnnxParser: from ONNX to a network, with all that is wrong as a list."""
from __future__ import annotations

import os
from typing import Any

from tenfold import _native
from tenfold._network import Network
from tenfold.errors import Error
from tenfold.tensorrt._enums import ErrorCode, OnnxParserFlag
from tenfold.tensorrt._logger import ILogger, fail, need_logger, native_log, say_once
from tenfold.tensorrt._names import Named, refused
from tenfold.tensorrt._network import INetworkDefinition
from tenfold.tensorrt._plugins.operators import on_host, operators
from tenfold.tensorrt._plugins.registry import get_plugin_registry
from tenfold.tensorrt._recorder import plain

_CODES = {'unsupported': 'UNSUPPORTED_NODE', 'invalid_model': 'INVALID_NODE', 'io': 'MODEL_DESERIALIZE_FAILED',
          'out_of_memory': 'MEM_ALLOC_FAILED', 'invalid_argument': 'INVALID_VALUE'}


class ParserError:
    """One thing that is wrong with a model."""

    def __init__(self, kind: str, text: str, node: str = '', op: str = '', index: int = -1) -> None:
        name = _CODES.get(kind, 'INTERNAL_ERROR')
        if name == 'INVALID_NODE' and not op:
            name = 'INVALID_GRAPH'
        self._code, self._text, self._node, self._op, self._index = ErrorCode[name], text, node, op, index

    def code(self) -> ErrorCode: return self._code
    def desc(self) -> str: return self._text
    def node_name(self) -> str: return self._node
    def node_operator(self) -> str: return self._op

    def node(self) -> int:
        """Its number in the file's graph, or that of the node around it; -1: no node's."""
        return self._index

    def __str__(self) -> str: return f'{self._code.name}: {self._text}'
    __repr__ = __str__


class OnnxParser(Named):
    def __init__(self, network: INetworkDefinition, logger: ILogger) -> None:
        if not isinstance(network, INetworkDefinition):
            raise TypeError(f'OnnxParser reads into what builder.create_network() makes, got {type(network).__name__}')
        self._network, self._logger = network, need_logger(logger)
        self._errors: list[ParserError] = []
        self._flag_bits = 1 << int(OnnxParserFlag.NATIVE_INSTANCENORM)

    @property
    def logger(self) -> ILogger: return plain(self._logger)

    def parse(self, model: Any, path: str | None = None) -> bool:
        """From the bytes of a file. `path`: where it lay, for weights that lie beside it. False: get_error(i) tells why."""
        if isinstance(model, str):
            raise TypeError('parse() takes the bytes of an ONNX file; parse_from_file() takes its path')
        folders = [os.path.dirname(os.path.abspath(path))] if path else []
        return self._read(model, {'external_data_dirs': folders})

    def parse_from_file(self, model: Any) -> bool:
        """From a file. False: get_error(i) tells why."""
        return self._read(os.fspath(model), {})

    def _read(self, model: Any, options: dict[str, Any]) -> bool:
        self._errors = []
        if self._network.num_layers or self._network.num_inputs:
            return self._refuse(ParserError('invalid_argument', 'the network holds a model already: create_network() makes another'))
        try:
            graph = Network.read(model, log=native_log(self._logger), plugins=operators(on_host()), **options)
        except Error as error:
            problems = [ParserError(p.kind, str(p), p.node, p.op, p.node_index) for p in error.problems]
            return self._refuse(*(problems or [ParserError(error.kind, str(error), error.node or '', error.op or '')]))
        self._network._graph = graph
        return True

    def _refuse(self, *errors: ParserError) -> bool:
        self._errors = list(errors)
        for error in errors:
            fail(self._logger, error)
        return False

    @property
    def num_errors(self) -> int: return len(self._errors)

    def get_error(self, index: int) -> ParserError:
        if not 0 <= index < len(self._errors):
            raise IndexError(f'there is no error {index}: there are {len(self._errors)}')
        return self._errors[index]

    def clear_errors(self) -> None: self._errors = []

    def supports_operator(self, op_name: str) -> bool:
        """Of ONNX's own domain, in some opset, or of a plug-in that has a creator."""
        if any(c.name == op_name for c in get_plugin_registry().all_creators):
            return True
        return any(domain == 'ai.onnx' and name == op_name for domain, name, _ in _native.supported_operators())

    @property
    def flags(self) -> int: return self._flag_bits

    @flags.setter
    def flags(self, mask: int) -> None:
        self._flag_bits = 0
        for flag in OnnxParserFlag:
            if mask >> int(flag) & 1:
                self.set_flag(flag)

    def set_flag(self, flag: OnnxParserFlag) -> None:
        flag = OnnxParserFlag(flag)
        if 'DLA' in flag.name:
            raise refused(str(flag), 'there is no DLA')
        if flag.name == 'ENABLE_PLUGIN_OVERRIDE':
            say_once(self._logger, f'{flag} has no effect in Tenfold: operators of ONNX stay its own')
        self._flag_bits |= 1 << int(flag)

    def clear_flag(self, flag: OnnxParserFlag) -> None: self._flag_bits &= ~(1 << int(OnnxParserFlag(flag)))
    def get_flag(self, flag: OnnxParserFlag) -> bool: return bool(self._flag_bits >> int(OnnxParserFlag(flag)) & 1)
