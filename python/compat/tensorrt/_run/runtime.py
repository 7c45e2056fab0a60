"""Runtime: engines from plans."""
from __future__ import annotations

from typing import Any

from tenfold._build import load
from tenfold.errors import Error
from tenfold.tensorrt._logger import ILogger, fail, native_log, need_logger, say_once
from tenfold.tensorrt._names import refused
from tenfold.tensorrt._noted import noted
from tenfold.tensorrt._plugins.operators import needed
from tenfold.tensorrt._plugins.registry import IPluginRegistry, get_plugin_registry
from tenfold.tensorrt._recorder import Recording, plain
from tenfold.tensorrt._run.engine import ICudaEngine
from tenfold.tensorrt._run.gpu_allocator import Allocated
from tenfold.tensorrt._run.streams import IStreamReader, IStreamReaderV2, read_all


class Runtime(Allocated, Recording):
    num_DLA_cores = 0
    DLA_core = noted('DLA_core', -1, 'there is no DLA')
    max_threads = noted('max_threads', 1, 'a load uses the processors that this process may use')
    tempfile_control_flags = noted('tempfile_control_flags', 3, 'loading writes no files')
    temporary_directory = noted('temporary_directory', None, 'loading writes no files')

    def __init__(self, logger: ILogger) -> None:
        self._logger, self._host_code = need_logger(logger), False

    @property
    def logger(self) -> ILogger: return plain(self._logger)

    def deserialize_cuda_engine(self, serialized_engine: Any = None, *, stream_reader: Any = None,
                                stream_reader_v2: Any = None) -> ICudaEngine | None:
        """From any buffer, a slice of one, or a reader; None: the logger tells why."""
        readers = [reader for reader in (stream_reader, stream_reader_v2) if reader is not None]
        serialized_engine = readers[0] if readers else serialized_engine
        if isinstance(serialized_engine, (IStreamReader, IStreamReaderV2)):
            serialized_engine = read_all(serialized_engine)
        try:
            plan = memoryview(serialized_engine)
        except TypeError:
            raise TypeError(f'deserialize_cuda_engine() takes the bytes of a plan, got {type(serialized_engine).__name__}') from None
        try:
            engine = load(plan, log=native_log(self._logger), plugins=needed(True), **self._runtime_option())
            return ICudaEngine(engine, self._logger, self._asking)
        except Error as error:
            self._raise_of_allocator()
            fail(self._logger, error)
            return None

    @property
    def engine_host_code_allowed(self) -> bool:
        """Plans hold no code of the host, so both values mean the same."""
        return self._host_code

    @engine_host_code_allowed.setter
    def engine_host_code_allowed(self, allowed: bool) -> None:
        if allowed:
            say_once(self._logger, 'engine_host_code_allowed = True has no effect in Tenfold: plans hold no code of the host', ILogger.INFO)
        self._host_code = bool(allowed)

    def load_runtime(self, path: str) -> Any:
        raise refused('load_runtime()', 'plans hold no runtime and need no other: deserialize_cuda_engine() reads them')

    def get_plugin_registry(self) -> IPluginRegistry: return get_plugin_registry()
