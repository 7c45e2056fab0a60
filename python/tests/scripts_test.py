"""Scripts as they are written for TensorRT 8.x and 10.x and for ONNX Runtime (scripts/), run unchanged or with one import
changed; the truth is ONNX Runtime's or NumPy's. They run on TENFOLD_DEVICE, where that is set."""
import json
import os
import pathlib
import subprocess
import sys
import unittest

import numpy as np
import onnxruntime
from case import Case, TensorProto, helper, model, numpy_helper, onnx

SCRIPTS = pathlib.Path(__file__).resolve().parent / 'scripts'
ON_CPU = os.environ['TENFOLD_DEVICE'] == 'cpu'


def lenet_weights(seed=0):
    rng = np.random.default_rng(seed)
    shapes = {'conv1.weight': (20, 1, 5, 5), 'conv1.bias': (20,), 'conv2.weight': (50, 20, 5, 5), 'conv2.bias': (50,),
              'fc1.weight': (500, 800), 'fc1.bias': (500,), 'fc2.weight': (10, 500), 'fc2.bias': (10,)}
    return {name: (rng.standard_normal(shape) / np.prod(shape[1:]) ** .5).astype(np.float32) for name, shape in shapes.items()}


def lenet(batch, weights, softmax=False):
    node = helper.make_node
    nodes = [node('Conv', ['images', 'conv1.weight', 'conv1.bias'], ['c1'], name='conv1'),
             node('MaxPool', ['c1'], ['p1'], name='pool1', kernel_shape=[2, 2], strides=[2, 2]),
             node('Conv', ['p1', 'conv2.weight', 'conv2.bias'], ['c2'], name='conv2'),
             node('MaxPool', ['c2'], ['p2'], name='pool2', kernel_shape=[2, 2], strides=[2, 2]),
             node('Flatten', ['p2'], ['f'], name='flatten'),
             node('Gemm', ['f', 'fc1.weight', 'fc1.bias'], ['g1'], name='fc1', transB=1), node('Relu', ['g1'], ['r'], name='relu'),
             node('Gemm', ['r', 'fc2.weight', 'fc2.bias'], ['logits' if softmax else 'scores'], name='fc2', transB=1)]
    if softmax:
        nodes.append(node('Softmax', ['logits'], ['scores']))
    return model(nodes, [('images', TensorProto.FLOAT, [batch, 1, 28, 28])], [('scores', TensorProto.FLOAT, [batch, 10])],
                 [numpy_helper.from_array(array, name) for name, array in weights.items()], opset=17)


def images(count=6):
    return np.random.default_rng(5).standard_normal((count, 1, 28, 28)).astype(np.float32)


def peer(proto, **feed):
    return onnxruntime.InferenceSession(proto.SerializeToString(), providers=['CPUExecutionProvider']).run(None, feed)[0]


