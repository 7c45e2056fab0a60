#!/usr/bin/env python3
"""What a search within an error budget is worth: brute_force_mixes.py [--rounds 7] [--threads 1] [--models small,cntk,pytorch,burn]

Builds every mix of int8 and f32 over the products of small models, and measures each one's error on the samples that gave no ranges. For
bounds between the errors of these mixes it takes the fastest that is within, and the plan of `max_error=`; both run in turns, with
the fastest of one type that is within. All have ranges by mse, for `auto` may take another calibrator for each mix. Needs the Python
package, NumPy and onnx; ../shared (or TENFOLD_SHARED) has the digits. docs/lab/precision.md has the result.
"""
import argparse
import gzip
import itertools
import os
import time

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import tenfold

SHARED = os.environ.get('TENFOLD_SHARED', os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'shared'))


def small_cnn():
    """Four convolutions and a product, 32x32 images in 10 classes."""
    random = np.random.default_rng(1)
    shapes = {'w1': (16, 3, 3, 3), 'w2': (32, 16, 3, 3), 'w3': (32, 32, 3, 3), 'w4': (64, 32, 3, 3), 'w5': (64, 10)}
    weights = {}
    for name, s in shapes.items():
        weights[name] = (random.standard_normal(s) * np.sqrt(2 / np.prod(s[1:] if len(s) > 2 else s[:1]))).astype(np.float32)
    node = helper.make_node
    nodes = [node('Conv', ['x', 'w1'], ['c1'], 'conv1', pads=[1, 1, 1, 1]), node('Relu', ['c1'], ['r1']),
             node('Conv', ['r1', 'w2'], ['c2'], 'conv2', pads=[1, 1, 1, 1], strides=[2, 2]), node('Relu', ['c2'], ['r2']),
             node('Conv', ['r2', 'w3'], ['c3'], 'conv3', pads=[1, 1, 1, 1]), node('Add', ['c3', 'r2'], ['s3']),
             node('Relu', ['s3'], ['r3']),
             node('Conv', ['r3', 'w4'], ['c4'], 'conv4', pads=[1, 1, 1, 1], strides=[2, 2]), node('Relu', ['c4'], ['r4']),
             node('GlobalAveragePool', ['r4'], ['p']), node('Flatten', ['p'], ['f']), node('MatMul', ['f', 'w5'], ['y'], 'classes')]
    graph = helper.make_graph(nodes, 'g', [helper.make_tensor_value_info('x', TensorProto.FLOAT, [1, 3, 32, 32])],
                              [helper.make_tensor_value_info('y', TensorProto.FLOAT, [1, 10])],
                              [numpy_helper.from_array(v, k) for k, v in weights.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=8)
    images = np.random.default_rng(2).standard_normal((60, 1, 3, 32, 32)).astype(np.float32)
    return model, 'x', [i + 0.5 * np.roll(i, 1, 3) for i in images]


def digits(name):
    model = onnx.load(os.path.join(SHARED, 'models', f'mnist_{name}.onnx'))
    with gzip.open(os.path.join(SHARED, 'data', 't10k-images-idx3-ubyte.gz')) as f:
        images = np.frombuffer(f.read(), np.uint8, offset=16).reshape(-1, 28, 28)[500:600].astype(np.float32)
    known = {i.name for i in model.graph.initializer}
    value = next(i for i in model.graph.input if i.name not in known)
    shape = [d.dim_value or 1 for d in value.type.tensor_type.shape.dim]
    scale = 1 if name == 'cntk' else 1 / 255
    return model, value.name, [(image * scale).reshape(shape) for image in images]


def layer_name(node):
    return node.name or f"{node.op_type} -> {node.output[0]}"


class Case:
    def __init__(self, model, name, samples, threads):
        self.model, self.input = model.SerializeToString(), name
        self.samples = [{name: s} for s in samples]
        self.timings = tenfold.TimingCache()
        self.options = dict(device='cpu', threads=threads, calibration=dict(sample=self.samples, method='mse'), timings=self.timings,
                            profiles={name: samples[0].shape})
        floats = tenfold.build(self.model, **{**self.options, 'calibration': None}, tf32=False)
        self.want = [np.concatenate([np.ravel(v) for v in self.answers(floats, s)]) for s in self.samples[1::2]]
        self.layers = [layer_name(n) for n in model.graph.node if n.op_type in ('Conv', 'MatMul', 'Gemm')]

    @staticmethod
    def answers(engine, sample):
        got = engine(sample)
        return list(got.values()) if isinstance(got, dict) else got if isinstance(got, (list, tuple)) else [got]

    def error(self, engine):
        got = [np.concatenate([np.ravel(v) for v in self.answers(engine, s)]) for s in self.samples[1::2]]
        got, want = np.stack(got), np.stack(self.want)
        return float(np.linalg.norm(got - want) / np.linalg.norm(want))

    def mixes(self):
        for count in range(len(self.layers) + 1):
            for wide in itertools.combinations(self.layers, count):
                types = {'layer_types': {'precisions': {layer: 'f32' for layer in wide}}} if wide else {}
                yield wide, tenfold.build(self.model, **self.options, **types)

    def time(self, engine, seconds):
        inputs, taken = self.samples[1], []
        end = time.perf_counter() + seconds
        while time.perf_counter() < end or len(taken) < 5:
            start = time.perf_counter()
            engine(inputs)
            taken.append(time.perf_counter() - start)
        return np.quantile(taken, 0.1) * 1e6   # a busy machine makes the rest longer

    def in_turns(self, engines, rounds, seconds):
        taken = [[] for _ in engines]
        for _ in range(rounds):
            for engine, own in zip(engines, taken):
                own.append(self.time(engine, seconds))
        return [min(own) for own in taken]


def judge(name, case, rounds):
    mixes = [(wide, engine, case.error(engine)) for wide, engine in case.mixes()]
    times = case.in_turns([engine for _, engine, _ in mixes], 3, 0.05)
    errors = sorted({error for _, _, error in mixes if error > 1e-5})
    singles = {len(case.layers): 'f32', 0: 'int8'}
    for share in (0.2, 0.5, 0.8):
        bound = errors[min(int(share * len(errors)), len(errors) - 1)] * 1.0001
        within = sorted((t, i) for i, (t, mix) in enumerate(zip(times, mixes)) if mix[2] <= bound)
        candidates = [mixes[i][1] for _, i in within[:4]]   # a busy machine may order the first wrongly
        alone = [m[1] for m in mixes if len(m[0]) in singles and m[2] <= bound]
        start = time.perf_counter()
        ours = tenfold.build(case.model, **case.options, max_error=bound)
        searched = time.perf_counter() - start
        error = case.error(ours)
        took = case.in_turns([ours, *candidates, *alone], rounds, 0.1)
        best, single = min(took[1:1 + len(candidates)]), min(took[1 + len(candidates):], default=float('nan'))
        print(f'| {name}, {len(mixes)} mixes | {bound:.4f} | {error:.4f} | {took[0]:.1f} | {best:.1f} | {took[0] / best:.2f} '
              f'| {single:.1f} | {searched:.1f} s |', flush=True)
        assert error <= bound, (error, bound)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--rounds', type=int, default=7)
    p.add_argument('--threads', type=int, default=1)
    p.add_argument('--models', default='small,cntk,pytorch,burn')
    a = p.parse_args()
    print('| model | bound | error | us, search | us, best of all mixes | ratio | us, best single type | search |')
    print('|---|---|---|---|---|---|---|---|')
    for name in a.models.split(','):
        judge(name, Case(*(small_cnn() if name == 'small' else digits(name)), a.threads), a.rounds)


if __name__ == '__main__':
    main()
