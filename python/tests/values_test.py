"""Strings, sequences, optionals, maps and ai.onnx.ml: built, saved and loaded, beside ONNX Runtime where it has the operator."""
import unittest

import numpy as np
import onnxruntime
from case import QUICK, Case, TensorProto, helper

import tenfold
import tenfold.onnxruntime

ML = 'ai.onnx.ml'
FLOATS, STRINGS, INTS = TensorProto.FLOAT, TensorProto.STRING, TensorProto.INT64


def tensor(name, dtype, shape=None):
    return helper.make_tensor_value_info(name, dtype, shape)


def sequence(name, dtype=FLOATS, shape=None):
    return helper.make_tensor_sequence_value_info(name, dtype, shape)


def model(nodes, inputs, outputs, initializers=(), ml=3, opset=20):
    graph = helper.make_graph(nodes, 'g', inputs, outputs, list(initializers))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid('', opset), helper.make_opsetid(ML, ml)], ir_version=9)


def ml_node(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs, outputs, domain=ML, **attributes)


class Values(Case):
    def same(self, found, expected):
        if isinstance(expected, dict):
            self.assertEqual(sorted(found), sorted(expected))
            return [self.same(found[k], expected[k]) for k in expected]
        if isinstance(expected, list):
            self.assertEqual(len(found), len(expected))
            return [self.same(f, w) for f, w in zip(found, expected, strict=True)]
        if expected is None:
            return self.assertIsNone(found)
        expected = np.asarray(expected)
        found = np.asarray(found)
        self.assertEqual(found.shape, expected.shape)
        if expected.dtype.kind in 'OU':
            return self.assertEqual(found.tolist(), expected.tolist())
        return np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)

    def beside(self, proto, feed):
        """Ours as it is built and after a save and a load, and in a session, against ONNX Runtime's."""
        expected = onnxruntime.InferenceSession(proto.SerializeToString(), providers=['CPUExecutionProvider']).run(None, feed)
        profiles = {name: (a.shape, a.shape, a.shape) for name, a in feed.items() if isinstance(a, np.ndarray)}
        engine = tenfold.build(proto.SerializeToString(), profiles=profiles, **QUICK)
        engine.save(self.path('values.plan'))
        ours = tenfold.onnxruntime.InferenceSession(proto.SerializeToString(), providers=['CPUExecutionProvider'], tune='never')
        for runs in (lambda: engine.run_feed(None, feed), lambda: tenfold.load(self.path('values.plan')).run_feed(None, feed),
                     lambda: ours.run(None, feed)):
            self.same(runs(), expected)
        return expected


