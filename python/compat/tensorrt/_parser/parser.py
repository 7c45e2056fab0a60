"""OnnxParser: from ONNX to a network, with all that is wrong as a list."""
from __future__ import annotations

import os
from typing import Any

from tenfold import _native
from tenfold._network import Network
from tenfold.errors import Error
from tenfold.tensorrt._config.config import IBuilderConfig
from tenfold.tensorrt._enums import OnnxParserFlag
from tenfold.tensorrt._logger import ILogger, native_log, need_logger, say_once
from tenfold.tensorrt._names import refused
from tenfold.tensorrt._network.network import INetworkDefinition
from tenfold.tensorrt._network.tensor import ITensor
from tenfold.tensorrt._parser.errors import ParserError
from tenfold.tensorrt._parser.model_source import folders_of
from tenfold.tensorrt._parser.subgraphs import Subgraphs
from tenfold.tensorrt._plugins.operators import on_host, operators
from tenfold.tensorrt._plugins.registry import get_plugin_registry
from tenfold.tensorrt._recorder import plain


class OnnxParser(Subgraphs):
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
        return self._read(model, {'external_data_dirs': folders_of(path)})

    def parse_with_weight_descriptors(self, model: Any) -> bool:
        """parse() of a model whose weights it holds itself."""
        return self.parse(model)

    def parse_model_proto(self) -> bool:
        """What load_model_proto() and load_initializer() gave."""
        loaded = self._loaded('parse_model_proto()')
        return loaded is not None and self._read(*loaded)

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
            return self._refuse_error(error)
        self._network._take(graph, model)
        return True

    def get_layer_output_tensor(self, name: str, i: int) -> ITensor | None:
        """Result `i` of the node of that name; None: there is none."""
        return next((layer.get_output(i) for layer in self._network if layer.name == name), None)

    def get_used_vc_plugin_libraries(self) -> list[str]:
        """None: plans that run elsewhere need no library of TensorRT's."""
        return []

    def set_builder_config(self, builder_config: IBuilderConfig) -> bool:
        """What a model means does not depend on it."""
        if not isinstance(builder_config, IBuilderConfig):
            raise TypeError(f'set_builder_config() takes what create_builder_config() makes, got {type(builder_config).__name__}')
        say_once(self._logger, 'set_builder_config() has no effect in Tenfold: what a model means does not depend on it', ILogger.INFO)
        return True

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

    def clear_flag(self, flag: OnnxParserFlag) -> None:
        flag = OnnxParserFlag(flag)
        if flag.name == 'NATIVE_INSTANCENORM' and self.get_flag(flag):
            say_once(self._logger, f'{flag} has no effect in Tenfold: there is one way to compute InstanceNormalization')
        self._flag_bits &= ~(1 << int(flag))

    def get_flag(self, flag: OnnxParserFlag) -> bool: return bool(self._flag_bits >> int(OnnxParserFlag(flag)) & 1)
