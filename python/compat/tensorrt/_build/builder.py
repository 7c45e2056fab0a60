"""Builder: networks, configurations, and builds."""
from __future__ import annotations

import json
import os
from typing import Any

from tenfold import _native
from tenfold._build import build
from tenfold._device import default_device, devices
from tenfold._engine import Engine
from tenfold.errors import Error
from tenfold.tensorrt._build.builder_7 import Builder7
from tenfold.tensorrt._build.calibration import Calibration, is_quantized
from tenfold.tensorrt._build.precision_requests import layer_types
from tenfold.tensorrt._config.config import IBuilderConfig
from tenfold.tensorrt._config.flags import QUANTIZED
from tenfold.tensorrt._config.profile import IOptimizationProfile
from tenfold.tensorrt._config.progress import watched
from tenfold.tensorrt._enums import BuilderFlag, NetworkDefinitionCreationFlag
from tenfold.tensorrt._logger import ILogger, fail, need_logger, say_once
from tenfold.tensorrt._memory import IHostMemory, plan_of
from tenfold.tensorrt._names import refused
from tenfold.tensorrt._network.host_sizes import told_of_sizes
from tenfold.tensorrt._network.network import INetworkDefinition
from tenfold.tensorrt._plugins.operators import needed, on_host
from tenfold.tensorrt._plugins.registry import IPluginRegistry, get_plugin_registry
from tenfold.tensorrt._recorder import plain
from tenfold.tensorrt._run.engine import LABEL, ICudaEngine
from tenfold.tensorrt._run.gpu_allocator import Allocated
from tenfold.tensorrt._run.streams import IStreamWriter, write_all
from tenfold.tensorrt._types import native_dtype

_PRECISIONS = (BuilderFlag.FP16, BuilderFlag.BF16, BuilderFlag.INT8, BuilderFlag.FP8, BuilderFlag.INT4, BuilderFlag.FP4)


def say_device(logger: ILogger) -> None:
    """That there is no GPU, where nobody has asked for the CPU."""
    if not os.environ.get('TENFOLD_DEVICE') and default_device() == 'cpu':
        say_once(logger, f'no GPU is used ({_native.why_no_gpu() or "there is none"}): engines are built for the CPU, addresses are the '
                 "host's, and streams are ignored")


class Builder(Allocated, Builder7):
    num_DLA_cores = max_DLA_batch_size = 0
    platform_has_tf32 = True   # BuilderFlag.TF32: products may round, on every device

    def __init__(self, logger: ILogger) -> None:
        self._logger, self._threads, self._batches = need_logger(logger), 1, 1

    @property
    def logger(self) -> ILogger: return plain(self._logger)

    def _has(self, feature: str) -> bool:
        device = default_device()
        return device != 'cpu' or any(d.device == 'cpu' and feature in d.features for d in devices())

    @property
    def platform_has_fast_fp16(self) -> bool: return self._has('fp16')
    @property
    def platform_has_fast_int8(self) -> bool: return self._has('vnni')

    @property
    def max_batch_size(self) -> int:
        """Of 8.x's implicit-batch networks, which are refused where they are built."""
        return self._batches

    @max_batch_size.setter
    def max_batch_size(self, size: int) -> None:
        if size != 1:
            say_once(self._logger, f'max_batch_size = {size} has no effect on networks with explicit batches, whose range a profile gives; '
                     'implicit-batch networks are not supported')
        self._batches = int(size)

    def create_network(self, flags: int = 0) -> INetworkDefinition | None:
        if NetworkDefinitionCreationFlag.unknown(int(flags)):
            fail(self._logger, f'create_network({int(flags):#x}): there are bits that are no NetworkDefinitionCreationFlag')
            return None
        return INetworkDefinition(self._logger, int(flags), self)

    def get_plugin_registry(self) -> IPluginRegistry: return get_plugin_registry()
    def create_builder_config(self) -> IBuilderConfig: return IBuilderConfig(self._logger)
    def create_optimization_profile(self) -> IOptimizationProfile: return IOptimizationProfile()

    def build_serialized_network(self, network: INetworkDefinition, config: IBuilderConfig, kernel_text: Any = None) -> IHostMemory | None:
        """A plan; None: the logger tells why there is none. `kernel_text`, which is given its kernels for a safety runtime: None alone."""
        if kernel_text is not None:
            raise refused('kernel_text', 'there is no safety runtime, whose kernels it would be given')
        engine = self._build(network, config)
        return None if engine is None else plan_of(engine)

    def build_serialized_network_to_stream(self, network: INetworkDefinition, config: IBuilderConfig, writer: IStreamWriter) -> bool:
        """False: the logger tells why there is no plan, or why the writer has not got all of it."""
        if not isinstance(writer, IStreamWriter):
            raise TypeError(f'a writer derives from trt.IStreamWriter, got {type(writer).__name__}')
        plan = self.build_serialized_network(network, config)
        if plan is None:
            return False
        try:
            write_all(writer, plan)
        except OSError as error:
            fail(self._logger, error)
            return False
        return True

    def build_engine_with_config(self, network: INetworkDefinition, config: IBuilderConfig) -> ICudaEngine | None:
        engine = self._build(network, config)
        return None if engine is None else ICudaEngine(engine, self._logger, self._asking)

    def build_engine(self, network: INetworkDefinition, config: IBuilderConfig) -> ICudaEngine | None:
        """8.x's name of build_engine_with_config()."""
        return self.build_engine_with_config(network, config)

    def reset(self) -> None:
        """Back to what a new builder has."""
        self._old, self._threads, self._batches, self._asking = None, 1, 1, None

    @property
    def max_threads(self) -> int: return self._threads

    @max_threads.setter
    def max_threads(self, count: int) -> None:
        say_once(self._logger, 'max_threads has no effect: a build uses the processors that this process may use')
        self._threads = int(count)

    def is_network_supported(self, network: INetworkDefinition, config: IBuilderConfig) -> bool:
        """Whether layers and configuration fit together; the logger tells what does not. A build may still end for want of memory."""
        try:
            network._finalize()
        except Error as error:
            fail(self._logger, error)
            return False
        if wrong := _contradiction(network, config):
            fail(self._logger, wrong)
        return not wrong

    def _build(self, network: INetworkDefinition, config: IBuilderConfig) -> Engine | None:
        if not isinstance(network, INetworkDefinition) or not isinstance(config, IBuilderConfig):
            raise TypeError('a build takes what create_network() and create_builder_config() make, got '
                            f'{type(network).__name__} and {type(config).__name__}')
        say_device(self._logger)
        try:
            network._finalize()
        except Error as error:
            fail(self._logger, error)
            return None
        if wrong := _contradiction(network, config):
            fail(self._logger, wrong)
            return None
        progress, finish = watched(config.progress_monitor)
        selection = config._selection()
        try:
            with Calibration(network, config, self._logger) as calibration:
                self._tell_of_integers(network, config, calibration)
                _tell_of_types(network, self._logger)
                network._name_weights()
                network._keep_debug()
                engine = build(network._graph, log=calibration.log(), progress=progress, choose_tactic=selection, plugins=needed(on_host()),
                               **self._runtime_option(), **_options(network, config),
                               **layer_types(network, config, self._logger), **calibration.options)
            if selection:
                selection.report(json.loads(engine.inspect_json()).get('Removed', []))
            return engine
        except Error as error:
            self._raise_of_allocator()
            fail(self._logger, error)
            return None
        finally:
            network._let_debug_go()
            finish()

    def _tell_of_integers(self, network: INetworkDefinition, config: IBuilderConfig, calibration: Calibration) -> None:
        if any(config.get_flag(f) for f in QUANTIZED) and not calibration.options and not is_quantized(network):
            say_once(self._logger, 'INT8 and FP8 concern models that are quantized (Q/DQ nodes), which this one is not: it stays as it is')


