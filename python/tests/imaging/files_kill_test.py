"""Outputs whose process is killed: the old one stays whole, the new one is `.partial`, and `resume` ends with the same bytes."""
import hashlib
import os
import signal
import subprocess
import sys
import time
import unittest
from unittest import mock

import numpy as np
from files_case import FilesCase, GIVEN, image, needs, open_sink, write

SHAPE = (40, 64, 48)
NEEDED = {'npy': 'numpy', 'nii': 'nibabel', 'gz': 'nibabel', 'zarr': 'zarr', 'tif': 'tifffile'}
NAMES = ('a.npy', 'a.nii', 'a.nii.gz', 'a.zarr', 'a.ome.tif', 'a.tif')
CODE = '''
import sys, time
sys.path.insert(0, {tests!r})
from files_case import GIVEN, image, open_sink
array = image({shape})
with open_sink({path!r}, array.shape, array.dtype, axes="zyx", like=GIVEN, overwrite=True, resume={resume}, **{options}) as sink:
    for z in range({start}, 40, 4):
        sink.write((z, 0, 0), array[z:z + 4])
        print(z + 4, sink.pending("z"), flush=True)
        if z + 4 == {stop}:
            time.sleep(60)
'''


def options_of(name):
    return {'chunks': (16, 32, 32), 'shards': (16, 64, 64)} if name.endswith('.zarr') else {}


def digest(path):
    """Of a file, or of all files of a folder by name."""
    found = hashlib.sha256()
    files = [path] if os.path.isfile(path) else sorted(os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names)
    for name in files:
        found.update(os.path.relpath(name, path).encode() + b'\0')
        with open(name, 'rb') as file:
            found.update(file.read())
    return found.hexdigest()


