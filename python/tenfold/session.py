"""Session: an engine in the form of ONNX Runtime's InferenceSession. tenfold.onnxruntime has it under that name.

Shapes that the model leaves open need no profile: engines for the shapes that come are found or made by C++ (tenfold/model_engines.h).
"""
from __future__ import annotations

import os
import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tenfold import _native, errors
from tenfold._build import _model
from tenfold._device import devices, put_device
from tenfold._engine import Engine
from tenfold._network import Network
from tenfold._registry import put_plugins
from tenfold._repr import give_reprs as _give_reprs
from tenfold._session_types import IOBinding, ModelMetadata, NodeArg, OrtValue, RunOptions, SessionOptions, look_at

if TYPE_CHECKING:
    import concurrent.futures

_PROVIDERS = ('CUDAExecutionProvider', 'CPUExecutionProvider')   # the order is ONNX Runtime's: the best first


def get_available_providers() -> list[str]:
    on_gpu = any(d.device.startswith('cuda') for d in devices())
    return list(_PROVIDERS if on_gpu else _PROVIDERS[1:])


def _device_of(provider: str, options: dict[str, Any]) -> str:
    return f'cuda:{int(options.get("device_id", 0))}' if provider == 'CUDAExecutionProvider' else 'cpu'


def _arrays(feed: dict[str, Any]) -> dict[str, Any]:
    return {name: value._array if isinstance(value, OrtValue) else value for name, value in feed.items()}


class Session:
    """session.run(names of outputs or None, {name: array}) -> list of arrays. Thread safe.

    `providers`: names, or (name, options); the first that builds is taken, and why others were not is told to the logger "tenfold".
    Without them: TENFOLD_DEVICE, else the first GPU, else the CPU. Other keywords are those of build().

    `tune`: "now", a build for new shapes times kernels; "never", it does not; "background", it does not, and another process makes a tuned
    plan for the range around the shapes, which takes over (the log tells it once: last bits may change then). `cache_dir`: where plans
    are kept. `tuner`: the program tenfold, where it is not the package's own.
    """

    def __init__(self, path_or_bytes: Any, sess_options: SessionOptions | None = None, providers: Sequence[Any] | None = None,
                 provider_options: Sequence[dict[str, Any]] | None = None, *, tune: str = 'now', cache_dir: str | None = None,
                 tuner: str | None = None, **options: Any) -> None:
        if isinstance(path_or_bytes, Network):
            raise TypeError('a session takes a path, bytes of an ONNX file or an onnx.ModelProto; tenfold.build() takes a Network')
        self._settings = sess_options or SessionOptions()
        self._options = {**self._settings._build_options(), **options}
        self._model = _model(path_or_bytes)
        self._tune, self._tuner = tune, tuner
        self._cache = _native.PlanCache(cache_dir) if cache_dir is not None else None
        self._lock = threading.RLock()
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
        return ModelMetadata(_native.model_metadata(self._model))

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
        if not named:
            raise errors.InvalidArgument('the session has no provider')
        with self._lock:
            self._providers = named
            self._take_first_provider()
            self._bindings = self._engines.bindings
            if self._engines.one_for_all:
                self._any_engine()   # what cannot be built is told now

    # Engines for shapes.

    def _take_first_provider(self) -> None:
        provider, options = next(iter(self._providers.items()))
        config = put_plugins(put_device({**self._options, 'device': _device_of(provider, options)}))
        self._only: Engine | None = None   # that serves all shapes there can be, once no other takes its place
        self._engines = _native.ModelEngines(self._model, config, self._tune, self._cache, self._tuner, Engine)

    def _without(self, failed: _native.ModelEngines, error: errors.Error) -> None:
        """Goes on with the next provider, or raises."""
        from tenfold._log import logger
        with self._lock:
            if self._engines is not failed:
                return   # another thread has
            (provider, _), *rest = self._providers.items()
            logger.warning('%s is not used: %s', provider, error)
            if not rest:
                raise error
            self._providers = dict(rest)
            self._take_first_provider()
            logger.warning('the session goes on with %s', next(iter(self._providers)))

    def _ask(self, feed: dict[str, Any] | None) -> tuple[Engine, bool]:
        """The engine for these arrays, or (None) any, of the first provider that has one; whether no other will take its place."""
        while True:
            engines = self._engines
            try:
                engine, settled = engines.any() if feed is None else engines.engine_of(feed)
            except (errors.DeviceError, errors.Unsupported, errors.OutOfMemory) as error:
                self._without(engines, error)
                continue
            if settled and engines.one_for_all:
                with self._lock:   # set_providers() may take other engines meanwhile
                    if engines is self._engines:
                        self._only = engine
            return engine, settled

    def _any_engine(self) -> Engine:
        return self._only or self._ask(None)[0]

    def _engine(self, feed: dict[str, Any]) -> Engine:
        return self._only or self._ask(feed)[0]

    def wait_for_tuning(self, timeout: float | None = None) -> bool:
        """Waits until nothing is being tuned for this session in the background. False: it took longer than `timeout` seconds."""
        return self._engines.wait(timeout)

    # Running.

    def run(self, output_names: Sequence[str] | None, input_feed: dict[str, Any], run_options: RunOptions | None = None) -> list[Any]:
        """The outputs of these names (None: all)."""
        engine = self._only
        if engine is not None and run_options is None and not self._settings.enable_profiling:
            return engine.run_feed(output_names, input_feed)
        feed = _arrays(input_feed)
        look_at(run_options)
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
            look_at(run_options)
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
            look_at(run_options)
            return not self._settings.enable_profiling and (self._only is not None or self._engines.has_engine_of(feed))
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


_give_reprs(globals())