class Strings(Values):
    def test_normalizer(self):
        words = np.array(['Monday', 'tuesday', 'WEDNESDAY', 'the'], dtype=object)
        for action in ('NONE', 'LOWER', 'UPPER'):
            for exact in (0, 1):
                node = helper.make_node('StringNormalizer', ['x'], ['y'], case_change_action=action, is_case_sensitive=exact,
                                        stopwords=['monday', 'the'], locale='C')
                with self.subTest(action=action, exact=exact):
                    self.beside(model([node], [tensor('x', STRINGS, [4])], [tensor('y', STRINGS, [None])]), {'x': words})

    def test_concat_and_split(self):
        x = np.array([['a-b', 'c'], ['', 'd-e-f']], dtype=object)
        nodes = [helper.make_node('StringConcat', ['x', 'tail'], ['long']),
                 helper.make_node('StringSplit', ['x'], ['parts', 'n'], delimiter='-')]
        tail = helper.make_tensor('tail', STRINGS, [2], [b'!', b'?'])
        self.beside(model(nodes, [tensor('x', STRINGS, ['n', 2])],
                          [tensor('long', STRINGS, None), tensor('n', INTS, None)], [tail]), {'x': x})

    def test_equal(self):
        feed = {'x': np.array(['a', 'b'], dtype=object), 'y': np.array(['a', 'c'], dtype=object)}
        self.beside(model([helper.make_node('Equal', ['x', 'y'], ['z'])], [tensor('x', STRINGS, [2]), tensor('y', STRINGS, [2])],
                          [tensor('z', TensorProto.BOOL, [2])]), feed)

    def test_casts(self):
        numbers = [np.array([1.5, -2, 1e-7, 3.14159274, np.nan, np.inf, -np.inf], np.float32), np.array([1, -7], np.int64),
                   np.array([0.1, 1e300], np.float64), np.array([True, False])]
        for array in numbers:
            code = helper.np_dtype_to_tensor_dtype(array.dtype)
            with self.subTest(dtype=array.dtype):
                self.beside(model([helper.make_node('Cast', ['x'], ['y'], to=STRINGS)], [tensor('x', code, array.shape)],
                                  [tensor('y', STRINGS, array.shape)]), {'x': array})
        words = np.array(['1', '-12', '7'], dtype=object)
        for to in (FLOATS, INTS, TensorProto.INT32):
            proto = model([helper.make_node('Cast', ['x'], ['y'], to=to)], [tensor('x', STRINGS, [3])], [tensor('y', to, [3])])
            self.beside(proto, {'x': words})

    def test_movement(self):
        x = np.array(['a', 'b', 'c', 'd'], dtype=object)
        nodes = [helper.make_node('Gather', ['x', 'i'], ['g']), helper.make_node('Concat', ['g', 'x'], ['c'], axis=0),
                 helper.make_node('Reshape', ['c', 's'], ['y'])]
        initializers = [helper.make_tensor('i', INTS, [2], [3, 0]), helper.make_tensor('s', INTS, [2], [2, 3])]
        self.beside(model(nodes, [tensor('x', STRINGS, [4])], [tensor('y', STRINGS, [2, 3])], initializers), {'x': x})

    def test_calls_take_lists(self):
        proto = model([helper.make_node('StringConcat', ['x', 'x'], ['y'])], [tensor('x', STRINGS, [2])], [tensor('y', STRINGS, [2])])
        engine = tenfold.build(proto.SerializeToString(), **QUICK)
        self.assertEqual(engine(['a', 'b']).tolist(), ['aa', 'bb'])
        self.assertEqual(engine(np.array(['a', 'é'])).tolist(), ['aa', 'éé'])
        with self.assertRaisesRegex(tenfold.errors.InvalidArgument, "'x'.*string"):
            engine(['a'])
        with self.assertRaisesRegex(TypeError, 'strings'):
            engine(np.array([1.0, 2.0]))


class Sequences(Values):
    def test_at_a_place_that_data_decide(self):
        x = np.arange(12, dtype=np.float32).reshape(6, 2)
        nodes = [helper.make_node('SplitToSequence', ['x', 'sizes'], ['parts'], axis=0),
                 helper.make_node('SequenceAt', ['parts', 'at'], ['one']),
                 helper.make_node('SequenceInsert', ['parts', 'one', 'at'], ['more']), helper.make_node('SequenceLength', ['more'], ['n']),
                 helper.make_node('SequenceErase', ['more', 'at'], ['less']),
                 helper.make_node('ConcatFromSequence', ['less'], ['whole'], axis=0), helper.make_node('Neg', ['whole'], ['y'])]
        proto = model(nodes, [tensor('x', FLOATS, [6, 2]), tensor('sizes', INTS, [3]), tensor('at', INTS, [])],
                      [tensor('y', FLOATS, None), tensor('n', INTS, []), sequence('more')])
        for sizes, at in (([1, 2, 3], 1), ([4, 1, 1], -1), ([2, 2, 2], 0)):
            self.beside(proto, {'x': x, 'sizes': np.array(sizes), 'at': np.array(at)})

    def test_as_inputs(self):
        nodes = [helper.make_node('SequenceAt', ['s', 'at'], ['one']), helper.make_node('SequenceLength', ['s'], ['n'])]
        proto = model(nodes, [sequence('s', FLOATS, [None, 2]), tensor('at', INTS, [])],
                      [tensor('one', FLOATS, None), tensor('n', INTS, [])])
        parts = [np.ones((1, 2), np.float32), np.zeros((3, 2), np.float32)]
        self.beside(proto, {'s': parts, 'at': np.array(1)})
        engine = tenfold.build(proto.SerializeToString(), **QUICK)
        with self.assertRaisesRegex(tenfold.errors.InvalidArgument, "input 's'"):
            engine({'s': parts[0], 'at': np.array(0)})
        with self.assertRaisesRegex(tenfold.errors.InvalidArgument, "input 's'.*element 0"):
            engine({'s': [np.array(['a'])], 'at': np.array(0)})
        with self.assertRaisesRegex(tenfold.Error, 'place 5'):
            engine({'s': parts, 'at': np.array(5)})


