"""Data of a run that no step can compute with: an InvalidInput that names step and value, never an Internal, which means a bug."""
import unittest

import numpy as np
from case import QUICK, Case, TensorProto, helper, model

import tenfold

F, I = TensorProto.FLOAT, TensorProto.INT64
X = np.arange(12, dtype=np.float32).reshape(3, 4)
# operator, shape of its second operand, what works, what does not. Expand's result has a dimension that the build does not know: where it
# knows all, no step reads the shape.
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

    def test_sessions_too(self):
        node = model([helper.make_node('Tile', ['x', 'd'], ['y'])], [('x', F, [3, 4]), ('d', I, [2])], [('y', F, None)])
        session = tenfold.Session(node.SerializeToString(), optimization_level=0)
        with self.assertRaises(tenfold.InvalidInput):
            session.run(None, {'x': X, 'd': np.array([-1, 1])})


if __name__ == '__main__':
    unittest.main()
