#!/usr/bin/env python3
"""Accuracy and errors on photographs: labels_test.py TENFOLD. ONNX Runtime judges what a model answers, Pillow what it is given."""

import os
import re

import cli_case
from cli_case import FLOAT, helper, np, numpy_helper, save_model
from image_case import IMAGENET, Image, ImageCase, MEAN, PHOTOGRAPHS, STD, levels, ort, picture


class Labeled(ImageCase):
    def setUp(self):
        super().setUp()
        self.model = self.net()
        self.paths = [self.save(f'p/{i:02}.png', picture(40 + i, 36, seed=i)) for i in range(24)]
        self.x = np.stack([levels(p, 32, (32, 32)) for p in self.paths]) / np.float32(255)
        self.classes = ort.InferenceSession(self.model).run(None, {'x': self.x})[0].argmax(1)
        self.shapes = [f'--{which}Shapes=x:1x3x32x32' for which in ('min', 'opt', 'max')]

    def accuracy(self, output):
        words = r"accuracy by 'y' on (\d+) labeled samples .*: the plan ([\d.]+) %, the model in f32 ([\d.]+) %; .* ([\d.]+) %"
        found = re.search(words, output)
        self.assertTrue(found, output)
        return int(found[1]), *(float(g) for g in found.groups()[1:])

    def plan_classes(self):
        plan, out = self.path('net.plan'), self.path('out.npz')
        got = []
        for x in self.x:
            np.save(self.path('x.npy'), x[None])
            self.tenfold('exec', f'--loadEngine={plan}', f"--loadInputs=x:{self.path('x.npy')}", f'--exportOutput={out}', *cli_case.ONCE)
            got.append(int(np.load(out)['y'].argmax()))
        return np.array(got)

    def labels(self, lines):
        return '--labels=' + self.write('labels.txt', ('\n'.join(lines) + '\n').encode())

    def test_accuracy_on_every_second_sample(self):
        expected = self.classes.copy()
        expected[[1, 2, 4, 7]] = (expected[[1, 2, 4, 7]] + 1) % 10   # two of them check
        names = [os.path.basename(p) for p in self.paths]
        forms = [
            [str(c) for c in expected],
            ['# by file', *reversed([f'{n} {c}' for n, c in zip(names, expected)])],
            ['file,class', *[f'folder/{n},{c}' for n, c in zip(names, expected)]],
        ]
        self.build('p', self.labels(forms[0]), f"--saveEngine={self.path('net.plan')}", *self.shapes, model=self.model)
        plan = self.plan_classes()
        odd = slice(1, None, 2)
        reference = [100 * np.mean(a[odd] == b[odd]) for a, b in ((plan, expected), (self.classes, expected), (plan, self.classes))]
        self.assertAlmostEqual(reference[1], 100 * 10 / 12)
        for lines in forms:
            count, *reported = self.accuracy(self.build('p', self.labels(lines), *self.shapes, model=self.model))
            self.assertEqual(count, 12)
            np.testing.assert_allclose(reported, reference, atol=0.06)
        np.savez(self.path('all.npz'), x=self.x)   # rows of arrays, by their number
        count, *reported = self.accuracy(self.build('all.npz', self.labels(forms[0]), *self.shapes, model=self.model))
        np.testing.assert_allclose(reported, reference, atol=0.06)
        eight = [f'--{which}Shapes=x:8x3x32x32' for which in ('min', 'opt', 'max')]
        count, *reported = self.accuracy(self.build('p', self.labels(forms[0]), *eight, model=self.model))
        self.assertEqual(count, 8)   # of three batches the second checks
        self.assertAlmostEqual(reported[1], 100 * np.mean(self.classes[8:16] == expected[8:16]), delta=0.06)

    def test_other_data_checks(self):
        for i in (3, 5, 8):
            self.save(f'q/{i}.png', Image.open(self.paths[i]))
        lines = [str(self.classes[3]), str((self.classes[5] + 1) % 10), str(self.classes[8])]
        output = self.build('p', f"--checkData={self.path('q')}", self.labels(lines), *self.shapes, model=self.model)
        self.assertIn("3 photographs of '" + self.path('q'), output)
        self.assertIn('24 samples in', output)             # all of --data gave ranges
        self.assertIn("'y', on 3 other samples", output)
        count, _, floats, _ = self.accuracy(output)
        self.assertEqual(count, 3)
        self.assertAlmostEqual(floats, 66.7, delta=0.06)
        self.assertIn('--checkData: there is no', self.build('p', '--checkData=absent', model=self.model, code=1))

    def test_sides_that_the_model_leaves_open_are_those_of_the_photographs(self):
        model = save_model(
            self.path('open.onnx'),
            [helper.make_node('Conv', ['x', 'w'], ['a']), helper.make_node('ReduceMean', ['a', 'axes'], ['y'], keepdims=0)],
            [('x', FLOAT, ['n', 3, 'h', 'w'])],
            [('y', FLOAT, ['n', 16])],
            [
                numpy_helper.from_array(np.random.default_rng(1).normal(0, 0.2, (16, 3, 3, 3)).astype(np.float32), 'w'),
                numpy_helper.from_array(np.array([2, 3]), 'axes'),
            ],
        )
        output = self.build('p', '--image=crop:24x20', model=model)
        self.assertIn("'x' has dynamic sides and no profile: it is built for 1x3x24x20", output)
        self.assertIn("'y', on 12 other samples", output)

    def test_labels_that_do_not_fit(self):
        good = [str(c) for c in self.classes]
        for lines, words in (
            (good[:20], '20 labels, too few'),
            ([*good[:5], 'cat', *good[6:]], 'line 6'),
            ([*good[:5], '-1', *good[6:]], 'line 6'),
            ([*good[:5], 'a.png 3', *good[6:]], 'another form'),
            ([*good[:23], '10'], 'class 10'),
            (['00.png 1', '00.png 2'], 'another class'),
            (['00.png 1'], "does not name '"),
            (['# nothing'], 'no labels in'),
        ):
            with self.subTest(words):
                output = self.build('p', self.labels(lines), f"--saveEngine={self.path('no.plan')}", *self.shapes, model=self.model, code=1)
                self.assertIn(words, output)
                self.assertFalse(os.path.exists(self.path('no.plan')))
        self.assertIn('no output of classes', self.build('p', self.labels(good), model=self.identity([1, 3, 32, 32]), code=1))
        self.assertIn('no sample checks', self.build('p/00.png', self.labels(good), *self.shapes, model=self.model, code=1))


