"""State that a context keeps from run to run, and memory for shapes: beside the same sums in NumPy."""
import unittest

import numpy as np
from onnx import TensorProto, helper, numpy_helper

import tenfold
from case import QUICK, Case, model

FLOAT = TensorProto.FLOAT


def running_sum():
    """y = s + x, of four numbers."""
    return tenfold.build(model([helper.make_node('Add', ['s', 'x'], ['y'])], [('s', FLOAT, [4]), ('x', FLOAT, [4])],
                               [('y', FLOAT, [4])]).SerializeToString(), **QUICK)


def growing_cache():
    """y = p and x behind it, of up to eight rows."""
    return tenfold.build(model([helper.make_node('Concat', ['p', 'x'], ['y'], axis=0)], [('p', FLOAT, ['n', 2]), ('x', FLOAT, [1, 2])],
                               [('y', FLOAT, ['m', 2])]).SerializeToString(), profiles={'p': ([0, 2], [4, 2], [7, 2])}, **QUICK)


class StatesTest(Case):
    x = np.arange(1, 5, dtype=np.float32)

    def test_a_sum_goes_on(self):
        for in_place in (True, False):
            for state_first in (True, False):
                c = running_sum().create_context()
                if state_first:
                    c.bind_state('y', 's', in_place=in_place)
                c.bind('x', self.x)
                if not state_first:
                    c.bind_state('y', 's', in_place=in_place)
                np.testing.assert_array_equal(c.read_state('s'), np.zeros(4))
                for i in range(1, 5):
                    c.run()
                    np.testing.assert_array_equal(c.read_state('s'), i * self.x)
                    np.testing.assert_array_equal(c.outputs()['y'], i * self.x)
                    np.testing.assert_array_equal(c.output('y'), i * self.x)

    def test_it_is_written_and_cleared(self):
        c = running_sum().create_context()
        c.bind('x', self.x)
        c.bind_state('y', 's')
        for start in (np.full(4, 100, np.float32), np.full((4, 3), 7, np.float32)[:, 1]):   # the second one with gaps
            c.write_state('s', start)
            c.run()
            np.testing.assert_array_equal(c.read_state('s'), start + self.x)
        c.clear_state('s')
        c.enqueue()
        c.wait()
        np.testing.assert_array_equal(c.read_state('s'), self.x)
        c.profile_run()
        np.testing.assert_array_equal(c.read_state('s'), 2 * self.x)

    def test_binding_ends_it(self):
        c = running_sum().create_context()
        c.bind('x', self.x)
        c.bind_state('y', 's')
        c.run()
        y = np.empty(4, np.float32)
        c.bind('y', y)
        with self.assertRaisesRegex(tenfold.InvalidArgument, "input 's' has no state: bind_state"):
            c.read_state('s')
        c.bind('s', self.x)
        c.run()
        np.testing.assert_array_equal(y, 2 * self.x)
        c.bind_state('y', 's')   # and begins anew
        c.run()
        np.testing.assert_array_equal(c.read_state('s'), self.x)

    def test_its_shape_is_the_output_s(self):
        c = growing_cache().create_context()
        x = np.zeros((1, 2), np.float32)
        c.bind('x', x)
        c.bind_state('y', 'p')
        c.set_shape('p', (0, 2))
        self.assertEqual(c.read_state('p').shape, (0, 2))
        for i in range(1, 8):
            x[:] = i
            c.run()
            np.testing.assert_array_equal(c.read_state('p'), np.repeat(np.arange(1, i + 1), 2).reshape(i, 2))
        c.write_state('p', np.full((3, 2), 9, np.float32))
        self.assertEqual(c.read_state('p').shape, (3, 2))
        c.run()
        np.testing.assert_array_equal(c.read_state('p'), [[9, 9], [9, 9], [9, 9], [7, 7]])

    def test_what_cannot_be(self):
        c = running_sum().create_context()
        c.bind('x', self.x)
        with self.assertRaisesRegex(tenfold.InvalidArgument, "input 'x' has no state"):
            c.clear_state('x')
        for pair in (('s', 'y'), ('y', 'y'), ('s', 'x')):
            with self.assertRaises(tenfold.InvalidArgument):
                c.bind_state(*pair)
        c.bind_state('y', 's')
        with self.assertRaisesRegex(tenfold.InvalidArgument, 'float64 is given'):
            c.write_state('s', np.zeros(4))
        with self.assertRaisesRegex(tenfold.InvalidArgument, r'an array of \[5\] is given'):
            c.write_state('s', np.zeros(5, np.float32))
        c.run()
        np.testing.assert_array_equal(c.read_state('s'), self.x)


class ArenaBytesTest(Case):
    def test_shapes(self):
        nodes = [helper.make_node('MatMul', ['x', 'w'], ['a']), helper.make_node('Softmax', ['a'], ['b']),
                 helper.make_node('MatMul', ['b', 'w'], ['y'])]
        w = numpy_helper.from_array(np.zeros((1000, 1000), np.float32), 'w')
        engine = tenfold.build(model(nodes, [('x', FLOAT, ['n', 1000])], [('y', FLOAT, ['n', 1000])], [w]).SerializeToString(),
                               profiles={'x': ([1, 1000], [8, 1000], [64, 1000])}, tf32=False, **QUICK)
        largest = engine.arena_bytes()
        self.assertEqual(engine.arena_bytes(shapes={'x': (64, 1000)}), largest)
        self.assertLess(engine.arena_bytes(0, {'x': (1, 1000)}), largest)
        with self.assertRaisesRegex(tenfold.InvalidArgument, "input 'x' has a dynamic shape"):
            engine.arena_bytes(shapes={})
        with self.assertRaisesRegex(tenfold.InvalidArgument, "shapes are those of inputs"):
            engine.arena_bytes(shapes={'x': (1, 1000), 'y': (1, 1000)})
        with self.assertRaises(tenfold.Error):
            engine.arena_bytes(shapes={'x': (65, 1000)})


if __name__ == '__main__':
    unittest.main()
