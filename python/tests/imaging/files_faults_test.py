"""What is refused, and by which words: bad files and arguments, packages that are missing, full disks, sources that lie."""
import errno
import os
import pickle
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import numpy as np
from files_case import FilesCase, image, needs, open_sink, open_source, write

EXTENSIONS = ('.npy', '.nii', '.nii.gz', '.zarr', '.ome.tif', '.tif')


class Liar:
    """An array that says one thing and gives another."""

    def __init__(self, shape, dtype, give):
        self.shape, self.dtype, self.give = shape, np.dtype(dtype), give

    def __getitem__(self, parts):
        return self.give(parts)


def npy(shape, dtype="'<u2'", data=b'', version=b'\1\0'):
    text = f"{{'descr': {dtype}, 'fortran_order': False, 'shape': {shape}, }}".encode()
    text += b' ' * (63 - (len(text) + 10) % 64) + b'\n'
    return b'\x93NUMPY' + version + len(text).to_bytes(2, 'little') + text + data


class Files(FilesCase):
    def file(self, name, data):
        with open(self.path(name), 'wb') as file:
            file.write(data)
        return self.path(name)

    def test_missing_empty_unknown(self):
        for extension in EXTENSIONS:
            self.refused(OSError, ['none' + extension, 'no such'], open_source, self.path('none' + extension))
            if extension != '.zarr':
                self.refused(OSError, ['empty' + extension, 'empty file'], open_source, self.file('empty' + extension, b''))
        self.refused(
            OSError, ['a.czi', 'none that is known', '.npy', '.nii.gz', '.zarr', '.ome.tif'], open_source, self.file('a.czi', b'x')
        )
        self.refused(OSError, ['a.zarr', 'Zarr is a folder'], open_source, self.file('a.zarr', b'x'))
        self.refused(
            ValueError, ['out.czi', '.npy', '.nii.gz', '.zarr', 'labels/NAME'], open_sink, self.path('out.czi'), (4, 4), 'u1', axes='yx'
        )
        self.refused(ValueError, ['out.lsm', '.tif'], open_sink, self.path('out.lsm'), (4, 4), 'u1', axes='yx')
        self.refused(ValueError, ["format='tiff2'", 'ome-zarr-0.4'], open_sink, self.path('o.tif'), (4, 4), 'u1', axes='yx', format='tiff2')
        os.mkdir(self.path('nothing'))
        self.refused(OSError, ['nothing', 'without images', '.png', 'zarr.json'], open_source, self.path('nothing'))

    def test_npy_headers(self):
        good = npy((2, 3), data=bytes(12))
        self.assertEqual(open_source(self.file('good.npy', good)).shape, (2, 3))
        for name, data, words in (
                ('cut', good[:-1], ['cut', '[2, 3]']),
                ('header', good[:20], ['header is cut']),
                ('text', b'not an array', ['not an NPY file']),
                ('object', npy((2,), "'|O'", pickle.dumps([print])), ['Python objects', 'pickle']),
                ('fields', npy((2,), "[('a', '<u2')]", bytes(4)), ['type']),
                ('complex', npy((2, 2), "'<c8'", bytes(32)), ['complex64', 'float']),
                ('none', npy((0, 4)), ['[0, 4]', 'one voxel']),
                ('scalar', npy('()', data=bytes(2)), ['one voxel']),
                ('overflow', npy((2**40, 2**40)), ['2^63']),
                ('negative', npy((-2, 3), data=bytes(12)), ['[-2, 3]', 'damaged']),
                ('large', npy((2**40, 4)), ['cut', f'{2**43:,}'[:5]])):
            with self.subTest(name):
                self.refused(OSError, [name + '.npy', *words], open_source, self.file(name + '.npy', data))

    @needs('nibabel')
    def test_nifti_headers(self):
        import nibabel
        nibabel.save(nibabel.Nifti1Image(image((4, 5, 6)), np.eye(4)), self.path('a.nii'))
        with open(self.path('a.nii'), 'rb') as file:
            data = bytearray(file.read())
        self.refused(OSError, ['text.nii', 'NIfTI'], open_source, self.file('text.nii', b'x' * 1000))
        for name, at, value, words in (('large', 42, 30000, ['large.nii', 'cut']), ('negative', 42, -3, ['negative.nii']),
                                       ('type', 70, 4096, ['type.nii']), ('complex', 70, 32, ['complex64'])):
            with self.subTest(name):
                changed = data.copy()
                changed[at:at + 2] = value.to_bytes(2, 'little', signed=True)
                self.refused(OSError, words, open_source, self.file(name + '.nii', changed))

    def test_a_file_that_shrinks_while_it_is_read(self):
        path = write(self.path('a.npy'), image((40, 50, 60)), 'zyx')
        with open_source(path) as source:
            os.truncate(path, 20000)
            self.refused(OSError, ['a.npy', 'cut'], source.read, (0, 0, 0), (1, 1, 1))   # and not a dead process

    def test_packages_that_are_missing(self):
        array = image((4, 5, 6))
        for extension, package in (('.nii', 'nibabel'), ('.tif', 'tifffile'), ('.ome.tif', 'imagecodecs'), ('.zarr', 'zarr')):
            with self.subTest(package), mock.patch.dict(sys.modules, {package: None}):
                words = [package, "pip install 'tenfold[imaging]'"]
                self.refused(OSError, words, open_sink, self.path('m' + extension), array.shape, array.dtype, axes='zyx')
                there = self.file('there' + extension, b'x') if extension != '.zarr' else self.path('there.zarr')
                if extension == '.zarr':
                    os.mkdir(there)
                self.refused(OSError, words, open_source, there)
                self.assertFalse(os.path.exists(self.path('m' + extension)))

    def test_npy_needs_no_package_and_importing_brings_none(self):
        code = '''
import sys
from tenfold.imaging.files import open_sink, open_source
for name in ("tifffile", "zarr", "nibabel", "imagecodecs", "zarrs", "PIL"):
    assert name not in sys.modules, name
    sys.modules[name] = None
import numpy
with open_sink("a.npy", (2, 3), "u1", axes="yx") as sink:
    sink.write((0, 0), numpy.ones((2, 3), "u1"))
assert open_source("a.npy").read((0, 0), (2, 3)).sum() == 6
'''
        done = subprocess.run([sys.executable, '-c', code], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)


