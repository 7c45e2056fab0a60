"""benchmark() and benchmark_precision_comparison(), with the result keys of the guide."""
from __future__ import annotations

import functools
import sys
import time
from typing import TYPE_CHECKING, Any

import tenfold

from tenfold_hana._calibration import SENTENCES
from tenfold_hana._devices import gpu_of, log

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_SENTENCES_A_DOCUMENT = 8   # about 128 tokens
_SIZES = (1, 8, 16, 32, 64, 128)
_COMPARED_BATCH = 32
_WORTH = 1.1                # a narrower type is recommended where it is so many times as fast
_QUERY = 'query'


def documents(count: int) -> list[str]:
    """Texts of about 128 tokens."""
    return [' '.join(SENTENCES[(i + k) % len(SENTENCES)] for k in range(_SENTENCES_A_DOCUMENT)) for i in range(count)]


def _bar(show: bool | None, done: int, of: int, started: float) -> None:
    """On stderr; None: where that is a terminal."""
    if show or show is None and sys.stderr.isatty():
        sys.stderr.write(f'\rbenchmark: round {done} of {of}, {time.perf_counter() - started:.0f} s' + ('\n' if done == of else ''))
        sys.stderr.flush()


class Turns:
    """Times of calls that take turns, so that whatever else the machine does hits all of them alike."""

    def __init__(self, calls: dict[Any, Callable[[], Any]]) -> None:
        self._calls = dict(calls)
        self.times: dict[Any, list[float]] = {key: [] for key in calls}   # ms
        self.errors: dict[Any, str] = {}

    def _round(self, keep: bool) -> None:
        for key in list(self._calls):
            start = time.perf_counter()
            try:
                self._calls[key]()
            except tenfold.OutOfMemory as error:
                self.errors[key] = str(error)
                del self._calls[key]
                continue
            if keep:
                self.times[key].append((time.perf_counter() - start) * 1e3)

    def run(self, iterations: int, warmup: int, max_seconds: float, show: bool | None) -> Turns:
        """Rounds of all calls; the time is up behind the first of them at the earliest. One round at least counts."""
        started = time.perf_counter()
        for i in range(warmup):
            if i and time.perf_counter() - started > max_seconds / 4:
                break
            self._round(False)
        for i in range(iterations):
            self._round(True)
            if time.perf_counter() - started > max_seconds and i + 1 < iterations:
                _bar(show, i + 1, i + 1, started)
                log.warning('the benchmark ends after %.0f s: %d of %d rounds (max_seconds is %g)', time.perf_counter() - started, i + 1,
                            iterations, max_seconds)
                break
            _bar(show, i + 1, iterations, started)
        return self


def _latencies(times: list[float]) -> dict[str, float]:
    import numpy as np
    values = {'mean': np.mean(times), 'median': np.median(times), 'min': np.min(times), 'max': np.max(times),
              'p95': np.percentile(times, 95), 'p99': np.percentile(times, 99)}
    return {f'{name}_latency_ms': float(value) for name, value in values.items()} | {'runs': len(times)}


def _checked(sizes: Sequence[int], iterations: int, warmup: int, max_seconds: float) -> list[int]:
    if not all(isinstance(size, int) and size > 0 for size in sizes) or iterations < 1 or warmup < 0 or not max_seconds > 0:
        raise tenfold.InvalidArgument('benchmark() takes batch sizes and iterations from 1 on, warmup from 0 on, and max_seconds above 0')
    return list(sizes)