class Optionals(Values):
    def test_something_or_nothing(self):
        held = helper.make_optional_type_proto(helper.make_tensor_type_proto(FLOATS, [2]))
        nodes = [helper.make_node('OptionalHasElement', ['o'], ['there'])]
        proto = model(nodes, [helper.make_value_info('o', held)], [tensor('there', TensorProto.BOOL, [])], opset=18)
        engine = tenfold.build(proto.SerializeToString(), **QUICK)
        self.assertEqual(engine(np.ones(2, np.float32)), True)
        self.assertEqual(engine({'o': None}), False)
        nodes = [helper.make_node('OptionalGetElement', ['o'], ['y'])]
        proto = model(nodes, [helper.make_value_info('o', held)], [tensor('y', FLOATS, [2])], opset=18)
        engine = tenfold.build(proto.SerializeToString(), **QUICK)
        self.same(engine(np.ones(2, np.float32)), np.ones(2))
        with self.assertRaisesRegex(tenfold.Error, 'holds nothing'):
            engine({'o': None})


def trees(prefix, ids, weights, **attributes):
    """Two trees of two levels."""
    return dict(nodes_treeids=[0, 0, 0, 0, 0, 1, 1, 1], nodes_nodeids=[0, 1, 2, 3, 4, 0, 1, 2], nodes_featureids=[0, 1, 0, 0, 0, 1, 0, 0],
                nodes_modes=['BRANCH_LEQ', 'BRANCH_LT', 'LEAF', 'LEAF', 'LEAF', 'BRANCH_GT', 'LEAF', 'LEAF'],
                nodes_values=[0.5, -0.25, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], nodes_truenodeids=[1, 3, 0, 0, 0, 1, 0, 0],
                nodes_falsenodeids=[2, 4, 0, 0, 0, 2, 0, 0], nodes_missing_value_tracks_true=[1, 0, 0, 0, 0, 0, 0, 0],
                **{f'{prefix}_treeids': [0, 0, 0, 1, 1], f'{prefix}_nodeids': [2, 3, 4, 1, 2], f'{prefix}_ids': ids,
                   f'{prefix}_weights': weights}, **attributes)


ROWS = np.array([[0.1, 0.2], [0.9, -1.0], [0.5, -0.25], [-3.0, 4.0], [np.nan, -0.5]], np.float32)


