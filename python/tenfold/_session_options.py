"""SessionOptions and RunOptions, and the enumerations of their attributes."""
from __future__ import annotations

import enum
import os
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tenfold import errors
from tenfold._session_settings import Options, Setting


class GraphOptimizationLevel(enum.IntEnum):
    """Taken for how long a build searches: ORT_DISABLE_ALL is optimization_level 0, the others are the default."""

    ORT_DISABLE_ALL = 0
    ORT_ENABLE_BASIC = 1
    ORT_ENABLE_EXTENDED = 2
    ORT_ENABLE_LAYOUT = 3
    ORT_ENABLE_ALL = 99


class ExecutionMode(enum.IntEnum):
    ORT_SEQUENTIAL = 0
    ORT_PARALLEL = 1


class ExecutionOrder(enum.IntEnum):
    DEFAULT = 0
    PRIORITY_BASED = 1
    MEMORY_EFFICIENT = 2


_PLANNED = 'memory is planned when an engine is built, and taken once'
_ONE_ORDER = 'an engine runs its steps one after the other, in one order'
_NOT_HERE = 'SessionOptions.{} is not there: {}'


class SessionOptions(Options):
    """Options of a session. A session tells once of each that is set and has no effect."""

    __slots__ = ('_providers', '_dims', '_initializers', '_external', '_files', '_cancelled')

    enable_cpu_mem_arena = Setting(True, 'Whether memory comes from an arena.', _PLANNED)
    enable_mem_pattern = Setting(True, 'Whether memory is planned by the first run.', _PLANNED)
    enable_mem_reuse = Setting(True, 'Whether values share memory.', _PLANNED)
    enable_profiling = Setting(False, 'Whether runs time their steps; end_profiling() writes them.')
    execution_mode = Setting(ExecutionMode.ORT_SEQUENTIAL, 'Whether nodes run side by side.', _ONE_ORDER)
    execution_order = Setting(ExecutionOrder.DEFAULT, 'In which order nodes run.', _ONE_ORDER)
    graph_optimization_level = Setting(GraphOptimizationLevel.ORT_ENABLE_ALL, 'ORT_DISABLE_ALL: optimization_level 0, which times nothing.',
                                       'the levels between ORT_DISABLE_ALL and ORT_ENABLE_ALL are taken for ORT_ENABLE_ALL',
                                       (GraphOptimizationLevel.ORT_DISABLE_ALL,))
    inter_op_num_threads = Setting(0, 'How many nodes run side by side.', _ONE_ORDER, (1,))
    intra_op_num_threads = Setting(0, 'Threads of a run, the `threads` of build(); 0: as many as there are processors.')
    log_severity_level = Setting(-1, 'Lowest severity logged: 0 verbose, 1 info, 2 warnings, 3 errors, 4 nothing; -1: the default.')
    log_verbosity_level = Setting(0, 'Levels of verbose lines.', 'verbose lines have one level')
    logid = Setting('', 'What begins each line that the session tells.')
    optimized_model_filepath = Setting('', 'Where a session writes the ONNX file that it runs, with all its weights.')
    profile_file_prefix = Setting('onnxruntime_profile_', 'How the names of profiles begin; the time follows.')
    use_deterministic_compute = Setting(False, 'Whether results of equal runs are equal, to the last bit. They are anyway.')
    use_per_session_threads = Setting(True, 'Whether a session has threads of its own.', 'an engine always has threads of its own')

    def __init__(self) -> None:
        super().__init__()
        self._providers: list[tuple[str, dict[str, Any]]] = []
        self._dims: dict[str, int] = {}
        self._initializers: dict[str, Any] = {}
        self._external: dict[str, Any] = {}
        self._files: dict[str, Any] = {}
        self._cancelled = False

    # What is added.

    def add_session_config_entry(self, key: str, value: str) -> None:
        self._add_entry(key, value)

    def get_session_config_entry(self, key: str) -> str:
        return self._entry(key)

    def add_provider(self, name: str, options: Mapping[str, str]) -> None:
        """As InferenceSession(providers=[(name, options)]), which takes precedence."""
        self._providers.append((name, dict(options)))

    def has_providers(self) -> bool:
        return bool(self._providers)

    def add_free_dimension_override_by_name(self, name: str, size: int) -> None:
        """Dimensions of this name have this extent; arrays of others are refused."""
        if size >= 0:
            self._dims[name] = int(size)

    def add_initializer(self, name: str, ortvalue: Any) -> None:
        """A value in place of the model's own initializer. It is not copied, and must stay as it is."""
        if name in self._initializers:
            raise RuntimeError(f'an initializer {name!r} was added before')
        self._initializers[name] = _array_of(ortvalue, name)

    def add_external_initializers(self, names: Sequence[str], ortvalues: Sequence[Any]) -> None:
        """Values of initializers whose data lie in other files, which need not be there."""
        if len(names) != len(ortvalues):
            raise RuntimeError(f'{len(names)} names of initializers and {len(ortvalues)} values are given')
        self._external.update((name, _array_of(value, name)) for name, value in zip(names, ortvalues, strict=True))

    def add_external_initializers_from_files_in_memory(self, names: Sequence[str], buffers: Sequence[Any], lengths: Sequence[int]) -> None:
        """What files beside the model hold, by the names that the model has for them."""
        if not len(names) == len(buffers) == len(lengths):
            raise RuntimeError(f'{len(names)} names of files, {len(buffers)} buffers and {len(lengths)} lengths are given')
        for name, buffer, length in zip(names, buffers, lengths, strict=True):
            if os.path.isabs(name) or '..' in name.split('/'):
                raise RuntimeError(f'the file {name!r} would lie outside of the model\'s folder')
            self._files[name] = memoryview(buffer).cast('B')[:length]

    def set_load_cancellation_flag(self, cancel: bool) -> None:
        """True: sessions of these options end what they build, and cannot be made."""
        self._cancelled = bool(cancel)

    # What is refused by name.

    def register_custom_ops_library(self, path: str) -> None:
        raise errors.Unsupported("libraries of ONNX Runtime's custom operators cannot be loaded; tenfold.Plugins loads Tenfold's")

    def add_free_dimension_override_by_denotation(self, denotation: str, size: int) -> None:
        raise errors.Unsupported(_NOT_HERE.format('add_free_dimension_override_by_denotation',
                                                  'denotations are not read; add_free_dimension_override_by_name() takes names'))

    def add_provider_for_devices(self, devices: Sequence[Any], options: Mapping[str, str]) -> None:
        raise errors.Unsupported(_NOT_HERE.format('add_provider_for_devices', 'add_provider() takes a name, and device_id'))

    def set_provider_selection_policy(self, policy: Any) -> None:
        raise errors.Unsupported(_NOT_HERE.format('set_provider_selection_policy', 'add_provider() takes names, the best first'))

    def set_provider_selection_policy_delegate(self, delegate: Callable[..., Any]) -> None:
        raise errors.Unsupported(_NOT_HERE.format('set_provider_selection_policy_delegate', 'add_provider() takes names, the best first'))

    def set_ep_context_data_read_func(self, function: Callable[..., Any], maximum: int) -> None:
        raise errors.Unsupported(_NOT_HERE.format('set_ep_context_data_read_func', 'there are no EPContext models'))

    def clear_ep_context_data_read_func(self) -> None:
        """There never is one."""

    # What a session takes of them.

    def _build_options(self) -> dict[str, Any]:
        options: dict[str, Any] = {'threads': self.intra_op_num_threads}
        if self.graph_optimization_level == GraphOptimizationLevel.ORT_DISABLE_ALL:
            options['optimization_level'] = 0
        if folder := self._entries.get('session.model_external_initializers_file_folder_path'):
            options['external_data_dirs'] = [folder]
        return options

    def _refuse_entries(self) -> None:
        for key, only in _ENTRIES_OF_ONE_VALUE.items():
            value = self._entries.get(key, only)
            if value != only:
                raise errors.Unsupported(f'the entry {key!r} of SessionOptions is {value!r}, and only {only!r} can be had')
        self._tell(ENTRIES)


