"""Folders of images as frames, frames from a pipe, and arrays of other libraries."""
import importlib
import io
import os
import subprocess
import sys
import threading
import time
import unittest

import numpy as np
from files_case import FilesCase, image, needs, open_sink, open_source, write

from tenfold.imaging.files import open_frames


@needs('PIL')
class Folder(FilesCase):
    def frames(self, arrays, extension='.png'):
        pillow = importlib.import_module('PIL.Image')
        os.mkdir(self.path('frames'))
        for number, array in enumerate(arrays):
            pillow.fromarray(array).save(self.path(f'frames/f{number}{extension}'))
        return self.path('frames')

    def test_gray_of_8_and_16_bits_in_order_of_numbers(self):
        for dtype in ('uint8', 'uint16'):
            with self.subTest(dtype):
                array = image((12, 20, 30), dtype)
                folder = self.frames(array)
                source = self.reads(folder, array)
                self.assertEqual((source.axes, source.chunks), ('tyx', (1, 20, 30)))
                self.reads(folder, array[3:9], time='3:9')
                os.rename(folder, self.path('done' + dtype))

    def test_colors(self):
        array = image((5, 20, 30, 3), 'uint8')
        folder = self.frames(array, '.bmp')
        self.assertEqual(self.reads(folder, array.transpose(0, 3, 1, 2)).axes, 'tcyx')
        self.reads(folder, array[:, :, :, 1], channel=1)

    @needs('tifffile')
    def test_tiff(self):
        import tifffile
        array = image((3, 20, 30), 'float32')
        os.mkdir(self.path('t'))
        for number, frame in enumerate(array):
            tifffile.imwrite(self.path(f't/{number}.tif'), frame)
        self.reads(self.path('t'), array, axes='zyx')

    def test_one_frame_is_read_ahead_and_each_once(self):
        from unittest import mock
        from tenfold.imaging.files import _folder
        folder, seen, decode = self.frames(image((8, 20, 30), 'uint8')), [], _folder.decode
        with mock.patch.object(_folder, 'decode', lambda path: seen.append(os.path.basename(path)) or decode(path)):
            with open_source(folder) as source:
                for number in range(8):
                    source.read((number, 0, 0), (number + 1, 10, 30))
                    source.read((number, 10, 0), (number + 1, 20, 30))
                    self.assertLessEqual(len(seen), number + 2)
                    deadline = time.monotonic() + 5
                    while len(seen) < min(number + 2, 8) and time.monotonic() < deadline:
                        time.sleep(0.001)
        self.assertEqual(seen, [f'f{number}.png' for number in range(8)])

    def test_frames_that_do_not_fit(self):
        folder = self.frames([*image((3, 20, 30), 'uint8'), image((20, 31), 'uint8')])
        with open_source(folder) as source:
            self.refused(OSError, ['f3.png', '[20, 31]', '[20, 30]'], source.read, (3, 0, 0), (4, 1, 1))
            with open(folder + '/f1.png', 'r+b') as file:
                file.truncate(60)
            self.refused(OSError, ['f1.png', 'cut'], source.read, (1, 0, 0), (2, 20, 30))


