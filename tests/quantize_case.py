"""Plain models for `tenfold quantize`, and files with Q/DQ that it made of them."""
import cli_case
from cli_case import CliCase, FLOAT, helper, make_model, np, numpy_helper, onnx

import accuracy_test

ort = accuracy_test.ort
node = helper.make_node
PLACED = ('QuantizeLinear', 'DequantizeLinear')


def weights(*shape, seed, like=1):
    return (np.random.default_rng(seed).standard_normal(shape) / np.sqrt(np.prod(shape[like:]))).astype(np.float32)


def relative(got, expected):
    return np.linalg.norm(got - expected) / np.linalg.norm(expected)


def runs(model, feed, optimized=True):
    options = ort.SessionOptions()
    options.log_severity_level = 3
    if not optimized:
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    return ort.InferenceSession(model, options, providers=['CPUExecutionProvider']).run(None, feed)


def branch(name, op):
    return helper.make_graph([node(op, ['s'], [name]), node('MatMul', [name, 'wb'], [name + '_y'])], name,
                             [], [helper.make_tensor_value_info(name + '_y', FLOAT, None)])


def everything(opset=17):
    """Every kind of product, of weights and of what must stay."""
    constants = {
        'w1': weights(16, 8, 3, 3, seed=1), 'b1': weights(16, seed=2, like=0), 'w2': weights(16, 4, 3, 3, seed=3),
        'w3': weights(16, 16, 1, 1, seed=4), 'wg': weights(12, 16, seed=5), 'bg': weights(12, seed=6, like=0),
        'wm': weights(12, 12, seed=7), 'wb': weights(12, 12, seed=8), 'wt': weights(10, 12, seed=9),
        'scale': np.abs(weights(16, seed=10, like=0)) + 0.5, 'shift': weights(16, seed=11, like=0),
        'mean': weights(16, seed=12, like=0), 'variance': np.abs(weights(16, seed=13, like=0)) + 0.5,
        'yes': np.array(True),
    }
    nodes = [
        node('Conv', ['x', 'w1', 'b1'], ['c1'], 'first', pads=[1, 1, 1, 1]),
        node('Relu', ['c1'], ['r1'], 'relu'),
        node('Conv', ['r1', 'w2'], ['c2'], 'grouped', pads=[1, 1, 1, 1], group=4),
        node('BatchNormalization', ['c2', 'scale', 'shift', 'mean', 'variance'], ['n2'], 'norm'),
        node('Conv', ['n2', 'w3'], ['c3'], 'pointwise'),
        node('Add', ['c3', 'r1'], ['s3'], 'residual'),
        node('Conv', ['s3', 'w3'], ['c4'], 'shared'),
        node('MaxPool', ['c4'], ['m4'], 'pool', kernel_shape=[2, 2], strides=[2, 2]),
        node('Concat', ['m4', 'm4'], ['cc'], 'concat', axis=2),
        node('GlobalAveragePool', ['cc'], ['p'], 'mean'),
        node('Flatten', ['p'], ['f'], 'flat'),
        node('Gemm', ['f', 'wg', 'bg'], ['g'], 'gemm', transB=1),
        node('MatMul', ['g', 'wm'], ['s'], 'matmul'),
        node('If', ['cond'], ['i'], 'if', then_branch=branch('then', 'Relu'), else_branch=branch('otherwise', 'Neg')),
        node('Transpose', ['wt'], ['wt_t'], 'turn', perm=[1, 0]),
        node('MatMul', ['i', 'wt_t'], ['t'], 'turned'),
        node('Constant', [], ['wc'], 'constant', value=numpy_helper.from_array(weights(10, 9, seed=14), 'wc')),
        node('MatMul', ['t', 'wc'], ['c'], 'of_constant'),
        node('Twice', ['c'], ['y'], 'call', domain='own'),
        node('Identity', ['wb'], ['wb_out'], 'kept'),
    ]
    function = helper.make_function('own', 'Twice', ['a'], ['b'], [node('Add', ['a', 'a'], ['b'])], [helper.make_opsetid('', opset)])
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes, 'whole', [info('x', FLOAT, ['batch', 8, 12, 12]), info('cond', onnx.TensorProto.BOOL, [])],
        [info('y', FLOAT, ['batch', 9]), info('wm', FLOAT, [12, 12]), info('wb_out', FLOAT, [12, 12])],
        [numpy_helper.from_array(v, k) for k, v in constants.items() if k != 'yes'],
        doc_string='of the graph', value_info=[info('r1', FLOAT, ['batch', 16, 12, 12])])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', opset), helper.make_opsetid('own', 1)], ir_version=8,
                              functions=[function], producer_name='test', doc_string='of the model')
    helper.set_model_props(model, {'labels': 'a,b,c', 'license': 'free'})
    model.graph.node[0].doc_string = 'of a node'
    return model


def without_placed(model, plain):
    """The quantized model with all that was added taken out, and all that was left out put back in its place."""
    model = onnx.ModelProto.FromString(model.SerializeToString())
    graph, source = model.graph, {}
    names = {i.name for i in plain.graph.initializer}
    old = {n.name for n in plain.graph.node}
    for n in graph.node:
        if n.name in old:
            continue
        assert n.op_type in PLACED and not n.domain, n
        stem = n.output[0].rsplit('_dequantized', 1)[0]
        source[n.output[0]] = source.get(n.input[0], n.input[0] if n.op_type == 'QuantizeLinear' else stem)
    kept = [n for n in graph.node if n.name in old]
    for n in kept:
        n.input[:] = [source.get(i, i) for i in n.input]
    have = {n.name: n for n in kept}
    del graph.node[:]
    graph.node.extend(have.get(n.name, n) for n in plain.graph.node)
    kept = {i.name: i for i in graph.initializer if i.name in names}
    del graph.initializer[:]
    graph.initializer.extend(kept.get(i.name, i) for i in plain.graph.initializer)
    return model


class QuantizeCase(CliCase):
    def setUp(self):
        super().setUp()
        self.samples = np.random.default_rng(5).standard_normal((60, 8, 12, 12)).astype(np.float32)
        np.savez(self.path('data.npz'), x=self.samples, cond=np.ones(60, bool))

    def save(self, model, name='n.onnx', **options):
        onnx.save(model, self.path(name), **options)
        return self.path(name)

    def quantize(self, model, *flags, out='q.onnx', data='data.npz'):
        done = self.tenfold('quantize', model, f'--data={self.path(data)}', '-o', self.path(out), *flags)
        onnx.checker.check_model(self.path(out), full_check=True)
        self.said = done.stdout
        return onnx.load(self.path(out))

    def feed(self, x):
        return {'x': x, 'cond': np.array(True)}
