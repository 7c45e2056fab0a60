#!/usr/bin/env python3
"""Photographs as samples: images_test.py TENFOLD. Pillow and NumPy judge what a model is given, ONNX Runtime what it answers."""

import os
import re
import struct
import sys
import unittest
import zlib

import cli_case
from cli_case import FLOAT, CliCase, TensorProto, helper, np, numpy_helper, save_model

try:
    import onnxruntime as ort
    from PIL import Image
except ImportError as missing:
    print('skipped:', missing, '(script/bootstrap python installs it)')
    sys.exit(77)

SHARED = os.environ.get('TENFOLD_SHARED', os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'shared'))
PHOTOGRAPHS = os.path.join(SHARED, 'data', 'imagenet-200')
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
IMAGENET = 'mean:0.485/0.456/0.406,std:0.229/0.224/0.225'


def picture(width, height, seed=0):
    """Patches of colours with noise on them: edges, areas, and detail that a resize averages away."""
    random = np.random.default_rng(seed)
    patches = random.integers(0, 256, (height // 7 + 1, width // 9 + 1, 3)).repeat(7, 0).repeat(9, 1)[:height, :width]
    return Image.fromarray(np.clip(patches + random.normal(0, 20, patches.shape), 0, 255).astype(np.uint8))


def resized(image, resize):
    """An int: the shorter side, as torchvision does it."""
    if isinstance(resize, int):
        long = int(resize * max(image.size) / min(image.size))
        resize = (long, resize) if image.width <= image.height else (resize, long)
    return image.resize((resize[1], resize[0]), Image.BILINEAR)


def cropped(image, height, width):
    left, top = round((image.width - width) / 2), round((image.height - height) / 2)
    return image.crop((left, top, left + width, top + height))


def levels(path, resize, crop, mode='RGB'):
    """[C,H,W] of 0 to 255."""
    array = np.asarray(cropped(resized(Image.open(path).convert(mode), resize), *crop), np.float32)
    return array.transpose(2, 0, 1) if array.ndim == 3 else array[None]


class ImageCase(CliCase):
    def save(self, name, image, **options):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        image.save(self.path(name), **options)
        return self.path(name)

    def identity(self, shape, type=FLOAT):
        return save_model(self.path('same.onnx'), [helper.make_node('Identity', ['x'], ['y'])], [('x', type, shape)], [('y', type, shape)])

    def build(self, data, *flags, model, code=0, **options):
        return self.tenfold(
            'exec', f'--onnx={model}', '--int8', f'--data={self.path(data)}', *flags, '--buildOnly', '--builderOptimizationLevel=0',
            code=code, **options,
        ).stderr  # fmt: skip

    def given(self, data, spec='', shape=(1, 3, 24, 24), type=FLOAT, flags=()):
        """What the model is given, and what is said about it."""
        out = self.path('given.npz')
        image = [f'--image={spec}'] if spec else []
        said = self.build(data, *image, f'--dumpSamples={out}', *flags, model=self.identity(shape, type))
        return np.load(out)['x'], said

    def net(self, side=32, batch='n'):
        """Two convolutions and a product: [n,3,side,side] to 10 classes."""
        random = np.random.default_rng(3)
        weights = {
            'w1': random.normal(0, 0.3, (16, 3, 3, 3)), 'w2': random.normal(0, 0.1, (16, 16, 3, 3)), 'w3': random.normal(0, 0.5, (16, 10)),
        }  # fmt: skip
        node = helper.make_node
        return save_model(
            self.path('net.onnx'),
            [
                node('Conv', ['x', 'w1'], ['a'], strides=[2, 2]),
                node('Relu', ['a'], ['b']),
                node('Conv', ['b', 'w2'], ['c']),
                node('Relu', ['c'], ['d']),
                node('GlobalAveragePool', ['d'], ['e']),
                node('Flatten', ['e'], ['f']),
                node('MatMul', ['f', 'w3'], ['y']),
            ],
            [('x', FLOAT, [batch, 3, side, side])],
            [('y', FLOAT, [batch, 10])],
            [numpy_helper.from_array(v.astype(np.float32), k) for k, v in weights.items()],
        )


class Reading(ImageCase):
    def near(self, got, want, most, mean=0.05):
        self.assertEqual(got.shape, want.shape)
        off = np.abs(got.astype(np.float64) - want)
        self.assertLessEqual(off.max(), most)
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
            ('grey', rgb.convert('L')), ('rgba', rgba), ('palette', rgb.quantize(32)), ('grey_alpha', rgba.convert('LA')),
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
            ('grey', picture(70, 50).convert('L'), dict()),
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
        for spec, shape, want in (
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
                self.near(got, want, 1.1 * (1 if 'scale:1' in spec else 1 / 255 / min(STD)), mean=0.01)

    def test_types_of_inputs(self):
        path = self.save('a.png', picture(24, 24))
        x = levels(path, 24, (24, 24))[None]
        for type, spec, want in (
            (TensorProto.UINT8, '', x.astype(np.uint8)),
            (TensorProto.INT8, 'mean:128', (x - 128).astype(np.int8)),
            (TensorProto.INT32, '', x.astype(np.int32)),
            (TensorProto.FLOAT16, f'{IMAGENET}', None),
            (TensorProto.DOUBLE, 'scale:2', x.astype(np.float64) / 2),
        ):
            with self.subTest(type=type):
                got, _ = self.given('a.png', spec, type=type)
                if want is None:
                    normal = (x[0] / np.float32(255) - np.float32(MEAN)[:, None, None]) / np.float32(STD)[:, None, None]
                    want = normal.astype(np.float32).astype(np.float16)[None]
                self.assertEqual(got.dtype, want.dtype)
                np.testing.assert_array_equal(got, want)
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
        want = np.stack([levels(p, 24, (24, 24)) for p in sorted(paths)])
        np.testing.assert_array_equal(self.given('p', 'scale:1')[0], want)
        np.testing.assert_array_equal(self.given('p', 'scale:1', (2, 3, 24, 24))[0], want[:4])   # the last is no batch
        np.testing.assert_array_equal(self.given('p', 'scale:1', flags=['--samples=3'])[0], want[:3])
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
            ('05x.jpg', b'GIF89a' + whole, 'neither JPEG nor PNG'),
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

    def test_a_decoder_that_is_not_there_is_named_with_its_package(self):
        os.mkdir(self.path('bad'))
        self.save('a.jpg', picture(24, 24))
        self.save('a.png', picture(24, 24))
        model = self.identity([1, 3, 24, 24])
        for file, library, package in (('a.jpg', 'libturbojpeg.so.0', 'libturbojpeg0'), ('a.png', 'libpng16.so.16', 'libpng16-16')):
            self.write(f'bad/{library}', b'no library')
            said = self.build(file, model=model, code=1, env={**os.environ, 'LD_LIBRARY_PATH': self.path('bad')})
            self.assertIn(f"needs {library}, which cannot be opened (Debian's package is {package})", said)


class Labelled(ImageCase):
    def setUp(self):
        super().setUp()
        self.model = self.net()
        self.paths = [self.save(f'p/{i:02}.png', picture(40 + i, 36, seed=i)) for i in range(24)]
        self.x = np.stack([levels(p, 32, (32, 32)) for p in self.paths]) / np.float32(255)
        self.classes = ort.InferenceSession(self.model).run(None, {'x': self.x})[0].argmax(1)
        self.shapes = [f'--{which}Shapes=x:1x3x32x32' for which in ('min', 'opt', 'max')]

    def accuracy(self, said):
        words = r"accuracy by 'y' on (\d+) labelled samples .*: the plan ([\d.]+) %, the model in f32 ([\d.]+) %; .* ([\d.]+) %"
        found = re.search(words, said)
        self.assertTrue(found, said)
        return int(found[1]), *(float(g) for g in found.groups()[1:])

    def plan_classes(self):
        plan, out = self.path('net.plan'), self.path('out.npz')
        got = []
        for x in self.x:
            np.save(self.path('x.npy'), x[None])
            self.tenfold('exec', f'--loadEngine={plan}', f"--loadInputs=x:{self.path('x.npy')}", f'--exportOutput={out}', *cli_case.ONCE)
            got.append(int(np.load(out)['y'].argmax()))
        return np.array(got)

    def labels(self, lines):
        return '--labels=' + self.write('labels.txt', ('\n'.join(lines) + '\n').encode())

    def test_accuracy_on_every_second_sample(self):
        wanted = self.classes.copy()
        wanted[[1, 2, 4, 7]] = (wanted[[1, 2, 4, 7]] + 1) % 10   # two of them check
        names = [os.path.basename(p) for p in self.paths]
        forms = [
            [str(c) for c in wanted],
            ['# by file', *reversed([f'{n} {c}' for n, c in zip(names, wanted)])],
            ['file,class', *[f'folder/{n},{c}' for n, c in zip(names, wanted)]],
        ]
        self.build('p', self.labels(forms[0]), f"--saveEngine={self.path('net.plan')}", *self.shapes, model=self.model)
        plan = self.plan_classes()
        odd = slice(1, None, 2)
        want = [100 * np.mean(a[odd] == b[odd]) for a, b in ((plan, wanted), (self.classes, wanted), (plan, self.classes))]
        self.assertAlmostEqual(want[1], 100 * 10 / 12)
        for lines in forms:
            count, *told = self.accuracy(self.build('p', self.labels(lines), *self.shapes, model=self.model))
            self.assertEqual(count, 12)
            np.testing.assert_allclose(told, want, atol=0.06)
        np.savez(self.path('all.npz'), x=self.x)   # rows of arrays, by their number
        count, *told = self.accuracy(self.build('all.npz', self.labels(forms[0]), *self.shapes, model=self.model))
        np.testing.assert_allclose(told, want, atol=0.06)
        eight = [f'--{which}Shapes=x:8x3x32x32' for which in ('min', 'opt', 'max')]
        count, *told = self.accuracy(self.build('p', self.labels(forms[0]), *eight, model=self.model))
        self.assertEqual(count, 8)   # of three batches the second checks
        self.assertAlmostEqual(told[1], 100 * np.mean(self.classes[8:16] == wanted[8:16]), delta=0.06)

    def test_other_data_checks(self):
        for i in (3, 5, 8):
            self.save(f'q/{i}.png', Image.open(self.paths[i]))
        lines = [str(self.classes[3]), str((self.classes[5] + 1) % 10), str(self.classes[8])]
        said = self.build('p', f"--checkData={self.path('q')}", self.labels(lines), *self.shapes, model=self.model)
        self.assertIn("3 photographs of '" + self.path('q'), said)
        self.assertIn('24 samples in', said)             # all of --data gave ranges
        self.assertIn("'y', on 3 other samples", said)
        count, _, floats, _ = self.accuracy(said)
        self.assertEqual(count, 3)
        self.assertAlmostEqual(floats, 66.7, delta=0.06)
        self.assertIn('--checkData: there is no', self.build('p', '--checkData=absent', model=self.model, code=1))

    def test_sides_that_the_model_leaves_open_are_those_of_the_photographs(self):
        model = save_model(
            self.path('open.onnx'),
            [helper.make_node('Conv', ['x', 'w'], ['a']), helper.make_node('ReduceMean', ['a', 'axes'], ['y'], keepdims=0)],
            [('x', FLOAT, ['n', 3, 'h', 'w'])],
            [('y', FLOAT, ['n', 16])],
            [
                numpy_helper.from_array(np.random.default_rng(1).normal(0, 0.2, (16, 3, 3, 3)).astype(np.float32), 'w'),
                numpy_helper.from_array(np.array([2, 3]), 'axes'),
            ],
        )
        said = self.build('p', '--image=crop:24x20', model=model)
        self.assertIn("'x' has dynamic sides and no profile: it is built for 1x3x24x20", said)
        self.assertIn("'y', on 12 other samples", said)

    def test_labels_that_do_not_fit(self):
        good = [str(c) for c in self.classes]
        for lines, words in (
            (good[:20], '20 labels, too few'),
            ([*good[:5], 'cat', *good[6:]], 'line 6'),
            ([*good[:5], '-1', *good[6:]], 'line 6'),
            ([*good[:5], 'a.png 3', *good[6:]], 'another form'),
            ([*good[:23], '10'], 'class 10'),
            (['00.png 1', '00.png 2'], 'another class'),
            (['00.png 1'], "does not name '"),
            (['# nothing'], 'no labels in'),
        ):
            with self.subTest(words):
                said = self.build('p', self.labels(lines), f"--saveEngine={self.path('no.plan')}", *self.shapes, model=self.model, code=1)
                self.assertIn(words, said)
                self.assertFalse(os.path.exists(self.path('no.plan')))
        self.assertIn('no output of classes', self.build('p', self.labels(good), model=self.identity([1, 3, 32, 32]), code=1))
        self.assertIn('no sample checks', self.build('p/00.png', self.labels(good), *self.shapes, model=self.model, code=1))


class Photographs(ImageCase):
    def test_a_folder_calibrates_as_arrays_of_pillow_do(self):
        if not os.path.exists(PHOTOGRAPHS):
            self.skipTest(f'there is no {PHOTOGRAPHS}')
        names = sorted(n for n in os.listdir(PHOTOGRAPHS) if n.endswith('.jpg'))
        x = np.stack([levels(os.path.join(PHOTOGRAPHS, n), 73, (64, 64)) for n in names]) / np.float32(255)
        x = ((x - np.float32(MEAN)[:, None, None]) / np.float32(STD)[:, None, None]).astype(np.float32)
        np.savez(self.path('pillow.npz'), x=x)
        model = self.net(side=64)
        spec = f'resize:73,crop:64,scale:255,{IMAGENET},layout:nchw'
        shapes = [f'--{which}Shapes=x:1x3x64x64' for which in ('min', 'opt', 'max')]
        said = {
            'folder': self.build(PHOTOGRAPHS, f'--image={spec}', f"--dumpSamples={self.path('ours.npz')}", *shapes, model=model),
            'arrays': self.build('pillow.npz', *shapes, model=model),
        }
        errors = {k: float(re.search(r"relative l2 error of 'y', on 100 other samples: ([\d.e-]+)", s)[1]) for k, s in said.items()}
        self.assertAlmostEqual(errors['folder'], errors['arrays'], delta=0.1 * errors['arrays'])
        self.assertLess(errors['folder'], 0.1)
        off = np.abs(np.load(self.path('ours.npz'))['x'] - x) * 255 * np.float32(STD)[:, None, None]
        print(f'photographs: at most {off.max():.2f} levels from Pillow, {off.mean():.4f} on the mean; errors {errors}')
        self.assertLessEqual(off.max(), 2.01)


if __name__ == '__main__':
    cli_case.main()
