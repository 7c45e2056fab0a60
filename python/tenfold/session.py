"""Session: an engine in the form of ONNX Runtime's InferenceSession. tenfold.onnxruntime has it under that name.

Shapes that the model leaves open need no profile: the session builds an engine for the shapes that it meets, and keeps those. Each build
with tuning takes its time (tune="now", the default); tune="never" builds without timing, in a fraction of it.
"""
from __future__ import annotations

import os
import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tenfold import _native, errors
from tenfold._build import _model, bindings, build
from tenfold._device import devices, put_device
from tenfold._engine import Engine
from tenfold._network import Network
from tenfold._registry import put_plugins
from tenfold._session_types import IOBinding, ModelMetadata, NodeArg, OrtValue, RunOptions, SessionOptions

if TYPE_CHECKING:
    import concurrent.futures

_PROVIDERS = ('CUDAExecutionProvider', 'CPUExecutionProvider')   # the order is ONNX Runtime's: the best first
_KEPT = 16                                                       # engines for different shapes; the one used longest ago goes


def get_available_providers() -> list[str]:
    on_gpu = any(d.device.startswith('cuda') for d in devices())
    return list(_PROVIDERS if on_gpu else _PROVIDERS[1:])


def _device_of(provider: str, options: dict[str, Any]) -> str:
    return f'cuda:{int(options.get("device_id", 0))}' if provider == 'CUDAExecutionProvider' else 'cpu'


def _arrays(feed: dict[str, Any]) -> dict[str, Any]:
    return {name: value._array if isinstance(value, OrtValue) else value for name, value in feed.items()}


def _look_at(options: RunOptions | None) -> None:
    if options is not None and options.terminate:
        raise errors.Cancelled('the run was cancelled: RunOptions.terminate is set')


