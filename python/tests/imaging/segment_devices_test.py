"""--device=cpu,cpu: devices share the rows. What comes out has the bytes of one device."""
import json
import os
import re
import unittest
from unittest import mock

import numpy as np
from files_case import needs
from segment_case import SegmentCase, image, network, sha256

import tenfold
from tenfold.imaging.files import open_source
from tenfold.imaging.segment import _device, _output

TWO = '--device=cpu,cpu'


class Devices(SegmentCase):
    def setUp(self):
        super().setUp()
        self.array = image(2, 20, 90, 17)
        self.source = self.save('x.npy', self.array)

    def run_it(self, out, *flags, told='', **options):
        code, text, errors = self.call(self.words(self.source, out, '--sweep=z', '--overwrite', *flags, **options))
        self.assertEqual(code, 0, errors)
        self.assertRegex(errors, f'^{told}$')
        return json.loads(text)

    def same(self, *flags, told='', **options):
        """Summaries of one device and of two."""
        one = self.run_it('w.npy', *flags, **options)
        two = self.run_it('y.npy', *flags, TWO, told=told, **options)
        self.assertEqual(sha256(self.path('y.npy')), sha256(self.path('w.npy')))
        self.assertEqual((one['planes'], one['nan']), (two['planes'], two['nan']))
        self.assertEqual(len(one['devices']), 1)
        return one, two

    def test_the_bytes_of_one(self):
        for flags in ((), ('--overlap=0.6', '--reduce=argmax'), ('--mode=halo', '--halo=2,2,1', '--placement=even'), ('--sweep=x',),
                      ('--sweep=y', '--overlap=0.5'), ('--grid=31,120,9', '--overlap=0.5'), ('--normalize=zscore', '--mirror=1')):
            with self.subTest(flags):
                _, two = self.same(*flags)
                self.assertEqual([one['device'] for one in two['devices']], ['cpu', 'cpu'])
                rows = [one['rows'] for one in two['devices']]
                extents = dict(zip('zyx', (31, 120, 9) if 'grid' in str(flags) else self.array.shape[1:]))
                self.assertEqual(sum(rows), extents['z' if '--sweep=x' in flags or '--sweep=y' in flags else 'y'])
                self.assertGreater(min(rows), 0)
                self.assertEqual(sum(one['windows'] for one in two['devices']), two['windows'])
                self.assertEqual(two['bands'], 2)

    def test_three_and_one_name_alone(self):
        self.run_it('w.npy')
        for names in ('cpu,cpu,cpu', 'cpu'):
            found = self.run_it('y.npy', f'--device={names}')
            self.assertEqual(len(found['devices']), names.count('cpu'))
            self.assertEqual(sha256(self.path('y.npy')), sha256(self.path('w.npy')))

    def test_several_networks_have_their_mean_on_each(self):
        self.same(models=[self.model, self.save_model('o.onnx', network(seed=5))])

    def test_a_plan(self):
        self.engine().save(self.path('m.plan'))
        words = [f'--loadEngine={self.path("m.plan")}']
        for out, names in (('w.npy', 'cpu'), ('y.npy', 'cpu,cpu')):
            given = [one for one in self.words(self.source, out, f'--device={names}', *words) if not one.startswith('--onnx')]
            code, _, errors = self.call(given)
            self.assertEqual((code, errors), (0, ''))
        self.assertEqual(sha256(self.path('y.npy')), sha256(self.path('w.npy')))

    def test_a_network_of_planes_on_a_volume(self):
        self.same(models=[self.save_model('f.onnx', network(roi=(8, 6)))])

    def test_time_points_and_nan(self):
        movie = image(3, 2, 12, 90, 17, dtype='float32')
        for place in ((0, 0, 3, 5, 2), (1, 1, 11, 44, 3), (2, 0, 0, 89, 0), (2, 1, 5, 46, 9)):
            movie[place] = np.nan
        self.source = self.save('x.npy', movie)
        _, two = self.same('--nan=zero', '--normalize=percentile:1,99.8', '--reduce=argmax')
        self.assertEqual(two['nan'], 4)

    def test_memory_is_shared(self):
        for flags in ((), ('--reduce=argmax', '--overlap=0.5')):
            code, _, told = self.call(self.words(self.source, 'y.npy', '--sweep=z', '--overwrite', TWO, '--memory=1K', *flags))
            self.assertEqual((code, told.count('\n')), (2, 1))
            share = int(re.search('--memory=1K, shared by 2 devices: a band of one row of windows needs .*'
                                  r'expected at least ([0-9]+), or [0-9]+ with a batch of 1, .*for each device', told)[1])
            memory = f'--memory={share * 12 // 5}'
            self.same(*flags)
            self.run_it('w.npy', *flags)
            told = f'tenfold: {memory}: y is cut into [0-9]+ bands, and [0-9,]+ windows are computed, [0-9,]+ would do in one\n'
            found = self.run_it('y.npy', memory, TWO, *flags, told=told)
            self.assertGreater(found['bands'], 3)
            self.assertEqual(sha256(self.path('y.npy')), sha256(self.path('w.npy')))

    def test_bad_names_are_refused(self):
        for names in ('cpu,', 'cpu,gpu', ',cpu', 'cpu,cuda', 'cpu cpu,cpu'):
            self.fails(2, f'--device={names}: expected cpu and cuda:N, as cuda:0,cuda:1 or cuda:0,cpu',
                       self.words(self.source, 'y.npy', f'--device={names}'))
        if not any(one.device.startswith('cuda') for one in tenfold.devices()):
            code, _, errors = self.call(self.words(self.source, 'y.npy', '--device=cpu,cuda:7'))
            self.assertIn('cuda', errors.splitlines()[-1])
            self.assertGreater(code, 0)
            self.assertEqual([name for name in os.listdir(self.folder) if name.startswith('y.npy')], [])

    @needs('zarr')
    def test_zarr_whose_chunks_leave_no_rows(self):
        told = r'tenfold: --device=cpu,cpu: no rows for cpu: the image has too few, or chunks of the output are as tall as all of them\n'
        found = self.run_it('y.zarr', '--chunks=3,20,90,17', TWO, told=told)
        self.assertEqual(sorted(one['rows'] for one in found['devices']), [0, 90])
        found = self.run_it('y.zarr', '--chunks=3,7,16,17', TWO)
        self.assertEqual([one['rows'] for one in found['devices']], [48, 42])
        self.run_it('w.zarr', '--chunks=3,7,16,17')
        with open_source(self.path('w.zarr')) as one, open_source(self.path('y.zarr')) as two:
            np.testing.assert_array_equal(*(found.read((0,) * found.ndim, found.shape) for found in (one, two)))

    def test_the_bar_names_them(self):
        _, _, errors = self.call(self.words(self.source, 'y.npy', TWO, '--sweep=z', '--progress=bar'))
        self.assertRegex(errors, r'20/20 planes, .* left \(cpu \d+ %, cpu \d+ %\)')
        words = [one for one in self.words(self.source, 'z.npy', TWO, '--sweep=z') if one != '--json']
        self.assertRegex(self.call(words)[1], r'z\.npy: 20 planes in [\d.]+ s on cpu, cpu\n')


