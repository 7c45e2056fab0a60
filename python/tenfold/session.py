"""Session: an engine in the form of ONNX Runtime's InferenceSession. tenfold.onnxruntime has it under that name.

Shapes that the model leaves open need no profile: engines for the shapes that come are found or made by C++ (tenfold/model_engines.h).
"""
from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from tenfold import _native, errors
from tenfold._build import _model
from tenfold._device import put_device
from tenfold._engine import Engine
from tenfold._log import logger, once
from tenfold._network import Network
from tenfold._registry import put_plugins
from tenfold._repr import give_reprs as _give_reprs
from tenfold._session_build import Files, build_options, write_model
from tenfold._session_engines import Engines
from tenfold._session_errors import AsTheirs, NoBinding, give_their_name
from tenfold._session_feeds import as_arrays, dict_of, expect_dims, is_odd, names_of
from tenfold._session_options import RunOptions, SessionOptions, look_at
from tenfold._session_profile import Profile
from tenfold._session_providers import build_options_of, chosen, device_of
from tenfold._session_types import IOBinding, ModelMetadata, NodeArg, OrtValue, arguments

if TYPE_CHECKING:
    import concurrent.futures


class Session:
    """session.run(names of outputs or None, {name: array}) -> list of arrays. Thread safe.

    `providers`: names, or (name, options). Unavailable ones are skipped with a warning, and the first that builds is used; the logger
    "tenfold" says why others were not. The CPU is the last, unless `enable_fallback` is 0. Without providers: TENFOLD_DEVICE, else the
    first GPU, else the CPU. `disabled_optimizers`: names of Tenfold's passes (a wrong one lists them all); names of ONNX Runtime's
    optimizers have no effect, with a warning. Other keywords are those of build().

    `tune`: "now": a build for new shapes times kernels; "never": it does not; "background": it does not, and another process builds a tuned
    plan for a range around the shapes, which then takes over (the log says once that last bits may change). None: the environment variable
    TENFOLD_TUNE, for unchanged scripts, else "now". `cache_dir`: a folder for plans. `tuner`: another program tenfold.

    Errors are Tenfold's, and also derive from ONNX Runtime's classes (tenfold.onnxruntime.capi.onnxruntime_pybind11_state).
    """

    def __init__(self, path_or_bytes: Any, sess_options: SessionOptions | None = None, providers: Sequence[Any] | None = None,
                 provider_options: Sequence[dict[str, Any]] | None = None, *, tune: str | None = None, cache_dir: str | None = None,
                 tuner: str | None = None, disabled_optimizers: Iterable[str] | None = None, enable_fallback: int = 1,
                 read_config_from_model: int = 0, **options: Any) -> None:
        if isinstance(path_or_bytes, Network):
            raise TypeError('a session takes a path, bytes of an ONNX file or an onnx.ModelProto; tenfold.build() takes a Network')
        if sess_options is not None and not isinstance(sess_options, SessionOptions):
            kind = type(sess_options)
            raise TypeError(f'sess_options are SessionOptions of tenfold.onnxruntime, got {kind.__module__}.{kind.__qualname__}')
        self._settings = settings = sess_options or SessionOptions()
        self._profile = Profile() if settings.enable_profiling else None
        self._plain = self._profile is None   # whether runs are no more than runs
        self._model = _model(path_or_bytes)
        self._tune, self._tuner = tune or os.environ.get('TENFOLD_TUNE') or 'now', tuner
        self._lock = threading.RLock()
        self._declared: _native.ModelArguments | None = None
        self._fallback = bool(int(enable_fallback))
        if read_config_from_model:
            once('read_config_from_model has no effect: a model\'s file holds no options of Tenfold\'s')
        with AsTheirs(self._model):
            self._cache = _native.PlanCache(cache_dir) if cache_dir is not None else None
            self._files = Files(settings._files) if settings._files else None
            self._options = build_options(settings, options, disabled_optimizers or (), self._files, self._arguments)
            self.set_providers(providers, provider_options)
            if settings.optimized_model_filepath:
                write_model(self._model, settings.optimized_model_filepath, self._options)

    def _say(self, severity: str, text: str) -> None:
        if 'log' in self._options:
            self._options['log'](severity, text)
        else:
            getattr(logger, severity)('%s', text)

    # What the model says.

    def _arguments(self) -> _native.ModelArguments:
        if self._declared is None:
            self._declared = _native.model_arguments(self._model)
        return self._declared

    def _node_args(self, which: str) -> list[NodeArg]:
        with AsTheirs():
            declared, fixed, names = self._arguments(), self._settings._dims, dict[str, str | None]()
            found = {'inputs': arguments(declared.inputs, self._bindings, fixed, names)}
            found['outputs'] = arguments(declared.outputs, self._bindings, fixed, names)
            found['overridable'] = arguments(declared.overridable, self._bindings, fixed, names)
            return found[which]

    def get_inputs(self) -> list[NodeArg]:
        return self._node_args('inputs')

    def get_outputs(self) -> list[NodeArg]:
        return self._node_args('outputs')

    def get_overridable_initializers(self) -> list[NodeArg]:
        """Initializers that the file has as inputs, too: they may be fed. An engine for those that are fed is built when they first are."""
        return self._node_args('overridable')

    def _expect_input(self, name: str) -> None:
        if name not in self._inputs and not any(one.name == name for one in (*self._arguments().inputs, *self._arguments().overridable)):
            raise NoBinding(f'the model has no input {name!r}; it has {", ".join(repr(one.name) for one in self._arguments().inputs)}')

    def _expect_output(self, name: str) -> None:
        if not any(b.name == name for b in self._bindings if not b.is_input) and all(one.name != name for one in self._arguments().outputs):
            raise NoBinding(f'the model has no output {name!r}; it has {", ".join(repr(one.name) for one in self._arguments().outputs)}')

    def get_modelmeta(self) -> ModelMetadata:
        return ModelMetadata(_native.model_metadata(self._model))

    def get_providers(self) -> list[str]:
        return list(self._providers)

    def get_provider_options(self) -> dict[str, dict[str, Any]]:
        return {name: {key: str(value) for key, value in options.items()} for name, options in self._providers.items()}

    def get_session_options(self) -> SessionOptions:
        return self._settings

    def set_providers(self, providers: Sequence[Any] | None = None, provider_options: Sequence[dict[str, Any]] | None = None) -> None:
        """Providers in the order in which they are tried; engines are built again."""
        with AsTheirs(self._model), self._lock:
            self._providers = chosen(providers or self._settings._providers, provider_options, self._options.get('device'))
            self._take_first_provider()
            self._bindings = self._engines.bindings
            self._inputs = frozenset(b.name for b in self._bindings if b.is_input)
            if self._engines.one_for_all:
                self._any_engine()   # what cannot be built is told now

    def enable_fallback(self) -> None:
        self._fallback = True

    def disable_fallback(self) -> None:
        """A provider that fails ends the run; no other is tried."""
        self._fallback = False

    # Engines for shapes.

    def _take_first_provider(self) -> None:
        provider, options = next(iter(self._providers.items()))
        config = {**self._options, **build_options_of(provider, options), 'device': device_of(provider, options)}
        self._only: Engine | None = None   # that serves all shapes there can be, once no other takes its place
        self._engines = Engines(self._model, put_plugins(put_device(config)), self._tune, self._cache, self._tuner)

    def _without(self, failed: Engines, error: errors.Error) -> None:
        """Goes on with the next provider, or raises."""
        with self._lock:
            if self._engines is not failed:
                return   # another thread has
            (provider, _), *rest = self._providers.items()
            if not rest or not self._fallback or self._settings._entries.get('session.disable_cpu_ep_fallback') == '1':
                raise error
            self._say('warning', f'{provider} is not used: {error}')
            self._providers = dict(rest)
            self._take_first_provider()
            self._say('warning', f'the session goes on with {next(iter(self._providers))}')

    def _ask(self, feed: dict[str, Any] | None) -> tuple[Engine, bool]:
        """The engine for these arrays, or (None) any, of the first provider that has one; whether no other will take its place."""
        fed = self._fed_initializers(feed) if feed else frozenset[str]()
        if feed and self._settings._dims:
            expect_dims(feed, self._arguments().inputs, self._settings._dims)
        while True:
            engines = self._engines
            try:
                engine, settled = engines.any() if feed is None else engines.engine_of(feed, fed)
            except (errors.DeviceError, errors.Unsupported, errors.OutOfMemory) as error:
                self._without(engines, error)
                continue
            if settled and not fed and engines.one_for_all and not self._settings._dims:
                with self._lock:   # set_providers() may take other engines meanwhile
                    if engines is self._engines:
                        self._only = engine
            return engine, settled

    def _fed_initializers(self, feed: dict[str, Any]) -> frozenset[str]:
        if feed.keys() <= self._inputs:
            return frozenset()
        return frozenset(one.name for one in self._arguments().overridable if one.name in feed)

    def _any_engine(self) -> Engine:
        return self._only or self._ask(None)[0]

    def wait_for_tuning(self, timeout: float | None = None) -> bool:
        """Waits until nothing is being tuned for this session in the background. False: it took longer than `timeout` seconds."""
        return self._engines.wait(timeout)

    # Running.

    def run(self, output_names: Sequence[str] | None, input_feed: dict[str, Any], run_options: RunOptions | None = None) -> list[Any]:
        """The outputs of these names (None: all). A list of numbers is taken for an array of the input's type."""
        if run_options is None and self._plain and (output_names is None or type(output_names) is list) and type(input_feed) is dict:
            try:
                return (self._only or self._ask(input_feed)[0]).run_feed(output_names, input_feed)
            except (TypeError, errors.Error) as error:
                if not self._may_be_mended(input_feed, error):
                    give_their_name(error)
                    raise
        with AsTheirs():
            look_at(run_options)
            names, feed = names_of(output_names), self._feed(input_feed)
            engine = self._ask(feed)[0]
            if (profile := self._profile) is not None:
                return profile.run(engine, names, feed)
            if run_options is None or not self._of_numbers():
                return engine.run_feed(names, feed)
            return self._ended_by(run_options, engine, names, feed)

    @staticmethod
    def _may_be_mended(feed: dict[str, Any], error: BaseException) -> bool:
        """Whether the long way takes what the short one refused, before it ran, or says more of it."""
        if isinstance(error, errors.Error):
            return isinstance(error, errors.InvalidArgument) and not isinstance(error, errors.InvalidInput)
        return any(is_odd(value) for value in feed.values())

    def _feed(self, given: Any) -> dict[str, Any]:
        feed = dict_of(given)
        if not any(is_odd(value) for value in feed.values()):
            return feed
        declared = self._arguments()
        numbers = [one for one in (*declared.inputs, *declared.overridable) if one.type.startswith('tensor(') and 'string' not in one.type]
        return as_arrays(feed, {one.name: _native.numpy_name(one.type[len('tensor('):-1]) for one in numbers})

    def _of_numbers(self) -> bool:
        """Whether no input or output is of strings, or no tensor at all: such runs do not go on elsewhere."""
        declared = self._arguments()
        return all(one.type.startswith('tensor(') and 'string' not in one.type for one in (*declared.inputs, *declared.outputs))

    def _ended_by(self, options: RunOptions, engine: Engine, names: list[str] | None, feed: dict[str, Any]) -> list[Any]:
        """A run that RunOptions.terminate ends, set by another thread."""
        from tenfold._future import Future, start

        def begin(future: Future, token: _native.CancelToken) -> None:
            options._watch(future)
            engine.start_feed(future, token, names, feed)
        return start(begin).result()

    def run_async(self, output_names: Sequence[str] | None, input_feed: dict[str, Any], callback: Any, user_data: Any = None,
                  run_options: RunOptions | None = None) -> None:
        """Calls callback(outputs, user_data, error text) in another thread when the run is over."""
        from tenfold._future import Future, start
        names, feed = names_of(output_names), self._feed(input_feed)

        def begin(future: Future, token: _native.CancelToken) -> None:
            if run_options is not None:
                run_options._watch(future)
            engine = self._ask(feed)[0]
            if (profile := self._profile) is None:
                engine.start_feed(future, token, names, feed)
            else:
                future._finish(profile.run(engine, names, feed), None)

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
            return self._plain and (self._only is not None or self._engines.has_engine_of(feed, self._fed_initializers(feed)))
        except errors.Error:
            return False

    def io_binding(self) -> IOBinding:
        return IOBinding(self)

    def run_with_iobinding(self, iobinding: IOBinding, run_options: RunOptions | None = None) -> None:
        if iobinding._session is not self:
            raise ValueError('an IOBinding runs in the session that made it')
        with AsTheirs():
            iobinding._run(run_options)

    def run_with_ort_values(self, output_names: Sequence[str] | None, input_dict_ort_values: dict[str, OrtValue],
                            run_options: RunOptions | None = None) -> list[OrtValue]:
        feed = {name: value._array for name, value in input_dict_ort_values.items()}
        return [OrtValue(array) for array in self.run(output_names, feed, run_options)]

    # Profiles.

    def get_profiling_start_time_ns(self) -> int:
        return self._profile.begin_ns if self._profile is not None else 0

    def end_profiling(self) -> str:
        """Writes what the steps of all profiled runs took, in Chrome's trace form; the file's name. '': nothing is profiled, or no more."""
        with self._lock:
            written = self._profile.write(self._settings.profile_file_prefix) if self._profile is not None else ''
            self._profile, self._plain = None, True   # where it cannot be written, another prefix may serve
        return written


_give_reprs(globals())