class Session:
    """session.run(names of outputs or None, {name: array}) -> list of arrays. Thread safe.

    `providers`: names, or (name, options); the first that builds is taken, and why others were not is told to the logger "tenfold".
    Without them: TENFOLD_DEVICE, else the first GPU, else the CPU. Other keywords are those of build().
    """

    def __init__(self, path_or_bytes: Any, sess_options: SessionOptions | None = None, providers: Sequence[Any] | None = None,
                 provider_options: Sequence[dict[str, Any]] | None = None, *, tune: str = 'now', cache_dir: str | None = None,
                 **options: Any) -> None:
        if isinstance(path_or_bytes, Network):
            raise TypeError('a session takes a path, bytes of an ONNX file or an onnx.ModelProto; tenfold.build() takes a Network')
        if tune not in ('now', 'never'):
            later = ' (tuning in the background is not there yet)' if tune == 'background' else ''
            raise errors.InvalidArgument(f"tune is 'now' or 'never', got {tune!r}{later}")
        self._settings = sess_options or SessionOptions()
        self._options = {**self._settings._build_options(), **options}
        if tune == 'never':
            self._options['optimization_level'] = 0
        self._model = _model(path_or_bytes)
        self._cache = _native.PlanCache(cache_dir) if cache_dir is not None else None
        self._lock = threading.RLock()
        self._engines: dict[tuple[Any, ...], Engine] = {}
        self._steps: dict[str, float] = {}
        self._runs = 0
        self.set_providers(providers, provider_options)

    # What the model says.

    def get_inputs(self) -> list[NodeArg]:
        return [NodeArg(b) for b in self._bindings if b.is_input]

    def get_outputs(self) -> list[NodeArg]:
        return [NodeArg(b) for b in self._bindings if not b.is_input]

    def get_overridable_initializers(self) -> list[NodeArg]:
        return [NodeArg(b) for b in self._bindings if b.has_default]

    def get_modelmeta(self) -> ModelMetadata:
        return ModelMetadata(self._any_engine())

    def get_providers(self) -> list[str]:
        return list(self._providers)

    def get_provider_options(self) -> dict[str, dict[str, Any]]:
        return {name: dict(options) for name, options in self._providers.items()}

    def get_session_options(self) -> SessionOptions:
        return self._settings

    def set_providers(self, providers: Sequence[Any] | None = None, provider_options: Sequence[dict[str, Any]] | None = None) -> None:
        """Providers in the order in which they are tried; engines are built anew."""
        named: dict[str, dict[str, Any]] = {}
        if providers is None:
            on_gpu = not self._options.get('device', os.environ.get('TENFOLD_DEVICE', 'cuda')).startswith('cpu')
            providers = [p for p in get_available_providers() if on_gpu or p != 'CUDAExecutionProvider']
        for i, provider in enumerate(providers):
            name, options = provider if isinstance(provider, tuple) else (provider, (provider_options or {})[i] if provider_options else {})
            if name not in _PROVIDERS:
                raise errors.InvalidArgument(f'there is no provider {name!r}; there are {", ".join(_PROVIDERS)}')
            named[name] = dict(options)
        with self._lock:
            self._providers = named
            self._engines = {}
            self._first: Engine | None = None
            self._bindings = bindings(self._model, **{k: v for k, v in self._options.items() if k != 'device'})
            self._inputs = [b for b in self._bindings if b.is_input]
            self._fixed = all(-1 not in b.shape for b in self._inputs)
            if self._fixed:
                self._any_engine()   # what cannot be built is told now

    # Engines for shapes.

    def _build(self, profiles: dict[str, Any]) -> Engine:
        from tenfold._log import logger
        failure: errors.Error | None = None
        for place, (provider, options) in enumerate(self._providers.items()):
            config = {**self._options, 'device': _device_of(provider, options), 'profiles': [profiles] if profiles else []}
            try:
                engine = self._cached(config) if self._cache is not None else build(self._model, **config)
            except (errors.DeviceError, errors.Unsupported, errors.OutOfMemory) as error:
                failure = error
                logger.warning('%s is not used: %s', provider, error)
                continue
            if place:
                logger.warning('the session runs on %s', provider)
            self._providers = dict(list(self._providers.items())[place:])
            return engine
        raise failure or errors.InvalidArgument('the session has no provider')

    def _cached(self, config: dict[str, Any]) -> Engine:
        engine, _ = self._cache.build(self._model, put_plugins(put_device(config)))   # type: ignore[union-attr]
        return Engine(engine)

    def _any_engine(self) -> Engine:
        with self._lock:
            if self._first is None:
                if not self._fixed:
                    shapes = {b.name: tuple(1 if d < 0 else d for d in b.shape) for b in self._inputs if -1 in b.shape}
                    return self._engine_for(tuple(shapes.items()))
                self._first = self._build({})
            return self._first

    def _engine_for(self, shapes: tuple[tuple[str, tuple[int, ...]], ...]) -> Engine:
        engine = self._engines.get(shapes)
        if engine is not None:
            return engine
        with self._lock:
            if shapes not in self._engines:
                self._engines[shapes] = self._build({name: ((shape, shape, shape)) for name, shape in shapes})
                self._first = self._first or self._engines[shapes]
                if len(self._engines) > _KEPT:
                    self._engines.pop(next(iter(self._engines)))
            return self._engines[shapes]

    def _shapes(self, feed: dict[str, Any]) -> tuple[tuple[str, tuple[int, ...]], ...]:
        """Of the inputs that have none of their own."""
        shapes = []
        for b in self._inputs:
            if -1 not in b.shape:
                continue
            array = feed.get(b.name)
            if array is None:
                raise errors.InvalidArgument(f"input '{b.name}' is missing")
            shape = tuple(getattr(array, 'shape', ()))
            if len(shape) != len(b.shape) or any(d >= 0 and d != given for d, given in zip(b.shape, shape)):
                raise errors.InvalidArgument(f"input '{b.name}' has the shape {list(b.dims)}, an array of {list(shape)} is given")
            shapes.append((b.name, shape))
        return tuple(shapes)

    def _engine(self, feed: dict[str, Any]) -> Engine:
        return self._first if self._fixed else self._engine_for(self._shapes(feed))   # type: ignore[return-value]

    # Running.

    def run(self, output_names: Sequence[str] | None, input_feed: dict[str, Any], run_options: RunOptions | None = None) -> list[Any]:
        """The outputs of these names (None: all)."""
        engine = self._first if self._fixed else None
        if engine is not None and run_options is None and not self._settings.enable_profiling:
            return engine.run_feed(output_names, input_feed)
        feed = _arrays(input_feed)
        _look_at(run_options)
        engine = self._engine(feed)
        if not self._settings.enable_profiling:
            return engine.run_feed(output_names, feed)
        return self._profiled(engine, output_names, feed)

    def run_async(self, output_names: Sequence[str] | None, input_feed: dict[str, Any], callback: Any, user_data: Any = None,
                  run_options: RunOptions | None = None) -> None:
        """Calls callback(outputs, user_data, error text) in another thread when the run is over."""
        from tenfold._future import Future, start
        feed = _arrays(input_feed)

        def begin(future: Future, token: _native.CancelToken) -> None:
            _look_at(run_options)
            engine = self._engine(feed)
            if self._settings.enable_profiling:
                future._finish(self._profiled(engine, output_names, feed), None)
            else:
                engine.start_feed(future, token, output_names, feed)

        def tell(future: concurrent.futures.Future[Any]) -> None:
            error = future.exception()
            callback([] if error else future.result(), user_data, str(error) if error else '')

        def work() -> None:
            start(begin).add_done_callback(tell)
        if self._begins_at_once(feed, run_options):
            work()
        else:
            threading.Thread(target=work, name='tenfold').start()

    def _begins_at_once(self, feed: dict[str, Any], run_options: RunOptions | None) -> bool:
        """Without a build, steps that are timed, or a refusal, which another thread tells."""
        try:
            _look_at(run_options)
            return not self._settings.enable_profiling and (self._fixed or self._shapes(feed) in self._engines)
        except errors.Error:
            return False

    def io_binding(self) -> IOBinding:
        return IOBinding(self)

    def run_with_iobinding(self, iobinding: IOBinding, run_options: RunOptions | None = None) -> None:
        iobinding._run(run_options)

    def run_with_ort_values(self, output_names: Sequence[str] | None, input_dict_ort_values: dict[str, OrtValue],
                            run_options: RunOptions | None = None) -> list[OrtValue]:
        feed = {name: value._array for name, value in input_dict_ort_values.items()}
        return [OrtValue(array) for array in self.run(output_names, feed, run_options)]

    # Profiles.

    def _profiled(self, engine: Engine, names: Sequence[str] | None, feed: dict[str, Any]) -> list[Any]:
        context = engine.create_context()
        for name, array in feed.items():
            context.bind(name, array)
        with self._lock:
            for step, ms in context.profile_run():
                self._steps[step] = self._steps.get(step, 0.0) + ms
            self._runs += 1
        outputs = context.outputs()
        return [outputs[name] for name in names or outputs]

    def end_profiling(self) -> str:
        """Writes what the steps of all profiled runs took, in Chrome's trace form; the file's name."""
        import json
        name = f'{self._settings.profile_file_prefix}_{time.strftime("%Y-%m-%d_%H-%M-%S")}.json'
        begin, events = 0.0, []
        with self._lock:
            for step, ms in self._steps.items():
                events.append(dict(cat='Node', ph='X', name=step, ts=begin, dur=ms * 1000, pid=os.getpid(), tid=0,
                                   args=dict(runs=self._runs)))
                begin += ms * 1000
            self._steps, self._runs = {}, 0
        with open(name, 'w') as file:
            json.dump(events, file)
        return name
