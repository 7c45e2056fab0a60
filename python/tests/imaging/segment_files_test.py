"""tenfold segment from file to file: formats, what they keep, previews, addresses inside an OME-Zarr; memory of long images."""
import importlib
import json
import os
import subprocess
import sys
import unittest

import numpy as np
from files_case import GIVEN, needs, open_sink, open_source, write
from segment_case import SegmentCase, TensorProto, image, network, numpy_helper

import tenfold


class Formats(SegmentCase):
    def setUp(self):
        super().setUp()
        self.array = image(2, 40, 21, 17)
        self.segment(self.save('x.npy', self.array), 'x_y.npy', '--reduce=argmax', '--normalize=percentile:1,99')
        self.expected = np.load(self.path('x_y.npy'))

    def labels(self, source, out, *flags):
        summary = self.segment(source, out, '--reduce=argmax', '--normalize=percentile:1,99', *flags)
        with open_source(self.path(out)) as found:
            np.testing.assert_array_equal(found.read((0, 0, 0), found.shape), self.expected)
            return summary, found

    @needs('tifffile', 'nibabel', 'zarr')
    def test_each_in_and_out(self):
        for source in ('s.ome.tif', 's.tif', 's.nii', 's.nii.gz', 's.ome.zarr'):
            write(self.path(source), self.array, 'czyx', like=GIVEN)
            flags = ['--axes=xyzc'] if '.nii' in source else []
            for out in ('o.npy', 'o.tif', 'o.nii.gz', 'o.ome.zarr'):
                with self.subTest(f'{source} to {out}'):
                    _, found = self.labels(self.path(source), out, '--overwrite', *flags)
                    if out != 'o.npy':
                        self.assertEqual(found.spacing, (2.0, 0.5, 0.25))

    @needs('zarr')
    def test_labels_of_an_image_with_its_chunks(self):
        write(self.path('i.ome.zarr'), self.array, 'czyx', like=GIVEN, chunks=(1, 7, 16, 16))
        self.labels(self.path('i.ome.zarr'), 'i.ome.zarr/labels/cells', '--chunks=5,16,16', '--compress=lz4')
        with open(self.path('i.ome.zarr/labels/zarr.json')) as file:
            self.assertEqual(json.load(file)['attributes']['ome']['labels'], ['cells'])
        self.assertEqual(os.listdir(self.path('i.ome.zarr/labels')).count('cells'), 1)

    @needs('zarr')
    def test_a_level_of_a_pyramid(self):
        big = np.repeat(np.repeat(np.repeat(self.array, 2, 1), 8, 2), 8, 3)   # a pyramid halves it
        write(self.path('p.ome.zarr'), big, 'czyx')
        with open_source(self.path('p.ome.zarr'), level=1) as source:
            level = source.read((0, 0, 0, 0), source.shape)
        self.segment(self.save('l.npy', level), 'l_y.npy')
        self.segment(self.path('p.ome.zarr'), 'p_y.npy', '--level=1')
        np.testing.assert_array_equal(np.load(self.path('p_y.npy')), np.load(self.path('l_y.npy')))

    @needs('PIL')
    def test_a_preview(self):
        pillow = importlib.import_module('PIL.Image')
        self.labels(self.path('x.npy'), 'a.npy', f'--preview={self.path("a.png")}')
        whole = np.asarray(pillow.open(self.path('a.png')))
        self.assertGreater(whole.std(), 10)
        self.assertGreaterEqual(whole.shape[1], 17)

    def test_output_types(self):
        self.segment(self.path('x.npy'), 'h.npy', '--outputType=float16', '--normalize=scale:1e-5')
        self.assertEqual(np.load(self.path('h.npy')).dtype, np.float16)