class Scripts(Case):
    def run_script(self, name, proto=None, before=('-m', 'tenfold.tensorrt'), change=(), **inputs):
        """What it saves, and what it prints."""
        if proto is not None:
            onnx.save(proto, self.path('model.onnx'))
        np.savez(self.path('inputs.npz'), **inputs)
        text = (SCRIPTS / name).read_text()
        if change:
            self.assertEqual(text.count(change[0]), 1)
            text = text.replace(*change)
        with open(self.path(name), 'w') as f:
            f.write(text)
        done = subprocess.run([sys.executable, *before, name], cwd=self.folder, capture_output=True, text=True, timeout=600)
        self.assertEqual(done.returncode, 0, done.stderr)
        with np.load(self.path('results.npz')) as results:
            return dict(results), done.stdout

    def test_8_with_pycuda(self):
        weights = lenet_weights()
        results, said = self.run_script('v8_pycuda.py', lenet(1, weights), images=images())
        self.near(results['scores'], peer(lenet('n', weights), images=images()), 1e-4)
        self.assertEqual(said, '')

    def test_10_with_profiles(self):
        proto = lenet('n', lenet_weights())
        results, said = self.run_script('v10_dynamic_shapes.py', proto, images=images())
        self.near(results['scores'], peer(proto, images=images()), 1e-4)
        self.assertIn('refused images: (12, 1, 28, 28)', said)

    def test_lenet_by_layers(self):
        np.savez(self.path('weights.npz'), **lenet_weights())
        results, _ = self.run_script('lenet_by_layers.py', images=images()[:, None])
        self.near(results['scores'], peer(lenet('n', lenet_weights()), images=images()), 1e-4)

    def test_a_loop_that_writes(self):
        vocabulary, hidden, rng = 12, 16, np.random.default_rng(8)
        weights = {'embed': (vocabulary, hidden), 'out': (vocabulary, hidden), 'bias': (1, vocabulary)}
        for kind, shape in (('w', (hidden, hidden)), ('r', (hidden, hidden)), ('b', (1, hidden))):
            weights |= {f'{kind}{layer}_{g}': shape for layer in (0, 1) for g in 'iofc'}
        weights = {name: rng.standard_normal(shape).astype(np.float32) for name, shape in weights.items()}
        np.savez(self.path('weights.npz'), **weights)
        letters = np.array([3, 1, 4, 1, 5])
        results, _ = self.run_script('char_rnn.py', letters=letters)
        for name, array in char_rnn(weights, letters, 8).items():
            self.near(results[name], array, 1e-3)

    @unittest.skipUnless(ON_CPU, 'it reads its addresses with NumPy: tensorrt_plugins_gpu_test has those of a GPU')
    def test_a_plugin(self):
        node = helper.make_node('CircPadPlugin', ['x'], ['p'], name='pad', pads=[1, 2, 0, 1])
        proto = model([node, helper.make_node('Abs', ['p'], ['y'])], [('x', TensorProto.FLOAT, ['n', 3, 4, 5])],
                      [('y', TensorProto.FLOAT, ['n', 3, 5, 8])], opset=17)
        x = np.random.default_rng(2).standard_normal((2, 3, 4, 5)).astype(np.float32)
        results, _ = self.run_script('plugin_v3.py', proto, x=x)
        np.testing.assert_array_equal(results['y'], np.abs(np.pad(x, [(0, 0), (0, 0), (0, 1), (1, 2)], 'wrap')))

    @unittest.skipUnless(ON_CPU, 'it runs on the addresses of NumPy arrays')
    def test_other_weights(self):
        other = lenet_weights(1)
        np.savez(self.path('other.npz'), **other)
        results, _ = self.run_script('refit.py', lenet(1, lenet_weights()), images=images())
        self.near(results['before'], peer(lenet('n', lenet_weights()), images=images()), 1e-4)
        self.near(results['after'], peer(lenet('n', other), images=images()), 1e-4)

    @unittest.skipUnless(ON_CPU, 'it runs on the addresses of NumPy arrays')
    def test_a_timing_cache(self):
        proto = lenet('n', lenet_weights())
        results, _ = self.run_script('timing_cache.py', proto, images=images())
        np.testing.assert_array_equal(results['scores'], results['again'])
        self.near(results['scores'], peer(proto, images=images()), 1e-4)
        self.assertGreater(results['cache'], 100)

    @unittest.skipUnless(ON_CPU, 'it runs on the addresses of NumPy arrays')
    def test_int8(self):
        """Scales are the model's; what is rounded to 8 bits may round the other way, so results are a few steps apart at most."""
        proto = quantized(lenet('n', lenet_weights()))
        results, _ = self.run_script('int8_qdq.py', proto, images=images())
        expected = peer(proto, images=images())
        self.assertLess(np.abs(results['scores'] - expected).max(), 0.05 * np.abs(expected).max())
        self.assertGreater(np.abs(results['scores'] - peer(lenet('n', lenet_weights()), images=images())).max(), 0)

    def test_one_network_before_another(self):
        rng = np.random.default_rng(6)
        sizes = {'large': (2, 1, 70, 91), 'small': (1, 1, 14, 9), 'same': (4, 1, 28, 28)}
        inputs = {name: rng.standard_normal(shape).astype(np.float32) for name, shape in sizes.items()}
        results, _ = self.run_script('resize_with_layers.py', lenet('n', lenet_weights()), **inputs)
        resize = model([helper.make_node('Resize', ['image', '', '', 'sizes'], ['small'], mode='linear')],
                       [('image', TensorProto.FLOAT, ['n', 1, 'h', 'w']), ('sizes', TensorProto.INT64, [4])],
                       [('small', TensorProto.FLOAT, ['n', 1, 28, 28])])
        for name, image in inputs.items():
            small = peer(resize, image=image, sizes=np.array([len(image), 1, 28, 28]))
            self.near(results[name], peer(lenet('n', lenet_weights(), softmax=True), images=small), 1e-4)

    def test_onnx_runtime(self):
        proto = lenet('n', lenet_weights())
        proto.model_version = 3
        onnx.helper.set_model_props(proto, {'names': json.dumps([f'digit {i}' for i in range(10)])})
        change = ('import onnxruntime as ort', 'import tenfold.onnxruntime as ort')
        results, _ = self.run_script('onnxruntime_classify.py', proto, before=(), change=change, images=images())
        self.near(results['scores'], peer(proto, images=images()), 1e-4 if ON_CPU else 1e-2)   # a GPU rounds products to tf32
        self.near(results['again'], results['scores'], 1e-4 if ON_CPU else 1e-2)
        self.run_script('onnxruntime_classify.py', proto, before=(), images=images())   # and it is one of ONNX Runtime's


