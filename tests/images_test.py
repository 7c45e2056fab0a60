#!/usr/bin/env python3
"""Photographs as samples: images_test.py TENFOLD. Pillow and NumPy judge what a model is given."""

import os
import struct
import zlib

import cli_case
from cli_case import FLOAT, TensorProto, helper, np, save_model
from image_case import IMAGENET, Image, ImageCase, MEAN, STD, cropped, levels, picture, resized


class Reading(ImageCase):
    def near(self, got, expected, maximum, mean=0.05):
        self.assertEqual(got.shape, expected.shape)
        off = np.abs(got.astype(np.float64) - expected)
        self.assertLessEqual(off.max(), maximum)
        self.assertLessEqual(off.mean(), mean)

    def test_png_is_resized_as_by_pillow(self):
        for width, height, spec, resize, crop in (
            (60, 45, 'resize:32,crop:24', 32, (24, 24)),          # smaller
            (45, 61, 'resize:27,crop:24', 27, (24, 24)),          # by odd factors, half a pixel to cut
            (300, 200, 'resize:24,crop:24', 24, (24, 24)),        # much smaller
            (20, 13, 'resize:40,crop:24', 40, (24, 24)),          # larger
            (60, 45, 'resize:24x24', (24, 24), (24, 24)),         # both sides
            (45, 60, 'resize:30x50,crop:24', (30, 50), (24, 24)),
            (24, 24, '', 24, (24, 24)),                           # nothing to do
            (50, 31, '', 24, (24, 24)),                           # the input's size
        ):
            with self.subTest(spec=spec, width=width, height=height):
                path = self.save('a.png', picture(width, height))
                got, _ = self.given('a.png', (spec + ',scale:1').lstrip(','))
                # Pillow 13 begins with the columns where it finds that shorter; each pass rounds.
                self.near(got, levels(path, resize, crop)[None], 1, mean=0.3 if 'x50' in spec else 0.05)

    def test_all_kinds_of_png(self):
        rgb = picture(24, 24)
        half = Image.fromarray(np.arange(24 * 24, dtype=np.uint8).reshape(24, 24))
        rgba = rgb.copy()
        rgba.putalpha(half)
        for name, image in (
            ('gray', rgb.convert('L')), ('rgba', rgba), ('palette', rgb.quantize(32)), ('gray_alpha', rgba.convert('LA')),
            ('bits', rgb.convert('1')),
        ):  # fmt: skip
            with self.subTest(name):
                path = self.save(f'{name}.png', image)
                self.near(self.given(f'{name}.png', 'scale:1')[0], levels(path, 24, (24, 24))[None], 0)
        self.save('interlaced.png', rgb)
        wide = np.arange(24 * 24, dtype=np.uint16).reshape(24, 24) * 113
        self.save('wide.png', Image.fromarray(wide))
        self.near(self.given('wide.png', 'scale:1')[0], np.broadcast_to(wide / 257, (1, 3, 24, 24)), 1, mean=1)

    def test_levels_stay_whatever_png_says_of_brightness(self):
        path = self.save('a.png', picture(24, 24))
        plain = open(path, 'rb').read()
        chunk = b'gAMA' + struct.pack('>I', 100000)
        self.write('linear.png', plain[:33] + struct.pack('>I', 4) + chunk + struct.pack('>I', zlib.crc32(chunk)) + plain[33:])
        self.near(self.given('linear.png', 'scale:1')[0], levels(path, 24, (24, 24))[None], 0)

    def test_jpeg(self):
        for name, image, options in (
            ('420', picture(70, 50), dict(quality=90)),
            ('444', picture(70, 50), dict(quality=75, subsampling=0)),
            ('progressive', picture(71, 53), dict(progressive=True)),
            ('gray', picture(70, 50).convert('L'), dict()),
        ):
            with self.subTest(name):
                path = self.save(f'{name}.jpg', image, **options)
                got, _ = self.given(f'{name}.jpg', 'resize:32,crop:24,scale:1')
                self.near(got, levels(path, 32, (24, 24))[None], 2, mean=0.2)

    def test_values_layouts_and_orders(self):
        path = self.save('a.png', picture(40, 30))
        x = levels(path, 28, (24, 20))
        normal = (x / 255 - np.float32(MEAN)[:, None, None]) / np.float32(STD)[:, None, None]
        one = np.asarray(cropped(resized(Image.open(path).convert('L'), 28), 24, 20), np.float32)
        size = 'resize:28,crop:24x20'
        for spec, shape, expected in (
            (f'{size},{IMAGENET}', [1, 3, 24, 20], normal[None]),
            (f'{size},{IMAGENET}', ['n', 24, 20, 3], normal.transpose(1, 2, 0)[None]),
            (f'{size},{IMAGENET}', [3, 24, 20], normal),
            (f'{size},scale:1', [1, 3, 24, 20], x[None]),
            (f'{size},mean:0.5,std:0.5', [1, 3, 24, 20], (x[None] / 255 - 0.5) / 0.5),
            (f'{size},scale:1,order:bgr,mean:1/2/3', [1, 3, 24, 20], (x[::-1] - np.float32([1, 2, 3])[:, None, None])[None]),
            (f'{size},layout:nhwc', [1, 24, 20, 'c'], x.transpose(1, 2, 0)[None] / 255),
            (size, [1, 1, 24, 20], one[None, None] / 255),
            (size, [1, 24, 20, 1], one[None, :, :, None] / 255),
            ('resize:28,crop:24x20', ['n', 3, 'h', 'w'], x[None] / 255),
        ):
            with self.subTest(spec=spec, shape=shape):
                got, _ = self.given('a.png', spec, shape)
                self.assertEqual(got.dtype, np.float32)
                self.near(got, expected, 1.1 * (1 if 'scale:1' in spec else 1 / 255 / min(STD)), mean=0.01)

    def test_types_of_inputs(self):
        path = self.save('a.png', picture(24, 24))
        x = levels(path, 24, (24, 24))[None]
        for type, spec, expected in (
            (TensorProto.UINT8, '', x.astype(np.uint8)),
            (TensorProto.INT8, 'mean:128', (x - 128).astype(np.int8)),
            (TensorProto.INT32, '', x.astype(np.int32)),
            (TensorProto.FLOAT16, f'{IMAGENET}', None),
            (TensorProto.DOUBLE, 'scale:2', x.astype(np.float64) / 2),
        ):
            with self.subTest(type=type):
                got, _ = self.given('a.png', spec, type=type)
                if expected is None:
                    normal = (x[0] / np.float32(255) - np.float32(MEAN)[:, None, None]) / np.float32(STD)[:, None, None]
                    expected = normal.astype(np.float32).astype(np.float16)[None]
                self.assertEqual(got.dtype, expected.dtype)
                np.testing.assert_array_equal(got, expected)
        said = self.build('a.png', model=self.identity([1, 3, 24, 24], TensorProto.INT8), code=2)
        self.assertIn('level 128 becomes 128', said)

    def test_the_line_that_is_told_gives_the_same(self):
        self.save('p/a.png', picture(61, 45))
        for shape, full in (
            ((1, 3, 24, 24), 'resize:24,crop:24x24,scale:255,mean:0/0/0,std:1/1/1,layout:nchw,order:rgb'),
            (('n', 20, 28, 1), 'resize:28,crop:20x28,scale:255,mean:0,std:1,layout:nhwc'),
        ):
            first, said = self.given('p', '', shape)
            self.assertIn(f'1 photographs of \'{self.path("p")}\', as --image={full}\n', said)
            again, said = self.given('p', full, shape)
            np.testing.assert_array_equal(first, again)
            self.assertIn(f'as --image={full}\n', said)

    def test_files_in_the_order_of_names_and_batches(self):
        paths = [self.save(f'p/{n}', picture(24, 24, seed=i)) for i, n in enumerate(('c.png', 'a.png', 'B.PNG', 'd.png', 'e.png'))]
        self.save('p/inner/z.png', picture(24, 24))
        self.write('p/notes.txt', b'no image')
        expected = np.stack([levels(p, 24, (24, 24)) for p in sorted(paths)])
        np.testing.assert_array_equal(self.given('p', 'scale:1')[0], expected)
        np.testing.assert_array_equal(self.given('p', 'scale:1', (2, 3, 24, 24))[0], expected[:4])   # the last is no batch
        np.testing.assert_array_equal(self.given('p', 'scale:1', flags=['--samples=3'])[0], expected[:3])
        self.assertIn('5 photographs', self.build('p', model=self.identity([8, 3, 24, 24]), code=1))


