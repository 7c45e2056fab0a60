"""The Python blocks of README.md and docs/guides/python.md, as they stand there, on a small model."""
import os
import pathlib
import re
import unittest

import numpy as np
from case import PROFILE, Case, batch, onnx, tanh_model, truth

import tenfold

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


class Blocks(Case):
    def run_blocks(self, page, rows):
        onnx.save(tanh_model(), self.path('model.onnx'))
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        os.chdir(self.folder)
        blocks = re.findall(r'^```python\n(.*?)^```', (ROOT / page).read_text(), re.M | re.S)
        self.assertTrue(blocks)
        names = {}
        for block in blocks:
            if rows:   # what the page takes for given
                names.update(x=batch(rows), y=np.zeros((rows, 4), np.float32))
            exec(compile(block, page, 'exec'), names)
            yield names

    def test_the_page_of_python(self):
        pages = [dict(names) for names in self.run_blocks('docs/guides/python.md', 4)]
        first, second, own, flight, quick, third, looped, fourth, fifth = pages
        np.testing.assert_array_equal(first['y'], np.zeros((4, 4)))
        self.near(second['y'], truth(batch()))
        self.near(own['y'], truth(batch()))
        np.testing.assert_array_equal(own['a'].numpy(), 2 * batch())
        self.near(np.stack(flight['outputs']), np.stack([truth(np.ones((4, 6), np.float32))] * 8))
        self.near(quick['answer'].output, truth(batch())[:1])
        self.near(third['engine'](np.ones((2, 4), np.float32)), np.full((2, 3), 1 / 3))
        squares = np.arange(1, 7, dtype=np.float32)
        self.near(looped['engine'](squares), np.sqrt(squares))
        self.near(fourth['y'], batch() + np.sin(batch() / 2) ** 2 * 2)
        self.near(fifth['y'], truth(batch()), 1e-3)

    def test_the_readme(self):
        """It needs nothing but model.onnx."""
        (names,) = (dict(names) for names in self.run_blocks('README.md', None))
        self.near(names['y'], truth(names['x']['x']), 1e-3)
        self.near(tenfold.load(self.path('model.plan'))(batch(1)), truth(batch(1)), 1e-3)
        self.assertEqual(set(PROFILE), {b.name for b in names['engine'].bindings if b.is_input})


if __name__ == '__main__':
    unittest.main()