_ENTRIES_OF_ONE_VALUE = {'session.load_model_format': 'ONNX', 'session.save_model_format': 'ONNX', 'ep.context_enable': '0'}
ENTRIES = (*_ENTRIES_OF_ONE_VALUE, 'session.model_external_initializers_file_folder_path', 'session.disable_cpu_ep_fallback')


def _array_of(ortvalue: Any, name: str) -> Any:
    if not hasattr(ortvalue, '_array'):
        raise RuntimeError(f'the value of the initializer {name!r} is an OrtValue, got {type(ortvalue).__name__}')
    return ortvalue._array


class _Terminate(Setting):
    def __set__(self, options: Any, value: Any) -> None:
        super().__set__(options, value)
        if options.terminate:
            with options._lock:
                futures = list(options._futures)
            for future in futures:
                future._token.cancel()


class RunOptions(Options):
    """Options of one run. Setting `terminate` ends the runs that go on with them, and those that begin later."""

    __slots__ = ('_futures', '_lock')

    log_severity_level = Setting(-1, 'Lowest severity logged.', 'the session logs for its runs: SessionOptions.log_severity_level')
    log_verbosity_level = Setting(0, 'Levels of verbose lines.', 'verbose lines have one level')
    logid = Setting('', 'What begins each line.', 'what a run tells, its session tells: SessionOptions.logid')
    terminate = _Terminate(False, 'Ends the runs that go on with these options, between two of their steps, and those that begin later.')
    only_execute_path_to_fetches = Setting(False, 'Whether only what the outputs need is run.', 'an engine runs all of its steps')

    def __init__(self) -> None:
        super().__init__()
        self._futures: weakref.WeakSet[Any] = weakref.WeakSet()
        self._lock = threading.Lock()   # other threads begin runs while one ends them

    def add_run_config_entry(self, key: str, value: str) -> None:
        self._add_entry(key, value)

    def get_run_config_entry(self, key: str) -> str:
        return self._entry(key)

    def add_active_adapter(self, adapter: Any) -> None:
        raise errors.Unsupported('RunOptions.add_active_adapter is not there: adapters cannot be read; export the model with them')

    def _watch(self, future: Any) -> None:
        """Of a run that begins."""
        with self._lock:
            self._futures.add(future)
        look_at(self)


def look_at(options: RunOptions | None) -> None:
    """What options say of a run that is about to begin."""
    if options is None:
        return
    if not isinstance(options, RunOptions):
        raise TypeError(f'run_options are RunOptions, got {type(options).__name__}')
    if options.terminate:
        raise errors.Cancelled('the run was cancelled: RunOptions.terminate is set')
    options._tell()
