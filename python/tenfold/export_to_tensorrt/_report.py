"""What an export prints: its table, the best batch, and five facts for whom it is too slow."""
from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import tenfold

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tenfold.export_to_tensorrt._build import Settings

_TYPES = {'f32': 'fp32', 'f16': 'fp16', 'bf16': 'bf16', 'i8': 'int8', 'u8': 'int8'}


def table(results: Mapping[str, float | None], precision: str) -> str:
    """The guide's columns."""
    rows = [['Configuration', 'Latency (ms)', 'Throughput (FPS)', 'Speedup'], ['---'] * 4]
    if results['pytorch_latency_ms'] is not None:
        rows.append(['PyTorch', f'{results["pytorch_latency_ms"]:.2f}', f'{results["pytorch_throughput_fps"]:.1f}', '1.0x'])
    gain = results['latency_speedup']
    rows.append([f'Tenfold {precision.upper()}', f'{results["tensorrt_latency_ms"]:.2f}', f'{results["tensorrt_throughput_fps"]:.1f}',
                 '-' if gain is None else f'{gain:.1f}x'])
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    return '\n'.join('| ' + ' | '.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + ' |' for row in rows)


def best_batch(rates: Mapping[int, float]) -> str:
    if len(rates) == 1:
        return f'Batch size: {next(iter(rates))} alone is possible; --dynamic-shapes lets batches of 1 to 16 be compared'
    best = max(rates, key=rates.__getitem__)
    return f'Best batch size: {best} ({", ".join(f"{batch}: {rate:.1f} FPS" for batch, rate in rates.items())})'


def product_types(engine: tenfold.Engine) -> Counter[str]:
    """How many steps that multiply by weights compute in which type."""
    counted: Counter[str] = Counter()
    for step in engine.inspection().programs[0].steps:
        if any(operand.constant for operand in step.inputs):
            data = next((operand.dtype for operand in step.inputs if not operand.constant and operand.dtype in _TYPES), None)
            if data:
                counted[_TYPES[data]] += 1
    return counted


def five_facts(engine: tenfold.Engine, settings: Settings, timed: int, rates: Mapping[int, float], iterations: int, warmup: int) -> str:
    why = '' if engine.info.on_gpu else f'; the CPU: {tenfold.why_no_gpu() or "--device says so"}'
    shapes = settings.shapes
    extents = ' x '.join(map(str, shapes[1][1:]))
    batches = (f'batches of {shapes[0][0]} to {shapes[2][0]}, tuned for {shapes[1][0]}, of {extents}; fixed shapes are often quicker'
               if shapes[0] != shapes[2] else f'fixed: {shapes[1][0]} x {extents}')
    types = ', '.join(f'{count} in {name}' for name, count in product_types(engine).most_common()) or 'none'
    best = max(rates, key=rates.__getitem__)
    facts = {'Device': engine.info.device + why, 'Warm-up': f'{warmup} calls before the {iterations} that are timed', 'Shapes': batches,
             'Precision': f'{settings.precision} was asked for; steps with weights compute: {types}',
             'Batch size': f'{timed} is timed; {best} gives the highest throughput' if len(rates) > 1 else f'{timed}, the only one'}
    return 'Slower than expected?\n' + '\n'.join(f'  {name + ":":12}{fact}' for name, fact in facts.items())


def document(results: Mapping[str, float | None]) -> dict[str, Any]:
    """The content of OUTPUT.benchmark.json."""
    return {name: None if value is None else round(value, 6) for name, value in results.items()}
