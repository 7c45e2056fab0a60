"""Every form of every operator that the package onnx lists: read, or left out for a reason that stands here. Forms before opset 7 are run
beside ONNX Runtime, which computes the same by a node of opset 17."""
import collections
import json
import os
import subprocess
import unittest

import numpy as np
import onnx
import onnxruntime
from case import Case, TensorProto, helper

import tenfold.onnxruntime

RANDOM = np.random.default_rng(0)
LEFT_OUT = {('ai.onnx.preview.training', 'Gradient'): 'training that plans do not compute'}


def floats(*shape):
    return (RANDOM.integers(-16, 17, shape) / 8).astype(np.float32)


def model(op, opset, operands, outputs, attributes, constants=()):
    """`constants`: numbers of operands that are initializers."""
    names = [f'x{i}' if a is not None else '' for i, a in enumerate(operands)]
    value = lambda n, a: helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
    out = [f'y{i}' for i in range(outputs)]
    graph = helper.make_graph([helper.make_node(op, names, out, **attributes)], 'g',
                              [value(n, a) for i, (n, a) in enumerate(zip(names, operands)) if n and i not in constants],
                              [onnx.ValueInfoProto(name=n) for n in out],
                              [onnx.numpy_helper.from_array(operands[i], names[i]) for i in constants])
    return helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid('', opset)]).SerializeToString()


def run(engine, proto, operands, constants=(), **options):
    session = engine.InferenceSession(proto, providers=['CPUExecutionProvider'], **options)
    return session.run(None, {f'x{i}': a for i, a in enumerate(operands) if a is not None and i not in constants})


X, POSITIVE, IMAGE = floats(2, 3, 4), np.abs(floats(2, 3)) + np.float32(0.5), floats(1, 2, 6, 6)
LEFT, ROW = floats(2, 3, 4, 5), floats(3, 4)
SPREAD = ROW.reshape(1, 3, 4, 1)
BOOLS = X > 0
HINT = {'consumed_inputs': [0]}
UNARY = {'Abs': X, 'Ceil': X, 'Exp': X, 'Floor': X, 'Log': POSITIVE, 'Neg': X, 'Reciprocal': POSITIVE, 'Relu': X, 'Sigmoid': X,
         'Sqrt': POSITIVE, 'Tanh': X}
NORM = [IMAGE, floats(2), floats(2), floats(2), np.abs(floats(2)) + np.array(1, np.float32)]
RECURRENT = [floats(4, 1, 3), floats(1, 15, 3), floats(1, 15, 5), floats(1, 30)]


