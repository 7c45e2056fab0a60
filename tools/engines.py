"""Engines that are loaded once and then timed in turn, on a machine that others use, too: who has no turn is stopped.

For host_table.py and tails.py.
"""
import os
import signal
import statistics
import subprocess
import sys
import tempfile

import numpy as np

import cold_start

PEERS = ('onnxruntime', 'openvino', 'openvino_default')


class Row:
    """One model at one number of threads: its engines, and what each round found of them."""

    def __init__(self, judge, a, case, threads):
        self.case, self.threads, self.engines, self.rounds = case, threads, {}, []
        self.model, batch, sequence, _ = judge.CASES[case]
        self.path = os.path.join(a.models, self.model + '.onnx')
        self.shapes = cold_start.shapes_of(judge, self.model, batch, sequence)
        self.inputs = judge.make_inputs(self.model, batch, sequence)
        self.precisions = ['fp32'] if '.int8' in case or not a.bf16 else ['fp32', 'bf16']
        self.peers = [p for p in PEERS if p != 'openvino_default' or 'bf16' in self.precisions]
        self.folder = tempfile.mkdtemp(prefix=f'{case}-{threads}-', dir=a.scratch)
        for name, value in self.inputs.items():
            np.save(os.path.join(self.folder, name + '.npy'), value)
            value.tofile(os.path.join(self.folder, name + '.bin'))

    def plan(self, a, precision):
        return os.path.join(a.plans, f'{self.case}-{precision}-t{self.threads}.plan')

    def ratios(self, ours):
        """Of each round; what --bf16 is compared with is OpenVINO as it comes, which is bf16 where the CPU has it."""
        rivals = ('openvino_default',) if ours == 'bf16' else ('onnxruntime', 'openvino')
        return [min(r[p] for p in rivals) / r[ours] for r in self.rounds]

    def unrest(self):
        """How far the rounds lie apart: what decides which rows are timed again."""
        return max(np.percentile(self.ratios(p), 90) / np.percentile(self.ratios(p), 10) for p in self.precisions)

    def time(self, seconds):
        names = list(self.engines)
        first = len(self.rounds) % len(names)
        self.rounds.append({name: self.engines[name].slice(seconds) for name in names[first:] + names[:first]})


class Ours:
    """`one_model serve`, stopped while others are timed."""

    def __init__(self, program, row, plan):
        load = ','.join(f'{n}:{os.path.join(row.folder, n)}.bin' for n in row.inputs)
        self.process = subprocess.Popen([program, 'serve', plan, str(row.threads), row.shapes, load], text=True, bufsize=1,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.pid = self.process.pid
        if self.process.stdout.readline() != 'ready\n':
            sys.exit(f'{plan} does not run')
        self.process.send_signal(signal.SIGSTOP)

    def times(self, seconds):
        self.process.send_signal(signal.SIGCONT)
        self.process.stdin.write(f'{seconds}\n')
        times = [float(ms) for ms in self.process.stdout.readline().split()]
        self.process.send_signal(signal.SIGSTOP)
        return times

    def slice(self, seconds):
        return statistics.median(self.times(seconds))

    def close(self):
        self.process.kill()


class Theirs:
    """A worker of the judge's; it keeps all times, of which a slice is the latest."""

    def __init__(self, judge, row, peer):
        self.peer = judge.Peer(peer, row.path, row.threads, row.folder, row.inputs, 1)
        self.pid = self.peer.p.pid

    def times(self, seconds):
        known = len(self.peer.times)
        self.peer.slice(seconds)
        return self.peer.times[known:]

    def slice(self, seconds):
        return statistics.median(self.times(seconds))

    def close(self):
        self.peer.close()
