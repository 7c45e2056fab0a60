#!/usr/bin/env python3
"""Arrays of --loadInputs, --data and compare as NumPy writes them: types, orders, archives, ranks: cli_arrays_test.py TENFOLD.

NumPy is the truth."""

import struct
import zipfile
import zlib

import cli_case
from cli_case import FLOAT, ONCE, CliCase, TensorProto, helper, np, save_model

RUN_FAILED, USAGE = 1, 2


class Arrays(CliCase):
    """v.onnx: y = -v for volumes v[1, 1, z, y, x]."""

    def setUp(self):
        super().setUp()
        form = [1, 1, 'z', 'y', 'x']
        self.volumes = save_model(self.path('v.onnx'), [helper.make_node('Neg', ['v'], ['y'])], [('v', FLOAT, form)], [('y', FLOAT, form)])
        self.v = (np.arange(2 * 3 * 5) - 11).reshape(1, 1, 2, 3, 5).astype(np.float32)

    def answer(self, name, model=None, *flags):
        spec = self.path(name) if name.endswith('.npz') else f'v:{self.path(name)}'
        source = model or f'--onnx={self.volumes}'
        done = self.tenfold('exec', source, f'--loadInputs={spec}', f"--exportOutput={self.path('o.npz')}", *flags, *ONCE)
        with np.load(self.path('o.npz')) as arrays:
            return arrays['y'], done.stderr

    def gives(self, name, reported='', **options):
        for model in (None, f'--loadEngine={self.plan}') if options.get('plan') else (None,):
            y, said = self.answer(name, model)
            np.testing.assert_array_equal(y, -self.v, name)
            self.assertEqual(said.count(' is converted to the model'), 1 if reported else 0, said)
            self.assertIn(reported, said)

    def test_types_orders_and_archives(self):
        self.plan = self.make_plan('v.plan', self.volumes, *(f'--{k}Shapes=v:1x1x2x3x5' for k in ('min', 'opt', 'max')))
        for kind in (np.float64, np.float16, np.int8, np.int16, np.int32, np.int64, '>f4', '>f8', '>i2'):
            for form in (np.ascontiguousarray, np.asfortranarray):
                np.save(self.path('a.npy'), form(self.v.astype(kind)))
                reported = '' if np.dtype(kind) == np.dtype('>f4') else f'{np.dtype(kind).name} is converted to the model\'s f32'
                self.gives('a.npy', reported, plan=True)
        self.v = np.abs(self.v)
        for kind in (np.uint8, np.uint16, np.uint32, np.uint64):
            np.save(self.path('a.npy'), self.v.astype(kind))
            self.gives('a.npy', f'{np.dtype(kind).name} is converted', plan=True)
        np.save(self.path('f.npy'), np.asfortranarray(self.v))
        self.gives('f.npy', plan=True)
        np.savez_compressed(self.path('c.npz'), v=self.v)
        self.gives('c.npz', plan=True)
        np.savez_compressed(self.path('d.npz'), v=np.asfortranarray(self.v.astype(np.uint16)))
        self.gives('d.npz', "d.npz['v']: uint16 is converted", plan=True)

    def test_a_large_archive(self):
        self.v = np.random.default_rng(7).integers(0, 5, (1, 1, 32, 64, 64)).astype(np.float32)
        np.savez_compressed(self.path('c.npz'), v=self.v)
        self.gives('c.npz')

    def test_axes_of_length_one_are_added_in_front(self):
        for rank in (3, 4):
            np.save(self.path('a.npy'), self.v.reshape(self.v.shape[5 - rank :]))
            y, said = self.answer('a.npy')
            np.testing.assert_array_equal(y, -self.v)
            self.assertIn('2x3x5 is taken as 1x1x2x3x5', said)
        np.save(self.path('six.npy'), self.v[None])
        self.refuses('six.npy: its shape is 1x1x1x2x3x5, the model takes 1x1x-1x-1x-1', 'six.npy')
        np.save(self.path('two.npy'), np.concatenate([self.v, self.v]))
        self.refuses('two.npy: its shape is 2x1x2x3x5, the model takes 1x1x-1x-1x-1', 'two.npy')

    def refuses(self, expected, name, *flags, code=RUN_FAILED):
        spec = self.path(name) if name.endswith('.npz') else f'v:{self.path(name)}'
        done = self.refused(code, expected, 'exec', f'--onnx={self.volumes}', f'--loadInputs={spec}', *flags, *ONCE)
        self.assertNotIn('Engine built', done.stderr)

    def test_all_is_refused_before_the_build(self):
        np.save(self.path('a.npy'), self.v)
        expected = 'a.npy: its shape is 1x1x2x3x5, the model takes 1x1x4x4x4'
        self.refuses(expected, 'a.npy', '--shapes=v:1x1x4x4x4')
        ranges = ('--minShapes=v:1x1x4x4x4', '--optShapes=v:1x1x8x8x8', '--maxShapes=v:1x1x9x9x9')
        self.refuses('give 1x1x4x4x4 to 1x1x9x9x9', 'a.npy', *ranges)
        np.save(self.path('s.npy'), np.full((1, 1, 2, 3, 5), 'a'))
        self.refuses("the array has type <U1, but f32 is needed", 's.npy')
        np.savez(self.path('w.npz'), w=self.v)
        self.refuses("--loadInputs: the model has no input 'w'; its inputs are: 'v'", 'w.npz', code=USAGE)
        np.save(self.path('large.npy'), np.full((1, 1, 2, 3, 5), 1e300))
        self.refuses('element 0 is 1e+300, which f32 does not reach', 'large.npy')

    def test_nothing_but_what_fits_becomes_an_integer(self):
        ids = save_model(self.path('i.onnx'), [helper.make_node('Neg', ['v'], ['y'])], [('v', TensorProto.INT32, [3])],
                         [('y', TensorProto.INT32, [3])])
        np.save(self.path('l.npy'), np.array([7, -(2**31), 2**31 - 1]))
        y, said = self.answer('l.npy', f'--onnx={ids}')
        np.testing.assert_array_equal(y, np.array([-7, -(2**31), 1 - 2**31], np.int32))
        self.assertIn("int64 is converted to the model's i32", said)
        for name, array, expected in (
            ('wide', np.array([0, 0, 2**31]), 'element 2 is 2147483648, which i32 does not hold'),
            ('u', np.array([0, 2**64 - 1, 0], np.uint64), 'element 1 is 18446744073709551615, which i32 does not hold'),
            ('f', np.zeros(3), 'the array has type <f8, but i32 is needed'),
        ):
            np.save(self.path('n.npy'), array)
            with self.subTest(name):
                self.refused(RUN_FAILED, expected, 'exec', f'--onnx={ids}', f"--loadInputs=v:{self.path('n.npy')}", *ONCE)

    def test_halves_are_rounded_to_even(self):
        """All that float16 and bfloat16 have, halves between them, and what lies beyond: by NumPy and by bfloat16's definition."""
        bits = np.arange(0, 0x7C00, dtype=np.uint16).view(np.float16).astype(np.float64)
        between = (bits[:-1] + bits[1:]) / 2
        values = np.concatenate([bits, between, between * (1 + 2.0**-40), -bits, [0.0, np.inf, -np.inf]])
        model = save_model(self.path('h.onnx'), [helper.make_node('Identity', ['v'], ['y'])], [('v', TensorProto.FLOAT16, ['n'])],
                           [('y', TensorProto.FLOAT16, ['n'])])
        np.save(self.path('h.npy'), values)
        y, _ = self.answer('h.npy', f'--onnx={model}')
        np.testing.assert_array_equal(y.view(np.uint16), values.astype(np.float16).view(np.uint16))
        wide = save_model(self.path('b.onnx'), [helper.make_node('Identity', ['v'], ['y'])], [('v', TensorProto.BFLOAT16, ['n'])],
                          [('y', TensorProto.BFLOAT16, ['n'])])
        exact = np.random.default_rng(3).integers(0, 0x7F80, 4000).astype(np.uint32)
        f32 = (exact << 16 | np.random.default_rng(4).choice([0, 0x7FFF, 0x8000, 0x8001], 4000).astype(np.uint32))
        f32 = f32[f32 < 0x7F7F8000]
        np.save(self.path('b.npy'), f32.view(np.float32))
        y, _ = self.answer('b.npy', f'--onnx={wide}')
        nearest = (f32 + 0x7FFF + (f32 >> 16 & 1)) >> 16
        np.testing.assert_array_equal(y, nearest.astype(np.uint16))

    def test_damaged_archives(self):
        np.savez_compressed(self.path('c.npz'), v=self.v)
        with open(self.path('c.npz'), 'rb') as f:
            whole = bytearray(f.read())
        with zipfile.ZipFile(self.path('c.npz')) as archive:
            packed = archive.getinfo('v.npy')
        data = packed.header_offset + 30 + len('v.npy') + struct.unpack_from('<H', whole, packed.header_offset + 28)[0]
        for change in (0, packed.compress_size // 2):
            broken = bytearray(whole)
            broken[data + change] ^= 0xFF
            self.write('broken.npz', broken)
            done = self.tenfold('exec', f'--onnx={self.volumes}', f"--loadInputs={self.path('broken.npz')}", *ONCE, code=RUN_FAILED)
            self.assertRegex(done.stderr, "broken.npz.*(damaged|checksum of 'v.npy' is wrong)")
        directory = whole.rindex(b'PK\x01\x02')
        for size, words in ((packed.file_size - 1, 'damaged'), (packed.file_size + 1, 'bytes, not'), (2**32 - 2, 'its size is damaged')):
            broken = bytearray(whole)
            struct.pack_into('<I', broken, directory + 24, size)
            self.write('broken.npz', broken)
            self.refuses(words, 'broken.npz')
        with zipfile.ZipFile(self.path('lzma.npz'), 'w', zipfile.ZIP_LZMA) as archive:
            archive.writestr('v.npy', zlib.compress(b'x'))
        self.refuses("'v.npy' is compressed by method 14", 'lzma.npz')

    def test_stored_answers_in_doubles(self):
        x = np.random.default_rng(2).standard_normal((2, 6))
        np.save(self.path('x.npy'), x)
        np.savez_compressed(self.path('y.npz'), y=np.tanh(x @ self.weights.astype(np.float64)))
        done = self.tenfold('compare', self.model, self.path('y.npz'), f"--loadInputs='x:0':{self.path('x.npy')}", '--tolerance=1e-2')
        self.assertIn("float64 is converted to the model's f32", done.stderr)


if __name__ == '__main__':
    cli_case.main()
