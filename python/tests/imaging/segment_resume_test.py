"""tenfold segment --resume: a run that was killed ends with the bytes of one that was not."""
import json
import os
import random
import shutil
import signal
import sys
import unittest
from unittest import mock

import numpy as np
from files_case import needs
from segment_case import SegmentCase, image, network, sha256

from tenfold.imaging.segment import _output

PLANES, KILLS = 600, 10   # of NPY; other forms of outputs go the same way, and take as long

# Words: writes of planes, then segment's. A process that waits outside may come too late where runs are quick.
KILLED = """
import os, random, signal, sys, threading
from tenfold.imaging.segment import _output, main
write, left = _output.Output.write, int(sys.argv[1])

def counted(*arguments):
    global left
    left -= 1
    if left == 0:
        threading.Timer(random.uniform(0, 0.01), os.kill, (os.getpid(), signal.SIGKILL)).start()
    write(*arguments)

_output.Output.write, _output.SAVE_SECONDS = counted, 0
sys.exit(main(sys.argv[2:]))
"""


class Killed(SegmentCase):
    def resumable(self, out):
        """Whether a killed run left planes to go on from."""
        try:
            with open(self.path(out) + '.partial.json') as file:
                state = json.load(file)
        except FileNotFoundError:
            return False
        return state['image'] + sum(state['planes']) > 0

    def kill_at(self, words, out, writes):
        """Ends the run with SIGKILL, at a random moment after so many writes of planes. False: it was quicker."""
        run = self.process([str(writes), *words], program=[sys.executable, '-c', KILLED])
        _, errors = run.communicate(timeout=120)
        self.assertIn(run.returncode, (0, -signal.SIGKILL), errors)
        return not os.path.exists(self.path(out))

    def killed_often(self, name, *flags, array=None, times=4):
        source = self.save('x.npy', image(2, PLANES, 24, 20) if array is None else array)
        for folder in 'ab':
            os.mkdir(self.path(folder))
        slow = ('--swBatch=1',) if '--swBatch=3' not in flags else ()
        words = {folder: self.words(source, os.path.join(folder, name), *flags, *slow, '--resume') for folder in 'ab'}
        with mock.patch.object(_output.Output, 'write', autospec=True, side_effect=_output.Output.write) as write:
            code, text, errors = self.call(words['a'])
            self.assertEqual(code, 0, errors)
            whole = json.loads(text)
        out, kills = os.path.join('b', name), 0
        for _ in range(4 * times):
            if self.kill_at(words['b'], out, random.randint(1, max(1, write.call_count // 3))):
                kills += 1
            else:   # a quick run that ended by itself: the next one begins anew
                (shutil.rmtree if os.path.isdir(self.path(out)) else os.remove)(self.path(out))
            if kills >= times and self.resumable(out):
                break
        self.assertGreaterEqual(kills, times)
        self.assertTrue(self.resumable(out))
        code, text, errors = self.call(words['b'])
        self.assertEqual(code, 0, errors)
        found = json.loads(text)
        self.assertTrue(found['resumed'])
        for count in ('windows', 'planes'):   # after a first plane alone they are those of all; test_it_redoes_little has a bound
            self.assertLessEqual(found[count], whole[count])
        self.assertEqual(sha256(self.path(out)), sha256(self.path(os.path.join('a', name))))
        self.assertEqual([one for one in os.listdir(self.path('b')) if one != name], [])

    def test_npy(self):
        self.killed_often('y.npy', '--overlap=0.5', times=KILLS)

    def test_npy_in_batches_across_rows_of_windows_and_in_steps_of_equal_length(self):
        self.killed_often('y.npy', '--mode=halo', '--halo=2,1,1', '--placement=even', '--swBatch=3', '--normalize=zscore')

    def test_time_points(self):
        self.killed_often('y.npy', '--reduce=argmax', '--normalize=zscore', '--overlap=0.5', array=image(5, 2, PLANES // 5, 24, 20))

    def test_bands(self):
        self.killed_often('y.npy', '--overlap=0.5', '--memory=96K', '--reduce=argmax', array=image(2, 60, 100, 20))

    def test_a_grid(self):
        self.killed_often('y.npy', '--overlap=0.5', '--grid=500,30,31', '--reduce=argmax', array=image(2, 200, 24, 20))

    @needs('zarr')
    def test_ome_zarr(self):
        self.killed_often('y.ome.zarr', '--reduce=argmax', '--overlap=0.5')

    @needs('zarr')
    def test_ome_zarr_in_bands(self):
        self.killed_often('y.ome.zarr', '--overlap=0.5', '--memory=128K', '--chunks=1,8,16,16', array=image(2, 60, 100, 20))

    @needs('tifffile')
    def test_tiff(self):
        self.killed_often('y.ome.tif', '--reduce=argmax', '--overlap=0.5', '--compress=zlib')

    @needs('nibabel')
    def test_nifti(self):
        self.killed_often('y.nii', '--overlap=0.7', '--outputType=float32')


class Continued(SegmentCase):
    def setUp(self):
        super().setUp()
        self.source = self.save('x.npy', image(2, 90, 21, 17))

    def stop(self, out, *flags, writes=4):
        """A run that is interrupted behind so many writes, in this process."""
        write, left = _output.Output.write, [writes]

        def stopping(output, *arguments):
            write(output, *arguments)
            left[0] -= 1
            if not left[0]:
                raise KeyboardInterrupt
        with mock.patch.object(_output.Output, 'write', stopping):
            code, text, errors = self.call(self.words(self.source, out, *flags))
        self.assertEqual((code, text), (130, ''))
        self.assertRegex(errors.splitlines(True)[-1], r'^tenfold: interrupted after \d+ of 90 planes; --resume goes on with .*\.partial\n$')

    def test_it_redoes_little(self):
        whole = self.segment(self.source, 'w.npy')
        self.stop('y.npy')
        found = self.segment(self.source, 'y.npy', '--resume')
        self.assertLess(found['planes'], whole['planes'])
        of_slab = whole['windows'] // 15 * 2   # two rows of windows touch a plane
        self.assertLessEqual(found['windows'], whole['windows'] * found['planes'] / 90 + of_slab)
        self.assertEqual(sha256(self.path('y.npy')), sha256(self.path('w.npy')))

    def test_what_changed_is_named(self):
        self.stop('y.npy', '--overlap=0.5', '--normalize=zscore')
        partial = sorted(os.listdir(self.folder))
        for words, flags in ((r'the killed run had --overlap=0.5, this one has --overlap=0.25', ['--overlap=0.25', '--normalize=zscore']),
                             (r'the killed run had --overlap=0.5, this one has no --overlap', ['--normalize=zscore']),
                             (r'the killed run had no --reduce, this one has --reduce=argmax',
                              ['--overlap=0.5', '--normalize=zscore', '--reduce=argmax']),
                             (r'the killed run had no --noTF32, this one has --noTF32',
                              ['--overlap=0.5', '--normalize=zscore', '--build=--noTF32'])):
            self.fails(2, words, self.words(self.source, 'y.npy', '--resume', *flags))
        same = self.words(self.source, 'y.npy', '--resume', '--overlap=0.5', '--normalize=zscore')
        stat = os.stat(self.source)
        os.utime(self.source, ns=(stat.st_atime_ns, stat.st_mtime_ns + 1))
        self.fails(2, 'the input changed since', same)
        os.utime(self.source, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        os.rename(self.model, self.path('kept.onnx'))
        self.save_model('m.onnx', network(seed=9))
        self.fails(2, 'the model or plan changed since', same)
        os.replace(self.path('kept.onnx'), self.model)
        with open(self.path('y.npy.partial.0.plan'), 'ab') as file:
            file.write(b'.')
        self.fails(2, 'the plan of the killed run is missing or changed', same)
        self.assertEqual(sorted(os.listdir(self.folder)), partial)
        self.segment(self.source, 'y.npy')   # without --resume it begins anew

    def test_without_a_partial_file_it_begins(self):
        self.assertFalse(self.segment(self.source, 'y.npy', '--resume')['resumed'])
        self.stop('z.npy')
        os.unlink(self.path('z.npy.partial'))
        code, _, errors = self.call(self.words(self.source, 'z.npy', '--resume'))
        self.assertEqual(code, 2)
        self.assertIn('the .partial file beside it is gone', errors)
        self.segment(self.source, 'z.npy', '--resume')

    def test_a_run_that_was_killed_after_the_rename_is_complete(self):
        with mock.patch('tenfold.imaging.segment._resume.State.remove', lambda state: None):
            self.call(self.words(self.source, 'y.npy'))
        self.assertTrue(os.path.exists(self.path('y.npy.partial.json')))
        before = sha256(self.path('y.npy'))
        found = self.segment(self.source, 'y.npy', '--resume')
        self.assertEqual((found['resumed'], found['windows'], sha256(self.path('y.npy'))), (True, 0, before))

    @needs('PIL')
    def test_its_preview_is_that_of_a_whole_run(self):
        self.segment(self.source, 'w.npy', '--reduce=argmax', f'--preview={self.path("w.png")}')
        self.stop('y.npy', '--reduce=argmax')
        self.segment(self.source, 'y.npy', '--reduce=argmax', f'--preview={self.path("y.png")}', '--resume')
        self.assertEqual(sha256(self.path('y.png')), sha256(self.path('w.png')))

    def test_other_bands_are_refused(self):
        tall = self.save('x.npy', image(2, 90, 100, 17))
        self.stop('y.npy', '--memory=128K', writes=20)
        words = self.words(tall, 'y.npy', '--resume')
        self.fails(2, r'the bands of the killed run end at rows \[.*\], those of this one at \[100\]; give --memory', words)
        self.call([*words, '--memory=128K'])
        self.segment(tall, 'w.npy')
        self.assertEqual(sha256(self.path('y.npy')), sha256(self.path('w.npy')))

    def test_nan_before_the_kill_are_counted(self):
        array = image(2, 90, 21, 17, dtype='float32')
        array[0, 1, 2, 3] = array[1, 80, 2, 3] = np.nan
        self.source = self.save('n.npy', array)
        self.stop('y.npy', '--nan=zero')
        self.assertEqual(self.segment(self.source, 'y.npy', '--nan=zero', '--resume')['nan'], 2)

    def test_nan_before_the_kill_are_counted_on_a_grid(self):
        array = image(2, 90, 21, 17, dtype='float32')
        array[0, 1, 2, 3] = array[1, 20, 2, 3] = array[1, 80, 2, 3] = np.nan
        self.source = self.save('n.npy', array)
        flags = ('--nan=zero', '--grid=90,30,9')
        for writes in (3, 25, 60):
            self.stop(f'y{writes}.npy', *flags, writes=writes)
            self.assertEqual(self.segment(self.source, f'y{writes}.npy', *flags, '--resume')['nan'], 3)


if __name__ == '__main__':
    unittest.main()