class Arguments(FilesCase):
    def test_axes(self):
        path = write(self.path('a.npy'), image((3, 4, 5)), 'zyx')
        for axes, words in (('yx', ['2 axes', '[3, 4, 5]']), ('zzx', ["'z' twice"]), ('zyq', ["'q'", 't (time)'])):
            self.refused(ValueError, ['a.npy', *words], open_source, path, axes=axes)
            self.refused(ValueError, words[:1], open_sink, self.path('o.npy'), (3, 4, 5), 'u1', axes=axes)
        self.refused(ValueError, ['order', 'zyx'], open_source, path, order='xy')
        self.refused(ValueError, ['6 axes', 'axes='], open_source, np.ones((1,) * 6))
        self.reads(path, image((3, 4, 5)).transpose(2, 0, 1), axes='cyx', order='xcy')

    def test_channel_and_time(self):
        array = image((4, 3, 5, 6))
        for options, words in (({'channel': 3}, ['channel=3', '3 channels', '0 to 2']), ({'channel': -1}, ['channel=-1']),
                               ({'channel': []}, ['none']), ({'time': 4}, ['time=4', '4 time points']), ({'time': '2:9'}, ['0:4']),
                               ({'time': '3:3'}, ['time']), ({'time': 'all'}, ["time='all'"]), ({'time': '0:4:2'}, ['range'])):
            with self.subTest(**{name: str(value) for name, value in options.items()}):
                self.refused(ValueError, words, open_source, array, axes='tcyx', **options)
        self.refused(ValueError, ['channel=1', "'zyx'"], open_source, array[0], axes='zyx', channel=1)
        self.reads(array, array[1:3, [2, 0]], axes='tcyx', channel=[2, 0], time='1:3')
        self.reads(array, array[2, 1], axes='tcyx', channel=1, time=2)
        self.reads(array, array[:2, 1:3], axes='tcyx', channel=range(1, 3), time=slice(0, 2))

    def test_regions(self):
        source = open_source(image((3, 4, 5)))
        for starts, stops in (((0, 0, 0), (4, 4, 5)), ((-1, 0, 0), (1, 1, 1)), ((2, 0, 0), (2, 1, 1)), ((2, 0, 0), (1, 1, 1))):
            self.refused(ValueError, ['along z', 'extent is 3'], source.read, starts, stops)
        self.refused(ValueError, ['2 starts'], source.read, (0, 0), (1, 1))
        self.refused(ValueError, ['level=1', 'one level'], open_source, write(self.path('a.npy'), image((3, 4)), 'yx'), level=1)
        self.refused(ValueError, ['a source already'], open_source, source)
        self.refused(ValueError, ['object of list', 'shape'], open_source, [[1, 2]])

    def test_writes(self):
        sink = open_sink(self.path('w.npy'), (3, 4, 5), 'uint8', axes='zyx')
        self.refused(ValueError, ['along y', 'extent is 4'], sink.write, (0, 1, 0), np.zeros((1, 4, 5), 'u1'))
        self.refused(ValueError, ['int64', 'uint8', 'astype'], sink.write, (0, 0, 0), np.zeros((1, 4, 5), np.int64))
        self.refused(ValueError, ['2 axes'], sink.write, (0, 0, 0), np.zeros((4, 5), 'u1'))
        sink.write((0, 0, 0), np.zeros((2, 4, 5), 'u1'))
        self.refused(OSError, ['20 of 60 voxels', '.partial'], sink.close)
        self.assertEqual(os.listdir(self.folder), ['w.npy.partial'])
        self.refused(ValueError, ['closed'], sink.write, (0, 0, 0), np.zeros((1, 4, 5), 'u1'))

    def test_sources_that_do_not_keep_their_word(self):
        whole = image((4, 5, 6))
        for give, words in (
            (lambda parts: whole[parts][:1], ['[2, 2, 2]', '[1, 2, 2]']),
            (lambda parts: whole[parts].ravel(), ['[8]']),
            (lambda parts: whole[parts].astype('f4'), ['uint16', 'float32']),
            (lambda parts: 1 / 0, ['ZeroDivisionError', 'z 1:3']),
        ):
            source = open_source(Liar((4, 5, 6), 'u2', give))
            self.refused(OSError, words, source.read, (1, 1, 1), (3, 3, 3))
        self.refused(OSError, ['objects'], open_source, np.array([[None, 1]]))
        self.refused(OSError, ['2^63'], open_source, Liar((2**40, 2**40), 'u2', None))
        self.refused(ValueError, ['shape'], open_source, Liar((None, 4), 'u2', None))

    def test_outputs(self):
        path = write(self.path('a.npy'), image((3, 4, 5)), 'zyx')
        with open_source(path) as source:
            os.symlink(path, self.path('link.npy'))
            for output in (path, self.path('link.npy'), os.path.join(self.folder, '.', 'a.npy')):
                self.refused(
                    ValueError, ['output is the input'], open_sink, output, (3, 4, 5), 'u2', axes='zyx', like=source, overwrite=True
                )
        self.refused(ValueError, ['there already', 'overwrite=True'], open_sink, path, (3, 4, 5), 'u2', axes='zyx')
        self.refused(ValueError, ['no folder', 'make it'], open_sink, self.path('no/b.npy'), (3, 4, 5), 'u2', axes='zyx')
        self.refused(ValueError, ['compress', 'zarr'], open_sink, self.path('b.npy'), (3, 4, 5), 'u2', axes='zyx', compress='zstd')
        self.refused(OSError, ['objects'], open_sink, self.path('b.npy'), (3, 4), object, axes='yx')
        self.refused(ValueError, ['address'], open_sink, 's3://bucket/b.zarr', (3, 4), 'u1', axes='yx')
        self.assertEqual(sorted(os.listdir(self.folder)), ['a.npy', 'link.npy'])

    @needs('zarr')
    def test_outputs_inside_of_the_input(self):
        path = write(self.path('a.zarr'), image((3, 4, 5)), 'zyx')
        with open_source(path) as source:
            self.refused(
                ValueError, ['output is the input'], open_sink, path + '/', (3, 4, 5), 'u2', axes='zyx', like=source, overwrite=True
            )
            self.refused(
                ValueError, ['inside the input', 'labels/NAME'], open_sink, path + '/b.npy', (3, 4, 5), 'u2', axes='zyx', like=source
            )

    @needs('zarr')
    def test_zarr_options(self):
        for options, words in (
            ({'compress': 'rar'}, ['rar', 'zstd']),
            ({'chunks': (4, 4)}, ['chunks', "'zyx'"]),
            ({'chunks': (0, 4, 4)}, ['chunks']),
        ):
            self.refused(ValueError, words, open_sink, self.path('o.zarr'), (8, 8, 8), 'u1', axes='zyx', **options)

    def test_arrays_as_sinks(self):
        array = np.zeros((3, 4, 5), 'u2')
        write(array, image((3, 4, 5)), 'zyx', step=2)
        np.testing.assert_array_equal(array, image((3, 4, 5)))
        self.refused(ValueError, ['uint16[3, 4, 5]', 'uint8[3, 4, 5]'], open_sink, array, (3, 4, 5), 'u1', axes='zyx')
        self.refused(ValueError, ['takes no values'], open_sink, Liar((3, 4), 'u1', None), (3, 4), 'u1', axes='yx')


