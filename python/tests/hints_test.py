"""What the library says to Python names Python's arguments: no flag of the program and no field of C++ comes through."""
import pathlib
import re
import unittest

import numpy as np
from case import Case, QUICK, helper, model, tanh_model

import tenfold
from tenfold import _native

SOURCES = pathlib.Path(__file__).resolve().parent.parent.parent / 'src'
# What is told by the program alone: `tenfold doctor`, and what NVIDIA's compiler is given.
APART = ('machine/machine_findings', 'cuda/device/compiler', 'text/encoders/model', 'src/formats/')


class Hints(Case):
    def test_a_build_without_a_profile(self):
        reported = []
        tenfold.build(tanh_model(), log=lambda severity, text: reported.append(text), **QUICK)
        line = next(text for text in reported if "'batch'" in text)
        self.assertIn('give its extents: profiles={"x": (1, 6)}, or (smallest, usual, largest shape)', line)
        self.assertFalse([text for text in reported if '--' in text or 'BuildConfig' in text], reported)

    def test_a_refit_of_a_plan_that_has_none(self):
        engine = tenfold.build(tanh_model(), profiles={'x': ([1, 6], [4, 6], [8, 6])}, **QUICK)
        error = self.refused(tenfold.Error, 'refittable=True', engine.refit, {'w': np.zeros((6, 4), np.float32)})
        self.assertNotIn('--', str(error))

    def test_problems_of_a_model(self):
        with self.assertRaises(tenfold.Error) as caught:
            tenfold.build(model([helper.make_node('Relu', ['x'], ['y'])], [('x', 1, None)], [('y', 1, None)]), **QUICK)
        self.assertNotIn('--', ''.join([str(caught.exception), *(str(p) for p in caught.exception.problems)]))

    def test_words(self):
        self.assertEqual(_native.python_words('it takes --shapes, --shapesAndMore and `tenfold exec --shapes`'),
                         'it takes profiles, --shapesAndMore and `tenfold exec --shapes`')

    @unittest.skipUnless(SOURCES.is_dir(), 'the sources are not here')
    def test_every_flag_in_a_sentence_has_a_word(self):
        left = []
        for path in SOURCES.rglob('*.cpp'):
            if path.name.endswith('_test.cpp') or any(part in str(path) for part in APART):
                continue
            for line in path.read_text().splitlines():
                for text in re.findall(r'"((?:[^"\\]|\\.)*)"', line.split('//')[0]):
                    if re.search(r'(?<![\w-])--[a-z]', text) and '`' not in text:
                        left += [f'{path.name}: {text}'] if re.search(r'--[a-z]', _native.python_words(text)) else []
        self.assertEqual(left, [])


if __name__ == '__main__':
    unittest.main()
