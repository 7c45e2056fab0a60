"""Tenfold beside ONNX Runtime: same file, same inputs, same threads, in alternating slices of one run."""
import os
import statistics
import subprocess
import sys

import numpy as np

import tenfold_cli

ROUNDS = 5
HEAD = f'{"":28s} {"median ms":>21s} {"":>6s} {"p99 ms":>21s} {"peak memory MB":>21s}  {"largest"}\n' \
       f'{"":28s} {"Tenfold":>10s} {"ORT":>10s} {"ratio":>6s} {"Tenfold":>10s} {"ORT":>10s} {"Tenfold":>10s} {"ORT":>10s}  difference'


class Row:
    """One line of the table: a model, its plan and its inputs."""

    def __init__(self, title, onnx, plan, inputs, threads, output):
        self.title, self.plan, self.inputs, self.threads, self.output = title, plan, inputs, threads, output
        worker = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'onnxruntime_worker.py')
        self.peer = subprocess.Popen([sys.executable, worker, onnx, str(threads), inputs.folder], stdin=subprocess.PIPE,
                                     stdout=subprocess.PIPE, text=True)
        self.ours, self.theirs = [], []

    def __enter__(self):
        if self.peer.stdout.readline().strip() != 'ready':
            raise RuntimeError(f'ONNX Runtime could not run {self.title}')
        with open(os.path.join(self.inputs.folder, 'onnxruntime.answer'), 'rb') as f:
            theirs = np.load(f)
        self.difference = np.abs(tenfold_cli.infer(self.plan, self.inputs, self.threads)[self.output] - theirs).max()
        return self

    def __exit__(self, *_):
        self.peer.stdin.close()
        self.peer.wait()

    def slice_of_peer(self, seconds):
        self.peer.stdin.write(f'{seconds}\n')
        self.peer.stdin.flush()
        self.theirs.append(tenfold_cli.json.loads(self.peer.stdout.readline()))

    def measure(self, seconds):
        for round_number in range(ROUNDS):
            turns = [lambda: self.ours.append(tenfold_cli.measure(self.plan, self.inputs, self.threads, seconds)),
                     lambda: self.slice_of_peer(seconds)]
            for turn in turns if round_number % 2 == 0 else reversed(turns):
                turn()

    def text(self):
        def middle(slices, key):
            return statistics.median(s[key] for s in slices)

        def memory(slices):
            return max(s['peak_rss_bytes'] for s in slices) / 1e6
        ours, theirs = middle(self.ours, 'median_ms'), middle(self.theirs, 'median_ms')
        return f'{self.title:28s} {ours:10.3f} {theirs:10.3f} {theirs / ours:5.2f}x {middle(self.ours, "p99_ms"):10.3f} ' \
               f'{middle(self.theirs, "p99_ms"):10.3f} {memory(self.ours):10.1f} {memory(self.theirs):10.1f}  {self.difference:.1e}'


def print_table(rows, seconds):
    """`rows`: arguments of Row, one list a line."""
    print(HEAD)
    for arguments in rows:
        with Row(*arguments) as row:
            row.measure(seconds)
            print(row.text(), flush=True)
            bare = row.theirs[0]['bare_rss_bytes'] / 1e6
    print(f'\nratio: ONNX Runtime\'s median by ours; {ROUNDS} alternating slices of {seconds} s each, medians over the slices.\n'
          f'Both peaks are of whole processes; {bare:.0f} MB of ONNX Runtime\'s are Python and NumPy.')