class Memory(SegmentCase):
    def test_it_does_not_grow_with_the_image(self):
        """Four times the planes, the same peak."""
        peaks = []
        for planes in (64, 256):
            with open_sink(self.path(f'{planes}.npy'), (planes, 256, 256), 'u2', axes='zyx') as sink:
                for z in range(planes):
                    sink.write((z, 0, 0), image(1, 256, 256, seed=z))
            flat = self.save_model('f.onnx', network(channels=1, classes=2, roi=(8, 32, 32)))
            words = self.words(self.path(f'{planes}.npy'), f'{planes}_y.npy', '--reduce=argmax', models=[flat])
            done = subprocess.run([sys.executable, '-m', 'tenfold.imaging.segment', *words], capture_output=True, text=True, check=True)
            peaks.append(json.loads(done.stdout)['peak_memory'])
        self.assertLess(peaks[1] - peaks[0], 8 << 20)


class Program(SegmentCase):
    def program(self, *words, **environment):
        words = [one.removeprefix('--build=') for one in words]   # which are its own
        return subprocess.run([sys.executable, '-m', 'tenfold', 'segment', *words], capture_output=True, text=True,
                              env={**os.environ, **environment})

    def test_it_hands_over_to_python(self):
        source = self.save('x.npy', image(2, 20, 21, 17))
        done = self.program(*self.words(source, 'y.npy'))
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        self.assertEqual(json.loads(done.stdout)['planes'], 20)
        done = self.program(*self.words(self.path('gone.npy'), 'z.npy'))
        self.assertEqual((done.returncode, done.stderr.count('\n')), (1, 1))

    def test_without_the_package_it_says_what_to_install(self):
        empty = self.path('python')
        with open(empty, 'w') as file:
            file.write(f'#!/bin/sh\nexec {sys.executable} -I -S "$@"\n')
        os.chmod(empty, 0o755)
        program = os.path.join(os.path.dirname(tenfold.__file__), 'bin', 'tenfold')
        for named, words in ((empty, "-m pip install 'tenfold[imaging]'"), (self.path('no-python'), 'does not start')):
            done = subprocess.run([program, 'segment', '--input=x.npy'], capture_output=True, text=True,
                                  env={**os.environ, 'TENFOLD_PYTHON': named})
            self.assertEqual((done.returncode, done.stdout), (1, ''), done.stderr)
            self.assertIn(words, done.stderr)

    def test_the_example(self):
        example = os.path.join(os.path.dirname(__file__), '..', '..', '..', 'examples', 'segment.py')
        done = subprocess.run([sys.executable, example], capture_output=True, text=True, check=True)
        self.assertIn('voxels that differ: 0 of', done.stdout)   # no seams

    def test_networks_of_other_types(self):
        half = network(roi=(8, 8, 6))
        for value in (*half.graph.input, *half.graph.output):
            value.type.tensor_type.elem_type = TensorProto.FLOAT16
        for tensor in half.graph.initializer:
            tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor).astype(np.float16), tensor.name))
        source = self.save('x.npy', image(2, 20, 21, 17, dtype='float32'))
        self.segment(source, 'h.npy', models=[self.save_model('h.onnx', half)])
        expected = self.by_hand(np.load(source))
        self.assertLess(abs(np.load(self.path('h.npy')) - expected).max(), 0.01 * abs(expected).max())
        for flag in ('--fp16', '--bf16', '--int8', '--fp8', '--best', '--noTF32', '--builderOptimizationLevel=1'):
            words = [one for one in self.words(source, 'p.npy', '--overwrite') if not one.startswith('--build=')]
            code, _, errors = self.call([*words, f'--build={flag}'])
            self.assertEqual(code, 0, errors)
            self.assertLess(abs(np.load(self.path('p.npy')) - expected).max(), 0.05 * abs(expected).max())

    def test_both_sides_know_the_same_flags(self):
        import re

        from tenfold.imaging.segment._options import FLAGS, SWITCHES
        own, _, building = self.program('--help=all').stdout.partition('\nBuilding')
        found = dict(re.findall(r'^  --(\w+)(=?)', own, re.MULTILINE))
        del found['help']
        self.assertEqual(set(found), {*FLAGS, *SWITCHES} - {'build'})
        self.assertEqual({name for name, equals in found.items() if not equals}, set(SWITCHES))
        self.assertFalse({*FLAGS, *SWITCHES} & set(re.findall(r'^  --([\w-]+)', building, re.MULTILINE)))


if __name__ == '__main__':
    unittest.main()
