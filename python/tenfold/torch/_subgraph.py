"""An engine in the place of a graph of ATen operators: it is called with the graph's arguments and returns its results."""
from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import tenfold
import torch
from tenfold import _native
from tenfold._log import logger
from tenfold.torch import _keys
from tenfold.torch._call import Refused
from tenfold.torch._capture import is_captured, tell
from tenfold.torch._convert import Conversion, host, is_size
from tenfold.torch._free import Freed, is_freed_from
from tenfold.torch._options import Options, for_build
from tenfold.torch._report import Report, first_time, log_once, warn_once
from tenfold.torch._results import Results
from tenfold.torch._sizes import Ranges


class Subgraph:
    """Thread safe. It is called with a list of the graph's arguments."""

    def __init__(self, graph: torch.fx.Graph, weights: Mapping[torch.fx.Node, torch.Tensor], options: Options, attributes: Any,
                 report: Report | None = None, made: Conversion | None = None) -> None:
        self.options, self.report = options, report or Report()
        made = made or Conversion(graph, weights, attributes)
        if made.failed:
            node, why = next(iter(made.failed.items()))
            raise Refused(f'{node.target}: {why}')
        nodes = [n for n in graph.nodes if n.op == 'placeholder']
        places = {n: i for i, n in enumerate(nodes)}
        read = [n for n in made.inputs if n.users]
        for node in made.inputs:
            if node not in read:
                made.network.remove_input(node.name)
        if not read:
            raise Refused('a graph of constants')
        fakes = [n.meta['val'] for n in read]
        self.device = device_of(fakes)
        self.names, self._inputs = [n.name for n in read], [places[n] for n in read]
        self.ranges = Ranges(fakes)
        self.results = Results(graph, made, self.ranges, places)
        if not self.results.names:
            raise Refused('a graph that computes nothing')
        made.network.remove_unused()
        self.network = made.network
        self._extents = made.extents
        self._graph, self._module = graph, attributes
        self.weights = [weights[n] for n in made.weights]
        self.holds_weights = True                          # of torch's memory
        self._folded = [v for k, v in vars(attributes).items() if isinstance(v, torch.Tensor)] if attributes is not None else []
        self._weights = {places[n]: n.name for n in made.weights}
        self._lock = threading.RLock()
        self._engines: dict[tuple[tuple[int, int], ...], Any] = {}
        self._watch = None if options.frozen or not self._weights else _native.TorchWatch(list(self._weights), self.weights)
        self._late = 0                                     # of the watch's count, what was told
        self._tells_of_captures = self._watch is not None and self.device.type == 'cuda'
        if self._tells_of_captures:
            log_once("writes to weights in a GPU's memory that torch does not count (through .data or its like) are not noticed: "
                     'torch.autograd.graph.increment_version(weight) tells of them')
        self._digest = ''
        self.operators = sum(n.op == 'call_function' and not is_size(n) for n in graph.nodes)
        self._last = (self.ranges.around(self.ranges.hints), self._built(self.ranges.around(self.ranges.hints), self.ranges.hints))

    # Building.
    def _built(self, around: tuple[tuple[int, int], ...], usual: list[int]) -> Any:
        """The engine for sizes in these ranges."""
        with self._lock:
            if around not in self._engines:
                if self.network is None:
                    raise RuntimeError(f'sizes of {list(around)} need another engine, and free_weights=True has dropped the weights: '
                                       'torch._dynamo.mark_dynamic(x, axis, min=, max=) before the first call gives bounds to one engine')
                first = not self._engines                  # whose failure is that of the whole subgraph
                self._engines[around] = self._build(around, usual) if first else self._attempt(around, usual)
                self.report.built.append(list(around))
            return self._engines[around]

    def _attempt(self, around: tuple[tuple[int, int], ...], usual: list[int]) -> Any:
        """None: torch computes calls of these sizes, and a warning tells why."""
        try:
            return self._build(around, usual)
        except (tenfold.Error, MemoryError) as error:
            self.report.leave_all(f'sizes of {around}: {type(error).__name__}: {error}')
            return None

    def _build(self, around: tuple[tuple[int, int], ...], usual: list[int]) -> Any:
        build = for_build(self.options, self.device)
        if self.ranges.symbols:
            self._extents.check(self.ranges.symbols, around)
            build['profiles'] = self.ranges.profile(self.names, around, usual)
        if not self.options.frozen:
            build.setdefault('refittable', True)
        cache = cache_of(self.options.plan_cache)
        if cache is None:
            return tenfold.build(self.network, **build)
        build.setdefault('timing_cache', os.path.join(cache.folder, 'torch.timings'))
        if not self._digest:
            self._digest = _keys.digest_of(self._graph, [*self.weights, *self._folded])
        key = _keys.plan_key(self._digest, build, False)
        load = {name: build[name] for name in ('threads', 'pin_threads') if name in build}
        return tenfold.Engine(cache.get(key, lambda: tenfold.build(self.network, **build), '', {**load, 'device': build['device']}))

    # Running.
    def __call__(self, args: Sequence[Any]) -> Any:
        if self._watch is not None and (changed := self._watch.changed(args)):
            if is_captured(self.device):
                return self._in_a_capture(args, f'{len(changed)} of its weights have changed since the last call')
            self._renew(args, changed)
        tensors = [args[i] for i in self._inputs]
        around, engine = self._last
        values = self.ranges.values(tensors) if around else []
        for value, (minimum, maximum) in zip(values, around, strict=True):
            if not minimum <= value <= maximum:
                around = self.ranges.around(values)
                if around not in self._engines and is_captured(self.device):
                    return self._in_a_capture(args, f'no engine is there for sizes of {list(around)}')
                engine = self._built(around, values)
                self._last = around, engine
                break
        if engine is None:
            return self._module(*args)
        results = self.results
        try:
            found = engine(*tensors, out=results.made(values)) if results.strided else engine(*tensors)
        except (tenfold.OutOfMemory, MemoryError) as error:
            self.report.leave_all(f'a run: {type(error).__name__}: {error}')
            return self._module(*args)
        if self._tells_of_captures and engine.captured_calls:
            self._tells_of_captures = False
            log_once('a CUDA graph that captured a call keeps the weights as they were then: it is to be captured anew when they change')
        outputs = [found] if len(results.names) == 1 else [found[name] for name in results.names]
        if results.plain:
            return outputs[0] if results.single else outputs
        return results.gather(outputs, args, values)

    def _in_a_capture(self, args: Sequence[Any], why: str) -> Any:
        tell(why)
        return self._module(*args)

    def _renew(self, args: Sequence[Any], changed: list[int]) -> None:
        """Engines of the weights as they are now."""
        with self._lock:
            now = [args[place] for place in self._weights]
            if all(n is w or is_freed_from(w, n) for n, w in zip(now, self.weights, strict=True)) and self.network is None:
                return                                     # by a call that had begun before they were freed
            given = {self._weights[place]: host(args[place]) for place in changed}
            for name, value in given.items() if self.network is not None else ():
                self.network[name].value = value
            self.weights, self._digest, self.holds_weights = now, '', True
            logger.info('%d weights of an engine have changed', len(given))
            stale = sum(engine.captured_calls for engine in self._engines.values() if engine is not None)
            for around, engine in self._engines.items():
                try:
                    self._engines[around] = None if engine is None else engine.refit(given)
                except (tenfold.Error, MemoryError) as error:
                    if self.network is None:
                        raise
                    logger.info('an engine is built anew: %s', error)
                    self._engines[around] = self._attempt(around, [maximum for _, maximum in around])
            self._last = self._last[0], self._engines[self._last[0]]
            self._watch.keep(now)
            self._tell_of_late(len(given))   # warnings may be errors: all is done before
            if stale:
                warnings.warn(f'tenfold: weights have changed, and {stale} calls that CUDA graphs captured still compute with them as they '
                              'were: capture these graphs anew', stacklevel=2)

    def _tell_of_late(self, count: int) -> None:
        """Of a write that nothing showed but the look at all bytes, a part of them at each call."""
        before, self._late = self._late, self._watch.late
        if self._late != before:
            warn_once(f'tenfold: {count} weights were written to in a way that torch does not count (through .data, NumPy or their like): '
                      f'this call computes with them as they are now, up to {self._watch.late_calls - 1} calls before it with them as '
                      'they were. torch.autograd.graph.increment_version(weight) tells of such a write at once')

    def free(self, freed: Mapping[int, Freed]) -> None:
        """Engines alone hold these weights from now on. `freed`: what takes the place of a tensor, by its id."""
        with self._lock:
            self.weights = [freed.get(id(w), w) for w in self.weights]
            self.network = self._graph = self._extents = None
            self._folded, self.holds_weights = [], False
            if self._watch is not None:
                self._watch.keep(self.weights)


def cache_of(folder: Any) -> Any:
    """The plan cache that the option `plan_cache` names; None: plans are not kept, as where its folder cannot be made."""
    if folder is False:
        return None
    try:
        return _native.PlanCache(None if folder is True else os.fspath(folder))
    except tenfold.FileError as error:
        if first_time(text := f'plans are not kept: {error}'):
            logger.warning('%s', text)
        return None


def device_of(fakes: list[torch.Tensor]) -> torch.device:
    devices = {f.device for f in fakes}
    if len(devices) > 1:
        raise Refused(f'tensors on several devices: {", ".join(sorted(map(str, devices)))}')
    (device,) = devices
    if device.type not in ('cpu', 'cuda'):
        raise Refused(f'the device {device}')
    return device
