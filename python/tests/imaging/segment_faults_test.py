"""What tenfold segment refuses: one message, the exit code of its kind, and no output left."""
import os
import signal
import subprocess
import tempfile
import time
import unittest
from unittest import mock

import numpy as np
from segment_case import SegmentCase, image, network

from tenfold.imaging.files._raw import RawFile

USAGE, FAILED, MODEL, PLAN = 2, 1, 3, 4
VALUES = (
    ('--overlap=1', 'at least 0 and below 1'), ('--overlap=-0.1', 'below 1'), ('--overlap=nan', 'a finite number'),
    ('--overlap=0,0', '2 values; the network has 3'), ('--mode=soft', 'one of constant, gaussian, halo'),
    ('--mode=halo', 'need each other'), ('--halo=2', 'need each other'), ('--reduce=max', 'one of none, argmax'),
    ('--normalize=clip:5,1', 'A < B'), ('--normalize=percentile:99,1', 'P < Q'), ('--normalize=std:3', 'scale:F'),
    ('--normalize=mean:3', 'mean:M,std:S'), ('--swBatch=0', 'at least 1'), ('--mirror=3', 'axes from 0 to 2'),
    ('--mirror=0,0', 'different axes'), ('--sweep=t', 'one of auto'), ('--memory=4X', 'as 4G or 512M'),
    ('--outputType=uint8', 'float16 or float32'), ('--axes=zyx', 'names 3 axes, the array has 4'), ('--channel=2', 'channel'),
    ('--time=1', "its axes are 'czyx'"), ('--level=1', 'level'), ('--device=cpu,gpu', 'cpu and cuda:N'),
    ('--grid=1,2', '--grid has 2 extents; the image has 3'), ('--grid=1,2,0', 'at least 1'), ('--gridMode=linear', 'beside it'),
    ('--gridMode=cubic', 'one of linear, nearest'), ('--grids=1,2,3', 'no flag of tenfold segment'),
    ('--resume=1', 'no flag'), ('extra', 'no flag'),
)


