"""Flags of a build: those of `tenfold exec`, by the program, and what becomes of wrong ones."""
import os
import subprocess
import sys
import unittest

from segment_case import SegmentCase, image, network, np

USAGE = 2


class Building(SegmentCase):
    def setUp(self):
        super().setUp()
        self.array = image(2, 20, 21, 17, dtype='float32')
        self.source = self.save('x.npy', self.array)
        self.expected = self.by_hand(self.array)

    def program(self, *flags, models=None, **environment):
        words = [one.removeprefix('--build=') for one in self.words(self.source, 'y.npy', '--overwrite', *flags, models=models)]
        return subprocess.run([sys.executable, '-m', 'tenfold', 'segment', *words], capture_output=True, text=True,
                              env={**os.environ, **environment})

    def difference(self, *flags, **options):
        """Beside the whole image in float32, relative to its largest value."""
        done = self.program(*flags, **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.errors = done.stderr
        return abs(np.load(self.path('y.npy')) - self.expected).max() / abs(self.expected).max()

    def refused(self, text, *flags, **options):
        done = self.program(*flags, **options)
        self.assertEqual((done.returncode, done.stdout), (USAGE, ''), done.stderr)
        self.assertIn(text, done.stderr)
        self.assertEqual(done.stderr.count('\n'), 1, done.stderr)
        self.assertFalse(os.path.exists(self.path('y.npy')))

    def samples(self):
        windows = np.stack([self.array[:, 2 * i:2 * i + 8, i:i + 8, i:i + 6] for i in range(6)])
        np.savez(self.path('windows.npz'), x=windows)
        return '--data=' + self.path('windows.npz')

    def test_flags_that_change_no_result(self):
        for flags in (['--noTF32', '--noWinograd', '--noStrassen', '--noFastExp'], ['--stronglyTyped'], ['--maxTactics=2', '--avgTiming=1'],
                      ['--tacticSources=reference,native', '--memPoolSize=workspace:64'], ['--cpuFeatures=avx2'], ['--buildTimeout=100'],
                      ['--precisionConstraints=obey', '--layerPrecisions=*:fp32']):
            with self.subTest(flags):
                self.assertLess(self.difference(*flags), 1e-5)
                self.assertEqual(self.errors, '')

    def test_flags_that_permit_less_precision(self):
        for flag in ('--precision=auto', '--bf16', '--best', '--fp16'):
            with self.subTest(flag):
                self.assertLess(self.difference(flag), 0.05)

    def test_calibration(self):
        cache = self.path('m.cache')
        self.assertLess(self.difference(), 1e-5)

        def expect_int8(*flags):
            found = self.difference('--int8', f'--calib={cache}', *flags)
            self.assertGreater(found, 1e-4)
            self.assertLess(found, 0.1)
        expect_int8(self.samples(), '--samples=6', '--corrections=none')
        with open(cache) as file:
            self.assertIn('x: ', file.read())   # the range of the input
        expect_int8()    # without samples
        bounded = self.difference('--int8', self.samples(), '--max-error=1e-6')
        self.assertLess(bounded, 1e-5)       # nothing in int8 is that close

    def test_what_the_build_writes(self):
        self.difference(f'--dumpPasses={self.path("passes")}', f'--timingCacheFile={self.path("times")}')
        self.assertTrue(any('import' in name for name in os.listdir(self.path('passes'))))
        self.assertTrue(os.path.exists(self.path('times')))

    def test_wrong_values_are_refused_before_python_starts(self):
        nowhere = {'TENFOLD_PYTHON': '/no/such/python'}
        for text, *flags in (
                ('--precision is auto, not \'fp16\'', '--precision=fp16'), ('takes 0 to 5, not 9', '--builderOptimizationLevel=9'),
                ("'conv' is not LAYER:TYPE", '--layerPrecisions=conv'), ('--calibrator needs --data', '--int8', '--calibrator=mse'),
                ('--max-error needs --data', '--int8', '--max-error=0.1'),
                ('does not exist; --data=PATH creates it', '--int8', '--calib=no.cache'),
                ('--stronglyTyped and --best exclude each other', '--best', '--stronglyTyped')):
            with self.subTest(text):
                self.refused(text, *flags, **nowhere)
        for flag in ('--shapes=x:1x2x8x8x6', '--minShapes=x:1x2x8x8x6', '--newestRow=x:1', '--saveEngine=p.plan'):
            with self.subTest(flag):
                self.refused(f'unknown flag {flag.split("=")[0]}; --help lists the flags', flag, **nowhere)

    def test_what_only_the_build_knows(self):
        self.refused("'nope'", '--disablePasses=nope')
        done = self.program('--int8', '--data=' + self.path('none.npz'))
        self.assertEqual((done.returncode, done.stderr), (1, f"tenfold: --data: there is no '{self.path('none.npz')}'\n"))
        self.refused('a cache is of one model', '--int8', self.samples(), f'--calib={self.path("two.cache")}',
                     models=[self.model, self.save_model('other.onnx', network(seed=2))])

    def test_plans_have_settled_it(self):
        plan = self.path('m.plan')
        self.engine().save(plan)
        done = subprocess.run([sys.executable, '-m', 'tenfold', 'segment', f'--loadEngine={plan}', f'--input={self.source}', '--noTF32',
                               f'--output={self.path("y.npy")}', '--progress=none'], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("--noTF32 has no effect: the plan's kernels were chosen when it was built", done.stderr)

    def test_python_alone_takes_them_as_flags_of_the_build(self):
        self.fails(USAGE, 'a flag of tenfold exec, as --build=--fp16', self.words(self.source, 'y.npy', '--build=fp16'))
        self.fails(USAGE, 'did you mean --fp16', self.words(self.source, 'y.npy', '--build=--fp15'))
        self.fails(USAGE, 'no flag of tenfold segment', self.words(self.source, 'y.npy', '--fp16'))


if __name__ == '__main__':
    unittest.main()
