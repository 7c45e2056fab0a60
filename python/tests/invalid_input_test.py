"""Data of a run that no step can compute with: an InvalidInput that names step and value, never an Internal, which means a bug."""
import unittest

import numpy as np
from case import QUICK, Case, TensorProto, helper, model

import tenfold

F, I = TensorProto.FLOAT, TensorProto.INT64
X = np.arange(12, dtype=np.float32).reshape(3, 4)
# operator, shape of its second operand, what works, what does not
NODES = [
    ('Tile', 2, [1, 2], [-1, 1]), ('Expand', 3, [2, 3, 4], [2, 2, 4]), ('Reshape', 2, [4, 3], [5, 3]), ('Unsqueeze', 1, [0], [7]),
    ('ReduceSum', 1, [1], [2]), ('ReduceMax', 1, [0], [-3]), ('CenterCropPad', 2, [2, 2], [-1, 2]), ('Pad', 4, [1, 1, 1, 1], [-9, 0, 0, 0]),
    ('Gather', 2, [0, 2], [0, 3]), ('CumSum', 0, 1, 5),
]


class InvalidInputs(Case):
    def test_sizes_axes_and_indices(self):
        for op, length, good, bad in NODES:
            shape = [length] if length else []
            node = model([helper.make_node(op, ['x', 'd'], ['y'], name='the_node')], [('x', F, [3, 4]), ('d', I, shape)],
                         [('y', F, None)])
            with self.subTest(op):
                try:
                    engine = tenfold.build(node, **QUICK)
                except tenfold.Unsupported:   # the rank of its result is in the data
                    self.assertEqual(op, 'Unsqueeze')
                    continue
                good, bad = np.array(good, np.int64), np.array(bad, np.int64)
                engine({'x': X, 'd': good})
                with self.assertRaises(tenfold.InvalidInput) as caught:
                    engine({'x': X, 'd': bad})
                self.assertIsInstance(caught.exception, ValueError)
                self.assertEqual(isinstance(caught.exception, tenfold.BadIndex), op == 'Gather', caught.exception)
                self.assertEqual(caught.exception.step, 'the_node')
                self.assertIn(str(bad.flat[np.argmax(np.abs(bad))]), str(caught.exception))
                self.assertIn(f'({op}', str(caught.exception))
                engine({'x': X, 'd': good})

    def test_a_shape_whose_result_is_known_before(self):
        """The extents follow from the operand alone; a run still compares the numbers, whatever passes do with what stands around them."""
        expand, reshape = (helper.make_node(op, ['x', 'd'], ['e'], name='one') for op in ('Expand', 'Reshape'))
        flat = helper.make_node('Flatten', ['e'], ['y'], axis=0)
        relu, add = helper.make_node('Relu', ['e'], ['y']), helper.make_node('Add', ['e', 'x'], ['y'])
        for nodes, length, good, bad in (([expand], 2, [3, 4], [2, 4]), ([expand, relu], 2, [1, 1], [3, 2]), ([expand, add], 1, [4], [3]),
                                         ([reshape], 1, [-1], [11]), ([reshape, flat], 1, [12], [-12]), ([reshape, relu], 1, [12], [5])):
            for level in (0, 3):
                with self.subTest(ops=[n.op_type for n in nodes], level=level):
                    y = nodes[-1].output[0]
                    engine = tenfold.build(model(nodes, [('x', F, [3, 4]), ('d', I, [length])], [(y, F, None)]),
                                           optimization_level=level, device='cpu')
                    expected = X.reshape(-1) if nodes[0] is reshape else X + X if add in nodes else X
                    for _ in range(2):
                        np.testing.assert_array_equal(engine({'x': X, 'd': np.array(good)}).reshape(expected.shape), expected)
                        with self.assertRaises(tenfold.InvalidInput) as caught:
                            engine({'x': X, 'd': np.array(bad)})
                        self.assertEqual(caught.exception.step, 'one')

    def test_sessions_too(self):
        node = model([helper.make_node('Tile', ['x', 'd'], ['y'])], [('x', F, [3, 4]), ('d', I, [2])], [('y', F, None)])
        session = tenfold.Session(node.SerializeToString(), optimization_level=0)
        with self.assertRaises(tenfold.InvalidInput):
            session.run(None, {'x': X, 'd': np.array([-1, 1])})


if __name__ == '__main__':
    unittest.main()