class MachineLearning(Values):
    def test_tree_regressor(self):
        for how in ('SUM', 'AVERAGE', 'MIN', 'MAX'):
            node = ml_node('TreeEnsembleRegressor', ['x'], ['y'],
                           **trees('target', [0, 0, 0, 1, 1], [1.0, 2.0, -3.5, 0.25, 4.0], n_targets=2, aggregate_function=how,
                                   base_values=[0.5, 1.0]))   # ONNX Runtime forgets the base of targets that no leaf speaks of
            with self.subTest(how=how):
                self.beside(model([node], [tensor('x', FLOATS, ['n', 2])], [tensor('y', FLOATS, ['n', 2])]), {'x': ROWS})

    def test_tree_classifier(self):
        cases = [([0, 1, 2, 1, 0], [.3, .4, .5, .1, .2], ['no', 'yes', 'perhaps']),
                 ([0, 0, 0, 0, 0], [.3, .4, .5, .1, .2], ['no', 'yes']), ([0, 0, 0, 0, 0], [.3, -.4, .5, -.1, .2], ['no', 'yes'])]
        for ids, weights, labels in cases:
            for post in ('NONE', 'LOGISTIC', 'SOFTMAX'):
                if post == 'SOFTMAX' and len(set(ids)) == 1:
                    continue   # ONNX Runtime leaves such pairs as they are, the standard's reference does not
                for kind in ({'classlabels_strings': labels}, {'classlabels_int64s': [10, 20, 30][:len(labels)]}):
                    node = ml_node('TreeEnsembleClassifier', ['x'], ['label', 'p'],
                                   **trees('class', ids, weights, post_transform=post, **kind))
                    zip_map = ml_node('ZipMap', ['p'], ['maps'], **kind)
                    label = tensor('label', STRINGS if 'classlabels_strings' in kind else INTS, ['n'])
                    key = STRINGS if 'classlabels_strings' in kind else INTS
                    maps = helper.make_value_info('maps', helper.make_sequence_type_proto(
                        helper.make_map_type_proto(key, helper.make_tensor_type_proto(FLOATS, []))))
                    with self.subTest(ids=ids, weights=weights, post=post, kind=kind):
                        self.beside(model([node, zip_map], [tensor('x', FLOATS, ['n', 2])], [label, maps]), {'x': ROWS})

    def test_label_encoder(self):
        words = np.array(['a', 'c', 'b', 'zzz'], dtype=object)
        node = ml_node('LabelEncoder', ['x'], ['y'], keys_strings=['a', 'b', 'c'], values_int64s=[1, 2, 3], default_int64=-5)
        self.beside(model([node], [tensor('x', STRINGS, ['n'])], [tensor('y', INTS, ['n'])]), {'x': words})
        node = ml_node('LabelEncoder', ['x'], ['y'], keys_int64s=[1, 2], values_strings=['one', 'two'], default_string='?')
        self.beside(model([node], [tensor('x', INTS, ['n'])], [tensor('y', STRINGS, ['n'])]), {'x': np.array([2, 1, 9])})
        node = ml_node('LabelEncoder', ['x'], ['y'], keys_floats=[1.5, 2.5], values_floats=[10.0, 20.0], default_float=7.0)
        self.beside(model([node], [tensor('x', FLOATS, ['n'])], [tensor('y', FLOATS, ['n'])]), {'x': np.array([2.5, 1.5, 0], np.float32)})

    def test_preparation(self):
        x = np.array([[1.0, -2.0, 4.0], [0.5, 0.25, 0.0]], np.float32)
        for node in (ml_node('Scaler', ['x'], ['y'], offset=[1.0, 0.0, 2.0], scale=[2.0, 0.5, -1.0]),
                     ml_node('Normalizer', ['x'], ['y'], norm='L1'), ml_node('Normalizer', ['x'], ['y'], norm='L2'),
                     ml_node('Binarizer', ['x'], ['y'], threshold=0.3),
                     ml_node('LinearRegressor', ['x'], ['y'], coefficients=[1.0, 2.0, 3.0], intercepts=[0.5])):
            with self.subTest(op=node.op_type):
                self.beside(model([node], [tensor('x', FLOATS, ['n', 3])], [tensor('y', FLOATS, None)]), {'x': x})

    def test_categories(self):
        node = ml_node('OneHotEncoder', ['x'], ['y'], cats_strings=['a', 'b'], zeros=1)
        self.beside(model([node], [tensor('x', STRINGS, ['n'])], [tensor('y', FLOATS, None)]),
                    {'x': np.array(['b', 'q', 'a'], dtype=object)})

    def test_dictionaries(self):
        node = ml_node('DictVectorizer', ['x'], ['y'], string_vocabulary=['a', 'b', 'c'])
        words = helper.make_value_info('x', helper.make_map_type_proto(STRINGS, helper.make_tensor_type_proto(FLOATS, [])))
        self.beside(model([node], [words], [tensor('y', FLOATS, None)]), {'x': {'c': 2.5, 'a': 1.0, 'q': 9.0}})

    def test_what_is_wrong_is_named(self):
        bad = trees('target', [0, 0, 0, 0, 0], [1.0] * 5)
        bad['nodes_truenodeids'] = [7, 3, 0, 0, 0, 1, 0, 0]
        proto = model([ml_node('TreeEnsembleRegressor', ['x'], ['y'], **bad)], [tensor('x', FLOATS, ['n', 2])],
                      [tensor('y', FLOATS, ['n', 1])])
        with self.assertRaisesRegex(tenfold.Error, 'tree 0 has no node 7'):
            tenfold.build(proto.SerializeToString(), **QUICK)


if __name__ == '__main__':
    unittest.main()