class Benchmarks:
    """Of embeddings with embed_documents(), embed_query(), and what __init__ of TensorRTEmbeddings sets."""

    def _gpu_info(self: Any) -> dict[str, Any] | None:
        gpu = gpu_of(self.device)
        return gpu and {'name': gpu.name, 'compute_capability': gpu.compute_capability, 'memory_total_mb': gpu.memory_total,
                        'memory_free_mb': gpu.memory_free}

    def _tokens(self: Any, texts: list[str]) -> int:
        return int(self._client.tokenize(texts)['attention_mask'].sum())

    def _benchmark_calls(self: Any, sizes: list[int]) -> dict[Any, Callable[[], Any]]:
        calls: dict[Any, Callable[[], Any]] = {size: functools.partial(self.embed_documents_array, documents(size)) for size in sizes}
        return calls | {_QUERY: functools.partial(self.embed_query, SENTENCES[1])}

    def _benchmark_results(self: Any, sizes: list[int], times: dict[Any, list[float]], errors: dict[Any, str]) -> dict[str, Any]:
        results: dict[str, Any] = {'model': self.model_name, 'device': 'GPU' if self.device.startswith('cuda') else 'CPU',
                                   'precision': self.precision, 'batch_sizes': {}, 'gpu_info': self._gpu_info()}
        for size in sizes:
            if size in errors:
                results['batch_sizes'][str(size)] = {'error': errors[size]}
                continue
            found = _latencies(times[size])
            a_second = 1e3 / found['median_latency_ms']
            results['batch_sizes'][str(size)] = {**found, 'throughput_samples_per_second': size * a_second,
                                                 'throughput_tokens_per_second': self._tokens(documents(size)) * a_second}
        if _QUERY in errors:
            results['single_query'] = {'error': errors[_QUERY]}
        else:
            query = _latencies(times[_QUERY])
            results['single_query'] = {**query, 'throughput_queries_per_second': 1e3 / query['median_latency_ms']}
        return results

    def benchmark(self: Any, batch_sizes: Sequence[int] | None = None, iterations: int = 100, warmup: int = 10, *,
                  max_seconds: float = 60, show_progress_bar: bool | None = None) -> dict[str, Any]:
        """Times of documents of about 128 tokens in batches, and of one query: latencies in ms, throughputs a second.

        All sizes take turns, in `iterations` rounds, or until `max_seconds` are over, which a warning tells; `runs` counts. Throughputs are
        those of the median. `show_progress_bar`: None draws it where stderr is a terminal.

        {model, device, precision, gpu_info, batch_sizes: {"32": {mean_latency_ms ..., runs, throughput_samples_per_second,
        throughput_tokens_per_second} or {error}}, single_query: {mean_latency_ms ..., runs, throughput_queries_per_second}}
        """
        sizes = _checked(_SIZES if batch_sizes is None else batch_sizes, iterations, warmup, max_seconds)
        turns = Turns(self._benchmark_calls(sizes)).run(iterations, warmup, max_seconds, show_progress_bar)
        return self._benchmark_results(sizes, turns.times, turns.errors)

    def benchmark_precision_comparison(self: Any, iterations: int = 20, *, max_seconds: float = 60,
                                       show_progress_bar: bool | None = None) -> dict[str, Any]:
        """benchmark() in fp32, fp16 and int8, batches of 1 and 32, by engines of their own in the same folders. The three take turns, and
        a speedup is one of medians. `max_seconds` is for the runs; the engines are built before.

        A precision that this device's engine does not have in the end is an {error} among `precision_modes`, and has no speedup.
        """
        sizes = _checked([1, _COMPARED_BATCH], iterations, 0, max_seconds)
        modes: dict[str, Any] = {}
        engines: dict[str, Any] = {}
        for precision in ('fp32', 'fp16', 'int8'):
            other = self if self.precision == precision and not self._padded else self._in(precision)
            if other.precision == precision:
                engines[precision] = other
            else:
                modes[precision] = {'error': f'on {other.device} the engine computes in {other.precision}'}
        turns = Turns({(precision, key): call for precision, other in engines.items()
                       for key, call in other._benchmark_calls(sizes).items()}).run(iterations, 3, max_seconds, show_progress_bar)
        for precision, other in engines.items():
            own = [{key: value for (name, key), value in table.items() if name == precision} for table in (turns.times, turns.errors)]
            modes[precision] = other._benchmark_results(sizes, *own)
        rates = {name: mode['batch_sizes'][str(_COMPARED_BATCH)].get('throughput_samples_per_second')
                 for name, mode in modes.items() if 'error' not in mode}
        results: dict[str, Any] = {'model': self.model_name, 'gpu_info': self._gpu_info(), 'precision_modes': modes}
        for fast, slow in (('fp16', 'fp32'), ('int8', 'fp32'), ('int8', 'fp16')):
            if rates.get(fast) and rates.get(slow):
                results[f'{fast}_vs_{slow}_speedup'] = rates[fast] / rates[slow]
        gains = {name: results.get(f'{name}_vs_fp32_speedup', 0) for name in ('int8', 'fp16')}
        results['recommended_precision'] = next((name for name, gain in gains.items() if gain > _WORTH), 'fp32')
        return results
