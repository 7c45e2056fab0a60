"""Predictor: a model over batches of arrays, as Ray Data hands them to an actor."""
from __future__ import annotations

import logging
import os
from typing import Any

import tenfold
from tenfold import _native
from tenfold._build import _model as _native_model
from tenfold._engine import Engine
from tenfold.errors import Error, FileError, InvalidArgument
from tenfold.ray._model import Model, kept_columns
from tenfold.ray._place import need_file, open_on, place_of
from tenfold.ray._rows import Feed, profiles_of

_log = logging.getLogger('tenfold')
_PLANS = ('.plan', '.engine')


class Predictor(Model):
    """A class for Dataset.map_batches: from a dict of arrays, with one row for each sample, to the same with the model's outputs.

    `path`: an ONNX file, which is built once on each machine into the plan cache; or a plan (.plan, .engine). `batch_size`: how many rows
    run at once at most, where the model leaves that open; batches of Ray may have any number. `inputs`: from the model's inputs to columns,
    where they are named otherwise; `outputs`: from outputs to columns, which leaves others out. `keep`: columns that go on (None: all that
    no input took). `device`, `threads`: in place of what Ray reserved. `fallback`: whether the CPU computes where a reserved GPU cannot.
    `plan_cache`: a folder (None: the usual one; False: none). Other keywords are those of tenfold.build, such as `fp16` or `profiles`.
    """

    _NAME = 'path'

    def __init__(self, path: Any = None, *, batch_size: int = 32, inputs: dict[str, str] | None = None,
                 outputs: dict[str, str] | None = None, keep: Any = None, device: Any = None, threads: int | None = None,
                 fallback: bool = True, plan_cache: Any = None, **build: Any) -> None:
        if batch_size < 1:
            raise InvalidArgument(f'batch_size is {batch_size}, 1 or more was expected')
        self._batch_size, self._inputs, self._outputs, self._keep = batch_size, inputs or {}, outputs, keep
        self._device, self._threads, self._fallback, self._cache, self._build = device, threads, fallback, plan_cache, build
        path = os.path.abspath(os.path.expanduser(os.fspath(path))) if path is not None else None
        if path is not None and build and path.endswith(_PLANS):
            raise TypeError(f"Predictor('{path}') takes no {next(iter(build))}=...: a plan is built already, that is for ONNX files")
        super().__init__(path, dict(batch_size=batch_size, inputs=inputs, outputs=outputs, keep=keep, device=device, threads=threads,
                                    fallback=fallback, plan_cache=plan_cache, **build))

    def _open(self) -> Feed:
        need_file(self.path, 'model')
        place = place_of(self._device, self._threads)
        if len(place.devices) > 1:
            _log.warning('%s has one engine, on %s: an actor with num_gpus=1 for each GPU uses all of them', type(self).__name__,
                         place.devices[0])
        engine = open_on(place.devices[:1] or [''], self._fallback, lambda devices: self._engine(devices[0], place.threads))
        return Feed(engine, self._inputs, self._outputs)

    def _engine(self, device: str, threads: int) -> Engine:
        options: dict[str, Any] = {'device': device} if device else {}
        if threads:
            options['threads'] = threads
        if self.path.endswith(_PLANS):
            # Pages of the file, which all actors of a machine share.
            return tenfold.load(self.path, weights='map', **options)
        options |= self._build
        if options.get('profiles') is None and (profiles := profiles_of(tenfold.bindings(self.path), self._batch_size, self.path)):
            options['profiles'] = profiles
        cache = self._plan_cache()
        if cache is None:
            return tenfold.build(self.path, **options)
        from tenfold._device import put_device
        from tenfold._registry import put_plugins
        return Engine(cache.build(_native_model(self.path), put_plugins(put_device(options)))[0])

    def _plan_cache(self) -> Any:
        """One process of a machine builds a plan, others wait for its file, whose pages all of them share."""
        if self._cache is False:
            return None
        try:
            return _native.PlanCache(None if self._cache is None else os.fspath(self._cache), weights='map')
        except FileError as error:
            _log.warning('plans are not kept, each actor builds its own: %s', error)
            return None

    def __call__(self, batch: Any) -> Any:
        if not isinstance(batch, dict):
            raise InvalidArgument(f'Predictor takes a dict of arrays, got {type(batch).__name__}: leave out batch_format of map_batches, '
                                  "or say batch_format='numpy'")
        if not batch:
            return batch
        feed: Feed = self.open()
        taken = feed.columns(batch)
        kept = kept_columns(list(batch), set(taken.values()), self._keep, feed.result_names())
        results = feed.run({name: batch[column] for name, column in taken.items()}, taken)
        return {**{name: batch[name] for name in kept}, **results}

    def check(self) -> None:
        """Raises where the engine gives no answer: for health checks."""
        feed: Feed = self.open()
        try:
            feed.run_zeros()
        except Error as error:
            raise RuntimeError(f"the engine of '{self.path}' fails: {error}") from error
