"""Predictor called by itself: columns, pieces, types, and what is wrong with them. No Ray is started."""
import pickle
import unittest

import numpy as np

from ray_case import LEVEL, Case, TensorProto, batch, helper, maps, model, numpy_helper, onnx, tanh_model, truth

import tenfold
from tenfold.ray import Predictor

CPU = dict(device='cpu', threads=1, **LEVEL)


class Rows(Case):
    def setUp(self):
        super().setUp()
        onnx.save(tanh_model(), self.path('m.onnx'))
        self.predictor = Predictor(self.path('m.onnx'), batch_size=4, plan_cache=self.path('cache'), **CPU)

    def test_any_number_of_rows_and_other_columns(self):
        for rows in (1, 3, 4, 5, 11):
            x = batch(rows, rows)
            found = self.predictor({'x': x, 'id': np.arange(rows)})
            self.assertEqual(list(found), ['id', 'y'])
            self.near(found['y'], truth(x))
            np.testing.assert_array_equal(found['id'], np.arange(rows))

    def test_no_rows(self):
        found = self.predictor({'x': batch(0), 'id': np.arange(0)})
        self.assertEqual((found['y'].shape, found['y'].dtype), ((0, 4), np.float32))
        self.assertEqual(self.predictor({}), {})

    def test_names_and_types(self):
        one = Predictor(self.path('m.onnx'), inputs={'x': 'image'}, outputs={'y': 'score'}, keep=['id', 'image'], plan_cache=False, **CPU)
        x = batch(3)
        found = one({'image': x.astype(np.float64), 'id': np.arange(3), 'rest': np.arange(3)})
        self.assertEqual(list(found), ['id', 'image', 'score'])
        self.near(found['score'], truth(x))
        self.near(self.predictor({'item': x})['y'], truth(x))                   # the only column is the only input's
        rows = np.empty(3, object)
        rows[:] = list(x)
        self.near(self.predictor({'x': rows})['y'], truth(x))

    def test_wrong_columns(self):
        wrong = lambda words, rows, predictor=self.predictor: self.refused((tenfold.InvalidArgument, ValueError), words, predictor, rows)
        wrong(["input 'x'", "'a', 'b'", 'inputs='], {'a': batch(), 'b': batch()})
        wrong(["rows of the column 'x' are [5]", "'x' are [6]"], {'x': np.zeros((2, 5), np.float32)})
        wrong(["'x' is complex64", 'takes float32'], {'x': batch().astype(np.complex64)})
        odd = np.empty(2, object)
        odd[:] = [np.zeros(6, np.float32), np.zeros(5, np.float32)]
        wrong(['row 0 is [6], row 1 is [5]'], {'x': odd})
        odd[1] = None
        wrong(["row 1"], {'x': odd})
        wrong(["a column 'y'", 'keep='], {'x': batch(), 'y': np.zeros(4)})
        wrong(['keep', "'z'", "'x'"], {'x': batch()}, Predictor(self.path('m.onnx'), keep='z', plan_cache=False, **CPU))
        wrong(['list', "batch_format='numpy'"], [batch()])

    def test_wrong_arguments(self):
        self.refused(TypeError, ['path=', 'fn_constructor_kwargs'], Predictor)
        self.refused(tenfold.FileError, ["'/nowhere/m.onnx'", 'this machine', 'each node'], Predictor('/nowhere/m.onnx').open)
        self.refused(tenfold.InvalidArgument, 'batch_size is 0', Predictor, 'm.onnx', batch_size=0)
        self.refused(tenfold.InvalidArgument, 'threads is 0', Predictor(self.path('m.onnx'), threads=0).open)
        self.refused(TypeError, ['fp16', 'a plan is built already'], Predictor, 'm.plan', fp16=True)
        self.refused(tenfold.InvalidArgument, ["outputs has 'z'", "'y'"],
                     Predictor(self.path('m.onnx'), outputs={'z': 'a'}, plan_cache=False, **CPU).open)

    def test_it_is_pickled_by_its_path(self):
        self.predictor({'x': batch()})
        data = pickle.dumps(self.predictor)
        self.assertLess(len(data), 1000)
        x = batch(7, 3)
        self.near(pickle.loads(data)({'x': x})['y'], truth(x))

    def test_plans_and_models_of_fixed_rows(self):
        tenfold.build(self.path('m.onnx'), profiles={'x': ([3, 6], [3, 6], [4, 6])}, **LEVEL, device='cpu').save(self.path('m.plan'))
        weights = numpy_helper.from_array(np.full((6, 4), 0.1, np.float32), 'w')
        fixed = model([helper.make_node('MatMul', ['x', 'w'], ['y'])], [('x', TensorProto.FLOAT, [3, 6])],
                      [('y', TensorProto.FLOAT, [3, 4])], [weights])
        onnx.save(fixed, self.path('fixed.onnx'))
        for rows in (1, 3, 8):
            x = batch(rows)
            self.near(Predictor(self.path('m.plan'), device='cpu')({'x': x})['y'], truth(x))
            self.near(Predictor(self.path('fixed.onnx'), plan_cache=False, **CPU)({'x': x})['y'], x @ np.full((6, 4), 0.1))

    def test_more_than_rows_is_open(self):
        open_ = model([helper.make_node('Relu', ['x'], ['y'])], [('x', TensorProto.FLOAT, ['n', 'm'])],
                      [('y', TensorProto.FLOAT, ['n', 'm'])])
        onnx.save(open_, self.path('open.onnx'))
        self.refused(tenfold.InvalidArgument, ["'x'", '[?, ?]', 'profiles='], Predictor(self.path('open.onnx'), **CPU).open)
        one = Predictor(self.path('open.onnx'), profiles={'x': ([1, 1], [2, 8], [4, 9])}, plan_cache=False, **CPU)
        x = batch(6)
        self.near(one({'x': x})['y'], np.maximum(x, 0))

    def test_outputs_without_rows(self):
        summed = model([helper.make_node('ReduceSum', ['x'], ['y'], keepdims=0)], [('x', TensorProto.FLOAT, ['n', 6])],
                       [('y', TensorProto.FLOAT, [])])
        onnx.save(summed, self.path('sum.onnx'))
        self.refused(tenfold.InvalidArgument, ["'y'", 'no row'], Predictor(self.path('sum.onnx'), plan_cache=False, **CPU), {'x': batch()})

    def test_weights_are_pages_of_the_plan(self):
        self.predictor.open()
        self.assertTrue(maps(self.path('cache')))   # also in the process that built it
        self.predictor.check()


if __name__ == '__main__':
    unittest.main()
