"""Operators of ai.onnx.ml beside ONNX Runtime: linear models, support vectors, tables and imputation, with every element type."""
import itertools
import unittest

import numpy as np
import onnxruntime
from case import Case, TensorProto, helper

import tenfold.onnxruntime

RANDOM = np.random.default_rng(0)
NUMBERS = (np.float32, np.float64, np.int64, np.int32)


def floats(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def listed(array):
    return array.ravel().tolist()


class ClassicModels(Case):
    def sessions(self, op, operands, outputs, attributes, engines=2):
        kinds = {np.dtype(object): TensorProto.STRING}
        names = [f'x{i}' for i in range(len(operands))]
        out = [f'y{i}' for i in range(outputs)]
        graph = helper.make_graph(
            [helper.make_node(op, names, out, domain='ai.onnx.ml', **attributes)], 'g',
            [helper.make_tensor_value_info(n, kinds.get(a.dtype) or helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
             for n, a in zip(names, operands)], [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in out])
        for o in graph.output:
            o.ClearField('type')
        proto = helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid('', 17), helper.make_opsetid('ai.onnx.ml', 1)])
        feeds = dict(zip(names, operands))
        for engine, options in ((onnxruntime, {}), (tenfold.onnxruntime, {'tune': 'never', 'tf32': False}))[-engines:]:
            yield engine.InferenceSession(proto.SerializeToString(), providers=['CPUExecutionProvider'], **options).run(None, feeds)

    def ours(self, op, operands, **attributes):
        *_, ours = self.sessions(op, operands, 1, attributes, engines=1)
        return ours[0]

    def compare(self, op, operands, outputs=1, **attributes):
        theirs, ours = self.sessions(op, operands, outputs, attributes)
        for a, b in zip(ours, theirs):
            if np.asarray(b).dtype == object:
                self.assertEqual(np.asarray(a).tolist(), np.asarray(b).tolist())
            else:
                self.assertEqual((a.dtype, a.shape), (b.dtype, b.shape))
                np.testing.assert_allclose(a, b, rtol=2e-4, atol=1e-5)

    def test_linear_classifier(self):
        for dtype in NUMBERS:
            x = (floats(9, 4) * 3).astype(dtype)
            for post, classes in itertools.product(('NONE', 'SOFTMAX', 'LOGISTIC', 'SOFTMAX_ZERO'), (2, 3, 4)):
                with self.subTest(post, classes=classes, dtype=dtype.__name__):
                    self.compare('LinearClassifier', [x], 2, coefficients=listed(floats(classes, 4)), intercepts=listed(floats(classes)),
                                 post_transform=post, classlabels_ints=list(range(10, 10 + classes)))
        x = floats(9, 4)
        for post in ('NONE', 'LOGISTIC', 'SOFTMAX', 'SOFTMAX_ZERO'):   # one row of coefficients for two labels
            with self.subTest(post):
                self.compare('LinearClassifier', [x], 2, coefficients=listed(floats(4)), intercepts=[0.25], post_transform=post,
                             classlabels_strings=['no', 'yes'])

    def test_support_vector_regressor(self):
        vectors = floats(5, 3)
        for kind, one_class in itertools.product(('LINEAR', 'POLY', 'RBF', 'SIGMOID'), (0, 1)):
            with self.subTest(kind, one_class=one_class):
                self.compare('SVMRegressor', [floats(8, 3)], kernel_type=kind, kernel_params=[0.5, 0.25, 2.0], n_supports=5,
                             support_vectors=listed(vectors), coefficients=listed(floats(5)), rho=[0.1], one_class=one_class)
        self.compare('SVMRegressor', [floats(8, 3)], coefficients=listed(floats(3)), rho=[0.3], n_supports=0,
                     kernel_params=[0.0, 0.0, 0.0])

    def test_support_vector_classifier(self):
        for kind, classes, post in itertools.product(('LINEAR', 'RBF'), (2, 3, 4), ('NONE', 'SOFTMAX', 'LOGISTIC')):
            each = [2, 3, 1, 2][:classes]
            pairs, count = classes * (classes - 1) // 2, sum(each)
            common = dict(kernel_type=kind, kernel_params=[0.5, 0.25, 2.0], vectors_per_class=each,
                          support_vectors=listed(floats(count, 3)), coefficients=listed(floats(classes - 1, count)),
                          rho=listed(floats(pairs)), post_transform=post)
            for more in ({}, {'prob_a': listed(-np.abs(floats(pairs))), 'prob_b': listed(floats(pairs))}):
                with self.subTest(kind, classes=classes, post=post, probabilities=bool(more)):
                    self.compare('SVMClassifier', [floats(9, 3)], 2, classlabels_ints=list(range(5, 5 + classes)), **common, **more)
            self.compare('SVMClassifier', [floats(9, 3)], 2, classlabels_strings=['a', 'b', 'c', 'd'][:classes], **common)
        for classes, positive in ((3, False), (2, False), (2, True)):   # without vectors
            weights = floats(classes, 3)
            with self.subTest('products', classes=classes, positive=positive):
                self.compare('SVMClassifier', [floats(9, 3)], 2, classlabels_ints=list(range(classes)), rho=[0.2], kernel_params=[0.0] * 3,
                             coefficients=listed(np.abs(weights) if positive else weights))

    def test_imputer(self):
        x = np.array([[1, np.nan, 3], [np.nan, 5, -1]])
        gone, one = dict(imputed_value_floats=[7.0, 8.0, 9.0], replaced_value_float=float('nan')), np.array([[1, 2], [3, 1]])
        self.compare('Imputer', [x.astype(np.float32)], **gone)
        self.compare('Imputer', [x.astype(np.float32)], imputed_value_floats=[7.5], replaced_value_float=-1.0)
        # Types that ONNX Runtime has no kernel for.
        np.testing.assert_array_equal(self.ours('Imputer', [x], **gone), np.where(np.isnan(x), [[7.0, 8, 9]], x))
        np.testing.assert_array_equal(
            self.ours('Imputer', [one.astype(np.int32)], imputed_value_int64s=[5, 6], replaced_value_int64=1), [[5, 2], [3, 6]])
        self.compare('Imputer', [np.array([[1, 2], [3, 1]])], imputed_value_int64s=[5, 6], replaced_value_int64=1)

    def test_category_mapper(self):
        attributes = dict(cats_int64s=[3, 5, 7], cats_strings=['c', 'e', 'g'], default_int64=-9, default_string='none')
        self.compare('CategoryMapper', [np.array([['g', 'x'], ['c', 'e']], object)], **attributes)
        self.compare('CategoryMapper', [np.array([[5, 1, 3]], np.int64)], **attributes)

    def test_feature_vectorizer(self):
        for dtype in NUMBERS:
            operands = [(floats(3, n) * 9).astype(dtype) for n in (2, 1, 3)]
            self.compare('FeatureVectorizer', operands, inputdimensions=[2, 1, 3])
        self.compare('FeatureVectorizer', [floats(3, 4), floats(3, 2)], inputdimensions=[2, 2])

    def test_cast_map(self):
        for form, cast in itertools.product(('DENSE', 'SPARSE'), ('TO_FLOAT', 'TO_INT64', 'TO_STRING')):
            value = helper.make_map_type_proto(TensorProto.INT64, helper.make_tensor_type_proto(TensorProto.FLOAT, []))
            node = helper.make_node('CastMap', ['x'], ['y'], domain='ai.onnx.ml', map_form=form, cast_to=cast, max_map=6)
            graph = helper.make_graph([node], 'g', [helper.make_value_info('x', value)],
                                      [helper.make_tensor_value_info('y', TensorProto.FLOAT, None)])
            graph.output[0].ClearField('type')
            proto = helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid('', 17),
                                                                          helper.make_opsetid('ai.onnx.ml', 1)]).SerializeToString()
            feeds = {'x': {4: 2.5, 0: -1.0, 3: 7.0}}
            with self.subTest(form, cast=cast):
                theirs = onnxruntime.InferenceSession(proto, providers=['CPUExecutionProvider']).run(None, feeds)[0]
                ours = tenfold.onnxruntime.InferenceSession(proto, providers=['CPUExecutionProvider'], tune='never').run(None, feeds)[0]
                if cast == 'TO_STRING':
                    numbers = lambda a: [[v if v == '0.f' else float(v) for v in row] for row in np.asarray(a).tolist()]
                    self.assertEqual(numbers(ours), numbers(theirs))
                else:
                    np.testing.assert_array_equal(ours, theirs)
                    self.assertEqual(ours.dtype, theirs.dtype)

    def test_what_is_refused(self):
        x = floats(2, 3)
        for op, attributes, why in (
                ('LinearClassifier', {'coefficients': [1.0] * 4, 'classlabels_ints': [0, 1], 'intercepts': [0.0] * 3},
                 '4 coefficients for 3'),
                ('SVMRegressor', {'coefficients': [1.0], 'rho': [0.0], 'n_supports': 2, 'support_vectors': [1.0] * 6},
                 '1 coefficients for 2'),
                ('SVMClassifier', {'coefficients': [1.0], 'rho': [0.0], 'classlabels_ints': [0, 1], 'vectors_per_class': [1, 1],
                                   'support_vectors': [1.0] * 6}, '1 coefficients and 1 of rho'),
                ('SVMRegressor', {'coefficients': [1.0] * 3, 'rho': [0.0], 'kernel_type': 'WAVE'}, "kernel_type is 'WAVE'")):
            with self.subTest(op), self.assertRaisesRegex(Exception, why):
                graph = helper.make_graph([helper.make_node(op, ['x'], ['y'], domain='ai.onnx.ml', **attributes)], 'g',
                                          [helper.make_tensor_value_info('x', TensorProto.FLOAT, x.shape)],
                                          [helper.make_tensor_value_info('y', TensorProto.FLOAT, None)])
                opsets = [helper.make_opsetid('', 17), helper.make_opsetid('ai.onnx.ml', 1)]
                proto = helper.make_model(graph, ir_version=9, opset_imports=opsets)
                tenfold.onnxruntime.InferenceSession(proto.SerializeToString(), providers=['CPUExecutionProvider'], tune='never')


if __name__ == '__main__':
    unittest.main()