def old_forms():
    """(operator, opset, operands, attributes, and of the node that ONNX Runtime runs instead: operands, attributes, operator)."""
    for op, x in UNARY.items():
        yield op, 1, [x], HINT, [x], {}
        yield op, 6, [x], {}, [x], {}
    for op, attributes in (('Elu', {'alpha': 0.5}), ('HardSigmoid', {'alpha': 0.3}), ('LeakyRelu', {'alpha': 0.2})):
        yield op, 1, [X], {**HINT, **attributes}, [X], attributes
        yield op, 1, [X], {}, [X], {}
        yield op, 6, [X], attributes, [X], attributes
    yield 'Selu', 6, [X], {}, [X], {}
    yield 'Selu', 1, [X], HINT, [X], {'alpha': 1.6732, 'gamma': 1.0507}
    for op in ('Max', 'Mean', 'Min', 'Sum'):
        yield op, 1, [X, X * 2 - 1, -X], {'consumed_inputs': [0, 0, 0]}, [X, X * 2 - 1, -X], {}
        yield op, 6, [X, X * 2 - 1], {}, [X, X * 2 - 1], {}
    for op in ('Add', 'Sub', 'Mul', 'Div', 'Pow'):
        for opset in ((1,) if op == 'Pow' else (1, 6)):
            a, b = (np.abs(v) + np.float32(1) for v in (LEFT, ROW))
            yield op, opset, [a, b], {'broadcast': 1, 'axis': 1}, [a, b.reshape(1, 3, 4, 1)], {}
            yield op, opset, [a, b[:, 0]], {'broadcast': 1, 'axis': 1}, [a, b[:, 0].reshape(1, 3, 1, 1)], {}
            yield op, opset, [a, a[0, 0]], {'broadcast': 1}, [a, a[0, 0]], {}
            yield op, opset, [a, a * 2], {}, [a, a * 2], {}
    for op in ('And', 'Or', 'Xor'):
        yield op, 1, [BOOLS, BOOLS[:, :, 0] ^ True], {'broadcast': 1, 'axis': 0}, [BOOLS, (BOOLS[:, :, 0] ^ True)[:, :, None]], {}
    for op in ('Less', 'Greater'):
        yield op, 1, [LEFT, ROW], {'broadcast': 1, 'axis': 1}, [LEFT, SPREAD], {}
    whole = LEFT.astype(np.int32)
    yield 'Equal', 1, [whole, ROW.astype(np.int32)], {'broadcast': 1, 'axis': 1}, [whole, SPREAD.astype(np.int32)], {}
    yield 'PRelu', 1, [IMAGE, floats(2)], HINT, [IMAGE, None], {}
    yield 'PRelu', 6, [IMAGE, floats(1)], {}, [IMAGE, None], {}
    yield 'Clip', 1, [X], {'min': -0.5, 'max': 0.75, **HINT}, [X, np.array(-0.5, np.float32), np.array(0.75, np.float32)], {}
    yield 'Clip', 6, [X], {'max': 0.25}, [X, None, np.array(0.25, np.float32)], {}
    for name, number in (('DOUBLE', 11), ('INT32', 6), ('BOOL', 9), ('FLOAT16', 10)):
        yield 'Cast', 1, [X], {'to': name}, [X], {'to': number}
    yield 'Concat', 1, [X, X * 2], {}, [X, X * 2], {'axis': 1}
    yield 'Concat', 4, [X, X * 2], {'axis': 0}, [X, X * 2], {'axis': 0}
    yield 'Concat', 1, [X, X * 2], {'axis': 2}, [X, X * 2], {'axis': 2}
    yield 'Reshape', 1, [X], {'shape': [0, -1], **HINT}, [X, np.array([0, -1])], {}
    yield 'Reshape', 5, [X, np.array([4, -1])], {}, None, {}
    yield 'InstanceNormalization', 6, NORM[:3], {}, None, {}
    yield 'Dropout', 1, [X], {'is_test': 1, 'ratio': 0.3, **HINT}, [X], {}, 'Identity'
    yield 'Dropout', 6, [X], {'is_test': 1}, [X], {}, 'Identity'
    for opset, attributes in ((1, {'consumed_inputs': [0] * 5, 'is_test': 1}), (6, {'is_test': 1, 'momentum': 0.8})):
        yield 'BatchNormalization', opset, NORM, {'epsilon': 1e-3, **attributes}, NORM, {'epsilon': 1e-3}
    yield 'InstanceNormalization', 1, NORM[:3], {'epsilon': 1e-3, **HINT}, NORM[:3], {'epsilon': 1e-3}
    for opset, name in ((1, 'paddings'), (2, 'pads')):
        yield 'Pad', opset, [X], {name: [0, 1, 0, 0, 0, 2], 'value': 1.5}, [X, np.array([0, 1, 0, 0, 0, 2]), np.array(1.5, np.float32)], {}
    yield 'Pad', 1, [X], {'paddings': [0, 1, 1, 0, 0, 2], 'mode': 'reflect'}, [X, np.array([0, 1, 1, 0, 0, 2])], {'mode': 'reflect'}
    yield ('Upsample', 1, [IMAGE], {'width_scale': 2.0, 'height_scale': 3.0}, [IMAGE, None, np.array([1, 1, 3, 2], np.float32)],
           {'mode': 'nearest', 'coordinate_transformation_mode': 'asymmetric', 'nearest_mode': 'floor'}, 'Resize')
    yield ('Upsample', 1, [IMAGE], {'width_scale': 2.0, 'height_scale': 2.0, 'mode': 'bilinear'},
           [IMAGE, None, np.array([1, 1, 2, 2], np.float32)], {'mode': 'linear', 'coordinate_transformation_mode': 'asymmetric'}, 'Resize')
    yield 'Slice', 1, [X], {'starts': [0, 1], 'ends': [2, 3], 'axes': [1, 2]}, [X, np.array([0, 1]), np.array([2, 3]), np.array([1, 2])], {}
    yield 'Squeeze', 1, [X[None]], {'axes': [0]}, [X[None], np.array([0])], {}
    yield 'Unsqueeze', 1, [X], {'axes': [1]}, [X, np.array([1])], {}
    yield 'Flatten', 1, [X], {'axis': 2}, [X], {'axis': 2}
    yield 'TopK', 1, [X], {'k': 2, 'axis': 1}, [X, np.array([2])], {'axis': 1}
    yield 'Gemm', 1, [floats(3, 4), floats(4, 5), floats(5)], {'broadcast': 1, 'alpha': 0.5}, None, {'alpha': 0.5}
    yield 'Gemm', 6, [floats(4, 3), floats(5, 4), floats(3, 5)], {'transA': 1, 'transB': 1, 'beta': 2.0}, None, {'transA': 1, 'transB': 1,
                                                                                                                'beta': 2.0}
    for op in ('LpPool', 'MaxPool', 'AveragePool'):
        yield op, 1, [IMAGE], {'kernel_shape': [2, 2], 'strides': [2, 2]}, None, {'kernel_shape': [2, 2], 'strides': [2, 2]}
    yield 'LpPool', 1, [IMAGE], {'kernel_shape': [2, 2], 'p': 3.0}, None, {'kernel_shape': [2, 2], 'p': 3}
    yield 'LpPool', 2, [IMAGE], {'kernel_shape': [3, 3], 'p': 1, 'pads': [1, 1, 1, 1]}, None, {'kernel_shape': [3, 3], 'p': 1,
                                                                                             'pads': [1, 1, 1, 1]}
    yield 'GlobalLpPool', 1, [IMAGE], {'p': 3.0}, None, {'p': 3}
    yield 'GlobalLpPool', 2, [IMAGE], {'p': 1}, None, {'p': 1}
    for op in ('GlobalAveragePool', 'GlobalMaxPool'):
        yield op, 1, [IMAGE], {}, None, {}
    yield 'Conv', 1, [IMAGE, floats(3, 2, 3, 3)], {'pads': [1, 1, 1, 1]}, None, {'pads': [1, 1, 1, 1]}
    yield 'ConvTranspose', 1, [IMAGE, floats(2, 3, 2, 2)], {'strides': [2, 2]}, None, {'strides': [2, 2]}
    for op in ('ReduceL1', 'ReduceL2', 'ReduceLogSumExp', 'ReduceMax', 'ReduceMean', 'ReduceMin', 'ReduceProd', 'ReduceSumSquare'):
        yield op, 1, [X], {'axes': [1], 'keepdims': 0}, None, {'axes': [1], 'keepdims': 0}
    yield 'ReduceLogSum', 1, [POSITIVE], {'axes': [1]}, None, {'axes': [1]}
    yield 'ReduceSum', 1, [X], {'axes': [1]}, [X, np.array([1])], {}
    for op in ('ArgMax', 'ArgMin'):
        yield op, 1, [X], {'axis': 1}, None, {'axis': 1}
    for op in ('Softmax', 'LogSoftmax'):
        flat = X.reshape(2, 12)
        yield op, 1, [flat], {'axis': 1}, None, {'axis': 1}
    yield 'Hardmax', 1, [X[0]], {'axis': 1}, None, {'axis': 1}
    for op, extra in (('LpNormalization', {'p': 1}), ('LRN', {'size': 3}), ('MeanVarianceNormalization', {})):
        if op != 'MeanVarianceNormalization':   # of opset 9
            yield op, 1, [IMAGE], extra, None, extra
    for op in ('DepthToSpace', 'SpaceToDepth'):
        x = floats(1, 4, 4, 6)
        yield op, 1, [x], {'blocksize': 2}, None, {'blocksize': 2}
    yield 'Gather', 1, [X, np.array([1, 0])], {'axis': 1}, None, {'axis': 1}
    yield 'Transpose', 1, [X], {'perm': [2, 0, 1]}, None, {'perm': [2, 0, 1]}
    yield 'MatMul', 1, [floats(2, 3), floats(3, 4)], {}, None, {}
    yield 'Identity', 1, [X], {}, None, {}
    yield 'Not', 1, [BOOLS], {}, None, {}
    for op in ('Shape', 'Size'):
        yield op, 1, [X], {}, None, {}
    for op in ('Softplus', 'Softsign'):
        yield op, 1, [X], {}, None, {}
    yield 'MaxRoiPool', 1, [IMAGE, np.array([[0, 0, 1, 4, 5], [0, 2.5, 2, 3, 9]], np.float32)], {'pooled_shape': [2, 3]}, None, {
        'pooled_shape': [2, 3]}
    yield ('MaxRoiPool', 1, [IMAGE, np.array([[0, 0, 1, 9, 5]], np.float32)], {'pooled_shape': [2, 2], 'spatial_scale': 0.5}, None,
           {'pooled_shape': [2, 2], 'spatial_scale': 0.5})
    for op, gates in (('RNN', 1), ('GRU', 3), ('LSTM', 4)):
        w, r, b = floats(1, 5 * gates, 3), floats(1, 5 * gates, 5), floats(1, 10 * gates)
        x, more = floats(4, 2, 3), {'linear_before_reset': 0} if op == 'GRU' else {}
        for opset in ((1, 3) if op == 'GRU' else (1,)):
            yield op, opset, [x, w, r, b], {'hidden_size': 5}, None, {'hidden_size': 5, **more}
    yield 'Cast', 6, [X], {'to': 7}, None, {'to': 7}
    yield 'HardSigmoid', 6, [X], {}, None, {}
    yield 'Tile', 6, [X, np.array([1, 2, 3])], {}, None, {}