class Kill(FilesCase):
    def killed(self, path, start=0, stop=28, resume=False):
        """Runs the writer in a process of its own and kills it behind `stop` planes: (planes written, what of them is pending)."""
        code = CODE.format(tests=os.path.dirname(os.path.abspath(__file__)), shape=SHAPE, path=path, start=start, stop=stop, resume=resume,
                           options=options_of(path))
        with subprocess.Popen([sys.executable, '-c', code], stdout=subprocess.PIPE, text=True) as process:
            for line in process.stdout:
                planes, pending = line.split()
                if int(planes) == stop:
                    break
            else:
                self.fail('the writer ended by itself')
            process.send_signal(signal.SIGKILL)
        return int(planes), None if pending == 'None' else int(pending)

    def test_killed_and_resumed(self):
        for name in NAMES:
            with self.subTest(name):
                self.skip_without(NEEDED[name.rpartition('.')[2]])
                path, array, old = self.path(name), image(SHAPE), image(SHAPE, seed=5)
                write(path, old, 'zyx', like=GIVEN, **options_of(name))
                before = digest(path)
                planes, pending = self.killed(path)
                self.assertEqual(digest(path), before)
                left = sorted(one for one in os.listdir(self.folder) if one.startswith(name + '.partial'))
                self.assertEqual(left, [name + '.partial' + ('.npy' if name.endswith(('.gz', '.tif')) else '')])
                self.reads(path, old)
                durable = planes if pending is None else pending
                self.assertEqual(durable, 16 if name.endswith('.zarr') else 28)   # whole shards only
                # Goes on where nothing is lost, and is killed once more; what lies before is not written again.
                planes, pending = self.killed(path, durable, 36, True)
                self.assertEqual(digest(path), before)
                durable = planes if pending is None else pending
                sink = open_sink(path, SHAPE, array.dtype, axes='zyx', like=GIVEN, overwrite=True, resume=True, **options_of(name))
                self.assertTrue(sink.resumed)
                for z in range(durable, 40, 4):
                    sink.write((z, 0, 0), array[z:z + 4])
                sink.close()
                self.reads(path, array)
                write(self.path('whole' + name), array, 'zyx', like=GIVEN, **options_of(name))
                if name != 'a.ome.tif':   # whose XML has a number at random
                    self.assertEqual(self.without_name(path), self.without_name(self.path('whole' + name)))
                self.assertEqual([one for one in os.listdir(self.folder) if 'partial' in one], [])

    def without_name(self, path):
        """The digest of an output, which may hold its own name."""
        if path.endswith('.zarr'):
            with open(path + '/zarr.json') as file:
                text = file.read()
            with open(path + '/zarr.json', 'w') as file:
                file.write(text.replace('wholea.zarr', 'a.zarr'))
        return digest(path)

    def test_resume_without_anything_left(self):
        sink = open_sink(self.path('a.npy'), (3, 4), 'u1', axes='yx', resume=True)
        self.assertFalse(sink.resumed)
        sink.write((0, 0), np.ones((3, 4), 'u1'))
        sink.close()
        self.assertTrue(os.path.exists(self.path('a.npy')))

    def test_resume_of_something_else(self):
        for name in NAMES:
            with self.subTest(name):
                self.skip_without(NEEDED[name.rpartition('.')[2]])
                open_sink(self.path(name), (8, 40, 50), 'uint8', axes='zyx').abandon()
                for shape, dtype in (((8, 40, 49), 'uint8'), ((8, 40, 50), 'uint16')):
                    words = [name + '.partial', 'resume', 'this run writes']
                    self.refused(OSError, words, open_sink, self.path(name), shape, dtype, axes='zyx', resume=True)
                open_sink(self.path(name), (8, 40, 49), 'uint16', axes='zyx').abandon()   # without resume it begins anew

    def test_an_exception_leaves_the_old_output(self):
        write(self.path('a.npy'), image((4, 5)), 'yx')
        with self.assertRaises(KeyboardInterrupt):
            with open_sink(self.path('a.npy'), (4, 5), 'uint16', axes='yx', overwrite=True) as sink:
                sink.write((0, 0), np.zeros((4, 5), 'u2'))
                raise KeyboardInterrupt
        self.reads(self.path('a.npy'), image((4, 5)))
        self.assertTrue(os.path.exists(self.path('a.npy.partial')))

    @needs('tifffile', 'imagecodecs')
    def test_killed_while_the_output_is_made_from_its_voxels(self):
        from tenfold.imaging.files import _tiff_out
        write(self.path('a.tif'), image((4, 20, 30), seed=5), 'zyx')
        def planes(raw, dtype):
            yield raw.read((slice(0, 1), slice(None), slice(None)))[0]
            raise KeyboardInterrupt
        with mock.patch.object(_tiff_out, 'planes', planes), self.assertRaises(KeyboardInterrupt):
            write(self.path('a.tif'), image((4, 20, 30)), 'zyx', overwrite=True)
        self.reads(self.path('a.tif'), image((4, 20, 30), seed=5))
        sink = open_sink(self.path('a.tif'), (4, 20, 30), 'uint16', axes='zyx', overwrite=True, resume=True)
        sink.close()   # all voxels were there
        self.reads(self.path('a.tif'), image((4, 20, 30)))

    @needs('zarr')
    def test_a_folder_is_replaced_in_one_step(self):
        """Another process that looks all the time finds an output, the old or the new."""
        write(self.path('a.zarr'), image((4, 5, 6)), 'zyx')
        code = (
            'import os, sys\nprint("ready", flush=True)\nwhile os.path.exists(sys.argv[2]):\n    assert os.path.exists(sys.argv[1]), "gone"'
        )
        flag = self.path('flag')
        open(flag, 'w').close()
        with subprocess.Popen([sys.executable, '-c', code, self.path('a.zarr/zarr.json'), flag], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as watcher:
            watcher.stdout.readline()
            for seed in range(30):
                write(self.path('a.zarr'), image((4, 5, 6), seed=seed), 'zyx', overwrite=True)
            time.sleep(0.05)
            os.unlink(flag)
            _, text = watcher.communicate()
        self.assertEqual((watcher.returncode, text), (0, ''))

    @needs('zarr')
    def test_a_file_system_without_the_exchange(self):
        from tenfold.imaging.files import _replace
        write(self.path('a.zarr'), image((4, 5, 6)), 'zyx')
        with mock.patch.object(_replace.ctypes, 'CDLL', lambda *rest, **more: None):
            write(self.path('a.zarr'), image((4, 5, 6), seed=1), 'zyx', overwrite=True)
        self.reads(self.path('a.zarr'), image((4, 5, 6), seed=1))
        self.assertEqual(os.listdir(self.folder), ['a.zarr'])


if __name__ == '__main__':
    unittest.main()