def _contradiction(network: INetworkDefinition, config: IBuilderConfig) -> str:
    if not network.num_outputs:
        return 'the network has no outputs: nothing was parsed, or the parse failed'
    if network.builder.max_batch_size > 1 and not network.get_flag(NetworkDefinitionCreationFlag.EXPLICIT_BATCH):
        return (f'implicit-batch networks are not supported, and max_batch_size = {network.builder.max_batch_size} with a network that was '
                'created without EXPLICIT_BATCH means one: create it with 1 << int(trt.NetworkDefinitionCreationFlag.EXPLICIT_BATCH), '
                'and give its inputs the batch as first dim')
    named = [str(flag) for flag in _PRECISIONS if config.get_flag(flag)]
    if named and network.get_flag(NetworkDefinitionCreationFlag.STRONGLY_TYPED):
        return f'{", ".join(named)} contradicts STRONGLY_TYPED, which the network was created with: types are the model\'s'
    if (network._precisions or network._output_types) and network.get_flag(NetworkDefinitionCreationFlag.STRONGLY_TYPED):
        return "precisions of layers contradict STRONGLY_TYPED, which the network was created with: types are the model's"
    for tensor in (t for t in network._inputs() if t._value in network._fixed):   # as set here; the library knows the model's own
        for number, profile in enumerate(config._profiles):
            for shape in profile.get_shape(tensor.name):
                if len(shape) != len(tensor.shape) or any(d not in (-1, s) for d, s in zip(tensor.shape, shape)):
                    return f"profile {number} has the shape {shape} for '{tensor.name}', whose shape is {tensor.shape} (-1: open)"
    return ''


def _tell_of_types(network: INetworkDefinition, logger: ILogger) -> None:
    """Of tensors that were given a type and have not become outputs."""
    for tensor, kind in network._types.values():
        if not (tensor.is_network_input or tensor.is_network_output) and native_dtype(kind) != tensor._value.dtype:
            say_once(logger, f"dtype = {kind} of '{tensor.name}' has no effect: it is neither input nor output of the "
                             'network; add_cast() casts')


def _options(network: INetworkDefinition, config: IBuilderConfig) -> dict[str, Any]:
    """Keywords of tenfold.build()."""
    profiles: list[dict[str, Any]] = [profile._native() for profile in config._profiles]
    fixed = {t.name: tuple(t.shape) for t in network._inputs() if t._value in network._fixed and -1 not in t.shape}
    if fixed:
        profiles = [{**fixed, **profile} for profile in profiles or [{}]]

    def formats(tensors: list[Any]) -> dict[str, str]:
        return {t.name: native_dtype(t.dtype) for t in tensors if t._key() in network._types}
    return dict(config._native(), profiles=profiles, input_formats=formats(network._inputs()), output_formats=formats(network._outputs()),
                labels={**({'network': network.name} if network.name else {}), LABEL: _told(network, config)})


def _told(network: INetworkDefinition, config: IBuilderConfig) -> str:
    """What the engine tells of its build, and what it hides."""
    return json.dumps({'hardware': int(config.hardware_compatibility_level), 'sources': config.get_tactic_sources(),
                       'debug': network._debug_names(), 'unfused': network._unfused, 'aliases': network._aliases(),
                       **told_of_sizes(network, config._profiles)})
