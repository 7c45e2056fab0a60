"""Tenfold beside ONNX Runtime: same model, same inputs, same threads, each in a process of its own, in alternating slices of one run."""
from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

ROUNDS = 5
HEAD = f'{"":28s} {"median ms":>21s} {"":>6s} {"p99 ms":>21s} {"peak memory MB":>21s}  {"largest"}\n' \
       f'{"":28s} {"Tenfold":>10s} {"ORT":>10s} {"ratio":>6s} {"Tenfold":>10s} {"ORT":>10s} {"Tenfold":>10s} {"ORT":>10s}  difference'


class Row(NamedTuple):
    """One line of the table: a model, its plan, and a folder with its inputs."""
    title: str
    onnx: str
    plan: str
    inputs: str
    threads: int


class Worker:
    """worker.py on one row."""

    def __init__(self, engine: str, model: str, row: Row) -> None:
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'worker.py')
        self.engine, self.row, self.slices = engine, row, list[dict[str, float]]()
        self.process = subprocess.Popen([sys.executable, script, engine, model, str(row.threads), row.inputs], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)

    def _line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline()

    def answer(self) -> Any:
        if self._line().strip() != 'ready':
            raise RuntimeError(f'{self.engine} could not run {self.row.title}')
        return np.load(os.path.join(self.row.inputs, self.engine + '.answer'))

    def measure(self, seconds: float) -> None:
        assert self.process.stdin is not None
        print(seconds, file=self.process.stdin, flush=True)
        self.slices.append(json.loads(self._line()))

    def middle(self, key: str) -> float:
        return statistics.median(s[key] for s in self.slices)

    def memory(self) -> float:
        return max(s['peak_rss_bytes'] for s in self.slices) / 1e6

    def end(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def measured(row: Row, seconds: float) -> tuple[str, float]:
    """The row's line, and how much memory a process takes that has no engine yet."""
    workers = ours, theirs = Worker('tenfold', row.plan, row), Worker('onnxruntime', row.onnx, row)
    try:
        difference = np.abs(ours.answer() - theirs.answer()).max()
        for number in range(ROUNDS):
            for worker in workers if number % 2 == 0 else reversed(workers):
                worker.measure(seconds)
    finally:
        for worker in workers:
            worker.end()
    mine, other = ours.middle('median_ms'), theirs.middle('median_ms')
    line = f'{row.title:28s} {mine:10.3f} {other:10.3f} {other / mine:5.2f}x ' \
           f'{ours.middle("p99_ms"):10.3f} {theirs.middle("p99_ms"):10.3f} {ours.memory():10.1f} {theirs.memory():10.1f}  {difference:.1e}'
    return line, ours.slices[0]['bare_rss_bytes'] / 1e6


def print_table(rows: Iterable[Row], seconds: float) -> None:
    print(HEAD)
    for row in rows:
        line, bare = measured(row, seconds)
        print(line, flush=True)
    print(f'\nratio: ONNX Runtime\'s median by ours; {ROUNDS} alternating slices of {seconds} s each, medians over the slices.\n'
          f'Both peaks are of whole processes, of which Python and NumPy take {bare:.0f} MB.')
