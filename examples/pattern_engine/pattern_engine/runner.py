"""Reads ticks and scores the last 32 prices of their symbol: ts,symbol,price,volume in, ts,symbol,score out.

    python pattern_engine/runner.py --ticks F.csv --model-engine models/toy_cnn.engine [--model-onnx models/toy_cnn.onnx]

A symbol has no score before its 32nd price. A score is what the model gives for the window: the likelihood of the second class where it
gives two numbers, else its one number. Nothing stands in for a score that the model did not give: where no candidate answers, this ends.

Exit codes: 0; 1 for ticks that are malformed, with the line, and for windows that got no answer; 2 for wrong arguments; 4 where no engine
can be used.
"""
from __future__ import annotations

import argparse
import csv
import os
import signal
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

import numpy as np

import tenfold

if TYPE_CHECKING:
    from numpy.typing import NDArray

WINDOW = 32
LARGEST = float(np.finfo(np.float32).max)
HEADER = ['ts', 'symbol', 'price', 'volume']


class Fault(Exception):
    """What ends the runner: the message, and the exit code."""

    def __init__(self, text: str, code: int = 1) -> None:
        super().__init__(text)
        self.code = code


class Tick(NamedTuple):
    ts: str
    symbol: str
    price: float
    line: int


def number(text: str, what: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise Fault(f"{what} '{text}' is no number") from None
    if not abs(value) <= LARGEST:
        raise Fault(f"{what} '{text}' is no finite number of 32 bits")
    return value


def tick_of(row: list[str], line: int) -> Tick:
    if len(row) != len(HEADER):
        raise Fault(f'there are {len(row)} fields; a tick has 4: {",".join(HEADER)}')
    ts, symbol, price, volume = (field.strip() for field in row)
    for what, text in (('ts', ts), ('symbol', symbol)):
        if not text or not text.isprintable() or ',' in text or '"' in text:
            raise Fault(f'{what} {text!r} is empty, or has signs that a line of scores cannot have')
    if number(volume, 'volume') < 0:
        raise Fault(f"volume '{volume}' is below 0")
    return Tick(ts, symbol, number(price, 'price'), line)


def ticks(file: TextIO, name: str) -> Iterator[Tick]:
    """A first line that names the columns is passed over."""
    rows = csv.reader(file, strict=True)
    first = True
    while True:
        try:
            row = next(rows)
            if not (first and row == HEADER):
                yield tick_of(row, rows.line_num)
            first = False
        except StopIteration:
            return
        except (Fault, csv.Error) as error:
            raise Fault(f'{name}:{rows.line_num}: {error}') from None
        except UnicodeDecodeError as error:
            raise Fault(f'{name}, behind line {rows.line_num}: no UTF-8: {error.reason}') from None


def tolerance(text: str) -> float | None:
    if text == 'none':
        return None
    try:
        value = float(text)
    except ValueError:
        value = -1
    if not 0 <= value < float('inf'):
        raise argparse.ArgumentTypeError(f"'{text}' is neither a part of the largest output, as 0.02, nor none")
    return value


class Ways:
    """How an engine is had: the plan; and where a model's file is given, that file without a search for kernels, on the GPU and on the
    CPU. `devices`: where those run that were opened."""

    def __init__(self, plan: str, model: str | None) -> None:
        self.devices: dict[str, str] = {}
        self.candidates = {'engine': self._way('engine', tenfold.load, plan, threads=1)}
        if model is not None:
            if any(device.device.startswith('cuda') for device in tenfold.devices()) and os.environ.get('TENFOLD_DEVICE') != 'cpu':
                self.candidates['direct'] = self._way('direct', tenfold.build, model, optimization_level=0)
            self.candidates['cpu'] = self._way('cpu', tenfold.build, model, optimization_level=0, threads=1, device='cpu')

    def _way(self, name: str, make: Callable[..., tenfold.Engine], path: str, **options: Any) -> Callable[[], tenfold.Engine]:
        def opened() -> tenfold.Engine:
            engine = make(path, **options)
            self.devices[name] = f'{"GPU" if engine.info.on_gpu else "CPU"} ({engine.info.device})'
            return engine
        return opened


def open_runner(args: argparse.Namespace, ways: Ways) -> tenfold.LatencyRunner:
    def log(severity: str, text: str) -> None:
        if severity in ('error', 'warning'):
            print(f'runner: {text}', file=sys.stderr)
    try:
        runner = tenfold.LatencyRunner(ways.candidates, strict=args.strict,
                                       deadline=args.deadline_us / 1e6, tolerance=args.tolerance, nan='fail',
                                log=log)
    except tenfold.Error as error:
        raise Fault(f'no engine can be used: {error}', 4) from None
    inputs = [b for b in runner.bindings if b.is_input]
    outputs = [b for b in runner.bindings if not b.is_input]
    shape = list(inputs[0].shape)
    if len(inputs) != 1 or str(np.dtype(inputs[0].numpy_dtype)) != 'float32' or int(np.prod(shape)) != WINDOW:
        reported = ', '.join(f'{b.name} {np.dtype(b.numpy_dtype)}{list(b.shape)}' for b in inputs)
        raise Fault(f'the model takes {reported}; this runner gives it the {WINDOW} last prices, float32', 4)
    if len(outputs) != 1 or int(np.prod(outputs[0].shape)) not in (1, 2) or np.dtype(outputs[0].numpy_dtype).kind != 'f':
        reported = ', '.join(f'{b.name} {np.dtype(b.numpy_dtype)}{list(b.shape)}' for b in outputs)
        raise Fault(f'the model gives {reported}; a score is made of one float, or of the two of two classes', 4)
    return runner


def score_of(output: NDArray[Any]) -> float:
    values = output.astype(np.float64).ravel()
    return float(values[0]) if len(values) == 1 else float(1 / (1 + np.exp(np.clip(values[0] - values[1], -700, 700))))


class Stopped(Exception):
    """SIGTERM or SIGINT came while no tick was under way."""


class Loop:
    """Scores ticks as they come. A signal ends it between two ticks: what was taken is answered."""

    def __init__(self, runner: tenfold.LatencyRunner) -> None:
        self.runner = runner
        self.windows: dict[str, tenfold.RowRing] = {}
        self.ticks = self.scores = 0
        self._busy = self._stop = False
        for number_of_signal in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number_of_signal, self._signalled)

    def _signalled(self, *_: object) -> None:
        self._stop = True
        if not self._busy:
            raise Stopped

    def run(self, given: Iterator[Tick], out: TextIO, name: str) -> None:
        for tick in given:
            self._busy = True
            self.ticks += 1
            ring = self.windows.get(tick.symbol)
            if ring is None:
                ring = self.windows[tick.symbol] = tenfold.RowRing(WINDOW, 1)
            window = ring.push_at([tick.price])
            if ring.filled() == WINDOW:
                answer = self.runner.infer_at(window)
                if not answer.ok:
                    why = 'not finite' if answer.not_finite else answer.status
                    raise Fault(f'{name}:{tick.line}: the window of {tick.symbol} got no score: {why}')
                print(f'{tick.ts},{tick.symbol},{score_of(answer.output):.6g}', file=out, flush=True)
                self.scores += 1
            self._busy = False
            if self._stop:
                raise Stopped