class History(Case):
    def known(self):
        program = os.path.join(os.path.dirname(tenfold.__file__), '..', '..', 'cli', 'tenfold')
        if not os.path.exists(program):
            self.skipTest('the program tenfold is not beside the package')
        return {(o['domain'] or 'ai.onnx', o['name']): o['since'] for o in json.loads(subprocess.check_output([program, 'ops', '--json']))}

    def test_every_operator_from_its_first_opset_on(self):
        known, first = self.known(), collections.defaultdict(list)
        for schema in onnx.defs.get_all_schemas_with_history():
            if not schema.support_level == onnx.defs.OpSchema.SupportType.EXPERIMENTAL:
                first[schema.domain or 'ai.onnx', schema.name].append(schema.since_version)
        for key, versions in sorted(first.items()):
            with self.subTest('.'.join(key)):
                if key in LEFT_OUT:
                    self.assertNotIn(key, known)
                else:
                    self.assertLessEqual(known.get(key, 1 << 30), min(versions), f'forms of opsets {sorted(versions)}')

    def test_forms_before_opset_7(self):
        for op, opset, operands, attributes, other, today, *name in old_forms():
            with self.subTest(op, opset=opset, attributes=str(attributes)):
                new_op = name[0] if name else op
                outputs = 2 if op == 'TopK' else 1
                if op == 'PRelu':   # a slope for each channel, or one
                    other = [operands[0], operands[1].reshape(-1, 1, 1)]
                other = operands if other is None else other
                found = run(tenfold.onnxruntime, model(op, opset, operands, outputs, attributes), operands, tune='never', tf32=False)
                expected = run(onnxruntime, model(new_op, 17, other, outputs, today), other)
                for ours, theirs in zip(found, expected):
                    self.assertEqual((ours.dtype, ours.shape), (theirs.dtype, theirs.shape))
                    np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5)

    def test_tile_of_one_axis(self):
        x = [X, np.array([3], np.float32), np.array([1], np.float32)]
        found = run(tenfold.onnxruntime, model('Tile', 1, x, 1, {}, constants=[2]), x, [2], tune='never')[0]
        np.testing.assert_array_equal(found, np.tile(X, (1, 3, 1)))

    def test_split_into_parts(self):
        for opset, attributes, parts in ((2, {'axis': 1, 'split': [1, 2]}, [1]), (2, {'axis': 2}, [2]),
                                         (1, {'axis': 1, 'split': [2, 1]}, [2])):
            found = run(tenfold.onnxruntime, model('Split', opset, [X], 2, attributes), [X], tune='never')
            for ours, theirs in zip(found, np.split(X, parts, attributes['axis'])):
                np.testing.assert_array_equal(ours, theirs)

    def test_all_old_forms_are_tried(self):
        tried = {(op, opset) for op, opset, *_ in old_forms()} | {('Tile', 1), ('Split', 1), ('Split', 2)}
        elsewhere = {   # of the suite, of other tests, or without an answer to compare
            'Constant', 'If', 'Loop', 'RandomNormal', 'RandomNormalLike', 'RandomUniform', 'RandomUniformLike'}
        for schema in onnx.defs.get_all_schemas_with_history():
            if schema.domain or schema.since_version >= 7 or schema.name in elsewhere or schema.deprecated:
                continue
            if schema.support_level == onnx.defs.OpSchema.SupportType.EXPERIMENTAL:
                continue
            with self.subTest(schema.name, since=schema.since_version):
                self.assertIn((schema.name, schema.since_version), tried)

    def test_swiglu(self):
        a, b = floats(2, 5), floats(2, 5)
        found = run(tenfold.onnxruntime, model('SwiGLU', 28, [a, b], 1, {'alpha': 1.5}), [a, b], tune='never')[0]
        np.testing.assert_allclose(found, a / (1 + np.exp(-1.5 * a)) * b, rtol=1e-5, atol=1e-6)

    def test_multinomial_draws_by_probability(self):
        chances = np.array([[0.1, 0.2, 0.7], [0.5, 0.5, 0.0]])
        with np.errstate(divide='ignore'):
            x = np.log(chances).astype(np.float32) + np.float32(3)
        found = run(tenfold.onnxruntime, model('Multinomial', 7, [x], 1, {'sample_size': 20000, 'dtype': TensorProto.INT64, 'seed': 1.0}),
                    [x], tune='never')[0]
        self.assertEqual((found.shape, found.dtype), ((2, 20000), np.int64))
        for row, expected in zip(found, chances):
            np.testing.assert_allclose(np.bincount(row, minlength=3) / 20000, expected, atol=0.02)


if __name__ == '__main__':
    unittest.main()
