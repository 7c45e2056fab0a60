"""Operators written in Python, on the CPU: references, types, graphs and libraries. The truth is NumPy's."""
import pickle
import unittest

import numpy as np
from case import QUICK, TensorProto, batch, helper, numpy_helper
from plugins_case import DOMAIN, PROFILE_OF_SIX, Plugged, build, model_of, snake_truth

import tenfold
from tenfold import plugins


class References(Plugged):
    def test_a_model_that_uses_one(self):
        self.snake()
        engine = build(model_of('Snake', alpha=0.5))
        for rows in (1, 5):
            self.near(engine(batch(rows)), snake_truth(batch(rows), 0.5))
        self.near(build(model_of('Snake'))(batch()), snake_truth(batch(), 1.0))

    def test_plans_need_it_and_name_it(self):
        snake = self.snake()
        engine = build(model_of('Snake'))
        engine.save(self.path('m.plan'))
        self.near(tenfold.load(self.path('m.plan'))(batch()), snake_truth(batch(), 1.0))
        self.near(pickle.loads(pickle.dumps(engine))(batch()), snake_truth(batch(), 1.0))
        plugins.forget(snake)
        self.refused(tenfold.Error, 'com.example', tenfold.load, self.path('m.plan'))
        self.refused(tenfold.Error, 'Snake', build, model_of('Snake'))
        self.near(engine(batch()), snake_truth(batch(), 1.0))
        self.snake(version=2)
        self.refused(tenfold.PlanRefused, 'version', tenfold.load, self.path('m.plan'))
        with self.assertRaises(KeyError):
            plugins.forget('com.example::Other')

    def test_sets_of_ones_own(self):
        snake = self.snake()
        plugins.forget(snake)
        mine = tenfold.Plugins()
        mine.add(snake)
        self.refused(tenfold.InvalidArgument, 'Snake', mine.add, snake)
        self.near(build(model_of('Snake'), plugins=mine)(batch()), snake_truth(batch(), 1.0))

    def test_networks_and_sessions(self):
        self.snake()
        net = tenfold.Network()
        net.output(net.Snake(net.input('x', 'f32', ['batch', 6]), domain=DOMAIN, alpha=2.0), 'y')
        self.near(tenfold.build(net, profiles={'x': PROFILE_OF_SIX}, **QUICK)(batch()), snake_truth(batch(), 2.0))
        session = tenfold.Session(model_of('Snake').SerializeToString(), providers=['CPUExecutionProvider'], tune='never')
        self.near(session.run(None, {'x': batch(3)})[0], snake_truth(batch(3), 1.0))

    def test_constants_are_folded(self):
        requested = []

        @plugins.op('com.example::Counted')
        def counted(x):
            requested.append(x.shape)
            return x + 1
        made = model_of('Counted', inputs=('w',))
        del made.graph.input[:]
        made.graph.initializer.append(numpy_helper.from_array(batch(), 'w'))
        made.graph.output[0].type.tensor_type.shape.dim[0].dim_value = 4
        engine = tenfold.build(made, **QUICK)
        before = len(requested)
        self.assertGreater(before, 0)
        self.near(engine({}), batch() + 1)
        self.assertEqual(len(requested), before)

    def test_optional_operands_several_results_and_other_types(self):
        @plugins.op('com.example::Split', outputs=2, at=2, words=['a'])
        def split(x, shift=None, *, at, words):
            assert words == ['b', 'c']
            moved = x if shift is None else x + shift
            return moved[:, :at], moved[:, at:].astype(np.int32)

        @split.infer
        def _(x, shift=None, *, at, words):
            self.assertEqual((x.min[1], x.max[1]), (6, 6))
            return plugins.Type(x.dtype, (x.dims[0], at)), plugins.Type(np.int32, (x.dims[0], x.dims[1] - at))
        outputs = ('a', TensorProto.FLOAT, ['batch', 4]), ('b', TensorProto.INT32, ['batch', 2])
        for inputs, expected in ((('x',), batch()), (('x', 'x'), 2 * batch())):
            found = build(model_of('Split', inputs, outputs, at=4, words=['b', 'c']))({'x': batch()})
            self.near(found['a'], expected[:, :4])
            np.testing.assert_array_equal(found['b'], expected[:, 4:].astype(np.int32))

    def test_any_number_of_operands(self):
        @plugins.op('com.example::Sum')
        def total(*xs):
            return sum(xs)
        self.near(build(model_of('Sum', ('x', 'z', 'x')))({'x': batch(), 'z': batch(seed=2)}), 2 * batch() + batch(seed=2))

    def test_sizes_that_only_the_run_knows(self):
        @plugins.op('com.example::Positive')
        def positive(x):
            return x[x > 0]

        @positive.infer
        def _(x):
            return plugins.Type(x.dtype, (f'found <= {x.dims[0]}*{x.dims[1]}',))
        engine = build(model_of('Positive', outputs=(('y', TensorProto.FLOAT, ['found']),)))
        for rows in (1, 7):
            x = batch(rows)
            self.near(engine(x), x[x > 0])

    def test_contents_of_small_tensors(self):
        @plugins.op('com.example::Pick')
        def pick(x, which):
            return x[:, which]

        @pick.infer
        def _(x, which):
            if which.contents is None:
                raise NotImplementedError('the numbers are not known')
            self.assertEqual((which.contents, which.constant), ((3, 1), True))
            return plugins.Type(x.dtype, (x.dims[0], len(which.contents)))
        made = model_of('Pick', ('x', 'w'), (('y', TensorProto.FLOAT, ['batch', 2]),))
        del made.graph.input[1]
        made.graph.initializer.append(helper.make_tensor('w', TensorProto.INT64, [2], [3, 1]))
        self.near(build(made)(batch()), batch()[:, [3, 1]])


    def test_calling_one_calls_the_reference(self):
        snake = self.snake()
        for found in (snake(batch(), 0.5), snake(batch(), alpha=0.5)):
            self.near(found, snake_truth(batch(), 0.5))
        self.near(snake(batch()), snake_truth(batch(), 1.0))


class Graphs(Plugged):
    def test_it_fuses_and_plans_do_not_need_it(self):
        @plugins.graph('com.example::Scaled', factor=2.0)
        def scaled(x, factor):
            if factor == 0:
                raise ValueError('the factor is zero')
            return 'k = f32[]{$factor}\ny = Mul(in0, k)\nreturn y'
        engine = build(model_of('Scaled', factor=3.0))
        engine.save(self.path('m.plan'))
        plugins.forget(scaled)
        self.near(tenfold.load(self.path('m.plan'))(batch()), 3 * batch())
        plugins._registry.register(scaled)
        self.refused(tenfold.InvalidModel, 'the factor is zero', build, model_of('Scaled', factor=0.0))


class Libraries(Plugged):
    def test_what_is_none(self):
        with open(self.path('no.so'), 'w') as f:
            f.write('no library')
        self.refused(tenfold.FileError, 'no.so', plugins.load, self.path('no.so'))


if __name__ == '__main__':
    unittest.main()