class Faults(SegmentCase):
    def setUp(self):
        super().setUp()
        self.array = image(2, 30, 21, 17)
        self.source = self.save('x.npy', self.array)

    def refused(self, code, patterns, *flags, source=None, out='y.npy', **options):
        self.fails(code, patterns, self.words(source or self.source, out, *flags, **options))

    def bytes(self, name, data):
        with open(self.path(name), 'wb') as file:
            file.write(data)
        return self.path(name)

    def test_inputs(self):
        with open(self.source, 'rb') as file:
            whole = file.read()
        self.refused(FAILED, 'gone.npy: there is no such file', source=self.path('gone.npy'))
        self.refused(FAILED, 'e.npy: an empty file', source=self.bytes('e.npy', b''))
        self.refused(FAILED, 'c.npy: cut: it has', source=self.bytes('c.npy', whole[:-100]))
        self.refused(FAILED, 'h.npy: not an NPY file', source=self.bytes('h.npy', b'x' * 100))
        self.refused(FAILED, 'o.npy: it holds Python objects', source=self.save('o.npy', np.array([[None, {}]], object)))
        self.refused(FAILED, 'z.npy: its shape is', source=self.save('z.npy', np.zeros((2, 0, 3, 3))))
        self.refused(FAILED, 'k.npy: its type is complex64', source=self.save('k.npy', np.zeros((2, 9, 9, 9), 'complex64')))

    def test_shapes_that_overflow(self):
        with open(self.path('huge.npy'), 'wb') as file:
            np.lib.format.write_array_header_1_0(file, {'descr': '<u2', 'fortran_order': False, 'shape': (2, 1 << 40, 1 << 30, 9)})
        self.refused(FAILED, 'huge.npy: its shape is .* more than 2', source=self.path('huge.npy'))

    def test_an_input_that_is_cut_during_the_run(self):
        source = self.save('long.npy', image(2, 200, 100, 100))   # 8 MB: two groups of planes
        read = RawFile.read

        def cutting(raw, parts):
            if parts[1].start:
                os.truncate(source, 4000000)
            return read(raw, parts)
        with mock.patch.object(RawFile, 'read', cutting):
            code, text, errors = self.call(self.words(source, 'y.npy'))
        self.assertEqual((code, text, errors.count('\n')), (FAILED, '', 1))
        self.assertRegex(errors, r'long.npy: cut: it has .* after \d+ of 200 planes; --resume goes on|long.npy: cut: it has')
        self.assertFalse(os.path.exists(self.path('y.npy')))

    def test_models(self):
        self.refused(FAILED, 'gone.onnx', models=[self.path('gone.onnx')])
        self.refused(MODEL, 'b.onnx', models=[self.bytes('b.onnx', b'no model' * 9)])
        words = [one for one in self.words(self.source, 'y.npy') if not one.startswith('--onnx')]
        self.fails(PLAN, 'b.plan', [*words, f'--loadEngine={self.bytes("b.plan", b"no plan" * 99)}'])
        self.fails(USAGE, '--onnx=MODEL is missing', words)

    def test_image_against_network(self):
        self.refused(USAGE, 'takes 2 channels, the image has 3; choose by --channel', source=self.save('c.npy', image(3, 9, 9, 9)))
        self.refused(USAGE, "its spatial axes are 'yx', the network has 3", source=self.save('p.npy', image(9, 9)))
        self.refused(USAGE, r'--roi has 2 extents; the network has 3', '--roi=8,8')
        self.refused(USAGE, r'expected --roi=8,8,6', '--roi=8,8,8')
        dynamic = self.save_model('d.onnx', network(dynamic=True))
        self.refused(USAGE, 'its spatial extents are dynamic.*--roi=N', models=[dynamic])
        flat = self.save_model('f.onnx', network(roi=(8, 8)))
        self.refused(USAGE, 'networks of 2 and 3 spatial axes', models=[self.model, flat])
        other = self.save_model('n.onnx', network(classes=4))
        self.refused(USAGE, 'the same of all networks', models=[self.model, other])

    def test_values_of_flags(self):
        for flag, expected in VALUES:
            with self.subTest(flag):
                self.refused(USAGE, expected, flag)
        self.refused(USAGE, r'halo 4: nothing is left', '--mode=halo', '--halo=4')
        self.refused(USAGE, 'reflect', '--padding=reflect', source=self.save('s.npy', image(2, 2, 21, 17)))

    def test_outputs(self):
        self.refused(USAGE, 'x.npy: the output is the input', '--overwrite', out='x.npy')
        self.refused(USAGE, 'y.png: its extension', out='y.png')
        self.refused(USAGE, 'there is no folder', out='nowhere/y.npy')
        self.refused(USAGE, 'compress', '--compress=zstd')
        os.symlink(self.source, self.path('link.npy'))
        self.refused(USAGE, 'the output is the input', '--overwrite', out='link.npy')

    def test_labels_need_a_type_that_holds_them(self):
        many = self.save_model('many.onnx', network(classes=300))
        self.refused(USAGE, 'a type that holds labels to 299', '--reduce=argmax', '--outputType=uint8', models=[many])
        self.segment(self.source, 'y.npy', '--reduce=argmax', models=[many])
        self.assertEqual(np.load(self.path('y.npy')).dtype, np.uint16)

    def test_nan(self):
        array = self.array.astype(np.float32)
        array[0, 20, 3, 4:7] = np.nan
        source = self.save('n.npy', array)
        self.refused(USAGE, r'n.npy: z 20: NaN, 3 of them .*--nan=zero', source=source)
        self.refused(USAGE, r'n.npy: z 20: NaN', '--normalize=zscore', source=source)
        self.assertEqual(self.segment(source, 'y.npy', '--nan=zero')['nan'], 3)
        self.near_all(np.load(self.path('y.npy')), self.by_hand(np.nan_to_num(array)))
        self.assertEqual(self.segment(source, 'p.npy', '--nan=pass')['nan'], 3)
        passed = np.load(self.path('p.npy'))
        self.assertTrue(np.isnan(passed).any())
        np.testing.assert_array_equal(np.isnan(passed), np.isnan(self.by_hand(array)))

    def test_a_full_disk(self):
        folder = tempfile.mkdtemp(dir=self.folder)
        done = subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder], capture_output=True, text=True)
        if done.returncode:
            self.skipTest(f'no file system of a limited size: {done.stderr.strip()}')
        self.addCleanup(subprocess.run, ['umount', folder], check=True)
        source = self.save('big.npy', image(2, 200, 40, 40))
        words = self.words(source, os.path.join(os.path.basename(folder), 'y.npy'))
        code, text, errors = self.call(words)
        self.assertEqual((code, text, errors.count('\n')), (FAILED, '', 1), errors)
        self.assertRegex(errors, 'y.npy.*no space left.*bytes are free.*make room')
        self.assertEqual(os.listdir(folder), [])

    def test_ctrl_c(self):
        source = self.save('long.npy', image(2, 600, 40, 40))
        old = self.save('y.npy', np.arange(5))
        run = self.process(self.words(source, 'y.npy', '--overwrite', '--swBatch=1', '--overlap=0.7'))
        end = time.monotonic() + 60
        while not os.path.exists(self.path('y.npy.partial.json')) and time.monotonic() < end:
            time.sleep(0.01)
        time.sleep(0.5)
        run.send_signal(signal.SIGINT)
        text, errors = run.communicate(timeout=60)
        self.assertEqual((run.returncode, text, errors.count('\n')), (130, '', 1), errors)
        self.assertRegex(errors, r'^tenfold: interrupted( after \d+ of 600 planes; --resume goes on with .*y.npy.partial)?$')
        np.testing.assert_array_equal(np.load(old), np.arange(5))


if __name__ == '__main__':
    unittest.main()
