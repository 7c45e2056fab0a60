"""Times of a module of torch and of its engine, which take turns."""
from __future__ import annotations

import time
from statistics import median
from typing import TYPE_CHECKING, Any

import tenfold
from tenfold.export_to_tensorrt._build import resolve_device

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_TURN = 10   # calls of one side, before the other's
BATCHES = (1, 2, 4, 8, 16)


def benchmark_tensorrt(pytorch_model: Any, tensorrt_model: Any, input_shape: Sequence[int], num_iterations: int = 100,
                       warmup_iterations: int = 10, device: Any = 'cuda') -> dict[str, float | None]:
    """Medians of both models' calls, which take turns of ten so that a busy machine slows both: pytorch_latency_ms, tensorrt_latency_ms,
    pytorch_throughput_fps, tensorrt_throughput_fps, latency_speedup, throughput_gain. With pytorch_model=None three of them are None."""
    for name, number, least in (('num_iterations', num_iterations, 1), ('warmup_iterations', warmup_iterations, 0)):
        if number < least:
            raise tenfold.InvalidArgument(f'{name}={number}: at least {least}')
    place = resolve_device(device)
    calls = [call_of(model, input_shape, place) for model in (pytorch_model, tensorrt_model) if model is not None]
    times = timed(calls, num_iterations, warmup_iterations)
    of_torch, ours = (times[0] if pytorch_model is not None else None), times[-1]
    rate = lambda ms: None if ms is None else input_shape[0] * 1000 / ms
    gain = None if of_torch is None else of_torch / ours
    return {'pytorch_latency_ms': of_torch, 'tensorrt_latency_ms': ours, 'pytorch_throughput_fps': rate(of_torch),
            'tensorrt_throughput_fps': rate(ours), 'latency_speedup': gain, 'throughput_gain': gain}


def call_of(model: Any, shape: Sequence[int], place: str) -> Callable[[], None]:
    """A call that returns when the result is there."""
    if isinstance(model, tenfold.Engine):
        import numpy as np
        binding = next(b for b in model.bindings if b.is_input)
        array = np.random.default_rng(0).standard_normal(shape).astype(binding.numpy_dtype)
        context = model.create_context()
        context.bind(binding.name, array)
        return context.run
    import torch
    wanted = next((p.dtype for p in getattr(model, 'parameters', lambda: ())() if p.is_floating_point()), torch.float32)
    x = torch.randn(*shape, generator=torch.Generator().manual_seed(0)).to(place, wanted)

    def call() -> None:
        with torch.no_grad():
            model(x)
        if place != 'cpu':
            torch.cuda.synchronize(place)
    return call


def timed(calls: Sequence[Callable[[], None]], iterations: int, warmup: int) -> list[float]:
    """The median milliseconds of each."""
    taken: list[list[float]] = [[] for _ in calls]
    for call in calls:
        for _ in range(warmup):
            call()
    while len(taken[-1]) < iterations:
        for call, times in zip(calls, taken, strict=True):
            for _ in range(min(_TURN, iterations - len(times))):
                start = time.perf_counter()
                call()
                times.append((time.perf_counter() - start) * 1000)
    return [median(times) for times in taken]


def batch_rates(engine: tenfold.Engine, iterations: int = 20) -> dict[int, float]:
    """Images a second at those batches of 1, 2, 4, 8 and 16 that the engine takes; where it takes none, at its own."""
    name = next(b.name for b in engine.bindings if b.is_input)
    smallest, usual, largest = engine.profile_shapes(0, name)
    batches = [batch for batch in BATCHES if smallest[0] <= batch <= largest[0]] or [usual[0]]
    calls = [call_of(engine, (batch, *usual[1:]), 'cpu') for batch in batches]
    return {batch: batch * 1000 / ms for batch, ms in zip(batches, timed(calls, iterations, 3), strict=True)}
