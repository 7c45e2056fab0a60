"""Servers under test: ours and a real Triton, as processes of which the CPU time and memory are read."""
import os
import pathlib
import re
import socket
import subprocess
import time
import urllib.error
import urllib.request

# Of Triton's Python backend, for a model with one input and one output.
PYTHON_MODEL = '''import sys
sys.path.append({packages!r})   # behind the backend's NumPy 1: with NumPy 2 its tensors are empty
import numpy as np
import onnxruntime
import triton_python_backend_utils as pb


class TritonPythonModel:
    def initialize(self, args):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = {threads}
        self.session = onnxruntime.InferenceSession({model!r}, options, providers=['CPUExecutionProvider'])

    def execute(self, requests):
        inputs = [pb.get_input_tensor_by_name(r, {input!r}).as_numpy() for r in requests]
        result = self.session.run(None, {{{input!r}: np.concatenate(inputs) if len(inputs) > 1 else inputs[0]}})[0]
        ends = np.cumsum([len(x) for x in inputs])
        return [pb.InferenceResponse([pb.Tensor({output!r}, part)]) for part in np.split(result, ends[:-1])]
'''


def processes(root):
    """A process and those that it started."""
    parents = {}
    for stat in pathlib.Path('/proc').glob('[0-9]*/stat'):
        try:
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(')')[2].split()[1])
        except (OSError, IndexError):
            continue
    found = {root}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def cpu_seconds(root):
    ticks = 0
    for pid in processes(root):
        fields = pathlib.Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf('SC_CLK_TCK')


def resident_mb(root):
    status = (pathlib.Path(f'/proc/{pid}/status').read_text() for pid in processes(root))
    return sum(int(found[1]) for text in status if (found := re.search(r'VmRSS:\s+(\d+) kB', text))) / 1024


def machine():
    text = pathlib.Path('/proc/cpuinfo').read_text()
    name = next((line.split(':', 1)[1].strip() for line in text.splitlines() if line.startswith('model name')), 'unknown CPU')
    return f'{name}, {len(os.sched_getaffinity(0))} processors'


def commit():
    root = str(pathlib.Path(__file__).resolve().parent.parent)
    git = lambda *words: subprocess.run(['git', '-C', root, *words], capture_output=True, text=True)
    return git('rev-parse', '--short', 'HEAD').stdout.strip() + (' and changes' if git('diff', '--quiet', 'HEAD').returncode else '')


def free_ports(count):
    sockets = [socket.create_server(('127.0.0.1', 0)) for _ in range(count)]
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


class Process:
    """A server that listens on self.http, self.grpc and self.metrics; with `log` its output goes there."""

    def __init__(self, command, log, seconds=120):
        self.log = pathlib.Path(log)
        with open(log, 'w') as file:
            begun = time.monotonic()
            self.process = subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT)
        while time.monotonic() < begun + seconds:
            if self.ready():
                self.seconds_to_ready = time.monotonic() - begun
                return
            if self.process.poll() is not None:
                break
            time.sleep(0.02)
        self.stop()
        raise RuntimeError(f'{command[0]} was not ready:\n{self.log.read_text()[-4000:]}')

    @property
    def pid(self):
        return self.process.pid

    def get(self, path, timeout=30):
        return urllib.request.urlopen(f'http://127.0.0.1:{self.http}{path}', timeout=timeout).read()

    def ready(self):
        try:
            self.get('/v2/health/ready', 1)
        except (OSError, urllib.error.HTTPError):
            return False
        return True

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
        try:
            return self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


class Tenfold(Process):
    def __init__(self, program, what, log, *flags, seconds=120):
        self.http, self.grpc, self.metrics = free_ports(3)
        super().__init__([str(program), 'serve', *([str(what)] if what else []), f'--http-port={self.http}', f'--grpc-port={self.grpc}',
                          f'--metrics-port={self.metrics}', *flags], log, seconds)


class Triton(Process):
    """By triton.sh, which tells where it comes from."""

    def __init__(self, script, folder, repository, log, *flags):
        self.http, self.grpc, self.metrics = free_ports(3)
        super().__init__(['bash', str(script), 'serve', str(folder), str(repository), f'--http-port={self.http}',
                          f'--grpc-port={self.grpc}', f'--metrics-port={self.metrics}', *flags], log)