class Refusals(ImageCase):
    def test_broken_images_are_left_out_or_refused(self):
        good = [self.save(f'p/{i:02}.jpg', picture(24, 24, seed=i)) for i in range(19)]
        whole = open(good[0], 'rb').read()
        ihdr = b'IHDR' + struct.pack('>IIBBBBB', 60000, 60000, 8, 2, 0, 0, 0)
        head = b'\x89PNG\r\n\x1a\n' + struct.pack('>I', 13) + ihdr + struct.pack('>I', zlib.crc32(ihdr))
        png = open(self.save('whole.png', picture(24, 24)), 'rb').read()
        self.save('cmyk.jpg', picture(24, 24).convert('CMYK'))
        for name, data, why in (
            ('05x.jpg', whole[:-60], 'remature end'),
            ('05x.jpg', whole[:20], "'"),
            ('05x.jpg', b'', 'it is empty'),
            ('05x.jpg', b'GIF89a' + whole, 'neither BMP, JPEG'),
            ('05x.jpg', open(self.path('cmyk.jpg'), 'rb').read(), 'CMYK'),
            ('05x.png', png[: len(png) // 2], "'"),
            ('05x.png', png[:-40] + b'0' * 40, "'"),
            ('05x.png', head + png[33:], '60000 x 60000 pixels'),
        ):
            with self.subTest(why=why, bytes=len(data)):
                path = self.write(f'p/{name}', data)
                got, said = self.given('p', 'scale:1')
                self.assertEqual(len(got), 19)
                self.assertIn(f"1 of 20 photographs cannot be used and are left out; the first is '{path}'", said)
                self.assertIn(why, said)
                os.remove(path)
        for name in ('03x.jpg', '11x.png'):
            self.write(f'p/{name}', b'')
        said = self.build('p', model=self.identity([1, 3, 24, 24]), code=1)
        self.assertIn('2 of 21 photographs cannot be used, more than 5 %; the first is', said)
        self.assertIn('03x.jpg', said)
        said = self.build('p/03x.jpg', model=self.identity([1, 3, 24, 24]), code=1)
        self.assertIn("1 of 1 photographs cannot be used: '", said)

    def test_names_tell_less_than_first_bytes(self):
        path = self.save('real.png', picture(24, 24))
        self.write('named.jpg', open(path, 'rb').read())
        np.testing.assert_array_equal(self.given('named.jpg', 'scale:1')[0], levels(path, 24, (24, 24))[None])

    def test_specifications_that_are_wrong(self):
        self.save('p/a.png', picture(30, 30))
        model = self.identity([1, 3, 24, 24])
        for spec, words in (
            ('resise:24', 'did you mean resize?'),
            ('resize', 'resize'),
            ('resize:0', '1 to 16384'),
            ('resize:a', 'N or HxW'),
            ('resize:2x3x4', 'N or HxW'),
            ('resize:99999', '1 to 16384'),
            ('crop:-3', 'N or HxW'),
            ('crop:20', 'crop:20x20 does not fit'),
            ('resize:20', 'leaves less than the 24x24'),
            ('resize:30x20', 'leaves less than the 24x24'),
            ('scale:0', 'above 0'),
            ('scale:nan', 'one number'),
            ('mean:1/2', 'three such as'),
            ('std:1/0/1', 'above 0'),
            ('layout:nchv', 'nchw or nhwc'),
            ('layout:nhwc', '24 channels as layout:nhwc'),
            ('order:rbg', 'rgb or bgr'),
            ('scale:1,scale:2', 'scale twice'),
        ):
            with self.subTest(spec):
                self.assertIn(words, self.build('p', f'--image={spec}', model=model, code=2))
        for shape, words in (
            ([1, 3, 24, 'w'], 'say crop:HxW or resize:HxW'),
            ([1, 'c', 24, 24], 'say layout:nchw or layout:nhwc'),
            ([1, 4, 24, 24], 'without 3 or 1 channels'),
            ([1, 24], 'which is no image'),
        ):
            with self.subTest(shape):
                self.assertIn(words, self.build('p', model=self.identity(shape), code=2))

    def test_folders_and_flags(self):
        self.save('p/a.png', picture(24, 24, seed=1))
        self.save('p/b.png', picture(24, 24, seed=2))
        os.mkdir(self.path('empty'))
        model = self.identity([1, 3, 24, 24])
        self.assertIn(f"no images in '{self.path('empty')}'", self.build('empty', model=model, code=1))
        os.mkdir(self.path('empty/inside'))
        self.assertIn(f"no images in '{self.path('empty')}'", self.build('empty', model=model, code=1))
        np.save(self.path('p/c.npy'), np.zeros((3, 3, 24, 24), np.float32))
        said = self.build('p', f"--dumpSamples={self.path('out.npz')}", model=model)
        self.assertIn('1 file of arrays and 2 photographs: the arrays are used', said)
        self.assertEqual(np.load(self.path('out.npz'))['x'].shape, (3, 3, 24, 24))
        got, said = self.given('p', 'scale:1')
        self.assertIn('the photographs are used', said)
        self.assertEqual(len(got), 2)
        self.assertIn('--image is for photographs', self.build('p/c.npy', '--image=scale:1', model=model, code=2))
        self.assertIn('writes .npz', self.build('p', '--dumpSamples=a.txt', model=model, code=2))
        for flag in ('--image=scale:1', '--checkData=p', '--labels=l', '--dumpSamples=a.npz'):
            self.assertIn(' needs --data', self.tenfold('exec', f'--onnx={model}', '--int8', flag, code=2).stderr)
        two = save_model(
            self.path('two.onnx'), [helper.make_node('Add', ['x', 'z'], ['y'])],
            [('x', FLOAT, [1, 3, 24, 24]), ('z', FLOAT, [1, 3, 24, 24])], [('y', FLOAT, [1, 3, 24, 24])],
        )  # fmt: skip
        said = self.build('p/a.png', model=two, code=2)
        self.assertIn("one input, and this one has 2 ('x', 'z'); --data=file.npz", said)

    def test_a_small_file_of_many_pixels(self):
        """Refused by what its header says, before memory is taken for it."""
        data = open(self.save('p/a.png', picture(24, 24)), 'rb').read()
        for width, height in ((1 << 13, (1 << 13) + 1), (60000, 60000), (68, 1000000)):
            header = b'IHDR' + struct.pack('>II', width, height) + data[24:29]
            self.write('p/a.png', data[:12] + header + struct.pack('>I', zlib.crc32(header)) + data[33:])
            said = self.build('p/a.png', '--image=resize:24,crop:24', model=self.identity([1, 3, 24, 24]), code=1)
            self.assertRegex(said, rf'a\.png.*{width} x {height} pixels, more than 2\^26')

    def test_a_folder_for_each_class(self):
        """ImageNet's: the first of each class, then the second of each; and what macOS leaves beside the files is none of them."""
        for i, name in enumerate(('n01/a.png', 'n01/b.png', 'n01/c.png', 'n02/a.png', 'n03/d.png', 'n03/e.png')):
            self.save(f'p/{name}', picture(24, 24, seed=i))
        for hidden in ('p/._n01.png', 'p/n01/._a.png', 'p/n01/.DS_Store', 'p/.trash/z.png'):
            os.makedirs(os.path.dirname(self.path(hidden)), exist_ok=True)
            self.write(hidden, b'Mac OS X')
        got, _ = self.given('p', 'scale:1')
        order = ('n01/a.png', 'n02/a.png', 'n03/d.png', 'n01/b.png', 'n03/e.png', 'n01/c.png')
        np.testing.assert_array_equal(got, [levels(self.path(f'p/{name}'), 24, (24, 24)) for name in order])

    def test_a_decoder_that_is_not_there_is_named_with_its_package(self):
        os.mkdir(self.path('bad'))
        self.save('a.jpg', picture(24, 24))
        self.save('a.png', picture(24, 24))
        model = self.identity([1, 3, 24, 24])
        for file, library, package in (('a.jpg', 'libturbojpeg.so.0', 'libturbojpeg0'), ('a.png', 'libpng16.so.16', 'libpng16-16')):
            self.write(f'bad/{library}', b'no library')
            said = self.build(file, model=model, code=1, env={**os.environ, 'LD_LIBRARY_PATH': self.path('bad')})
            self.assertIn(f"needs {library}, which cannot be opened (Debian's package is {package})", said)


if __name__ == '__main__':
    cli_case.main()
