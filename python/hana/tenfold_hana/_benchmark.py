"""benchmark() and benchmark_precision_comparison(), with the result keys of the HANA guide."""
from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import tenfold

from tenfold_hana._calibration import SENTENCES
from tenfold_hana._devices import gpu_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_SENTENCES_A_DOCUMENT = 8   # about 128 tokens
_COMPARED_BATCH = 32
_WORTH = 1.1                # a narrower type is recommended where it is so many times as fast


def documents(count: int) -> list[str]:
    """Texts of about 128 tokens."""
    return [' '.join(SENTENCES[(i + k) % len(SENTENCES)] for k in range(_SENTENCES_A_DOCUMENT)) for i in range(count)]


def _times(call: Callable[[], Any], iterations: int, warmup: int) -> list[float]:
    for _ in range(warmup):
        call()
    times = []
    for _ in range(iterations):
        start = time.perf_counter()
        call()
        times.append((time.perf_counter() - start) * 1e3)
    return times


def _latencies(times: list[float]) -> dict[str, float]:
    import numpy as np
    values = {'mean': np.mean(times), 'median': np.median(times), 'min': np.min(times), 'max': np.max(times),
              'p95': np.percentile(times, 95), 'p99': np.percentile(times, 99)}
    return {f'{name}_latency_ms': float(value) for name, value in values.items()}


class Benchmarks:
    """Of embeddings with embed_documents(), embed_query(), and what __init__ of TensorRTEmbeddings sets."""

    def _gpu_info(self: Any) -> dict[str, Any] | None:
        gpu = gpu_of(self.device)
        return gpu and {'name': gpu.name, 'compute_capability': gpu.compute_capability, 'memory_total_mb': gpu.memory_total,
                        'memory_free_mb': gpu.memory_free}

    def _tokens(self: Any, texts: list[str]) -> int:
        return int(self._client.tokenize(texts)['attention_mask'].sum())

    def benchmark(self: Any, batch_sizes: Sequence[int] | None = None, iterations: int = 100, warmup: int = 10) -> dict[str, Any]:
        """Times of documents of about 128 tokens in batches, and of one query: latencies in ms, throughputs a second.

        {model, device, precision, gpu_info, batch_sizes: {"32": {mean_latency_ms ..., throughput_samples_per_second,
        throughput_tokens_per_second} or {error}}, single_query: {mean_latency_ms ..., throughput_queries_per_second}}
        """
        sizes = [1, 8, 16, 32, 64, 128] if batch_sizes is None else list(batch_sizes)
        if not all(isinstance(size, int) and size > 0 for size in sizes) or iterations < 1 or warmup < 0:
            raise tenfold.InvalidArgument('benchmark() takes batch sizes and iterations from 1 on, and warmup from 0 on')
        results: dict[str, Any] = {'model': self.model_name, 'device': 'GPU' if self.device.startswith('cuda') else 'CPU',
                                   'precision': self.precision, 'batch_sizes': {}, 'gpu_info': self._gpu_info()}
        for size in sizes:
            texts = documents(size)
            try:
                times = _latencies(_times(lambda texts=texts: self.embed_documents_array(texts), iterations, warmup))
            except tenfold.OutOfMemory as error:
                results['batch_sizes'][str(size)] = {'error': str(error)}
                continue
            a_second = 1e3 / times['mean_latency_ms']
            results['batch_sizes'][str(size)] = {**times, 'throughput_samples_per_second': size * a_second,
                                                 'throughput_tokens_per_second': self._tokens(texts) * a_second}
        query = _latencies(_times(lambda: self.embed_query(SENTENCES[1]), iterations, warmup))
        results['single_query'] = {**query, 'throughput_queries_per_second': 1e3 / query['mean_latency_ms']}
        return results

    def benchmark_precision_comparison(self: Any, iterations: int = 20) -> dict[str, Any]:
        """benchmark() in fp32, fp16 and int8, batches of 1 and 32, by engines of their own in the same folders.

        A precision that this device's engine does not have in the end is an {error} among `precision_modes`, and has no speedup.
        """
        modes: dict[str, Any] = {}
        for precision in ('fp32', 'fp16', 'int8'):
            other = self if self.precision == precision and not self._padded else self._in(precision)
            if other.precision == precision:
                modes[precision] = other.benchmark([1, _COMPARED_BATCH], iterations, warmup=3)
            else:
                modes[precision] = {'error': f'on {other.device} the engine computes in {other.precision}'}
        rates = {name: mode['batch_sizes'][str(_COMPARED_BATCH)].get('throughput_samples_per_second')
                 for name, mode in modes.items() if 'error' not in mode}
        results: dict[str, Any] = {'model': self.model_name, 'gpu_info': self._gpu_info(), 'precision_modes': modes}
        for fast, slow in (('fp16', 'fp32'), ('int8', 'fp32'), ('int8', 'fp16')):
            if rates.get(fast) and rates.get(slow):
                results[f'{fast}_vs_{slow}_speedup'] = rates[fast] / rates[slow]
        gains = {name: results.get(f'{name}_vs_fp32_speedup', 0) for name in ('int8', 'fp16')}
        results['recommended_precision'] = next((name for name, gain in gains.items() if gain > _WORTH), 'fp32')
        return results
