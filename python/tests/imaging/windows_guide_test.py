"""The Python blocks of docs/guides/imaging.md, as they stand there."""
import os
import pathlib
import re
import sys
import unittest

import numpy as np
import window_cases

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from case import Case, TensorProto, helper, model, numpy_helper, onnx  # noqa: E402

GUIDE = pathlib.Path(__file__).resolve().parents[3] / 'docs' / 'guides' / 'imaging.md'
VOLUME = window_cases.noise(1, 1, 1, 100, 96, 30)   # one axis is padded


class Guide(Case):
    def test_blocks(self):
        weights = numpy_helper.from_array(window_cases.noise(2, 3, 1, 3, 3, 3) - 0.5, 'w')
        extents = ['n', 1, 96, 96, 96]
        unet = model([helper.make_node('Conv', ['image', 'w'], ['y'], pads=[1] * 6)],
                     [('image', TensorProto.FLOAT, extents)],
                     [('y', TensorProto.FLOAT, ['n', 3, *extents[2:]])], [weights])
        onnx.save(unet, self.path('unet.onnx'))
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)
        names = {'volume': VOLUME, 'network': lambda x: x}
        blocks = re.findall(r'^```python\n(.*?)^```', GUIDE.read_text(), re.M | re.S)
        self.assertEqual(len(blocks), 6)
        exec(compile(blocks[0], 'first', 'exec'), names)
        self.near(names['y'], VOLUME, 1e-6)
        exec(compile(blocks[1], 'second', 'exec'), names)
        by_engine = names['y']
        names['network'] = lambda x: names['engine'](x)
        exec(compile(blocks[0], 'first', 'exec'), names)
        self.near(names['y'], by_engine, 1e-5)
        exec(compile(blocks[2], 'third', 'exec'), names)   # of the engine and what calls it
        self.near(names['y'], by_engine, 1e-5)
        several = blocks[3].replace("('cuda:0', 'cuda:1')", "('cpu', 'cpu')")
        self.assertNotEqual(several, blocks[3])
        exec(compile(several, 'fourth', 'exec'), names)
        self.near(names['y'], by_engine, 1e-6)
        exec(compile(blocks[4], 'fifth', 'exec'), names)
        self.assertEqual((names['labels'].shape, names['labels'].dtype), ((1, 1, *VOLUME.shape[2:]), np.uint8))
        small = blocks[5].replace('(321, 512, 512)', '(21, 112, 31)')   # the guide's grid takes 84 MB
        self.assertNotEqual(small, blocks[5])
        exec(compile(small, 'sixth', 'exec'), names)
        self.assertEqual(names['labels'].shape, (1, 1, 21, 112, 31))


if __name__ == '__main__':
    unittest.main()
