"""Networks whose norms, GELU and softmax are spelled out among convolutions and global pools, grown with weights that make them sharp:
f32 with --noTF32 on a GPU beside f64, ONNX Runtime and our CPU. Part of the bundle that script/gpu-check makes; gpu_check.py calls it.

Errors are parts of the largest output. Where a norm's mean is 1e7 of its deviations the last bit of the mean decides, and ONNX Runtime is
1e-2 off f64 itself: so a network passes if the GPU is within 1e-5 of f64, or within ten times what the other two are.
"""
import json, math, os, subprocess, sys, time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from gpu_common import TENFOLD, keep, remember

COUNT = 150


class Net:
    """Grows one network; values are NCHW, `channels` x `side` x `side`."""

    def __init__(self, seed):
        self.rng, self.nodes, self.constants, self.names = np.random.default_rng(seed), [], [], 0
        self.channels, self.side = int(self.one_of(3, 4, 8)), int(self.one_of(8, 14, 19, 28))
        self.batch, self.gain = int(self.one_of(1, 2, 3)), float(self.one_of(1, 3, 10))
        self.shape = (self.batch, self.channels, self.side, self.side)
        self.value = 'x'
        for _ in range(int(self.rng.integers(4, 10))):
            self.grow()
        if self.rng.random() < .6:
            self.end()
        self.nodes[-1].output[0] = 'y'
        self.input = self.rng.normal(0, 1, self.shape).astype('f4')

    def one_of(self, *choices):
        return self.rng.choice(choices)

    def name(self):
        self.names += 1
        return f'v{self.names}'

    def constant(self, array):
        self.constants.append(numpy_helper.from_array(np.asarray(array), self.name()))
        return self.constants[-1].name

    def number(self, x):
        return self.constant(np.float32(x))

    def ints(self, *values):
        return self.constant(np.array(values, np.int64))

    def op(self, kind, *inputs, **attributes):
        out = self.name()
        self.nodes.append(helper.make_node(kind, list(inputs), [out], name=f'{kind}_{out}', **attributes))
        return out

    def reduce(self, kind, x, *axes):
        return self.op('Reduce' + kind, x, self.ints(*axes), keepdims=1)

    def conv(self, x, outputs, kernel=1, stride=1, group=1):
        depth = self.channels // group
        weights = self.rng.normal(0, 1, (outputs, depth, kernel, kernel)) * self.gain / (depth * kernel * kernel) ** .5
        return self.op('Conv', x, self.constant(weights.astype('f4')), self.constant(self.rng.normal(0, .5, outputs).astype('f4')),
                       kernel_shape=[kernel, kernel], strides=[stride, stride], pads=[kernel // 2] * 4, group=group)

    def norm(self, x, side):
        """Over channels, planes, all, lines or groups of channels; some without the mean."""
        kind, epsilon = int(self.rng.integers(5)), float(self.one_of(1e-12, 1e-8, 1e-6, 1e-5))
        axes, grouped = [[1], [2, 3], [1, 2, 3], [3], [2, 3]][kind], kind == 4 and self.channels % 2 == 0
        if grouped:
            x = self.op('Reshape', x, self.ints(0, 2, -1, side))
        apart = x if self.rng.random() < .25 else self.op('Sub', x, self.reduce('Mean', x, *axes))
        squares = self.op('Pow', apart, self.number(2)) if self.rng.random() < .5 else self.op('Mul', apart, apart)
        deviation = self.op('Sqrt', self.op('Add', self.reduce('Mean', squares, *axes), self.number(epsilon)))
        y = (self.op('Div', apart, deviation) if self.rng.random() < .6 else self.op('Mul', apart, self.op('Reciprocal', deviation)))
        if grouped:
            y = self.op('Reshape', y, self.ints(0, self.channels, side, side))
        scale = self.rng.normal(1, .5, (self.channels, 1, 1)) * self.gain
        y = self.op('Mul', y, self.constant(scale.astype('f4')))
        return self.op('Add', y, self.constant(self.rng.normal(0, 1, (self.channels, 1, 1)).astype('f4')))

    def gelu(self, x):
        kind = self.rng.integers(3)
        if kind == 0:
            erf = self.op('Add', self.op('Erf', self.op('Div', x, self.number(2 ** .5))), self.number(1))
            return self.op('Mul', self.op('Mul', x, erf), self.number(.5))
        if kind == 1:
            erf = self.op('Add', self.number(1), self.op('Erf', self.op('Mul', x, self.number(.5 ** .5))))
            return self.op('Mul', self.op('Mul', x, self.number(.5)), erf)
        cube = self.op('Pow', x, self.number(3)) if self.rng.random() < .5 else self.op('Mul', self.op('Mul', x, x), x)
        inner = self.op('Add', x, self.op('Mul', cube, self.number(.044715)))
        tanh = self.op('Tanh', self.op('Mul', inner, self.number((2 / math.pi) ** .5)))
        return self.op('Mul', self.op('Mul', x, self.number(.5)), self.op('Add', tanh, self.number(1)))

    def softmax(self, x, axis):
        x = self.op('Mul', x, self.number(self.one_of(1, 5, 20)))
        if self.rng.random() < .8:
            x = self.op('Sub', x, self.reduce('Max', x, axis))
        else:
            x = self.op('Mul', self.op('Tanh', x), self.number(20))
        exp = self.op('Exp', x)
        return self.op('Div', exp, self.reduce('Sum', exp, axis))

    def pooled(self, x):
        return self.op(str(self.one_of('GlobalAveragePool', 'GlobalMaxPool')), x)

    def attention(self, x):
        """Over positions, its product's softmax in pieces."""
        rows = self.op('Reshape', x, self.ints(0, self.channels, -1))
        query = self.op('Reshape', self.conv(x, self.channels), self.ints(0, self.channels, -1))
        scores = self.op('MatMul', self.op('Transpose', query, perm=[0, 2, 1]), rows)
        scores = self.op('Div', scores, self.number(self.channels ** .5))
        exp = self.op('Exp', self.op('Sub', scores, self.reduce('Max', scores, 2)))
        weights = self.op('Div', exp, self.reduce('Sum', exp, 2))
        y = self.op('MatMul', rows, self.op('Transpose', weights, perm=[0, 2, 1]))
        return self.op('Add', x, self.op('Reshape', y, self.ints(0, self.channels, self.side, self.side)))

    def grow(self):
        kind, x = self.rng.integers(9), self.value
        if kind <= 2:
            outputs, kernel = int(self.one_of(8, 16, 24, 32)), int(self.one_of(1, 3, 3, 5))
            stride = int(self.one_of(1, 1, 2)) if self.side > 7 else 1
            x = self.conv(x, outputs, kernel, stride)
            self.channels, self.side = outputs, (self.side + 2 * (kernel // 2) - kernel) // stride + 1
            x = self.norm(x, self.side) if self.rng.random() < .7 else x
            x = self.gelu(x) if self.rng.random() < .7 else x
        elif kind == 3:
            x = self.conv(x, self.channels, 3, 1, self.channels)
            x = self.gelu(self.norm(x, self.side)) if self.rng.random() < .5 else x
        elif kind == 4:
            x = self.norm(x, self.side)
        elif kind == 5:   # squeeze and excite
            gate = self.conv(self.pooled(x) if self.rng.random() < .7 else self.reduce('Mean', x, 2, 3), self.channels)
            gate = self.norm(gate, 1) if self.rng.random() < .5 else gate
            gate = self.conv(self.gelu(gate), self.channels) if self.rng.random() < .5 else gate
            x = self.op('Mul', x, self.op('Sigmoid', gate) if self.rng.random() < .5 else self.softmax(gate, 1))
        elif kind == 6:
            x = self.softmax(x, int(self.rng.integers(1, 4)))
        elif kind == 7:
            x = self.op('Add', x, self.gelu(self.norm(x, self.side)))
        else:
            x = self.attention(x)
        self.value = x

    def end(self):
        rows = self.op('Reshape', self.pooled(self.value), self.ints(0, -1))
        weights = self.rng.normal(0, 1, (self.channels, 10)) * self.gain / self.channels ** .5
        y = self.op('MatMul', rows, self.constant(weights.astype('f4')))
        self.value = self.softmax(y, 1) if self.rng.random() < .5 else y

    def model(self):
        graph = helper.make_graph(self.nodes, 'sharp', [helper.make_tensor_value_info('x', TensorProto.FLOAT, self.shape)],
                                  [helper.make_tensor_value_info('y', TensorProto.FLOAT, None)], self.constants)
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid('', 18)], ir_version=8)
        return onnx.shape_inference.infer_shapes(made)


def conv_of(x, weights, bias, at):
    group, kernel, stride, pad = at['group'], at['kernel_shape'][0], at['strides'][0], at['pads'][0]
    x = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    windows = np.lib.stride_tricks.sliding_window_view(x, (kernel, kernel), (2, 3))[:, :, ::stride, ::stride]
    n, c, high, wide = windows.shape[:4]
    windows = windows.reshape(n, group, c // group, high, wide, kernel, kernel)
    weights = weights.reshape(group, len(bias) // group, c // group, kernel, kernel)
    y = np.einsum('ngchwij,gocij->ngohw', windows, weights, optimize=True)
    return y.reshape(n, len(bias), high, wide) + bias[:, None, None]


ELEMENTWISE = {'Add': np.add, 'Sub': np.subtract, 'Mul': np.multiply, 'Div': np.divide, 'Pow': np.power, 'Sqrt': np.sqrt, 'Exp': np.exp,
               'Tanh': np.tanh, 'Reciprocal': np.reciprocal, 'MatMul': np.matmul, 'Sigmoid': lambda x: 1 / (1 + np.exp(-x)),
               'Erf': np.vectorize(math.erf, otypes=['f8'])}
REDUCED = {'ReduceMean': np.mean, 'ReduceSum': np.sum, 'ReduceMax': np.max}
POOLED = {'GlobalAveragePool': np.mean, 'GlobalMaxPool': np.max}


def in_f64(net, model):
    values = {c.name: numpy_helper.to_array(c) for c in net.constants}
    values = {name: v.astype('f8') if v.dtype == np.float32 else v for name, v in values.items()}
    values['x'] = net.input.astype('f8')
    for node in model.graph.node:
        given, at, kind = [values[i] for i in node.input], {a.name: helper.get_attribute_value(a) for a in node.attribute}, node.op_type
        if kind == 'Conv':
            y = conv_of(*given, at)
        elif kind in REDUCED:
            y = REDUCED[kind](given[0], axis=tuple(given[1]), keepdims=True)
        elif kind in POOLED:
            y = POOLED[kind](given[0], axis=(2, 3), keepdims=True)
        elif kind == 'Reshape':
            y = given[0].reshape([given[0].shape[i] if d == 0 else d for i, d in enumerate(given[1])])
        elif kind == 'Transpose':
            y = given[0].transpose(at['perm'])
        else:
            y = ELEMENTWISE[kind](*given)
        values[node.output[0]] = y
    return values['y']


def off(got, expected):
    return float(np.abs(got - expected).max() / max(np.abs(expected).max(), 1e-30))


def judge(folder, seed, device):
    """Errors of one network, or nothing where f64 itself overflows."""
    import onnxruntime as ort
    net = Net(seed)
    model = net.model()
    with np.errstate(all='ignore'):
        expected = in_f64(net, model)
    if not np.isfinite(expected).all() or np.abs(expected).max() > 1e20:
        return None
    path = os.path.join(folder, f'sharp{seed}')
    onnx.save(model, path + '.onnx')
    np.save(path + '.npy', net.input)
    options = ort.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 3
    got = ort.InferenceSession(path + '.onnx', options, providers=['CPUExecutionProvider']).run(None, {'x': net.input})[0]
    printed = dict(seed=seed, onnxruntime=off(got, expected))
    for tag, where in (('gpu', device), ('cpu', 'cpu')):
        done = subprocess.run([TENFOLD, 'exec', f'--onnx={path}.onnx', f'--device={where}', '--noTF32', '--builderOptimizationLevel=0',
                               f'--loadInputs=x:{path}.npy', f'--exportOutput={path}-{tag}.npz', '--iterations=1', '--duration=0',
                               '--warmUp=0'], capture_output=True, text=True, timeout=200)
        if done.returncode != 0:
            return dict(printed, **{tag: None}, why=(done.stderr + done.stdout).strip()[-300:])
        printed[tag] = off(next(iter(np.load(f'{path}-{tag}.npz').values())), expected)
    return printed


def good(printed):
    return printed.get('gpu') is not None and printed['gpu'] <= max(1e-5, 10 * max(printed['onnxruntime'], printed.get('cpu') or 0))


def check(a, device='cuda:0'):
    """Adds to OUT/sharp.json; True if all are good."""
    start, folder = time.time(), os.path.join(a.models, 'sharp')
    os.makedirs(folder, exist_ok=True)
    with ThreadPoolExecutor(12) as pool:
        found = [s for s in pool.map(lambda seed: judge(folder, seed, device), range(COUNT)) if s]
    keep(a, 'sharp.json', found)
    bad = [s for s in found if not good(s)]
    for s in bad:
        print('sharp network BAD', json.dumps(s), flush=True)
    middle = {tag: float(np.median([s[tag] for s in found if s.get(tag) is not None])) for tag in ('gpu', 'cpu', 'onnxruntime')}
    worst = max(found, key=lambda s: s.get('gpu') or 0)
    detail = (f"{len(found)} networks; off f64 in the middle: GPU {middle['gpu']:.1e}, CPU {middle['cpu']:.1e}, ONNX Runtime "
              f"{middle['onnxruntime']:.1e}; the GPU's worst {worst['gpu'] or 0:.1e}, where ONNX Runtime is {worst['onnxruntime']:.1e} off")
    print('sharp networks:', 'passed' if not bad else f'{len(bad)} FAILED', detail, flush=True)
    remember(a, 'sharp networks, f32 with `--noTF32`, beside f64', not bad, time.time() - start, detail)
    return not bad


if __name__ == '__main__':   # on any device: gpu_sharp.py FOLDER [cpu]
    class Here:
        out = models = sys.argv[1]
    sys.exit(0 if check(Here, sys.argv[2] if len(sys.argv) > 2 else 'cuda:0') else 1)