class Continued(SegmentCase):
    def test_an_interrupted_run_goes_on(self):
        source = self.save('x.npy', image(2, 60, 90, 17))
        self.segment(source, 'w.npy', '--sweep=z')
        for name, writes in (('a', 3), ('b', 11)):
            write, left = _output.Output.write, [writes]

            def stopping(output, *arguments, write=write, left=left):
                write(output, *arguments)
                left[0] -= 1
                if not left[0]:
                    raise KeyboardInterrupt
            with mock.patch.object(_output.Output, 'write', stopping):
                code, _, errors = self.call(self.words(source, f'{name}.npy', TWO, '--sweep=z'))
            self.assertEqual(code, 130)
            self.assertRegex(errors, r'interrupted after \d+ of 60 planes; --resume goes on')
            with open(self.path(f'{name}.npy.partial.json')) as file:
                state = json.load(file)
            self.assertEqual(len(state['bands']), 2)
            self.assertGreater(sum(state['planes']), 0)
            other = self.words(source, f'{name}.npy', '--sweep=z', '--resume')
            self.fails(2, 'the killed run had --device=cpu,cpu, this one has --device=cpu', other)
            found = self.segment(source, f'{name}.npy', TWO, '--sweep=z', '--resume')
            self.assertTrue(found['resumed'])
            self.assertLess(found['planes'], 60)
            self.assertEqual(sha256(self.path(f'{name}.npy')), sha256(self.path('w.npy')))

    def test_what_a_device_meets_ends_the_run(self):
        source = self.save('x.npy', image(2, 60, 90, 17))
        mean, left = _device.Device.mean, [12]   # a few more than what tells how quick it is

        def failing(device, windows):
            left[0] -= 1
            if left[0] < 0:
                raise OSError('gone')
            return mean(device, windows)
        with mock.patch.object(_device.Device, 'mean', failing):
            code, _, errors = self.call(self.words(source, 'y.npy', TWO))
        self.assertEqual(code, 1, errors)
        self.assertIn('gone', errors)


if __name__ == '__main__':
    unittest.main()