class Photographs(ImageCase):
    def test_a_folder_calibrates_as_arrays_of_pillow_do(self):
        if not os.path.exists(PHOTOGRAPHS):
            self.skipTest(f'there is no {PHOTOGRAPHS}')
        names = sorted(n for n in os.listdir(PHOTOGRAPHS) if n.endswith('.jpg'))
        x = np.stack([levels(os.path.join(PHOTOGRAPHS, n), 73, (64, 64)) for n in names]) / np.float32(255)
        x = ((x - np.float32(MEAN)[:, None, None]) / np.float32(STD)[:, None, None]).astype(np.float32)
        np.savez(self.path('pillow.npz'), x=x)
        model = self.net(side=64)
        spec = f'resize:73,crop:64,scale:255,{IMAGENET},layout:nchw'
        shapes = ['--samples=200', *(f'--{which}Shapes=x:1x3x64x64' for which in ('min', 'opt', 'max'))]
        output = {
            'folder': self.build(PHOTOGRAPHS, f'--image={spec}', f"--dumpSamples={self.path('ours.npz')}", *shapes, model=model),
            'arrays': self.build('pillow.npz', *shapes, model=model),
        }
        errors = {k: float(re.search(r"relative l2 error of 'y', on 100 other samples: ([\d.e-]+)", s)[1]) for k, s in output.items()}
        self.assertAlmostEqual(errors['folder'], errors['arrays'], delta=0.1 * errors['arrays'])
        self.assertLess(errors['folder'], 0.1)
        off = np.abs(np.load(self.path('ours.npz'))['x'] - x) * 255 * np.float32(STD)[:, None, None]
        print(f'photographs: at most {off.max():.2f} levels from Pillow, {off.mean():.4f} on the mean; errors {errors}')
        self.assertLessEqual(off.max(), 2.01)


if __name__ == '__main__':
    cli_case.main()