def run(args: argparse.Namespace) -> None:
    ways = Ways(args.model_engine, args.model_onnx)
    runner = open_runner(args, ways)
    loop, name = Loop(runner), args.ticks or 'stdin'
    print(f'runner: {runner.backend} answers, on {ways.devices[runner.backend]}', file=sys.stderr)
    try:
        if args.ticks:
            with open(args.ticks, newline='', encoding='utf-8') as file:
                loop.run(ticks(file, name), sys.stdout, name)
        else:
            loop.run(ticks(sys.stdin, name), sys.stdout, name)
    except Stopped:
        print('runner: stopped by a signal', file=sys.stderr)
    few = sum(ring.filled() < WINDOW for ring in loop.windows.values())
    print(f'runner: {loop.ticks} ticks, {loop.scores} scores; {few} of {len(loop.windows)} symbols have fewer than {WINDOW} prices; '
          f'{runner.backend} answers', file=sys.stderr)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--ticks', help='CSV: ts,symbol,price,volume; default: stdin')
    parser.add_argument('--model-engine', default=os.environ.get('TRT_ENGINE_PATH') or None,
                        help='an engine of build_trt_engine.py; default: $TRT_ENGINE_PATH')
    parser.add_argument('--model-onnx', default=os.environ.get('ONNX_MODEL_PATH') or None,
                        help='its model: the fallback, on the GPU and on the CPU; default: $ONNX_MODEL_PATH')
    parser.add_argument('--deadline-us', type=float, default=0, help='a way that takes longer is left (0: no limit)')
    parser.add_argument('--tolerance', type=tolerance, default=0.02,
                        help='how far the engine may be from its model, as a part of the largest output (0.02), or none: not compared')
    parser.add_argument('--strict', action='store_true', help='the engine alone answers')
    args = parser.parse_args()
    if args.model_engine is None:
        parser.error('an engine is missing: give --model-engine, or set TRT_ENGINE_PATH')
    if not 0 <= args.deadline_us <= 1e9:
        parser.error(f'--deadline-us is 0 to 1e9, not {args.deadline_us}')
    try:
        run(args)
    except Fault as error:
        print(f'runner: {error}', file=sys.stderr)
        sys.exit(error.code)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())   # who reads the scores has gone
        sys.exit(1)
    except OSError as error:
        print(f'runner: {error}', file=sys.stderr)
        sys.exit(1)


if __name__ == '__main__':
    main()
