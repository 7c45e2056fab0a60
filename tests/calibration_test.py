#!/usr/bin/env python3
"""8-bit builds of plain models from samples: calibration_test.py TENFOLD. Judged by NumPy's or ONNX Runtime's floats, never by our own."""

import os
import re

import cli_case
from cli_case import np, numpy_helper, onnx
from residual_net import ResidualNet

TOLERANCE = 0.04   # relative l2 of two products in 8 bits


class Calibration(ResidualNet):
    def built(self, *flags, model=None, code=0):
        plan = self.path('n.plan')
        result = self.tenfold(
            'exec', f'--onnx={model or self.net}', '--int8', *flags, f'--saveEngine={plan}', '--buildOnly',
            '--builderOptimizationLevel=0', code=code,
        )
        return result.stdout + result.stderr

    def error(self, x):
        expected = self.truth(x)
        return np.linalg.norm(self.answers(x) - expected) / np.linalg.norm(expected)

    def operators(self):
        return self.tenfold('inspect', self.path('n.plan')).stdout

    def test_every_calibrator_makes_integer_products_near_the_floats(self):
        for name in ('entropy', 'minmax', 'mse', 'percentile', ''):
            said = self.built(f"--data={self.path('samples.npy')}", *([f'--calibrator={name}'] if name else []), *self.shapes())
            self.assertIn(f'by {name}, 30 samples' if name else 'calibrators by their relative l2 error on 8 samples: entropy ', said)
            reported = float(re.search(r"relative l2 error of 'y', on 30 other samples: ([\d.e-]+)", said)[1])
            self.assertAlmostEqual(reported, self.error(self.samples[1::2]), delta=0.01 * reported)
            steps = self.operators()
            self.assertEqual(steps.count('ConvInteger'), 2, steps)
            self.assertIn('MatMulInteger', steps)
            error = self.error(np.random.default_rng(6).standard_normal((4, 8, 12, 12)).astype(np.float32))
            self.assertLess(error, 0.1 if name == 'entropy' else TOLERANCE, name)
            self.assertGreater(error, 1e-5, 'these are no integers')

    def test_samples_come_from_archives_and_folders_too(self):
        folder = self.path('data')
        os.mkdir(folder)
        np.savez(os.path.join(folder, 'a.npz'), x=self.samples[:30])
        np.save(os.path.join(folder, 'b.npy'), self.samples[30:])
        with open(os.path.join(folder, 'readme.txt'), 'w') as f:
            f.write('no samples')
        first = self.built(f'--data={folder}', *self.shapes())
        with open(self.path('n.plan'), 'rb') as f:
            plan = f.read()
        self.assertIn('30 samples', first)
        self.built(f"--data={self.path('samples.npy')}", *self.shapes())
        with open(self.path('n.plan'), 'rb') as f:
            self.assertEqual(len(plan), len(f.read()))
        self.assertLess(self.error(self.samples[:4]), 0.1)

    def test_one_sample_may_lack_the_batch(self):
        np.save(self.path('one.npy'), self.samples[0])
        said = self.built(f"--data={self.path('one.npy')}", *self.shapes())
        self.assertIn('1 samples', said)
        self.assertIn('took ranges from 1 samples only', said)   # a warning

    def test_batches_that_a_profile_fixes_take_several_samples(self):
        fixed = [f'--{which}Shapes=x:8x8x12x12' for which in ('min', 'opt', 'max')]
        said = self.built(f"--data={self.path('samples.npy')}", *fixed)
        self.assertIn('4 samples', said)
        self.assertLess(self.error(self.samples[:8]), 0.1)

    def test_what_the_data_never_reaches_stays_in_floats(self):
        np.save(self.path('zeros.npy'), np.zeros((60, 8, 12, 12), np.float32))
        said = self.built(f"--data={self.path('zeros.npy')}", *self.shapes())
        self.assertIn("calibration has only zeros, or no values, for", said)

    def test_a_cache_is_written_and_then_read(self):
        cache = self.path('n.cache')
        self.built(f"--data={self.path('samples.npy')}", f'--calib={cache}', *self.shapes())
        with open(cache) as f:
            head, *lines = f.read().splitlines()
        self.assertEqual(head, 'TRT-101600-EntropyCalibration2')
        self.assertIn('x', [line.split(': ')[0] for line in lines])
        said = self.built(f'--calib={cache}', *self.shapes())   # no data
        self.assertIn('values by cache', said)
        self.assertEqual(self.operators().count('ConvInteger'), 2)
        self.assertLess(self.error(self.samples[:4]), 0.1)
        with open(cache) as f:
            self.assertEqual(f.read().splitlines(), [head, *lines])
        self.assertIn("error of 'y'", self.built(f'--calib={cache}', f"--data={self.path('samples.npy')}", *self.shapes()))

    def test_caches_that_do_not_fit_are_refused(self):
        for text, words, code in (
            ('', 'is empty', 1),
            ('x: 3c010a14\n', 'is no calibration cache', 1),
            ('TRT-8601-EntropyCalibration2\nx: 7f800000\n', 'line 2: the scale is inf', 1),
            ('TRT-8601-EntropyCalibration2\nother: 3c010a14\n', "another model's", 2),
        ):
            said = self.built(f"--calib={self.write('bad.cache', text.encode())}", *self.shapes(), code=code)
            self.assertIn(words, said)
        said = self.built(f"--calib={self.path('absent.cache')}", *self.shapes(), code=2)
        self.assertIn('--data=PATH creates it', said)

    def test_another_models_cache_is_refused_by_what_lies_beside_it(self):
        cache, data = self.path('n.cache'), f"--data={self.path('samples.npy')}"
        self.built(data, f'--calib={cache}', '--calibrator=mse', *self.shapes())
        with open(cache + '.from') as f:
            head, *lines = f.read().splitlines()
        reported = dict(line.split(' ', 1) for line in lines)
        self.assertEqual((head, reported['method'], reported['samples']), ('tenfold calibration 1', 'mse', '30'))
        self.assertRegex(reported['model'] + ' ' + reported['data'], r'^[0-9a-f]+\.[0-9a-f]+ [0-9a-f]+\.[0-9a-f]+$')
        self.tenfold('quantize', self.net, f'--calib={cache}', '-o', self.path('q.onnx'))   # the same model
        model = onnx.load(self.net)
        for i in model.graph.initializer:   # of the same names
            i.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(i) * np.float32(1.5), i.name))
        onnx.save(model, self.net)
        self.assertIn("is another model's: its weights are not those", self.built(f'--calib={cache}', *self.shapes(), code=2))
        self.refused(2, "another model's", 'quantize', self.net, f'--calib={cache}', '-o', self.path('q2.onnx'))
        self.write('n.cache.from', b'something else')
        self.assertIn("begins with 'something else'", self.built(f'--calib={cache}', *self.shapes(), code=1))
        os.remove(cache + '.from')
        self.built(f'--calib={cache}', *self.shapes())   # TensorRT writes none

    def test_a_refit_leaves_what_was_quantized_alone(self):
        self.built(f"--data={self.path('samples.npy')}", '--refit', *self.shapes())
        said = self.tenfold('exec', f"--loadEngine={self.path('n.plan')}", '--dumpRefit', '--skipInference').stdout
        fixed = [line for line in said.splitlines() if 'calibration' in line]   # rounded, scaled, corrected
        self.assertGreaterEqual(len(fixed), 3, said)

    def test_bad_data_is_refused_by_name(self):
        np.save(self.path('wide.npy'), self.samples[:, :7])
        np.save(self.path('words.npy'), self.samples.astype(str))
        np.savez(self.path('other.npz'), y=self.samples)
        os.mkdir(self.path('empty'))
        self.write('cut.npy', open(self.path('samples.npy'), 'rb').read()[:2000])
        for data, words in (
            ('wide.npy', ['wide.npy is [60,7,12,12]', "input 'x'", '[?,8,12,12]']),
            ('words.npy', ['words.npy', 'f32 is needed']),
            ('other.npz', ["has no array 'x'"]),
            ('empty', ['no images in', 'no .npz or .npy']),
            ('cut.npy', ['cut.npy']),
            ('absent', ['there is no']),
            ('n.onnx', ['takes .npz, .npy or a folder']),
        ):
            said = self.built(f'--data={self.path(data)}', *self.shapes(), code=1)
            for word in words:
                self.assertIn(word, said, data)
            self.assertFalse(os.path.exists(self.path('n.plan')), data)

    def test_samples_outside_the_profile_are_told_by_number(self):
        plain = [f'--{which}Shapes=x:3x8x12x12' for which in ('min', 'opt', 'max')]
        np.save(self.path('two.npy'), self.samples[:2])
        said = self.built(f"--data={self.path('two.npy')}", *plain, code=1)
        self.assertIn('[3,8,12,12]', said)

    def test_corrections_are_tried_in_order_and_told(self):
        data = f"--data={self.path('samples.npy')}"
        said = self.built(data, '--corrections=round,bias', *self.shapes())
        reported = re.findall(
            r"correction '(\w+)': relative l2 error ([\d.e-]+) before, ([\d.e-]+) after, on 8 samples: (kept|left out)", said)
        self.assertEqual([name for name, *_ in reported], ['round', 'bias'])
        for _, before, after, fate in reported:
            self.assertEqual(fate, 'kept' if float(after) < float(before) else 'left out')
        kept = [name for name, *_, fate in reported if fate == 'kept']
        self.assertIn(f"samples with {', '.join(kept)}" if kept else 'samples;', self.operators())
        self.assertNotIn("correction '", self.built(data, '--corrections=none', *self.shapes()))

    def test_flags_that_need_others(self):
        for flags, words in (
            ([f'--onnx={self.net}', f"--data={self.path('samples.npy')}"], 'no flag asks for either: add --int8'),
            ([f'--onnx={self.net}', '--int8', '--samples=0', f"--data={self.path('samples.npy')}"], '--samples takes at least 1'),
            ([f'--onnx={self.net}', '--int8', '--calibrator=mse'], '--calibrator needs --data'),
            ([f'--onnx={self.net}', '--int8', '--corrections=bias'], '--corrections needs --data'),
            ([f'--onnx={self.net}', '--int8', f"--data={self.path('samples.npy')}", '--corrections=bias,'],
             '--corrections is none, or names'),
            ([f'--loadEngine={self.net}', '--int8', f"--data={self.path('samples.npy')}"], '--data needs --onnx'),
        ):
            self.assertIn(words, self.tenfold('exec', *flags, code=2).stderr)
        said = self.built(f"--data={self.path('samples.npy')}", '--calibrator=median', *self.shapes(), code=2)
        self.assertIn('entropy, minmax, mse, percentile', said)
        said = self.built(f"--data={self.path('samples.npy')}", '--corrections=hope', *self.shapes(), code=2)
        self.assertIn("there is no correction 'hope'; there are equalize, smooth, round, bias", said)


if __name__ == '__main__':
    cli_case.main()