class Disks(FilesCase):
    def limited(self):
        """A file system of 1 MiB, where this user may mount one."""
        folder = tempfile.mkdtemp(dir=self.folder)
        done = subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder], capture_output=True, text=True)
        if done.returncode:
            self.skipTest(f'no small file system can be mounted here: {done.stderr.strip()}')
        self.addCleanup(subprocess.run, ['umount', '-l', folder], check=True)
        return folder

    def test_full_disk(self):
        folder = self.limited()
        array = image((64, 200, 200))   # 5 MB that do not compress
        for name in ('a.npy', 'a.nii', 'a.nii.gz', 'a.tif', 'a.zarr', 'b.zarr'):
            needed = {'nii': 'nibabel', 'tif': 'tifffile', 'zarr': 'zarr'}.get(name.split('.')[1], 'numpy')
            with self.subTest(name):
                self.skip_without(needed)
                path = os.path.join(folder, name)
                options = {'chunks': (8, 64, 64), 'shards': (8, 128, 128)} if name == 'b.zarr' else {}
                self.refused(OSError, [name, 'no space left', 'bytes are free', 'make room'], write, path, array, 'zyx', **options)
                self.assertFalse(os.path.exists(path))
                subprocess.run(['rm', '-rf', *(os.path.join(folder, left) for left in os.listdir(folder))], check=True)

    def test_a_file_system_that_reserves_nothing(self):
        with mock.patch('os.posix_fallocate', side_effect=OSError(errno.EOPNOTSUPP, 'not supported')):
            write(self.path('a.npy'), image((3, 4, 5)), 'zyx')
        self.reads(self.path('a.npy'), image((3, 4, 5)))

    def test_full_disk_of_a_writer_that_says_so(self):
        from tenfold.imaging.files._raw import RawFile
        with open_sink(self.path('a.npy'), (3, 4), 'u1', axes='yx') as sink:
            sink.write((0, 0), np.ones((3, 4), 'u1'))
        error = OSError(errno.ENOSPC, 'No space left on device')
        with mock.patch.object(RawFile, '_put', side_effect=error):
            sink = open_sink(self.path('a.npy'), (3, 4), 'u1', axes='yx', overwrite=True)
            self.refused(OSError, ['a.npy', 'no space left', 'bytes are free'], sink.write, (0, 0), np.zeros((3, 4), 'u1'))
            sink.abandon()
        self.reads(self.path('a.npy'), np.ones((3, 4), 'u1'))


if __name__ == '__main__':
    unittest.main()