def quantized(proto):
    """Q and DQ around the products of a LeNet: activations and weights in 8 bits."""
    made, nodes = onnx.ModelProto(), []
    made.CopyFrom(proto)
    for given in proto.graph.node:
        node = onnx.NodeProto()
        node.CopyFrom(given)
        if node.op_type in ('Conv', 'Gemm'):
            for i, scale in ((0, 0.05), (1, 0.01)):
                name = f'{node.name}_{i}'
                made.graph.initializer.append(numpy_helper.from_array(np.float32(scale), name + '_scale'))
                made.graph.initializer.append(numpy_helper.from_array(np.int8(0), name + '_zero'))
                nodes.append(helper.make_node('QuantizeLinear', [node.input[i], name + '_scale', name + '_zero'], [name + '_q']))
                nodes.append(helper.make_node('DequantizeLinear', [name + '_q', name + '_scale', name + '_zero'], [name + '_d']))
                node.input[i] = name + '_d'
        nodes.append(node)
    del made.graph.node[:]
    made.graph.node.extend(nodes)
    return made


def char_rnn(weights, letters, count):
    """The same in NumPy: the letters that are given, then those that are written."""
    def sigmoid(x):
        return 1 / (1 + np.exp(-x))
    w = {name: array.astype(np.float64) for name, array in weights.items()}
    h, c = np.zeros((2, 1, w['embed'].shape[1])), np.zeros((2, 1, w['embed'].shape[1]))
    written, given = [], list(letters)
    for _ in range(count + 1):
        for letter in given:
            x = w['embed'][letter][None]
            for layer in range(2):
                i, o, f, g = (x @ w[f'w{layer}_{n}'].T + h[layer] @ w[f'r{layer}_{n}'].T + w[f'b{layer}_{n}'] for n in 'iofc')
                c[layer] = sigmoid(f) * c[layer] + sigmoid(i) * np.tanh(g)
                h[layer] = x = sigmoid(o) * np.tanh(c[layer])
        scores = x @ w['out'].T + w['bias']
        given = [int(scores.argmax())]
        written += given
    return {'written': np.array(written[:count]), 'scores': scores, 'h0': h[0], 'h1': h[1], 'c0': c[0], 'c1': c[1]}


if __name__ == '__main__':
    unittest.main()