class Pipe(FilesCase):
    def y4m(self, frames, head):
        return b'YUV4MPEG2 ' + head + b'\n' + b''.join(b'FRAME\n' + frame for frame in frames)

    def test_y4m(self):
        luma = image((3, 5, 7), 'uint8')
        found = list(open_frames(io.BytesIO(self.y4m([frame.tobytes() for frame in luma], b'W7 H5 F25:1 Cmono'))))
        np.testing.assert_array_equal(found, luma)
        # Gray has no chroma: all three are the luma, stretched from 16..235.
        gray = [frame.tobytes() + bytes([128]) * (2 * 3 * 4) for frame in luma]
        reader = open_frames(io.BytesIO(self.y4m(gray, b'W7 H5 C420jpeg')))
        self.assertEqual((reader.shape, reader.dtype), ((3, 5, 7), np.uint8))
        expected = np.clip(np.rint((luma.astype(float) - 16) * 255 / 219), 0, 255)
        for one, other in zip(reader, expected, strict=True):
            for channel in one:
                np.testing.assert_allclose(channel, other, atol=1)
        # Red in BT.601: Y 81, Cb 90, Cr 240.
        red = bytes([81]) * 16 + bytes([90]) * 8 + bytes([240]) * 8
        (one,) = open_frames(io.BytesIO(self.y4m([red], b'W4 H4 C422')))
        np.testing.assert_allclose(one[:, 0, 0], [255, 0, 0], atol=2)

    def test_raw_and_stdin(self):
        array = image((4, 2, 5, 7), 'uint16')
        np.testing.assert_array_equal(list(open_frames(io.BytesIO(array.tobytes()), (2, 5, 7), 'u2')), array)
        code = 'from tenfold.imaging.files import open_frames\nprint(sum(int(f.sum()) for f in open_frames(shape=(2, 5, 7), dtype="u2")))'
        done = subprocess.run([sys.executable, '-c', code], input=array.tobytes(), capture_output=True, check=True)
        self.assertEqual(int(done.stdout), int(array.sum()))

    def test_two_are_in_flight(self):
        class Slow(io.RawIOBase):
            taken = 0

            def read(self, size=-1):
                self.taken += 1
                return bytes(size)
        stream = Slow()
        before = threading.active_count()
        frames = iter(open_frames(stream, (4, 4), 'u1'))
        next(frames)
        time.sleep(0.3)
        self.assertLessEqual(stream.taken, 3)   # the one in use, one that waits, one that is read
        frames.close()
        time.sleep(0.3)
        self.assertEqual(threading.active_count(), before)

    def test_bad_streams(self):
        good = self.y4m([bytes(35)] * 2, b'W7 H5 Cmono')
        for data, words in ((b'', ['empty', 'y4m']), (b'RIFF....', ['RIFF']), (b'YUV4MPEG2 W7\n', ['width and height']),
                            (b'YUV4MPEG2 W7 H5 C420p10\n', ['420p10', '8 bits']), (good[:-1], ['cut', 'frame 1', '34']),
                            (good[:14 + 10] + b'XXXX' + good[14 + 14:], ['FRAME'])):
            with self.subTest(str(data[:20])):
                self.refused(OSError, words, lambda: list(open_frames(io.BytesIO(data))))
        self.refused(OSError, ['cut', 'frame 0'], lambda: list(open_frames(io.BytesIO(b'abc'), (2, 2), 'u1')))
        self.refused(ValueError, ['both'], open_frames, io.BytesIO(), (2, 2))
        self.refused(ValueError, ['numbers'], open_frames, io.BytesIO(), (2, 2), object)


class Arrays(FilesCase):
    def test_numpy_and_memmap(self):
        array = image((3, 20, 30), '>u2')
        self.reads(array, array)
        self.reads(array[:, ::-2], array[:, ::-2])
        array.tofile(self.path('a.raw'))
        self.reads(np.memmap(self.path('a.raw'), '>u2', 'r', shape=array.shape), array)

    @needs('dask')
    def test_dask(self):
        import dask.array
        array = image((3, 20, 30))
        source = self.reads(dask.array.from_array(array, chunks=(1, 8, 16)), array)
        self.assertEqual(source.chunks, (1, 8, 16))

    @needs('torch')
    def test_torch(self):
        import torch
        array = image((3, 20, 30), 'float32')
        self.reads(torch.from_numpy(array), array)

    @needs('zarr')
    def test_zarr_as_source_and_sink(self):
        import zarr
        array = image((5, 20, 30))
        made = zarr.create_array(self.path('a.zarr'), shape=array.shape, dtype=array.dtype, chunks=(2, 8, 16))
        with open_sink(made, array.shape, array.dtype, axes='zyx') as sink:
            for z in range(5):
                sink.write((z, 0, 0), array[z:z + 1])
        self.assertEqual(self.reads(made, array).chunks, (2, 8, 16))

    @needs('tensorstore')
    def test_tensorstore(self):
        import tensorstore
        array = image((5, 20, 30))
        spec = {'driver': 'zarr3', 'kvstore': {'driver': 'file', 'path': self.path('t.zarr')}}
        made = tensorstore.open(spec, create=True, shape=array.shape, dtype=tensorstore.uint16).result()
        write(made, array, 'zyx')
        self.reads(made, array)

    @needs('h5py')
    def test_h5py(self):
        import h5py
        array = image((5, 20, 30))
        with h5py.File(self.path('a.h5'), 'w') as file:
            made = file.create_dataset('a', array.shape, array.dtype, chunks=(2, 8, 16))
            write(made, array, 'zyx')
            self.assertEqual(self.reads(made, array).chunks, (2, 8, 16))


if __name__ == '__main__':
    unittest.main()
